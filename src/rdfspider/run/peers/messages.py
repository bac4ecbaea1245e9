"""All that shards, their coordinator and the command line say to each other, and how it is written on the wire.

Shards and the coordinator speak MessagePack; what is said within one turn of a loop travels as one parcel. The command line
asks in JSON, so that any tool can.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from rdfspider.frontier.entries import HostEntry
from rdfspider.frontier.hosts.address_clocks import Grant, Revoke
from rdfspider.records import Discovered

Cursor = tuple[int, int]
"""A place in an outbox: (the sender's epoch, the sequence within it). (0, 0) is before all."""


class Hello(Struct, frozen=True, array_like=True, tag=3):
    """The first word to each new epoch of a peer: where to go on."""

    received: Cursor
    """The recipient's links that the sender has made durable."""
    held: tuple[str, ...] = ()
    """Of the recipient's addresses, those that the sender is using."""
    wants_answer: bool = True
    """Whether the sender has not heard the recipient's hello yet."""


class Links(Struct, frozen=True, gc=False, array_like=True, tag=4):
    """One entry of the sender's outbox."""

    cursor: Cursor
    previous: Cursor
    """The entry before it; who does not have that one has missed something."""
    payload: bytes


class Received(Struct, frozen=True, array_like=True, tag=5):
    """All links up to the cursor are durable at the sender of this."""

    cursor: Cursor
    has_gap: bool = False
    """Links are missing: everything after the cursor has to be sent again."""


class Acquire(Struct, frozen=True, gc=False, array_like=True, tag=6):
    """The sender wants to use an address, or to keep it for another while."""

    address: str
    ticket: int


class Release(Struct, frozen=True, gc=False, array_like=True, tag=7):
    """The sender has done with an address, which must not be asked for `wait_s` from now."""

    address: str
    wait_s: float


class Claim(Struct, frozen=True, gc=False, array_like=True, tag=8):
    """A URL of the sender's has a content whose digest is the recipient's."""

    ticket: int
    key: bytes
    url: str


class Claimed(Struct, frozen=True, gc=False, array_like=True, tag=9):
    """Who had that content first."""

    ticket: int
    """The claim that this answers."""
    first: str = ""
    """A URL; empty where the one that was claimed for is the first."""


class Repeated(Struct, frozen=True, gc=False, array_like=True, tag=10):
    """A page that the recipient's origin had first is on one of the sender's too, at the same path."""

    origin: str
    other: str


PeerMessage = Hello | Links | Received | Acquire | Release | Grant | Revoke | Claim | Claimed | Repeated


class Parcel(Struct, frozen=True, array_like=True):
    """What one shard says to another in one turn of its loop; empty, it is a sign of life."""

    source: int
    epoch: int
    to_epoch: int
    """Whom it is meant for; 0 when the sender does not know. What was meant for an earlier epoch is not heard."""
    messages: list[PeerMessage] = []


class Arrival(Struct, frozen=True, tag=1):
    """A shard's first word to the coordinator in each epoch."""

    shard: int
    epoch: int
    pid: int
    pages: int
    """Pages fetched and committed, in all its epochs."""
    body_bytes: int
    """Of these."""
    scope: tuple[str, ...] = ()
    """What it knows to be in scope beyond the seeds."""


class Find(Struct, frozen=True):
    """A page with structured data that was found a moment ago, for people."""

    time: float
    """Seconds since 1970."""
    url: str
    title: str = ""
    """As the page has it, cut short."""
    types: tuple[str, ...] = ()
    """The first of its types, as IRIs."""
    quads: int = 0


class Fetching(Struct, frozen=True):
    """A page or a robots.txt that a server was asked for and has not sent yet."""

    shard: int
    since: float
    """Seconds since 1970."""
    url: str


class Beat(Struct, frozen=True, tag=2):
    """What a shard tells of itself every second: of the whole crawl, and, from `wire_bytes` on, of the time since it was started.
    The coordinator adds what the shard had counted in this run before it died."""

    shard: int
    epoch: int
    time: float
    """Seconds since 1970."""
    pid: int
    generation: tuple[int, int]
    is_idle: bool
    state: str = "running"
    """running, slowed (others cannot follow), pausing (it finishes what is under way), paused, suspended, stopping."""
    reason: str = ""
    """Why it is in that state, for people."""
    memory_used_bytes: int = 0
    memory_free_bytes: int = 0
    memory_total_bytes: int = 0
    cpu_percent: float = 0.0
    connections: int = 0
    pages: int = 0
    """Committed answers of 2xx."""
    body_bytes: int = 0
    disk_free_bytes: int = 0
    counts: dict[str, int] = {}
    """The frontier's counts, by name."""
    queued: dict[str, int] = {}
    """URLs to be fetched, by priority from 0, which is first, to 7; those without any are left out."""
    visits: dict[str, int] = {}
    """Leases that are under way, by their kind: name, robots or page; also those that wait for an address."""
    fetching: tuple[Fetching, ...] = ()
    """Some of the requests under way, those that began first."""
    waiting_hosts: tuple[HostEntry, ...] = ()
    """Of the hosts in memory, those that wait longest before they may be asked again, and why."""
    archive_bytes: int = 0
    """The length of its WARC files."""
    quads: dict[str, int] = {}
    """Statements, by syntax."""
    problems: dict[str, int] = {}
    """What was repaired, dropped or cut short on pages, by code."""
    types: dict[str, int] = {}
    """The most frequent types of what pages state, as IRIs; `run/data_counts.py` tells how far to trust them."""
    properties: dict[str, int] = {}
    """Its most frequent properties, likewise."""
    wire_bytes: int = 0
    statuses: dict[str, int] = {}
    """Outcomes, by HTTP status or error."""
    errands: dict[str, int] = {}
    """Answers that served the crawl itself alone, by `records.ERRANDS`; they are not among the statuses."""
    failures: dict[str, int] = {}
    """URLs that failed for good, by the reason."""
    robots: dict[str, int] = {}
    """What robots.txt files have decided: of URLs, how many were allowed and disallowed; of the files that were asked for, how
    many had rules, were not there (absent), and could not be had (unreachable)."""
    turned_away: dict[str, int] = {}
    """Links that were not followed, by the rule."""
    cpu_s: dict[str, float] = {}
    """Processor time by stage; `all` is that of the process."""
    slowest_hosts: dict[str, float] = {}
    """Of the hosts asked last, those that take longest, with the seconds they took on average."""
    finds: tuple[Find, ...] = ()
    """The latest pages with structured data, the newest last."""

    @property
    def fetched_pages(self) -> int:
        """Pages that count where a crawl is limited: all but the imported ones."""
        return self.pages - self.counts.get("imported_pages", 0)

    @property
    def fetched_bytes(self) -> int:
        """Bytes of bodies that count likewise."""
        return self.body_bytes - self.counts.get("imported_bytes", 0)


class PermitsWanted(Struct, frozen=True, tag=3):
    """The shard could fetch so many more pages now."""

    shard: int
    epoch: int
    count: int


class PermitsReturned(Struct, frozen=True, tag=4):
    """The shard will not use so many of its permits."""

    shard: int
    epoch: int
    count: int


class RoundAnswer(Struct, frozen=True, tag=5):
    """Whether the shard is idle at this moment."""

    shard: int
    epoch: int
    number: int
    is_idle: bool
    generation: tuple[int, int]


class ScopeFound(Struct, frozen=True, tag=6):
    """A seed led elsewhere, which is now in scope for all shards."""

    shard: int
    additions: tuple[str, ...]


ShardMessage = Arrival | Beat | PermitsWanted | PermitsReturned | RoundAnswer | ScopeFound


class Heard(Struct, frozen=True, array_like=True, tag=1):
    """The coordinator is there; it answers an arrival and each beat with this."""

    epoch: int


class Permits(Struct, frozen=True, array_like=True, tag=2):
    """So many more pages may be fetched."""

    epoch: int
    count: int


class Recall(Struct, frozen=True, array_like=True, tag=3):
    """Another shard wants permits: those that are not in use have to come back."""

    epoch: int


class Round(Struct, frozen=True, array_like=True, tag=4):
    """A question to all: are you idle?"""

    number: int


class Control(Struct, frozen=True, array_like=True, tag=5):
    """What a person, a limit or another shard's finding asks of each shard."""

    command: str
    """pause, resume, stop (finish what is under way), halt (stop at once), scope, filters, seeds (their file has more), or slow
    (begin nothing new while there is a reason)."""
    reason: str = ""
    additions: tuple[str, ...] = ()
    """For scope: what is in scope too."""
    include: tuple[str, ...] = ()
    """For filters: all that hold from now on."""
    exclude: tuple[str, ...] = ()


CoordinatorMessage = Heard | Permits | Recall | Round | Control


CHANGES = frozenset({"add-seeds", "add-filters", "remove-filters"})
"""Commands that are kept in the crawl's folder."""


class Command(Struct, frozen=True):
    """What the command line asks of the coordinator, as JSON."""

    command: str
    """pause, resume, stop, halt or status; or a change: add-seeds, add-filters, remove-filters."""
    seeds: tuple[str, ...] = ()
    """URLs to add."""
    include: tuple[str, ...] = ()
    """Filters to add or remove."""
    exclude: tuple[str, ...] = ()


class Answer(Struct, frozen=True):
    """What it answers, as JSON."""

    is_done: bool
    message: str = ""
    """Why it was not done, in one line."""
    state: str = ""
    """To status: running, pausing, paused or stopping."""
    count: int = 0
    """To a change: how many seeds or filters were added or removed."""
    beats: tuple[Beat, ...] = ()
    """To status: the last beat of each shard."""


_mail_decoder = msgspec.msgpack.Decoder(list[Discovered] | dict[bytes, str])
_encoder = msgspec.msgpack.Encoder()


def encode_links(links: Sequence[Discovered]) -> bytes:
    """The payload of an outbox entry."""
    return _encoder.encode(links)


def decode_mail(payload: bytes) -> list[Discovered] | dict[bytes, str]:
    """An outbox entry: links, or keys of contents that the sender's URLs no longer have."""
    mail: list[Discovered] | dict[bytes, str] = _mail_decoder.decode(payload)
    return mail
