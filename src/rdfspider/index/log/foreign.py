"""WARC files made elsewhere enter, Outcomes leave, as if their pages had been crawled; also keeps the list of these files.

Their pages are detected and extracted when they are indexed, and left out if their robots directives say so. A file with the
facts of another crawl already has all that, and is read like the log.
"""

import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType
from msgspec import structs

from rdfspider.archive.log import Segment, read_outcome, read_outcomes
from rdfspider.archive.metadata import is_metadata_of_crawl
from rdfspider.archive.outcomes import Effect, Outcome, make_outcome
from rdfspider.archive.outlinks import describe_links
from rdfspider.archive.reader import read_capture, read_revisit, read_url
from rdfspider.archive.segments import Position, SegmentKind, find_committed_length, kind_of
from rdfspider.archive.warc import compute_digest
from rdfspider.archive.warc_file import Damage, WarcFile
from rdfspider.codes import LeaseKind, Reason, VerdictState
from rdfspider.config import ExtractConfig
from rdfspider.detect.content import detect_content
from rdfspider.disk import add_lines, read_lines
from rdfspider.errors import UsageError
from rdfspider.extract.page import extract_page
from rdfspider.index.layout import IndexPaths
from rdfspider.judge.judgement import apply_judgement, judge_alone, judge_directives
from rdfspider.records import REDIRECTS, Capture, Extraction, Finished, Lease, Verdict
from rdfspider.urls import host_of, normalise_url

_REASONS = {304: Reason.UNCHANGED, 410: Reason.GONE, **dict.fromkeys(REDIRECTS, Reason.REDIRECT)}
# How many records of one compressed member are searched for a page.
_MAX_SHARING = 1_000


def add_sources(paths: IndexPaths, files: Iterable[Path]) -> int:
    """Add files to the list of files to index; return how many are new. The caller resolves patterns and folders."""
    lines = [str(file.absolute()) for file in files]
    for line in lines:
        if not line.isprintable() or line.strip() != line:
            raise UsageError(f"{line!r} cannot be kept in a list of names; rename it")
    return add_lines(paths.sources, lines)


def read_sources(paths: IndexPaths) -> list[Path]:
    """The listed files from elsewhere."""
    return [Path(line) for line in read_lines(paths.sources)]


def list_sources(paths: IndexPaths) -> tuple[dict[str, Segment], list[Damage]]:
    """The listed files by their keys in `index.view.Cursors`, with the length that may be read; and the files that cannot be
    read now. Those are reported, but their cursors stay: they may come back later."""
    found: dict[str, Segment] = {}
    missing: list[Damage] = []
    for path in read_sources(paths):
        try:
            with path.open("rb") as file:
                length = file.seek(0, 2)
            committed = find_committed_length(path)
        except OSError as error:
            missing.append(Damage(str(path), 0, error.strerror or str(error)))
        except UsageError as error:
            missing.append(Damage(str(path), 0, str(error)))
        else:
            found[str(path)] = Segment(path, length if committed is None else min(committed, length))
    return found, missing


def read_foreign(
    path: Path,
    start: int,
    config: ExtractConfig,
    stop: int | None = None,
    *,
    now: float | None = None,
) -> Iterator[Outcome | Damage]:
    """The outcomes that begin in a range of a file, with the same rules as `log.read_outcomes`.

    Reading cannot resume between records that share a compressed member, so some of them come again.
    """
    now = time.time() if now is None else now
    source = str(path.absolute())
    with WarcFile(path) as archive:
        stop = archive.size if stop is None else min(stop, archive.size)
        is_facts = _holds_facts(archive)
        if 0 < start < stop and archive.find_record(start) != start:
            # The file was read when it ended in the middle of a record; outcomes that come again change nothing.
            start = 0
    if is_facts:
        yield from read_outcomes(path, source, start, stop, now=now)
        return
    with WarcFile(path) as archive:
        last: _Visit | None = None
        for item in _read_visits(archive, start, stop, config.max_body_bytes):
            if isinstance(item, Damage):
                yield item
                continue
            if last is not None:
                yield _make_outcome(last, config, source, item.position, now)
            last = item if isinstance(item, _Visit) else None


def read_foreign_outcome(path: Path, url: str, offset: int, config: ExtractConfig | None) -> Outcome | Damage | None:
    """The outcome of a page that begins at an offset, with the same rules as `log.read_outcome`. Raise UsageError if the page
    would have to be extracted and `config` is None."""
    with WarcFile(path) as archive:
        if _holds_facts(archive):
            return read_outcome(path, str(path), offset, (config or ExtractConfig()).max_body_bytes)
        if config is None:
            raise UsageError(f"{path} has pages as they came, and what they say is not read again here")
        # Records that share a compressed member have its offset.
        for item in islice(_read_visits(archive, offset, archive.size, config.max_body_bytes), _MAX_SHARING):
            if isinstance(item, Damage):
                return item
            if not isinstance(item, _Visit) or item.position != offset:
                return None
            if item.url == url:
                return _make_outcome(item, config, str(path), 0, 0.0)
    return None


class _Visit(NamedTuple):
    """A capture of a page, with its normalised URL; without a body if the archive has the body elsewhere."""

    capture: Capture
    position: int
    url: str
    is_revisit: bool


class _FileEnd(NamedTuple):
    """Where the record after the last one begins."""

    position: int


def _holds_facts(archive: WarcFile) -> bool:
    """Whether a file is a segment of facts, by its name or by its first records."""
    if kind_of(archive.path.name) == SegmentKind.FACTS:
        return True
    try:
        _, records = archive.open_at(0)
        for record, _ in zip(records, range(2), strict=False):
            if record.record_type == WarcRecordType.metadata:
                block: bytes = record.reader.read(1024)
                return is_metadata_of_crawl(block)
    except (OSError, ValueError):
        pass
    return False


def _read_visits(
    archive: WarcFile, start: int, stop: int, limit: int
) -> Generator[_Visit | _FileEnd | Damage, None, None]:
    end = yield from archive.read(start, stop, lambda record, at: _read_visit(record, at, limit))
    yield _FileEnd(end)


def _read_visit(record: WarcRecord, position: int, limit: int) -> _Visit | None:
    """The visit of a record; None without an HTTP status or a web address (DNS lookups, say), and for robots.txt."""
    is_revisit = record.record_type == WarcRecordType.revisit
    url = normalise_url(read_url(record))
    if url is None or (url.endswith("/robots.txt") and url.count("/") == 3):
        return None
    found = read_revisit(record, position) if is_revisit else read_capture(record, position, limit)
    if found is None or not found.capture.status:
        return None
    return _Visit(found.capture, position, url, is_revisit)


def _make_outcome(visit: _Visit, config: ExtractConfig, source: str, end: int, now: float) -> Outcome:
    body = visit.capture.page.body
    finished = _read_page(visit, config, now)
    links = describe_links(finished.extraction.links if finished.extraction else ())
    outcome = make_outcome(
        finished,
        digest=compute_digest(body) if body else "",
        unchanged="revisit" if visit.is_revisit else "",
        payload=Position(source, visit.position) if body else None,
    )
    if outcome.effect is not Effect.REPLACE:
        outcome = structs.replace(outcome, statements={}, text="", title="")
    return structs.replace(
        outcome,
        # A capture without a date stays older than all others, however often it is read.
        time=visit.capture.started,
        source=source,
        offset=visit.position,
        end=end,
        statements={syntax: nquads for syntax, nquads in outcome.statements.items() if nquads},
        outlinks=links.outlinks,
        relations=links.relations,
        anchors={} if outcome.effect is Effect.REMOVE else links.anchors,
        # Archives do not record these.
        depth=None,
        fetch_ms=None,
        http_version="",
        wire_bytes=None,
        unchanged="",
    )


def _read_page(visit: _Visit, config: ExtractConfig, now: float) -> Finished:
    """Extract and judge a single page, when its outcome is needed; the verdict has the same names as in a crawl."""
    capture, status = visit.capture, visit.capture.status
    page = replace(capture.page, url=visit.url)
    lease = Lease(LeaseKind.PAGE, host_of(visit.url), 0, visit.url)
    is_page = 200 <= status < 300
    extraction = Extraction(page.url, "")
    if is_page and not visit.is_revisit:
        extraction = extract_page(page, detect_content(page, config.max_body_bytes), config)
        judgement = judge_alone(capture, extraction, now)
    else:
        judgement = judge_directives(capture, extraction, now)
    verdict = Verdict(VerdictState.DONE, _REASONS.get(status, f"status-{status}"), status)
    if is_page:
        verdict = Verdict(VerdictState.DONE, Reason.UNCHANGED if visit.is_revisit else Reason.IMPORTED, status)
        verdict, extraction = apply_judgement(verdict, extraction, judgement)
    return Finished(lease, verdict, capture, extraction, judgement=judgement)
