"""What is known of RDF terms and vocabularies, below all stages; no state, no I/O but for bundled tables.

`prefixes.py` is the one table of namespaces and prefixes. `ntriples.py` writes terms, `terms.py` folds them for the quad store.
`names.py` tells what people call an IRI, `classes.py` schema.org's hierarchy, `labels.py` which properties name, describe, show
or date an entity, `dates.py` reads dates.
"""
