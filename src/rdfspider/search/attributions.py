"""Attributions: which page states which value of an entity's property, in which syntax.

Also which pages state its other names, and all statements about it as N-Quads."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf

import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from rdfspider.index.log.statements import address_page
from rdfspider.index.quads.counting import count_values
from rdfspider.index.quads.described import SOURCES_SHOWN, ValueReader, describe_literal
from rdfspider.index.quads.selection import MERGE, is_page, restore_blank_nodes, walk_statements
from rdfspider.results import Source, StatedValue, ValueKind
from rdfspider.search.entity import Entity, EntityProperty
from rdfspider.search.page_order import Places, number_places, read_literal
from rdfspider.urls import is_valid_iri
from rdfspider.validate.conflict_rules import SINGLE, Origin, judge_values
from rdfspider.vocabulary.labels import SAME_AS
from rdfspider.vocabulary.terms import GENID, Fold, blank_prefix

STATEMENTS_DUMPED = 20_000
ReadStatements = Callable[[str], Mapping[str, str] | None]
"""Returns a page's statements by syntax, by its URL; None if they are not on record."""

_ATTRIBUTIONS_COUNTED = 20_000
_TRIPLES_READ = 5_000
_ALIAS_STATEMENTS = 200
_PAGES_OF_ENTITY, _PAGES_OF_ATTRIBUTIONS = 5, 20
_PAGE_CHARS = 1 << 20
_TERMS_COMPARED = 500


@dataclass(frozen=True, slots=True)
class Attribution:
    """A value, and one page that states it."""

    value: StatedValue
    """Without sources."""
    source: Source
    node: str
    """The page's name for the entity."""


@dataclass(frozen=True, slots=True)
class Attributions:
    """A section of the attributions of a property."""

    attributions: tuple[Attribution, ...]
    count: int
    """How many there are, over all values and pages."""
    has_more: bool
    """Whether there are more than were counted."""


def read_attributions(store: Store, nodes: Sequence[str], predicate: str, start: int, most: int) -> Attributions:
    """Read up to `most` attributions: values with the most pages first, then in the store's order."""
    counts: list[tuple[int, str, str, NamedNode | Literal]] = []
    left = _ATTRIBUTIONS_COUNTED
    for node in nodes:
        found = count_values(store, node, predicate, left + 1) if left >= 0 else []
        counts += [(-count, str(term), node, term) for term, count in found]
        left -= sum(count for _, count in found)
    counts.sort(key=lambda count: count[:3])
    values = ValueReader(store, _TRIPLES_READ)
    shown: list[Attribution] = []
    for negative, _, node, term in counts:
        count = -negative
        if start >= count:
            start -= count
            continue
        value = values.describe(term, predicate=predicate)
        statement = Quad(NamedNode(node), NamedNode(predicate), term, MERGE)
        pages = _list_graphs(store, statement)
        for graph in islice(pages, start, start + most - len(shown)):
            source = values.find_source(graph.value)
            shown.append(Attribution(value, source, node))
        start = 0
        if len(shown) == most:
            break
    return Attributions(tuple(shown), _ATTRIBUTIONS_COUNTED - max(0, left), left < 0)


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of an entity."""

    name: str
    label: str
    sources: tuple[Source, ...]
    """Some of the pages that state it, the newest first."""


def read_aliases(store: Store, found: Entity, names: Iterable[str]) -> list[Alias]:
    """Return the labels of these other names, and the pages that state the sameness, in either direction."""
    values = ValueReader(store, _TRIPLES_READ)
    pages: dict[str, dict[str, None]] = {}
    for predicate in sorted(SAME_AS & found.properties.keys()):
        for value in found.properties[predicate].values:
            pages.setdefault(value.text, {}).update((source.page, None) for source in value.sources)
    aliases = []
    for name in names:
        # Some pages state it as text that is not an IRI.
        is_iri = is_valid_iri(name)
        own = pages.get(name, {})
        for predicate in sorted(SAME_AS) if is_iri else ():
            stated = store.quads_for_pattern(NamedNode(name), NamedNode(predicate), None, MERGE)
            for quad in islice(stated, _ALIAS_STATEMENTS):
                if isinstance(quad.object, NamedNode) and quad.object.value in found.nodes:
                    own.update(dict.fromkeys(values.list_pages(quad, SOURCES_SHOWN)))
        aliases.append(Alias(name, values.name(name)[0] if is_iri else "", values.read_sources(list(own))))
    return aliases


def dump_statements(store: Store, nodes: Iterable[str], predicate: str = "") -> bytes:
    """Return what pages state about these nodes and their blank nodes, as N-Quads in the pages' graphs."""
    quads = list(islice(walk_statements(store, nodes, predicate=predicate), STATEMENTS_DUMPED + 1))
    is_cut = len(quads) > STATEMENTS_DUMPED
    nquads = restore_blank_nodes(pyoxigraph.serialize(quads[:STATEMENTS_DUMPED], format=RdfFormat.N_QUADS) or b"")
    return (b"# There are more: these are the first %d.\n" % STATEMENTS_DUMPED if is_cut else b"") + nquads


def _list_graphs(store: Store, statement: Quad) -> Iterator[NamedNode]:
    for quad in store.quads_for_pattern(statement.subject, statement.predicate, statement.object, None):
        if isinstance(quad.graph_name, NamedNode) and is_page(quad.graph_name):
            yield quad.graph_name


def add_entity_syntaxes(entity: Entity, read_statements: ReadStatements) -> Entity:
    """Add to sources the exact syntaxes of each value, and put values in the order of their page, as far as a few pages show
    them."""
    reader = _StatementReader(read_statements, entity.nodes, _PAGES_OF_ENTITY)
    return replace(
        entity, properties={iri: _add_property_syntaxes(reader, each) for iri, each in entity.properties.items()}
    )


def _add_property_syntaxes(reader: "_StatementReader", found: EntityProperty) -> EntityProperty:
    values = tuple(
        replace(value, sources=tuple(reader.add_syntaxes(source, found.iri, value) for source in value.sources))
        for value in found.values
    )
    # If the syntax of one of a page's values is unknown, the page counts as one source.
    uncertain = {source.page for value in values for source in value.sources if not source.is_exact}
    stated = [
        (value, [origin for source in value.sources for origin in _list_origins(source, uncertain)]) for value in values
    ]
    # The values were judged by page before, with all sources; these are not all of them, so the rule of sites does not apply.
    is_single = not found.conflict and len(values) > 1 and judge_values(found.iri, stated) == SINGLE
    conflict = SINGLE if is_single else found.conflict
    return replace(found, values=tuple(_put_in_order(reader, found.iri, values)), conflict=conflict)


def _put_in_order(reader: "_StatementReader", predicate: str, values: Sequence[StatedValue]) -> list[StatedValue]:
    """Sort values that equally many pages state as the newest of these pages has them: ingredients and steps have an order that
    the store does not keep. What was not found comes last."""
    if len(values) < 2:
        return list(values)

    def rank(value: StatedValue) -> tuple[int, str, float]:
        page = value.sources[0].page if value.sources else ""
        return -value.source_count, page, reader.find_place(page, predicate, value)

    return sorted(values, key=rank)


def _list_origins(source: Source, uncertain: Collection[str]) -> list[Origin]:
    syntaxes = ("",) if source.page in uncertain else source.syntaxes
    return [(source.page, syntax) for syntax in syntaxes]


def add_attribution_syntaxes(
    attributions: Sequence[Attribution], predicate: str, nodes: Collection[str], read_statements: ReadStatements
) -> list[Attribution]:
    """Add the exact syntaxes to the attributions of one property, as far as some pages show them."""
    reader = _StatementReader(read_statements, nodes, _PAGES_OF_ATTRIBUTIONS)
    return [
        replace(attribution, source=reader.add_syntaxes(attribution.source, predicate, attribution.value))
        for attribution in attributions
    ]


def read_texts(statements: Mapping[str, str], page: str, node: str, predicate: str) -> dict[str, list[str]]:
    """Return a page's values of a node's property, as texts and IRIs by syntax; empty if the page is too long."""
    reader = _StatementReader(lambda url: statements, [node], 1)
    found = reader.read(page).get(f"<{predicate}>", {})
    return {syntax: [_read_text(term) for term in terms[:_TERMS_COMPARED]] for syntax, terms in found.items()}


class _StatementReader:
    """Reads the statements of a few pages about some nodes."""

    def __init__(self, read_statements: ReadStatements, nodes: Collection[str], pages: int) -> None:
        self._read_statements = read_statements
        self._subjects = {f"<{node}>" for node in nodes}
        self._pages_left = pages
        self._stated: dict[str, dict[str, dict[str, list[str]]]] = {}
        self._places: dict[tuple[str, str], Places] = {}

    def add_syntaxes(self, source: Source, predicate: str, value: StatedValue) -> Source:
        """Return the source with the syntaxes that state a value; unchanged if unknown."""
        if source.is_exact or not source.syntaxes:
            return source
        if named := _find_syntax_by_name(source, value):
            return replace(source, syntaxes=(named,), is_exact=True)
        by_syntax = self.read(source.page).get(f"<{predicate}>", {})
        found = tuple(syntax for syntax, terms in by_syntax.items() if _has(terms, value))
        # Here, the names of blank nodes do not show which of two syntaxes they are from.
        is_exact = bool(found) and (value.kind != ValueKind.BLANK or len(found) == 1)
        return replace(source, syntaxes=found, is_exact=True) if is_exact else source

    def find_place(self, page: str, predicate: str, value: StatedValue) -> float:
        """Return which of a page's values of a property this is; infinity if it is none of them."""
        places = self._places.get((page, predicate))
        if places is None:
            by_syntax = self.read(page).get(f"<{predicate}>", {})
            stated = (term for terms in by_syntax.values() for term in terms[:_TERMS_COMPARED])
            places = self._places[page, predicate] = number_places(stated)
        return places.get((value.text, value.language), inf)

    def read(self, page: str) -> dict[str, dict[str, list[str]]]:
        """Return the objects of a page's statements about the nodes, by property and syntax."""
        if page not in self._stated:
            if not self._pages_left:
                return {}
            self._pages_left -= 1
            found: dict[str, dict[str, list[str]]] = {}
            statements = address_page(self._read_statements(page) or {}, page)
            fold = Fold(statements, page)
            if sum(map(len, statements.values())) <= _PAGE_CHARS:
                for syntax, nquads in statements.items():
                    for subject, predicate, term in fold.read(nquads):
                        if subject in self._subjects:
                            found.setdefault(predicate, {}).setdefault(syntax, []).append(term)
            self._stated[page] = found
        return self._stated[page]


def _find_syntax_by_name(source: Source, value: StatedValue) -> str:
    """Find the syntax of a blank node, whose name derives from page and syntax."""
    for syntax in source.syntaxes if value.kind == ValueKind.BLANK else ():
        if value.text.startswith(f"{GENID}{blank_prefix(source.page, syntax)[3:-1]}/"):
            return syntax
    return ""


def _has(terms: Sequence[str], value: StatedValue) -> bool:
    """Return whether one of these terms is the value; they may have other escapes than the store's."""
    if value.kind == ValueKind.BLANK:
        return any(term.startswith(f"<{GENID}") for term in terms)
    if value.kind == ValueKind.IRI:
        return f"<{value.text}>" in terms
    wanted = StatedValue(value.text, language=value.language, datatype=value.datatype)
    return any(_describe_term(term) == wanted for term in terms[:_TERMS_COMPARED] if term.startswith('"'))


def _read_text(term: str) -> str:
    if term.startswith("<"):
        return term[1:-1]
    found = _describe_term(term)
    return found.text if found else term


def _describe_term(term: str) -> StatedValue | None:
    found = read_literal(term)
    return describe_literal(found) if found else None
