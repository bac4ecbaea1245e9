"""The frontier's interface: links go in, leases come out, their results go back, and `commit` makes them durable.

`Frontier` has the calls for every page, `add`, `lease`, `release`, `finish` and `commit`, and some lookups. Groups of calls with
their own callers are attributes: `outbox` and `inbox` between shards, `contents` for duplicates, `restarts` for rescheduling,
`imports` for pages of other archives, `side_requests` for requests without a lease, `meta` for values of the caller. The
package's docstring describes the life of a URL. All calls except `sync` and `flush` belong to one thread.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import overload

from msgspec.structs import replace
from xxhash import xxh3_64_digest

from rdfspider.config import Config, FetchConfig
from rdfspider.domains import Domains
from rdfspider.errors import UsageError
from rdfspider.frontier.clock import Calendar, Clock
from rdfspider.frontier.contents import Contents
from rdfspider.frontier.core import open_core
from rdfspider.frontier.entries import (
    NOTHING_HEARD,
    Counts,
    HostEntry,
    LastHeard,
    PageFacts,
    Priority,
    Refusal,
    RobotsAnswer,
    StaleLifeError,
    UrlEntry,
)
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.hosts.pacing import SideRequests
from rdfspider.frontier.hosts.shares import LINK_S
from rdfspider.frontier.keys import PRIORITIES, origin_of, pack_row
from rdfspider.frontier.learning.credits import Credits
from rdfspider.frontier.learning.patterns import Patterns
from rdfspider.frontier.learning.priority import Ratings
from rdfspider.frontier.outbox import Inbox, Outbox
from rdfspider.frontier.state import Meta, mark_clean, open_state, stage_state
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import decode_row, to_entry
from rdfspider.frontier.urls.esteem import Esteems
from rdfspider.frontier.urls.finishing import Finisher, Imports
from rdfspider.frontier.urls.learned_traps import Traps
from rdfspider.frontier.urls.leases import Leases
from rdfspider.frontier.urls.rediscovery import Rediscovery
from rdfspider.frontier.urls.restarts import Restarts
from rdfspider.frontier.urls.restoration import Restoration
from rdfspider.frontier.urls.revisits import FutureVisits
from rdfspider.frontier.urls.schedule import Schedule
from rdfspider.frontier.urls.sieve import Sieve
from rdfspider.records import Addresses, Capture, Discovered, Esteem, Failure, Lease, RobotsState, Verdict
from rdfspider.ways import Way

_NO_FACTS = PageFacts()
HEAVY_S = 0.05
"""The processor time from which a page is heavy: of real pages 99 in 100 take less than a third of it."""


class Frontier:
    """The URLs and hosts of one shard."""

    outbox: Outbox
    """Entries that other shards have not made durable yet: put, read, free, freed, take_fresh, stored_bytes."""
    inbox: Inbox
    """Cursors into what other shards send: accept, cursor, lacking, complete."""
    contents: Contents
    """Contents that were seen: claim, release, find_alike, note_repeated."""
    restarts: Restarts
    """Rescheduling: reschedule_lost, retry_seeds, review_refusals."""
    imports: Imports
    """Pages from other archives: has_since, record."""
    restoration: Restoration
    """Rows that were lost: record."""
    side_requests: SideRequests
    """Requests without a lease: begin, end."""
    meta: Meta
    """Values of the caller, committed with the rest: put, get."""

    def __init__(
        self,
        folder: Path,
        config: Config,
        domains: Domains,
        shard: int,
        clock: Clock | None = None,
        priority: Priority | None = None,
        epoch: int = 0,
        heard: LastHeard = NOTHING_HEARD,
    ) -> None:
        """Open the frontier in a folder, or make a new one. Its new epoch is durable before this returns.

        Without `priority`, URLs are ordered by the yield of similar URLs, and traps are learned. Other shards remember epochs, so
        `crawl/lives.py` gives one that no copy of this frontier ever had; StaleLifeError if this one has had it. Without one, it
        is one more than the last. `heard` is what was last heard of it.
        """
        self._config = config
        self._clock = clock or Clock()
        self._store = Store(folder)
        try:
            self._state, calendar = open_state(self._store, self._clock, epoch, heard)
        except UsageError as error:
            self._store.close()
            raise UsageError(f"{folder} {error}") from None
        except StaleLifeError as error:
            self._store.close()
            raise StaleLifeError(f"{folder}: {error}") from None
        lookup = _digest_lookup(config.fetch)
        if lookup != self._state.lookup:
            self._state.lookup, self._state.lookup_epoch = lookup, calendar.epoch
        self.epoch = calendar.epoch
        """The life of this process, higher than those of all earlier ones."""
        self.committed_numbered = self._state.numbered
        """`numbered` at the last commit."""
        self._build(domains, shard, calendar, priority)
        self.restarts.apply_limits()

    @property
    def counts(self) -> Counts:
        """The counts, staged changes included, which the next commit makes durable."""
        return self._state.counts

    @property
    def queued(self) -> Sequence[int]:
        """The number of scheduled URLs per priority, the highest first; staged changes included."""
        return self._state.queued

    @property
    def generation(self) -> tuple[int, int]:
        """Epoch and number of commits, which change whenever something is stored."""
        return self.epoch, self._state.commits

    @property
    def numbered(self) -> tuple[int, int]:
        """The highest host number, and a bound of the sequences of URLs, that were given out."""
        return self._state.numbered

    def leave_out(self, hosts: int, urls: int) -> bool:
        """Give out no numbers that a lost state of this frontier has, of which somebody knows how many it had given out. Returns
        whether that was news, so that this is an older copy."""
        return self._state.leave_out(hosts, urls)

    @property
    def skipped_segments(self) -> int:
        """How many numbers of segments are left out, over all its lives, as a lost state of it may have used them."""
        return self._state.skipped_segments

    @property
    def has_staged(self) -> bool:
        """Whether a commit would store anything."""
        return self._store.has_staged or bool(self._hosts.changed)

    def add(self, links: Iterable[Discovered]) -> int:
        """Stage the URLs that were never seen as scheduled, and return their number.

        A known URL takes over what is better about its new discovery, and may be scheduled again for that. The next commit makes
        the URLs durable and leasable; a crash before it loses them with the page they were found on, which is fetched again.
        """
        known = self.counts.known
        new, found_again = self._sieve.sift(links, self._config.crawl.depth)
        self._schedule.add(new)
        self._rediscovery.meet(found_again)
        return self.counts.known - known

    def introduce(self, links: list[Discovered]) -> list[Discovered]:
        """The links of one page of this shard for the frontier of another, with the domains that led to them."""
        via = links[0].via
        line = self._hosts.line_below(self._url_rows.ids.unpack(via)[1]) if via else ()
        return [link if link.found_as == Way.SEED else replace(link, line=line) for link in links]

    def share_out(self, surplus: int) -> None:
        """Set how many leases hosts may have that have had more than their share, until the next call; others have no limit."""
        self._core.active.surplus = surplus

    def take_esteem(self, table: Sequence[Esteem]) -> None:
        """Take what the link graph says of this shard's sites, in place of what it said before. It changes the order of what
        is leased, is followed in small portions, and is not stored."""
        self._esteems.take(table)

    def charge(self, lease: Lease, cpu_s: float) -> None:
        """Count the processor time that a page has taken against its host's share."""
        host = self._hosts.get(lease.host_number)
        self._hosts.find_domain(host)
        self._core.shares.charge(host, cpu_s)
        host.record.is_heavy = cpu_s >= HEAVY_S

    def charge_links(self, lease: Lease, count: int) -> None:
        """Count what the links of a page cost against its host's share."""
        host = self._hosts.get(lease.host_number)
        self._hosts.find_domain(host)
        self._core.shares.charge(host, count * LINK_S)

    def lease(self) -> Lease | None:
        """Lease the next name, robots.txt or page that may be requested now.

        None means that nothing may be requested at this moment, not that the crawl is over; `next_lease_in_s` tells the
        difference. Every lease must end with `release`, and then a page's with `finish`. A lease is not durable: its URL stays in
        its queue until it is finished, so after a crash it is leased again. Do not request a page whose lease has no addresses,
        as its host does not exist or is private: release it with a Refusal.
        """
        if self._state.counts.future_visits:
            self._schedule.add_due_visits()
        if self._traps.restoring:
            self._traps.restore_some()
        if self._esteems.has_work:
            self._esteems.apply_some()
        return self._leases.lease()

    def next_lease_in_s(self) -> float | None:
        """Seconds until `lease` may return something, 0 for now. None means that nothing waits: all other URLs are staged, in
        flight, on hosts that were given up, or due at a future visit."""
        has_work = self._schedule.has_due_visits() or self._traps.restoring
        return 0.0 if has_work else self._core.active.next_in_s()

    @overload
    def release(self, lease: Lease, answer: Capture | Failure | Refusal) -> Verdict: ...

    @overload
    def release(self, lease: Lease, answer: Addresses | RobotsAnswer | None) -> None: ...

    def release(
        self, lease: Lease, answer: Capture | Failure | Refusal | Addresses | RobotsAnswer | None
    ) -> Verdict | None:
        """End a lease: its host is free for the next request after its pause.

        A name's lease ends with Addresses, that of a robots.txt with a RobotsAnswer, and both are staged. None means that no
        request was made: the same lease will be given again, and nothing is staged. A page's lease ends with the exchange, or
        with a Refusal if no request was made, which leaves the host's clock alone. The returned Verdict says whether the URL is
        done, tried again or failed; `finish` must follow to make that durable.
        """
        match answer:
            case Capture() | Failure():
                return self._leases.end_page(lease, answer)
            case Refusal():
                return self._leases.refuse(lease, answer)
            case Addresses():
                self._leases.end_name(lease, answer)
            case RobotsAnswer():
                self._leases.end_robots(lease, answer)
            case None:
                slot = self._leases.slots.get(lease.url_id)
                self._leases.give_back(lease)
                if slot is not None:
                    self._rediscovery.settle(lease.url_id, slot)
        return None

    def finish(self, lease: Lease, verdict: Verdict, facts: PageFacts = _NO_FACTS) -> None:
        """Stage the result of a released page: its row, queue, next visit and counts, and what its pattern learns.

        The verdict may differ from that of `release` because of the page's content. The default facts mean that no page was
        fetched. After a crash before the next commit, the page is leased again. Add the page's links after this call, before
        the next page is finished."""
        self._finisher.finish(lease, verdict, facts)

    def commit(self) -> None:
        """Write everything that is staged in one atomic batch. It survives the end of the process; `sync` makes it survive a
        loss of power."""
        if not self.has_staged:
            return
        self._traps.settle()
        changed = list(self._hosts.changed.values())
        for host in changed:
            self._queue_host(host)
        state = self._state
        state.commits += 1
        state.next_place = self._front_queues.next_order
        state.outbox_bytes = self.outbox.stored_bytes
        stage_state(self._store, state)
        numbered = state.numbered
        self._hosts.stage()
        self._patterns.stage()
        self._store.write()
        self.committed_numbered = numbered
        for part in self._settled_by_commit:
            part.settle()
        for host in changed:
            self._core.active.wake(host)

    def sync(self) -> None:
        """Make all commits survive a loss of power. This touches nothing else, so it may run in a thread."""
        self._store.sync()

    def flush(self) -> None:
        """Leave a checkpoint little to write. This touches nothing else, so it may run in a thread."""
        self._store.flush()

    def create_checkpoint(self, folder: Path) -> None:
        """Make a copy of what is committed in a folder on the same disk, which is replaced; after `flush`, that takes some
        milliseconds. It may run in a thread, but nothing must be committed meanwhile."""
        self._store.create_checkpoint(folder)

    def close(self) -> None:
        """Mark a clean end and close the folder. Staged changes are discarded; a second call does nothing."""
        if not self._store.is_open:
            return
        self._store.discard()
        mark_clean(self._store)
        self._store.close()

    def find(self, url: str) -> UrlEntry | None:
        """The committed entry of a URL; None if it was never seen."""
        found = self._sieve.find(url)
        value = self._url_rows.table.get(pack_row(*found)) if found else None
        return to_entry(decode_row(value), url, self._url_rows.id_of(*found)) if found and value else None

    def find_robots(self, url: str) -> RobotsState | None:
        """The state of the robots.txt for a URL; None before the first answer."""
        origin = origin_of(url)
        number = self._hosts.number_of(origin.partition("://")[2])
        return self._core.origins.get(number, origin) if number else None

    def url_of(self, url_id: int) -> str | None:
        """The committed URL of an id; None if it belongs to another shard or is unknown."""
        return self._url_rows.url_of(url_id)

    def has_demand(self) -> bool:
        """Whether a host that has not answered yet had to wait for a connection a moment ago."""
        return self._core.lanes.has_demand(self._clock.monotonic())

    def find_waiting(self, limit: int) -> list[HostEntry]:
        """The hosts in memory with the longest waits, at far less cost than a scan of all hosts."""
        return self._core.active.find_waiting(limit)

    def _build(self, domains: Domains, shard: int, calendar: Calendar, priority: Priority | None) -> None:
        store, state = self._store, self._state
        core = open_core(store, state, self._config, domains, shard, self._clock, calendar)
        self._core = core
        self._hosts = core.hosts
        self._url_rows = core.url_rows
        self._front_queues = core.front_queues
        self._sieve = Sieve(store, core.hosts, state.salt, shard, core.url_rows.ids)
        visits = FutureVisits(store)
        self._patterns = Patterns(store)
        ratings = Ratings(self._patterns, core.counts)
        credits = Credits(core.hosts, shard, core.url_rows.ids)
        self._schedule = Schedule(core, self._sieve, visits, ratings, credits, priority)
        self._traps = Traps(core, domains, self._patterns, ratings, self._schedule)
        self._esteems = Esteems(core, self._sieve)
        self._leases = Leases(core, self._traps, calendar.epoch, state.lookup_epoch)
        self._rediscovery = Rediscovery(core, self._schedule, self._leases.slots)
        self.meta = Meta(store)
        self.outbox = Outbox(store, calendar.epoch, state.outbox_bytes)
        self.inbox = Inbox(store)
        self.contents = Contents(core, self.outbox, shard, domains.shards)
        self.side_requests = SideRequests(core.hosts, core.active, core.outages, core.pacing, core.foreign, self._clock)
        self.imports = Imports(core, self._sieve)
        self.restarts = Restarts(core, self._schedule, self.contents, state, self.commit)
        self.restoration = Restoration(core, self._sieve, visits, self.restarts)
        traps = self._traps if priority is None else None
        self._finisher = Finisher(
            core, visits, self._leases, self._rediscovery, self.restarts, self.contents, credits, traps
        )
        self._settled_by_commit = (
            self._sieve,
            core.url_rows,
            core.hosts,
            core.front_queues,
            self.outbox,
            self.inbox,
            visits,
            self._patterns,
        )

    def _queue_host(self, host: Host) -> None:
        """Before a commit, put a host with scheduled URLs into their front queue, and take one without out of all."""
        self._core.active.settle_empty(host)
        record = host.record
        if not record.queued:
            return
        if not record.front_key and self._core.outages.keep_out(host):
            return
        is_behind = not record.front_key or (
            record.front_key[:1] < bytes((PRIORITIES,))
            and not host.is_active
            and self._front_queues.choose(host) < record.front_key[0]
        )
        if is_behind:
            self._front_queues.put_front(host)


def _digest_lookup(config: FetchConfig) -> bytes:
    """A digest of the settings that DNS results depend on."""
    return xxh3_64_digest(repr((config.resolve, config.allow_private)).encode())
