"""The statements of one page in, its subjects with what is said of each out, and how often each class and property is used.

The first half of reading a page for the text index; `entities.py` makes things of subjects.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from rdfspider.index.dates import read_date
from rdfspider.index.labels import DATES, DESCRIPTIONS, LABELS, RDF_TYPE, SUBCLASS_OF
from rdfspider.index.names import find_ontology
from rdfspider.index.terms import fold_statements

MAX_STATEMENTS = 100_000
"""More of one syntax are not looked at; the quad store has them all."""
MAX_LABEL, MAX_VALUE = 500, 2_000
"""In characters."""
MAX_IRI = 2_000
_MAX_SUBCLASSES = 20_000
_MAX_NAMES = 2_000
"""Classes, properties and ontologies of one page that are counted."""
_MAX_NODE_STATEMENTS = 2_000
"""More of one subject are counted, but not looked at."""
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}

Text = tuple[int, str, str]
"""Rank, language tag and text."""
Date = tuple[int, float]
"""Rank and seconds since 1970."""


class PageFacts(msgspec.Struct, array_like=True):
    """What a page adds to the counts; kept with it, to be subtracted when the page is replaced."""

    classes: dict[str, int]
    properties: dict[str, int]
    ontologies: dict[str, int]
    syntaxes: dict[str, int]
    entities: list[bytes] = []
    subclasses: int = 0

    @property
    def quads(self) -> int:
        """Its statements, those of each syntax counted."""
        return sum(self.syntaxes.values())


@dataclass(slots=True)
class Node:
    """A subject, as the page describes it. IRIs are in brackets where they may also be names of nodes."""

    types: list[str] = field(default_factory=list)
    labels: list[Text] = field(default_factory=list)
    descriptions: list[Text] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    """Property and literal."""
    links: list[tuple[str, str]] = field(default_factory=list)
    """Property and `<object>`."""
    languages: set[str] = field(default_factory=set)
    syntaxes: list[str] = field(default_factory=list)
    date: Date | None = None
    is_object: bool = False
    label: str = ""
    """The best of its labels."""


@dataclass(slots=True)
class Graph:
    """All that one page states."""

    nodes: dict[str, Node]
    """By `<subject>`; blank nodes are `<genid:…>`."""
    facts: PageFacts
    subclasses: list[tuple[str, str]]


def read_graph(url: str, statements: Mapping[str, str]) -> Graph:
    """The subjects of a page's statements; what several syntaxes say is taken once."""
    nodes: dict[str, Node] = {}
    classes: list[str] = []
    predicates: list[str] = []
    syntaxes: dict[str, int] = {}
    subclasses: list[tuple[str, str]] = []
    seen: set[str] = set()
    for syntax in sorted(statements):
        triples = _fold(syntax, statements[syntax], url)
        syntaxes[syntax] = len(triples)
        for triple in triples[:MAX_STATEMENTS]:
            subject, predicate, target = triple.split(" ", 2)
            node = nodes.get(subject)
            if node is None:
                node = nodes[subject] = Node()
            if not node.syntaxes or node.syntaxes[-1] != syntax:
                node.syntaxes.append(syntax)
            if triple in seen:
                continue
            seen.add(triple)
            predicate = predicate[1:-1]
            predicates.append(predicate)
            if target[0] == '"':
                if len(node.texts) < _MAX_NODE_STATEMENTS:
                    _add_literal(node, predicate, target)
            elif predicate == RDF_TYPE:
                node.types.append(target[1:-1])
                classes.append(target[1:-1])
            elif len(node.links) < _MAX_NODE_STATEMENTS:
                node.links.append((predicate, target))
                if predicate == SUBCLASS_OF and len(subclasses) < _MAX_SUBCLASSES and len(triple) <= MAX_IRI:
                    subclasses.append((subject[1:-1], target[1:-1]))
    _connect(nodes)
    return Graph(nodes, _count(Counter(classes), Counter(predicates), syntaxes), subclasses)


def _fold(syntax: str, nquads: str, url: str) -> list[str]:
    """The triples of one syntax; without those whose escapes stand for no character, which an archive from elsewhere may have."""
    try:
        triples = fold_statements({syntax: nquads}, url)
        if "\\" in nquads:
            "".join(triples).encode()
    except ValueError:
        lines = nquads.split("\n")
        return [] if len(lines) < 2 else [triple for line in lines for triple in _fold(syntax, line, url)]
    return triples


def _add_literal(node: Node, predicate: str, literal: str) -> None:
    end = literal.rindex('"')
    text = literal[1 : min(end, MAX_VALUE + 1)].strip()
    if "\\" in text:
        text = _ESCAPE.sub(_unescape, text).strip()
    if not text:
        return
    language = literal[end + 2 : end + 40] if literal[end + 1 : end + 2] == "@" else ""
    if language:
        node.languages.add(language)
    node.texts.append((predicate, text))
    if (rank := LABELS.get(predicate)) is not None:
        node.labels.append((rank, language, " ".join(text[:MAX_LABEL].split())))
    elif (rank := DESCRIPTIONS.get(predicate)) is not None:
        node.descriptions.append((rank, language, text))
    elif (rank := DATES.get(predicate)) is not None and (date := read_date(text)) is not None:
        node.date = (rank, date) if node.date is None else min(node.date, (rank, date))


def _unescape(found: re.Match[str]) -> str:
    if found[3]:
        return _ESCAPED.get(found[3], found[3])
    code = int(found[1] or found[2], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _connect(nodes: dict[str, Node]) -> None:
    """Tell each node its label, and whether another one points to it."""
    for name, node in nodes.items():
        if node.labels:
            node.label = min(node.labels)[2]
        for _, target in node.links:
            if target != name and (other := nodes.get(target)) is not None:
                other.is_object = True


def _count(classes: Counter[str], predicates: Counter[str], syntaxes: dict[str, int]) -> PageFacts:
    ontologies: Counter[str] = Counter()
    for names in (classes, predicates):
        for iri, uses in names.items():
            if len(iri) <= MAX_IRI:
                ontologies[find_ontology(iri)] += uses
    return PageFacts(_cut(classes), _cut(predicates), _cut(ontologies), syntaxes)


def _cut(names: Counter[str]) -> dict[str, int]:
    """The most used names that are not too long."""
    if len(names) <= _MAX_NAMES:
        return {name: uses for name, uses in names.items() if len(name) <= MAX_IRI}
    ranked = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    return {name: uses for name, uses in ranked[:_MAX_NAMES] if len(name) <= MAX_IRI}
