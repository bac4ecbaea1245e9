"""Answers that join several indexes: an entity with its sources, profiles, statistics, a site's data quality, exports.

`Indexes` in `indexes.py` is the one handle to the indexes of a crawl, for `Crawl`, the commands and the site; it calls the
other modules here. Nothing here writes to an index.
"""
