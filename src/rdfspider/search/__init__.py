"""Answers that join several indexes: an entity with its sources, profiles, statistics, a site's data quality, exports.

`Indexes` in `indexes.py` is the one handle to the indexes of a crawl, for `Crawl`, the commands and the site; all else here is
what it calls. Nothing here writes to an index.
"""
