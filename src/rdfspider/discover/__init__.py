"""Which URLs a page leads to: a Capture, its Extraction and its Judgement enter, Discovered URLs leave, grouped by owning shard.

- `finder.py` combines the links of a page with those in its headers (`link_headers.py`), its statements (`data_links.py`) and the
  sitemaps of its site (`sitemaps.py`); `parameters.py` removes session and tracking parameters from URLs.
- `scope.py` decides whether a URL belongs to the crawl, by the seeds, the user's filters (`filters.py`) and the trap rules
  (`trap_rules.py`), and groups the accepted URLs by shard.

Each way of discovery is one row of the table in `ways.py`. Every link of every page passes through here, so everything
that a page could make slow or large has a limit.
"""
