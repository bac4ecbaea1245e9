"""The facts of shards in other places, in the crawl's folder: committed bytes of their segments enter, copies of them leave.

So the crawl's folder is an ordinary one: whoever reads its archive, as the indexer does, finds the segments of all shards there
with their readable lengths. A thread copies what is new, beside the crawl; bodies of pages stay where they are.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from rdfspider.archive.segments import SegmentKind, parse_name, read_committed, segment_prefix, write_committed
from rdfspider.crawl.folder import shard_folder
from rdfspider.errors import UsageError
from rdfspider.places.client import Lengths, PlaceClient, ReadPart
from rdfspider.places.keys import ProcessKeys
from rdfspider.places.records import PlaceRecord, read_place

_log = logging.getLogger(__name__)

_PART_BYTES = 1024 * 1024
_PAUSE_S = 0.3
_TIMEOUT_S = 5.0
# How often a place is asked again at the end of a run while nothing comes.
_LAST_TRIES = 3


class Mirror:
    """Copies the facts of all shards; `start` and `finish` are for the thread that runs the crawl."""

    def __init__(self, folder: Path, keys: ProcessKeys, list_shards: Callable[[], Iterable[int]]) -> None:
        """`list_shards` returns the shards that were heard in this run: where others are is not known yet, or they are away."""
        self._folder = folder
        self._list_shards = list_shards
        self._keys = keys
        self._clients: dict[int, tuple[PlaceRecord, PlaceClient]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mirror", daemon=True)
        self._deadline = float("inf")
        self._copied_bytes = 0
        self._is_behind: set[int] = set()
        """Shards that could not be copied at the last attempt."""

    def start(self) -> None:
        """Begin to copy."""
        self._thread.start()

    def finish(self, patience_s: float) -> None:
        """Copy what is left, once no shard runs any more, for at most so long; the rest is copied in the next run."""
        self._deadline = time.monotonic() + patience_s
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._is_behind:
            _log.warning(
                "the facts of shards %s are not all copied yet; they are in the next run",
                ", ".join(map(str, sorted(self._is_behind))),
            )

    def _run(self) -> None:
        tries_left = _LAST_TRIES
        while True:
            is_last, before = self._stop.is_set(), self._copied_bytes
            try:
                for shard in self._list_shards():
                    self._copy_shard(shard)
            except Exception:
                # Without this thread, the index of the crawl would silently stay behind.
                _log.exception("the facts of shards could not be copied; this is tried again")
            if is_last:
                # A place that does not answer is not waited for; one that does may have much to send.
                tries_left = _LAST_TRIES if self._copied_bytes > before else tries_left - 1
                if not self._is_behind or not tries_left or time.monotonic() > self._deadline:
                    break
                time.sleep(_PAUSE_S)
            else:
                self._stop.wait(_PAUSE_S)
        for _, client in self._clients.values():
            client.close()

    def _copy_shard(self, shard: int) -> None:
        place = read_place(self._folder, shard)
        if place is None:
            return
        self._is_behind.add(shard)
        try:
            client = self._connect(shard, place)
            lengths = msgspec.msgpack.decode(client.ask(Lengths(shard)), type=dict[str, int])
            if self._copy_segments(client, shard, lengths):
                self._is_behind.discard(shard)
        except Exception as error:
            # The place may come back, whatever was wrong with it, and is tried again at the next turn.
            _log.debug("shard %d is not copied: %s", shard, error)
            self._disconnect(shard)

    def _copy_segments(self, client: PlaceClient, shard: int, lengths: dict[str, int]) -> bool:
        """Copy what is new of a shard's segments; False if the time was up before."""
        warc = shard_folder(self._folder, shard) / "warc"
        copied = read_committed(warc)
        for segment, length in lengths.items():
            name = parse_name(segment)
            if name is None or (name.prefix, name.kind) != (segment_prefix(shard), SegmentKind.FACTS):
                raise UsageError(f"{segment}: the place tells of a segment that is not the shard's")
            start = copied.get(segment, 0)
            if start >= length:
                continue
            warc.mkdir(exist_ok=True)
            descriptor = os.open(warc / segment, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                while start < length and time.monotonic() < self._deadline:
                    part = client.ask(ReadPart(shard, segment, start, _PART_BYTES))
                    if not part:
                        break
                    start += os.pwrite(descriptor, part, start)
                    self._copied_bytes += len(part)
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)
            # A part may end within a record; readers must not see that.
            if start == length:
                copied[segment] = length
                write_committed(warc, copied)
        return all(copied.get(segment, 0) >= length for segment, length in lengths.items())

    def _connect(self, shard: int, place: PlaceRecord) -> PlaceClient:
        known = self._clients.get(shard)
        if known is not None and known[0] == place:
            return known[1]
        self._disconnect(shard)
        client = PlaceClient(place, self._keys, _TIMEOUT_S)
        self._clients[shard] = (place, client)
        return client

    def _disconnect(self, shard: int) -> None:
        if known := self._clients.pop(shard, None):
            known[1].close()
