"""The text index, in tantivy: one document a page, one an entity.

`fields.py` is the table of all fields, `analysis.py` how text becomes terms. Writing: `view.py` follows the log and
`documents.py` builds documents, with what tells most about an entity (`highlights.py`). Reading: `query_language.py` parses what
people type, `query_plan.py` turns it into tantivy's queries, `searcher.py` ranks, and `facets.py`, `snippets.py`, `spelling.py`
and `suggestions.py` add what results show (`results.py`).
"""
