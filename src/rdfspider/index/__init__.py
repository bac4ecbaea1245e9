"""The indexes of a crawl: outcomes from the archive enter, stores that can be queried leave.

`indexer.py` runs one thread per view of the log (`view.py` defines their interface, `VIEWS` lists them). `log/` reads the
archives of all shards and WARC files from elsewhere, and leaves out forgotten pages. The views are `quads/` (Oxigraph, with
SPARQL), `text/` (tantivy) with `ledger/` (SQLite), `graph/` (who links to whom), and `stores/` (outside SPARQL servers).
`entities/` finds the entities that a page describes, `identity/` which of them are one. Each folder keeps the writer of a
store beside its reader; `layout.py` defines the paths, `status.py` reports the indexer's progress. Readers answer with records
of `results.py`, so that nobody above `search/` needs to know this folder.

Invariants: every view commits its cursors together with its data, can be killed at any instant, gives the same answers after a
rebuild from the archive, and holds no forgotten page. Readers never wait for the writer.
"""
