"""A small web for demonstrations and tests: a dozen sites about one invented world, with the virtues and faults of real
ones.

`world` has the facts as tables, `sites/` makes pages of them in all syntaxes, `server` serves them on loopback, and
`expectations` derives from the same tables what a crawl must find and what it must not. Nothing here knows the crawler.
"""
