"""The indexes of a crawl: outcomes of the archive enter, stores that can be asked leave.

`indexer.py` runs one thread for each view of the log (`view.py` is their interface, `VIEWS` their table). `log/` reads the
archive of all shards and files from elsewhere, and leaves out what was forgotten. The views are `quads/` (Oxigraph, with SPARQL),
`text/` (tantivy) with `ledger/` (SQLite), and `stores/` (outside SPARQL servers). `entities/` finds the entities that a page
describes. Each folder has what writes a store beside what reads it; `layout.py` knows where the files are, `status.py` how far
the indexer is.

Invariants: every view commits its cursors together with its data, may be killed at any instant, gives the same answers when it is
made again from the archive, and holds nothing that was forgotten. Readers never wait for the writer.
"""
