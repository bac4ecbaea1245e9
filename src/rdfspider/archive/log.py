"""The log of a crawl: its folder, or a position in one of its segments, enters, Outcomes leave in the order of the file.

A metadata record and the conversion records after it are one outcome; prerequisites are skipped. An unreadable record is a
Damage, and reading continues at the next record.
"""

import logging
import time
from collections.abc import Generator, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

from rdfspider.archive.metadata import read_date, read_due, read_metadata
from rdfspider.archive.outcomes import Effect, Outcome, decide_effect
from rdfspider.archive.reader import read_url
from rdfspider.archive.segments import SegmentKind, parse_name, read_committed
from rdfspider.archive.warc_file import Damage, WarcFile
from rdfspider.codes import PREREQUISITE_REASONS, Reason
from rdfspider.errors import UsageError

_log = logging.getLogger(__name__)

# A page's statements take a few hundred megabytes at most (`max_quads` lines); a longer record is not ours.
_MAX_BLOCK_BYTES = 1024 * 1024 * 1024
# The fields come before the links, which may be many.
_MAX_FIELDS_BYTES = 64 * 1024


class Segment(NamedTuple):
    """A file of the log, and its readable length."""

    path: Path
    length: int


def list_segments(folder: Path) -> dict[str, Segment]:
    """List the committed facts segments of all shards, by their keys in `index.view.Cursors`, in order of their numbers.

    A segment shorter than committed (a damaged disk) has its actual length; a missing one (a disk that is not mounted) is left
    out. So a cursor may be beyond the end, or in a segment that is not listed: then there is nothing to read. What was indexed
    from the missing part stays until the shard has fetched those pages again. A segment that was cut back never grows again, so
    no cursor points into the middle of a record.
    """
    found: dict[str, Segment] = {}
    for shard in _list_shards(folder):
        warc = shard / "warc"
        try:
            committed = read_committed(warc)
        except UsageError as error:
            # The shard writes the list again when it starts.
            _warn_once(str(error))
            continue
        names = [name for text in committed if (name := parse_name(text)) and name.kind == SegmentKind.FACTS]
        for name in sorted(names, key=lambda name: name.number):
            path = warc / str(name)
            try:
                length = min(committed[str(name)], path.stat().st_size)
            except OSError as error:
                _warn_once(f"{path}: {error.strerror}; it is not indexed before it is back")
                continue
            found[f"{shard.name}/{name}"] = Segment(path, length)
    return found


def read_outcomes(
    path: Path,
    source: str,
    start: int,
    stop: int,
    *,
    now: float | None = None,
    has_prerequisites: bool = False,
    is_committed: bool = False,
) -> Iterator[Outcome | Damage]:
    """Read the outcomes that begin in a range; `start` is 0 or the `end` of an earlier one. Those of prerequisites are left out
    unless `has_prerequisites`. Nothing is read beyond the published length, unless it `is_committed` up to `stop`.

    Afterwards, continue at `stop`, since the last records may belong to no outcome. UsageError if the file cannot be opened. A
    page whose `unavailable_after` is at or before `now` (in seconds since 1970) gets the effect REMOVE.
    """
    now = time.time() if now is None else now
    committed = stop if is_committed else None
    for item in _read_groups(path, start, stop, has_prerequisites=has_prerequisites, committed=committed):
        yield item if isinstance(item, Damage) else _make_outcome(*item, source, now)


def read_outcome(path: Path, source: str, offset: int, max_block_bytes: int) -> Outcome | Damage | None:
    """Read the outcome that begins at `offset`; a Damage if it is unreadable, None if none begins there.

    At most `max_block_bytes` are read of the statements in each syntax, and of the text. UsageError if there is no file.
    """
    with WarcFile(path) as archive:
        stop = archive.size
    for item in _read_groups(path, offset, stop, max_block_bytes):
        if isinstance(item, Damage):
            return item
        found, _ = item
        return _make_outcome(*item, source, 0.0) if found.position == offset else None
    return None


def read_fetch(path: Path, offset: int) -> Outcome | None:
    """Read the outcome whose metadata record begins at `offset`, without statements and text, and with only the first of many
    links; None if the file or the record is unreadable."""
    try:
        with WarcFile(path) as archive:
            if offset >= archive.size:
                return None
            _, records = archive.open_at(offset)
            record = next(records, None)
            if record is None:
                return None
            key = read_url(record), record.headers.get("WARC-Date") or ""
            block: bytes = record.reader.read(_MAX_FIELDS_BYTES)
    except (OSError, ValueError, UsageError):
        return None
    return _make_outcome(_Metadata(offset, key, read_metadata(block), []), 0, "", 0.0)


class _Conversion(NamedTuple):
    """The statements of a page in one syntax, or its text if `syntax` is empty."""

    key: tuple[str, str]
    syntax: str
    text: str


class _Metadata(NamedTuple):
    """A metadata record, and the conversions after it."""

    position: int
    key: tuple[str, str]
    """URL and date, which the headers of all records of an outcome share."""
    attributes: dict[str, Any]
    """The attributes of the Outcome."""
    conversions: list[_Conversion]


class _SegmentEnd(NamedTuple):
    """Where the record after the last one begins."""

    position: int


def _list_shards(folder: Path) -> list[Path]:
    try:
        shards = [path for path in (folder / "shards").iterdir() if path.name.isdecimal()]
    except OSError:
        # The crawl has not begun.
        return []
    return sorted(shards, key=lambda path: int(path.name))


@lru_cache(maxsize=1024)
def _warn_once(message: str) -> None:
    """Log each message once, since segments are listed many times a minute."""
    _log.warning("%s", message)


def _read_groups(
    path: Path,
    start: int,
    stop: int,
    max_block_bytes: int = _MAX_BLOCK_BYTES,
    *,
    has_prerequisites: bool = False,
    committed: int | None = None,
) -> Iterator[tuple[_Metadata, int] | Damage]:
    """Read metadata records with the conversions after them, and where the next outcome begins."""
    with WarcFile(path, committed) as archive:
        found: _Metadata | None = None
        for item in _read_items(archive, start, min(stop, archive.size), max_block_bytes):
            if isinstance(item, Damage):
                yield item
            elif isinstance(item, _Conversion):
                # After damage, a conversion may belong to a metadata record that was unreadable.
                if found is not None and item.key == found.key:
                    found.conversions.append(item)
            elif (
                has_prerequisites
                or not isinstance(item, _Metadata)
                or item.attributes.get("reason") not in PREREQUISITE_REASONS
            ):
                if found is not None:
                    yield found, item.position
                found = item if isinstance(item, _Metadata) else None


def _read_items(
    archive: WarcFile, start: int, stop: int, max_block_bytes: int
) -> Generator[_Metadata | _Conversion | _SegmentEnd | Damage, None, None]:
    read = partial(_read_record, max_block_bytes=max_block_bytes)
    run: Generator[_Metadata | _Conversion | Damage, None, int] = archive.read(start, stop, read)
    yield _SegmentEnd((yield from run))


def _read_record(record: WarcRecord, position: int, max_block_bytes: int) -> _Metadata | _Conversion | None:
    kind = record.record_type
    if kind not in (WarcRecordType.metadata, WarcRecordType.conversion):
        return None
    headers = record.headers
    key = read_url(record), headers.get("WARC-Date") or ""
    expected = record.content_length
    if expected > _MAX_BLOCK_BYTES:
        raise ValueError(f"the record has {expected} bytes, more than a page can say")
    if kind == WarcRecordType.conversion:
        expected = min(expected, max_block_bytes)
    block: bytes = record.reader.read(expected) if expected else b""
    if len(block) < expected:
        raise ValueError(f"the record is cut short: {len(block)} of {expected} bytes")
    if kind == WarcRecordType.metadata:
        return _Metadata(position, key, read_metadata(block), [])
    is_data = (headers.get("Content-Type") or "").startswith("application/n-quads")
    syntax = (headers.get("X-Crawler-Syntax") or "rdf") if is_data else ""
    return _Conversion(key, syntax, block.decode("utf-8", "replace"))


def _make_outcome(found: _Metadata, end: int, source: str, now: float) -> Outcome:
    known = dict(found.attributes)
    reason, due = known.pop("reason", ""), read_due(known.get("directives", ""))
    if 0 < due <= now:
        reason, due = Reason.NOINDEX, 0.0
    effect = decide_effect(reason, known.get("status", 0), known.get("unchanged", ""))
    says = found.conversions if effect is Effect.REPLACE else ()
    if effect is Effect.REMOVE:
        known["title"], known["anchors"], due = "", {}, 0.0
    return Outcome(
        url=known.pop("url", "") or found.key[0],
        time=read_date(found.key[1]),
        source=source,
        offset=found.position,
        end=end,
        effect=effect,
        verdict=known.pop("verdict", ""),
        reason=reason,
        statements={said.syntax: said.text for said in says if said.syntax},
        text="".join(said.text for said in says if not said.syntax),
        due=due,
        **known,
    )
