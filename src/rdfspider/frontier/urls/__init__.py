"""The room of URLs: which were seen, how they are scheduled, leased and finished, and when they are due again.

- `sieve.py` finds the URLs that were never seen; `rediscovery.py` handles known ones that are found again.
- `schedule.py` puts URLs into queues, `leases.py` takes them out and gives leases, `finishing.py` stages the results of pages.
- `learned_traps.py` keeps URLs out whose pattern gives nothing new.
- `revisits.py` is the policy of the next visit, `restarts.py` what brings URLs back for another reason.

A row is never deleted, and a scheduled URL stays in its back queue until its result is committed.
"""
