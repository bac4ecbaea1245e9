"""Outside SPARQL servers that get the same quads: outcomes enter, requests leave, and SQLite remembers what each server has.

`view.py` follows the log for one server, and `graph_servers.py` speaks its protocol. A server that is away is tried again; a page
that it refuses is noted and does not stop the others.
"""
