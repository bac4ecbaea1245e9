"""An IRI in, everything that pages say of it out: by whom, when, and what points at it.

What several pages say is one value with several sources; values that contradict each other stand side by side. Each look is one
at an index, and their number is bounded, so that what a million pages speak of is shown as soon as what one does.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad, Store

from rdfspider.index.labels import LABELS, SAME_AS
from rdfspider.index.names import find_short_name, shorten_iri
from rdfspider.index.terms import GENID
from rdfspider.search.quads import MERGE, RDF_TYPE, is_page
from rdfspider.search.sources import Source, find_source

VALUES_SHOWN, SOURCES_SHOWN, REFERENCES_SHOWN, THINGS_SHOWN = 50, 10, 50, 50
"""Of a property, of a value, to an entity, on a page."""
NODES_MERGED = 100
"""So many names of one thing are read, whether `same` or a thing's blank nodes on many pages bring them."""


_TRIPLES_READ = 20_000
_REFERENCES_COUNTED = 10_000
_SOURCES_COUNTED = 1_000
# Of all values of a property that has too many, from 2 to 10 of each: they tell what many pages say from what one says.
_SOURCES_COMPARED = 40_000
_VALUES_READ = 4 * VALUES_SHOWN
# Of all values together; when they are used up one source is enough for each value.
_SOURCES_READ = 50_000
_NAMES_READ = 1_000
_DEPTH = 4
_NESTED_TRIPLES = 100
_SAME_AS = sorted(SAME_AS)


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a property, and who says so."""

    text: str
    """The text of a literal; else an IRI, or `genid:…` of a thing without one."""
    kind: str = "literal"
    """literal, iri or blank."""
    language: str = ""
    datatype: str = ""
    label: str = ""
    """Of an IRI or a blank node: how it is called."""
    inside: Mapping[str, tuple["Value", ...]] = field(default_factory=dict)
    """Of a blank node: what is said of it, by property."""
    sources: tuple[Source, ...] = ()
    """Some of them, the newest first."""
    source_count: int = 0
    has_more_sources: bool = False
    """Whether there are more than were counted."""


@dataclass(frozen=True, slots=True)
class Property:
    """All values of a property."""

    iri: str
    values: tuple[Value, ...]
    """Those with most sources first."""
    value_count: int
    """How many there are; some may not be among `values`."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something else that has to do with an entity."""

    id: str
    label: str = ""
    types: tuple[str, ...] = ()
    property: str = ""
    """By which it points at the entity."""
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """Everything said of a thing. `entity["name"]` has the values of a property by its short name or its IRI."""

    iri: str
    label: str
    types: tuple[str, ...]
    properties: Mapping[str, Property]
    nodes: tuple[str, ...]
    """The IRIs and blank nodes that were read: more than one where several were merged."""
    same: tuple[str, ...]
    """What pages say is the same thing (`owl:sameAs`, `schema:sameAs`); merged only where that was asked for."""
    references: tuple[Thing, ...]
    """Some of what points at it."""
    reference_count: int
    has_more_references: bool
    """Whether there are more than were counted."""
    things: tuple[Thing, ...]
    """Where the IRI is a page's: some of the things that it speaks of."""
    is_cut: bool
    """Whether so much is said that not all of it was read; then counts are too low."""

    def __getitem__(self, name: str) -> tuple[Value, ...]:
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
    def sources(self) -> tuple[Source, ...]:
        """The pages behind what is shown, the newest first."""
        pages = {
            source.page: source
            for found in self.properties.values()
            for value in found.values
            for source in value.sources
        }
        return tuple(sorted(pages.values(), key=_rank_source))

    def _repr_html_(self) -> str:
        from rdfspider.search.markup import draw_entity

        return draw_entity(self)


def read_entity(store: Store, iri: str, nodes: Iterable[str], *, same: bool = False) -> Entity | None:
    """What the pages say of a thing with these names; None where none says anything. `same` adds its other names."""
    return _Reader(store).read(iri, list(islice(nodes, NODES_MERGED + 1)), same)


class _Reader:
    """One question's looks at the store, and how many it may still take."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pages: dict[str, Source] = {}
        self._labels: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._triples_left = _TRIPLES_READ
        self._sources_left = _SOURCES_READ
        self._is_cut = False

    def read(self, iri: str, nodes: list[str], same: bool) -> Entity | None:
        self._is_cut = len(nodes) > NODES_MERGED
        nodes = nodes[:NODES_MERGED]
        if same:
            nodes = self._follow_same(nodes)
        triples = [quad for node in nodes for quad in self._read_triples(node)]
        references, reference_count, has_more_references = self._read_references(nodes)
        things = self._read_things(iri)
        if not (triples or references or things):
            return None
        by_property: dict[str, list[Quad]] = {}
        for quad in triples:
            by_property.setdefault(quad.predicate.value, []).append(quad)
        properties = {
            predicate: self._read_property(predicate, by_property[predicate]) for predicate in sorted(by_property)
        }
        types = properties.get(RDF_TYPE.value)
        named = {value.text: None for name in _SAME_AS if name in properties for value in properties[name].values}
        return Entity(
            iri=iri,
            label=_choose_label(properties),
            types=tuple(value.text for value in types.values) if types else (),
            properties=properties,
            nodes=tuple(nodes),
            same=tuple(other for other in named if other != iri),
            references=references,
            reference_count=reference_count,
            has_more_references=has_more_references,
            things=things,
            is_cut=self._is_cut or self._triples_left <= 0 or has_more_references,
        )

    def _read_triples(self, node: str) -> Iterator[Quad]:
        for quad in self._store.quads_for_pattern(NamedNode(node), None, None, MERGE):
            if self._triples_left <= 0:
                return
            self._triples_left -= 1
            yield quad

    def _follow_same(self, nodes: list[str]) -> list[str]:
        """The names of a thing and of all that is said to be the same, in either direction, step by step."""
        found = dict.fromkeys(nodes)
        waiting = list(nodes)
        while waiting:
            node = NamedNode(waiting.pop(0))
            for predicate in map(NamedNode, _SAME_AS):
                outward = (quad.object for quad in self._store.quads_for_pattern(node, predicate, None, MERGE))
                inward = (quad.subject for quad in self._store.quads_for_pattern(None, predicate, node, MERGE))
                # One more than there may be tells that there are more.
                for other in (*islice(outward, NODES_MERGED + 1), *islice(inward, NODES_MERGED + 1)):
                    if not isinstance(other, NamedNode) or other.value in found:
                        continue
                    if len(found) == NODES_MERGED:
                        self._is_cut = True
                        return list(found)
                    found[other.value] = None
                    waiting.append(other.value)
        return list(found)

    def _read_property(self, predicate: str, quads: list[Quad]) -> Property:
        # What several names or blank nodes of a thing say alike is one value; what it is made of tells.
        merged: dict[object, Value] = {}
        if len(quads) > _VALUES_READ:
            # The store has them in no order that means anything: what most pages say must not be among those left out.
            most = min(10, max(2, _SOURCES_COMPARED // len(quads)))
            quads = sorted(quads, key=lambda quad: -len(self._list_pages(quad, most)))
        for quad in quads[:_VALUES_READ]:
            value = self._read_value(quad)
            key = _identify_value(value)
            if before := merged.get(key):
                sources = tuple(sorted({*before.sources, *value.sources}, key=_rank_source))
                # A page that says so twice is one source, as far as sources are known.
                twice = len(before.sources) + len(value.sources) - len(sources)
                count = before.source_count + value.source_count - twice
                has_more = before.has_more_sources or value.has_more_sources
                value = replace(before, sources=sources[:SOURCES_SHOWN], source_count=count, has_more_sources=has_more)
            merged[key] = value
        values = sorted(merged.values(), key=lambda value: (-value.source_count, value.text, value.language))
        unread = len(quads) - min(len(quads), _VALUES_READ)
        return Property(predicate, tuple(values[:VALUES_SHOWN]), len(merged) + unread)

    def _read_value(self, quad: Quad) -> Value:
        value = self._describe(quad.object, _DEPTH)
        most = min(_SOURCES_COUNTED, max(1, self._sources_left))
        pages = self._list_pages(quad, most + 1)
        has_more = len(pages) > most
        self._is_cut |= has_more
        self._sources_left -= len(pages)
        sources = self._read_sources(pages[:most])
        return replace(value, sources=sources, source_count=min(len(pages), most), has_more_sources=has_more)

    def _list_pages(self, quad: Quad, most: int) -> list[str]:
        """Pages that say so, up to a number."""
        found = self._store.quads_for_pattern(quad.subject, quad.predicate, quad.object, None)
        # The merge and the facts about fetches are no pages.
        pages = (page.graph_name for page in islice(found, most + 2))
        return [page.value for page in pages if isinstance(page, NamedNode) and is_page(page)][:most]

    def _read_sources(self, pages: list[str]) -> tuple[Source, ...]:
        shown = sorted((self._find_source(page) for page in pages[: 10 * SOURCES_SHOWN]), key=_rank_source)
        return tuple(shown[:SOURCES_SHOWN])

    def _find_source(self, page: str) -> Source:
        if page not in self._pages:
            self._pages[page] = find_source(self._store, page)
        return self._pages[page]

    def _describe(self, term: object, depth: int) -> Value:
        """A term without its sources; what is said of a blank node is inside, as far as the depth allows."""
        if isinstance(term, Literal):
            datatype = term.datatype.value
            plain = term.language or datatype == "http://www.w3.org/2001/XMLSchema#string"
            return Value(term.value, language=term.language or "", datatype="" if plain else datatype)
        if not isinstance(term, NamedNode):
            return Value(str(term), "iri")
        label, _ = self._name(term.value)
        if not term.value.startswith(GENID):
            return Value(term.value, "iri", label=label)
        inside: dict[str, list[Value]] = {}
        if depth:
            for quad in islice(self._read_triples(term.value), _NESTED_TRIPLES):
                inside.setdefault(quad.predicate.value, []).append(self._describe(quad.object, depth - 1))
        return Value(term.value, "blank", label=label, inside={name: tuple(inside[name]) for name in sorted(inside)})

    def _name(self, node: str) -> tuple[str, tuple[str, ...]]:
        """How something is called, and its types; of the first thousand things, since each may have many statements."""
        if node not in self._labels:
            if len(self._labels) == _NAMES_READ:
                return "", ()
            labels: list[tuple[int, str]] = []
            types: list[str] = []
            for quad in islice(self._store.quads_for_pattern(NamedNode(node), None, None, MERGE), _NESTED_TRIPLES):
                if quad.predicate == RDF_TYPE and isinstance(quad.object, NamedNode):
                    types.append(quad.object.value)
                elif quad.predicate.value in LABELS and isinstance(quad.object, Literal) and quad.object.value.strip():
                    labels.append((LABELS[quad.predicate.value], " ".join(quad.object.value.split())))
            self._labels[node] = (min(labels)[1] if labels else "", tuple(sorted(types)))
        return self._labels[node]

    def _read_references(self, nodes: list[str]) -> tuple[tuple[Thing, ...], int, bool]:
        shown: list[Thing] = []
        count = 0
        for node in nodes:
            for quad in self._store.quads_for_pattern(None, None, NamedNode(node), MERGE):
                if not isinstance(quad.subject, NamedNode):
                    continue
                if count == _REFERENCES_COUNTED:
                    return _sort_references(shown), count, True
                count += 1
                if len(shown) < REFERENCES_SHOWN:
                    label, types = self._name(quad.subject.value)
                    sources = self._read_sources(self._list_pages(quad, 10 * SOURCES_SHOWN))
                    source = sources[0] if sources else None
                    shown.append(Thing(quad.subject.value, label, types, quad.predicate.value, source))
        return _sort_references(shown), count, False

    def _read_things(self, page: str) -> tuple[Thing, ...]:
        """The things of a page that have types; those with names first."""
        graph = NamedNode(page)
        found: dict[str, None] = {}
        if is_page(graph):
            for quad in islice(self._store.quads_for_pattern(None, RDF_TYPE, None, graph), 4 * THINGS_SHOWN):
                if isinstance(quad.subject, NamedNode):
                    found[quad.subject.value] = None
        things = [Thing(node, *self._name(node)) for node in found]
        return tuple(sorted(things, key=lambda thing: (not thing.label, thing.label, thing.id))[:THINGS_SHOWN])


def _sort_references(things: list[Thing]) -> tuple[Thing, ...]:
    """By property, those with names first."""
    return tuple(sorted(things, key=lambda thing: (thing.property, not thing.label, thing.label, thing.id)))


def _choose_label(properties: Mapping[str, Property]) -> str:
    """The name of the best rank that most pages give."""
    named = [
        (rank, -value.source_count, " ".join(value.text.split()))
        for iri, rank in LABELS.items()
        for value in (properties[iri].values if iri in properties else ())
        if value.kind == "literal" and value.text.strip()
    ]
    return min(named)[2] if named else ""


def _is_called(iri: str, name: str) -> bool:
    return find_short_name(iri) == name.lower() or shorten_iri(iri) == name


def _identify_value(value: Value) -> object:
    """The same for values that say the same: blank nodes are told apart by what is inside."""
    if value.kind != "blank" or not value.inside:
        return value.kind, value.text, value.language, value.datatype
    return tuple((name, frozenset(map(_identify_value, values))) for name, values in value.inside.items())


def _rank_source(source: Source) -> tuple[float, str]:
    return -source.fetched, source.page
