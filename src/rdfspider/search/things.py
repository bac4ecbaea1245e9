"""The N-Quads of a page in, things out: a record for each, with the blank nodes that hang on it inside.

A blank node that two others point at, that would be nested too deep or that is a part of a ring gets a record of its own, and
where it is pointed at its id alone stands. So each statement is written once, whatever a page says.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat

from rdfspider.index.labels import RDF_TYPE

_XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
# Readers of JSON give up on nesting sooner or later; what people write by hand is rarely deeper than five.
_DEPTH = 20

Record = dict[str, Any]


def group_things(nquads: bytes, chosen: Collection[str] = ()) -> Iterator[Record]:
    """Records of the form {"id", "types", "properties": {IRI: [value, …]}}; those that were chosen are never inside others."""
    subjects: dict[str, list[tuple[str, Any]]] = {}
    mentions: Counter[str] = Counter()
    for quad in pyoxigraph.parse(nquads, RdfFormat.N_QUADS):
        subjects.setdefault(str(quad.subject), []).append((quad.predicate.value, quad.object))
        if isinstance(quad.object, BlankNode):
            mentions[str(quad.object)] += 1
    apart = [node for node in subjects if node[0] != "_" or mentions[node] != 1 or node in chosen]
    written: set[str] = set(apart)
    for node in apart:
        yield _make_record(node, subjects, written, _DEPTH)
    # What is left over was too deep, or is one of a ring.
    for node in subjects:
        if node not in written:
            written.add(node)
            yield _make_record(node, subjects, written, _DEPTH)


def _make_record(node: str, subjects: dict[str, list[tuple[str, Any]]], written: set[str], depth: int) -> Record:
    types: list[str] = []
    properties: dict[str, list[Record]] = {}
    for predicate, value in subjects[node]:
        if predicate == RDF_TYPE and isinstance(value, NamedNode):
            types.append(value.value)
        else:
            properties.setdefault(predicate, []).append(_make_value(value, subjects, written, depth - 1))
    return {"id": _write_id(node), "types": types, "properties": properties}


def _make_value(value: Any, subjects: dict[str, list[tuple[str, Any]]], written: set[str], depth: int) -> Record:
    if isinstance(value, Literal):
        if value.language:
            return {"value": value.value, "language": value.language}
        if value.datatype.value != _XSD_STRING:
            return {"value": value.value, "datatype": value.datatype.value}
        return {"value": value.value}
    node = str(value)
    if node not in subjects or node in written or not isinstance(value, BlankNode) or depth <= 0:
        return {"id": _write_id(node)}
    written.add(node)
    return _make_record(node, subjects, written, depth)


def _write_id(node: str) -> str:
    return node[1:-1] if node[0] == "<" else node
