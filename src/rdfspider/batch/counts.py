"""Counts over many pages: each worker makes the PageCounts of its pages, and BatchStatistics adds them up."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from rdfspider.records import Problem
from rdfspider.vocabulary.labels import RDF_TYPE

_TRIPLE = re.compile(r"^(?:<[^>]*>|_:\S+) <([^>]*)> (?:<([^>]*)>)?", re.MULTILINE)
# Beyond this the rare names are dropped, most of which are of one page each.
_MAX_NAMES = 200_000


@dataclass(frozen=True, slots=True)
class PageCounts:
    """How often one page uses each type and property; a statement in two syntaxes counts once."""

    types: Mapping[str, int]
    properties: Mapping[str, int]


@dataclass(slots=True)
class BatchStatistics:
    """The counts of all pages so far."""

    pages: int = 0
    pages_with_data: int = 0
    quads: Counter[str] = field(default_factory=Counter)
    pages_by_syntax: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    properties: Counter[str] = field(default_factory=Counter)

    def add_page(self, quads: Mapping[str, int], problems: tuple[Problem, ...], counts: PageCounts | None) -> None:
        """Add one page: its quads by syntax, its problems and, if counted, its types and properties."""
        self.pages += 1
        self.pages_with_data += bool(quads)
        self.quads.update(quads)
        self.pages_by_syntax.update(quads.keys())
        for problem in problems:
            self.problems[problem.syntax or "page"] += problem.count
        if counts is not None:
            for total, found in ((self.types, counts.types), (self.properties, counts.properties)):
                total.update(found)
                _forget_rare(total)


def count_statements(nquads: str) -> PageCounts:
    """Count the types and properties of one page."""
    types: Counter[str] = Counter()
    properties: Counter[str] = Counter()
    for predicate, resource in _TRIPLE.findall(nquads):
        if predicate == RDF_TYPE:
            types[resource] += 1
        else:
            properties[predicate] += 1
    types.pop("", None)
    return PageCounts(types, properties)


def _forget_rare(names: Counter[str]) -> None:
    if len(names) > _MAX_NAMES:
        kept = names.most_common(_MAX_NAMES // 2)
        names.clear()
        names.update(dict(kept))
