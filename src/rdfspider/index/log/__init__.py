"""The log that views follow: segments of all shards and WARC files from elsewhere enter, outcomes in batches leave.

`sources.py` lists and reads them, `foreign.py` reads files from elsewhere, `forgotten.py` keeps pages out, `follower.py` feeds
one view and measures its lag.
"""
