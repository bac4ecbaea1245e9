"""Chooses statements by the syntax that states them: a page and some statements enter, those in the chosen syntaxes leave.

The quad store does not know syntaxes, because a statement in two of them is one; the archive does. So a page's statements are
read again from there.
"""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache

import pyoxigraph
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple

from rdfspider.index.log.statements import address_page
from rdfspider.index.quads.selection import PageQuads, restore_blank_nodes
from rdfspider.vocabulary.terms import Fold

ReadStatements = Callable[[str], tuple[str, Mapping[str, str]]]
"""Returns the URL of a page and what the archive has of it, by syntax, given the IRI of its graph."""
# Things are read in another order than pages; more would cost memory, as a page may have a million statements.
_PAGES_KEPT = 4


class SyntaxFilter:
    """Knows which statements of pages are in the chosen syntaxes."""

    def __init__(
        self, read_statements: ReadStatements, chosen: Collection[str] = (), without: Collection[str] = ()
    ) -> None:
        """`chosen` are the syntaxes that count, all if there are none; those in `without` never do."""
        self._read_statements = read_statements
        self._chosen = frozenset(chosen)
        self._without = frozenset(without)
        self._list_triples = lru_cache(maxsize=_PAGES_KEPT)(self._read_triples)

    def takes(self, graph: str, subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal) -> bool:
        """Whether a page makes a statement, as the quad store has it, in a chosen syntax."""
        return Triple(subject, predicate, value) in self._list_triples(graph)

    def keep(self, page: PageQuads) -> PageQuads:
        """The page with its statements in the chosen syntaxes."""
        lines = (
            f"{triple.subject} {triple.predicate} {triple.object} .\n" for triple in self._list_triples(page.graph)
        )
        restored = restore_blank_nodes("".join(lines).encode())
        taken = {quad.triple for quad in pyoxigraph.parse(restored, RdfFormat.N_TRIPLES)}
        quads = [quad for quad in pyoxigraph.parse(page.nquads, RdfFormat.N_QUADS) if quad.triple in taken]
        return page._replace(nquads=pyoxigraph.serialize(quads, format=RdfFormat.N_QUADS) or b"")

    def _read_triples(self, graph: str) -> frozenset[Triple]:
        url, stated = self._read_statements(graph)
        statements = address_page(stated, url)
        fold = Fold(statements, url)
        found: set[Triple] = set()
        for syntax, nquads in statements.items():
            if syntax in self._without or (self._chosen and syntax not in self._chosen):
                continue
            lines = "".join(f"{' '.join(triple)} .\n" for triple in fold.read(nquads))
            found.update(quad.triple for quad in pyoxigraph.parse(lines, RdfFormat.N_TRIPLES, lenient=True))
        return frozenset(found)
