"""The process that answers for one place: an order on stdin and questions of the coordinator enter, answers leave.

It reads what the shards of the place have committed: segments for the copies in the crawl's folder, bodies of pages, and
frontiers for reports. It runs beside the shards with a lower priority, so that no question disturbs their fetching, and ends when
its stdin closes.
"""

import asyncio
import logging
import os
import pickle
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import zmq

from rdfspider.archive.segments import SegmentKind, kind_of, parse_name, read_committed, read_member
from rdfspider.backup.shipment import read_range
from rdfspider.crawl.folder import frontier_folder, shard_folder
from rdfspider.crawl.reports.remote_frontiers import METHODS
from rdfspider.errors import UsageError
from rdfspider.frontier.reader import FrontierReader, open_reader, read_generation
from rdfspider.places.client import AskFrontier, Lengths, ReadPart, ReadRecord, Reply, Request
from rdfspider.places.records import find_state
from rdfspider.processes.module_process import begin_module_process
from rdfspider.run.peers.gatekeeper import Gatekeeper
from rdfspider.run.peers.sockets import COORDINATOR_DOMAIN, LoopSocket, find_address, is_complete, open_desk, open_port
from rdfspider.run.runners.local import PlaceOrder

_log = logging.getLogger(__name__)

_NICE = 5
# Frontiers are opened for so long: opening one takes a good part of a second, and an open one keeps deleted files on disk.
_KEPT_S = 3.0
_MAX_PART_BYTES = 4 * 1024 * 1024
_decoder = msgspec.msgpack.Decoder(tuple[int, Request])


class _Place:
    """What the process knows of its place."""

    def __init__(self, order: PlaceOrder) -> None:
        self._order = order
        self._readers: dict[int, tuple[float, FrontierReader]] = {}

    def answer(self, request: Request) -> bytes:
        """Return the answer to a request; a UsageError says why there is none."""
        root = find_state(self._order.folder, self._order.crawl, request.shard, read_generation)
        if root is None:
            raise UsageError("it has no state there")
        warc = shard_folder(root, request.shard) / "warc"
        match request:
            case Lengths():
                lengths = read_committed(warc).items()
                facts = {name: length for name, length in lengths if kind_of(name) == SegmentKind.FACTS}
                return msgspec.msgpack.encode(facts)
            case ReadPart(_, segment, start, max_bytes):
                return _read_part(warc, segment, start, max_bytes)
            case ReadRecord(_, segment, offset):
                return _read_record(warc, segment, offset)
            case AskFrontier():
                return self._ask_frontier(root, request)

    def close_old_readers(self, keep_s: float = _KEPT_S) -> None:
        """Close the frontiers that were opened long ago."""
        now = time.monotonic()
        for shard, (opened, reader) in list(self._readers.items()):
            if now > opened + keep_s:
                del self._readers[shard]
                reader.close()

    def _ask_frontier(self, root: Path, request: AskFrontier) -> bytes:
        if request.method not in METHODS:
            raise UsageError(f"there is no question {request.method!r}")
        self.close_old_readers()
        if request.shard not in self._readers:
            reader = open_reader(frontier_folder(root, request.shard), self._order.config, request.shard)
            if reader is None:
                raise UsageError("it has no frontier yet")
            self._readers[request.shard] = (time.monotonic(), reader)
        found: Any = getattr(self._readers[request.shard][1], request.method)
        return msgspec.msgpack.encode(found(*request.arguments) if callable(found) else found)


def main() -> None:
    """Answer questions until stdin closes."""
    begin_module_process()
    order: PlaceOrder = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    os.nice(_NICE)
    try:
        asyncio.run(_serve(order))
    except zmq.ZMQError as error:
        _log.warning("nobody can answer for the place %s at %s: %s", order.folder, order.address, error.strerror)
        sys.exit(1)


def _leave_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _listen(context: "zmq.Context[zmq.Socket[bytes]]", order: PlaceOrder) -> "zmq.Socket[bytes]":
    """Open the socket for questions. Another process may have taken the port of an earlier life; then it is another one."""
    try:
        return open_desk(context, order.address, order.keys)
    except zmq.ZMQError as error:
        if error.errno != zmq.EADDRINUSE or not is_complete(order.address):
            raise
        return open_desk(context, open_port(order.address), order.keys)


async def _serve(order: PlaceOrder) -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    place = _Place(order)
    Gatekeeper(context, {COORDINATOR_DOMAIN: {order.keys.coordinator: "coordinator"}})
    socket = _listen(context, order)

    def read(frames: list[bytes]) -> None:
        try:
            number, request = _decoder.decode(frames[-1])
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            _log.warning("something that is no question came to the place %s", order.folder)
            return
        try:
            reply = Reply(number, place.answer(request))
        except (UsageError, OSError) as error:
            reply = Reply(number, b"", str(error))
        except Exception as error:
            # One bad question must not end the answers to others.
            _log.warning("a question could not be answered: %r", error)
            reply = Reply(number, b"", f"the question cannot be answered: {error!r}")
        desk.send([*frames[:-1], msgspec.msgpack.encode(reply)])

    desk = LoopSocket(socket, read)
    # Nobody reads it if the parent was killed meanwhile; then stdin closes, too.
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{find_address(socket)}\n")
        sys.stdout.flush()
    while True:
        await asyncio.sleep(_KEPT_S)
        place.close_old_readers()


def _find_segment(warc: Path, segment: str) -> tuple[Path, int]:
    """Return the path of a segment, and how far it may be read."""
    if parse_name(segment) is None:
        raise UsageError(f"there is no segment {segment!r}")
    return warc / segment, read_committed(warc).get(segment, 0)


def _read_part(warc: Path, segment: str, start: int, max_bytes: int) -> bytes:
    path, length = _find_segment(warc, segment)
    with path.open("rb") as file:
        file.seek(start)
        return file.read(max(0, min(length - start, max_bytes, _MAX_PART_BYTES)))


def _read_record(warc: Path, segment: str, offset: int) -> bytes:
    """Read one member of a compressed segment."""
    path, length = _find_segment(warc, segment)
    if not 0 <= offset < length:
        raise UsageError(f"{segment} ends before {offset}")
    return read_member(read_range(path, offset, length), f"{segment} at {offset}")


if __name__ == "__main__":
    main()
