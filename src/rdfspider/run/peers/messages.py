"""The messages between shards and with the coordinator, and their encoding.

They are MessagePack. The messages of one shard to another in one iteration of its event loop are one batch, a numbered parcel of
their line (`line.py`). The command line sends JSON (`crawl/messages.py`), so that any tool can do the same.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from rdfspider.crawl.messages import Beat
from rdfspider.frontier.hosts.address_clocks import Grant, Revoke
from rdfspider.frontier.outbox import Cursor
from rdfspider.records import Discovered, Esteem


class Hello(Struct, frozen=True, array_like=True, tag=3):
    """The first message to each new epoch of a peer, with where to resume."""

    received: Cursor
    """Up to where the sender has committed the recipient's links."""
    durable: Cursor
    """Up to where the sender cannot lose them."""
    lacks: bool = False
    """Whether the sender has lost links of the recipient, which must tell them again."""
    held: tuple[str, ...] = ()
    """The addresses owned by the recipient that the sender holds."""
    numbered: tuple[int, int] = (0, 0)
    """How many numbers of hosts and URLs the recipient had given out, as far as the sender knows."""


class Links(Struct, frozen=True, gc=False, array_like=True, tag=4):
    """One entry of the sender's outbox."""

    cursor: Cursor
    previous: Cursor
    """The entry before it; a recipient without that one has lost something."""
    payload: bytes
    numbered: tuple[int, int] = (0, 0)
    """How many numbers of hosts and URLs the sender had given out, at least with this entry."""


class Received(Struct, frozen=True, array_like=True, tag=5):
    """The sender of this has committed all links up to one cursor, and cannot lose those up to the other."""

    received: Cursor
    durable: Cursor


class Acquire(Struct, frozen=True, gc=False, array_like=True, tag=6):
    """The sender wants to use an address, or to renew its grant."""

    address: str
    ticket: int


class Release(Struct, frozen=True, gc=False, array_like=True, tag=7):
    """The sender returns an address, which must not be used for `wait_s` from now."""

    address: str
    wait_s: float


class ContentClaim(Struct, frozen=True, gc=False, array_like=True, tag=8):
    """A URL of the sender has a body whose digest the recipient owns."""

    ticket: int
    key: bytes
    url: str


class Claimed(Struct, frozen=True, gc=False, array_like=True, tag=9):
    """The answer to a claim: which URL had that body first."""

    ticket: int
    """The claim that this answers."""
    first: str = ""
    """A URL; empty if the claiming URL is the first."""


class Repeated(Struct, frozen=True, gc=False, array_like=True, tag=10):
    """An origin of the sender has, at the same path, a page that an origin of the recipient had first."""

    origin: str
    other: str


PeerMessage = Hello | Links | Received | Acquire | Release | Grant | Revoke | ContentClaim | Claimed | Repeated


class MessageBatch(Struct, frozen=True, array_like=True):
    """A parcel of one shard to another: the messages of one iteration of its loop. An empty batch is a sign of life."""

    source: int
    epoch: int
    to_epoch: int
    """The recipient's epoch; 0 if the sender does not know it. Messages to an earlier epoch are dropped."""
    number: int = 0
    """From here on as in `line.py`."""
    received: int = 0
    has_gap: bool = False
    messages: list[PeerMessage] = []


class Arrival(Struct, frozen=True, tag=1):
    """A shard's first message to a coordinator in each epoch."""

    shard: int
    epoch: int
    pages: int
    """Pages fetched and committed, in all its epochs."""
    body_bytes: int
    """The bytes of these pages."""
    scope: tuple[str, ...] = ()
    """The URLs by which the shard has widened the scope beyond the seeds."""
    address: str = ""
    """Where its peers reach it; empty if they know it from their orders."""
    reserved: int = 0
    """Permits of pages that are under way: some, where a shard meets another coordinator than the one that gave them."""


class PermitsWanted(Struct, frozen=True, tag=3):
    """The shard could fetch `count` more pages now."""

    shard: int
    epoch: int
    count: int


class PermitsReturned(Struct, frozen=True, tag=4):
    """The shard returns `count` permits that it will not use."""

    shard: int
    epoch: int
    count: int


class RoundAnswer(Struct, frozen=True, tag=5):
    """The answer to a round: whether the shard is idle at this moment."""

    shard: int
    epoch: int
    number: int
    is_idle: bool
    generation: tuple[int, int]


class ScopeFound(Struct, frozen=True, tag=6):
    """Seeds redirect to these URLs, which are now in scope for all shards."""

    shard: int
    epoch: int
    additions: tuple[str, ...]


class DocumentStored(Struct, frozen=True, tag=7):
    """The shard has stored a file of the crawl's documents, in a folder that others do not share."""

    shard: int
    epoch: int
    name: str
    body: bytes


ShardMessage = Arrival | Beat | PermitsWanted | PermitsReturned | RoundAnswer | ScopeFound | DocumentStored


class ShardBatch(Struct, frozen=True, array_like=True):
    """A parcel of a shard to the coordinator."""

    shard: int
    epoch: int
    to_epoch: int
    """The coordinator's epoch; 0 if the shard has not heard it yet."""
    number: int = 0
    """From here on as in `line.py`."""
    received: int = 0
    has_gap: bool = False
    messages: list[ShardMessage] = []


class Heard(Struct, frozen=True, array_like=True, tag=1):
    """The coordinator's answer to each beat."""

    epoch: int
    time: float = 0.0
    """The `time` of the beat."""


class Permits(Struct, frozen=True, array_like=True, tag=2):
    """The shard may fetch `count` more pages."""

    epoch: int
    count: int


class Recall(Struct, frozen=True, array_like=True, tag=3):
    """Another shard wants permits, so unused ones must be returned."""

    epoch: int


class Round(Struct, frozen=True, array_like=True, tag=4):
    """The question to all shards whether they are idle."""

    number: int


class ControlCommand(StrEnum):
    """Commands to all shards."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    """Finish what is under way, and end."""
    HALT = "halt"
    """End at once."""
    SLOW = "slow"
    """Start no new visits while there is a reason."""
    SCOPE = "scope"
    """The scope is wider."""
    FILTERS = "filters"
    SEEDS = "seeds"
    """The file of seeds has more."""
    COPY = "copy"
    """Send a copy to a store at once."""


class Control(Struct, frozen=True, array_like=True, tag=5):
    """A command to all shards, caused by a user, a limit, the index's lag or another shard."""

    command: ControlCommand
    reason: str = ""
    """For COPY: the ticket of the copy."""
    additions: tuple[str, ...] = ()
    """For SCOPE: URLs that widen the scope; for SEEDS: the new ones, if shards have folders of their own; for COPY: the store's
    URL and the identity of the crawl."""
    include: tuple[str, ...] = ()
    """For FILTERS: all that apply from now on."""
    exclude: tuple[str, ...] = ()


class Book(Struct, frozen=True, array_like=True, tag=7):
    """Where shards are reached: those that have moved or restarted, or all for a shard that has just arrived."""

    shards: dict[int, tuple[str, int]]
    """By number: the address, and the epoch that listens there. Nothing is taken from an earlier one any more."""


class Welcome(Struct, frozen=True, array_like=True, tag=6):
    """The coordinator's answer to an arrival, after everything that the shard must know before its first visit."""

    epoch: int


class Document(Struct, frozen=True, array_like=True, tag=8):
    """A file of the crawl's documents, for shards in other folders."""

    name: str
    body: bytes


class EsteemTable(Struct, frozen=True, array_like=True, tag=9):
    """What the link graph says of the shard's sites, in place of what it said before. Without it, or with an older one, only
    the order differs in which the shard fetches."""

    sites: list[Esteem]


CoordinatorMessage = Heard | Permits | Recall | Round | Control | Welcome | Book | Document | EsteemTable


class CoordinatorBatch(Struct, frozen=True, array_like=True):
    """A parcel of the coordinator to a shard."""

    epoch: int
    """The coordinator's; each run has a higher one."""
    to_epoch: int
    """The shard's. Messages to another epoch are dropped."""
    number: int = 0
    """From here on as in `line.py`."""
    received: int = 0
    has_gap: bool = False
    messages: list[CoordinatorMessage] = []


UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
"""What decoding raises for bytes that are no message."""

_outbox_decoder = msgspec.msgpack.Decoder(list[Discovered] | dict[bytes, str] | None)
_encoder = msgspec.msgpack.Encoder()


def encode_links(links: Sequence[Discovered]) -> bytes:
    """Encode links as the payload of an outbox entry."""
    return _encoder.encode(links)


def count_links(payload: bytes) -> int:
    """Count the links of an outbox entry, by the head of its MessagePack array."""
    match payload[0]:
        case 0xDC:
            return int.from_bytes(payload[1:3], "big")
        case 0xDD:
            return int.from_bytes(payload[1:5], "big")
        case first:
            return first & 0x0F if first & 0xF0 == 0x90 else 0


ALL_TOLD = _encoder.encode(None)
"""The payload of the entry after the last one that tells again what the recipient had lost."""


def decode_outbox_entry(payload: bytes) -> list[Discovered] | dict[bytes, str] | None:
    """Decode an outbox entry: links, keys of bodies with the sender's URLs that no longer have them, or None for ALL_TOLD."""
    entry: list[Discovered] | dict[bytes, str] | None = _outbox_decoder.decode(payload)
    return entry
