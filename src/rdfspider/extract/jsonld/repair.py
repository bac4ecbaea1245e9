"""Broken JSON enters; what it obviously says leaves, with a note on every kind of repair and on every member left out.

Scripts on the web contain comments, trailing commas, raw line breaks, unescaped quotes, tags of templates and wrappers
for old browsers. One pass over the text rewrites it as JSON (`rewriter.py`). Nothing is guessed: a member whose value is unclear
is left out; where it is unclear even where a member ends, reading stops, and what was read before it is kept.
"""

import json
import math
from typing import Any, NamedTuple

from rdfspider.extract.jsonld import repair_patterns as patterns
from rdfspider.extract.jsonld.rewriter import TAGS, Rewriter


class Repaired(NamedTuple):
    """The values in order, what was repaired, and which members were left out."""

    values: list[Any]
    notes: list[str]
    lost: list[str]


def repair_json(text: str, max_depth: int) -> Repaired | None:
    """What broken JSON says; None where nothing of it is clear."""
    writer = Rewriter(_without_surrogates(text), max_depth)
    written = writer.rewrite()
    notes = writer.notes
    try:
        values = [value for value in _load(written, writer) if value]
        if patterns.SURROGATE_ESCAPE.search(written):
            values = json.loads(_without_surrogates(json.dumps(values, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    if not values:
        return None
    if not notes and not writer.lost:
        notes["characters that are none"] = None
    return Repaired(values, list(notes), list(writer.lost))


def _load(text: str, writer: Rewriter) -> list[Any]:
    """Parse JSON; numbers out of range become null. A member that a template gives twice, as in two branches, is left out."""

    def parse_float(digits: str) -> float | None:
        number = float(digits)
        if math.isfinite(number):
            return number
        parse_constant(digits)
        return None

    def parse_int(digits: str) -> int | float | None:
        return int(digits) if len(digits) < 300 else parse_float(digits)

    def parse_constant(_: str) -> None:
        writer.note("numbers out of range")

    def choose_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, value in pairs:
            if members.setdefault(key, value) != value:
                members[key] = unclear
        for key in [key for key, value in members.items() if value is unclear]:
            writer.tell_lost(key)
            del members[key]
        return members

    unclear = object()
    values: list[Any] = json.loads(
        text,
        parse_float=parse_float,
        parse_int=parse_int,
        parse_constant=parse_constant,
        object_pairs_hook=choose_members if TAGS in writer.notes else None,
    )
    return values


def _without_surrogates(text: str) -> str:
    """The text with pairs of surrogates joined, and U+FFFD for those without a partner."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
