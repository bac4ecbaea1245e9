"""A crawl on disk: its folder, settings, seeds, status and reports, whether it runs or not.

`folder.py` knows the layout of the folder, and changes its files; `settings.py` reads crawl.toml, the environment and flags,
within the bounds of `bounds.py`; `seeds.py` reads seeds. `messages.py` defines the beats of shards and the commands to a running
crawl; `status.py` sums the beats up in status.json, `history.py` keeps them for charts, `summary.py` describes them in words.
`budgets.py` alone decides whether a limit is reached. `reports/` answers questions about single URLs and hosts.

Invariants: nothing here needs or starts a running crawl; every file is replaced atomically; the number of shards, the hash and
the suffix list of a crawl never change.
"""
