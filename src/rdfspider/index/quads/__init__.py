"""The quads, in Oxigraph: one named graph per page, and the merge of all pages in the default graph.

`view.py` and `merge.py` write, `provenance.py` adds the facts of each fetch, `snapshots.py` makes copies for readers. Readers
select (`selection.py`), count (`counting.py`) and describe (`described.py`) quads; `sparql/` answers queries. The merge holds
each triple exactly as long as some page states it.
"""
