"""Source lines: findings of a page and its text enter, the findings leave with the lines where what they are about is written.

Extraction knows no lines, because that would cost every page; so they are searched for, only for findings that are shown. A line
is given where the property and the value stand together, or where a class stands exactly once; otherwise it stays unknown.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from rdfspider.validate.findings import Finding

_MAX_TEXT_CHARS = 4_000_000
_MAX_FINDINGS = 300
_MAX_PLACES = 300
"""The most places of a name that are looked at."""
_NEAR_CHARS = 600
"""How far a value may be from its property."""
_VALUE_CHARS = 40


def add_lines(findings: Iterable[Finding], text: str) -> list[Finding]:
    """Return the findings with their lines, where they are known."""
    text = text[:_MAX_TEXT_CHARS]
    return [
        replace(found, line=_find_line(found, text)) if text and at < _MAX_FINDINGS else found
        for at, found in enumerate(findings)
    ]


def _find_line(found: Finding, text: str) -> int:
    at = _find_place(found, text)
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def _find_place(found: Finding, text: str) -> int:
    if found.rule in ("unknown-class", "class-case") or (found.rule == "superseded" and found.value):
        return next(_find_type(found.value, found.syntax, text), -1)
    if found.rule.startswith("missing-"):
        places = list(_find_type(found.type, found.syntax, text))
        return places[0] if len(places) == 1 else -1
    name = found.path.rpartition(".")[2]
    places = list(_find_name(name, found.syntax, text)) if name and found.rule != "markup" else []
    if found.value:
        return next((at for place in places if (at := _find_value(found.value, place, found.syntax, text)) >= 0), -1)
    return places[0] if len(places) == 1 else -1


def _find_type(name: str, syntax: str, text: str) -> Iterator[int]:
    if not name:
        return
    if syntax == "jsonld":
        pattern = rf'"@type"\s*:\s*(?:\[[^\]]{{0,200}})?"(?:[^"\s]{{0,60}}[/:#])?{re.escape(name)}"'
    else:
        pattern = rf"(?:itemtype|typeof)\s*=\s*[\"'][^\"'>]{{0,200}}?(?<![\w.-]){re.escape(name)}[\"'\s]"
    yield from (match.start() for match, _ in zip(re.finditer(pattern, text), range(_MAX_PLACES), strict=False))


def _find_name(name: str, syntax: str, text: str) -> Iterator[int]:
    if syntax == "jsonld":
        pattern = rf'"(?:[a-z]{{2,10}}:)?{re.escape(name)}"\s*:'
    else:
        pattern = rf"(?:itemprop|property|rel)\s*=\s*[\"']?[^\"'>]{{0,100}}?(?<![\w-]){re.escape(name)}(?![\w-])"
    yield from (match.start() for match, _ in zip(re.finditer(pattern, text), range(_MAX_PLACES), strict=False))


def _find_value(value: str, place: int, syntax: str, text: str) -> int:
    """Return where the value is near the name of its property, which comes first, except in attributes of HTML; -1 if nowhere."""
    start = place if syntax == "jsonld" else text.rfind("<", max(0, place - _NEAR_CHARS), place)
    near = text[max(start, 0) : place + _NEAR_CHARS]
    begin = value.strip()[:_VALUE_CHARS]
    # The value of a link is resolved; its end is as the page has it.
    end = value.rstrip("/").rpartition("/")[2] if value.startswith("http") else ""
    for form in (begin, json.dumps(begin)[1:-1], begin.replace("/", "\\/"), html.escape(begin), end):
        if form and (at := near.find(form)) >= 0:
            return max(start, 0) + at
    return -1
