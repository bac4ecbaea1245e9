"""A Selection and a quad store enter, the selected statements leave, page by page, as N-Quads with restored blank nodes.

Without a type or an ontology, the store itself writes each page's graph as a whole. With one, the matching nodes are found
first, and listed on disk, not in memory.
"""

import re
import sqlite3
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode, Quad, RdfFormat, Store

from rdfspider.errors import RdfspiderError
from rdfspider.urls import host_of
from rdfspider.vocabulary.labels import RDF_TYPE
from rdfspider.vocabulary.terms import DISGUISED, GENID, RESERVED, restore_line, restore_term

RDF_TYPE_NODE = NamedNode(RDF_TYPE)
MERGE = DefaultGraph()
"""Holds each distinct triple of all pages once."""

# Nearly all blank nodes have such names. They are subjects or objects, and no literal ends like an IRI, so no text of a page is
# mistaken for one.
_SUBJECT = re.compile(rb"^<genid:([0-9a-f]{16})/(n[0-9]+)>", re.MULTILINE)
_OBJECT = re.compile(rb" <genid:([0-9a-f]{16})/(n[0-9]+)>(?=(?: <[^>]*>)? \.$)", re.MULTILINE)
_OTHERS = re.compile(rb"<genid:(?![0-9a-f]{16}/n[0-9]+>)")
# The store releases the GIL while it reads: two threads read pages half as fast again as one, more threads hardly faster.
_READERS = 2
_PAGES_AHEAD = 4


@dataclass(frozen=True, slots=True)
class Selection:
    """Which statements to select; all given conditions must hold. Without any, everything that pages state is selected."""

    site: str = ""
    """A host, or a domain with the hosts below it; in lower case."""
    page: str = ""
    """The URL of one page."""
    types: frozenset[str] | None = None
    """Classes; selects statements about nodes of any of them."""
    terms: frozenset[str] | None = None
    """Classes and properties; selects statements about nodes that are of one of the classes or have one of the properties."""
    graphs: tuple[str, ...] = ()
    """Patterns of pages' URLs, in which `*` matches anything; one of them must match."""
    without_graphs: tuple[str, ...] = ()
    """Such patterns; none of them may match."""
    properties: frozenset[str] | None = None
    """Only statements with one of these properties."""
    without: frozenset[str] = frozenset()
    """No statements with one of these properties."""

    @property
    def limits_pages(self) -> bool:
        """Whether the statements of some pages are not selected, whatever they say."""
        return bool(self.site or self.page or self.graphs or self.without_graphs)

    def takes_page(self, graph: str) -> bool:
        """Whether the statements of a page may be selected."""
        if self.page and graph != self.page:
            return False
        if self.site and not is_on_site(graph, self.site):
            return False
        if any(fnmatchcase(graph, pattern) for pattern in self.without_graphs):
            return False
        return not self.graphs or any(fnmatchcase(graph, pattern) for pattern in self.graphs)

    def takes_property(self, iri: str) -> bool:
        """Whether statements with a property may be selected."""
        return iri not in self.without and (self.properties is None or iri in self.properties)


class PageQuads(NamedTuple):
    """The selected statements of one page."""

    graph: str
    """The page's URL, as an IRI."""
    nquads: bytes
    things: frozenset[str] = frozenset()
    """The selected nodes, as written in N-Quads; empty if the whole page is selected."""


def read_pages(store: Store, selection: Selection) -> Iterator[PageQuads]:
    """The pages with selected statements, each once."""
    is_about_things = selection.types is not None or selection.terms is not None
    pages = _read_things(store, selection) if is_about_things else _read_whole_pages(store, selection)
    if selection.properties is None and not selection.without:
        return pages
    chosen = (page._replace(nquads=_keep_properties(page.nquads, selection)) for page in pages)
    return (page for page in chosen if page.nquads)


def read_quads(store: Store, selection: Selection) -> Iterator[Quad]:
    """The selected statements as quads."""
    for page in read_pages(store, selection):
        yield from pyoxigraph.parse(page.nquads, RdfFormat.N_QUADS)


def restore_blank_nodes(nquads: bytes) -> bytes:
    """N-Quads or N-Triples with the pages' blank nodes: `<genid:48a4e8612952075a/n1>` becomes `_:p48a4e8612952075an1`."""
    if b"<genid:" not in nquads:
        return nquads
    if _OTHERS.search(nquads):
        return "\n".join(map(restore_line, nquads.decode().split("\n"))).encode()
    return _OBJECT.sub(rb" _:p\1\2", _SUBJECT.sub(rb"_:p\1\2", nquads))


def is_page(graph: object) -> bool:
    """Whether a graph is a page's, not the merge or one of the index's own."""
    if not isinstance(graph, NamedNode):
        return False
    return not graph.value.startswith(RESERVED) or graph.value.startswith(DISGUISED)


def walk_statements(
    store: Store, nodes: Iterable[str], graph: NamedNode | DefaultGraph | None = None, predicate: str = ""
) -> Iterator[Quad]:
    """What a graph, or every page, states about nodes and, recursively, about the blank nodes that they point to. A predicate
    restricts only the statements about the given nodes themselves."""
    waiting = [NamedNode(node) for node in dict.fromkeys(nodes)]
    seen, first = set(waiting), len(waiting)
    chosen = NamedNode(predicate) if predicate else None
    for at, node in enumerate(waiting):
        for quad in store.quads_for_pattern(node, chosen if at < first else None, None, graph):
            if graph is None and not is_page(quad.graph_name):
                continue
            yield quad
            part = quad.object
            if isinstance(part, NamedNode) and part.value.startswith(GENID) and part not in seen:
                seen.add(part)
                waiting.append(part)


def is_on_site(url: str, site: str) -> bool:
    """Whether a URL is on a host, or on one below it."""
    host = host_of(url)
    return host == site or host.endswith(f".{site}")


def _read_whole_pages(store: Store, selection: Selection) -> Iterator[PageQuads]:
    graphs: Iterable[object] = (NamedNode(selection.page),) if selection.page else store.named_graphs()
    waiting: deque[Future[PageQuads]] = deque()
    with ThreadPoolExecutor(_READERS) as readers:
        for graph in graphs:
            if not isinstance(graph, NamedNode) or not is_page(graph):
                continue
            if not selection.takes_page(graph.value):
                continue
            waiting.append(readers.submit(_dump_page, store, graph))
            if len(waiting) > _PAGES_AHEAD:
                yield from _take_page(waiting)
        while waiting:
            yield from _take_page(waiting)


def _take_page(waiting: "deque[Future[PageQuads]]") -> Iterator[PageQuads]:
    page = waiting.popleft().result()
    if page.nquads:
        yield page


def _dump_page(store: Store, graph: NamedNode) -> PageQuads:
    triples = store.dump(format=RdfFormat.N_TRIPLES, from_graph=graph) or b""
    # Line ends are escaped in literals, so each match ends a statement.
    return PageQuads(graph.value, restore_blank_nodes(triples).replace(b" .\n", b" %s .\n" % str(graph).encode()))


def _keep_properties(nquads: bytes, selection: Selection) -> bytes:
    """The lines with a selected property; the store escapes no IRI."""
    lines = nquads.splitlines(keepends=True)
    return b"".join(line for line in lines if selection.takes_property(line.split(b" ", 2)[1][1:-1].decode()))


def _read_things(store: Store, selection: Selection) -> Iterator[PageQuads]:
    for page, things in list_things(store, selection):
        yield _read_things_of_page(store, page, things)


def list_things(store: Store, selection: Selection) -> Iterator[tuple[str, list[str]]]:
    """The pages that describe selected nodes, each with these nodes; ordered by page."""
    # A database without a name is a temporary file that SQLite deletes when it is closed.
    with closing(sqlite3.connect("", isolation_level=None)) as notes:
        try:
            notes.execute("BEGIN")
            notes.execute("CREATE TABLE nodes (node TEXT PRIMARY KEY) WITHOUT ROWID")
            notes.executemany("INSERT OR IGNORE INTO nodes VALUES (?)", _find_nodes(store, selection))
            notes.execute("CREATE TABLE things (page TEXT, thing TEXT)")
            nodes = (NamedNode(node) for (node,) in notes.execute("SELECT node FROM nodes"))
            notes.executemany("INSERT INTO things VALUES (?, ?)", _find_things(store, nodes, selection))
            rows = notes.execute("SELECT DISTINCT page, thing FROM things ORDER BY page, thing")
            for page, things in groupby(rows, key=itemgetter(0)):
                yield page, [thing for _, thing in things]
        except sqlite3.Error as error:
            raise RdfspiderError(
                f"what was found could not be noted in the folder for temporary files: {error}"
            ) from error


def _find_things(store: Store, nodes: Iterable[NamedNode], selection: Selection) -> Iterator[tuple[str, str]]:
    """Pairs of a page and a selected node that it describes; some come more than once."""
    for thing in nodes:
        if selection.types is not None and selection.terms is not None and not _has_term(store, thing, selection.terms):
            continue
        last = None
        for quad in store.quads_for_pattern(thing, None, None, None):
            graph = quad.graph_name
            if graph == last or not isinstance(graph, NamedNode) or not is_page(graph):
                continue
            last = graph
            if selection.takes_page(graph.value):
                yield graph.value, thing.value


def _find_nodes(store: Store, selection: Selection) -> Iterator[tuple[str]]:
    """Nodes by their types, or, without types, by the terms that they use; some come more than once."""
    for iri in sorted(selection.types if selection.types is not None else selection.terms or ()):
        found = store.quads_for_pattern(None, RDF_TYPE_NODE, NamedNode(iri), MERGE)
        if selection.types is None:
            found = chain(found, store.quads_for_pattern(None, NamedNode(iri), None, MERGE))
        for quad in found:
            if isinstance(quad.subject, NamedNode):
                yield (quad.subject.value,)


def _has_term(store: Store, thing: NamedNode, terms: Collection[str]) -> bool:
    for quad in store.quads_for_pattern(thing, None, None, MERGE):
        if quad.predicate.value in terms:
            return True
        if quad.predicate == RDF_TYPE_NODE and isinstance(quad.object, NamedNode) and quad.object.value in terms:
            return True
    return False


def _read_things_of_page(store: Store, page: str, things: list[str]) -> PageQuads:
    quads = walk_statements(store, things, NamedNode(page))
    nquads = restore_blank_nodes(pyoxigraph.serialize(quads, format=RdfFormat.N_QUADS) or b"")
    named = frozenset(restore_term(f"<{thing}>") for thing in things)
    return PageQuads(page, nquads, named)
