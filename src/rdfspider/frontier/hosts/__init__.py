"""The room of hosts: their records, queues and clocks.

- `hosts.py` has the records, `origins.py` the robots.txt of each origin and whether it is a mirror.
- `queues.py` has the front queues of hosts and the back queues of their URLs, `active.py` the hosts in memory.
- `pacing.py` moves the clocks after each request, `outages.py` gives hosts up and brings them back.
- `lanes.py` keeps slow hosts from holding all connections, `shares.py` many hosts of one origin from getting all requests.
- `address_clocks.py` keeps the pace of network addresses, for all shards.

No host gets a request before its clock allows it, also after a crash. Memory depends on the connections, not on the number of
hosts.
"""
