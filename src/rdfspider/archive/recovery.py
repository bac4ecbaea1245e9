"""Recovery after a crash: segments enter as it left them; segments that end at the frontier's last commit leave, and the losses.

Segments that are not in the commit are deleted, longer ones are cut. A segment that is shorter than committed, or whose end
is unreadable, is cut back to its last sound record; a missing segment is lost. Losses are reported as positions of metadata
records, by which the frontier finds the URLs to fetch again.
"""

import logging
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from fastwarc.stream_io import GzipReader
from fastwarc.warc import ArchiveIterator, WarcRecordType

from rdfspider.archive.filling import MIN_BYTES
from rdfspider.archive.metadata import read_payload_position
from rdfspider.archive.segments import Position, SegmentKind, find_newest, kind_of, parse_name, read_committed
from rdfspider.archive.volumes import Volumes
from rdfspider.archive.warc_file import GZIP_MAGIC, begins_gzip_record
from rdfspider.disk import sync_folder
from rdfspider.errors import UsageError

_GZIP_WINDOW_BITS = 31
_FIRST_CHUNK_BYTES = 8 * 1024
_CHUNK_BYTES = 1024 * 1024

_log = logging.getLogger(__name__)


class Recovered(NamedTuple):
    """The state after a recovery."""

    lengths: dict[str, int]
    """The length of each segment, without lost ones."""
    lost: list[Position]
    """In each segment named here, the records from the offset on are lost, or describe bodies that are lost."""


def recover_segments(volumes: Volumes, prefix: str, committed: Mapping[str, int]) -> Recovered:
    """Bring the segments of a shard back to a commit; this is idempotent.

    OSError if a disk is missing: its content is not lost, and nothing is changed until it is back.
    """
    folder = volumes.home
    found = {path.name: path for path in folder.iterdir() if prefix == getattr(parse_name(path.name), "prefix", None)}
    if not committed and _is_published(folder, found):
        raise UsageError(
            f"{folder}: it holds pages that the frontier does not know; `rdfspider doctor` makes the frontier again from them"
        )
    volumes.check_links(found.values())
    for name in found.keys() - committed.keys():
        _log.info("%s: deleted, it was not committed yet", name)
        volumes.delete(found[name])
    volumes.begin(is_new=not committed)
    _delete_orphans(volumes, prefix, committed)
    newest = {str(last) for kind in SegmentKind if (last := find_newest(committed, kind))}
    lengths: dict[str, int] = {}
    damaged: list[Position] = []
    for name, length in sorted(committed.items()):
        sound = _recover_segment(volumes, folder / name, length, checks_end=name in newest)
        if sound:
            lengths[name] = sound
        if sound < length:
            _log.warning("%s: only %d of %d bytes are sound; the rest is fetched again", name, sound, length)
            damaged.append(Position(name, sound))
    sync_folder(folder)
    return Recovered(lengths, _merge([*damaged, *_find_orphans(folder, lengths, damaged)]))


def find_sound_length(path: Path, limit: int) -> int:
    """Return how far a segment consists of complete records, one per gzip member, with correct checksums."""
    with _map_file(path, limit) as data:
        position = 0
        while position < limit and (end := _find_member_end(data, position, limit)) is not None:
            position = end
        return position


def find_damages(path: Path, length: int) -> list[tuple[int, int]]:
    """Return the ranges of a segment's bytes, up to a length, that belong to no complete record with a correct checksum. One that
    is too short to be filled takes in the record after it."""
    found: list[tuple[int, int]] = []
    if not length:
        return found
    with _map_file(path, length) as data:
        position = 0
        while position < length:
            end = _find_member_end(data, position, length)
            is_short = bool(found) and found[-1][1] == position and position - found[-1][0] < MIN_BYTES
            if end is None or is_short:
                end = end or _find_member(data, position + 1, length)
                start = found.pop()[0] if found and found[-1][1] == position else position
                found.append((start, end))
            position = end
    return found


def has_sound_end(path: Path, length: int) -> bool:
    """Whether a complete record with a correct checksum ends at this length."""
    with _map_file(path, length) as data:
        position = length
        while (position := data.rfind(GZIP_MAGIC, 0, position)) >= 0:
            if begins_gzip_record(data, position):
                return _find_member_end(data, position, length) == length
        return False


def _is_published(folder: Path, names: Iterable[str]) -> bool:
    """Whether some of the segments were published to readers; an unreadable list counts as empty."""
    try:
        published = read_committed(folder)
    except UsageError:
        return False
    return any(published.get(name) for name in names)


def _delete_orphans(volumes: Volumes, prefix: str, committed: Mapping[str, int]) -> None:
    """Delete uncommitted segments on volumes whose links were lost in a power failure. Segments with lower numbers were committed
    once, and a user who removed their links may still need them."""
    newest = {kind: last.number for kind in SegmentKind if (last := find_newest(committed, kind))}
    for file in (file for folder in volumes.folders() for file in folder.glob("*.warc.gz")):
        name = parse_name(file.name)
        if name and name.prefix == prefix and name.number > newest.get(name.kind, 0):
            _log.info("%s: deleted, no link leads to it", file)
            file.unlink()


def _recover_segment(volumes: Volumes, path: Path, length: int, checks_end: bool) -> int:
    """Cut a segment back to its committed length, or to the sound part of that; return the readable length."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        if path.is_symlink():
            volumes.delete(path)
        return 0
    if not size:
        sound = 0
    elif size >= length and (not checks_end or has_sound_end(path, length)):
        sound = length
    else:
        sound = find_sound_length(path, min(size, length))
    if sound == 0:
        volumes.delete(path)
    elif sound < size and volumes.owns(path):
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, sound)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return sound


def _find_orphans(folder: Path, lengths: Mapping[str, int], damaged: Iterable[Position]) -> Iterator[Position]:
    """Find in each facts segment the first record about a lost body; all records after it are as recent."""
    gone = {segment: offset for segment, offset in damaged if kind_of(segment) == SegmentKind.PAGES}
    for name, length in lengths.items():
        if not gone or kind_of(name) != SegmentKind.FACTS:
            continue
        with _map_file(folder / name, length) as data:
            reader = GzipReader(cast(BinaryIO, data))
            for record in ArchiveIterator(reader, record_types=WarcRecordType.metadata, parse_http=False):
                payload = read_payload_position(record.reader.read())
                if payload is not None and payload.segment in gone and payload.offset >= gone[payload.segment]:
                    yield Position(name, reader.frame_start_position() or 0)
                    break


def _merge(positions: Iterable[Position]) -> list[Position]:
    """Keep the first position of each segment."""
    first: dict[str, int] = {}
    for segment, offset in positions:
        first[segment] = min(offset, first.get(segment, offset))
    return [Position(segment, offset) for segment, offset in first.items()]


def _find_member(data: mmap.mmap, start: int, stop: int) -> int:
    """Return where the next record seems to begin; `stop` if none does."""
    while (start := data.find(GZIP_MAGIC, start, stop)) >= 0:
        if begins_gzip_record(data, start):
            return start
        start += 1
    return stop


def _find_member_end(data: mmap.mmap, start: int, stop: int) -> int | None:
    """Return the end of the gzip member that begins at `start`; None if none does, it is cut, or its checksum is wrong."""
    if not begins_gzip_record(data, start):
        return None
    member = zlib.decompressobj(_GZIP_WINDOW_BITS)
    position, chunk_bytes = start, _FIRST_CHUNK_BYTES
    try:
        while not member.eof:
            chunk = data[position : min(position + chunk_bytes, stop)]
            if not chunk:
                return None
            position += len(chunk)
            chunk_bytes = min(2 * chunk_bytes, _CHUNK_BYTES)
            # The output is discarded piece by piece: a long run of one byte compresses a thousandfold.
            while chunk and not member.eof:
                member.decompress(chunk, _CHUNK_BYTES)
                chunk = member.unconsumed_tail
    except zlib.error:
        return None
    return position - len(member.unused_data)


@contextmanager
def _map_file(path: Path, length: int) -> Iterator[mmap.mmap]:
    """Map the first bytes of a file into memory."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ) as data:
        yield data
