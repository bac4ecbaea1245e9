"""Hosts: their records, when each may get its next request, and the queues of URLs that wait for it."""
