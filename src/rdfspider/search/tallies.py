"""Names of a thing in, how often properties point at it and pages give its values out, and a part of what was counted.

The store itself counts and skips, so the last of ten thousand is found as soon as the first. The order is by property, then
the store's own, which stays as it is while nothing is added.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store

from rdfspider.index.terms import FETCHES_GRAPH
from rdfspider.search.quads import MERGE


class ReferenceCount(NamedTuple):
    """How often a property points at a node."""

    property: str
    node: str
    uses: int


def count_references(store: Store, nodes: Sequence[str], most: int) -> tuple[list[ReferenceCount], bool]:
    """What points at the nodes, by property, and whether there are more than these."""
    found: list[ReferenceCount] = []
    left = most
    for node in nodes:
        # One more than there may be tells that there are more.
        rows = _ask(
            store,
            f"SELECT ?p (COUNT(*) AS ?n) {{ {{ SELECT ?p {{ ?s ?p {NamedNode(node)} }} LIMIT {left + 1} }} }} GROUP BY ?p",
        )
        for predicate, uses in sorted((row[0].value, int(row[1].value)) for row in rows):
            taken = min(uses, left)
            left -= taken
            if taken:
                found.append(ReferenceCount(predicate, node, taken))
            if taken < uses:
                return sorted(found), True
    return sorted(found), False


def list_references(store: Store, counts: Sequence[ReferenceCount], start: int, most: int) -> Iterator[Quad]:
    """So many of the statements that were counted, from a place on."""
    for predicate, node, uses in counts:
        if start >= uses:
            start -= uses
            continue
        taken = min(most, uses - start)
        property_term, target = NamedNode(predicate), NamedNode(node)
        rows = _ask(store, f"SELECT ?s {{ ?s {property_term} {target} }} LIMIT {taken} OFFSET {start}")
        yield from (Quad(row[0], property_term, target, MERGE) for row in rows)
        start, most = 0, most - taken
        if not most:
            return


def count_values(store: Store, node: str, predicate: str, most: int) -> list[tuple[NamedNode | Literal, int]]:
    """The values of a property, and how many pages give each, those with most first; so many statements are counted."""
    rows = _ask(
        store,
        f"SELECT ?o (COUNT(*) AS ?n) {{ {{ SELECT ?o {{ GRAPH ?g {{ {NamedNode(node)} {NamedNode(predicate)} ?o }} "
        f"FILTER(?g != <{FETCHES_GRAPH}>) }} LIMIT {most} }} }} GROUP BY ?o ORDER BY DESC(?n)",
    )
    return [(row[0], int(row[1].value)) for row in rows]


def _ask(store: Store, query: str) -> QuerySolutions:
    """Ours alone come here, made of valid terms and bounded by themselves; those of people go to `sparql.py`."""
    rows = store.query(query)
    assert isinstance(rows, QuerySolutions)
    return rows
