"""A crawl's folder and a place in a segment in, Outcomes out: what the shards have put on record, as the indexes take it.

A metadata record and the conversions after it are one outcome. What was fetched for the crawl itself is none. What cannot be
read is a Damage, and reading goes on at the next record.
"""

import logging
import time
from collections.abc import Generator, Iterator
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

from rdfspider.archive.outcomes import REMOVE, REPLACE, TOUCH, Outcome
from rdfspider.archive.reader import Archive, Damage, read_run, read_url
from rdfspider.archive.segments import Position, parse_name, read_committed
from rdfspider.errors import UsageError
from rdfspider.records import ERRANDS, REFUSALS, Problem

_log = logging.getLogger(__name__)

# The most that a page may say is a few hundred megabytes (`max_quads` lines); a record that claims more is not ours.
_MAX_BLOCK_BYTES = 1024 * 1024 * 1024
_LINE_END = "\r\n"
_LINK_START = f"{_LINE_END}outlink: "
_PLAIN_END = " L a/@href"
_UNTIL = "unavailable_after "

# Whatever the status: what a page says of itself, and what nobody has asked.
_EFFECTS_BY_REASON = {"noindex": REMOVE, "soft-404": REMOVE, **dict.fromkeys(REFUSALS, TOUCH)}
# Statuses that are not as their hundreds: nothing new, and "not now" (too slow, wrong connection, too early, too often).
_EFFECTS_BY_STATUS = {304: TOUCH, 408: TOUCH, 421: TOUCH, 425: TOUCH, 429: TOUCH}
_EFFECTS_BY_HUNDRED = {2: REPLACE, 3: REMOVE, 4: REMOVE}


class Segment(NamedTuple):
    """A file of the log, and how far it may be read."""

    path: Path
    length: int


class Record(NamedTuple):
    """An outcome as the log has it."""

    outcome: Outcome
    fields: dict[str, str]
    """Those of its metadata record (`docs/archive.md`), but for those that may be there more than once."""


def list_segments(folder: Path) -> dict[str, Segment]:
    """The committed facts segments of all shards of a crawl, by their keys in `views.Cursors`, in the order of their numbers.

    A segment that is shorter than committed (a damaged disk) is as long as it is, and one that is gone (a disk that is not
    mounted) is left out. So a cursor may be beyond the end, or of a segment that is not listed: then there is nothing to read.
    What was taken from the missing part stays in the indexes, until the pages, which the shard fetches again, are newer. A
    segment that was cut back never grows again, so no cursor leads into the middle of a record.
    """
    found: dict[str, Segment] = {}
    for shard in _list_shards(folder):
        warc = shard / "warc"
        try:
            committed = read_committed(warc)
        except UsageError as error:
            # The shard writes it anew when it starts.
            _warn_once(str(error))
            continue
        names = [name for text in committed if (name := parse_name(text)) and name.kind == "facts"]
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
    path: Path, source: str, start: int, stop: int, *, now: float | None = None
) -> Iterator[Outcome | Damage]:
    """The outcomes that begin in a range; `start` is 0 or the `end` of an earlier one.

    When there is no more, reading goes on at `stop`, since what comes last may be no outcome. UsageError where the file cannot
    be opened. Pages that asked to be forgotten by `now` (in seconds since 1970) are removed.
    """
    now = time.time() if now is None else now
    for item in _read_facts_of_pages(path, start, stop):
        yield item if isinstance(item, Damage) else _make_outcome(*item, source, now)


def read_outcome(path: Path, source: str, offset: int, max_block_bytes: int) -> Record | Damage | None:
    """The one outcome that begins at a place; a Damage where it cannot be read, None where none begins there.

    Of what the page says in a syntax, and of its text, so many bytes are read at most. UsageError where there is no file.
    """
    with Archive(path) as archive:
        stop = archive.size
    for item in _read_facts_of_pages(path, offset, stop, max_block_bytes):
        if isinstance(item, Damage):
            return item
        facts, _ = item
        return Record(_make_outcome(*item, source, 0.0), _keep_fields(facts)) if facts.position == offset else None
    return None


def decide_effect(reason: str, status: int, unchanged: str = "") -> str:
    """What an outcome does to what the indexes hold of its page.

    A page that is not public any more, or is elsewhere, is removed, and so is one that only says that it is not there. A failure
    may pass, even that of a name: only an answer removes.
    """
    effect = _EFFECTS_BY_REASON.get(reason) or _EFFECTS_BY_STATUS.get(status)
    effect = effect or _EFFECTS_BY_HUNDRED.get(status // 100, TOUCH)
    return TOUCH if effect == REPLACE and unchanged else effect


def _keep_fields(facts: "_Facts") -> dict[str, str]:
    return {name: value for name, value in facts.fields.items() if name not in ("", "quads")}


class _Conversion(NamedTuple):
    """What a page says in one syntax; its text, where that is empty."""

    key: tuple[str, str]
    syntax: str
    text: str


class _Facts(NamedTuple):
    """A metadata record, and the conversions that were found after it."""

    position: int
    key: tuple[str, str]
    """URL and date, as the headers of all records of an outcome have them."""
    fields: dict[str, str]
    repeated: list[tuple[str, str]]
    """Fields that may be there more than once."""
    outlinks: tuple[str, ...]
    conversions: list[_Conversion]


class _End(NamedTuple):
    """Where the record after the last one begins."""

    position: int


def _list_shards(folder: Path) -> list[Path]:
    try:
        shards = [path for path in (folder / "shards").iterdir() if path.name.isdecimal()]
    except OSError:
        # A crawl that has not begun.
        return []
    return sorted(shards, key=lambda path: int(path.name))


@lru_cache(maxsize=1024)
def _warn_once(message: str) -> None:
    """Segments are listed many times a minute."""
    _log.warning("%s", message)


def _read_facts_of_pages(
    path: Path, start: int, stop: int, max_block_bytes: int = _MAX_BLOCK_BYTES
) -> Iterator[tuple[_Facts, int] | Damage]:
    """Metadata records with the conversions after them, and where what follows begins."""
    with Archive(path) as archive:
        facts: _Facts | None = None
        for item in _read_items(archive, start, min(stop, archive.size), max_block_bytes):
            if isinstance(item, Damage):
                yield item
            elif isinstance(item, _Conversion):
                # After damage, what follows may belong to a record that could not be read.
                if facts is not None and item.key == facts.key:
                    facts.conversions.append(item)
            elif not isinstance(item, _Facts) or item.fields.get("reason") not in ERRANDS:
                if facts is not None:
                    yield facts, item.position
                facts = item if isinstance(item, _Facts) else None


def _read_items(
    archive: Archive, start: int, stop: int, max_block_bytes: int
) -> Generator[_Facts | _Conversion | _End | Damage, None, None]:
    read = partial(_read_record, max_block_bytes=max_block_bytes)
    position = start
    while position < stop:
        run: Generator[_Facts | _Conversion | Damage, None, int] = read_run(archive, position, stop, read)
        position = yield from run
    yield _End(position)


def _read_record(record: WarcRecord, position: int, max_block_bytes: int) -> _Facts | _Conversion | None:
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
    text = block.decode("utf-8", "replace")
    if kind == WarcRecordType.metadata:
        return _read_facts(position, key, text)
    is_data = (headers.get("Content-Type") or "").startswith("application/n-quads")
    return _Conversion(key, (headers.get("X-Crawler-Syntax") or "rdf") if is_data else "", text)


def _read_facts(position: int, key: tuple[str, str], text: str) -> _Facts:
    fields: dict[str, str] = {}
    repeated: list[tuple[str, str]] = []
    lines, outlinks = _split_fields(text)
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "outlink":
            outlinks.append(value.partition(" ")[0])
        elif name in ("problem", "redirected-from"):
            repeated.append((name, value))
        else:
            fields.setdefault(name, value)
    return _Facts(position, key, fields, repeated, tuple(dict.fromkeys(outlinks)), [])


def _split_fields(text: str) -> tuple[list[str], list[str]]:
    """The lines of a metadata record, but for its plain links, and those.

    A page has some dozen fields and hundreds of links, most of them plain, and these stand together (`facts.write_links`): one
    split takes them apart, without a look at each.
    """
    head, mark, tail = text.partition(_LINK_START)
    *plain, rest = tail.split(_PLAIN_END + _LINK_START)
    lines = head.split(_LINE_END)
    if tail.count(_LINE_END) != len(plain) + rest.count(_LINE_END):
        # Something else stands between the links, as in the record of a redirect.
        return text.split(_LINE_END), []
    if mark:
        lines += (_LINK_START + rest)[2:].split(_LINE_END)
    return lines, plain


def _make_outcome(facts: _Facts, end: int, source: str, now: float) -> Outcome:
    get = facts.fields.get
    reason, status = get("reason", ""), _read_number(get("status", ""))
    due = _read_due(get("robots", ""))
    if 0 < due <= now:
        reason, due = "noindex", 0.0
    effect = decide_effect(reason, status, get("unchanged", ""))
    says = facts.conversions if effect == REPLACE else ()
    return Outcome(
        url=get("url") or facts.key[0],
        time=_read_time(facts.key[1]),
        source=source,
        offset=facts.position,
        end=end,
        effect=effect,
        verdict=get("verdict", ""),
        reason=reason,
        status=status,
        error=get("error", ""),
        media_type=get("media-type", ""),
        charset=get("charset", ""),
        language=get("language", ""),
        title=get("title", "") if effect != REMOVE else "",
        canonical=get("canonical", ""),
        content_type=get("content-type", ""),
        etag=get("etag", ""),
        last_modified=get("last-modified", ""),
        body_bytes=_read_number(get("body-bytes", "")),
        digest=get("payload-digest", ""),
        payload=_read_position(get("payload-at", "")),
        redirected_from=tuple(value for name, value in facts.repeated if name == "redirected-from"),
        duplicate=get("duplicate", ""),
        duplicate_of=get("duplicate-of", ""),
        problems=tuple(_read_problem(value) for name, value in facts.repeated if name == "problem"),
        statements={said.syntax: said.text for said in says if said.syntax},
        text="".join(said.text for said in says if not said.syntax),
        outlinks=facts.outlinks,
        due=due if effect != REMOVE else 0.0,
    )


def _read_due(robots: str) -> float:
    """The moment after which a page asks not to be indexed; 0 where it does not."""
    moments = (_read_time(rest.partition(" ")[0].rstrip(",")) for rest in robots.split(_UNTIL)[1:])
    return min(filter(None, moments), default=0.0)


def _read_time(date: str) -> float:
    """Seconds since 1970; 0 where it is no date."""
    try:
        return datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _read_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _read_position(text: str) -> Position | None:
    segment, _, offset = text.rpartition(" ")
    return Position(segment, _read_number(offset)) if segment else None


def _read_problem(text: str) -> Problem:
    code, count, syntax, message = (text.split(" ", 3) + [""] * 3)[:4]
    return Problem(code, message, syntax if syntax not in ("", "-") else None, _read_number(count))
