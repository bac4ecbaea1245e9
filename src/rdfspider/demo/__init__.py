"""A small web for demonstrations and tests: a dozen sites about one invented world, with the strengths and faults of real
ones.

`world` has the facts as tables, `sites/` makes pages from them in all syntaxes, `server` serves them on loopback, and
`expectations` derives from the same tables what a crawl must find and must not find. Nothing here depends on the crawler.
"""
