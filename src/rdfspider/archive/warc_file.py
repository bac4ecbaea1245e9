"""An open WARC file: a range enters; what is made of its records leaves, and a Damage for each that is unreadable.

FastWARC reads the records, compressed by gzip or Zstandard (with its dictionary) or not at all. It stops at the first damage, and
returns the rest of a record that was cut; so each record's length is checked here, and after damage the next record is searched
for in the file's bytes. A crawl's own segments, which may be growing, are read as far as they are committed.
"""

import io
import mmap
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TypeVar, cast

from fastwarc.stream_io import GzipReader, WarcReader, ZstdReader
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from rdfspider.archive.segments import find_committed_length
from rdfspider.errors import UsageError

_Item = TypeVar("_Item")
GZIP_MAGIC = b"\x1f\x8b\x08"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_RECORD = re.compile(rb"WARC/[01]\.\d\d?\r?\n[A-Za-z-]+:")
# The longest header that FastWARC reads.
_MAX_HEADER_BYTES = 32 * 1024
# If not all of this many bytes after a record are blank, another record begins there.
_RECORD_START_BYTES = 64
_GZIP_WINDOW_BITS = 31
# Bytes of a gzip member that surely have the first bytes of its content.
_GZIP_START_BYTES = 2048
# The first block of a Zstandard frame is at most 128 KB, and nothing is decompressed before it is complete.
_ZSTD_BLOCK_BYTES = 160 * 1024


@dataclass(frozen=True, slots=True)
class Damage:
    """A file, or the record of an archive at this offset, that was unreadable and skipped."""

    path: str
    offset: int
    reason: str


class WarcFile:
    """An open WARC file: its bytes, to search for records, and the reader for its compression."""

    def __init__(self, path: Path, committed: int | None = None) -> None:
        """Open a file. `committed` is how far it may be read, if the caller knows better than the list beside it."""
        self.path = path
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}") from error
        try:
            file_bytes = path.stat().st_size
            committed = find_committed_length(path) if committed is None else committed
            self.size = file_bytes if committed is None else min(committed, file_bytes)
            self.may_grow = committed is not None
            self._bytes: mmap.mmap | bytes = (
                mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ) if self.size else b""
            )
            self._compression = self._find_compression()
            self._dictionary = self._read_dictionary() if self._compression == "zstd" else None
        except UsageError:
            self._file.close()
            raise
        except (OSError, ValueError) as error:
            self._file.close()
            raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(self._bytes, mmap.mmap):
            self._bytes.close()
        self._file.close()

    def read(
        self, start: int, stop: int, read: Callable[[WarcRecord, int], _Item | None]
    ) -> Generator[_Item | Damage, None, int]:
        """Yield what `read` makes of the records that begin in a range, and a Damage for each that is unreadable; return where
        the record after the last begins. `read` gets a record and its position; it raises ValueError for one that is cut."""
        while start < stop:
            start = yield from self._read_run(start, stop, read)
        return start

    def open_at(self, position: int) -> tuple[WarcReader | None, Iterator[WarcRecord]]:
        """Iterate over the records from `position` on; the decompressor, returned with it, knows where members begin."""
        # The mapped bytes end where the committed records do; the file may continue.
        stream = cast(BinaryIO, self._bytes) if self.may_grow else self._file
        stream.seek(position)
        reader: WarcReader | None = None
        if self._compression == "gzip":
            reader = GzipReader(stream)
        elif self._compression == "zstd":
            reader = ZstdReader(stream, dictionary=None if position == 0 else self._dictionary)
        return reader, iter(ArchiveIterator(reader or stream, parse_http=False, stream_detect=False))

    def has_record_per_member(self) -> bool:
        """Whether each of the first two records begins a compressed member, as the specification requires."""
        if self._compression == "none":
            return True
        try:
            reader, records = self.open_at(0)
            starts = [self._position_of(reader, record) for record, _ in zip(records, range(2), strict=False)]
        except OSError:
            return True
        return len(starts) < 2 or (starts[0] < starts[1] and self._begins_record(starts[1]))

    def find_record(self, position: int) -> int | None:
        """Return the first position from here on where a record seems to begin; None if there is none."""
        if self._compression == "none":
            found = _RECORD.search(self._bytes, position)
            return found.start() if found else None
        magic = GZIP_MAGIC if self._compression == "gzip" else _ZSTD_MAGIC
        while (position := self._bytes.find(magic, position)) >= 0:
            if self._begins_record(position):
                return position
            position += 1
        return None

    def _read_run(
        self, start: int, stop: int, read: Callable[[WarcRecord, int], _Item | None]
    ) -> Generator[_Item | Damage, None, int]:
        """Read up to the stop, the end or the first damage; return where to continue.

        A result is held back until the next record is found: only then is its checksum verified.
        """
        reader, records = self.open_at(start)
        held: _Item | None = None
        last, length, reached = start, 0, None
        while True:
            try:
                record = next(records, None)
            except OSError as error:
                failed = self._failed_at(reader, last, length)
                reason = str(error)
                break
            if record is None and self._member_of(reader) == reached and not self._has_rest(last, length):
                if held is not None:
                    yield held
                return self.size
            if record is None:
                failed = self._failed_at(reader, last, length)
                reason = "no record could be read here"
                break
            if held is not None:
                yield held
            last, length = self._position_of(reader, record), record.content_length
            if last >= stop:
                return last
            try:
                _check_header(record)
                held = read(record, last)
                reached = self._member_of(reader)
                self._check_end(last, length, reached)
            except (OSError, ValueError) as error:
                failed, held = last, None
                reason = str(error)
                break
        if held is not None and failed != last:
            yield held
        if failed >= stop:
            return failed
        yield Damage(str(self.path), failed, reason)
        following = self.find_record(failed + 1)
        return self.size if following is None else following

    def _position_of(self, reader: WarcReader | None, record: WarcRecord) -> int:
        """Return where the record, or the compressed member that contains it, begins."""
        position: int | None = reader.frame_start_position() if reader else record.stream_pos
        return position or 0

    def _member_of(self, reader: WarcReader | None) -> int | None:
        """Return where the compressed member that is being read begins; None without compression."""
        position: int | None = reader.frame_start_position() if reader else None
        return position

    def _failed_at(self, reader: WarcReader | None, last: int, length: int) -> int:
        """Return where the unreadable record begins, after one of this length that began at `last`.

        Without compression, that is the end of the last record if it ends as records do; else the last record itself.
        """
        if reader is not None:
            return self._member_of(reader) or 0
        end = self._end_of(last, length)
        return end if end > last and self._bytes[end - 4 : end] == b"\r\n\r\n" else last

    def _has_rest(self, last: int, length: int) -> bool:
        """Whether, without compression, another record begins after one of this length that began at `last`."""
        end = self._end_of(last, length)
        return self._compression == "none" and bool(self._bytes[end : end + _RECORD_START_BYTES].strip())

    def _check_end(self, start: int, length: int, reached: int | None) -> None:
        """Raise if a record's stated length covers a record that follows it: it was cut, or the length is wrong."""
        if self._compression != "none":
            # A record may continue in the next member, unless that begins with a record.
            following = self.find_record(start + 1) if reached not in (None, start) else None
            swallowed = following is not None and reached is not None and following <= reached
        else:
            header, end = self._end_of(start, 0), self._end_of(start, length)
            whole = self._bytes[end - 4 : end] == b"\r\n\r\n"
            swallowed = _RECORD.search(self._bytes, start + 1, header if whole else end) is not None
        if swallowed:
            raise ValueError("the record is cut short, or its length is wrong")

    def _end_of(self, start: int, length: int) -> int:
        """Return where an uncompressed record ends, including the two empty lines; `start` if its header has no end."""
        header = self._bytes.find(b"\r\n\r\n", start, start + _MAX_HEADER_BYTES)
        return header + 8 + length if header >= 0 else start

    def _begins_record(self, position: int) -> bool:
        if self._compression == "gzip":
            return begins_gzip_record(self._bytes, position)
        block = io.BytesIO(self._bytes[position : position + _ZSTD_BLOCK_BYTES])
        try:
            start: bytes = ZstdReader(block, dictionary=self._dictionary).read(5)
        except OSError:
            return False
        return start == b"WARC/"

    def _find_compression(self) -> str:
        """Detect the compression by the first bytes, or by the name if those are damaged."""
        head, name = self._bytes[:4], self.path.name.lower()
        if head in (_ZSTD_MAGIC, _ZSTD_DICTIONARY_MAGIC):
            return "zstd"
        if head[:3] == GZIP_MAGIC:
            return "gzip"
        if head == b"WARC":
            return "none"
        return "gzip" if name.endswith(".gz") else "zstd" if name.endswith(".zst") else "none"

    def _read_dictionary(self) -> bytes | None:
        """Read the dictionary, which may be compressed, from the skippable first frame (Zstandard for WARC, 4.2)."""
        if self._bytes[:4] != _ZSTD_DICTIONARY_MAGIC:
            return None
        frame = self._bytes[8 : 8 + int.from_bytes(self._bytes[4:8], "little")]
        if frame[:4] != _ZSTD_MAGIC:
            return frame
        try:
            dictionary: bytes = ZstdReader(io.BytesIO(frame)).read()
        except OSError as error:
            raise UsageError(f"{self.path}: its Zstandard dictionary cannot be read ({error})") from error
        return dictionary


def begins_gzip_record(data: mmap.mmap | bytes, position: int) -> bool:
    """Whether a gzip member with a record begins at a position."""
    try:
        start = zlib.decompressobj(_GZIP_WINDOW_BITS).decompress(data[position : position + _GZIP_START_BYTES], 5)
    except zlib.error:
        return False
    return start == b"WARC/"


def _check_header(record: WarcRecord) -> None:
    """Check for the header fields that every record has (WARC 1.1, 5.1)."""
    if record.content_length and record.record_type != WarcRecordType.no_type:
        # Both were there; to look for them takes longer.
        return
    if not (record.headers.contains_key("WARC-Type") and record.headers.contains_key("Content-Length")):
        raise ValueError("the record's header is cut short")
