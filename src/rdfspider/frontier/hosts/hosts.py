"""Hosts: what is stored of each, what is known of it in memory, and when it may be asked again.

A host enters with its first URL and stays for ever, as a record on disk. In memory is it only while it is active, while
something of it is staged, or because it was met a moment ago. Its clock is three numbers: when its last request ended, the
gap that must follow, and in which epoch that was.
"""

from collections import deque
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from rdfspider.config import FrontierConfig
from rdfspider.domains import Domains
from rdfspider.frontier.clock import Calendar, Clock, Stamp
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.origins import Repeats
from rdfspider.frontier.keys import MAX_HOSTS, PRIORITIES, pack_host, pack_name
from rdfspider.frontier.store import Store
from rdfspider.records import Addresses, DuplicateKind
from rdfspider.urls import host_of_authority

if TYPE_CHECKING:
    from rdfspider.frontier.hosts.back_queues import Queue, Slot

# Hosts that are not active but kept in memory, because links to the same hosts come again and again.
_RECENT_HOSTS = 4096
# Numbers of hosts by authority kept in memory, some 200 bytes each.
_RECENT_NUMBERS = 131_072

NORMAL, GIVEN_UP, OVER_BUDGET = range(3)


class HostRecord(Struct, array_like=True):
    """What is stored of a host."""

    name: str
    next_sequence: int = 0
    """The sequence of its next new URL."""
    next_order: int = 0
    """The order of the next entry of its queues."""
    queued: dict[int, int] = {}
    """Scheduled URLs by priority; those in flight are in it."""
    heads: dict[int, tuple[int, int]] = {}
    """Where its queues begin, by priority: order of an entry, and how many URLs of that entry are over."""
    pages: int = 0
    """Committed answers of 2xx."""
    status: int = NORMAL
    front_key: bytes = b""
    """Its key in the front queues; empty when it has nothing scheduled."""
    errors: int = 0
    """In a row."""
    gap_s: float = 0.0
    """What must follow the last request; after an unclean end it is waited for in full."""
    epoch: int = 0
    """When the last request ended, or the record was made: the epoch, and its clocks."""
    ended_monotonic: float = 0.0
    ended_wall: float = 0.0
    """0 before the first request."""
    addresses: Addresses | None = None
    crawl_delays: dict[str, float] = {}
    """By origin, where robots.txt asks for one."""
    is_seeded: bool = False
    """Whether a seed, or what one redirects to, is among its URLs."""
    structured: int = 0
    """Of the pages, those with structured data."""
    quads: int = 0
    failed: int = 0
    """Exchanges that gave no answer or an error of the server, over all."""
    wait_reason: str = ""
    """Why the gap is as long as it is, in words for people; empty where it is the usual delay."""
    mirror_of: str = ""
    """The host whose pages this one repeats; empty where it does not."""
    repeats: dict[str, Repeats] = {}
    """By origin, where pages repeat those of another one at the same path."""
    imported_pages: int = 0
    """Of the pages, those that came from archives of others."""

    @property
    def fetched_pages(self) -> int:
        """Pages that count where the pages of a host are limited."""
        return self.pages - self.imported_pages

    @property
    def last_request(self) -> Stamp:
        """When the last request ended."""
        return Stamp(self.epoch, self.ended_monotonic, self.ended_wall)

    @property
    def crawl_delay_s(self) -> float:
        """The longest that one of its robots.txt asks for; 0 when none does."""
        return max(self.crawl_delays.values(), default=0.0)


class Domain:
    """A registrable domain's share of the page budget."""

    __slots__ = ("__weakref__", "fetched_pages", "name", "pages", "stalled", "unrecorded")

    def __init__(self, name: str, pages: int, fetched_pages: int) -> None:
        self.name = name
        self.pages = pages
        self.fetched_pages = fetched_pages
        """Of these, all but the imported ones: those that the budget is for."""
        self.unrecorded = 0
        self.stalled: list[Host] = []
        """Hosts that may have a page only if one of those that are in flight is none."""


class Host:
    """A host in memory: its record, and what only matters while the process lives."""

    __slots__ = (
        "asking",
        "blocked",
        "domain",
        "due",
        "error_at",
        "held",
        "in_flight",
        "is_active",
        "is_resolving",
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
    """Known from when it becomes active: looking it up would cost every link to a host that is not in memory."""

    def __init__(self, number: int, record: HostRecord, ready_at: float) -> None:
        self.number = number
        self.record = record
        self.ready_at = ready_at
        """Monotonic time before which no request may start."""
        self.error_at = 0.0
        """Monotonic time of the last error that was counted."""
        self.is_active = False
        self.leaving: tuple[int, float] | None = None
        """The front queue that it goes to, and until when (monotonic), as soon as nothing of it is under way; None when
        it stays active."""
        self.due: float | None = None
        """When the heap will bring it up; None while it is not in the heap."""
        self.queues: dict[int, Queue] = {}
        self.run: deque[Slot] = deque()
        """URLs that were read and may be leased."""
        self.held: dict[str, list[Slot]] = {}
        """URLs that wait for their origin's robots.txt."""
        self.blocked: dict[str, float] = {}
        """Origins whose robots.txt cannot be reached, and until when (monotonic)."""
        self.asking: set[str] = set()
        """Origins whose robots.txt is being fetched."""
        self.is_resolving = False
        self.in_flight = 0
        """Requests under way: pages and robots.txt."""
        self.side_requests = 0
        """Of these, those without a lease."""
        self.unrecorded = 0
        """Pages that were leased and not recorded yet."""

    @property
    def scheduled(self) -> int:
        """URLs to be fetched, those in flight included."""
        return sum(self.record.queued.values())

    @property
    def is_quiet(self) -> bool:
        """Whether nothing of it is under way, so that it can leave memory."""
        return not (self.unrecorded or self.in_flight or self.is_resolving)

    def forget_run(self) -> None:
        """Drop what was read of its queues; the heads tell where to read again."""
        self.queues.clear()
        self.run.clear()
        self.held.clear()
        self.blocked.clear()
        self.leaving = None
        self.due = None


class Hosts:
    """All hosts: found by authority or number, kept in memory while needed, stored when they changed."""

    def __init__(
        self,
        store: Store,
        domains: Domains,
        config: FrontierConfig,
        clock: Clock,
        calendar: Calendar,
        counts: Counts,
    ) -> None:
        self._names = store.tables["names"]
        self._hosts = store.tables["hosts"]
        self._domain_counts = store.tables["domains"]
        self._domains = domains
        self._config = config
        self._clock = clock
        self._calendar = calendar
        self._counts = counts
        self._numbers: dict[str, int] = {}
        """By authority, those that were met last."""
        self._staged_names: dict[str, int] = {}
        self._memory: dict[int, Host] = {}
        self._domain_memory: WeakValueDictionary[str, Domain] = WeakValueDictionary()
        self.changed: dict[int, Host] = {}
        """Hosts whose records differ from what was last committed."""
        self.changed_domains: dict[str, Domain] = {}

    def number_of(self, authority: str) -> int | None:
        """The number of a URL's host; None when the host is new."""
        number = self._numbers.get(authority)
        if number is None:
            name = host_of_authority(authority)
            number = self._staged_names.get(name)
            if number is None:
                found = self._names.get(pack_name(name))
                if found is None:
                    return None
                number = int.from_bytes(found, "big")
            self._remember(authority, number)
        return number

    def create(self, authority: str) -> Host:
        """A host that was not known, staged."""
        name = host_of_authority(authority)
        # The first is 1, so that no URL has the id 0, which stands for none.
        self._counts.hosts += 1
        number = self._counts.hosts
        self._names.put(pack_name(name), pack_host(number))
        self._staged_names[name] = number
        record = HostRecord(name, epoch=self._calendar.epoch, gap_s=self._config.delay_s)
        host = self._load(number, record)
        self._remember(authority, number)
        self.changed[number] = host
        return host

    def get(self, number: int) -> Host:
        """A host by its number."""
        host = self._memory.get(number)
        if host is None:
            host = self._load(number, decode_host(self._hosts.get(pack_host(number))))
        return host

    def mark_changed(self, host: Host) -> None:
        """Have the next commit store its record."""
        self.changed[host.number] = host

    def end_request(self, host: Host, gap_s: float, reason: str = "") -> None:
        """Move its clock: a request has ended now, and this gap must follow, for a reason where it is not the usual one."""
        now = self._clock.monotonic()
        record = host.record
        record.epoch = self._calendar.epoch
        record.ended_monotonic = now
        record.ended_wall = self._clock.now()
        # Of requests side by side one may have been told to wait; the answers of the others do not shorten that.
        if now + gap_s >= host.ready_at:
            host.ready_at = now + gap_s
            record.wait_reason = reason
        record.gap_s = host.ready_at - now
        self.changed[host.number] = host

    def shorten_gap(self, host: Host, gap_s: float, reason: str = "") -> None:
        """Have no more than this gap follow the last request."""
        record = host.record
        if gap_s < record.gap_s:
            record.gap_s = gap_s
            record.wait_reason = reason
        host.ready_at = self._clock.monotonic() + self._wait_s(record)
        self.changed[host.number] = host

    def count_queued(self) -> list[int]:
        """Scheduled URLs by priority, from the records of all hosts: it takes seconds where there are millions."""
        queued = [0] * PRIORITIES
        for _, value in self._hosts.iterate(pack_host(0), pack_host(MAX_HOSTS)):
            for priority, count in decode_host(value).queued.items():
                queued[priority] += count
        return queued

    def count_scheduled(self, host: Host, urls: int) -> None:
        """Add to the scheduled URLs of the counts, where this host's belong."""
        counts = self._counts
        counts.scheduled += urls
        if host.record.status == GIVEN_UP:
            counts.scheduled_given_up += urls
        elif host.record.status == OVER_BUDGET:
            counts.over_budget += urls

    def set_status(self, host: Host, status: int) -> None:
        """Change whether a host's URLs are to be fetched, and count them where they now belong."""
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
        """Take a page into the counts of its host, of its domain and of all, or, with -1, out of them."""
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
        """Give a host its domain, which it shares with others."""
        name = self._domains.domain(host.record.name)
        domain = self._domain_memory.get(name)
        if domain is None:
            domain = Domain(name, *decode_domain(self._domain_counts.get(name.encode())))
            self._domain_memory[name] = domain
        host.domain = domain

    def stage(self) -> None:
        """Put all that changed into the batch."""
        for number, host in self.changed.items():
            self._hosts.put(pack_host(number), encode_host(host.record))
        for name, domain in self.changed_domains.items():
            self._domain_counts.put(name.encode(), encode_domain(domain.pages, domain.fetched_pages))

    def settle(self) -> None:
        """After a commit: nothing is changed any more, and what is not needed leaves memory."""
        self.changed.clear()
        self.changed_domains.clear()
        self._staged_names.clear()
        if len(self._memory) > 2 * _RECENT_HOSTS:
            idle = [number for number, host in self._memory.items() if not host.is_active and host.is_quiet]
            for number in idle[: max(len(idle) - _RECENT_HOSTS, 0)]:
                del self._memory[number]

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
    """What is stored of a registrable domain: its pages, and of these those that were fetched."""
    return pages.to_bytes(8, "big") + fetched_pages.to_bytes(8, "big")


def decode_domain(value: bytes | None) -> tuple[int, int]:
    """The same two numbers; nothing is stored of a domain without pages."""
    return int.from_bytes(value[:8], "big") if value else 0, int.from_bytes(value[8:], "big") if value else 0


encode_host = Encoder().encode
decode_host = Decoder(HostRecord).decode
