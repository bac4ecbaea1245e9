"""The records that pass between stages, and the glossary. No I/O; every record can be pickled.

Glossary
    page        one fetched resource of any type: its address, its bytes and their Content-Type
    content     what a page was detected to be: media type, charset, decoded text, XML root
    syntax      one way in which pages state facts: rdfa, microdata, jsonld, microformats, meta, rdf, feed, …
    statement   one line of N-Quads; in its graph, named by the page's URL, it is a quad
    extraction  everything read from a page: statements by syntax, links, title, text, problems
    problem     something in a page that was repaired, dropped or cut short; never an exception
    host        a host name, the unit of politeness. An *origin* is scheme, host and port, the unit of robots.txt
    domain      a registrable domain: what one owner registers below a public suffix; it decides which shard owns a host
    discovered  a URL that was found, on its way to the frontier of the shard that owns it
    lease       permission for one request to one host: for its address, its robots.txt or a page
    capture     a page as it came over the wire, with the facts of the exchange; a *failure* is an exchange without a page
    verdict     what becomes of a URL after an exchange, as the ledger records it
    finished    the whole result of one lease; an *outcome* is what the archive keeps of it, as the indexes read it
    shard       one process that owns the hosts of its domains: frontier, fetcher, archive
    epoch       how often a shard was opened; it identifies messages from before a restart
    permit      permission to commit one more page, in a crawl with a page limit
    beat        the report that a shard sends every second
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from rdfspider import formats
from rdfspider.codes import PREREQUISITE_REASONS, DuplicateKind, FailureCode, Lane, LeaseKind, RobotsRule, VerdictState
from rdfspider.urls import resolve_links
from rdfspider.vocabulary.mechanics import drop_mechanics
from rdfspider.ways import Way

if TYPE_CHECKING:
    from pyoxigraph import Quad

# Statements of a page that a notebook looks at.
_LINES_DRAWN = 5_000
REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Statuses that redirect to another URL. 300 offers a choice, 304 confirms a stored copy, 305 and 306 are obsolete."""


@dataclass(frozen=True, slots=True)
class Page:
    """A resource as fetched or read; `content_type` is the header as the server sent it."""

    url: str
    body: bytes
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a page that could not be used as it is; equal problems are counted, and the first is the example."""

    code: str
    message: str
    syntax: str | None = None
    count: int = 1


class ContentKind(StrEnum):
    """What a page is read as; each kind has a reader in `extract`."""

    HTML = "html"
    """A page for browsers, in HTML or XHTML."""
    XML = "xml"
    """Any other XML: RDFa, GRDDL, or a document for a user's stylesheet."""
    RDF = "rdf"
    """A document in an RDF syntax other than JSON-LD."""
    JSON = "json"
    """A JSON document, read as JSON-LD."""
    FEED = "feed"
    """RSS or Atom."""
    SITEMAP = "sitemap"
    """A list of addresses for crawlers."""
    TEXT = "text"
    """Text without statements."""
    BINARY = "binary"
    """Bytes that are not text."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a page is: its kind and media type, and its text."""

    media_type: str
    kind: ContentKind
    charset: str | None
    """The encoding that decoded the text; None if the body is not text."""
    text: str
    """The decoded body, without a byte-order mark; empty if the body is not text."""
    root: str | None = None
    """The local name of an XML document's root element; None if it is not XML."""
    namespace: str | None = None
    """The namespace of that root; None if it has none."""
    problems: tuple[Problem, ...] = ()


class Link(Struct, frozen=True, gc=False):
    """A link that a crawler could follow; `target` is in WHATWG normal form, without a fragment.

    It is a Struct, because pages have hundreds of links and creating a frozen dataclass takes far longer.
    """

    target: str
    relation: str = ""
    """The `rel` attribute as written; without one, "" for `a`, or the element's name for `iframe` and `frame`. A page in a
    sitemap is `listed`, a sitemap in it `sitemap`, the link of a feed's item `item`."""
    text: str = ""
    """What the page shows as the link, with single spaces."""
    nofollow: bool = False
    """Whether its `rel` has nofollow, ugc or sponsored."""
    rank: int = 0
    """For `Discovered.rank`: the importance given by a sitemap."""
    modified: float = 0.0
    """When its target was last modified according to a sitemap, in seconds since 1970; 0 if unknown."""
    media_type: str = ""
    """The target's media type according to a `link` element or header, in lower case; empty if not given."""
    is_title: bool = False
    """Whether the text is the `title` of a `link` element, which the page does not show."""


@dataclass(frozen=True, slots=True)
class Robots:
    """The robots directives of a page, from its `meta` elements or its header."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    unavailable_after: float = 0.0
    """When the page is to be removed from the index, in seconds since 1970; 0 for never."""


class Discovered(Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """A URL that was found, on its way into the frontier of this or another shard."""

    url: str
    """In WHATWG normal form, without a fragment."""
    depth: int = 0
    """Links from a seed; redirects do not count."""
    found_as: Way = Way.LINK
    via: int = 0
    """The id of the URL that it was found on; 0 for a seed."""
    chain: tuple[str, ...] = ()
    """The URLs that redirected to it, and those that named or listed a sitemap of another domain, in order; else empty."""
    rank: int = 0
    """Steps of priority, set by the finder: above 0 comes after other URLs, below 0 before them."""
    modified: float = 0.0
    """When it was last modified according to where it was found, in seconds since 1970; 0 if unknown."""
    line: tuple[int, ...] = ()
    """For a URL from another shard: the domains that led to it, as in its host's record."""


class Esteem(Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """What the link graph says of a site, for the frontier that owns its hosts."""

    site: str
    """A registrable domain."""
    step: int = 0
    """By how many queues its hosts come later than others; below 0 sooner."""
    hosts: dict[str, int] = {}
    """The same for hosts of it that have a step of their own, as those of farms."""
    pages: tuple[str, ...] = ()
    """URLs of it that come before others: several other sites link to them, and they were not fetched when this was found."""


class RobotsState(Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """What is known about an origin's robots.txt, as stored on disk. Times are seconds since 1970."""

    rule: RobotsRule
    fetched: float
    """When it was answered; during a series of failures, the time of the first."""
    expires: float
    """When it must be fetched again; if unreachable, the earliest time for that."""
    body: bytes = b""
    """The last good copy, as received."""
    body_fetched: float = 0.0
    """When that copy was received; 0 if there is none."""
    reason: str = ""
    """The status or error that decided, for display."""
    errors: int = 0
    """Failures in a row; 0 after an answer."""


class Lease(Struct, frozen=True, gc=False):
    """Permission for one request to one host, given by `Frontier.lease`; the holder must end it with `Frontier.release`."""

    kind: LeaseKind
    host: str
    host_number: int
    url: str = ""
    """What to fetch; empty for a name lookup."""
    url_id: int = 0
    """The id of a page's URL; 0 for a name lookup and a robots.txt."""
    depth: int = 0
    found_as: Way = Way.UNKNOWN
    via: int = 0
    chain: tuple[str, ...] = ()
    attempts: int = 0
    """Failed attempts so far."""
    addresses: tuple[str, ...] = ()
    """The host's addresses, already checked; empty for a name lookup."""
    robots: RobotsState | None = None
    """What is known about the origin's robots.txt; None only before it was first fetched."""
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    """The payload digest of the last capture, `sha1:BASE32` as WARC writes it; empty if there is none."""
    captured: float = 0.0
    """When that capture was made, in seconds since 1970; 0 if there is none."""
    crawl_delay_s: float = 0.0
    """For a robots.txt: the longest known Crawl-delay of the host, over all its origins; 0 if there is none."""
    lane: Lane = Lane.OPEN
    """What kind of connection it may hold."""
    heavy: int = 0
    """How often too many pages waited to be extracted when its page came."""
    is_surplus: bool = False
    """Whether its host has had more than its share, and gets what others leave."""


class Addresses(Struct, frozen=True, gc=False, array_like=True):
    """The result of a name lookup: addresses that may be contacted, or why there are none."""

    addresses: tuple[str, ...]
    expires: float
    """When the name must be looked up again, in seconds since 1970; failures expire too."""
    failure: str = ""
    """Empty if found; nxdomain: there is no such name; private: all its addresses are refused; else an error to retry."""
    epoch: int = 0
    """The epoch of the frontier that requested it."""


class Failure(Struct, frozen=True, gc=False):
    """An exchange without a page."""

    url: str
    code: FailureCode
    message: str = ""
    duration_s: float = 0.0
    started: float = 0.0
    """Seconds since 1970."""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Capture:
    """A page as it came over the wire, with any status, and the facts of the exchange."""

    page: Page
    """Its body is decoded (no gzip, deflate or brotli)."""
    status: int
    reason: str
    http_version: str
    """1.0, 1.1, 2 or 3."""
    headers: tuple[tuple[str, str], ...]
    """As received, in their order and case, decoded as ISO 8859-1."""
    request_headers: tuple[tuple[str, str], ...]
    address: str
    """The IP address that answered."""
    started: float
    """Seconds since 1970."""
    duration_s: float
    """Total time without name lookup, connecting and TLS: what the server needed."""
    wire_bytes: int
    """The size of the encoded body on the wire."""
    truncated: str = ""
    """Why the body is incomplete: a Truncation, or the reason in an external WARC file; empty if it is complete."""

    def header(self, name: str) -> str:
        """Return the first value of a header, ignoring case; empty if there is none."""
        wanted, size = name.lower(), len(name)
        for key, value in self.headers:
            if len(key) == size and key.lower() == wanted:
                return value
        return ""

    def list_header(self, name: str) -> list[str]:
        """Return all values of a header, in order; `name` must be in lower case."""
        size = len(name)
        return [value for key, value in self.headers if len(key) == size and key.lower() == name]

    @property
    def location(self) -> str:
        """The `Location` header as written; bytes beyond ASCII are read as UTF-8, as browsers do."""
        return self.header("location").encode("latin-1", "replace").decode("utf-8", "replace")

    @property
    def redirect(self) -> str | None:
        """The target of a redirect, in normal form; None if this is no redirect, or its target is not on the web."""
        location = self.location if self.status in REDIRECTS else ""
        return resolve_links(self.page.url, (location,))[location] if location else None


class Verdict(Struct, frozen=True, gc=False):
    """What becomes of a URL: the frontier decides it from the exchange, and the page's content can change it."""

    state: VerdictState
    reason: str
    """A Reason, the code of a failure, or `status-` and the HTTP status, such as `status-404`."""
    status: int = 0
    """The HTTP status; 0 if there was none."""
    error: str = ""
    """The failure's code; empty if there was none."""
    rule: str = ""
    """What decided, for display: a line of robots.txt, a filter, a trap rule; empty if the reason says everything."""

    @property
    def is_final(self) -> bool:
        """Whether the outcome is recorded; a retry is not."""
        return self.state != VerdictState.RETRY

    @property
    def is_page(self) -> bool:
        """Whether it counts as a fetched page for the budgets; a prerequisite does not."""
        return 200 <= self.status < 300 and self.reason not in PREREQUISITE_REASONS


class Fingerprint(NamedTuple):
    """What a page is compared by with pages of nearly the same text."""

    simhash: int
    """The 64-bit simhash of its text; 0 if the text is too short for one, and then the page is not compared."""
    statements: int
    """A digest of its statements."""
    is_soft_404: bool


class Judgement(Struct, frozen=True, gc=False):
    """What a page's content shows: its duplicates, its robots directives, and samples of what it contains."""

    digest: str = ""
    """The digest of the body, `sha1:BASE32` as WARC writes it; empty if the body is incomplete."""
    simhash: int = 0
    """The 64-bit simhash of the text; 0 if the text is too short for one."""
    duplicate: DuplicateKind = DuplicateKind.NONE
    original: str = ""
    """The URL of the page that it duplicates; empty if there is none."""
    directives: tuple[str, ...] = ()
    """Each robots directive with its source: `noindex (X-Robots-Tag)`."""
    robots: Robots = Robots()
    """The directives of meta elements and header combined."""
    data: tuple[int, ...] = ()
    """A sample of its statements regardless of their subjects, as 32-bit numbers; empty if it has none."""
    words: tuple[int, ...] = ()
    """A sample of its words, without numbers and dates."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything read from a page. Statements are N-Quads text, one entry per syntax; quads are created on access."""

    url: str
    media_type: str
    charset: str | None = None
    statements: Mapping[str, str] = field(default_factory=dict)
    """N-Quads by syntax: every line is valid and unique within its syntax, and their order is always the same."""
    links: tuple[Link, ...] = ()
    title: str | None = None
    language: str | None = None
    text: str = ""
    robots: Robots = Robots()
    canonical: str | None = None
    problems: tuple[Problem, ...] = ()
    missing_documents: tuple[str, ...] = ()
    """URLs of JSON-LD contexts that the page refers to and that were not available."""
    is_sitemap: bool = False
    """Whether it is a sitemap, even an empty one."""

    @property
    def quads(self) -> list[Quad]:
        """Every quad once, in order of appearance."""
        return formats.to_quads(self.to_nquads())

    @property
    def by_syntax(self) -> dict[str, list[Quad]]:
        """The quads of each syntax; a fact stated in two syntaxes is in both."""
        return {syntax: formats.to_quads(nquads) for syntax, nquads in self.statements.items()}

    def to_nquads(self) -> str:
        """N-Quads, one line per quad, without duplicates."""
        return formats.merge_nquads(self.statements.values())

    def to_turtle(self) -> str:
        """Turtle, which has no graph names."""
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

    def _repr_html_(self) -> str:
        """For notebooks: what the page is, what was read in which syntax, and cards of the things that it describes."""
        # Imported here, because it knows many vocabularies.
        from rdfspider import drawing

        heads = (("title", self.title), ("language", self.language), ("media type", self.media_type))
        facts = " · ".join(f"{name} {escape(drawing.cut_text(value))}" for name, value in heads if value)
        rows = [(escape(syntax), f"{nquads.count(chr(10)):,}") for syntax, nquads in self.statements.items() if nquads]
        nquads = formats.merge_nquads(drop_mechanics(self.statements).values())
        lines = nquads.split("\n", _LINES_DRAWN)[:_LINES_DRAWN]
        counts = f"{len(self.links):,} links, {len(self.text):,} characters of text, {len(self.problems):,} problems"
        return (
            f"<p>{drawing.draw_link(self.url)}</p><p>{facts} · {counts}</p>"
            + (drawing.draw_table(("syntax", "quads"), rows) if rows else "<p>no structured data</p>")
            + drawing.draw_things(formats.to_quads("\n".join(lines)))
        )

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with one row per quad and syntax; its columns are `formats.COLUMNS`."""
        return formats.to_arrow(self.statements)


class Finished(NamedTuple):
    """The result of one lease: what is recorded, and what the frontier learns."""

    lease: Lease
    verdict: Verdict
    exchange: Capture | Failure | None = None
    """None if no request was made."""
    extraction: Extraction | None = None
    """None if nothing was extracted."""
    found: Sequence[Discovered] = ()
    """The URLs that the page leads to."""
    judgement: Judgement = Judgement()
