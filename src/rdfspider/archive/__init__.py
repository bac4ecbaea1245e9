"""A crawl's archive: WARC 1.1 files with everything that was fetched and extracted, from which every index is built.

A Finished lease enters; Outcomes leave for the indexes, or Pages and Captures for readers of WARC files from this or other tools.

- `writer.py` appends the records of an outcome, which `warc.py` formats: response or revisit, request, metadata, conversions.
- `outcomes.py` defines the Outcome, `metadata.py` the table by which its metadata record is written and read.
- `segments.py` manages the files of a shard, `volumes.py` spreads them over disks, `recovery.py` repairs them after a crash.
- `log.py` reads the outcomes of a crawl in order, `reader.py` the pages of any archive, both by `warc_file.py`, which continues
  after damage.

Records never change. The order of a commit is: append, flush, sync, the frontier's commit with the lengths of the files, its
sync, publish; so readers see only durable records, and after a crash the files end where the frontier's last commit does.
"""
