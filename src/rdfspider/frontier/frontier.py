"""The frontier's only door: links and answers enter, leases leave, and everything is durable from one commit to the next.

A URL that was never seen is scheduled; a lease takes it out of its host's run, not out of its queue; `record` does that, with
all that follows, in the batch that the next `commit` writes. So a process that is killed has lost no URL, and asks again only
for what it had not recorded. All calls but `sync` belong to one thread.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from xxhash import xxh3_64_digest

from rdfspider.config import Config, FetchConfig
from rdfspider.domains import Domains
from rdfspider.errors import UsageError
from rdfspider.frontier.clock import Calendar, Clock
from rdfspider.frontier.contents.contents import Contents
from rdfspider.frontier.contents.simhashes import SimhashEntry
from rdfspider.frontier.entries import Counts, GapError, HostEntry, Priority, UrlEntry, by_depth
from rdfspider.frontier.hosts.active import ActiveHosts
from rdfspider.frontier.hosts.back_queues import Queues
from rdfspider.frontier.hosts.front_queues import FrontQueues
from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.hosts.origins import Origins
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.frontier.keys import PRIORITIES, from_url_id, pack_meta, pack_row, to_url_id
from rdfspider.frontier.learning.patterns import Patterns
from rdfspider.frontier.learning.priority import Ratings
from rdfspider.frontier.outbox import Inbox, Outbox
from rdfspider.frontier.state import mark_clean, open_state, stage_state
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import UrlRows, decode_row, decode_url, to_entry
from rdfspider.frontier.urls.finishing import Finisher, PageFacts
from rdfspider.frontier.urls.imported import Imports
from rdfspider.frontier.urls.learned_traps import Traps
from rdfspider.frontier.urls.leases import Leases, Parts
from rdfspider.frontier.urls.rediscovery import Rediscovery
from rdfspider.frontier.urls.refusals import Refusals
from rdfspider.frontier.urls.restarts import Restarts
from rdfspider.frontier.urls.revisits import Visits
from rdfspider.frontier.urls.schedule import Schedule
from rdfspider.frontier.urls.sieve import Sieve
from rdfspider.records import Addresses, Capture, Discovered, Failure, Judgement, Lease, RobotsState, Verdict
from rdfspider.urls import host_of

__all__ = ["Clock", "Counts", "Frontier", "GapError", "Priority", "UrlEntry", "by_depth"]

# URLs that were asked for by their ids and are kept in memory.
_RECENT_URLS = 4096
_NO_JUDGEMENT = Judgement()


class Frontier:
    """Everything that is known of the URLs and hosts of one shard."""

    def __init__(
        self,
        folder: Path,
        config: Config,
        domains: Domains,
        shard: int,
        clock: Clock | None = None,
        priority: Priority | None = None,
        ranks: Mapping[str, int] | None = None,
    ) -> None:
        """Without a priority of the caller's, URLs come in the order of what those like them have given, and traps are learned.
        The ranks are steps of priority by how URLs are found, besides those of the links."""
        self._config = config
        self._shard = shard
        self._clock = clock or Clock()
        self._store = Store(folder)
        self._rows = self._store.tables["ledger"]
        self._meta = self._store.tables["meta"]
        self._staged_meta: dict[str, bytes] = {}
        self._recent_urls: dict[int, str] = {}
        """By id: the links of one page all ask for the same."""
        try:
            self._state, calendar = open_state(self._store, self._clock)
        except UsageError as error:
            self._store.close()
            raise UsageError(f"{folder} {error}") from None
        lookup = _digest_lookup(config.fetch)
        if lookup != self._state.lookup:
            self._state.lookup, self._state.lookup_epoch = lookup, calendar.epoch
        self.epoch = calendar.epoch
        """How often this frontier was opened."""
        self._build(domains, calendar, priority, ranks or {})
        if self._starts.apply_limits(config.crawl):
            self.commit()

    @property
    def counts(self) -> Counts:
        """How many there are of each; what is staged is in them, and durable with the next commit."""
        return self._state.counts

    @property
    def queued(self) -> Sequence[int]:
        """Scheduled URLs by priority, the first to be fetched first; likewise."""
        return self._state.queued

    @property
    def generation(self) -> tuple[int, int]:
        """Epoch and number of commits: it changes whenever something was stored."""
        return self.epoch, self._state.commits

    @property
    def outbox_bytes(self) -> int:
        """Bytes of links that other shards have not acknowledged."""
        return self._outbox.stored_bytes

    @property
    def has_staged(self) -> bool:
        """Whether a commit would store something."""
        return self._store.has_staged or bool(self._hosts.changed)

    def add(self, links: Iterable[Discovered]) -> int:
        """Stage those of the links that were never seen, as scheduled; how many they are. Each leads to another URL. One that is
        known takes over what the way of its link has better."""
        known = self.counts.known
        new, met = self._sieve.sift(links, self._config.crawl.depth)
        self._schedule.add(new)
        self._encounters.meet(met)
        return self.counts.known - known

    def receive(self, source: int, epoch: int, sequence: int, links: Sequence[Discovered]) -> bool:
        """Stage links from another shard, with the cursor; False when they came before. A missing entry is a GapError."""
        if not self._inbox.accept(source, epoch, sequence):
            return False
        self.add(links)
        return True

    def receive_releases(self, source: int, epoch: int, sequence: int, releases: Mapping[bytes, str]) -> None:
        """Likewise: stage that URLs of another shard no longer have these contents."""
        if self._inbox.accept(source, epoch, sequence):
            for key, url in releases.items():
                self._contents.release(key, url)

    def inbox_cursor(self, source: int) -> tuple[int, int]:
        """Epoch and sequence of the last entry of a shard that was committed."""
        return self._inbox.cursor(source)

    def lease(self) -> Lease | None:
        """The next thing that may be asked now; None when nothing may.

        A page whose lease has no addresses is not to be asked for: its host does not exist or is private; `refuse` it.
        """
        if self._state.counts.future_visits:
            self._schedule.add_due_visits()
        if self._traps.restoring:
            self._traps.restore_some()
        return self._leases.lease()

    def next_lease_in_s(self) -> float | None:
        """Seconds until `lease` may give something; None when nothing waits. Hosts that were given up and future visits do
        not count, nor what is staged or in flight."""
        has_work = self._schedule.has_due_visits() or self._traps.restoring
        return 0.0 if has_work else self._active.next_in_s()

    def find_waiting(self, limit: int) -> list[HostEntry]:
        """The hosts in memory that wait longest before they may be asked again; it costs far less than a look at all hosts."""
        return self._active.find_waiting(limit)

    def resolved(self, lease: Lease, answer: Addresses) -> None:
        """A name's lease ends with the answer."""
        self._leases.resolved(lease, answer)

    def learned(
        self, lease: Lease, robots: RobotsState, exchange: Capture | Failure | None, crawl_delay_s: float | None
    ) -> None:
        """The lease of a robots.txt ends: it was a request, so the host's clock moves."""
        self._leases.learned(lease, robots, exchange, crawl_delay_s)

    def refuse(self, lease: Lease, reason: str, rule: str = "") -> Verdict:
        """A page's lease ends without a request; the host's clock stays. A host without addresses has its own reason."""
        return self._leases.refuse(lease, reason, rule)

    def release(self, lease: Lease, exchange: Capture | Failure) -> Verdict:
        """A page's lease ends with an exchange: what becomes of the URL is decided here. `record` makes it durable."""
        return self._leases.release(lease, exchange)

    def begin_aside(self, host: str) -> float:
        """Leave to ask a host besides its leases: 0 when it is given, else seconds until the next try; infinite: given up."""
        return self._leases.begin_aside(host)

    def end_aside(self, host: str, exchange: Capture | Failure) -> None:
        """A request besides the leases has ended."""
        self._leases.end_aside(host, exchange)

    def give_back(self, lease: Lease) -> None:
        """A lease ends and nothing was asked: it will be given again."""
        slot = self._leases.slots.get(lease.url_id)
        self._leases.give_back(lease)
        if slot is not None:
            self._encounters.settle(lease.url_id, slot)

    def record(
        self,
        lease: Lease,
        verdict: Verdict,
        *,
        digest: str = "",
        etag: str = "",
        last_modified: str = "",
        captured: float = 0.0,
        body_bytes: int = 0,
        quads: int = 0,
        position: tuple[str, int] | None = None,
        judgement: Judgement = _NO_JUDGEMENT,
    ) -> None:
        """Stage what became of a page: ledger, queue, next visit, counts. `position` is where the WARC tells of it."""
        facts = PageFacts(digest, etag, last_modified, captured, body_bytes, quads, position)
        self._outcomes.record(lease, verdict, facts, judgement)

    def claim(self, key: bytes, url: str) -> str:
        """The URL that had a content of this shard's first; where none had, that is this one from now on, and staged."""
        return self._contents.claim(key, url)

    def note_repeated(self, origin: str, other: str) -> None:
        """Stage that another origin has a page that this shard's had first, at the same path."""
        number = self._hosts.number_of(host_of(origin))
        if number is not None and self._contents.note_repeated(host := self._hosts.get(number), origin, other):
            self._hosts.mark_changed(host)

    def find_alike(self, lease: Lease, likeness: int, facts: int, is_absence: bool) -> list[tuple[str, SimhashEntry]]:
        """Pages of the same domain with nearly the same text, the newest first; the leased one will be one of them."""
        host = self._leases.slots[lease.url_id].host
        found = self._contents.find_alike(host, SimhashEntry(likeness, facts, lease.url_id, is_absence))
        return [(url, known) for known in found if (url := self.url_of(known.url_id))]

    def put_outbox(self, destination: int, payload: bytes) -> None:
        """Stage an entry for another shard, with the next sequence of this epoch."""
        self._outbox.put(destination, payload)

    def outbox(self, destination: int, after: tuple[int, int], limit_bytes: int) -> list[tuple[int, int, bytes]]:
        """Committed entries for a shard after (epoch, sequence), in order: epoch, sequence, payload."""
        return self._outbox.read(destination, after, limit_bytes)

    def clear_outbox(self, destination: int, upto: tuple[int, int]) -> None:
        """Stage that a shard has all entries up to (epoch, sequence)."""
        self._outbox.clear(destination, upto)

    def put_meta(self, key: str, value: bytes) -> None:
        """Stage a value of the caller's."""
        self._meta.put(pack_meta(key), value)
        self._staged_meta[key] = value

    def get_meta(self, key: str) -> bytes | None:
        """A value of the caller's, staged or committed; None where there is none."""
        value: bytes | None = self._staged_meta.get(key)
        return value if value is not None else self._meta.get(pack_meta(key))

    def commit(self) -> None:
        """Write all that was staged, in one batch. It survives the process; `sync` makes it survive the machine."""
        if not self.has_staged:
            return
        self._traps.settle()
        changed = list(self._hosts.changed.values())
        for host in changed:
            self._place(host)
        state = self._state
        state.commits += 1
        state.next_place = self._places.next_order
        state.outbox_bytes = self._outbox.stored_bytes
        stage_state(self._store, state)
        self._hosts.stage()
        self._patterns.stage()
        self._store.write()
        self._staged_meta.clear()
        for part in (self._sieve, self._ledger, self._hosts, self._places, self._inbox, self._origins, self._visits):
            part.settle()
        self._patterns.settle()
        self._contents.settle()
        for host in changed:
            self._leases.wake(host)

    def sync(self) -> None:
        """Make all commits safe from a loss of power. Touches nothing else, so it may run in a thread."""
        self._store.sync()

    def find(self, url: str) -> UrlEntry | None:
        """What is known of a URL, as committed; None when it was never seen."""
        found = self._sieve.find(url)
        value = self._rows.get(pack_row(*found)) if found else None
        return to_entry(decode_row(value), url, self._to_url_id(*found)) if found and value else None

    def url_of(self, url_id: int) -> str | None:
        """The URL of an id; None when it is not this shard's or not known."""
        url = self._recent_urls.get(url_id)
        if url is None:
            shard, number, sequence = from_url_id(url_id)
            value = self._rows.get_once(pack_row(number, sequence)) if shard == self._shard else None
            if value is None:
                return None
            if len(self._recent_urls) >= _RECENT_URLS:
                self._recent_urls.clear()
            url = self._recent_urls[url_id] = decode_url(value)
        return url

    def reschedule_after(self, segment: str, offset: int) -> int:
        """Schedule again what an archive has lost: URLs whose record was in that segment at that offset or beyond.

        Reads the whole ledger, and commits by itself: it is for the start, when nothing else is staged.
        """
        return self._starts.reschedule_after(segment, offset, self.commit)

    def retry_seeds(self, limit: int) -> int:
        """Stage anew, for a start, at most so many of the seeds and hosts of seeds that gave no answer; how many there were.

        They must be committed before the next are asked for.
        """
        return self._starts.retry_seeds(limit)

    def review_refusals(self, after: bytes, limit: int, is_welcome: Callable[[str, str], bool]) -> bytes:
        """Stage anew those of the next so many URLs that were `filtered` which are welcome now, by how they were found and what
        they are; where to go on, empty at the end. They must be committed before the next are asked for. Where they take long
        to judge they are fewer."""
        return self._refusals.review(after, limit, is_welcome)

    def table_bytes(self) -> dict[str, int]:
        """What each table takes on disk, and the log of what is not in a table yet."""
        return self._store.table_bytes()

    def close(self) -> None:
        """Mark a clean end and let go of the folder. Commits nothing: what is only staged is forgotten. Twice is once."""
        if not self._store.is_open:
            return
        self._store.discard()
        mark_clean(self._store)
        self._store.close()

    def _build(self, domains: Domains, calendar: Calendar, priority: Priority | None, ranks: Mapping[str, int]) -> None:
        store, config, clock, counts = self._store, self._config, self._clock, self._state.counts
        self._hosts = Hosts(store, domains, config.frontier, clock, calendar, counts)
        self._ledger = UrlRows(store)
        self._sieve = Sieve(store, self._hosts, self._state.salt)
        self._state.queued = self._state.queued or self._hosts.count_queued()
        self._queues = Queues(store, self._ledger, self._state.queued)
        longest_wait_s = 2 * max(config.frontier.max_wait_s, config.frontier.max_backoff_s, config.frontier.give_up_s)
        self._places = FrontQueues(store, self._state.next_place, longest_wait_s)
        self._visits = Visits(store)
        self._origins = Origins(store)
        self._outbox = Outbox(store, calendar.epoch, self._state.outbox_bytes)
        self._inbox = Inbox(store)
        self._contents = Contents(store, self._outbox, self._shard, domains.shards)
        self._active = ActiveHosts(self._hosts, self._places, self._queues, config, clock, counts)
        self._outages = Outages(store, self._hosts, self._active, self._origins, config.frontier, clock)
        self._patterns = Patterns(store)
        ratings = Ratings(self._patterns, counts, ranks)
        self._schedule = Schedule(
            store,
            self._ledger,
            self._sieve,
            self._hosts,
            self._queues,
            self._visits,
            self._outages,
            config,
            clock,
            counts,
            ratings,
            priority,
        )
        self._traps = Traps(
            store,
            domains,
            self._patterns,
            ratings,
            self._ledger,
            self._hosts,
            self._queues,
            self._schedule,
            self._active,
            clock,
            counts,
        )
        parts = Parts(
            self._hosts,
            self._active,
            self._queues,
            self._origins,
            self._outages,
            self._traps,
            self._to_url_id,
            calendar.epoch,
            self._state.lookup_epoch,
        )
        self._leases = Leases(parts, config, clock, counts)
        self._encounters = Rediscovery(
            self._ledger, self._hosts, self._schedule, self._leases.slots, self._to_url_id, config.crawl
        )
        self._refusals = Refusals(store, self._ledger, self._hosts, self._schedule, clock)
        self._outcomes = Finisher(
            self._ledger,
            self._hosts,
            self._queues,
            self._visits,
            self._leases,
            self._encounters,
            self._outages,
            self._refusals,
            self._contents,
            self._traps if priority is None else None,
            config.crawl,
            clock,
            counts,
        )
        self.imports = Imports(self._ledger, self._sieve, self._hosts, self._outcomes, counts, clock)
        """For pages that were read from archives of others."""
        self._starts = Restarts(
            store,
            self._ledger,
            self._hosts,
            self._places,
            self._outages,
            self._schedule,
            self._outcomes,
            self._contents,
            self._state,
        )

    def _to_url_id(self, number: int, sequence: int) -> int:
        return to_url_id(self._shard, number, sequence)

    def _place(self, host: Host) -> None:
        """Before a commit: a host with scheduled URLs has a place that fits them, one without has none."""
        self._active.settle_empty(host)
        record = host.record
        if not record.queued:
            return
        if not record.place and self._outages.keep_out(host):
            return
        is_front = record.place[:1] < bytes((PRIORITIES,))
        if not record.place or (is_front and not host.is_active and min(record.queued) < record.place[0]):
            self._places.put_front(host)


def _digest_lookup(config: FetchConfig) -> bytes:
    """The settings that answers to names depend on."""
    return xxh3_64_digest(repr((config.resolve, config.allow_private)).encode())
