"""Outside SPARQL servers that get the same quads: outcomes enter, requests leave, and SQLite records what each server has.

`view.py` follows the log for one server, and `graph_servers.py` speaks its protocol. An unavailable server is tried again; a
page that it refuses is recorded and does not stop the others.
"""
