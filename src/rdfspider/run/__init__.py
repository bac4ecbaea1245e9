"""The running crawl: leases from the frontier enter, records in the archive and new URLs in the frontier leave.

`coordination.py` is the parent process: it starts the shards through a runner (`runners/`), keeps them and the indexer alive,
runs the coordinator (`peers/coordinator.py`), writes the status. Each shard is a process (`shard_process.py`) with one event loop
(`shard.py`): a lease becomes a visit (`visits.py`), a visit fetches a page, the page is extracted (`extraction.py`;
`heavy_pages.py` for large pages and pages that once crashed a shard, which go to a separate process), judged, and committed with
others (`commits.py`). `prerequisites.py` handles what the crawl fetches for itself: sitemaps and JSON-LD contexts.
`indexer_process.py` indexes beside the crawl, `index_watch.py` keeps it alive, `reindexing.py` indexes without a crawl.
`imports.py` imports WARC files of other crawlers, `visitor.py` fetches one page for a user without a crawl.

Invariants: everything that follows from a page is one commit, first the WARC files, then the frontier; every request needs a
lease; any process may be killed at any instant without data loss; only the runner knows on which machine a shard runs.
"""
