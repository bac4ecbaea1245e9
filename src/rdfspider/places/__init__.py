"""Shards that are not in the crawl's folder: where they are, whose state a folder has, and questions to them.

`records.py` has the two small files that tell this, one in the crawl's folder and one in the shard's; `keys.py` the keys of a
crawl; `client.py` asks the process that answers for a place (`run/place_process.py`) for its archive and its frontiers.
"""
