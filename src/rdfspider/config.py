"""Settings, one frozen section a stage. Every field has a default, a unit and a reason."""

from collections.abc import Callable
from dataclasses import dataclass

DocumentSource = Callable[[str], bytes | None]
"""Gives the bytes of a document that a page refers to (a JSON-LD context, an RDFa vocabulary, a GRDDL transformation)
by its URL, or None where it has none. Nothing is ever fetched without it."""


@dataclass(frozen=True, slots=True)
class Stylesheet:
    """An XSLT 1.0 stylesheet of the user's, and the XML documents that it is for."""

    name: str
    """What problems call it: its file's name."""
    body: bytes
    root: str
    """The local name of the root elements that it takes; `*` takes any."""
    namespace: str | None = None
    """The namespace of those root elements; None takes any, the empty text takes those without one."""


@dataclass(frozen=True, slots=True)
class Transform:
    """Code of the user's that turns the bytes of a page into RDF: either a command or a Python function."""

    name: str
    """What problems call it."""
    media_type: str
    """The pages that it takes: a media type, in which `*` stands for anything (`text/csv`, `image/*`)."""
    command: tuple[str, ...] = ()
    """The program and its arguments; empty where `function` is given."""
    function: str = ""
    """`package.module:function`; empty where `command` is given."""
    result_type: str = "text/turtle"
    """The media type of the RDF that it answers with."""
    folder: str = ""
    """Where the command runs and where the function's module is looked for first; empty leaves both as they are."""


@dataclass(frozen=True, slots=True)
class ExtractConfig:
    """What to take out of a page, and the bounds within which hostile ones are kept."""

    syntaxes: frozenset[str] | None = None
    """The syntaxes to read; None reads all that are on by default."""
    keep_graphs: bool = False
    """Keep the graph names that a source gives itself. Off, because nobody speaks for another site."""
    about_page: bool = False
    """Also state the page's own title, description, language, addresses, images and links as RDF."""
    processor_graph: bool = False
    """Also emit the RDFa processor graph: the warnings and errors that RDFa 1.1 defines."""
    vocabulary_expansion: bool = False
    """Expand RDFa vocabularies (RDFa 1.1, section 10); they come from `documents`."""
    grddl: bool = False
    """Apply GRDDL transformations that pages name; they come from `documents`."""
    documents: DocumentSource | None = None
    """Where contexts, vocabularies and transformations come from that are not bundled; None has no others."""
    max_body_bytes: int = 16 * 1024 * 1024
    """Longer pages are cut here: browsers and other crawlers stop at 10 to 16 MB, real data is rarely so far down."""
    max_depth: int = 500
    """Elements of XML or values of JSON that nest deeper are refused: native parsers overflow their stacks, and what climbs
    a tree takes time by its depth. HTML is flattened at 512 by its parser; no real page is near that."""
    max_links: int = 10_000
    """Links kept of one page; a page with more is a listing made by a machine."""
    max_quads: int = 500_000
    """Quads kept of one page and syntax: 16 MB of N-Triples hold about 150,000 of usual length."""
    max_statement_chars: int = 128 * 1024 * 1024
    """Characters of N-Quads kept of one page and syntax; a short page can name one long prefix a million times."""
    max_iri_chars: int = 16_384
    """Longer IRIs are dropped: nearly all are data: URLs, which name nothing."""
    max_literal_chars: int = 1_000_000
    """Longer literals are cut, so that nested values of one huge page do not multiply."""
    transform_seconds: float = 10.0
    """Time that a stylesheet or a transform of the user's may take for one page before it is killed."""
    transform_memory_bytes: int = 1024 * 1024 * 1024
    """Address space that such a transform may use."""
    stylesheets: tuple[Stylesheet, ...] = ()
    """Stylesheets for XML documents that no other syntax explains; none, because they are the user's."""
    transforms: tuple[Transform, ...] = ()
    """Transforms for any other content, by media type: the first that fits is run; none, because they are the user's."""

    def wants(self, syntax: str) -> bool:
        """Whether a syntax is to be read: what is on request only, if it was asked for by its setting or by its name."""
        asked = {"page": self.about_page, "grddl": self.grddl}.get(syntax)
        if self.syntaxes is None:
            return asked is not False
        return bool(asked) or syntax in self.syntaxes
