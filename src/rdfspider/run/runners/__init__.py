"""Runners start shards: a ShardOrder enters, a process that can be awaited and killed leaves.

`runner.py` defines the interface, `local.py` implements it for this machine. Another runner, for example for a cluster, is one
more module here and one line in `run/coordination.py`.
"""
