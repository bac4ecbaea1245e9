"""A Selection and a quad store in, the statements of one page after the other out, as N-Quads with blank nodes again.

Without a type or an ontology a page's graph is written as a whole, by the store itself. With one, the index finds the things
first; where they are noted grows on disk, not in memory.
"""

import re
import sqlite3
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode, Quad, RdfFormat, Store

from rdfspider.errors import RdfspiderError
from rdfspider.urls import host_of
from rdfspider.vocabulary import labels
from rdfspider.vocabulary.terms import GENID, RESERVED, restore_line, restore_term

RDF_TYPE = NamedNode(labels.RDF_TYPE)
MERGE = DefaultGraph()
"""Holds each distinct triple of all pages once."""

# Pages whose own URLs look like the index's graphs are called so.
_DISGUISED = f"{RESERVED}page:"
# Nearly all blank nodes are called so. They are subjects or objects, and no literal ends as an IRI does, so no text of a page is
# mistaken for one.
_SUBJECT = re.compile(rb"^<genid:([0-9a-f]{16})/(n[0-9]+)>", re.MULTILINE)
_OBJECT = re.compile(rb" <genid:([0-9a-f]{16})/(n[0-9]+)>(?=(?: <[^>]*>)? \.$)", re.MULTILINE)
_OTHERS = re.compile(rb"<genid:(?![0-9a-f]{16}/n[0-9]+>)")
# The store lets other threads work while it reads; with two of them pages come half as fast again, with more hardly faster.
_READERS = 2
_PAGES_AHEAD = 4


@dataclass(frozen=True, slots=True)
class Selection:
    """Which statements are asked for: all that is given must hold. Nothing given is everything that pages say."""

    site: str = ""
    """A host, or a domain with the hosts below it; in lower case."""
    page: str = ""
    """The URL of one page."""
    types: frozenset[str] | None = None
    """Classes; statements about things that are of any of them."""
    terms: frozenset[str] | None = None
    """Classes and properties; statements about things that are of one of the classes or have one of the properties."""


class PageQuads(NamedTuple):
    """What is asked for of a page."""

    graph: str
    """The page's URL, as an IRI."""
    nquads: bytes
    things: frozenset[str] = frozenset()
    """The nodes that were asked for, as N-Quads write them; empty where the page is whole."""


def read_pages(store: Store, selection: Selection) -> Iterator[PageQuads]:
    """The pages that have something of what is selected, each once."""
    if selection.types is not None or selection.terms is not None:
        return _read_things(store, selection)
    return _read_whole_pages(store, selection)


def read_quads(store: Store, selection: Selection) -> Iterator[Quad]:
    """The same as quads, one after the other."""
    for page in read_pages(store, selection):
        yield from pyoxigraph.parse(page.nquads, RdfFormat.N_QUADS)


def restore_blank_nodes(nquads: bytes) -> bytes:
    """N-Quads or N-Triples as pages said them: `<genid:48a4e8612952075a/n1>` is `_:p48a4e8612952075an1` again."""
    if b"<genid:" not in nquads:
        return nquads
    if _OTHERS.search(nquads):
        return "\n".join(map(restore_line, nquads.decode().split("\n"))).encode()
    return _OBJECT.sub(rb" _:p\1\2", _SUBJECT.sub(rb"_:p\1\2", nquads))


def is_page(graph: object) -> bool:
    """Whether a graph is a page's: not the merge, and none of the index's own."""
    if not isinstance(graph, NamedNode):
        return False
    return not graph.value.startswith(RESERVED) or graph.value.startswith(_DISGUISED)


def walk_statements(
    store: Store, nodes: Iterable[str], graph: NamedNode | DefaultGraph | None = None, predicate: str = ""
) -> Iterator[Quad]:
    """What a graph says, or all pages do, of nodes and of the blank nodes that hang on them, which are a part of what is said; of
    the nodes themselves by one property, where one is given."""
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
    """Whether a URL is of a host, or of one below it."""
    host = host_of(url)
    return host == site or host.endswith(f".{site}")


def _read_whole_pages(store: Store, selection: Selection) -> Iterator[PageQuads]:
    graphs: Iterable[object] = (NamedNode(selection.page),) if selection.page else store.named_graphs()
    waiting: deque[Future[PageQuads]] = deque()
    with ThreadPoolExecutor(_READERS) as readers:
        for graph in graphs:
            if not isinstance(graph, NamedNode) or not is_page(graph):
                continue
            if selection.site and not is_on_site(graph.value, selection.site):
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
    # Line ends are escaped in literals, so each of these is the end of a statement.
    return PageQuads(graph.value, restore_blank_nodes(triples).replace(b" .\n", b" %s .\n" % str(graph).encode()))


def _read_things(store: Store, selection: Selection) -> Iterator[PageQuads]:
    # A database without a name is a file of SQLite's own that is gone when it is closed.
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
                yield _read_things_of_page(store, page, [thing for _, thing in things])
        except sqlite3.Error as error:
            raise RdfspiderError(
                f"what was found could not be noted in the folder for temporary files: {error}"
            ) from error


def _find_things(store: Store, nodes: Iterable[NamedNode], selection: Selection) -> Iterator[tuple[str, str]]:
    """Pages and things of which they speak; some more than once."""
    for thing in nodes:
        if selection.types is not None and selection.terms is not None and not _has_term(store, thing, selection.terms):
            continue
        last = None
        for quad in store.quads_for_pattern(thing, None, None, None):
            graph = quad.graph_name
            if graph == last or not isinstance(graph, NamedNode) or not is_page(graph):
                continue
            last = graph
            if selection.page and graph.value != selection.page:
                continue
            if not selection.site or is_on_site(graph.value, selection.site):
                yield graph.value, thing.value


def _find_nodes(store: Store, selection: Selection) -> Iterator[tuple[str]]:
    """Things by their types; without types by the terms that they use. Some more than once."""
    for iri in sorted(selection.types if selection.types is not None else selection.terms or ()):
        found = store.quads_for_pattern(None, RDF_TYPE, NamedNode(iri), MERGE)
        if selection.types is None:
            found = chain(found, store.quads_for_pattern(None, NamedNode(iri), None, MERGE))
        for quad in found:
            if isinstance(quad.subject, NamedNode):
                yield (quad.subject.value,)


def _has_term(store: Store, thing: NamedNode, terms: Collection[str]) -> bool:
    for quad in store.quads_for_pattern(thing, None, None, MERGE):
        if quad.predicate.value in terms:
            return True
        if quad.predicate == RDF_TYPE and isinstance(quad.object, NamedNode) and quad.object.value in terms:
            return True
    return False


def _read_things_of_page(store: Store, page: str, things: list[str]) -> PageQuads:
    quads = walk_statements(store, things, NamedNode(page))
    nquads = restore_blank_nodes(pyoxigraph.serialize(quads, format=RdfFormat.N_QUADS) or b"")
    named = frozenset(restore_term(f"<{thing}>") for thing in things)
    return PageQuads(page, nquads, named)
