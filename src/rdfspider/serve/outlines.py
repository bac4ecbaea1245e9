"""What a page states in one syntax in, N-Quads, as an outline for people out: things, their properties, their values.

A thing without a name stands where it is spoken of, once; RDF lists are values in their order. All of it is bounded: a page may
state half a million things.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat

from rdfspider.vocabulary.labels import LABELS, RDF_TYPE
from rdfspider.vocabulary.terms import fold_iri

MAX_STATEMENTS = 3_000
"""That are looked at, of one syntax."""
MAX_THINGS = 60
MAX_VALUES = 12
"""Of one property."""
_MAX_DEPTH = 6
_MAX_ITEMS = 200
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD_STRING, _LANGUAGE_STRING = "http://www.w3.org/2001/XMLSchema#string", f"{_RDF}langString"

Term = NamedNode | BlankNode | Literal


@dataclass(frozen=True, slots=True)
class OutlineValue:
    """One of the values of a property."""

    text: str
    """The text of a literal, or an IRI, or the label of a thing without one."""
    kind: str = "literal"
    """literal, iri or blank."""
    language: str = ""
    datatype: str = ""
    thing: "OutlineNode | None" = None
    """All of a thing without a name, where it is first spoken of."""


@dataclass(frozen=True, slots=True)
class OutlineProperty:
    """A property of a thing."""

    iri: str
    values: tuple[OutlineValue, ...]
    left_out: int = 0
    """Values that there are besides."""


@dataclass(frozen=True, slots=True)
class OutlineNode:
    """What is said of one subject."""

    name: str
    """Its IRI, or its label on the page: `_:b0`."""
    is_named: bool
    label: str = ""
    """How the page calls it; empty where it does not."""
    types: tuple[str, ...] = ()
    properties: tuple[OutlineProperty, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """What a page states in one syntax."""

    syntax: str
    things: tuple[OutlineNode, ...]
    statements: int
    """In all."""
    things_left_out: int = 0
    """Of those that the statements looked at speak of."""
    statements_left_out: int = 0
    """Those that were not looked at."""


def make_outline(syntax: str, nquads: str) -> Outline:
    """The outline of what one syntax states."""
    total = nquads.count("\n")
    head = "\n".join(islice(nquads.split("\n"), MAX_STATEMENTS)) if total > MAX_STATEMENTS else nquads
    writer = _Writer(head)
    things = tuple(islice(writer.write_things(), MAX_THINGS))
    left_out = sum(1 for _ in writer.write_things())
    return Outline(syntax, things, total, left_out, max(total - MAX_STATEMENTS, 0))


class _Writer:
    def __init__(self, nquads: str) -> None:
        self._said: dict[NamedNode | BlankNode, dict[str, list[Term]]] = {}
        self._inner: set[BlankNode] = set()
        self._written: set[NamedNode | BlankNode] = set()
        for quad in pyoxigraph.parse(nquads.encode("utf-8", "replace"), RdfFormat.N_QUADS):
            subject, value = quad.subject, quad.object
            if isinstance(subject, (NamedNode, BlankNode)) and isinstance(value, (NamedNode, BlankNode, Literal)):
                self._said.setdefault(subject, {}).setdefault(quad.predicate.value, []).append(value)
                if isinstance(value, BlankNode) and value != subject:
                    self._inner.add(value)

    def write_things(self) -> Iterator[OutlineNode]:
        """Those that stand alone; then what is only spoken of in a circle, or too deep."""
        for subject in [subject for subject in self._said if subject not in self._inner] + list(self._said):
            if subject not in self._written:
                yield self._write_thing(subject, 0)

    def _write_thing(self, subject: NamedNode | BlankNode, depth: int) -> OutlineNode:
        self._written.add(subject)
        said = self._said.get(subject, {})
        return OutlineNode(
            subject.value if isinstance(subject, NamedNode) else str(subject),
            isinstance(subject, NamedNode),
            _find_label(said),
            tuple(
                dict.fromkeys(fold_iri(term.value) for term in said.get(RDF_TYPE, ()) if isinstance(term, NamedNode))
            ),
            tuple(
                self._write_property(iri, terms, depth)
                for iri, terms in said.items()
                if iri != RDF_TYPE or not all(isinstance(term, NamedNode) for term in terms)
            ),
        )

    def _write_property(self, iri: str, terms: Sequence[Term], depth: int) -> OutlineProperty:
        flat = [item for term in terms for item in self._read_list(term)]
        values = tuple(self._write_value(term, depth) for term in flat[:MAX_VALUES])
        return OutlineProperty(iri, values, len(flat) - len(values))

    def _write_value(self, term: Term, depth: int) -> OutlineValue:
        if isinstance(term, Literal):
            datatype = term.datatype.value
            plain = datatype in (_XSD_STRING, _LANGUAGE_STRING)
            return OutlineValue(term.value, language=term.language or "", datatype="" if plain else datatype)
        if isinstance(term, NamedNode):
            return OutlineValue(term.value, "iri")
        is_new = term in self._said and term not in self._written and depth < _MAX_DEPTH
        return OutlineValue(str(term), "blank", thing=self._write_thing(term, depth + 1) if is_new else None)

    def _read_list(self, term: Term) -> list[Term]:
        """The items of an RDF list; any other term is its own only item."""
        items: list[Term] = []
        seen: set[Term] = set()
        node = term
        while isinstance(node, BlankNode) and node not in seen and len(items) < _MAX_ITEMS:
            said = self._said.get(node, {})
            if not said.keys() <= {f"{_RDF}first", f"{_RDF}rest", RDF_TYPE} or f"{_RDF}first" not in said:
                break
            seen.add(node)
            items += said[f"{_RDF}first"]
            node = next(iter(said.get(f"{_RDF}rest", ())), NamedNode(f"{_RDF}nil"))
        self._written.update(each for each in seen if not isinstance(each, Literal))
        return items or [term]


def _find_label(said: Mapping[str, Sequence[Term]]) -> str:
    """How a page calls a thing."""
    named = [(rank, terms) for iri, terms in said.items() if (rank := LABELS.get(fold_iri(iri))) is not None]
    for _, terms in sorted(named, key=lambda each: each[0]):
        if label := next((term.value for term in terms if isinstance(term, Literal) and term.value.strip()), ""):
            return label
    return ""
