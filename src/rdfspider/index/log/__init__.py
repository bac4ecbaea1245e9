"""The log that views follow: segments of all shards and WARC files from elsewhere enter, batches of outcomes leave.

`indexed_sources.py` lists and reads them and leaves out forgotten pages, `foreign.py` reads files from elsewhere, `batches.py`
reads once for all views, `follower.py` feeds one view and measures its lag.
"""
