"""Hosts: their stored records, their state in memory, and when each may get its next request.

A host gets a record on disk with its first URL, and keeps it for ever. It is in memory only while it is active or has staged
changes, or because it was used recently. Its clock is the time and the epoch in which its last request ended, and the gap
that must follow.
"""

from collections import deque
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder
from xxhash import xxh3_64_intdigest

from rdfspider.codes import DuplicateKind
from rdfspider.config import FrontierConfig
from rdfspider.domains import Domains
from rdfspider.frontier.clock import Calendar, Clock, Stamp
from rdfspider.frontier.hosts.origins import Repeats
from rdfspider.frontier.keys import MAX_HOSTS, PRIORITIES, pack_host, pack_name
from rdfspider.frontier.state import FrontierState
from rdfspider.frontier.store import Store
from rdfspider.records import Addresses
from rdfspider.urls import host_of_authority

if TYPE_CHECKING:
    from rdfspider.frontier.hosts.queues import BackQueue, Slot

# Inactive hosts that are kept in memory, because links to the same hosts come again and again.
_RECENT_HOSTS = 4096
# Domains that led to a host that are remembered, from the seed on; what is further away shares with the last of them.
_MAX_LINE = 3
# Host numbers by authority that are kept in memory, some 200 bytes each.
_RECENT_NUMBERS = 131_072

NORMAL, GIVEN_UP, OVER_BUDGET = range(3)
UNASKED, FAST, SLOW, TAKEN_BACK = range(4)
"""The last answer of a host: none so far, fast, slow, or its connection was taken back before it came."""


class HostRecord(Struct, array_like=True):
    """The stored record of a host."""

    name: str
    next_sequence: int = 0
    """The sequence of its next new URL."""
    next_order: int = 0
    """The order of the next entry in its back queues."""
    queued: dict[int, int] = {}
    """The number of scheduled URLs by priority, those in flight included."""
    heads: dict[int, tuple[int, int]] = {}
    """The heads of its back queues by priority: the order of an entry, and the number of its URLs that are recorded."""
    pages: int = 0
    """Committed 2xx responses."""
    status: int = NORMAL
    front_key: bytes = b""
    """Its key in the front queues; empty when it has nothing scheduled."""
    errors: int = 0
    """Errors in a row."""
    gap_s: float = 0.0
    """The gap after the last request; after an unclean end it is waited for in full."""
    epoch: int = 0
    """The epoch in which the last request ended or the record was made; the next two fields are its clocks."""
    ended_monotonic: float = 0.0
    ended_wall: float = 0.0
    """0 before the first request."""
    addresses: Addresses | None = None
    crawl_delays: dict[str, float] = {}
    """The Crawl-delay by origin, if its robots.txt has one."""
    is_seeded: bool = False
    """Whether one of its URLs is a seed or the redirect target of one."""
    structured: int = 0
    """Pages with structured data."""
    quads: int = 0
    failed: int = 0
    """All exchanges without an answer or with a server error."""
    wait_reason: str = ""
    """The reason for the gap, in words for people; empty for the usual delay."""
    mirror_of: str = ""
    """The host or origin that it mirrors; empty if none."""
    repeats: dict[str, Repeats] = {}
    """By origin, the pages that another origin has at the same path."""
    imported_pages: int = 0
    """Pages from other archives."""
    tempo: int = UNASKED
    """How fast its last answer was."""
    is_heavy: bool = False
    """Whether its last page took long to extract."""
    line: tuple[int, ...] = ()
    """The domains that led to it, as numbers, from that of a seed on; empty for a seed."""
    skipped: int = 0
    """How many sequences are left out, as a lost state of the frontier may have given them out."""

    @property
    def urls(self) -> int:
        """All its URLs."""
        return self.next_sequence - self.skipped

    @property
    def fetched_pages(self) -> int:
        """Pages that count towards the limit per host."""
        return self.pages - self.imported_pages

    @property
    def last_request(self) -> Stamp:
        """When the last request ended."""
        return Stamp(self.epoch, self.ended_monotonic, self.ended_wall)

    @property
    def crawl_delay_s(self) -> float:
        """The longest Crawl-delay of its origins; 0 without one."""
        return max(self.crawl_delays.values(), default=0.0)


class Domain:
    """A registrable domain's share of the page budget."""

    __slots__ = ("__weakref__", "fetched_pages", "key", "name", "pages", "stalled", "unrecorded")

    def __init__(self, name: str, pages: int, fetched_pages: int) -> None:
        self.name = name
        self.key = _number_domain(name)
        self.pages = pages
        self.fetched_pages = fetched_pages
        """All pages except imported ones, which the budget does not count."""
        self.unrecorded = 0
        self.stalled: list[Host] = []
        """Hosts that may get a page only if a request in flight turns out not to be one."""


class Host:
    """A host in memory: its record, and state that ends with the process."""

    __slots__ = (
        "asking",
        "blocked",
        "domain",
        "due",
        "error_at",
        "held",
        "in_flight",
        "is_active",
        "is_doubted",
        "is_resolving",
        "is_surplus",
        "leaving",
        "number",
        "queues",
        "ready_at",
        "record",
        "run",
        "side_requests",
        "unrecorded",
    )

    domain: Domain
    """Set when the host becomes active, as a lookup for every link to a host that is not in memory would cost too much."""

    def __init__(self, number: int, record: HostRecord, ready_at: float) -> None:
        self.number = number
        self.record = record
        self.ready_at = ready_at
        """Monotonic time before which no request may start."""
        self.error_at = 0.0
        """Monotonic time of the last counted error."""
        self.is_active = False
        self.leaving: tuple[int, float] | None = None
        """The front queue that it enters when nothing of it is in flight, and until when (monotonic); None if it stays."""
        self.due: float | None = None
        """When it is due in the heap; None while it is not there."""
        self.queues: dict[int, BackQueue] = {}
        self.run: deque[Slot] = deque()
        """URLs that were read from the queues and may be leased."""
        self.held: dict[str, list[Slot]] = {}
        """URLs that wait for their origin's robots.txt."""
        self.blocked: dict[str, float] = {}
        """Origins whose robots.txt cannot be reached, and until when (monotonic)."""
        self.asking: set[str] = set()
        """Origins whose robots.txt is being fetched."""
        self.is_resolving = False
        self.is_doubted = False
        """Whether that its last answer was fast shows nothing (`Shares.doubts`)."""
        self.is_surplus = False
        """Whether its next lease is one beyond its share."""
        self.in_flight = 0
        """Requests in flight, for pages and robots.txt."""
        self.side_requests = 0
        """Requests in flight without a lease."""
        self.unrecorded = 0
        """Pages that were leased but not recorded yet."""

    @property
    def tempo(self) -> int:
        """How fast its last answer was, or slow if that it was fast shows nothing."""
        return SLOW if self.is_doubted and self.record.tempo == FAST else self.record.tempo

    @property
    def scheduled(self) -> int:
        """URLs to be fetched, those in flight included."""
        return sum(self.record.queued.values())

    @property
    def is_quiet(self) -> bool:
        """Whether nothing of it is in flight, so that it can leave memory."""
        return not (self.unrecorded or self.in_flight or self.is_resolving)

    def forget_run(self) -> None:
        """Drop what was read of its queues; the heads say where to read again."""
        self.queues.clear()
        self.run.clear()
        self.held.clear()
        self.blocked.clear()
        self.leaving = None
        self.due = None


class Hosts:
    """All hosts, found by authority or number, kept in memory while needed, and stored when changed."""

    def __init__(
        self,
        store: Store,
        domains: Domains,
        config: FrontierConfig,
        clock: Clock,
        calendar: Calendar,
        state: FrontierState,
    ) -> None:
        self._names = store.overlay("names")
        self._hosts = store.tables["hosts"]
        self._domain_counts = store.tables["domains"]
        self._domains = domains
        self._config = config
        self._clock = clock
        self._calendar = calendar
        self._state = state
        self._counts = state.counts
        self._numbers: dict[str, int] = {}
        """Recent host numbers by authority."""
        self._memory: dict[int, Host] = {}
        self._domain_memory: WeakValueDictionary[str, Domain] = WeakValueDictionary()
        self.changed: dict[int, Host] = {}
        """Hosts whose records have changed since the last commit."""
        self.changed_domains: dict[str, Domain] = {}

    def number_of(self, authority: str) -> int | None:
        """The number of a URL's host; None if the host is new."""
        number = self._numbers.get(authority)
        if number is None:
            found = self._names.get(pack_name(host_of_authority(authority)))
            if found is None:
                return None
            number = int.from_bytes(found, "big")
            self._remember(authority, number)
        return number

    def list_of_site(self, domain: str, limit: int) -> list[int]:
        """The numbers of the committed hosts of a registrable domain, at most `limit`."""
        own = pack_name(domain)
        found = self._names.get(own)
        # Names of other domains may come between a domain and its subdomains, but not between these.
        rows = self._names.scan(own + b",", own + b"-", limit)
        numbers = [*([found] if found else []), *(row[1] for row in rows)]
        return [int.from_bytes(number, "big") for number in numbers[:limit]]

    def create(self, authority: str, line: tuple[int, ...] = ()) -> Host:
        """Create and stage a new host; `line` is that of the page that introduced it, with its domain."""
        name = host_of_authority(authority)
        # The first number is 1, so that no URL has the id 0, which means none.
        self._counts.hosts += 1
        number, _ = self._state.numbered
        self._names.put(pack_name(name), pack_host(number))
        own = _number_domain(self._domains.domain(name))
        line = line[: line.index(own)] if own in line else line[:_MAX_LINE]
        skipped = self._state.skipped_urls
        record = HostRecord(
            name, skipped, epoch=self._calendar.epoch, gap_s=self._config.delay_s, line=line, skipped=skipped
        )
        host = self._load(number, record)
        self._remember(authority, number)
        self.changed[number] = host
        return host

    def find_sequence(self, host: Host) -> int:
        """The sequence of the next new URL of a host."""
        record, skipped = host.record, self._state.skipped_urls
        record.next_sequence += skipped - record.skipped
        record.skipped = skipped
        return record.next_sequence

    def line_below(self, number: int) -> tuple[int, ...]:
        """The line of what a host's pages introduce; empty for one that is not known."""
        host = self._find(number)
        return (*host.record.line, _number_domain(self._domains.domain(host.record.name))) if host else ()

    def are_of_one_site(self, number: int, host: Host) -> bool:
        """Whether two hosts have the same registrable domain."""
        if number == host.number:
            return True
        other = self._find(number)
        return other is not None and self._domains.domain(other.record.name) == self._domains.domain(host.record.name)

    def get(self, number: int) -> Host:
        """A host by its number."""
        host = self._find(number)
        assert host is not None, f"there is no host {number}"
        return host

    def mark_changed(self, host: Host) -> None:
        """Have the next commit store a host's record."""
        self.changed[host.number] = host

    def end_request(self, host: Host, gap_s: float, reason: str = "") -> None:
        """Move a host's clock after a request that has just ended; `reason` explains a gap that is not the usual one."""
        now = self._clock.monotonic()
        record = host.record
        record.epoch = self._calendar.epoch
        record.ended_monotonic = now
        record.ended_wall = self._clock.now()
        # One of several parallel requests may have set a longer wait; the others do not shorten it.
        if now + gap_s >= host.ready_at:
            host.ready_at = now + gap_s
            record.wait_reason = reason
        record.gap_s = host.ready_at - now
        self.changed[host.number] = host

    def shorten_gap(self, host: Host, gap_s: float, reason: str = "") -> None:
        """Limit the gap after the last request."""
        record = host.record
        if gap_s < record.gap_s:
            record.gap_s = gap_s
            record.wait_reason = reason
        host.ready_at = self._clock.monotonic() + self._wait_s(record)
        self.changed[host.number] = host

    def count_queued(self) -> list[int]:
        """Count scheduled URLs by priority from the records of all hosts; with millions of hosts it takes seconds."""
        queued = [0] * PRIORITIES
        for _, value in self._hosts.iterate(pack_host(0), pack_host(MAX_HOSTS)):
            for priority, count in decode_host(value).queued.items():
                queued[priority] += count
        return queued

    def count_scheduled(self, host: Host, urls: int) -> None:
        """Add to the counts of scheduled URLs, as the status of this host requires."""
        counts = self._counts
        counts.scheduled += urls
        if host.record.status == GIVEN_UP:
            counts.scheduled_given_up += urls
        elif host.record.status == OVER_BUDGET:
            counts.over_budget += urls

    def set_status(self, host: Host, status: int) -> None:
        """Change the status of a host, and move its URLs to the counts of the new status."""
        if host.record.status == status:
            return
        scheduled = host.scheduled
        self.count_scheduled(host, -scheduled)
        self._counts.given_up_hosts += (status == GIVEN_UP) - (host.record.status == GIVEN_UP)
        host.record.status = status
        self.count_scheduled(host, scheduled)
        self.changed[host.number] = host

    def count_page(
        self,
        host: Host,
        quads: int,
        pages: int = 1,
        *,
        duplicate: DuplicateKind = DuplicateKind.NONE,
        is_imported: bool = False,
    ) -> None:
        """Add a page to the counts of its host, its domain and the frontier; `pages=-1` removes one."""
        counts, record = self._counts, host.record
        is_structured = bool(quads) and duplicate != DuplicateKind.SOFT_404
        counts.pages += pages
        counts.imported_pages += pages * is_imported
        counts.structured += pages * is_structured
        counts.duplicates += pages * bool(duplicate)
        record.structured += pages * is_structured
        record.quads += pages * quads
        record.pages += pages
        record.imported_pages += pages * is_imported
        self.find_domain(host)
        was_site = host.domain.pages > 0
        host.domain.pages += pages
        host.domain.fetched_pages += pages * (not is_imported)
        counts.sites += (host.domain.pages > 0) - was_site
        self.changed_domains[host.domain.name] = host.domain

    def find_domain(self, host: Host) -> None:
        """Set the domain of a host, which other hosts share."""
        name = self._domains.domain(host.record.name)
        domain = self._domain_memory.get(name)
        if domain is None:
            domain = Domain(name, *decode_domain(self._domain_counts.get(name.encode())))
            self._domain_memory[name] = domain
        host.domain = domain

    def stage(self) -> None:
        """Stage all changed records."""
        for number, host in self.changed.items():
            self._hosts.put(pack_host(number), encode_host(host.record))
        for name, domain in self.changed_domains.items():
            self._domain_counts.put(name.encode(), encode_domain(domain.pages, domain.fetched_pages))

    def settle(self) -> None:
        """After a commit, forget the changes, and drop hosts from memory that are not needed."""
        self.changed.clear()
        self.changed_domains.clear()
        if len(self._memory) > 2 * _RECENT_HOSTS:
            idle = [number for number, host in self._memory.items() if not host.is_active and host.is_quiet]
            for number in idle[: max(len(idle) - _RECENT_HOSTS, 0)]:
                del self._memory[number]

    def _find(self, number: int) -> Host | None:
        host = self._memory.get(number)
        if host is None and (stored := self._hosts.get(pack_host(number))) is not None:
            host = self._load(number, decode_host(stored))
        return host

    def _load(self, number: int, record: HostRecord) -> Host:
        host = self._memory[number] = Host(number, record, self._clock.monotonic() + self._wait_s(record))
        return host

    def _wait_s(self, record: HostRecord) -> float:
        return self._calendar.wait_s(record.last_request, record.gap_s, self._config.delay_s)

    def _remember(self, authority: str, number: int) -> None:
        if len(self._numbers) >= _RECENT_NUMBERS:
            for old in list(self._numbers)[: _RECENT_NUMBERS // 2]:
                del self._numbers[old]
        self._numbers[authority] = number


def encode_domain(pages: int, fetched_pages: int) -> bytes:
    """The stored form of a registrable domain's counts: all pages, and those that were fetched rather than imported."""
    return pages.to_bytes(8, "big") + fetched_pages.to_bytes(8, "big")


def decode_domain(value: bytes | None) -> tuple[int, int]:
    """The numbers that `encode_domain` stored; 0 for a domain without pages."""
    return int.from_bytes(value[:8], "big") if value else 0, int.from_bytes(value[8:], "big") if value else 0


def _number_domain(name: str) -> int:
    return xxh3_64_intdigest(name.encode()) >> 32


encode_host = Encoder().encode
decode_host = Decoder(HostRecord).decode
