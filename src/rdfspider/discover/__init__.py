"""What does a page lead to? A Capture, its Extraction and its Judgement enter, Discovered URLs leave, grouped by owning shard.

- `finder.py` puts together the links of a page and what its headers (`link_headers.py`), its statements (`data_links.py`) and the
  sitemaps of its site (`sitemaps.py`) lead to; `parameters.py` cuts session and tracking parameters out of URLs.
- `scope.py` says whether the crawl is about a URL: by the seeds, by the user's filters (`filters.py`) and by the form of traps
  (`trap_rules.py`); `routing.py` asks it, and groups what is followed by shard.

What each way of discovery means for a URL is one row of the table in `rdfspider/ways.py`. Every link of every page passes here,
so whatever a page can make slow or large has a limit.
"""
