"""The order in which a page states values: a page's statements enter, the place of each value leaves.

The quad store is a set, but ingredients and steps have an order that readers know from the page. The archive keeps it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

import pyoxigraph
from pyoxigraph import Literal, RdfFormat

from rdfspider.errors import RdfspiderError
from rdfspider.index.log.statements import address_page
from rdfspider.vocabulary.terms import Fold

Places = dict[tuple[str, str], int]
"""The place of each value by its text and language; an IRI or blank node is a text without a language."""

# Longer pages would take a second each.
_PAGE_CHARS = 1 << 20
_TERMS_COMPARED = 500
# Things are read page by page.
_PAGES_KEPT = 2


def number_places(terms: Iterable[str]) -> Places:
    """Number values, given as terms of N-Triples, in their order; the first place counts."""
    places: Places = {}
    for term in terms:
        found = None if term.startswith("<") else read_literal(term)
        places.setdefault((found.value, found.language or "") if found else (term.strip("<>"), ""), len(places))
    return places


def read_literal(term: str) -> Literal | None:
    """The literal of a term of N-Triples; None for anything else."""
    try:
        found = next(iter(pyoxigraph.parse(f"<urn:s> <urn:p> {term} .", RdfFormat.N_TRIPLES))).object
    except SyntaxError:
        return None
    return found if isinstance(found, Literal) else None


class PageOrder:
    """Knows the order of values on pages, and keeps the last few."""

    def __init__(self, read_statements: Callable[[str], tuple[str, Mapping[str, str]]]) -> None:
        """`read_statements` returns the URL of a page and its statements by syntax, given the IRI of its graph."""
        self._read_statements = read_statements
        self._read_terms = lru_cache(maxsize=_PAGES_KEPT)(self._read_page)

    def find_places(self, graph: str, node: str, predicate: str) -> Places:
        """The places of a node's values of a property on a page; empty where the page does not tell."""
        return number_places(self._read_terms(graph).get((f"<{node}>", f"<{predicate}>"), ())[:_TERMS_COMPARED])

    def _read_page(self, graph: str) -> dict[tuple[str, str], list[str]]:
        try:
            url, stated = self._read_statements(graph)
        except (RdfspiderError, OSError):
            # The archive may be elsewhere; a table without the order of the page is better than none.
            return {}
        statements = address_page(stated, url)
        if sum(map(len, statements.values())) > _PAGE_CHARS:
            return {}
        fold = Fold(statements, url)
        found: dict[tuple[str, str], list[str]] = {}
        for nquads in statements.values():
            for subject, predicate, term in fold.read(nquads):
                found.setdefault((subject, predicate), []).append(term)
        return found
