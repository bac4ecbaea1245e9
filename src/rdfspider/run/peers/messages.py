"""All messages between shards and their coordinator, and how they are encoded.

They are MessagePack. What one shard sends to another within one turn of its loop travels as one batch. What the command line
sends is JSON (`crawl/messages.py`), so that any tool can.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from rdfspider.crawl.messages import Beat
from rdfspider.frontier.hosts.address_clocks import Grant, Revoke
from rdfspider.records import Discovered

Cursor = tuple[int, int]
"""A place in an outbox: (the sender's epoch, the sequence within it). (0, 0) is before all."""


class Hello(Struct, frozen=True, array_like=True, tag=3):
    """The first message to each new epoch of a peer: where to go on."""

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


class MessageBatch(Struct, frozen=True, array_like=True):
    """What one shard says to another in one turn of its loop; empty, it is a sign of life."""

    source: int
    epoch: int
    to_epoch: int
    """Whom it is meant for; 0 when the sender does not know. What was meant for an earlier epoch is not heard."""
    messages: list[PeerMessage] = []


class Arrival(Struct, frozen=True, tag=1):
    """A shard's first message to the coordinator in each epoch."""

    shard: int
    epoch: int
    pid: int
    pages: int
    """Pages fetched and committed, in all its epochs."""
    body_bytes: int
    """Of these."""
    scope: tuple[str, ...] = ()
    """What it knows to be in scope beyond the seeds."""


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


class ControlCommand(StrEnum):
    """What is asked of each shard."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    """Finish what is under way, and end."""
    HALT = "halt"
    """End at once."""
    SLOW = "slow"
    """Begin nothing new while there is a reason."""
    SCOPE = "scope"
    """More is in scope."""
    FILTERS = "filters"
    SEEDS = "seeds"
    """Their file has more."""


class Control(Struct, frozen=True, array_like=True, tag=5):
    """What a person, a limit or another shard's finding asks of each shard."""

    command: ControlCommand
    reason: str = ""
    additions: tuple[str, ...] = ()
    """For scope: what is in scope too."""
    include: tuple[str, ...] = ()
    """For filters: all that hold from now on."""
    exclude: tuple[str, ...] = ()


CoordinatorMessage = Heard | Permits | Recall | Round | Control


_outbox_decoder = msgspec.msgpack.Decoder(list[Discovered] | dict[bytes, str])
_encoder = msgspec.msgpack.Encoder()


def encode_links(links: Sequence[Discovered]) -> bytes:
    """The payload of an outbox entry."""
    return _encoder.encode(links)


def decode_outbox_entry(payload: bytes) -> list[Discovered] | dict[bytes, str]:
    """An outbox entry: links, or keys of contents that the sender's URLs no longer have."""
    entry: list[Discovered] | dict[bytes, str] = _outbox_decoder.decode(payload)
    return entry
