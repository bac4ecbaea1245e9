"""A thing and a property in, who says which value of it out, page by page; or who says that it has other names; or all that is
said of the thing, as N-Quads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from rdfspider.index.labels import SAME_AS
from rdfspider.search.entity import Entity
from rdfspider.search.quads import MERGE, is_page, restore_blank_nodes, walk_statements
from rdfspider.search.sources import Source
from rdfspider.search.tallies import count_values
from rdfspider.search.values import SOURCES_SHOWN, Value, ValueReader
from rdfspider.urls import is_valid_iri

STATEMENTS_DUMPED = 20_000
_SAYINGS_COUNTED = 20_000
_TRIPLES_READ = 5_000
_ALIAS_STATEMENTS = 200


@dataclass(frozen=True, slots=True)
class Saying:
    """A value, and one page that gives it."""

    value: Value
    """Without sources."""
    source: Source
    node: str
    """What the page calls the thing."""


@dataclass(frozen=True, slots=True)
class Sayings:
    """Who says what, from a place on."""

    sayings: tuple[Saying, ...]
    count: int
    """Of all values and pages."""
    has_more: bool
    """Whether there are more than were counted."""


def read_sayings(store: Store, nodes: Sequence[str], predicate: str, start: int, most: int) -> Sayings:
    """So many, values that most pages give first, then in the store's order."""
    tallies: list[tuple[int, str, str, NamedNode | Literal]] = []
    left = _SAYINGS_COUNTED
    for node in nodes:
        found = count_values(store, node, predicate, left + 1) if left >= 0 else []
        tallies += [(-count, str(term), node, term) for term, count in found]
        left -= sum(count for _, count in found)
    tallies.sort(key=lambda tally: tally[:3])
    values = ValueReader(store, _TRIPLES_READ)
    shown: list[Saying] = []
    for negative, _, node, term in tallies:
        count = -negative
        if start >= count:
            start -= count
            continue
        value = values.describe(term, predicate=predicate)
        statement = Quad(NamedNode(node), NamedNode(predicate), term, MERGE)
        pages = _list_graphs(store, statement)
        for graph in islice(pages, start, start + most - len(shown)):
            source = values.find_source(graph.value)
            shown.append(Saying(value, source, node))
        start = 0
        if len(shown) == most:
            break
    return Sayings(tuple(shown), _SAYINGS_COUNTED - max(0, left), left < 0)


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a thing."""

    name: str
    label: str
    sources: tuple[Source, ...]
    """Some of the pages that say so, the newest first."""


def read_aliases(store: Store, found: Entity, names: Iterable[str]) -> list[Alias]:
    """How these others are called, and who says that they are the same, of either of them."""
    values = ValueReader(store, _TRIPLES_READ)
    pages: dict[str, dict[str, None]] = {}
    for predicate in sorted(SAME_AS & found.properties.keys()):
        for value in found.properties[predicate].values:
            pages.setdefault(value.text, {}).update((source.page, None) for source in value.sources)
    aliases = []
    for name in names:
        # Pages also state it as a text that is no IRI.
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
    """What pages say of these nodes and of the blank nodes that hang on them, as N-Quads in the graphs of the pages."""
    quads = list(islice(walk_statements(store, nodes, predicate=predicate), STATEMENTS_DUMPED + 1))
    is_cut = len(quads) > STATEMENTS_DUMPED
    nquads = restore_blank_nodes(pyoxigraph.serialize(quads[:STATEMENTS_DUMPED], format=RdfFormat.N_QUADS) or b"")
    return (b"# There are more: these are the first %d.\n" % STATEMENTS_DUMPED if is_cut else b"") + nquads


def _list_graphs(store: Store, statement: Quad) -> Iterator[NamedNode]:
    for quad in store.quads_for_pattern(statement.subject, statement.predicate, statement.object, None):
        if isinstance(quad.graph_name, NamedNode) and is_page(quad.graph_name):
            yield quad.graph_name
