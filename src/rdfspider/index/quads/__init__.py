"""The quads, in Oxigraph: one named graph a page, and the merge of all pages in the default graph.

`view.py` and `merge.py` write, `provenance.py` adds the facts of each fetch, `snapshots.py` makes copies for readers. Readers
select (`selection.py`), count (`counting.py`) and describe (`described.py`) quads; `sparql/` answers queries. Each triple is in
the merge exactly as long as some page states it.
"""
