"""Which URL next? Everything that is known of the URLs and hosts of one shard, and the pace of asking them.

The only door is `frontier.py`. `reader.py` looks at a frontier from outside, while a crawl runs. Inside are four rooms,
each of which knows only those below it: `urls` (the life of a URL), `contents` (duplicates), `learning` (what patterns
of URLs have given) and `hosts` (pace and queues). Below all of them are the tables: `store.py`, `keys.py`,
`url_rows.py`, `state.py`.

The life of a URL
-----------------

Born. A page, a sitemap, a header or a person names a URL: it is a `Discovered`, with the way in which it was found
(`ways.py`). It is routed to the shard that owns its host, if need be through that shard's inbox (`outbox.py`), and
enters by `Frontier.add`.

Sifted. `urls/sieve.py` asks whether the URL was ever seen. Nearly all were, and that is the end of the matter, unless
the new way to the URL is better than the old one (`urls/rediscovery.py`).

Scheduled. A new URL gets a row (`url_rows.py`), a priority from 0 to 7 (`learning/priority.py`) and an entry in the
queue of its host and priority (`urls/schedule.py`, `hosts/back_queues.py`). The host gets a place in the front queue of
its best URL (`hosts/front_queues.py`). From the next commit on all this is on disk.

Queued. Hosts with work come from the front queues into memory when there is room (`hosts/active.py`), and are asked in
the order in which their clocks allow it. A host that has had its run leaves memory for others, and so does one that
must wait long.

Leased. `Frontier.lease` gives the first thing that may be asked now (`urls/leases.py`): the addresses of a host that
are not known, the robots.txt of an origin that is not known, else a page. Before that, `urls/learned_traps.py` takes
out what is not worth asking for. A lease changes nothing on disk.

Fetched. The shard asks the host, and ends the lease with `Frontier.release`: with the exchange, or with a refusal where
a filter or robots.txt is against it. The host's clock moves at once (`hosts/pacing.py`): the next request waits for the
usual delay, longer after a slow answer, and much longer after an error.

Judged. What becomes of the URL is decided from the exchange in one place, `verdicts.py`. An answer is an answer, also
404: done. Errors of the server and of the network are tried again, a few times; that is a retry, and the URL goes to
the end of its queue. What cannot be mended, or was tried too often, has failed: skip. A host with many errors in a row
is given up for a time (`hosts/outages.py`), and its URLs wait. The frontier never stops a crawl: it is over when the
coordinator finds that no shard has anything left to lease or in flight.

Finished. After the page was read, judged by its content and written to the archive, `Frontier.finish` stages what is
known of it (`urls/finishing.py`): its row says done, failed or disallowed, it leaves its queue, its content is known to
others (`contents/contents.py`), and its pattern has learned from it (`learning/patterns.py`). The links of the page are
added next, and all of this is committed together.

Revisited, or not. A page that is done may get a next visit (`urls/revisits.py`), and is scheduled again when that is
due. Others come back only for a reason (`urls/restarts.py`): a seed had no answer, a filter has changed, the archive
has lost a page. Rows are never deleted, so that no URL is new twice.

What a crash loses
------------------

Changes are staged, and `Frontier.commit` writes them in one batch, whole or not at all. A killed process loses what was
staged since the last commit: URLs that were leased are still in their queues, and are asked for again; links that were
not committed are found again with their page, which was not committed either. A loss of power may also lose commits
after the last `sync`, so the shard syncs before it tells anybody else. A host is never asked sooner because of a crash:
requests that nobody has recorded count as made at the next opening (`clock.py`). The archive is written before the
frontier commits, and is cut back to what the frontier knows at the next start.
"""
