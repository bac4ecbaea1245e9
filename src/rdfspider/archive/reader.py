"""Files and WARC archives enter, Pages and Captures leave. An unreadable record is a Damage, after which reading continues.

FastWARC reads the records, compressed by gzip or Zstandard (with its dictionary) or not at all. It stops at the first
damage, and returns the rest of a record that was cut; so each record's length is checked here, and after damage the next
record is searched for in the file's bytes. Parts of an archive can be read separately, so that processes share one. A
crawl's own segments, which may be growing, are read as far as they are committed.
"""

import glob
import io
import mmap
import re
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self, TypeVar, cast

from fastwarc.stream_io import GzipReader, WarcReader, ZstdReader
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from rdfspider.archive.encodings import decode_body, decode_gzip
from rdfspider.archive.segments import find_committed_length
from rdfspider.config import ExtractConfig
from rdfspider.errors import UsageError
from rdfspider.records import Capture, Page

_Item = TypeVar("_Item")

MAX_BODY_BYTES = ExtractConfig().max_body_bytes

_ARCHIVE_NAME = re.compile(r"\.warc(?:\.gz|\.zst|\.open)?\Z", re.IGNORECASE)
_GZIP_MAGIC = b"\x1f\x8b\x08"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_RECORD = re.compile(rb"WARC/[01]\.\d\d?\r?\n[A-Za-z-]+:")
# The longest header that FastWARC reads.
_MAX_HEADER_BYTES = 32 * 1024
# If not all of this many bytes after a record are blank, another record begins there.
_RECORD_START_BYTES = 64
# Browsers accept 256 KB.
_MAX_HTTP_HEADER_BYTES = 256 * 1024
# The first block of a Zstandard frame is at most 128 KB, and nothing is decompressed before it is complete.
_ZSTD_BLOCK_BYTES = 160 * 1024


@dataclass(frozen=True, slots=True)
class Damage:
    """A file, or the record of an archive at this offset, that was unreadable and skipped."""

    path: str
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in an archive where a record begins; the `final` one is where the next would begin."""

    position: int
    final: bool = False


class Archived(NamedTuple):
    """A capture from an archive, and where its record begins."""

    capture: Capture
    position: int


class _BadRecordError(Exception):
    """A record is shorter than the length that it states, or has no URL."""


def is_archive(path: Path) -> bool:
    """Whether the name is that of a WARC file."""
    return _ARCHIVE_NAME.search(path.name) is not None


def read_file(path: Path, url: str, content_type: str | None = None, limit: int = MAX_BODY_BYTES) -> Page | Damage:
    """Read a file as a page; `.gz` is decompressed. One byte over the limit is kept, so that the cut is noticed."""
    try:
        with path.open("rb") as file:
            body = file.read(limit + 1)
    except OSError as error:
        return Damage(str(path), 0, error.strerror or str(error))
    if path.suffix.lower() == ".gz":
        body = decode_gzip(body, limit + 1) or body
    return Page(url, body, content_type)


def split_archive(path: Path, part_bytes: int) -> list[tuple[int, int]]:
    """Return ranges of about `part_bytes` that can be read separately: only one if records share compressed members, none if
    nothing is committed yet."""
    with Archive(path) as archive:
        if archive.may_grow and not archive.size:
            return []
        if archive.find_record(0) is None:
            raise UsageError(f"{path}: no WARC record in it")
        if archive.size <= part_bytes or not archive.has_record_per_member():
            return [(0, archive.size)]
        starts = range(0, archive.size, part_bytes)
        return [(start, min(start + part_bytes, archive.size)) for start in starts]


def read_archive(
    path: Path, start: int = 0, stop: int | None = None, *, exact: bool = True, limit: int = MAX_BODY_BYTES
) -> Iterator[Page | Damage | Mark]:
    """Read the pages of the records that begin in a range, between two Marks: the first record, and the one after the last.

    If `exact`, a record begins at `start`; else reading begins at the first that is found. That one may be inside another
    record's body (an archive of archives), so callers that join parts compare their Marks.
    """
    with Archive(path) as archive:
        stop = archive.size if stop is None else stop
        found = start if exact else archive.find_record(start)
        position = archive.size if found is None else found
        yield Mark(position)
        while position < stop:
            position = yield from read_run(archive, position, stop, lambda record, _: _read_page(record, limit))
        yield Mark(position, final=True)


def read_captures(path: Path, start: int = 0, *, limit: int = MAX_BODY_BYTES) -> Iterator[Archived | Damage]:
    """Read the pages of an archive with the facts of their exchanges, from the record at `start` on; only 2xx responses have a
    body."""
    with Archive(path) as archive:
        position = start
        while position < archive.size:
            position = yield from read_run(
                archive, position, archive.size, lambda record, at: read_capture(record, at, limit)
            )


def read_capture(record: WarcRecord, position: int, limit: int = MAX_BODY_BYTES) -> Archived | None:
    """Read the page of a record with the facts of its exchange, as `read_captures` does; None if it has none."""
    page = _read_page(record, limit)
    if page is None and record.is_http_parsed:
        page = Page(read_url(record), b"")
    return Archived(_make_capture(record, page, limit), position) if page is not None else None


def read_revisit(record: WarcRecord, position: int) -> Archived:
    """Read the exchange of a revisit record; the body is that of an earlier exchange."""
    if record.is_http:
        record.parse_http(strict_mode=False, quirks_mode=True, max_header_len=_MAX_HTTP_HEADER_BYTES)
    return Archived(_make_capture(record, Page(read_url(record), b""), 0), position)


def read_run(
    archive: "Archive", start: int, stop: int, read: Callable[[WarcRecord, int], _Item | None]
) -> Generator[_Item | Damage, None, int]:
    """Yield what `read` makes of the records up to the stop, the end or the first damage; return where to continue.

    A result is held back until the next record is found: only then is its checksum verified.
    """
    reader, records = archive.open_at(start)
    held: _Item | None = None
    last, length, reached = start, 0, None
    while True:
        try:
            record = next(records, None)
        except OSError as error:
            failed = archive.failed_at(reader, last, length)
            reason = str(error)
            break
        if record is None and archive.member_of(reader) == reached and not archive.has_rest(last, length):
            if held is not None:
                yield held
            return archive.size
        if record is None:
            failed = archive.failed_at(reader, last, length)
            reason = "no record could be read here"
            break
        if held is not None:
            yield held
        last, length = archive.position_of(reader, record), record.content_length
        if last >= stop:
            return last
        try:
            _check_header(record)
            held = read(record, last)
            reached = archive.member_of(reader)
            archive.check_end(last, length, reached)
        except (OSError, ValueError, _BadRecordError) as error:
            failed, held = last, None
            reason = str(error)
            break
    if held is not None and failed != last:
        yield held
    if failed >= stop:
        return failed
    yield Damage(str(archive.path), failed, reason)
    following = archive.find_record(failed + 1)
    return archive.size if following is None else following


def _check_header(record: WarcRecord) -> None:
    """Check for the header fields that every record has (WARC 1.1, 5.1)."""
    if not (record.headers.contains_key("WARC-Type") and record.headers.contains_key("Content-Length")):
        raise _BadRecordError("the record's header is cut short")


def _read_page(record: WarcRecord, limit: int) -> Page | None:
    """Read the page of a record that is a successful HTTP response or a resource; other records have none."""
    kind = record.record_type
    url = read_url(record)
    if kind in (WarcRecordType.resource, WarcRecordType.response) and not url:
        raise _BadRecordError("the record names no URL")
    if kind == WarcRecordType.resource:
        return Page(url, _read_block(record, limit), record.headers.get("Content-Type"))
    if kind == WarcRecordType.response and record.is_http:
        record.parse_http(strict_mode=False, quirks_mode=True, max_header_len=_MAX_HTTP_HEADER_BYTES)
        headers = record.http_headers
        if 200 <= (headers.status_code or 0) < 300:
            body = _read_block(record, limit)
            encodings = headers.get("Transfer-Encoding") or "", headers.get("Content-Encoding") or ""
            return Page(url, decode_body(body, *encodings, limit + 1), headers.get("Content-Type"))
    expected = record.content_length
    if record.consume() < expected:
        raise _BadRecordError("the record is cut short")
    return None


def read_url(record: WarcRecord) -> str:
    """Return the URL of a record; empty if it has none."""
    return (record.headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")


def _make_capture(record: WarcRecord, page: Page, limit: int) -> Capture:
    """Make a capture of what a record says about its exchange; a resource has status 200, a response without a status 0."""
    headers = record.http_headers if record.is_http_parsed else None
    return Capture(
        page=page,
        status=(headers.status_code or 0) if headers else 200,
        reason=(headers.reason_phrase if headers else None) or "OK",
        http_version="1.1",
        headers=tuple(headers.astuples()) if headers else (),
        request_headers=(),
        address=record.headers.get("WARC-IP-Address") or "",
        started=record.record_date.timestamp() if record.record_date else 0.0,
        duration_s=0.0,
        wire_bytes=len(page.body),
        truncated="length" if len(page.body) > limit else record.headers.get("WARC-Truncated") or "",
    )


def _read_block(record: WarcRecord, limit: int) -> bytes:
    """Read the payload, up to one byte over the limit."""
    expected = min(record.content_length, limit + 1)
    block: bytes = record.reader.read(expected)
    if len(block) < expected:
        raise _BadRecordError(f"the record is cut short: {len(block)} of {record.content_length} bytes")
    return block


class Archive:
    """An open WARC file: its bytes, to search for records, and the reader for its compression."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = path.open("rb")
            file_bytes = path.stat().st_size
            committed = find_committed_length(path)
            self.size = file_bytes if committed is None else min(committed, file_bytes)
            self.may_grow = committed is not None
            self._bytes: mmap.mmap | bytes = (
                mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ) if self.size else b""
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
        self._compression = self._find_compression()
        self._dictionary = self._read_dictionary() if self._compression == "zstd" else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(self._bytes, mmap.mmap):
            self._bytes.close()
        self._file.close()

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

    def position_of(self, reader: WarcReader | None, record: WarcRecord) -> int:
        """Return where the record, or the compressed member that contains it, begins."""
        position: int | None = reader.frame_start_position() if reader else record.stream_pos
        return position or 0

    def member_of(self, reader: WarcReader | None) -> int | None:
        """Return where the compressed member that is being read begins; None without compression."""
        position: int | None = reader.frame_start_position() if reader else None
        return position

    def failed_at(self, reader: WarcReader | None, last: int, length: int) -> int:
        """Return where the unreadable record begins, after one of this length that began at `last`.

        Without compression, that is the end of the last record if it ends as records do; else the last record itself.
        """
        if reader is not None:
            return self.member_of(reader) or 0
        end = self._end_of(last, length)
        return end if end > last and self._bytes[end - 4 : end] == b"\r\n\r\n" else last

    def has_rest(self, last: int, length: int) -> bool:
        """Whether, without compression, another record begins after one of this length that began at `last`."""
        end = self._end_of(last, length)
        return self._compression == "none" and bool(self._bytes[end : end + _RECORD_START_BYTES].strip())

    def check_end(self, start: int, length: int, reached: int | None) -> None:
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
            raise _BadRecordError("the record is cut short, or its length is wrong")

    def _end_of(self, start: int, length: int) -> int:
        """Return where an uncompressed record ends, including the two empty lines; `start` if its header has no end."""
        header = self._bytes.find(b"\r\n\r\n", start, start + _MAX_HEADER_BYTES)
        return header + 8 + length if header >= 0 else start

    def has_record_per_member(self) -> bool:
        """Whether each of the first two records begins a compressed member, as the specification requires."""
        if self._compression == "none":
            return True
        try:
            reader, records = self.open_at(0)
            starts = [self.position_of(reader, record) for record, _ in zip(records, range(2), strict=False)]
        except OSError:
            return True
        return len(starts) < 2 or (starts[0] < starts[1] and self._begins_record(starts[1]))

    def find_record(self, position: int) -> int | None:
        """Return the first position from here on where a record seems to begin; None if there is none."""
        if self._compression == "none":
            found = _RECORD.search(self._bytes, position)
            return found.start() if found else None
        magic = _GZIP_MAGIC if self._compression == "gzip" else _ZSTD_MAGIC
        while (position := self._bytes.find(magic, position)) >= 0:
            if self._begins_record(position):
                return position
            position += 1
        return None

    def _begins_record(self, position: int) -> bool:
        try:
            if self._compression == "gzip":
                return zlib.decompressobj(31).decompress(self._bytes[position : position + 2048], 5) == b"WARC/"
            block = io.BytesIO(self._bytes[position : position + _ZSTD_BLOCK_BYTES])
            start: bytes = ZstdReader(block, dictionary=self._dictionary).read(5)
        except (OSError, zlib.error):
            return False
        return start == b"WARC/"

    def _find_compression(self) -> str:
        """Detect the compression by the first bytes, or by the name if those are damaged."""
        head, name = self._bytes[:4], self.path.name.lower()
        if head in (_ZSTD_MAGIC, _ZSTD_DICTIONARY_MAGIC):
            return "zstd"
        if head[:3] == _GZIP_MAGIC:
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


def find_archives(sources: Sequence[str]) -> list[Path]:
    """Find the WARC files in files, patterns and folders; UsageError if one has none."""
    found: dict[Path, None] = {}
    for source in sources:
        path = Path(source)
        if path.is_dir():
            paths = sorted(inner for inner in path.rglob("*") if is_archive(inner) and inner.is_file())
        elif path.exists():
            paths = [path]
        else:
            paths = sorted(Path(match) for match in glob.glob(source, recursive=True))  # noqa: PTH207 - as `extract` does
        if not paths:
            raise UsageError(f"{source}: no WARC file is there")
        for inner in paths:
            # This opens the file, and raises if it has no record.
            split_archive(inner, 1 << 62)
            found[inner.absolute()] = None
    return list(found)
