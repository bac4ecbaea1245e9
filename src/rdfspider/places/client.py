"""Questions to the places of a crawl's shards: a request enters, the bytes of its answer leave, or an AwayError.

The process that answers for a place (`run/place_process.py`) runs beside its shards, so that no question disturbs their fetching.
It admits the coordinator's key alone; whoever may read the crawl's keys can ask.
"""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import zmq

from rdfspider.disk import find_holder
from rdfspider.errors import AwayError
from rdfspider.places.keys import ProcessKeys, load_keys
from rdfspider.places.records import Measure, PlaceRecord, find_state, read_place

TIMEOUT_S = 10.0
"""How long a place may take to answer."""
_LOCK = "lock"


class Lengths(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """How long is each committed segment of facts?"""

    shard: int


class ReadPart(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """What does a committed part of a segment contain?"""

    shard: int
    segment: str
    start: int
    max_bytes: int


class ReadRecord(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """What does the record contain, still compressed, that begins at an offset of a segment?"""

    shard: int
    segment: str
    offset: int


class AskFrontier(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """What does a method of the frontier's reader answer?"""

    shard: int
    method: str
    arguments: tuple[str | int, ...]


Request = Lengths | ReadPart | ReadRecord | AskFrontier


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """The answer to a request."""

    number: int
    """The request that this answers."""
    body: bytes
    error: str = ""
    """Why there is no answer, in words; empty if there is one."""


class PlaceClient:
    """A connection to one place, for one thread; a context manager."""

    def __init__(self, place: PlaceRecord, keys: ProcessKeys, timeout_s: float | None = None) -> None:
        self._place = place
        self._timeout_s = TIMEOUT_S if timeout_s is None else timeout_s
        self._number = 0
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.linger = 0
        self._socket.curve_serverkey = place.key.encode()
        self._socket.curve_publickey, self._socket.curve_secretkey = keys.own
        self._socket.ipv6 = "[" in place.address
        self._socket.connect(place.address)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()
        self._context.term()

    def ask(self, request: Request) -> bytes:
        """Return the answer to a request; AwayError if there is none in time, or the place says why it has none."""
        self._number += 1
        self._socket.send_multipart([msgspec.msgpack.encode((self._number, request))])
        end = time.monotonic() + self._timeout_s
        while (left_s := end - time.monotonic()) > 0 and self._socket.poll(int(1000 * left_s) + 1):
            reply = msgspec.msgpack.decode(self._socket.recv_multipart()[-1], type=Reply)
            if reply.number == self._number:
                if reply.error:
                    raise AwayError(f"shard {request.shard} in {describe_place(self._place)}: {reply.error}")
                return reply.body
        raise AwayError(f"shard {request.shard} is away: {describe_place(self._place)} does not answer")


def describe_place(place: PlaceRecord) -> str:
    """Describe a place in a few words."""
    return f"{place.host} ({place.folder})"


def open_client(folder: Path, shard: int, measure: Measure) -> PlaceClient | Path | None:
    """Return what tells of a shard that is in another place: a client while the crawl runs, else the shard's own folder; None
    if the shard is in the crawl's folder. AwayError if it cannot be reached. `measure` tells which of two copies
    is newer."""
    place = read_place(folder, shard)
    if place is None:
        return None
    if find_holder(folder / _LOCK) is not None:
        shards = sum(path.name.isdecimal() for path in (folder / "shards").iterdir())
        return PlaceClient(place, load_keys(folder, shards).of_coordinator())
    root = find_state(Path(place.folder), place.crawl, shard, measure)
    if root is None:
        raise AwayError(f"shard {shard} is away: it is in {describe_place(place)}, and the crawl does not run")
    return root


def fetch_record(folder: Path, shard: int, segment: str, offset: int, measure: Measure) -> Path | bytes | None:
    """Return a record of a shard that is in another place, still compressed, or the path of its segment if that is here; None
    if the shard is in the crawl's folder."""
    found = open_client(folder, shard, measure)
    if isinstance(found, PlaceClient):
        with found:
            return found.ask(ReadRecord(shard, segment, offset))
    return found / "shards" / f"{shard:03}" / "warc" / segment if found is not None else None
