"""Contradictions on a site: sampled pages enter; properties with different values, though only one is possible, leave.

The rules are those of an entity's page: the values are on different pages, or in different syntaxes of one page. This does not
decide which is right: each value is listed with its sources.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rdfspider.search.attributions import ReadStatements, read_texts
from rdfspider.search.quality.samples import Described, SampledPage
from rdfspider.validate.conflict_rules import Origin, find_meanings, find_sides, is_single, normalise_text
from rdfspider.vocabulary.prefixes import SCHEMA
from rdfspider.vocabulary.terms import GENID

_PARTS = ("offers", "aggregateRating", "geo", "address")
"""Properties whose nameless values count as part of the entity; it may have several, with a value each."""
_CONFLICTS, _CLAIMS, _SOURCES = 50, 6, 3
_CLAIMS_READ = 50
# How many pages are read again to find the syntax of each value.
_PAGES_REREAD = 20
_PAGES_COMPARED = 50


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """The source of a claim."""

    page: str
    syntax: str
    """Empty if it is not known which of the page's."""


@dataclass(frozen=True, slots=True)
class ConflictingClaim:
    """A value, and some of its sources."""

    value: str
    sources: tuple[ClaimSource, ...]
    source_count: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """A property of an entity that has several values but should have one."""

    id: str
    label: str
    type: str
    property: str
    path: str
    """`isbn`, or `offers.price`."""
    claims: tuple[ConflictingClaim, ...]
    claim_count: int
    is_within_page: bool
    """Whether one page contradicts itself."""


def find_conflicts(
    pages: Iterable[SampledPage], entities: Mapping[str, str], read_statements: ReadStatements = lambda url: None
) -> tuple[tuple[Conflict, ...], int]:
    """Return some conflicts, those within a page first, and their number; `entities` has the entity's id of nodes."""
    found: dict[tuple[str, str], _StatedValues] = {}
    for page in pages:
        sources: dict[str, ClaimSource] = {}
        for name, node in page.nodes.items():
            key = entities.get(name, name)
            for path, text, holder in _list_claims(page, name, node, entities):
                stated = found.get((key, path))
                if stated is None:
                    stated = found[key, path] = _StatedValues(node.label, min(node.types, default=""))
                if holder not in sources:
                    sources[holder] = ClaimSource(page.url, page.find_syntax(holder))
                stated.add(sources[holder], holder, text)
    several = {key: stated for key, stated in found.items() if len(stated.values) > 1}
    pages_left = _PAGES_REREAD
    for (_, path), stated in several.items():
        for source, holder in stated.list_ambiguous()[:pages_left]:
            pages_left -= 1
            stated.split_by_syntax(source, holder, path, read_statements)
    conflicts = [conflict for (key, path), stated in several.items() if (conflict := stated.judge(key, path))]
    conflicts.sort(key=lambda one: (not one.is_within_page, -one.claim_count, one.label, one.path, one.id))
    return tuple(conflicts[:_CONFLICTS]), len(conflicts)


def _list_claims(
    page: SampledPage, name: str, node: Described, entities: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the path of each value, its text, and the node that has it."""
    yield from _list_single(name, node)
    for part in node.values.keys() & {*_PARTS}:
        for value in node.values[part]:
            # Entities of their own are not parts.
            inner = None if value.text == name or value.text in entities else page.nodes.get(value.text)
            if inner is not None and value.is_node:
                yield from ((f"{part}.{each}", text, at) for each, text, at in _list_single(value.text, inner))


def _list_single(at: str, node: Described) -> Iterator[tuple[str, str, str]]:
    for name, values in node.values.items():
        if is_single(name):
            # Blank nodes of two pages are never the same.
            yield from (
                (name, value.text, at) for value in values if not (value.is_node and value.text.startswith(GENID))
            )


@dataclass(slots=True)
class _StatedValues:
    """All values of one property of one entity."""

    label: str
    type: str
    values: dict[str, dict[ClaimSource, str]] = field(default_factory=dict)
    """By text: the sources, each with its node."""

    def add(self, source: ClaimSource, node: str, text: str) -> None:
        if text in self.values or len(self.values) < _CLAIMS_READ:
            self.values.setdefault(text, {}).setdefault(source, node)

    def list_ambiguous(self) -> list[tuple[ClaimSource, str]]:
        """List pages that state several values of a node in several syntaxes, where it is unknown which states what."""
        counts = Counter((source, node) for sources in self.values.values() for source, node in sources.items())
        return [(source, node) for (source, node), count in counts.items() if count > 1 and not source.syntax]

    def split_by_syntax(self, source: ClaimSource, node: str, path: str, read_statements: ReadStatements) -> None:
        """Replace a page as a source by its syntaxes, if its statements show them for all its values."""
        name = path.rpartition(".")[2]
        stated = read_texts(read_statements(source.page) or {}, source.page, node, SCHEMA + name)
        known = {syntax: {normalise_text(name.lower(), text) for text in texts} for syntax, texts in stated.items()}
        by_text = {
            text: [syntax for syntax, meanings in known.items() if normalise_text(name.lower(), text) in meanings]
            for text, sources in self.values.items()
            if sources.get(source) == node
        }
        if all(by_text.values()):
            for text, syntaxes in by_text.items():
                del self.values[text][source]
                self.values[text].update({ClaimSource(source.page, syntax): node for syntax in syntaxes})

    def judge(self, key: str, path: str) -> Conflict | None:
        """Return the conflict of the values; None if there is none."""
        name = path.rpartition(".")[2]
        claims: dict[str, tuple[str, dict[Origin, ClaimSource]]] = {}
        for meaning, (text, sources) in zip(
            find_meanings(name.lower(), [*self.values]), self.values.items(), strict=True
        ):
            claims.setdefault(meaning, (text, {}))[1].update({(one.page, one.syntax): one for one in sources})
        origins = {meaning: sources.keys() for meaning, (_, sources) in claims.items()}
        if not find_sides(origins.items()):
            return None
        pages = {page for sources in origins.values() for page, _ in sources}
        is_within = any(
            find_sides(
                (meaning, [origin for origin in sources if origin[0] == page]) for meaning, sources in origins.items()
            )
            for page in sorted(pages)[:_PAGES_COMPARED]
        )
        ranked = sorted(claims.values(), key=lambda claim: (-len(claim[1]), claim[0]))
        shown = tuple(
            ConflictingClaim(text, tuple([*sources.values()][:_SOURCES]), len(sources))
            for text, sources in ranked[:_CLAIMS]
        )
        return Conflict(key, self.label, self.type, SCHEMA + name, path, shown, len(claims), is_within)
