"""Everything that passes between stages, and the glossary. No I/O; every record can be pickled.

Glossary
    page        one fetched resource, of whatever type: its address, its bytes, and what the server said of them
    content     what a page was found to be: media type, charset, decoded text, XML root
    syntax      one way in which pages state facts: rdfa, microdata, jsonld, microformats, meta, rdf, feed, …
    statement   one line of N-Quads; in its graph, named by the page's URL, it is a quad
    extraction  all that was read from a page: statements by syntax, links, title, text, problems
    problem     something in a page that was repaired, dropped or cut short; never an exception
    host        a host name; politeness belongs to it. An *origin* is scheme, host and port; robots.txt belongs to that
    domain      a registrable domain: what one owner registers below a public suffix; it decides which shard owns a host
    discovered  a URL that was found somewhere, on its way to the frontier of the shard that owns it
    lease       permission to ask one host once: for its address, its robots.txt or a page
    capture     a page as it came over the wire, with the facts of the exchange; a *failure* is an exchange without a page
    verdict     what became of a URL after an exchange, and what the ledger says of it
    finished    all that came of one lease; an *outcome* is what the archive has of it, as the indexes take it
    shard       one process that owns the hosts of its domains: frontier, fetcher, archive
    epoch       how often a shard was opened; messages of an older epoch are told apart by it
    permit      leave to commit one more page, where a crawl has a limit of pages
    beat        what a shard tells of itself every second
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from rdfspider import formats
from rdfspider.urls import resolve_links
from rdfspider.ways import Way

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


class ContentKind(StrEnum):
    """What a page is read as; every kind has its reader in `extract`."""

    HTML = "html"
    """A page for browsers, in HTML or XHTML."""
    XML = "xml"
    """XML of any other kind: RDFa, GRDDL, or a document for a stylesheet of the user's."""
    RDF = "rdf"
    """A document in a syntax of RDF other than JSON-LD."""
    JSON = "json"
    """A JSON document, read as JSON-LD."""
    FEED = "feed"
    """RSS or Atom."""
    SITEMAP = "sitemap"
    """A list of addresses for crawlers."""
    TEXT = "text"
    """Text without statements."""
    BINARY = "binary"
    """Bytes that are no text."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a page is: its kind and media type, and its text."""

    media_type: str
    kind: ContentKind
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
    """The `rel` attribute as it stands; for what has none, the element: a is "", iframe and frame are named. What a sitemap lists
    is `listed`, another sitemap `sitemap`, what a feed's item links to `item`."""
    text: str = ""
    nofollow: bool = False
    """Whether its `rel` asks not to be followed: nofollow, ugc or sponsored."""
    rank: int = 0
    """For `Discovered.rank`: what a sitemap says of its importance."""
    modified: float = 0.0
    """When its target was last modified, by what a sitemap says, in seconds since 1970; 0 where nothing says so."""
    media_type: str = ""
    """What a `link` element or header says that its target is, in lower case; empty where it does not."""


@dataclass(frozen=True, slots=True)
class Robots:
    """What a page asks of crawlers, in its `meta` elements or its header."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    unavailable_after: float = 0.0
    """When the page asks to be forgotten, in seconds since 1970; 0 where it does not."""


class Discovered(Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """A URL that was found: what goes into a frontier, also from another shard."""

    url: str
    """In WHATWG normal form, without a fragment."""
    depth: int = 0
    """Links from a seed; a redirect does not add to it."""
    found_as: Way = Way.LINK
    """How it was found."""
    via: int = 0
    """The id of the URL that it was found on; 0 for a seed."""
    chain: tuple[str, ...] = ()
    """The URLs that redirected to it, the first one first; empty where it was not a redirect."""
    rank: int = 0
    """Steps of priority that whoever found it puts it behind others (above 0) or before them (below 0)."""
    modified: float = 0.0
    """When it was last modified, by what its finder says, in seconds since 1970; 0 where nothing says so."""


class Reason(StrEnum):
    """Reasons of verdicts that have a name; others are the code of a failure, or `status-` and the HTTP status."""

    FETCHED = "fetched"
    UNCHANGED = "unchanged"
    REDIRECT = "redirect"
    GONE = "gone"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    DISALLOWED = "disallowed"
    """By robots.txt."""
    FILTERED = "filtered"
    """By the scope, a filter or the form of a trap."""
    TRAP = "trap"
    """URLs like it gave nothing new."""
    NOINDEX = "noindex"
    """The page asks not to be indexed."""
    SOFT_404 = "soft-404"
    """The page says that there is none."""
    IMPORTED = "imported"
    """It was read from an archive made elsewhere."""
    SITEMAP = "sitemap"
    CONTEXT = "context"
    NO_SITEMAP = "no-sitemap"
    NO_CONTEXT = "no-context"

    __repr__ = str.__repr__


PREREQUISITE_REASONS = frozenset({Reason.SITEMAP, Reason.CONTEXT, Reason.NO_SITEMAP, Reason.NO_CONTEXT})
"""Reasons of verdicts on what was fetched for the crawl itself, also in vain: it counts as no page."""


REFUSALS = frozenset({Reason.DISALLOWED, Reason.FILTERED})
"""Reasons of verdicts on what was not asked for: robots.txt, or the scope, a filter or a trap, is against it."""


REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Statuses that send on to another URL. 300 offers a choice, 304 is about a copy that one has, 305 and 306 are obsolete."""


class RobotsRule(StrEnum):
    """What follows from a robots.txt for the pages of its origin."""

    RULES = "rules"
    """Its text decides."""
    ALLOW = "allow"
    """There is none: all may be fetched."""
    UNREACHABLE = "unreachable"
    """Nothing may be fetched until it answers (RFC 9309, 2.3.1.4)."""

    __repr__ = str.__repr__


class LeaseKind(StrEnum):
    """What a lease is for."""

    NAME = "name"
    """To look up the host's addresses."""
    ROBOTS = "robots"
    """To fetch a robots.txt."""
    PAGE = "page"
    """To fetch a page."""


class VerdictState(StrEnum):
    """What becomes of a URL after an exchange."""

    DONE = "done"
    """It answered: 2xx, 3xx, 304, or 4xx that is an answer too."""
    RETRY = "retry"
    """It is scheduled again."""
    FAILED = "failed"
    """It is not tried again."""


class RobotsState(Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """What is known of an origin's robots.txt, as it is kept on disk. Times are seconds since 1970."""

    rule: RobotsRule
    fetched: float
    """When it answered; while it fails, when the first of those failures was."""
    expires: float
    """When it must be asked for again; for unreachable, not before that."""
    body: bytes = b""
    """The last good copy, as it came."""
    body_fetched: float = 0.0
    """When that copy came; 0 when there is none."""
    reason: str = ""
    """The status or error that decided, for people."""
    errors: int = 0
    """Failures in a row; 0 after an answer."""


class Lease(Struct, frozen=True, gc=False):
    """Permission to ask one host once, given by `Frontier.lease`. Whoever has it must end it with `Frontier.release`."""

    kind: LeaseKind
    host: str
    host_number: int
    url: str = ""
    """What to fetch; empty for a name."""
    url_id: int = 0
    """The id of a page's URL; 0 for a name and a robots.txt."""
    depth: int = 0
    found_as: Way = Way.UNKNOWN
    via: int = 0
    chain: tuple[str, ...] = ()
    attempts: int = 0
    """How often the URL was tried in vain."""
    addresses: tuple[str, ...] = ()
    """The host's addresses, vetted; empty for a name."""
    robots: RobotsState | None = None
    """What is known of the origin's robots.txt; None only before it was first asked for."""
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    """The payload digest of the last capture, `sha1:BASE32` as WARC writes it; empty when there is none."""
    captured: float = 0.0
    """When that capture was made, in seconds since 1970; 0 when there is none."""
    crawl_delay_s: float = 0.0
    """For a robots.txt: the longest Crawl-delay that is known of the host, whatever the origin; 0 when there is none."""


class Addresses(Struct, frozen=True, gc=False, array_like=True):
    """The answer to a name: addresses that may be asked, or why there are none."""

    addresses: tuple[str, ...]
    expires: float
    """When the name must be looked up again, in seconds since 1970; failures expire too."""
    failure: str = ""
    """empty: it was found; nxdomain: there is no such name; private: all its addresses are refused; else an error to retry."""
    epoch: int = 0
    """Which start of the frontier it was asked in."""


class FailureCode(StrEnum):
    """Why an exchange gave no page."""

    DNS = "dns"
    """The name servers of the host do not answer."""
    NXDOMAIN = "nxdomain"
    """There is no host of that name."""
    PRIVATE = "private"
    """The address is private, and those are refused."""
    REFUSED = "refused"
    """Nobody listens at that port."""
    UNREACHABLE = "unreachable"
    """There is no route to the address."""
    CONNECT_TIMEOUT = "connect-timeout"
    """There was no connection, or no TLS, within `connect_timeout_s`."""
    TLS = "tls"
    """The certificate is not trusted, or TLS was not agreed on."""
    FIRST_BYTE_TIMEOUT = "first-byte-timeout"
    """The server was silent for `first_byte_timeout_s` after the request."""
    SLOW = "slow"
    """The answer came too slowly for half a minute."""
    TIMEOUT = "timeout"
    """There was no head, or no body, within `timeout_s`."""
    RESET = "reset"
    """The connection ended before the answer had a body."""
    PROTOCOL = "protocol"
    """What came is not HTTP, or not encoded as it says."""
    TOO_LARGE = "too-large"
    """The head of the answer is longer than libcurl takes."""
    UNSUPPORTED = "unsupported"
    """The scheme is not fetched, the port is kept for other protocols, or libcurl refuses the URL."""
    BUSY = "busy"
    """There is no room here: bodies in flight take all their memory, or no socket is left. Try again."""

    __repr__ = str.__repr__


class Truncation(StrEnum):
    """Why a body is not whole."""

    LENGTH = "length"
    """It is longer than our limit."""
    TIME = "time"
    """It took longer than `timeout_s`."""
    DISCONNECT = "disconnect"
    """The connection ended, or the content encoding did not come to its end."""
    UNWANTED = "unwanted"
    """It is of a type that is not kept."""


class Failure(Struct, frozen=True, gc=False):
    """An exchange that gave no page."""

    url: str
    code: FailureCode
    message: str = ""
    duration_s: float = 0.0
    started: float = 0.0
    """Seconds since 1970."""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Capture:
    """A page as it came over the wire, of whatever status, and the facts of the exchange."""

    page: Page
    """Its body is decoded (no gzip, deflate or brotli left)."""
    status: int
    reason: str
    http_version: str
    """1.0, 1.1, 2 or 3, as it was spoken."""
    headers: tuple[tuple[str, str], ...]
    """As received, in their order and case; read as ISO 8859-1."""
    request_headers: tuple[tuple[str, str], ...]
    address: str
    """The address that answered."""
    started: float
    """Seconds since 1970."""
    duration_s: float
    """Total time without name, connect and TLS: what the server needed."""
    wire_bytes: int
    """What the body took on the wire, still encoded."""
    truncated: str = ""
    """Why the body is not whole: a Truncation, or what a WARC file from elsewhere says; empty where it is whole."""

    def header(self, name: str) -> str:
        """The first value of a header, whatever its case; empty where there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")

    def list_header(self, name: str) -> list[str]:
        """All values of a header, in their order; `name` is in lower case."""
        size = len(name)
        return [value for key, value in self.headers if len(key) == size and key.lower() == name]

    @property
    def location(self) -> str:
        """Where a redirect leads, as written; what goes beyond ASCII in it is UTF-8, as browsers have it."""
        return self.header("location").encode("latin-1", "replace").decode("utf-8", "replace")

    @property
    def redirect(self) -> str | None:
        """The URL that a redirect leads to, in normal form; None when it is none, or leads to what is not on the web."""
        location = self.location if self.status in REDIRECTS else ""
        return resolve_links(self.page.url, (location,))[location] if location else None


class Verdict(Struct, frozen=True, gc=False):
    """What becomes of a URL: decided by the frontier from the exchange, and changed where the page's content says otherwise."""

    state: VerdictState
    reason: str
    """For the record: a Reason, the code of a failure, or `status-404` and the like."""
    status: int = 0
    """The HTTP status; 0 where there was none."""
    error: str = ""
    """The failure's code; empty where there was none."""

    rule: str = ""
    """What decided, in words for people: a line of robots.txt, a filter, a trap; empty where the reason says all."""

    @property
    def is_final(self) -> bool:
        """Whether the outcome is put on record; a retry is not."""
        return self.state != VerdictState.RETRY

    @property
    def is_page(self) -> bool:
        """Whether it counts as a fetched page, for the budgets; what serves the crawl alone does not."""
        return 200 <= self.status < 300 and self.reason not in PREREQUISITE_REASONS


class DuplicateKind(StrEnum):
    """How a page duplicates another one."""

    NONE = ""
    """It does not."""
    EXACT = "exact"
    """It has the same bytes."""
    NEAR = "near"
    """It has nearly the same text, and states the same."""
    CANONICAL = "canonical"
    """It says so itself."""
    SOFT_404 = "soft-404"
    """It says that there is no such page, with a status that says otherwise."""

    __repr__ = str.__repr__


class Judgement(Struct, frozen=True, gc=False):
    """What was found of a page's content beyond its exchange: what it duplicates, what it asks, and what follows from that."""

    digest: str = ""
    """Of the body, `sha1:BASE32` as WARC writes it; empty where no whole body came."""
    simhash: int = 0
    """The simhash of the text, 64 bits; 0 where the text is too short for one."""
    duplicate: DuplicateKind = DuplicateKind.NONE
    original: str = ""
    """The URL of the page that it duplicates; empty where there is none."""
    directives: tuple[str, ...] = ()
    """The robots directives with their sources, one each: `noindex (X-Robots-Tag)`."""
    robots: Robots = Robots()
    """The same, of meta elements and header together."""
    data: tuple[int, ...] = ()
    """A sample of what it states, whoever the subject is, as numbers of 32 bits; empty where it states nothing."""
    words: tuple[int, ...] = ()
    """A sample of its words, without numbers and dates."""


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
    missing_documents: tuple[str, ...] = ()
    """URLs of documents that the page refers to and that were not at hand: JSON-LD contexts."""
    is_sitemap: bool = False
    """Whether it is a list of addresses for crawlers, an empty one too."""

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


class Finished(NamedTuple):
    """What came of one lease: what is put on record, and what the frontier learns."""

    lease: Lease
    verdict: Verdict
    exchange: Capture | Failure | None = None
    """None where nothing was asked."""
    extraction: Extraction | None = None
    """None where nothing was read."""
    found: Sequence[Discovered] = ()
    """The URLs that the page leads to."""
    judgement: Judgement = Judgement()
