"""Answers that join several indexes: an entity with its sources, profiles, statistics, a site's data quality, exports.

`Indexes` in `indexes.py` is the one handle to the indexes of a crawl, for `Crawl`, the commands and the site; it calls the
other modules here. Answers are records of `results.py` or of these modules; `rows.py` turns those to SPARQL queries into
Python objects. Nothing here writes to an index.
"""
