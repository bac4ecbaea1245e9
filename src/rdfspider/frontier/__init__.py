"""Which URL is fetched next: the state of all URLs and hosts of one shard, and the pace of requests.

`frontier.py` is the only interface, with the records of `entries.py`; `reader.py` reads a frontier from outside while a crawl
runs. Inside are four rooms, each of which imports only those after it: `urls` (the life of a URL), `contents.py`
(duplicates), `learning` (the yield of URL patterns) and `hosts` (pace and queues). `core.py` is what is below the URLs, opened.
Below the rooms are the tables: `store.py`, `keys.py`, `url_rows.py`, `state.py`.

The life of a URL
-----------------

Discovered. A page, a sitemap, a header or a person names a URL, which becomes a `Discovered` with the way in which it
was found (`ways.py`). It is routed to the shard that owns its host, through an outbox if that is another shard
(`outbox.py`), and enters with `Frontier.add`.

Sifted. `urls/sieve.py` checks whether the URL was seen before. Nearly all were, and are dropped unless the new way is
better than the old one (`urls/rediscovery.py`).

Scheduled. A new URL gets a row (`url_rows.py`), a priority from 0 to 7 (`learning/priority.py`) and an entry in the
back queue of its host and priority (`urls/schedule.py`). The host enters the front queue of its best URL
(`hosts/queues.py`). The next commit writes all of this to disk.

Esteemed. From time to time the index tells what the link graph says of sites (`urls/esteem.py`): their hosts enter other front
queues (`hosts/steps.py`), and some URLs a better back queue.

Queued. Hosts with work move from the front queues into memory when there is room (`hosts/active.py`), and take turns in
the order in which their clocks allow a request; those that have had more than their share let others pass
(`hosts/shares.py`). A host leaves memory after its run, or when it must wait long.

Leased. `Frontier.lease` returns the first thing that may be requested now (`urls/leases.py`): the unknown addresses of
a host, the unknown robots.txt of an origin, or a page. `urls/learned_traps.py` first removes URLs that are not worth a
request. A lease changes nothing on disk.

Fetched. The shard sends the request, and ends the lease with `Frontier.release`: with the exchange, or with a refusal
if a filter or robots.txt forbids the request. The host's clock moves at once (`hosts/pacing.py`):
the next request waits for the usual delay, longer after a slow response, and much longer after an error. A host that was slow
is asked in the slow lane the next time (`hosts/lanes.py`).

Judged. `verdicts.py` alone decides from the exchange what happens to the URL. Any answer, even a 404, makes it done.
Errors of the server or the network are retried a few times, from the end of the queue. A URL fails if its error is
permanent or its attempts are used up. A host with many errors in a row is given up for a time (`hosts/outages.py`), and
its URLs wait. The frontier never stops a crawl: the coordinator does, when no shard has anything to lease or in flight.

Finished. After the page was extracted, judged by its content and written to the archive, `Frontier.finish` stages the
result (`urls/finishing.py`): the row becomes done, failed or disallowed, the URL leaves its queue, its content counts
as seen (`contents.py`), and its pattern learns from it (`learning/patterns.py`). The links of the page are
added next, and all of this is committed together.

Revisited. A page that is done may get a next visit (`urls/revisits.py`), and is scheduled again when that is due.
Others return only for a reason (`urls/restarts.py`): a seed had no answer, a filter changed, the archive lost a page.
Rows are never deleted, so no URL is new twice.

What a crash loses
------------------

Changes are staged, and `Frontier.commit` writes them in one atomic batch. A killed process loses what was staged since
the last commit: leased URLs are still in their queues and are leased again; uncommitted links are found again with
their page, which was not committed either. A loss of power may also lose commits after the last `sync`, so the shard
syncs before it tells other processes. A crash never shortens a host's pause: unrecorded requests count as made at the
next opening (`clock.py`). The archive is written before the frontier commits, and is cut back to what the frontier
knows at the next start.
"""
