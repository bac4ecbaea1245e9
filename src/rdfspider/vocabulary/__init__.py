"""RDF terms and vocabularies, below all stages; no state, and no I/O except for bundled tables.

`prefixes.py` is the one table of namespaces and prefixes. `terms.py` writes terms and folds them for the indexes, `names.py`
has short names of IRIs, `classes.py` schema.org's hierarchy, `labels.py` the properties that name, describe, show or date an
entity, and `dates.py` reads dates.
"""
