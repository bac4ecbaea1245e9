"""Settings, one frozen section a stage. Every field has a default, a unit and a reason."""

from collections.abc import Callable
from dataclasses import dataclass, field

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


WAYS = ("sitemaps", "headers", "data", "contexts", "ontologies")
"""What `crawl.ways` may name."""

DATA_LINKS = (
    "http://www.w3.org/2000/01/rdf-schema#seeAlso",
    "http://www.w3.org/2000/01/rdf-schema#isDefinedBy",
    "http://www.w3.org/2002/07/owl#sameAs",
    "http://schema.org/url",
    "https://schema.org/url",
    "http://schema.org/sameAs",
    "https://schema.org/sameAs",
    "http://xmlns.com/foaf/0.1/homepage",
    "http://xmlns.com/foaf/0.1/page",
    "http://purl.org/rss/1.0/link",
    "http://www.w3.org/ns/dcat#landingPage",
)
"""Predicates that say where more is said of a thing."""

DROPPED_PARAMETERS = (
    "utm_*",
    "gclid",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "twclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "phpsessid",
    "jsessionid",
    "aspsessionid*",
    "sessionid",
    "session_id",
    "sid",
    "cfid",
    "cftoken",
    "zanpid",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "wickedid",
    "s_cid",
)
"""Parameters of campaigns, advertisements and sessions, as those who make them name them; case does not count."""


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """What to crawl, and when it is enough. 0 is no limit."""

    scope: str = "domain"
    """How far to go from the seeds and from what they redirect to: host, domain (the registrable one: most sites have several
    hosts), prefix (below the seed's folder) or any (the whole web)."""
    include: tuple[str, ...] = ()
    """Regular expressions; a URL must match one of them, somewhere. None takes all. Seeds are taken anyway, and so are sitemaps,
    contexts and ontologies."""
    exclude: tuple[str, ...] = ()
    """Regular expressions; a URL that matches one of them, somewhere, is left out, sitemaps, contexts and ontologies too. Seeds
    and what they redirect to are not."""
    depth: int = 0
    """Links to follow from a seed."""
    pages: int = 0
    """Pages to fetch in all: answers of 2xx, counted when they are safe on disk, over all shards and restarts."""
    pages_per_host: int = 0
    """Pages to fetch of one host."""
    pages_per_domain: int = 0
    """Pages to fetch of one registrable domain."""
    bytes: int = 0
    """Bytes of decoded bodies to fetch in all; looked at every second, and what is under way then is kept."""
    time_s: float = 0.0
    """Seconds that the crawl may run, over all restarts."""
    revisit_s: float = 0.0
    """Seconds after which a page is fetched again; 0 fetches each once. When that is due is decided when it is fetched."""
    ways: tuple[str, ...] = ("sitemaps", "headers", "data", "contexts")
    """Ways of discovery besides the links of pages: sitemaps, headers (`Link`), data (links in statements), contexts (of JSON-LD,
    for the extractor) and ontologies (the namespaces that are met). Ontologies are off, because they are on other sites."""
    data_links: tuple[str, ...] = DATA_LINKS
    """Predicates whose objects are links, or one SPARQL query (SELECT) over a page's quads whose results are."""
    drop_parameters: tuple[str, ...] = DROPPED_PARAMETERS
    """Parameters that are cut out of links: they track or name a session, and change no content; `*` stands for anything."""
    shards: int = 0
    """Processes, fixed when a crawl is created; 0 makes one a core."""


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """How politely to ask."""

    delay_s: float = 1.0
    """Seconds between the end of a request to a host and the start of the next, at least; 0 turns every pace off."""
    ip_delay_s: float = 0.25
    """Seconds between two requests to one address (IPv6: one /64), whatever the hosts: shared servers have many."""
    duration_factor: float = 10.0
    """The gap is at least this many times what the last answer took, at most a minute: slow servers are asked less."""
    max_wait_s: float = 86_400.0
    """The longest Crawl-delay or Retry-After that is taken at its word; longer ones are cut to it."""
    backoff_s: float = 10.0
    """Seconds to leave a host alone after its first error in a row; doubled with each further one."""
    max_backoff_s: float = 3_600.0
    """The longest such wait."""
    give_up_errors: int = 6
    """Errors in a row after which a host is given up."""
    give_up_s: float = 86_400.0
    """Seconds after which a host that was given up is tried again; a crawl does not wait for it to end."""
    attempts: int = 3
    """Tries that one URL gets."""


@dataclass(frozen=True, slots=True)
class FetchConfig:
    """How pages are asked for."""

    contact: str = ""
    """A URL or e-mail address for the user agent, so that a site's owner can reach you; a crawl warns without it."""
    connections: int = 64
    """Requests at once, a shard."""
    connect_timeout_s: float = 10.0
    """Seconds for the connection, with TLS."""
    first_byte_timeout_s: float = 30.0
    """Seconds from the request to the first byte of the answer."""
    timeout_s: float = 180.0
    """Seconds for an exchange in all."""
    max_body_bytes: int = 16 * 1024 * 1024
    """Decoded bytes of a page; longer ones are cut here: browsers and other crawlers stop at 10 to 16 MB."""
    max_flight_bytes: int = 128 * 1024 * 1024
    """Decoded bytes of all bodies of a shard, from when they come until they are durable."""
    robots_ttl_s: float = 86_400.0
    """Seconds that a robots.txt is used before it is asked for again; RFC 9309 allows a day."""
    allow_private: bool = False
    """Also fetch from private, loopback and link-local addresses. Off, because pages of the web must not reach your network."""
    resolve: tuple[str, ...] = ()
    """Addresses by hand, `PATTERN=ADDRESS[:PORT]`: `*.test=127.0.0.1:8085`; they count as vetted."""


@dataclass(frozen=True, slots=True)
class ArchiveConfig:
    """What is kept of pages."""

    keep: str = "structured"
    """Which bodies: of pages with structured data, all, or none. What was extracted is always kept."""
    segment_bytes: int = 1_000_000_000
    """The length of a WARC file; the standard suggests 1 GB."""
    volumes: tuple[str, ...] = ()
    """Folders on other disks that new WARC files go to, each to the one with most room; none keeps all in the crawl's folder."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """What questions are answered from, while a crawl runs and after it."""

    enabled: bool = True
    """Whether a crawl is indexed while it runs; without it, `rdfspider index` does so later."""
    max_lag_s: float = 60.0
    """Seconds that the index may be behind before shards fetch less: answers that are older are no answers about now."""
    stores: tuple[str, ...] = ()
    """SPARQL servers that get the same quads, by their URLs; none, because the index has its own store."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How a shard works."""

    group_pages: int = 32
    """Pages that are made durable together."""
    extract_timeout_s: float = 30.0
    """Seconds that such a page may take before the helper is killed."""
    min_free_bytes: int = 500_000_000
    """A shard pauses while its disk has less room than this."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a crawl, one section a stage: defaults < crawl.toml < environment < flags."""

    crawl: CrawlConfig = field(default_factory=CrawlConfig)
    frontier: FrontierConfig = field(default_factory=FrontierConfig)
    fetch: FetchConfig = field(default_factory=FetchConfig)
    extract: ExtractConfig = field(default_factory=ExtractConfig)
    archive: ArchiveConfig = field(default_factory=ArchiveConfig)
    index: IndexConfig = field(default_factory=IndexConfig)
    run: RunConfig = field(default_factory=RunConfig)
