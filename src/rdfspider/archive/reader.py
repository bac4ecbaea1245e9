"""Files and WARC archives in, Pages out. What cannot be read is a Damage: it says where, and reading goes on after it.

FastWARC reads the records, compressed by gzip or Zstandard (with its dictionary) or not at all. It stops at the first
damage, and gives what is left of a record that was cut; so each record's length is checked here, and after damage the
next record is looked for in the file's bytes. A part of an archive can be read alone: that is how processes share one.
A crawl's own segments, which may be growing, are read as far as they are committed.
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
# What FastWARC takes as a header at most.
_MAX_HEADER_BYTES = 32 * 1024
# So many bytes that are not empty lines are the beginning of something.
_RECORD_START_BYTES = 64
# Browsers take 256 KB.
_MAX_HTTP_HEADER_BYTES = 256 * 1024
# The first block of a Zstandard frame is at most 128 KB, and nothing is given before it is whole.
_ZSTD_BLOCK_BYTES = 160 * 1024


@dataclass(frozen=True, slots=True)
class Damage:
    """A file, or the record of an archive at this offset, that could not be read and was skipped."""

    path: str
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in an archive where a record begins; the `final` one is where the next would begin."""

    position: int
    final: bool = False


class Archived(NamedTuple):
    """A capture that an archive holds, and where its record begins."""

    capture: Capture
    position: int


class _BadRecordError(Exception):
    """A record ends before the length that it states, or does not say which page it holds."""


def is_archive(path: Path) -> bool:
    """Whether the name is that of a WARC file."""
    return _ARCHIVE_NAME.search(path.name) is not None


def read_file(path: Path, url: str, content_type: str | None = None, limit: int = MAX_BODY_BYTES) -> Page | Damage:
    """A file as a page; `.gz` is a compressed file. One byte over the limit is kept, so that the cut is noticed."""
    try:
        with path.open("rb") as file:
            body = file.read(limit + 1)
    except OSError as error:
        return Damage(str(path), 0, error.strerror or str(error))
    if path.suffix.lower() == ".gz":
        body = decode_gzip(body, limit + 1) or body
    return Page(url, body, content_type)


def split_archive(path: Path, part_bytes: int) -> list[tuple[int, int]]:
    """Ranges of about `part_bytes` that can be read apart; a single one where records share compressed members, none where
    nothing is committed yet.
    """
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
    """The pages of the records that begin in a range, between two Marks: the first record, and the one after the last.

    The range begins with a record where it is `exact`; else with the first that is found. One that is found may be
    inside another's body (an archive of archives), so whoever joins parts compares their Marks.
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
    """The pages of an archive with the facts of their exchanges, from a record on that begins at `start`; of answers other than
    2xx without a body."""
    with Archive(path) as archive:
        position = start
        while position < archive.size:
            position = yield from read_run(
                archive, position, archive.size, lambda record, at: read_capture(record, at, limit)
            )


def read_capture(record: WarcRecord, position: int, limit: int = MAX_BODY_BYTES) -> Archived | None:
    """The page that a record holds with the facts of its exchange, as `read_captures` gives it; None where it holds none."""
    page = _read_page(record, limit)
    if page is None and record.is_http_parsed:
        page = Page(read_url(record), b"")
    return Archived(_make_capture(record, page, limit), position) if page is not None else None


def read_revisit(record: WarcRecord, position: int) -> Archived:
    """The exchange that a revisit record tells of; the body is that of an earlier one."""
    if record.is_http:
        record.parse_http(strict_mode=False, quirks_mode=True, max_header_len=_MAX_HTTP_HEADER_BYTES)
    return Archived(_make_capture(record, Page(read_url(record), b""), 0), position)


def read_run(
    archive: "Archive", start: int, stop: int, read: Callable[[WarcRecord, int], _Item | None]
) -> Generator[_Item | Damage, None, int]:
    """What `read` makes of the records until the stop, the end or the first damage; returns where to go on.

    A page is held until the next record was found: only then its checksum is known to be right.
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
    """WARC 1.1, 5.1: no record is without these."""
    if not (record.headers.contains_key("WARC-Type") and record.headers.contains_key("Content-Length")):
        raise _BadRecordError("the record's header is cut short")


def _read_page(record: WarcRecord, limit: int) -> Page | None:
    """The page that a record holds: a successful HTTP response or a resource. Other records hold none."""
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
    """Which URL a record is about; empty where it does not say."""
    return (record.headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")


def _make_capture(record: WarcRecord, page: Page, limit: int) -> Capture:
    """The exchange that a record tells of, as far as it does; a resource was never asked for. What is no HTTP has status 0."""
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
    """The payload, up to one byte more than the limit."""
    expected = min(record.content_length, limit + 1)
    block: bytes = record.reader.read(expected)
    if len(block) < expected:
        raise _BadRecordError(f"the record is cut short: {len(block)} of {record.content_length} bytes")
    return block


class Archive:
    """A WARC file that is open: its bytes, to look for records, and the reader of its compression."""

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
        """A reader of the records from here on; the decompressor beside it knows where members begin."""
        # The bytes in memory end where the committed records do; the file goes on.
        stream = cast(BinaryIO, self._bytes) if self.may_grow else self._file
        stream.seek(position)
        reader: WarcReader | None = None
        if self._compression == "gzip":
            reader = GzipReader(stream)
        elif self._compression == "zstd":
            reader = ZstdReader(stream, dictionary=None if position == 0 else self._dictionary)
        return reader, iter(ArchiveIterator(reader or stream, parse_http=False, stream_detect=False))

    def position_of(self, reader: WarcReader | None, record: WarcRecord) -> int:
        """Where the record begins; where its compressed member begins, if it is in one."""
        position: int | None = reader.frame_start_position() if reader else record.stream_pos
        return position or 0

    def member_of(self, reader: WarcReader | None) -> int | None:
        """Where the compressed member begins that is being read; None where nothing is compressed."""
        position: int | None = reader.frame_start_position() if reader else None
        return position

    def failed_at(self, reader: WarcReader | None, last: int, length: int) -> int:
        """Where the record begins that could not be read, after one of this length that began at `last`.

        Where nothing is compressed, that is after the last record if it ends as records do; else it is that record.
        """
        if reader is not None:
            return self.member_of(reader) or 0
        end = self._end_of(last, length)
        return end if end > last and self._bytes[end - 4 : end] == b"\r\n\r\n" else last

    def has_rest(self, last: int, length: int) -> bool:
        """Whether the beginning of a record follows one of this length that began at `last`, where nothing is compressed."""
        end = self._end_of(last, length)
        return self._compression == "none" and bool(self._bytes[end : end + _RECORD_START_BYTES].strip())

    def check_end(self, start: int, length: int, reached: int | None) -> None:
        """Raise where a record took another that follows it for a part of its own: it was cut, or its length is wrong."""
        if self._compression != "none":
            # A record may go on in the next member, but not when that begins with a record.
            following = self.find_record(start + 1) if reached not in (None, start) else None
            swallowed = following is not None and reached is not None and following <= reached
        else:
            header, end = self._end_of(start, 0), self._end_of(start, length)
            whole = self._bytes[end - 4 : end] == b"\r\n\r\n"
            swallowed = _RECORD.search(self._bytes, start + 1, header if whole else end) is not None
        if swallowed:
            raise _BadRecordError("the record is cut short, or its length is wrong")

    def _end_of(self, start: int, length: int) -> int:
        """Where an uncompressed record ends, the two empty lines included; `start` where its header does not end."""
        header = self._bytes.find(b"\r\n\r\n", start, start + _MAX_HEADER_BYTES)
        return header + 8 + length if header >= 0 else start

    def has_record_per_member(self) -> bool:
        """Whether the first two records begin with a compressed member each, as the specification asks."""
        if self._compression == "none":
            return True
        try:
            reader, records = self.open_at(0)
            starts = [self.position_of(reader, record) for record, _ in zip(records, range(2), strict=False)]
        except OSError:
            return True
        return len(starts) < 2 or (starts[0] < starts[1] and self._begins_record(starts[1]))

    def find_record(self, position: int) -> int | None:
        """The first place from here on where a record seems to begin; None where there is no more."""
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
        """By the first bytes; by the name where those are damaged."""
        head, name = self._bytes[:4], self.path.name.lower()
        if head in (_ZSTD_MAGIC, _ZSTD_DICTIONARY_MAGIC):
            return "zstd"
        if head[:3] == _GZIP_MAGIC:
            return "gzip"
        if head == b"WARC":
            return "none"
        return "gzip" if name.endswith(".gz") else "zstd" if name.endswith(".zst") else "none"

    def _read_dictionary(self) -> bytes | None:
        """Zstandard for WARC, 4.2: a first, skippable frame holds the dictionary, which may itself be compressed."""
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
    """The WARC files that a person means: files, patterns and folders; UsageError where one is none."""
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
            # Opens it, and complains where no record is in it.
            split_archive(inner, 1 << 62)
            found[inner.absolute()] = None
    return list(found)
