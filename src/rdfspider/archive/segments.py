"""The WARC files of a shard: compressed records enter, segments (`PREFIX-KIND-000001.warc.gz`) leave, each until it or its disk
is full, with their readable lengths.

Appended records wait in memory until they are flushed, and are durable when synced; lengths that are synced and committed in the
frontier are published in the file `committed` beside the segments. No reader goes beyond them.
"""

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from rdfspider.archive.volumes import Volumes, measure_room
from rdfspider.disk import sync_folder, write_atomically
from rdfspider.errors import UnreadableError, UsageError

COMMITTED_NAME = "committed"


class SegmentKind(StrEnum):
    """Bodies are separate from facts, so that a scan of the facts need not read them."""

    PAGES = "pages"
    """Requests and responses."""
    FACTS = "facts"
    """The outcomes of URLs, and what was extracted from their pages."""


_GZIP_WINDOW_BITS = 31
# What is longer, compressed, is no record of ours.
_MAX_RECORD_BYTES = 64 * 1024 * 1024
# As many links as the operating system follows.
_MAX_LINKS = 40
_SEGMENT = re.compile(rf"(?P<prefix>.+)-(?P<kind>{'|'.join(SegmentKind)})-(?P<number>\d{{6,}})\.warc\.gz")


class Position(NamedTuple):
    """Where a record begins: a segment's name and the offset of the record's gzip member."""

    segment: str
    offset: int


class SegmentName(NamedTuple):
    """The parts of a segment's name."""

    prefix: str
    kind: SegmentKind
    number: int

    def __str__(self) -> str:
        return f"{self.prefix}-{self.kind}-{self.number:06}.warc.gz"


def segment_prefix(shard: int) -> str:
    """Return how the names of a shard's segments begin."""
    return f"shard-{shard:03}"


def parse_name(name: str) -> SegmentName | None:
    """Split the name of a segment; None if it is no segment's."""
    found = _SEGMENT.fullmatch(name)
    return SegmentName(found["prefix"], SegmentKind(found["kind"]), int(found["number"])) if found else None


def kind_of(name: str) -> SegmentKind | None:
    """Return the kind of a segment; None if the name is no segment's."""
    found = parse_name(name)
    return found.kind if found else None


def find_newest(names: Iterable[str], kind: SegmentKind) -> SegmentName | None:
    """Return the segment of a kind with the highest number; None if there is none."""
    found = [name for text in names if (name := parse_name(text)) and name.kind == kind]
    return max(found, key=lambda name: name.number, default=None)


def read_committed(folder: Path) -> dict[str, int]:
    """Return the readable length of each segment in a folder, by name; empty if nothing was published."""
    path = folder / COMMITTED_NAME
    try:
        return dict(msgspec.json.decode(path.read_bytes(), type=_Committed).segments)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise UsageError(f"{path}: it does not say what may be read; run the crawl again to repair it") from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def find_committed_length(path: Path) -> int | None:
    """Return the readable length of a file: 0 for a segment that is not committed yet, None (all) if it is no shard's segment.

    A path may be a link to a segment, and a segment may be a link to another disk, so every name on the way counts.
    """
    lengths = [
        read_committed(name.parent).get(name.name, 0)
        for name in _follow_links(path)
        if parse_name(name.name) is not None and (name.parent / COMMITTED_NAME).exists()
    ]
    return min(lengths, default=None)


def is_committed_list(path: Path) -> bool:
    """Whether a file is the list of the readable lengths of the segments beside it."""
    return path.name == COMMITTED_NAME and any(parse_name(other.name) for other in path.parent.iterdir())


def write_committed(folder: Path, lengths: Mapping[str, int]) -> None:
    """Publish the readable length of each segment, atomically.

    The file is not synced: whichever version survives a power failure lists no more than what is on disk.
    """
    body = msgspec.json.encode(_Committed(1, dict(lengths))) + b"\n"
    write_atomically(folder / COMMITTED_NAME, body, durable=False)


class CommittedList:
    """The file `committed` of a shard that runs: lengths that stay are encoded once, because it is written with each commit."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / COMMITTED_NAME
        self._count = 0
        self._closed = b""

    def write(self, closed: Sequence[Mapping[str, int]], growing: Mapping[str, int]) -> None:
        """Publish the lengths of segments as `write_committed` does; `closed` only gets more."""
        if (count := sum(map(len, closed))) != self._count:
            self._closed = b",".join(_encode_entries(lengths) for lengths in closed if lengths)
            self._count = count
        entries = b",".join(filter(None, (self._closed, _encode_entries(growing))))
        write_atomically(self._path, b'{"version":1,"segments":{%b}}\n' % entries, durable=False)


def _encode_entries(lengths: Mapping[str, int]) -> bytes:
    return msgspec.json.encode(lengths)[1:-1]


def read_member(pieces: Iterable[bytes], where: str) -> bytes:
    """Return one record, still compressed, from bytes that begin with it; UnreadableError if they do not."""
    decoder, member = zlib.decompressobj(_GZIP_WINDOW_BITS), bytearray()
    for piece in pieces:
        try:
            decoder.decompress(piece)
        except zlib.error as error:
            raise UnreadableError(f"{where} cannot be read: {error}") from error
        member += piece
        if decoder.eof:
            return bytes(member[: len(member) - len(decoder.unused_data)])
        if len(member) > _MAX_RECORD_BYTES:
            break
    raise UnreadableError(f"{where} there is no whole record")


class Series:
    """The segments of one kind. Only the last one grows; earlier ones stay open until they are synced."""

    def __init__(
        self,
        volumes: Volumes,
        last: SegmentName,
        lengths: Mapping[str, int],
        segment_bytes: int,
        make_head: Callable[[str], bytes],
    ) -> None:
        """`last` is the segment to continue, begun or not; `make_head` makes the first record of a new one from its name."""
        self._volumes = volumes
        self._segment_bytes = segment_bytes
        self._make_head = make_head
        self.closed = {name: length for name, length in lengths.items() if name != str(last)}
        """The lengths of segments that grow no more; there may be thousands."""
        self._open = [_Segment(volumes, last, lengths.get(str(last), 0))]

    def append(self, members: Iterable[bytes]) -> list[Position]:
        """Append records that belong together to one segment; return where each begins."""
        if self._open[-1].end >= self._segment_bytes:
            self._begin_next()
        segment = self._open[-1]
        if not segment.end:
            segment.append(self._make_head(str(segment.name)))
        return [Position(str(segment.name), segment.append(member)) for member in members]

    def leave_full_disk(self, least_bytes: int) -> None:
        """Begin another segment, possibly on another disk, if the last one has less free space than this."""
        last = self._open[-1]
        if last.length and last.measure_room() < least_bytes:
            self._begin_next()

    def flush(self) -> None:
        """Write what was appended; raise OSError if the disk refuses, after which it may be called again."""
        for segment in self._open:
            segment.flush()
        while len(self._open) > 1 and self._open[0].is_safe:
            segment = self._open.pop(0)
            self.closed[str(segment.name)] = segment.length
            segment.close()

    def sync(self) -> None:
        """Make what was flushed durable."""
        segments = list(self._open)
        begun = [segment for segment in segments if segment.length and not segment.synced]
        for segment in segments:
            segment.sync()
        for folder in {folder for segment in begun for folder in (segment.folder, self._volumes.home)}:
            sync_folder(folder)

    def open_lengths(self) -> dict[str, int]:
        """Return the length of each segment's file that may still grow."""
        return {str(segment.name): segment.length for segment in self._open if segment.length}

    def lengths(self) -> dict[str, int]:
        """Return the length of each segment's file."""
        return self.closed | self.open_lengths()

    def close(self) -> None:
        """Close the files; records that were not flushed are dropped."""
        for segment in self._open:
            segment.close()

    def _begin_next(self) -> None:
        name = self._open[-1].name
        self._open.append(_Segment(self._volumes, name._replace(number=name.number + 1)))


def _follow_links(path: Path) -> Iterator[Path]:
    """List all names of a file, from the given one to the file's own, up to a limit because links may form a circle."""
    for _ in range(_MAX_LINKS):
        yield path
        if not path.is_symlink():
            return
        path = path.parent / path.readlink()


class _Segment:
    """One file, and the records to append to it."""

    def __init__(self, volumes: Volumes, name: SegmentName, length: int = 0) -> None:
        self.name = name
        self.folder = volumes.home
        """Where the file is; known for a new one after its first flush."""
        self.length = length
        """Bytes in the file."""
        self.synced = length
        """Bytes that are durable."""
        self.end = length
        """Bytes in the file and waiting in memory."""
        self._volumes = volumes
        self._waiting: list[bytes] = []
        self._descriptor: int | None = None

    @property
    def is_safe(self) -> bool:
        return self.synced == self.end

    def append(self, member: bytes) -> int:
        start = self.end
        self._waiting.append(member)
        self.end += len(member)
        return start

    def flush(self) -> None:
        if not self._waiting:
            return
        if self._descriptor is None:
            self._descriptor = self._open()
        # Each write has its own offset, so that a flush that failed half-way can be repeated.
        rest = memoryview(b"".join(self._waiting))
        while rest:
            rest = rest[os.pwrite(self._descriptor, rest, self.end - len(rest)) :]
        self._waiting.clear()
        self.length = self.end

    def measure_room(self) -> int:
        return measure_room(self._descriptor if self._descriptor is not None else self._volumes.home / str(self.name))

    def sync(self) -> None:
        length = self.length
        if self._descriptor is not None and length > self.synced:
            os.fdatasync(self._descriptor)
            self.synced = length

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self.length:
            return os.open(self._volumes.home / str(self.name), os.O_WRONLY | os.O_CLOEXEC)
        path = self._volumes.place(str(self.name))
        self.folder = path.parent
        # An existing file must not be overwritten.
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)


class _Committed(msgspec.Struct, frozen=True):
    """The file `committed`."""

    version: int
    segments: dict[str, int]
