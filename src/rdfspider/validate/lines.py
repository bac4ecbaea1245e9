"""Source lines: findings of a page and its text enter, the findings leave with the lines where what they are about is written.

Extraction knows no lines, because that would cost every page; so they are searched for, only for findings that are shown. A line
is given where the property and the value stand together, or where a class stands exactly once; otherwise it stays unknown.
"""

import html
import json
import re
from collections.abc import Iterable
from itertools import islice

from msgspec.structs import replace

from rdfspider.validate.findings import Finding

_MAX_TEXT_CHARS = 4_000_000
_MAX_FINDINGS = 300
_MAX_PLACES = 300
"""The most places of a name that are looked at."""
_MAX_SEARCHED_CHARS = 30_000_000
"""How much is searched for one page, over all names: a second at most. Real pages need a tenth of it."""
_NEAR_CHARS = 600
"""How far a value may be from its property."""
_VALUE_CHARS = 40


def add_lines(findings: Iterable[Finding], text: str) -> list[Finding]:
    """Return the findings with their lines, where they are known."""
    source = _Source(text[:_MAX_TEXT_CHARS])
    return [
        replace(found, line=source.find_line(found)) if text and at < _MAX_FINDINGS else found
        for at, found in enumerate(findings)
    ]


class _Source:
    """The text of a page; where names stand in it is looked up once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, list[int]] = {}
        self._room = _MAX_SEARCHED_CHARS

    def find_line(self, found: Finding) -> int:
        """Return the line of a finding; 0 if it is not known."""
        at = self._find_place(found)
        return self._text.count("\n", 0, at) + 1 if at >= 0 else 0

    def _find_place(self, found: Finding) -> int:
        if found.rule == "markup":
            return -1
        if found.rule in ("unknown-class", "class-case") or (found.rule == "superseded" and found.value):
            return next(iter(self._find_type(found.value, found.syntax)), -1)
        if found.rule.startswith("missing-"):
            places = self._find_type(found.type, found.syntax)
            return places[0] if len(places) == 1 else -1
        places = self._find_name(found.path.rpartition(".")[2], found.syntax)
        if found.value:
            values = (self._find_value(found.value, place, found.syntax) for place in places)
            return next((at for at in values if at >= 0), -1)
        return places[0] if len(places) == 1 else -1

    def _find_type(self, name: str, syntax: str) -> list[int]:
        if syntax == "jsonld":
            return self._search(
                name, rf'"@type"\s*:\s*(?:\[[^\]]{{0,200}})?"(?:[^"\s]{{0,60}}[/:#])?{re.escape(name)}"'
            )
        return self._search(
            name, rf"(?:itemtype|typeof)\s*=\s*[\"'][^\"'>]{{0,200}}?(?<![\w.-]){re.escape(name)}[\"'\s]"
        )

    def _find_name(self, name: str, syntax: str) -> list[int]:
        if syntax == "jsonld":
            return self._search(name, rf'"(?:[a-z]{{2,10}}:)?{re.escape(name)}"\s*:')
        return self._search(
            name,
            rf"(?:itemprop|property|rel)\s*=\s*[\"']?[^\"'>]{{0,100}}?(?<![\w-]){re.escape(name)}(?![\w-])",
        )

    def _search(self, name: str, pattern: str) -> list[int]:
        if not name:
            return []
        if pattern not in self._known:
            self._room -= len(self._text)
            if self._room < 0:
                return []
            matches = re.finditer(pattern, self._text) if name in self._text else iter(())
            self._known[pattern] = [match.start() for match in islice(matches, _MAX_PLACES)]
        return self._known[pattern]

    def _find_value(self, value: str, place: int, syntax: str) -> int:
        """Return where a value is near the name of its property, which comes first, except in attributes; -1 if nowhere."""
        start = place if syntax == "jsonld" else self._text.rfind("<", max(0, place - _NEAR_CHARS), place)
        near = self._text[max(start, 0) : place + _NEAR_CHARS]
        begin = value.strip()[:_VALUE_CHARS]
        # The value of a link is resolved; its end is as the page has it.
        end = value.rstrip("/").rpartition("/")[2] if value.startswith("http") else ""
        for form in (begin, json.dumps(begin)[1:-1], begin.replace("/", "\\/"), html.escape(begin), end):
            if form and (at := near.find(form)) >= 0:
                return max(start, 0) + at
        return -1
