"""A crawl's archive: WARC 1.1 files, which hold all that was fetched and extracted, and from which every index is made.

What enters is a Finished lease; what leaves is an Outcome for the indexes, or a Page or a Capture for whoever reads WARC files,
also those of other tools.

- `writer.py` appends the records of an outcome, which `warc.py` formats: response or revisit, request, metadata, conversions.
- `outcomes.py` has the Outcome, and `metadata.py` the one table by which its metadata record is written and read.
- `segments.py` keeps the files of a shard, `volumes.py` spreads them over disks, `recovery.py` cuts off what a crash left.
- `log.py` reads the outcomes of a crawl in order; `reader.py` reads any WARC file, and goes on after damage.

A record is never changed. The order of a commit is: append, flush, sync, the frontier's commit with the lengths of the files, its
sync, publish; so no reader passes what is durable, and after a crash the files end where the frontier's last commit does.
"""
