"""The link graph: which pages link to which, and what follows from it.

`csr.py` has the form in which algorithms take a graph, and makes the graph of hosts. `pagerank.py` ranks pages, `centrality.py`
hosts, `mirrors.py` finds hosts that repeat each other. These are functions of arrays, and know nothing of how a graph is stored.
"""
