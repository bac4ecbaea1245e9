"""WARC files from elsewhere in, Outcomes out, as if their pages had been crawled; and the list of these files.

Their pages are read when they are indexed: detected, extracted, and kept out where they ask for it. A file that holds facts of
another crawl has all that already, and is read as the log is.
"""

import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

from rdfspider.archive.log import Record, Segment, decide_effect, read_outcome, read_outcomes
from rdfspider.archive.outcomes import REMOVE, REPLACE, Outcome
from rdfspider.archive.reader import Archive, Damage, read_capture, read_revisit, read_run, read_url
from rdfspider.archive.segments import Position, find_committed_length, kind_of
from rdfspider.archive.warc import compute_digest
from rdfspider.config import ExtractConfig
from rdfspider.detect.content import detect_content
from rdfspider.disk import add_lines, read_lines
from rdfspider.errors import UsageError
from rdfspider.extract.page import extract_page
from rdfspider.extract.robots_directives import read_wishes
from rdfspider.index.layout import IndexPaths
from rdfspider.judge.soft404 import says_absence
from rdfspider.records import Capture, Extraction, Robots
from rdfspider.urls import normalise_url

_REASONS = {304: "unchanged", 410: "gone", **dict.fromkeys((301, 302, 303, 307, 308), "redirect")}
_WISHES = ("noindex", "nofollow", "noarchive")
# So many records of one compressed member are looked at for one of them.
_MAX_SHARING = 1_000
# How a metadata record of ours begins.
_FACTS_STARTS = (b"verdict: ", b"url: ")


def add_sources(paths: IndexPaths, files: Iterable[Path]) -> int:
    """Note files that are to be indexed too; how many of them are new. Patterns and folders are the caller's to resolve."""
    lines = [str(file.absolute()) for file in files]
    for line in lines:
        if not line.isprintable() or line.strip() != line:
            raise UsageError(f"{line!r} cannot be kept in a list of names; rename it")
    return add_lines(paths.sources, lines)


def read_sources(paths: IndexPaths) -> list[Path]:
    """The files from elsewhere that are indexed too."""
    return [Path(line) for line in read_lines(paths.sources)]


def list_sources(paths: IndexPaths) -> tuple[dict[str, Segment], list[Damage]]:
    """These files by their keys in `views.Cursors`, with how far they may be read; and those that cannot be read now, of which
    one line should be said and no cursor be moved: they may be back later."""
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
    """The outcomes that begin in a range of a file; all is as with `log.read_outcomes`.

    Where several records share a compressed member, reading cannot go on between them, and some come again.
    """
    now = time.time() if now is None else now
    source = str(path.absolute())
    with Archive(path) as archive:
        stop = archive.size if stop is None else min(stop, archive.size)
        is_facts = _holds_facts(archive)
        if 0 < start < stop and archive.find_record(start) != start:
            # It was read when it had come as far as into the middle of a record; what comes again changes nothing.
            start = 0
    if is_facts:
        yield from read_outcomes(path, source, start, stop, now=now)
        return
    with Archive(path) as archive:
        last: _Visit | None = None
        for item in _read_visits(archive, start, stop, config.max_body_bytes):
            if isinstance(item, Damage):
                yield item
                continue
            if last is not None:
                yield _make_outcome(last, _read_sayings(last, config), source, item.position, now)
            last = item if isinstance(item, _Visit) else None


def read_foreign_outcome(path: Path, url: str, offset: int, config: ExtractConfig | None) -> Record | Damage | None:
    """The outcome of a page that begins at a place; all is as with `log.read_outcome`. What a page asks of crawlers is the field
    `robots`. UsageError where a page would have to be extracted, and there is nothing to do so by."""
    with Archive(path) as archive:
        if _holds_facts(archive):
            return read_outcome(path, str(path), offset, (config or ExtractConfig()).max_body_bytes)
        if config is None:
            raise UsageError(f"{path} has pages as they came, and what they say is not read again here")
        # Records that share a compressed member begin where it does.
        for item in islice(_read_visits(archive, offset, archive.size, config.max_body_bytes), _MAX_SHARING):
            if isinstance(item, Damage):
                return item
            if not isinstance(item, _Visit) or item.position != offset:
                return None
            if item.url == url:
                sayings = _read_sayings(item, config)
                robots = ", ".join(name for name in _WISHES if any(getattr(wishes, name) for wishes in sayings.wishes))
                return Record(_make_outcome(item, sayings, str(path), 0, 0.0), {"robots": robots} if robots else {})
    return None


class _Visit(NamedTuple):
    """A capture of a page, at its normal address; without a body where the archive has it elsewhere."""

    capture: Capture
    position: int
    url: str
    is_revisit: bool


class _Sayings(NamedTuple):
    """What was read from a page, and what it and its server ask for."""

    found: Extraction
    wishes: tuple[Robots, ...]


class _End(NamedTuple):
    """Where the record after the last one begins."""

    position: int


def _holds_facts(archive: Archive) -> bool:
    """Whether a file is a segment of facts, by its name, or by its first records."""
    if kind_of(archive.path.name) == "facts":
        return True
    try:
        _, records = archive.open_at(0)
        for record, _ in zip(records, range(2), strict=False):
            if record.record_type == WarcRecordType.metadata:
                block: bytes = record.reader.read(1024)
                return block.startswith(_FACTS_STARTS) and b"reason: " in block
    except (OSError, ValueError):
        pass
    return False


def _read_visits(archive: Archive, start: int, stop: int, limit: int) -> Generator[_Visit | _End | Damage, None, None]:
    position = start
    while position < stop:
        position = yield from read_run(archive, position, stop, lambda record, at: _read_visit(record, at, limit))
    yield _End(position)


def _read_visit(record: WarcRecord, position: int, limit: int) -> _Visit | None:
    """What is no HTTP has no status; names that were looked up, and what tools note for themselves, have no web address."""
    is_revisit = record.record_type == WarcRecordType.revisit
    url = normalise_url(read_url(record))
    if url is None or (url.endswith("/robots.txt") and url.count("/") == 3):
        return None
    found = read_revisit(record, position) if is_revisit else read_capture(record, position, limit)
    if found is None or not found.capture.status:
        return None
    return _Visit(found.capture, position, url, is_revisit)


def _read_sayings(visit: _Visit, config: ExtractConfig) -> _Sayings:
    """What a page says is read here, one page at a time, as it is asked for."""
    page = replace(visit.capture.page, url=visit.url)
    is_read = 200 <= visit.capture.status < 300 and not visit.is_revisit
    found = (
        extract_page(page, detect_content(page, config.max_body_bytes), config) if is_read else Extraction(page.url, "")
    )
    return _Sayings(found, _read_wishes(visit.capture, found.robots))


def _make_outcome(visit: _Visit, sayings: _Sayings, source: str, end: int, now: float) -> Outcome:
    capture, status, body = visit.capture, visit.capture.status, visit.capture.page.body
    found, wishes = sayings
    reason = _name_reason(visit, found, wishes, now)
    effect = decide_effect(reason, status, "revisit" if visit.is_revisit else "")
    says = found if effect == REPLACE else replace(found, statements={}, text="", title=None)
    return Outcome(
        url=visit.url,
        time=capture.started,
        source=source,
        offset=visit.position,
        end=end,
        effect=effect,
        reason=reason,
        status=status,
        media_type=found.media_type,
        charset=found.charset or "",
        language=found.language or "",
        title=says.title or "",
        canonical=found.canonical or "",
        content_type=capture.header("content-type"),
        etag=capture.header("etag"),
        last_modified=capture.header("last-modified"),
        body_bytes=len(body),
        digest=compute_digest(body) if body else "",
        payload=Position(source, visit.position) if body else None,
        problems=found.problems,
        statements={syntax: nquads for syntax, nquads in says.statements.items() if nquads},
        text=says.text,
        outlinks=tuple(dict.fromkeys(link.target for link in found.links)),
        due=_find_due(wishes) if effect != REMOVE else 0.0,
    )


def _name_reason(visit: _Visit, found: Extraction, wishes: tuple[Robots, ...], now: float) -> str:
    """As a crawl names what became of a page."""
    status = visit.capture.status
    if 200 <= status < 300:
        if any(robots.noindex for robots in wishes) or 0 < _find_due(wishes) <= now:
            return "noindex"
        if visit.is_revisit:
            return "unchanged"
        return "soft-404" if says_absence(found) else "imported"
    return _REASONS.get(status, f"status-{status}")


def _read_wishes(capture: Capture, in_page: Robots) -> tuple[Robots, ...]:
    """What the server and the page ask for; the strictest of both is done."""
    values = (value for name, value in capture.headers if name.lower() == "x-robots-tag")
    return read_wishes(values, may_name=True), in_page


def _find_due(wishes: tuple[Robots, ...]) -> float:
    return min((robots.unavailable_after for robots in wishes if robots.unavailable_after > 0), default=0.0)
