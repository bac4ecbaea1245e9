"""The statements of one page enter, its subjects with their descriptions leave, and how often each class and property is used.

This is the first half of reading a page for the text index; `contributions.py` turns subjects into entities.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from rdfspider.vocabulary.dates import read_date
from rdfspider.vocabulary.labels import (
    ADDRESSES,
    DATES,
    DESCRIPTIONS,
    IMAGES,
    LABELS,
    NO_LABEL_RANK,
    RDF_TYPE,
    SUBCLASS_OF,
    clean_text,
    flatten_label,
    is_code,
    is_visible,
)
from rdfspider.vocabulary.names import find_ontology
from rdfspider.vocabulary.terms import Triple, fold_triples, unescape

MAX_STATEMENTS = 100_000
"""Per syntax; further statements are skipped here, but the quad store has them all."""
MAX_LABEL, MAX_VALUE = 500, 2_000
"""In characters."""
MAX_IRI = 2_000
_MAX_SUBCLASSES = 20_000
_MAX_NAMES = 2_000
"""Classes, properties and ontologies of one page that are counted."""
_MAX_NODE_STATEMENTS = 2_000
"""Per subject, for texts and links each; further statements are only counted."""
_MAX_OWNERS = 4
_TYPE, _SUBCLASS, _LABEL, _DESCRIPTION, _DATE, _ADDRESS, _IMAGE = range(1, 8)
_ROLES = {
    _TYPE: {RDF_TYPE: 0},
    _SUBCLASS: {SUBCLASS_OF: 0},
    _LABEL: LABELS,
    _DESCRIPTION: DESCRIPTIONS,
    _DATE: DATES,
    _ADDRESS: ADDRESSES,
    _IMAGE: IMAGES,
}
"""The roles of properties, and the rank of each property within its role; no property has two roles."""

Text = tuple[int, str, str]
"""Rank, language tag and text."""
Date = tuple[int, float]
"""Rank and seconds since 1970."""


class PageSummary(msgspec.Struct, array_like=True):
    """What a page adds to the counts; stored with it, to be subtracted when the page is replaced."""

    classes: dict[str, int]
    properties: dict[str, int]
    ontologies: dict[str, int]
    syntaxes: dict[str, int]
    entities: list[bytes] = []
    subclasses: int = 0
    claims: list[tuple[bytes, bytes, int]] = []
    """What it claims of the identity of its entities (`index/identity/evidence.py`)."""

    @property
    def quads(self) -> int:
        """Its statements, counted in each syntax."""
        return sum(self.syntaxes.values())


@dataclass(slots=True)
class Node:
    """A subject as the page describes it. IRIs that may also be names of nodes are in angle brackets."""

    types: list[str] = field(default_factory=list)
    labels: list[Text] = field(default_factory=list)
    descriptions: list[Text] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    """Property and literal."""
    links: list[tuple[str, str]] = field(default_factory=list)
    """Property and `<object>`."""
    addresses: list[tuple[int, str]] = field(default_factory=list)
    """Rank and web address."""
    images: list[tuple[int, str]] = field(default_factory=list)
    """Rank and web address, or `<object>`."""
    languages: set[str] = field(default_factory=set)
    syntaxes: list[str] = field(default_factory=list)
    date: Date | None = None
    owners: list[str] = field(default_factory=list)
    """The first nodes that point to it."""
    label: str = ""
    """The best of its labels."""


@dataclass(slots=True)
class Graph:
    """Everything that one page states."""

    nodes: dict[str, Node]
    """By `<subject>`; blank nodes are `<genid:…>`."""
    facts: PageSummary
    subclasses: list[tuple[str, str]]


def read_graph(url: str, statements: Mapping[str, str]) -> Graph:
    """The subjects of a page's statements; a triple that several syntaxes state is taken once."""
    graph = Graph({}, PageSummary({}, {}, {}, {}), [])
    classes: list[str] = []
    predicates: list[str] = []
    seen: set[Triple] = set()
    for syntax, stated in sorted(fold_triples(statements, url).items()):
        triples = dict.fromkeys(stated[:MAX_STATEMENTS])
        if "\\" in statements[syntax]:
            triples = {triple: None for triple in triples if not _has_bad_escape(triple)}
        # Skipped statements may be repetitions, but are counted as if they were not.
        graph.facts.syntaxes[syntax] = len(triples) + max(0, len(stated) - MAX_STATEMENTS)
        repeated = seen.intersection(triples)
        seen.update(triples)
        _add_triples(graph, syntax, triples, repeated, classes, predicates)
    _connect(graph.nodes)
    _count(graph.facts, Counter(classes), Counter(predicates))
    return graph


def _add_triples(
    graph: Graph,
    syntax: str,
    triples: Iterable[Triple],
    repeated: Container[Triple],
    classes: list[str],
    predicates: list[str],
) -> None:
    """Add the triples of one syntax, except repeated ones, and collect the classes and properties that are used."""
    nodes, subclasses = graph.nodes, graph.subclasses
    last = ""
    node = Node()
    for triple in triples:
        subject, predicate, target = triple
        if subject != last:
            last = subject
            node = nodes.get(subject) or nodes.setdefault(subject, Node())
            if not node.syntaxes or node.syntaxes[-1] != syntax:
                node.syntaxes.append(syntax)
        if triple in repeated:
            continue
        name, role, rank = _find_role(predicate)
        predicates.append(name)
        if target[0] == '"':
            if len(node.texts) < _MAX_NODE_STATEMENTS:
                _add_literal(node, name, role, rank, target)
        elif role == _TYPE:
            node.types.append(target[1:-1])
            classes.append(target[1:-1])
        elif len(node.links) < _MAX_NODE_STATEMENTS:
            node.links.append((name, target))
            if role == _ADDRESS:
                _add_address(node, rank, target[1:-1])
            elif role == _IMAGE:
                node.images.append((rank, target))
            elif role == _SUBCLASS and len(subclasses) < _MAX_SUBCLASSES and sum(map(len, triple)) <= MAX_IRI:
                subclasses.append((subject[1:-1], target[1:-1]))


def _has_bad_escape(triple: Triple) -> bool:
    """Whether an IRI has an escape that stands for no character, as in archives from elsewhere."""
    subject, predicate, target = triple
    return "\\" in subject or "\\" in predicate or ("\\" in target and target[0] != '"')


@lru_cache(maxsize=8192)
def _find_role(predicate: str) -> tuple[str, int, int]:
    """The IRI of a predicate without its brackets, its role, and its rank within the role."""
    name = predicate[1:-1]
    for role, table in _ROLES.items():
        if name in table:
            return name, role, table[name]
    return name, 0, 0


def _add_literal(node: Node, predicate: str, role: int, rank: int, literal: str) -> None:
    end = len(literal) - 1
    language = ""
    if literal[end] != '"':
        end = literal.rindex('"')
        if literal[end + 1 : end + 2] == "@":
            language = literal[end + 2 : end + 40]
    text = literal[1 : end if end <= MAX_VALUE else MAX_VALUE + 1].strip()
    if "\\" in text:
        text = unescape(text).strip()
    if "&" in text or "<" in text:
        text = clean_text(text).strip()
    if not text:
        return
    if language:
        node.languages.add(language)
    node.texts.append((predicate, text))
    if role == _LABEL:
        label = flatten_label(text[:MAX_LABEL])
        if is_visible(label):
            node.labels.append((NO_LABEL_RANK if is_code(label) else rank, language, label))
    elif role == _DESCRIPTION:
        node.descriptions.append((rank, language, text))
    elif role == _DATE and (date := read_date(text)) is not None:
        node.date = (rank, date) if node.date is None else min(node.date, (rank, date))
    elif role == _ADDRESS:
        _add_address(node, rank, text)
    elif role == _IMAGE and is_web(text):
        node.images.append((rank, text))


def _add_address(node: Node, rank: int, address: str) -> None:
    if is_web(address):
        node.addresses.append((rank, address))


def is_web(address: str) -> bool:
    """Whether it is an address that a person could open."""
    return address.startswith(("http://", "https://")) and len(address) <= MAX_IRI


def _connect(nodes: dict[str, Node]) -> None:
    """Set each node's label, and which other nodes point to it."""
    for name, node in nodes.items():
        if node.labels:
            node.label = min(node.labels)[2]
        for _, target in node.links:
            if target != name and (other := nodes.get(target)) is not None and len(other.owners) < _MAX_OWNERS:
                other.owners.append(name)


def _count(facts: PageSummary, classes: Counter[str], predicates: Counter[str]) -> None:
    ontologies: Counter[str] = Counter()
    for names in (classes, predicates):
        for iri, uses in names.items():
            if len(iri) <= MAX_IRI and (ontology := find_ontology(iri)):
                ontologies[ontology] += uses
    facts.classes, facts.properties, facts.ontologies = _cut(classes), _cut(predicates), _cut(ontologies)


def _cut(names: Counter[str]) -> dict[str, int]:
    """The most used names that are not too long."""
    if len(names) <= _MAX_NAMES:
        return {name: uses for name, uses in names.items() if len(name) <= MAX_IRI}
    ranked = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    return {name: uses for name, uses in ranked[:_MAX_NAMES] if len(name) <= MAX_IRI}
