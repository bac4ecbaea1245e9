"""Samples for the report on a site: pages enter; each page's entities, problems and syntaxes leave.

Pages, statements and time are bounded, so that a site of a million pages takes no longer than one of three hundred; the report
says how much was read.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Store

from rdfspider.index.ledger.reader import PageEntry
from rdfspider.vocabulary.labels import LABELS, RDF_TYPE, clean_label
from rdfspider.vocabulary.prefixes import SCHEMA
from rdfspider.vocabulary.terms import FETCHES_GRAPH, GENID, VOCABULARY, blank_prefix, make_graph_iri

MAX_PAGES = 300
MAX_SECONDS = 0.7
_STATEMENTS_A_PAGE = 5_000
_FACTS_A_PAGE = 500
_VALUES_A_PROPERTY = 20
_TEXT_CHARS = 500
_FETCHES = NamedNode(FETCHES_GRAPH)
_PROBLEM, _DUPLICATE = f"{VOCABULARY}problem-", f"{VOCABULARY}duplicateOf"


class SampledValue(NamedTuple):
    """A value of a property: a text, or the name of another node."""

    text: str
    is_node: bool


@dataclass(slots=True)
class Described:
    """A subject of a page's statements."""

    types: list[str] = field(default_factory=list)
    label: str = ""
    values: dict[str, list[SampledValue]] = field(default_factory=dict)
    """By the short names of schema.org's properties."""
    _label_rank: int = len(LABELS)

    def add(self, name: str, value: Literal | NamedNode) -> None:
        """Add a statement about it."""
        is_node = isinstance(value, NamedNode)
        if name == RDF_TYPE:
            if is_node:
                self.types.append(value.value)
            return
        text = value.value if is_node else " ".join(value.value[:_TEXT_CHARS].split())
        # Text of white space alone does not count.
        if not text:
            return
        rank = LABELS.get(name, self._label_rank)
        if rank < self._label_rank and not is_node:
            self.label, self._label_rank = clean_label(text), rank
        if name.startswith(SCHEMA):
            known = self.values.setdefault(name.removeprefix(SCHEMA), [])
            if len(known) < _VALUES_A_PROPERTY:
                known.append(SampledValue(text, is_node))


@dataclass(frozen=True, slots=True)
class SampledPage:
    """A page of the sample."""

    url: str
    syntaxes: dict[str, int]
    """Statements by syntax."""
    problems: dict[str, int]
    """Their numbers by code."""
    duplicate_of: str
    nodes: dict[str, Described]
    is_cut: bool
    """Whether it states more than was read."""

    def find_syntax(self, node: str) -> str:
        """Return the syntax that describes a node; empty if unknown, because statements about an IRI are merged."""
        if node.startswith(GENID):
            start = node[len(GENID) :].partition("/")[0]
            return next((name for name in self.syntaxes if blank_prefix(self.url, name)[3:-1] == start), "")
        return next(iter(self.syntaxes)) if len(self.syntaxes) == 1 else ""


def read_pages(store: Store, pages: Iterable[PageEntry], seconds: float = MAX_SECONDS) -> Iterator[SampledPage]:
    """Read pages one by one until the time is up."""
    end = time.monotonic() + seconds
    for page in pages:
        if time.monotonic() > end:
            return
        yield _read_page(store, page)


def _read_page(store: Store, page: PageEntry) -> SampledPage:
    graph = NamedNode(make_graph_iri(page.url))
    problems: dict[str, int] = {}
    duplicate_of = ""
    for fact in islice(store.quads_for_pattern(graph, None, None, _FETCHES), _FACTS_A_PAGE):
        name, value = fact.predicate.value, fact.object
        if name.startswith(_PROBLEM) and isinstance(value, Literal) and value.value.isdecimal():
            problems[name.removeprefix(_PROBLEM)] = int(value.value)
        elif name == _DUPLICATE and isinstance(value, NamedNode):
            duplicate_of = value.value
    nodes, is_cut = _read_nodes(store, graph)
    return SampledPage(page.url, page.facts.syntaxes, problems, duplicate_of, nodes, is_cut)


def _read_nodes(store: Store, graph: NamedNode) -> tuple[dict[str, Described], bool]:
    """Return the nodes, and whether there are more."""
    nodes: dict[str, Described] = {}
    quads = list(islice(store.quads_for_pattern(None, None, None, graph), _STATEMENTS_A_PAGE))
    for quad in quads:
        subject, name, value = quad.subject, quad.predicate.value, quad.object
        if isinstance(subject, NamedNode) and isinstance(value, (Literal, NamedNode)):
            node = nodes.get(subject.value)
            if node is None:
                node = nodes[subject.value] = Described()
            node.add(name, value)
    return nodes, len(quads) == _STATEMENTS_A_PAGE
