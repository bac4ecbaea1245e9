"""Files and WARC archives enter, Pages and Captures leave. An unreadable record is a Damage, after which reading continues.

Parts of an archive can be read separately, so that processes share one.
"""

import glob
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

from rdfspider.archive.encodings import decode_body, decode_gzip
from rdfspider.archive.warc_file import Damage, WarcFile
from rdfspider.codes import Truncation
from rdfspider.config import ExtractConfig
from rdfspider.errors import UsageError
from rdfspider.records import Capture, Page

MAX_BODY_BYTES = ExtractConfig().max_body_bytes

_ARCHIVE_NAME = re.compile(r"\.warc(?:\.gz|\.zst|\.open)?\Z", re.IGNORECASE)
# Browsers accept 256 KB.
_MAX_HTTP_HEADER_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in an archive where a record begins; the `final` one is where the next would begin."""

    position: int
    final: bool = False


class Archived(NamedTuple):
    """A capture from an archive, and where its record begins."""

    capture: Capture
    position: int


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
    with WarcFile(path) as archive:
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
    with WarcFile(path) as archive:
        stop = archive.size if stop is None else stop
        found = start if exact else archive.find_record(start)
        first = archive.size if found is None else found
        yield Mark(first)
        end = yield from archive.read(first, stop, lambda record, _: _read_page(record, limit))
        yield Mark(end, final=True)


def read_captures(path: Path, start: int = 0, *, limit: int = MAX_BODY_BYTES) -> Iterator[Archived | Damage]:
    """Read the pages of an archive with the facts of their exchanges, from the record at `start` on; only 2xx responses have a
    body."""
    with WarcFile(path) as archive:
        yield from archive.read(start, archive.size, lambda record, at: read_capture(record, at, limit))


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


def read_url(record: WarcRecord) -> str:
    """Return the URL of a record; empty if it has none."""
    return (record.headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">")


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


def _read_page(record: WarcRecord, limit: int) -> Page | None:
    """Read the page of a record that is a successful HTTP response or a resource; other records have none."""
    kind = record.record_type
    url = read_url(record)
    if kind in (WarcRecordType.resource, WarcRecordType.response) and not url:
        raise ValueError("the record names no URL")
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
        raise ValueError("the record is cut short")
    return None


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
        truncated=Truncation.LENGTH if len(page.body) > limit else record.headers.get("WARC-Truncated") or "",
    )


def _read_block(record: WarcRecord, limit: int) -> bytes:
    """Read the payload, up to one byte over the limit."""
    expected = min(record.content_length, limit + 1)
    block: bytes = record.reader.read(expected)
    if len(block) < expected:
        raise ValueError(f"the record is cut short: {len(block)} of {record.content_length} bytes")
    return block
