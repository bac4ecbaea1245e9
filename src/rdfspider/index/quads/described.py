"""Terms of the store enter, described values leave: labels, nested values, and the pages that state them, with fetch times."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad, Store

from rdfspider.index.quads.selection import MERGE, RDF_TYPE_NODE, is_page
from rdfspider.results import Source, StatedValue, ValueKind
from rdfspider.vocabulary.labels import LABELS, clean_label
from rdfspider.vocabulary.names import find_short_name
from rdfspider.vocabulary.prefixes import PROV, RDF, XSD
from rdfspider.vocabulary.terms import FETCHES_GRAPH, GENID, VOCABULARY

SOURCES_SHOWN = 10
"""Per value."""

_FETCHES = NamedNode(FETCHES_GRAPH)
_FETCHED = NamedNode(f"{PROV}generatedAtTime")
_SYNTAX = NamedNode(f"{VOCABULARY}syntax")
_NAMES_READ = 1_000
_DEPTH = 4
_ITEMS_READ = 100
_FIRST, _REST, _NIL = f"{RDF}first", f"{RDF}rest", f"{RDF}nil"
# The coordinates of a place may have an IRI, which says nothing; they are shown like a blank node.
_OPENED = frozenset(("geo", "hasgeo"))
_NESTED_TRIPLES = 100
_XSD_STRING = f"{XSD}string"


def find_source(store: Store, page: str) -> Source:
    """What the index knows about a page."""
    found = store.quads_for_pattern(NamedNode(page), _SYNTAX, None, _FETCHES)
    syntaxes = sorted(quad.object.value for quad in found if isinstance(quad.object, Literal))
    return Source(page, find_time(store, page), tuple(syntaxes), len(syntaxes) == 1)


def find_time(store: Store, page: str) -> float:
    """When a page was fetched, in seconds since 1970; 0 if unknown."""
    for quad in store.quads_for_pattern(NamedNode(page), _FETCHED, None, _FETCHES):
        if isinstance(quad.object, Literal):
            try:
                return datetime.fromisoformat(quad.object.value).timestamp()
            except ValueError:
                continue
    return 0.0


class ValueReader:
    """Reads terms of a store for one request, within a budget of statements."""

    def __init__(self, store: Store, triples: int) -> None:
        self._store = store
        self._sources: dict[str, Source] = {}
        self._names: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.triples_left = triples

    def read_triples(self, node: str) -> Iterator[Quad]:
        """What all pages together state about a node, while the budget lasts."""
        for quad in self._store.quads_for_pattern(NamedNode(node), None, None, MERGE):
            if self.triples_left <= 0:
                return
            self.triples_left -= 1
            yield quad

    def describe(self, term: object, depth: int = _DEPTH, predicate: str = "") -> StatedValue:
        """A term without its sources; statements about a blank node are inside, down to the given depth. The predicate that
        leads to an IRI decides whether its statements are inside too."""
        if isinstance(term, Literal):
            return describe_literal(term)
        if not isinstance(term, NamedNode):
            return StatedValue(str(term), ValueKind.IRI)
        label, _ = self.name(term.value)
        if not term.value.startswith(GENID):
            inside = self._read_inside(term.value, 1) if depth and find_short_name(predicate) in _OPENED else {}
            return StatedValue(term.value, ValueKind.IRI, label=label, inside=inside)
        inside = self._read_inside(term.value, depth) if depth else {}
        if _FIRST not in inside:
            return StatedValue(term.value, ValueKind.BLANK, label=label, inside=inside)
        items, rest = self._read_list(term.value, depth)
        return StatedValue(term.value, ValueKind.BLANK, label=label, items=items, rest=rest)

    def _read_inside(self, node: str, depth: int) -> dict[str, tuple[StatedValue, ...]]:
        found: dict[str, list[StatedValue]] = {}
        for quad in islice(self.read_triples(node), _NESTED_TRIPLES):
            name = quad.predicate.value
            # A list is read as a whole, not node by node.
            left = 0 if name in (_FIRST, _REST) else depth - 1
            found.setdefault(name, []).append(self.describe(quad.object, left, name))
        return {name: tuple(found[name]) for name in sorted(found)}

    def _read_list(self, node: str, depth: int) -> tuple[tuple[StatedValue, ...], str]:
        """The items of a list, and the node where it continues if it is too long; empty if it ends, loops or is broken."""
        items: list[StatedValue] = []
        seen: set[str] = set()
        while node != _NIL and node not in seen and len(items) < _ITEMS_READ:
            seen.add(node)
            stated: dict[str, object] = {}
            for quad in islice(self.read_triples(node), _NESTED_TRIPLES):
                stated.setdefault(quad.predicate.value, quad.object)
            if _FIRST not in stated:
                break
            items.append(self.describe(stated[_FIRST], depth - 1))
            after = stated.get(_REST)
            node = after.value if isinstance(after, NamedNode) else _NIL
        return tuple(items), "" if node == _NIL or node in seen else node

    def name(self, node: str) -> tuple[str, tuple[str, ...]]:
        """The label and types of a node; only for the first thousand nodes, because each may have many statements."""
        if node not in self._names:
            if len(self._names) == _NAMES_READ:
                return "", ()
            labels: list[tuple[int, str]] = []
            types: list[str] = []
            for quad in islice(self._store.quads_for_pattern(NamedNode(node), None, None, MERGE), _NESTED_TRIPLES):
                if quad.predicate == RDF_TYPE_NODE and isinstance(quad.object, NamedNode):
                    types.append(quad.object.value)
                elif quad.predicate.value in LABELS and isinstance(quad.object, Literal) and quad.object.value.strip():
                    labels.append((LABELS[quad.predicate.value], clean_label(quad.object.value)))
            self._names[node] = (min(labels)[1] if labels else "", tuple(sorted(types)))
        return self._names[node]

    def list_pages(self, quad: Quad, most: int) -> list[str]:
        """Pages that state this, at most `most`."""
        found = self._store.quads_for_pattern(quad.subject, quad.predicate, quad.object, None)
        # The merge and the graph of fetches are no pages.
        pages = (page.graph_name for page in islice(found, most + 2))
        return [page.value for page in pages if isinstance(page, NamedNode) and is_page(page)][:most]

    def read_sources(self, pages: list[str]) -> tuple[Source, ...]:
        """Some of these pages as sources, the newest first."""
        found = sorted((self.find_source(page) for page in pages[: 10 * SOURCES_SHOWN]), key=rank_source)
        return tuple(found[:SOURCES_SHOWN])

    def find_source(self, page: str) -> Source:
        """What is known about a page."""
        if page not in self._sources:
            self._sources[page] = find_source(self._store, page)
        return self._sources[page]


def describe_literal(term: Literal) -> StatedValue:
    """A literal without its sources."""
    datatype = term.datatype.value
    is_plain = term.language or datatype == _XSD_STRING
    return StatedValue(term.value, language=term.language or "", datatype="" if is_plain else datatype)


def rank_source(source: Source) -> tuple[float, str]:
    """The sort key that puts the newest first."""
    return -source.fetched, source.page
