"""A crawl as a thing on disk: its folder, settings, seeds, status and reports, whether it runs or not.

`folder.py` knows what is where, and changes it; `settings.py` reads crawl.toml, the environment and flags, within the bounds of
`bounds.py`; `seeds.py` reads what people give as seeds. `messages.py` has what shards tell every second and what people ask of a
running crawl; `status.py` sums it up in status.json, `history.py` keeps it for charts, `summary.py` puts it into words.
`budgets.py` is the one place that decides whether a limit is reached. `reports/` answers questions on single URLs and hosts.

Invariants: nothing here needs a running crawl, and nothing here starts one; every file is replaced as a whole; the number of
shards, the hash and the suffix list never change within a crawl.
"""
