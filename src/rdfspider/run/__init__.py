"""The crawl at work: leases of the frontier enter, records in the archive and new URLs in the frontier leave.

`coordination.py` is the parent process: it has the shards started (`runners/`), keeps them and the indexer alive, runs the
coordinator (`peers/coordinator.py`) and writes the status. Each shard is a process (`shard_process.py`) with one loop
(`shard.py`): a lease becomes a visit, a visit fetches a page, the page is extracted (`extraction.py`; large pages and those that
have killed a process before in another process, `heavy_pages.py`), judged, and made durable with others (`commits.py`). Sitemaps
and JSON-LD contexts, which the crawl fetches for itself, are in `prerequisites.py`. `imports.py` imports WARC files of other
crawlers into a crawl, `reindexing.py` makes the index again, `visitor.py` fetches one page for a person without a crawl.

Invariants: all that follows from a page is one commit, WARC first and then the frontier; whoever asks a server holds a lease;
every process of a crawl may be killed at any instant, and nothing is lost; nothing but the runner knows on which machine a shard
is.
"""
