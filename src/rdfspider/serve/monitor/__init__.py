"""The crawl while it runs: samples of its status and of the machine enter; charts, HTML sections, server-sent events
and metrics for Prometheus leave.
"""
