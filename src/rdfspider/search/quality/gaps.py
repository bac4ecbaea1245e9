"""Missing properties: sampled pages of a site enter; gaps such as "12 of 40 products have no price" leave, with examples.

What is recommended is the profile `usual` of `validate/`: it says what is usual, not what is allowed. Statements of several pages
or syntaxes about an entity count together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rdfspider.search.quality.samples import Described, SampledPage
from rdfspider.validate.profiles import Requirement, load_profile
from rdfspider.validate.requirements import STANDS_FOR_ITSELF
from rdfspider.vocabulary.classes import fold_class
from rdfspider.vocabulary.prefixes import SCHEMA

_EXAMPLES = 3
_THINGS = 20_000
_PROFILE = "usual"


@lru_cache(maxsize=4096)
def find_recommendations(iri: str) -> tuple[str, tuple[Requirement, ...]]:
    """Return the class whose recommendations apply, itself or a superclass, and these; often none."""
    if not iri.startswith(SCHEMA):
        return "", ()
    for rule in load_profile(_PROFILE).find_rules(frozenset({fold_class(iri).removeprefix(SCHEMA)})):
        return SCHEMA + rule.name, rule.requirements
    return "", ()


def say_path(path: str) -> str:
    """Write a path in words: `price of offers` for `offers.price`."""
    before, dot, after = path.partition(".")
    return f"{after} of {before}" if dot else path


@dataclass(frozen=True, slots=True)
class GapExample:
    """An entity, and a page that describes it."""

    id: str
    label: str
    page: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A property that some entities of a class lack but should have."""

    type: str
    property: str
    """The IRI of the last property of the path."""
    path: str
    """`price`, or `offers.price`."""
    is_needed: bool
    missing: int
    things: int
    """How many entities could have it."""
    among: str
    """Which entities, as a relative clause: `that stand for themselves and have offers`. Empty for all of the class."""
    examples: tuple[GapExample, ...]


@dataclass(slots=True)
class SampledEntity:
    """An entity of the site, as all pages of the sample describe it."""

    id: str
    label: str = ""
    page: str = ""
    types: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    """The properties that it has."""
    inside: dict[str, list[set[str]]] = field(default_factory=dict)
    """By property: the properties of each of its values that the page describes."""
    is_part: bool = True
    """Whether it is a part of something else on all pages."""


def find_gaps(pages: Iterable[SampledPage], entities: Mapping[str, str]) -> tuple[Gap, ...]:
    """Find gaps: needed properties first, then those that most entities lack; `entities` has the entity's id of nodes."""
    counts: dict[tuple[str, Requirement], _Count] = {}
    for thing in collect_entities(pages, entities).values():
        if thing.names <= {"url"}:
            # A class and a URL alone only refer to something that is described elsewhere.
            continue
        found: dict[str, tuple[Requirement, ...]] = dict(find_recommendations(iri) for iri in thing.types)
        for iri, recommendations in found.items():
            for recommendation in recommendations:
                if recommendation.is_required or not thing.is_part:
                    _count_recommendation(counts.setdefault((iri, recommendation), _Count()), recommendation, thing)
    gaps = [
        Gap(
            iri,
            SCHEMA + recommendation.names[0],
            recommendation.path,
            recommendation.is_required,
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


def _tell_among(recommendation: Requirement) -> str:
    whole = "" if recommendation.is_required else "stand for themselves"
    having = f"have {recommendation.of}" if recommendation.of else ""
    conditions = " and ".join(filter(None, (whole, having)))
    return f"that {conditions}" if conditions else ""


def collect_entities(pages: Iterable[SampledPage], entities: Mapping[str, str]) -> dict[str, SampledEntity]:
    """Collect the entities that have a class, by id."""
    things: dict[str, SampledEntity] = {}
    for page in pages:
        parts = {
            value.text
            for node in page.nodes.values()
            for name, values in node.values.items()
            if name not in STANDS_FOR_ITSELF
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
        # Its IRI is a web address.
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


def _count_recommendation(count: _Count, recommendation: Requirement, thing: SampledEntity) -> None:
    if not recommendation.of:
        is_missing = thing.names.isdisjoint(recommendation.names)
    elif inside := thing.inside.get(recommendation.of):
        is_missing = any(names.isdisjoint(recommendation.names) for names in inside)
    else:
        # A missing value is another gap, and an undescribed one may be on another page.
        return
    count.things += 1
    if is_missing:
        count.missing += 1
        # Nameless entities on one page look the same.
        is_new = (thing.label, thing.page) not in [(one.label, one.page) for one in count.examples]
        if is_new and len(count.examples) < _EXAMPLES:
            count.examples.append(GapExample(thing.id, thing.label, thing.page))
