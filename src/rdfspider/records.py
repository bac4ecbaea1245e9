"""Everything that passes between stages, and the glossary. No I/O; every record can be pickled.

Glossary
    page        one fetched resource, of whatever type: its address, its bytes, and what the server said of them
    content     what a page was found to be: media type, charset, decoded text, XML root
    syntax      one way in which pages state facts: rdfa, microdata, jsonld, microformats, meta, rdf, feed, …
    statement   one line of N-Quads; in its graph, named by the page's URL, it is a quad
    extraction  all that was read from a page: statements by syntax, links, title, text, problems
    problem     something in a page that was repaired, dropped or cut short; never an exception
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rdfspider import formats

if TYPE_CHECKING:
    from pyoxigraph import Quad


@dataclass(frozen=True, slots=True)
class Page:
    """A resource as it was fetched or read; `content_type` is the header as the server sent it."""

    url: str
    body: bytes
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a page that could not be taken as it is; equal ones are counted, the first is the example."""

    code: str
    message: str
    syntax: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Content:
    """What a page is. `kind` names the reader that takes it; `detect/content.py` lists the kinds."""

    media_type: str
    kind: str
    charset: str | None
    """The encoding that the text was read with; None for what is not text."""
    text: str
    """The decoded body, without a byte-order mark; empty for what is not text."""
    root: str | None = None
    """The local name of an XML document's root element; None for what is not XML."""
    namespace: str | None = None
    """The namespace of that root; None when it has none."""
    problems: tuple[Problem, ...] = ()


class Link(Struct, frozen=True, gc=False):
    """A link that a crawler could follow; `target` is in WHATWG normal form, without a fragment.

    No dataclass, unlike the other records: pages have hundreds of these, and a frozen dataclass takes far longer to make.
    """

    target: str
    relation: str = ""
    """The `rel` attribute as it stands; for what has none, the element: a is "", iframe and frame are named."""
    text: str = ""
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class Robots:
    """What the page's `meta` elements ask of crawlers."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that a page says. Statements are kept as N-Quads text, one entry a syntax; quads are made when asked for."""

    url: str
    media_type: str
    charset: str | None = None
    statements: Mapping[str, str] = field(default_factory=dict)
    """N-Quads by syntax: every line valid, none twice within a syntax, always in the same order."""
    links: tuple[Link, ...] = ()
    title: str | None = None
    language: str | None = None
    text: str = ""
    robots: Robots = Robots()
    canonical: str | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def quads(self) -> list[Quad]:
        """Every quad once, in order of appearance."""
        return formats.to_quads(self.to_nquads())

    @property
    def by_syntax(self) -> dict[str, list[Quad]]:
        """The quads of each syntax; a fact stated in two syntaxes is in both."""
        return {syntax: formats.to_quads(nquads) for syntax, nquads in self.statements.items()}

    def to_nquads(self) -> str:
        """N-Quads, a line a quad, none twice."""
        return formats.merge_nquads(self.statements.values())

    def to_turtle(self) -> str:
        """Turtle; the graph's name is left out, as Turtle has none."""
        return formats.to_turtle(self.to_nquads())

    def to_trig(self) -> str:
        """TriG, which keeps the graph's name."""
        return formats.to_trig(self.to_nquads())

    def to_jsonld(self) -> str:
        """JSON-LD in expanded form."""
        return formats.to_jsonld(self.to_nquads())

    def to_rdflib(self) -> Any:
        """An `rdflib.Dataset`; needs the extra `rdfspider[rdflib]`."""
        return formats.to_rdflib(self.to_nquads())

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` of one row a quad and syntax; its columns are `formats.COLUMNS`."""
        return formats.to_arrow(self.statements)
