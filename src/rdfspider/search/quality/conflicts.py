"""Pages of a site in, where they contradict each other out: one thing, a property that has one value, and different values of it.

The values may be on different pages, in different syntaxes of one page, or side by side. Nothing is decided: each value stands
with those who say so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rdfspider.index.dates import read_date
from rdfspider.index.names import SCHEMA
from rdfspider.index.terms import GENID
from rdfspider.search.conflicts import drop_shortened, is_single, normalise_text
from rdfspider.search.quality.samples import Described, SampledPage

_PARTS = ("offers", "aggregateRating", "geo", "address")
"""What hangs on a thing by these is said of the thing; it may have several of them, with a value each."""
_CONFLICTS, _CLAIMS, _SOURCES = 50, 6, 3
_CLAIMS_READ = 50
_DAY_S = 86_400
_SIDES = 20
# Stands before moments: no other meaning begins so, because it has letters and digits only.
_MOMENT = "@"


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """Who says so."""

    page: str
    syntax: str
    """Empty where it is not known which of the page's."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A value, and some of those who give it."""

    value: str
    sources: tuple[ClaimSource, ...]
    source_count: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """A property of a thing that has several values, and should have one."""

    id: str
    label: str
    type: str
    property: str
    path: str
    """`isbn`, or `offers.price`."""
    claims: tuple[Claim, ...]
    claim_count: int
    is_within_page: bool
    """Whether one page contradicts itself."""


def find_conflicts(pages: Iterable[SampledPage], entities: Mapping[str, str]) -> tuple[tuple[Conflict, ...], int]:
    """Some of them, those within a page first, and how many there are. `entities` has the id of each node that has one."""
    found: dict[tuple[str, str], _Said] = {}
    for page in pages:
        for name, node in page.nodes.items():
            key, source = entities.get(name, name), None
            for path, text in _list_claims(page, name, node, entities):
                source = source or ClaimSource(page.url, page.find_syntax(name))
                said = found.get((key, path))
                if said is None:
                    said = found[key, path] = _Said(node.label, min(node.types, default=""))
                said.add(source, path, text)
    conflicts = [
        conflict for (key, path), said in found.items() if len(said.values) > 1 and (conflict := said.judge(key, path))
    ]
    conflicts.sort(key=lambda one: (not one.is_within_page, -one.claim_count, one.label, one.path, one.id))
    return tuple(conflicts[:_CONFLICTS]), len(conflicts)


def _list_claims(
    page: SampledPage, name: str, node: Described, entities: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    yield from _list_single(node)
    for part in node.values.keys() & {*_PARTS}:
        for value in node.values[part]:
            # What is a thing of its own speaks for itself.
            inner = None if value.text == name or value.text in entities else page.nodes.get(value.text)
            if inner is not None and value.is_node:
                yield from ((f"{part}.{each}", text) for each, text in _list_single(inner))


def _list_single(node: Described) -> Iterator[tuple[str, str]]:
    for name, values in node.values.items():
        if is_single(name):
            # Blank nodes of two pages are never the same.
            yield from ((name, value.text) for value in values if not (value.is_node and value.text.startswith(GENID)))


@dataclass(slots=True)
class _Said:
    """All that is said of one property of one thing."""

    label: str
    type: str
    values: dict[str, tuple[str, list[ClaimSource]]] = field(default_factory=dict)
    """The first text of each meaning, and who says so."""

    def add(self, source: ClaimSource, path: str, text: str) -> None:
        meaning = _read_meaning(path, text)
        if meaning not in self.values:
            if len(self.values) == _CLAIMS_READ:
                return
            self.values[meaning] = (text, [])
        sources = self.values[meaning][1]
        if source not in sources[-_SOURCES:]:
            sources.append(source)

    def judge(self, key: str, path: str) -> Conflict | None:
        """What is contradicted; None where whoever says one thing says the others too, as of a product with several offers."""
        values = _drop_shortened(path, _merge_days(self.values))
        by_source: dict[ClaimSource, set[str]] = {}
        for value, sources in values.items():
            for source in sources:
                by_source.setdefault(source, set()).add(value)
        sides = list(by_source.items())[:_SIDES]
        apart = [
            one.page == other.page
            for at, (one, said) in enumerate(sides)
            for other, also in sides[at + 1 :]
            if said.isdisjoint(also)
        ]
        is_beside = "." not in path and any(len(said) > 1 for _, said in sides)
        if not (apart or is_beside):
            return None
        claims = sorted(values.items(), key=lambda item: (-len(item[1]), item[0]))
        shown = tuple(Claim(value, tuple(sources[:_SOURCES]), len(sources)) for value, sources in claims[:_CLAIMS])
        name = SCHEMA + path.rpartition(".")[2]
        return Conflict(key, self.label, self.type, name, path, shown, len(claims), is_beside or any(apart))


def _read_meaning(path: str, text: str) -> str:
    """The same for values that mean the same: 10 and 10.00, InStock and its IRI; as for the page of a thing. Dates may be written
    in many ways."""
    if path.endswith("Date") or path.startswith("date") or path == "validThrough":
        moment = read_date(text)
        if moment is not None:
            return f"{_MOMENT}{moment}"
    return normalise_text(_find_name(path), text)


def _drop_shortened(path: str, values: dict[str, list[ClaimSource]]) -> dict[str, list[ClaimSource]]:
    """Without years and months alone where others tell the day."""
    texts = {text: normalise_text(_find_name(path), text) for text in values}
    known = drop_shortened(list(texts.values()))
    return {text: sources for text, sources in values.items() if texts[text] in known}


def _find_name(path: str) -> str:
    return path.rpartition(".")[2].lower()


def _merge_days(values: Mapping[str, tuple[str, list[ClaimSource]]]) -> dict[str, list[ClaimSource]]:
    """Sources by text. Moments that are less than a day apart are one: a page that tells the day alone means any of them."""
    merged: dict[str, list[ClaimSource]] = {}
    moments: list[tuple[float, str, list[ClaimSource]]] = []
    for meaning, (text, sources) in values.items():
        if meaning.startswith(_MOMENT):
            moments.append((float(meaning[len(_MOMENT) :]), text, sources))
        else:
            merged[text] = sources
    first, name = float("-inf"), ""
    for moment, text, sources in sorted(moments, key=lambda one: one[:2]):
        if moment - first >= _DAY_S:
            first, name = moment, text
        merged[name] = [*merged.get(name, ()), *sources]
    return merged
