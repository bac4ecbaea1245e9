"""Where shards run: an order enters, a process that can be waited for and killed leaves.

`runner.py` says what a crawl asks of a runner. `local.py` is the one for this machine. Another one, for a cluster say, is one
module beside it, and a line in `run/coordination.py`.
"""
