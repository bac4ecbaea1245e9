"""Entities: an IRI enters; everything that pages state about it leaves, with sources, times, and what refers to it.

A value that several pages state is one value with several sources; contradicting values are all listed. Look-ups in the index
are bounded in number, so an entity on a million pages is read as fast as one on a single page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad, Store

from rdfspider.index.quads.counting import count_references, count_values, list_references
from rdfspider.index.quads.described import SOURCES_SHOWN, ValueReader, find_time, rank_source
from rdfspider.index.quads.selection import MERGE, RDF_TYPE_NODE, is_page
from rdfspider.results import MergeReason, NameKind, Source, StatedValue, ValueKind
from rdfspider.urls import is_valid_iri
from rdfspider.validate.conflict_rules import judge_values
from rdfspider.vocabulary.class_kinds import ClassKind, find_kind, sort_types
from rdfspider.vocabulary.labels import LABELS, SAME_AS, clean_label, is_visible
from rdfspider.vocabulary.names import find_short_name, put_known_first, shorten_iri

VALUES_SHOWN, REFERENCES_SHOWN, THINGS_SHOWN = 50, 50, 50
"""Values of a property, references to an entity at a time, entities on a page."""
NODES_MERGED = 100
"""How many nodes of one entity are read: its names with `same`, or its blank nodes on many pages."""


_TRIPLES_READ = 20_000
_NAME_CHARS = 200
_REFERENCES_COUNTED = 10_000
_SOURCES_COUNTED = 1_000
# Sources counted for a property with too many values, to find the most frequent ones.
_SOURCES_COMPARED = 100_000
_VALUES_READ = 4 * VALUES_SHOWN
# For all values together; beyond it, one source is read per value.
_SOURCES_READ = 50_000
_SAME_AS = sorted(SAME_AS)


@dataclass(frozen=True, slots=True)
class EntityProperty:
    """All values of a property."""

    iri: str
    values: tuple[StatedValue, ...]
    """Those with the most sources first."""
    value_count: int
    """How many there are; some may not be among `values`."""
    conflict: str = ""
    """The rule of `validate/conflict_rules.py` by which its values contradict each other; empty if they do not."""


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """An entity that refers to another, or is on a page."""

    id: str
    label: str = ""
    types: tuple[str, ...] = ()
    property: str = ""
    """The property by which it refers to the other entity."""
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """Everything stated about an entity. `entity["name"]` has the values of a property by its short name or its IRI."""

    iri: str
    label: str
    types: tuple[str, ...]
    properties: Mapping[str, EntityProperty]
    nodes: tuple[str, ...]
    """The IRIs and blank nodes that were read; several if merged."""
    same: tuple[str, ...]
    """What pages state to be the same (`owl:sameAs`, `schema:sameAs`), whether or not it is among the members."""
    references: tuple[RelatedEntity, ...]
    """Some of the entities that refer to it, from `start` on."""
    reference_count: int
    has_more_references: bool
    """Whether there are more than were counted."""
    things: tuple[RelatedEntity, ...]
    """If the IRI is a page's: some of the entities on it."""
    is_cut: bool
    """Whether not everything was read; then counts are too low."""
    reference_counts: Mapping[str, int] = field(default_factory=dict)
    """The number of references by property."""
    members: tuple[str, ...] = ()
    """The IRIs (or IDs) of all things that were found to be one, the canonical one first; empty if it is one thing alone."""
    reasons: tuple[MergeReason, ...] = ()
    """Why these are one."""
    apart: tuple[MergeReason, ...] = ()
    """Why others are not one with it, although pages give evidence for it."""

    def __getitem__(self, name: str) -> tuple[StatedValue, ...]:
        if name in self.properties:
            return self.properties[name].values
        found = [values for iri, values in self.properties.items() if _is_called(iri, name)]
        if not found:
            raise KeyError(name)
        return tuple(value for values in found for value in values.values)

    def __contains__(self, name: object) -> bool:
        return name in self.properties or any(_is_called(iri, str(name)) for iri in self.properties)

    def __iter__(self) -> Iterator[str]:
        return iter(self.properties)

    @property
    def type_count(self) -> int:
        """How many types it has; some may not be among `types`."""
        found = self.properties.get(RDF_TYPE_NODE.value)
        return found.value_count if found else 0

    @property
    def sources(self) -> tuple[Source, ...]:
        """The pages behind what is shown, the newest first."""
        pages = {
            source.page: source
            for found in self.properties.values()
            for value in found.values
            for source in value.sources
        }
        return tuple(sorted(pages.values(), key=rank_source))

    def _repr_html_(self) -> str:
        from rdfspider.search.notebook import draw_entity

        return draw_entity(self)


def read_entity(
    store: Store, iri: str, nodes: Iterable[str], *, same: bool = False, start: int = 0, via: str = ""
) -> Entity | None:
    """Read what pages state about an entity with these nodes; None if nothing. `same` merges its other names.

    References to it are listed from `start` on; with `via`, only those by that property.
    """
    return _EntityReader(store).read(iri, list(islice(nodes, NODES_MERGED + 1)), same, start, via)


def find_uses(store: Store, iri: str) -> list[NameKind]:
    """Return as what pages use an IRI: as a class, a property, both or neither."""
    if not is_valid_iri(iri):
        return []
    term = NamedNode(iri)
    patterns = (
        (NameKind.CLASS, store.quads_for_pattern(None, RDF_TYPE_NODE, term, MERGE)),
        (NameKind.PROPERTY, store.quads_for_pattern(None, term, None, MERGE)),
    )
    return [kind for kind, quads in patterns if next(iter(quads), None) is not None]


def was_fetched(store: Store, iri: str) -> bool:
    """Return whether an IRI is the URL of a fetched page."""
    return is_valid_iri(iri) and find_time(store, iri) > 0


class _EntityReader:
    """Reads one entity from the store within bounds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._values = ValueReader(store, _TRIPLES_READ)
        self._sources_left = _SOURCES_READ
        self._is_cut = False

    def read(self, iri: str, nodes: list[str], same: bool, start: int, via: str) -> Entity | None:
        self._is_cut = len(nodes) > NODES_MERGED
        nodes = nodes[:NODES_MERGED]
        if same:
            nodes = self._follow_same(nodes)
        triples = [quad for node in nodes for quad in self._values.read_triples(node)]
        counts, has_more_references = count_references(self._store, nodes, _REFERENCES_COUNTED)
        if len(nodes) > 1:
            # Its names refer to each other.
            counts = [counted for counted in counts if counted.property not in SAME_AS]
        things = self._read_things(iri)
        if not (triples or counts or things):
            return None
        by_property: dict[str, list[Quad]] = {}
        for quad in triples:
            by_property.setdefault(quad.predicate.value, []).append(quad)
        kinds = _find_kinds(triples)
        # What documents tell of a thing comes after its own properties.
        nearest = {name: min(kinds[quad.subject] for quad in quads) for name, quads in by_property.items()}
        properties = {
            name: self._read_property(name, by_property[name])
            for name in sorted(by_property, key=lambda name: (nearest[name], name))
        }
        types = properties.get(RDF_TYPE_NODE.value)
        by_name: dict[str, int] = {}
        for counted in counts:
            by_name[counted.property] = by_name.get(counted.property, 0) + counted.uses
        chosen = [counted for counted in counts if via in ("", counted.property)]
        return Entity(
            iri=iri,
            label=_choose_label(properties, by_property, kinds),
            types=_choose_types(types, by_property[RDF_TYPE_NODE.value]) if types else (),
            properties=properties,
            nodes=tuple(nodes),
            same=self._list_same(iri, nodes, properties),
            references=self._read_references(list_references(self._store, nodes, chosen, start, REFERENCES_SHOWN)),
            reference_count=sum(by_name.values()),
            has_more_references=has_more_references,
            things=things,
            is_cut=self._is_cut or self._values.triples_left <= 0 or has_more_references,
            reference_counts=by_name,
        )

    def _list_same(self, iri: str, nodes: Sequence[str], properties: Mapping[str, EntityProperty]) -> tuple[str, ...]:
        """List some of the names that are stated to be the same, in either direction."""
        found = {value.text: None for name in _SAME_AS if name in properties for value in properties[name].values}
        for node in nodes:
            for predicate in _SAME_AS:
                inward = self._store.quads_for_pattern(None, NamedNode(predicate), NamedNode(node), MERGE)
                for quad in islice(inward, max(0, 2 * VALUES_SHOWN - len(found))):
                    if isinstance(quad.subject, NamedNode) and quad.subject.value not in nodes:
                        found[quad.subject.value] = None
        return tuple(other for other in found if other != iri)

    def _follow_same(self, nodes: list[str]) -> list[str]:
        """Return the nodes and all names stated to be the same, in either direction, transitively."""
        found = dict.fromkeys(nodes)
        waiting = list(nodes)
        while waiting:
            node = NamedNode(waiting.pop(0))
            for predicate in map(NamedNode, _SAME_AS):
                outward = (quad.object for quad in self._store.quads_for_pattern(node, predicate, None, MERGE))
                inward = (quad.subject for quad in self._store.quads_for_pattern(None, predicate, node, MERGE))
                # One more than the limit shows that there are more.
                for other in (*islice(outward, NODES_MERGED + 1), *islice(inward, NODES_MERGED + 1)):
                    if not isinstance(other, NamedNode) or other.value in found:
                        continue
                    if len(found) == NODES_MERGED:
                        self._is_cut = True
                        return list(found)
                    found[other.value] = None
                    waiting.append(other.value)
        return list(found)

    def _read_property(self, predicate: str, quads: list[Quad]) -> EntityProperty:
        # Equal values of several nodes are one value; blank nodes are compared by their content.
        merged: dict[object, StatedValue] = {}
        pages_by_value: dict[object, set[str]] = {}
        if len(quads) > _VALUES_READ:
            # The store's order is arbitrary: values that most pages state must not be left out.
            quads = self._sort_by_pages(predicate, quads)
        for quad in quads[:_VALUES_READ]:
            value, pages = self._read_value(quad)
            key = _identify_value(value)
            if before := merged.get(key):
                sources = tuple(sorted({*before.sources, *value.sources}, key=rank_source))
                # A page that states it twice is one source, as far as sources are known.
                twice = len(before.sources) + len(value.sources) - len(sources)
                count = before.source_count + value.source_count - twice
                has_more = before.has_more_sources or value.has_more_sources
                value = replace(before, sources=sources[:SOURCES_SHOWN], source_count=count, has_more_sources=has_more)
            merged[key] = value
            pages_by_value.setdefault(key, set()).update(pages)
        stated = [(value, [(page, "") for page in pages_by_value[key]]) for key, value in merged.items()]
        conflict = judge_values(predicate, stated) if len(stated) > 1 else ""
        values = sorted(merged.values(), key=lambda value: (-value.source_count, value.text, value.language))
        unread = len(quads) - min(len(quads), _VALUES_READ)
        return EntityProperty(predicate, tuple(values[:VALUES_SHOWN]), len(merged) + unread, conflict)

    def _sort_by_pages(self, predicate: str, quads: list[Quad]) -> list[Quad]:
        """Sort statements by the number of pages, the most first."""
        nodes = dict.fromkeys(quad.subject for quad in quads)
        most = _SOURCES_COMPARED // len(nodes)
        counts: dict[tuple[object, object], int] = {}
        is_whole = True
        for node in nodes:
            found = count_values(self._store, node.value, predicate, most) if isinstance(node, NamedNode) else []
            is_whole &= sum(count for _, count in found) < most
            counts.update(((node, term), count) for term, count in found)
        if is_whole:
            return sorted(quads, key=lambda quad: -counts.get((quad.subject, quad.object), 0))
        # Some have so many pages that others were not reached: then it only matters whether several pages state a value.
        return sorted(quads, key=lambda quad: -len(self._values.list_pages(quad, 2)))

    def _read_value(self, quad: Quad) -> tuple[StatedValue, list[str]]:
        """Return a value, and the pages that state it."""
        value = self._values.describe(quad.object, predicate=quad.predicate.value)
        most = min(_SOURCES_COUNTED, max(1, self._sources_left))
        pages = self._values.list_pages(quad, most + 1)
        has_more = len(pages) > most
        self._is_cut |= has_more
        self._sources_left -= len(pages)
        sources = self._values.read_sources(pages[:most])
        count = min(len(pages), most)
        return replace(value, sources=sources, source_count=count, has_more_sources=has_more), pages

    def _read_references(self, quads: Iterable[Quad]) -> tuple[RelatedEntity, ...]:
        """Describe the subjects of references, sorted by property, those with labels first."""
        shown: list[RelatedEntity] = []
        for quad in quads:
            if isinstance(quad.subject, NamedNode):
                label, types = self._values.name(quad.subject.value)
                sources = self._values.read_sources(self._values.list_pages(quad, 10 * SOURCES_SHOWN))
                source = sources[0] if sources else None
                shown.append(RelatedEntity(quad.subject.value, label, types, quad.predicate.value, source))
        return tuple(sorted(shown, key=lambda thing: (thing.property, not thing.label, thing.label, thing.id)))

    def _read_things(self, page: str) -> tuple[RelatedEntity, ...]:
        """Return the entities on a page that have types, those with labels first."""
        graph = NamedNode(page)
        found: dict[str, None] = {}
        if is_page(graph):
            for quad in islice(self._store.quads_for_pattern(None, RDF_TYPE_NODE, None, graph), 4 * THINGS_SHOWN):
                if isinstance(quad.subject, NamedNode):
                    found[quad.subject.value] = None
        things = [RelatedEntity(node, *self._values.name(node)) for node in found]
        return tuple(sorted(things, key=lambda thing: (not thing.label, thing.label, thing.id))[:THINGS_SHOWN])


def _choose_types(types: EntityProperty, quads: Iterable[Quad]) -> tuple[str, ...]:
    """Return types in the order of cards, those of well-known vocabularies even if they are not among the values shown."""
    stated = (quad.object.value for quad in quads if isinstance(quad.object, NamedNode))
    found = dict.fromkeys((*(value.text for value in types.values), *stated))
    return tuple(sort_types(put_known_first(found))[:VALUES_SHOWN])


def _find_kinds(triples: Iterable[Quad]) -> dict[object, int]:
    """Return the most informative kind of each subject's classes."""
    kinds: dict[object, int] = {}
    for quad in triples:
        kind = len(ClassKind)
        if quad.predicate == RDF_TYPE_NODE and isinstance(quad.object, NamedNode):
            kind = find_kind(quad.object.value)
        kinds[quad.subject] = min(kind, kinds.get(quad.subject, kind))
    return kinds


def _choose_label(
    properties: Mapping[str, EntityProperty], quads: Mapping[str, Sequence[Quad]], kinds: Mapping[object, int]
) -> str:
    """Return the label of the best rank that most pages state; a thing's own comes before those of documents about it."""
    found = []
    for iri in LABELS.keys() & properties.keys():
        nearest: dict[str, int] = {}
        for quad in quads[iri]:
            if isinstance(quad.object, Literal):
                kind = kinds[quad.subject]
                nearest[quad.object.value] = min(kind, nearest.get(quad.object.value, kind))
        found += [
            (nearest.get(value.text, len(ClassKind)), LABELS[iri], -value.source_count, clean_label(value.text))
            for value in properties[iri].values
            if value.kind == ValueKind.LITERAL and is_visible(value.text[:_NAME_CHARS])
        ]
    return min(found)[-1] if found else ""


def _is_called(iri: str, name: str) -> bool:
    return find_short_name(iri) == name.lower() or shorten_iri(iri) == name


def _identify_value(value: StatedValue) -> object:
    """Return a key that is equal for equal values; blank nodes are compared by their content."""
    if value.items:
        return (*map(_identify_value, value.items), value.rest)
    if value.kind != ValueKind.BLANK or not value.inside:
        return value.kind, value.text, value.language, value.datatype
    return tuple((name, frozenset(map(_identify_value, values))) for name, values in value.inside.items())
