"""Hosts: what is known of each, when it may be asked again, and the queues of URLs that wait for it."""
