"""Pages of a site in, what its things lack out: "12 of 40 products have no price", with examples.

What several pages, or several syntaxes of a page, say of a thing counts together: a list of products need not say all again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rdfspider.search.quality.recommendations import Recommendation, find_recommendations
from rdfspider.search.quality.samples import Described, SampledPage
from rdfspider.vocabulary.prefixes import SCHEMA

_EXAMPLES = 3
_THINGS = 20_000
# What is pointed at by one of these stands for itself; what is pointed at otherwise is a part of something, or a mention, of
# which people do not say everything.
_STANDS_FOR_ITSELF = frozenset(
    ("mainEntity", "mainEntityOfPage", "itemListElement", "item", "about", "hasPart", "isPartOf")
)


@dataclass(frozen=True, slots=True)
class GapExample:
    """A thing, and a page that speaks of it."""

    id: str
    label: str
    page: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A property that things of a class should have, and some have not."""

    type: str
    property: str
    """The IRI, or for what hangs on another property the last part of the path."""
    path: str
    """`price`, or `offers.price`."""
    is_needed: bool
    missing: int
    things: int
    """How many could have it."""
    among: str
    """Which those are, as the end of a sentence: `that stand for themselves and have offers`. Empty for all of the class."""
    examples: tuple[GapExample, ...]


@dataclass(slots=True)
class SampledEntity:
    """A thing of the site, as all pages that were looked at describe it."""

    id: str
    label: str = ""
    page: str = ""
    types: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    """The properties that it has."""
    inside: dict[str, list[set[str]]] = field(default_factory=dict)
    """By property: the properties of the things that it leads to, where the page describes them."""
    is_part: bool = True
    """Whether on all pages something else has it as a part."""


def find_gaps(pages: Iterable[SampledPage], entities: Mapping[str, str]) -> tuple[Gap, ...]:
    """What is missing: what is needed first, then what most things lack. `entities` has the id of each node that has one."""
    counts: dict[tuple[str, Recommendation], _Count] = {}
    for thing in collect_entities(pages, entities).values():
        if thing.names <= {"url"}:
            # A class and an address alone refer to something that is described elsewhere.
            continue
        found: dict[str, tuple[Recommendation, ...]] = dict(find_recommendations(iri) for iri in thing.types)
        for iri, recommendations in found.items():
            for recommendation in recommendations:
                if recommendation.is_needed or not thing.is_part:
                    _count_recommendation(counts.setdefault((iri, recommendation), _Count()), recommendation, thing)
    gaps = [
        Gap(
            iri,
            SCHEMA + recommendation.names[0],
            recommendation.path,
            recommendation.is_needed,
            count.missing,
            count.things,
            _tell_among(recommendation),
            tuple(count.examples),
        )
        for (iri, recommendation), count in counts.items()
        if count.missing
    ]
    return tuple(
        sorted(gaps, key=lambda gap: (not gap.is_needed, -gap.missing / gap.things, -gap.missing, gap.type, gap.path))
    )


def _tell_among(recommendation: Recommendation) -> str:
    whole = "" if recommendation.is_needed else "stand for themselves"
    having = f"have {recommendation.of}" if recommendation.of else ""
    told = " and ".join(filter(None, (whole, having)))
    return f"that {told}" if told else ""


def collect_entities(pages: Iterable[SampledPage], entities: Mapping[str, str]) -> dict[str, SampledEntity]:
    """The things that have a class, by id."""
    things: dict[str, SampledEntity] = {}
    for page in pages:
        parts = {
            value.text
            for node in page.nodes.values()
            for name, values in node.values.items()
            if name not in _STANDS_FOR_ITSELF
            for value in values
            if value.is_node
        }
        for name, node in page.nodes.items():
            if not node.types:
                continue
            key = entities.get(name, name)
            thing = things.get(key)
            if thing is None:
                if len(things) == _THINGS:
                    return things
                thing = things[key] = SampledEntity(key, node.label, page.url)
            _describe(thing, name, node, page, name in parts)
    return things


def _describe(thing: SampledEntity, name: str, node: Described, page: SampledPage, is_part: bool) -> None:
    thing.label = thing.label or node.label
    thing.types.update(node.types)
    thing.names.update(node.values)
    if name.startswith(("http://", "https://")):
        # It is called by an address.
        thing.names.add("url")
    thing.is_part &= is_part
    for each, values in node.values.items():
        for value in values:
            inner = page.nodes.get(value.text) if value.is_node and value.text != name else None
            if inner is not None and inner.values:
                thing.inside.setdefault(each, []).append({*inner.values})


@dataclass(slots=True)
class _Count:
    missing: int = 0
    things: int = 0
    examples: list[GapExample] = field(default_factory=list)


def _count_recommendation(count: _Count, recommendation: Recommendation, thing: SampledEntity) -> None:
    if not recommendation.of:
        is_missing = thing.names.isdisjoint(recommendation.names)
    elif inside := thing.inside.get(recommendation.of):
        is_missing = any(names.isdisjoint(recommendation.names) for names in inside)
    else:
        # That it leads nowhere is another gap, or another page may tell.
        return
    count.things += 1
    if is_missing:
        count.missing += 1
        # Things without a name that are on one page look the same.
        is_new = (thing.label, thing.page) not in [(one.label, one.page) for one in count.examples]
        if is_new and len(count.examples) < _EXAMPLES:
            count.examples.append(GapExample(thing.id, thing.label, thing.page))
