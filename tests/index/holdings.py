"""All that an index holds, so that two of them can be compared: quads of the newest snapshot, cards of the text index."""

from pathlib import Path

import tantivy
from pyoxigraph import DefaultGraph, NamedNode, Quad, Store

from rdfspider.index.analysis import register_tokenizers
from rdfspider.index.layout import IndexPaths
from rdfspider.index.quads.snapshots import hold_snapshot
from rdfspider.index.text.fields import build_schema


def read_quads(folder: Path) -> set[str]:
    """All quads but the cursors, of the default graph too, as lines."""
    with hold_snapshot(IndexPaths(folder).snapshots) as held:
        store = Store.read_only(str(held.path))
        return {str(quad) for quad in store if not str(quad.subject).startswith("<urn:rdfspider:cursor:")}


def check_merge(folder: Path) -> None:
    """The default graph is the set of what all pages state."""
    with hold_snapshot(IndexPaths(folder).snapshots) as held:
        store = Store.read_only(str(held.path))
        merged = {quad.triple for quad in store.quads_for_pattern(None, None, None, DefaultGraph())}
        stated = {quad.triple for quad in store if _is_of_page(quad)}
        assert merged == stated


def read_cards(folder: Path) -> list[bytes]:
    """What the results of all documents would show, in an order that does not depend on when they were written."""
    schema = build_schema()
    index = tantivy.Index(schema, str(IndexPaths(folder).text))
    register_tokenizers(index)
    index.reload()
    searcher = index.searcher()
    found = searcher.search(tantivy.Query.all_query(), limit=1_000_000).hits
    documents = [searcher.doc(address) for _, address in found]
    return sorted(bytes(doc["card"][0]) for doc in documents if not doc["id"][0].startswith("#"))


def _is_of_page(quad: Quad) -> bool:
    name = quad.graph_name
    return isinstance(name, NamedNode) and not name.value.startswith("urn:rdfspider:")
