"""The metadata record of an outcome: an Outcome enters and a block of `application/warc-fields` leaves, or the other way round.

One table gives each field's name, its attribute of Outcome, and how to write and read it. Links follow the fields, as Heritrix
writes them. The statements and text of a page are in the conversion records after this one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.outlinks import ANCHORS, separate_links, write_links, write_target
from rdfspider.archive.segments import Position
from rdfspider.archive.warc import MAX_URL_CHARS, Field, clean_value, make_fields_block
from rdfspider.records import Link, Problem

_MAX_MESSAGE_CHARS = 500
_UNTIL = "unavailable_after "


def _read_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _write_some(number: int) -> str:
    return str(number) if number else ""


def _write_message(text: str) -> str:
    return clean_value(text[:_MAX_MESSAGE_CHARS])


def _write_url(url: str) -> str:
    return url if len(url) > MAX_URL_CHARS else ""


def _write_position(position: Position) -> str:
    return f"{position.segment} {position.offset}"


def _read_position(text: str) -> Position | None:
    segment, _, offset = text.rpartition(" ")
    return Position(segment, int(offset)) if segment and offset.isdecimal() else None


def _count_statements(statements: Mapping[str, str]) -> list[str]:
    return [f"{syntax} {nquads.count(chr(10))}" for syntax, nquads in statements.items() if nquads]


def _write_problems(problems: Iterable[Problem]) -> list[str]:
    return [f"{each.code} {each.count} {each.syntax or '-'} {each.message[:_MAX_MESSAGE_CHARS]}" for each in problems]


def _read_problem(text: str) -> Problem:
    code, count, syntax, message = (text.split(" ", 3) + [""] * 3)[:4]
    return Problem(code, message, syntax if syntax not in ("", "-") else None, _read_number(count))


class _Row(NamedTuple):
    """A field of the record; it is left out if its value is None or is written as an empty text."""

    name: str
    attribute: str
    write: Callable[[Any], str] = str
    read: Callable[[str], Any] | None = str
    """None if something else supplies the attribute when the record is read."""


class _Repeated(NamedTuple):
    """A field that may occur more than once, for an attribute with several values."""

    name: str
    attribute: str
    write: Callable[[Any], Iterable[str]] = iter
    read: Callable[[str], Any] | None = str


_FIELDS: tuple[_Row | _Repeated, ...] = (
    _Row("url", "url", _write_url),
    _Row("verdict", "verdict"),
    _Row("reason", "reason"),
    _Row("rule", "rule", _write_message),
    _Row("status", "status", _write_some, _read_number),
    _Row("error", "error"),
    _Row("depth", "depth", read=_read_number),
    _Row("found-as", "found_as"),
    _Row("via", "via"),
    _Row("via-id", "via_id", _write_some, _read_number),
    _Repeated("redirected-from", "redirected_from"),
    _Row("attempts", "attempts", _write_some, _read_number),
    _Row("error-message", "error_message", _write_message),
    _Row("fetchTimeMs", "fetch_ms", read=_read_number),
    _Row("http-version", "http_version"),
    _Row("content-type", "content_type"),
    _Row("etag", "etag"),
    _Row("last-modified", "last_modified"),
    _Row("x-robots-tag", "x_robots_tag"),
    _Row("link", "link"),
    _Row("body-bytes", "body_bytes", read=_read_number),
    _Row("wire-bytes", "wire_bytes", read=_read_number),
    _Row("truncated", "truncated"),
    _Row("payload-digest", "digest"),
    _Row("unchanged", "unchanged"),
    _Row("payload-at", "payload", _write_position, _read_position),
    _Row("outlink", "target", write_target, None),
    _Row("robots", "directives"),
    _Row("duplicate", "duplicate"),
    _Row("duplicate-of", "duplicate_of"),
    _Row("media-type", "media_type"),
    _Row("charset", "charset"),
    _Row("language", "language"),
    _Row("title", "title"),
    _Row("canonical", "canonical"),
    _Repeated("quads", "statements", _count_statements, None),
    _Repeated("problem", "problems", _write_problems, _read_problem),
)
FIELD_NAMES = (*(field.name for field in _FIELDS), ANCHORS)
"""In the order of writing."""
# Every page is written by these: one call reads all attributes, and plain tuples are read faster than fields of a record.
_WRITERS: tuple[tuple[str, Callable[[Any], Any], bool], ...] = tuple(
    (field.name, field.write, isinstance(field, _Repeated)) for field in _FIELDS
)
_read_attributes = attrgetter(*(field.attribute for field in _FIELDS))
_ONCE = frozenset(field.name for field in _FIELDS if isinstance(field, _Row) and field.read)
# And every page is read by these: the attribute, what reads a value that is not plain text, and whether there may be several.
_READERS: dict[str, tuple[str, Callable[[str], Any] | None, bool]] = {
    field.name: (field.attribute, None if field.read is str else field.read, isinstance(field, _Repeated))
    for field in _FIELDS
    if field.read
}


def write_metadata(outcome: Outcome, links: Sequence[Link]) -> bytes:
    """Write the block of an outcome's metadata record, with the links of its page."""
    return make_fields_block(_list_fields(outcome)) + write_links(links)


def list_fields(outcome: Outcome) -> dict[str, str]:
    """Return the fields of an outcome's metadata record that occur once, by name."""
    return {name: value for name, value in _list_fields(outcome) if value and name in _ONCE}


def read_metadata(block: bytes) -> dict[str, Any]:
    """Read the attributes of an Outcome from the block of a metadata record; those without a field are left out."""
    lines, links = separate_links(block)
    found: dict[str, Any] = {name: value for name, value in zip(links._fields, links, strict=True) if value}
    for line in lines:
        name, _, value = line.partition(": ")
        if (reader := _READERS.get(name)) is not None:
            attribute, read, is_repeated = reader
            if is_repeated:
                found[attribute] = (*found.get(attribute, ()), read(value) if read else value)
            elif attribute not in found:
                found[attribute] = read(value) if read else value
    return found


def read_payload_position(block: bytes) -> Position | None:
    """Read from a metadata record where the archive keeps the body; None if it keeps none."""
    value = block.partition(b"\r\npayload-at: ")[2].partition(b"\r\n")[0]
    return _read_position(value.decode("utf-8", "replace"))


def is_metadata_of_crawl(block: bytes) -> bool:
    """Whether the beginning of a metadata record shows that a crawl of ours wrote it; other tools write such records too."""
    return block.startswith((b"verdict: ", b"url: ")) and b"reason: " in block


def read_due(directives: str) -> float:
    """Return the earliest `unavailable_after` of the directives, in seconds since 1970; 0 if there is none."""
    moments = (read_date(rest.partition(" ")[0].rstrip(",")) for rest in directives.split(_UNTIL)[1:])
    return min(filter(None, moments), default=0.0)


def read_date(date: str) -> float:
    """Convert a date to seconds since 1970; 0 if it is no date."""
    try:
        return datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _list_fields(outcome: Outcome) -> list[Field]:
    found: list[Field] = []
    for (name, write, is_repeated), value in zip(_WRITERS, _read_attributes(outcome), strict=True):
        if not value and value != 0:
            continue
        if is_repeated:
            found += [(name, each) for each in write(value)]
        else:
            found.append((name, write(value)))
    return found
