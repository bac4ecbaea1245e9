"""A page's statements enter, the same with canonical IRIs for things that were found to be one leave.

Subjects and objects are rewritten, properties and the names of graphs are not; things that only blank nodes describe stay so.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from rdfspider.index.quads.selection import PageQuads

_SUBJECT = re.compile(rb"^<([^>]*)>", re.MULTILINE)
_OBJECT = re.compile(rb"^((?:<[^>]*>|_:[^ ]+) <[^>]*>) <([^>]*)>(?= <[^>]*> \.$)", re.MULTILINE)
_CACHED = 100_000


class CanonicalNames:
    """Rewrites pages. `find_canonical` returns the canonical IRI of an IRI; empty if it is its own."""

    def __init__(self, find_canonical: Callable[[str], str]) -> None:
        self._find = lru_cache(maxsize=_CACHED)(find_canonical)

    def rewrite(self, page: PageQuads) -> PageQuads:
        """The page with canonical IRIs; a statement that two names of a thing have is there once."""
        nquads = _SUBJECT.sub(lambda found: self._write(found[1]), page.nquads)
        nquads = _OBJECT.sub(lambda found: found[1] + b" " + self._write(found[2]), nquads)
        if nquads == page.nquads:
            return page
        lines = dict.fromkeys(nquads.split(b"\n"))
        things = frozenset(
            self._write(thing[1:-1].encode()).decode() if thing[:1] == "<" else thing for thing in page.things
        )
        return page._replace(nquads=b"\n".join(line for line in lines if line) + b"\n", things=things)

    def _write(self, iri: bytes) -> bytes:
        return b"<%s>" % (self._find(iri.decode()).encode() or iri)
