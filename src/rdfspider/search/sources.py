"""A page's graph in, when the page was fetched and in which syntaxes it speaks out: who says something, and since when."""

from dataclasses import dataclass
from datetime import datetime

from pyoxigraph import Literal, NamedNode, Store

from rdfspider.index.provenance import VOCABULARY
from rdfspider.index.terms import FETCHES_GRAPH

_FETCHES = NamedNode(FETCHES_GRAPH)
_FETCHED = NamedNode("http://www.w3.org/ns/prov#generatedAtTime")
_SYNTAX = NamedNode(f"{VOCABULARY}syntax")


@dataclass(frozen=True, slots=True)
class Source:
    """A page that says something."""

    page: str
    fetched: float = 0.0
    """In seconds since 1970; 0 where it is not known."""
    syntaxes: tuple[str, ...] = ()
    """Those in which the page says anything, or the very ones in which it says this."""
    is_exact: bool = False
    """Whether they are the very ones: the index knows them where a page speaks in one syntax alone."""


def find_source(store: Store, page: str) -> Source:
    """What the index knows of a page."""
    found = store.quads_for_pattern(NamedNode(page), _SYNTAX, None, _FETCHES)
    syntaxes = sorted(quad.object.value for quad in found if isinstance(quad.object, Literal))
    return Source(page, find_time(store, page), tuple(syntaxes), len(syntaxes) == 1)


def find_time(store: Store, page: str) -> float:
    """When a page was fetched, in seconds since 1970; 0 where it is not known."""
    for quad in store.quads_for_pattern(NamedNode(page), _FETCHED, None, _FETCHES):
        if isinstance(quad.object, Literal):
            try:
                return datetime.fromisoformat(quad.object.value).timestamp()
            except ValueError:
                continue
    return 0.0
