"""Counts in the quad store: references to nodes, values of a property, and the classes and properties of subjects.

A store and terms enter, counts and ranges of the counted references leave. The store itself counts and skips, so the last of
ten thousand is found as fast as the first. The order is by property, then the store's own, stable while nothing is added.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store

from rdfspider.index.quads.selection import MERGE
from rdfspider.vocabulary.labels import RDF_TYPE
from rdfspider.vocabulary.terms import FETCHES_GRAPH, GENID, SAME_GRAPH

# A few subjects have a million statements; counting them all would take too long.
_STATEMENTS_A_SUBJECT = 50


class ReferenceCount(NamedTuple):
    """How often a property points to a node."""

    property: str
    node: str
    uses: int


class MergeCounts(NamedTuple):
    """The size of the merge of all pages, each statement counted once."""

    triples: int
    properties: dict[str, int]
    """Statements of each property."""
    classes: dict[str, int]
    """Subjects of each class."""


def count_merge(store: Store, most: int) -> MergeCounts | None:
    """Count the whole merge; None if it has more than `most` statements, because that would take long."""
    counted = f"{{ SELECT ?n {{ ?s ?n ?o }} LIMIT {most + 1} }}"
    rows = _ask(store, f"SELECT ?n (COUNT(*) AS ?c) {{ {counted} }} GROUP BY ?n")
    properties = {row[0].value: int(row[1].value) for row in rows}
    triples = sum(properties.values())
    if triples > most:
        return None
    return MergeCounts(triples, properties, dict(_count_names(store, f"?s {NamedNode(RDF_TYPE)} ?n")))


def count_references(store: Store, nodes: Sequence[str], most: int) -> tuple[list[ReferenceCount], bool]:
    """Count at most `most` references to the nodes by others, by property; also return whether there are more."""
    found: list[ReferenceCount] = []
    others = _leave_out(nodes)
    left = most
    for node in nodes:
        # One row above the limit shows that there are more.
        rows = _ask(
            store,
            f"SELECT ?p (COUNT(*) AS ?n) {{ {{ SELECT ?p {{ ?s ?p {NamedNode(node)} {others} }} LIMIT {left + 1} }} }} "
            "GROUP BY ?p",
        )
        for predicate, uses in sorted((row[0].value, int(row[1].value)) for row in rows):
            taken = min(uses, left)
            left -= taken
            if taken:
                found.append(ReferenceCount(predicate, node, taken))
            if taken < uses:
                return sorted(found), True
    return sorted(found), False


def list_references(
    store: Store, nodes: Sequence[str], counts: Sequence[ReferenceCount], start: int, most: int
) -> Iterator[Quad]:
    """At most `most` of the statements that were counted for these nodes, from `start` on."""
    others = _leave_out(nodes)
    for predicate, node, uses in counts:
        if start >= uses:
            start -= uses
            continue
        taken = min(most, uses - start)
        property_term, target = NamedNode(predicate), NamedNode(node)
        rows = _ask(store, f"SELECT ?s {{ ?s {property_term} {target} {others} }} LIMIT {taken} OFFSET {start}")
        yield from (Quad(row[0], property_term, target, MERGE) for row in rows)
        start, most = 0, most - taken
        if not most:
            return


def _leave_out(nodes: Sequence[str]) -> str:
    """The condition that a subject is none of several nodes of one thing, which refer to each other."""
    return f"FILTER(?s NOT IN ({', '.join(str(NamedNode(node)) for node in nodes)}))" if len(nodes) > 1 else ""


def count_values(store: Store, node: str, predicate: str, most: int) -> list[tuple[NamedNode | Literal, int]]:
    """The values of a property, and how many pages give each, the most frequent first; counts at most `most` statements."""
    rows = _ask(
        store,
        f"SELECT ?o (COUNT(*) AS ?n) {{ {{ SELECT ?o {{ GRAPH ?g {{ {NamedNode(node)} {NamedNode(predicate)} ?o }} "
        f"FILTER(?g NOT IN (<{FETCHES_GRAPH}>, <{SAME_GRAPH}>)) }} LIMIT {most} }} }} GROUP BY ?o ORDER BY DESC(?n)",
    )
    return [(row[0], int(row[1].value)) for row in rows]


def count_classes(store: Store, predicate: str, most: int) -> tuple[int, list[tuple[str, int]]]:
    """How many subjects have a property, and how many of them are of which class; looks at no more than `most` subjects."""
    statements = f"{{ SELECT ?s {{ ?s {NamedNode(predicate)} ?o }} LIMIT {_STATEMENTS_A_SUBJECT * most} }}"
    subjects = f"{{ SELECT DISTINCT ?s {{ {statements} }} LIMIT {most} }}"
    return _count_subjects(store, subjects), _count_names(store, f"{subjects} ?s {NamedNode(RDF_TYPE)} ?n")


def count_properties(store: Store, class_iri: str, most: int) -> tuple[int, list[tuple[str, int]]]:
    """How many subjects have exactly this class, and how many of them which property; looks at no more than `most` subjects."""
    subjects = f"{{ SELECT ?s {{ ?s {NamedNode(RDF_TYPE)} {NamedNode(class_iri)} }} LIMIT {most} }}"
    statements = f"{{ SELECT ?s ?n {{ {subjects} ?s ?n ?o }} LIMIT {_STATEMENTS_A_SUBJECT * most} }}"
    counts = _count_names(store, f"SELECT DISTINCT ?s ?n {{ {statements} }}")
    return _count_subjects(store, subjects), [one for one in counts if one[0] != RDF_TYPE]


def _count_subjects(store: Store, subjects: str) -> int:
    return next((int(row[0].value) for row in _ask(store, f"SELECT (COUNT(*) AS ?c) {{ {subjects} }}")), 0)


def _count_names(store: Store, pattern: str) -> list[tuple[str, int]]:
    rows = _ask(store, f"SELECT ?n (COUNT(*) AS ?c) {{ {pattern} }} GROUP BY ?n")
    counts = [(row[0].value, int(row[1].value)) for row in rows if isinstance(row[0], NamedNode)]
    return sorted((one for one in counts if not one[0].startswith(GENID)), key=lambda one: (-one[1], one[0]))


def _ask(store: Store, query: str) -> QuerySolutions:
    """Run one of our own queries, which have valid terms and their own limits; queries of users go to `sparql/`."""
    rows = store.query(query)
    assert isinstance(rows, QuerySolutions)
    return rows
