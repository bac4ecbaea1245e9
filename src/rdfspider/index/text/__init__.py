"""The text index, in tantivy: one document per page and one per entity.

`fields.py` is the table of all fields; `index/analysis.py` turns text into terms. Writing: `view.py` follows the log,
`documents.py` builds documents, and `highlights.py` chooses the most informative facts about an entity. Reading:
`query_language.py` parses a query, `query_plan.py` translates it for tantivy, with its plain words by `words.py`, and by
`called.py` what other sites call pages; `ranking.py` is the formula by which `searcher.py` ranks. `facets.py`, `snippets.py`
and `suggestions.py` complete the results.
"""
