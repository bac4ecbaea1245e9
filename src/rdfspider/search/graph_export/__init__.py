"""Exports of the link graph: rows, links or a graph of hosts enter, files leave that other programs read.

`bv.py` writes WebGraph's format with the codes of `bit_codes.py`, `edges.py` texts of links, and of hosts as Common Crawl has
them, `link_tables.py` Parquet. Each is written piece by piece, and appears under its name when it is complete
(`search/documents.py`).
"""
