"""Settings: one frozen section per stage. Every field has a default, a unit and a reason."""

from collections.abc import Callable
from dataclasses import dataclass, field

DocumentSource = Callable[[str], bytes | None]
"""Returns the bytes of a document that a page refers to (a JSON-LD context, an RDFa vocabulary, a GRDDL transformation)
by its URL, or None if it has no such document. Extraction itself fetches nothing."""
OPTIONAL_WAYS = ("sitemaps", "headers", "data", "contexts", "ontologies")
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
"""Predicates whose objects are pages or documents about the subject."""
DROPPED_PARAMETERS = (
    *(
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
    ),
    *(
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
    ),
    *("sid", "cfid", "cftoken", "zanpid", "oly_anon_id", "oly_enc_id", "vero_id", "wickedid", "s_cid"),
)
"""Parameters of campaigns, advertisements and sessions, under their vendors' names; case does not matter."""


@dataclass(frozen=True, slots=True)
class Stylesheet:
    """The user's XSLT 1.0 stylesheet, and the XML documents that it applies to."""

    name: str
    """Its file name, for messages about problems."""
    body: bytes
    root: str
    """The local name of the root elements that it applies to; `*` means any."""
    namespace: str | None = None
    """The namespace of those root elements; None means any, the empty string means none."""


@dataclass(frozen=True, slots=True)
class Transform:
    """The user's code that turns the bytes of a page into RDF: either a command or a Python function."""

    name: str
    """Its name, for messages about problems."""
    media_type: str
    """The media type of the pages that it applies to, in which `*` matches anything (`text/csv`, `image/*`)."""
    command: tuple[str, ...] = ()
    """The program and its arguments; empty if `function` is given."""
    function: str = ""
    """`package.module:function`; empty if `command` is given."""
    result_type: str = "text/turtle"
    """The media type of the RDF that it returns."""
    folder: str = ""
    """The working folder of a command, and the first folder to search for a function's module; empty for the defaults."""


@dataclass(frozen=True, slots=True)
class ExtractConfig:
    """What to extract from a page, and the limits for hostile pages."""

    syntaxes: frozenset[str] | None = None
    """The syntaxes to read; None means all that are on by default."""
    keep_graphs: bool = False
    """Keep the graph names in the source. Off, because a page could name another site's graph."""
    about_page: bool = False
    """Also extract the page's own title, description, language, addresses, images and links as RDF."""
    processor_graph: bool = False
    """Also emit the RDFa processor graph: the warnings and errors that RDFa 1.1 defines."""
    vocabulary_expansion: bool = False
    """Expand RDFa vocabularies (RDFa 1.1, section 10); they come from `documents`."""
    grddl: bool = False
    """Apply GRDDL transformations that pages name; they come from `documents`."""
    documents: DocumentSource | None = None
    """The source of contexts, vocabularies and transformations that are not bundled; None means none."""
    max_body_bytes: int = 16 * 1024 * 1024
    """Longer pages are cut: browsers and other crawlers stop at 10 to 16 MB, and real data is rarely so far down."""
    max_depth: int = 500
    """XML elements or JSON values that nest deeper are refused: native parsers would overflow their stacks, and the time of
    walks towards the root grows with the depth. The HTML parser flattens trees at 512; no real page is near that."""
    max_links: int = 10_000
    """Links kept of one page; only generated listings have more."""
    max_quads: int = 500_000
    """Quads kept of one page and syntax: 16 MB of N-Triples have about 150,000."""
    max_iri_chars: int = 16_384
    """Longer IRIs are dropped: nearly all of them are data: URLs, which name nothing."""
    max_literal_chars: int = 1_000_000
    """Longer literals are cut, since nested values repeat the text of a huge page."""
    transform_seconds: float = 10.0
    """Seconds per page after which a user's stylesheet or transform is killed."""
    transform_memory_bytes: int = 1024 * 1024 * 1024
    """Address space of such a process."""
    stylesheets: tuple[Stylesheet, ...] = ()
    """The user's stylesheets for XML documents without a syntax of their own."""
    transforms: tuple[Transform, ...] = ()
    """The user's transforms for any other content; the first with a matching media type is run."""

    def wants(self, syntax: str) -> bool:
        """Whether to read a syntax; one that is off by default only if its setting or `syntaxes` selects it."""
        asked = {"page": self.about_page, "grddl": self.grddl}.get(syntax)
        if self.syntaxes is None:
            return asked is not False
        return bool(asked) or syntax in self.syntaxes


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """What to crawl, and when to stop. 0 means no limit."""

    scope: str = "domain"
    """Which URLs are in scope, starting from the seeds and their redirect targets: those of the same host, domain (the
    registrable one: most sites have several hosts), prefix (the seed's folder) or any (the whole web)."""
    include: tuple[str, ...] = ()
    """Regular expressions; only URLs that one of them matches, anywhere, are fetched. Without any, all are. Seeds,
    sitemaps, contexts and ontologies are always fetched."""
    exclude: tuple[str, ...] = ()
    """Regular expressions; URLs that one of them matches, anywhere, are not fetched, not even sitemaps, contexts and
    ontologies. Seeds and their redirect targets always are."""
    depth: int = 0
    """How many links to follow from a seed."""
    pages: int = 0
    """Pages to fetch in all: responses with a 2xx status, counted when they are durable, over all shards and restarts."""
    pages_per_host: int = 0
    """Pages to fetch of one host."""
    pages_per_domain: int = 0
    """Pages to fetch of one registrable domain."""
    bytes: int = 0
    """Bytes of decoded bodies to fetch in all; checked every second, and what is in flight then has a moment to end."""
    time_s: float = 0.0
    """Seconds that the crawl may run, over all restarts."""
    revisit_s: float = 0.0
    """Seconds after which a page is fetched again; 0 fetches each page once. The time is set when the page is fetched."""
    ways: tuple[str, ...] = ("sitemaps", "headers", "data", "contexts")
    """Ways of discovery besides the links of pages: sitemaps, headers (`Link`), data (links in statements), contexts
    (of JSON-LD, for extraction) and ontologies (the namespaces in use). Ontologies are off, because they are on other
    sites."""
    data_links: tuple[str, ...] = DATA_LINKS
    """Predicates whose objects are links, or one SPARQL query (SELECT) over a page's quads whose results are links."""
    drop_parameters: tuple[str, ...] = DROPPED_PARAMETERS
    """Parameters that are removed from links: they are for tracking or sessions, and change no content; `*` matches anything."""
    shards: int = 0
    """Processes, fixed when a crawl is created; 0 means one per core."""


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """Politeness: the pauses between requests, and when to stop trying."""

    delay_s: float = 1.0
    """The least number of seconds between the end of a request to a host and the start of the next; 0 turns all pauses off."""
    ip_delay_s: float = 0.25
    """Seconds between two requests to one IP address (IPv6: one /64), whatever the hosts: shared servers have many."""
    duration_factor: float = 10.0
    """The pause is at least this many times the last response's duration, up to a minute: slow servers get fewer requests."""
    max_wait_s: float = 86_400.0
    """The longest Crawl-delay or Retry-After that is followed; longer ones are cut to it."""
    backoff_s: float = 10.0
    """Seconds without requests to a host after its first error; doubled with each further error in a row."""
    max_backoff_s: float = 3_600.0
    """The longest such back-off."""
    give_up_errors: int = 6
    """Errors in a row after which a host is given up."""
    give_up_s: float = 86_400.0
    """Seconds after which a host that was given up is tried again; a crawl may end before that."""
    attempts: int = 3
    """Attempts per URL."""


@dataclass(frozen=True, slots=True)
class FetchConfig:
    """How pages are fetched."""

    contact: str = ""
    """A URL or e-mail address for the user agent, so that a site's owner can reach you; a crawl warns without it."""
    connections: int = 64
    """Concurrent requests per shard."""
    connect_timeout_s: float = 10.0
    """Seconds for the connection, including TLS."""
    first_byte_timeout_s: float = 30.0
    """Seconds from the request to the first byte of the response."""
    timeout_s: float = 180.0
    """Seconds for the whole exchange."""
    max_body_bytes: int = 16 * 1024 * 1024
    """Decoded bytes of a page; longer ones are cut: browsers and other crawlers stop at 10 to 16 MB."""
    max_flight_bytes: int = 128 * 1024 * 1024
    """Decoded bytes of all bodies of a shard that have arrived and are not yet durable."""
    robots_ttl_s: float = 86_400.0
    """Seconds after which a robots.txt is fetched again; RFC 9309 allows a day."""
    allow_private: bool = False
    """Also fetch from private, loopback and link-local addresses. Off, since pages must not lead a crawler into your network."""
    resolve: tuple[str, ...] = ()
    """Fixed addresses of hosts, `PATTERN=ADDRESS[:PORT]`: `*.test=127.0.0.1:8085`; private ones are allowed here."""


@dataclass(frozen=True, slots=True)
class ArchiveConfig:
    """What is kept of pages."""

    keep: str = "structured"
    """Which bodies are kept: those of pages with structured data, all, or none. What was extracted is always kept."""
    segment_bytes: int = 1_000_000_000
    """The size of a WARC file; the standard suggests 1 GB."""
    volumes: tuple[str, ...] = ()
    """Folders on other disks; new WARC files go to the one with the most free space. None keeps all in the crawl's folder."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """The indexes that search and SPARQL use, while a crawl runs and after it."""

    enabled: bool = True
    """Whether a crawl is indexed while it runs; without it, `rdfspider index` does so later."""
    max_lag_s: float = 60.0
    """Seconds that the index may lag behind before shards fetch less, so that results are up to date."""
    mechanics: bool = False
    """Whether the index also takes page mechanics from RDFa: ARIA roles, link types, notes of vocabularies in use. Off, since
    half of the RDFa on real pages is nothing else, and tells nothing about the world."""
    merge: bool = True
    """Whether things that pages say are the same, or that have the same identifier, are one thing in search and entities."""
    stores: tuple[str, ...] = ()
    """URLs of SPARQL servers that get the same quads; none by default, because the index has its own store."""


@dataclass(frozen=True, slots=True)
class BackupConfig:
    """Copies of a running crawl, from which it goes on when a disk or a machine is lost."""

    url: str = ""
    """Where copies go: a folder, `s3://`, `gs://` or `az://`; none by default. Credentials come from the environment."""
    every_s: float = 60.0
    """Seconds between two copies: what a lost disk costs is fetched again. More often means more and smaller files."""
    max_bytes_s: int = 50_000_000
    """Bytes a second that each shard sends at most, so that fetching keeps the network; 0 is no limit."""
    cpu_share: float = 0.2
    """The part of a core with which each shard reads, digests and sends, so that fetching keeps the rest; 0 is no limit."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How a shard runs."""

    group_pages: int = 32
    """Pages that are made durable together."""
    extract_timeout_s: float = 30.0
    """Seconds of processor time after which the process that extracts a long page is killed; or ten times as long by the clock,
    should it hang without using any."""
    min_free_bytes: int = 500_000_000
    """A shard pauses while its disk has less free space."""
    places: tuple[str, ...] = ()
    """Where shards run, in turn, `ADDRESS=FOLDER`: each in a folder of its own, reached over TCP at that address of this machine.
    None keeps all in the crawl's folder."""
    address: str = "127.0.0.1"
    """The address of this machine at which shards in places reach the coordinator. The default is for places on this machine."""
    lease_s: float = 15.0
    """Seconds for which a shard in a place goes on without an answer of the coordinator; then it ends, and another may start."""
    replace_lost: bool = False
    """Whether a shard whose folder is lost begins anew, and is told again what the others know. It fetches its pages once more,
    so without this setting it waits, as its disk may only be away."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a crawl, one section per stage: defaults < crawl.toml < environment < flags."""

    crawl: CrawlConfig = field(default_factory=CrawlConfig)
    frontier: FrontierConfig = field(default_factory=FrontierConfig)
    fetch: FetchConfig = field(default_factory=FetchConfig)
    extract: ExtractConfig = field(default_factory=ExtractConfig)
    archive: ArchiveConfig = field(default_factory=ArchiveConfig)
    index: IndexConfig = field(default_factory=IndexConfig)
    run: RunConfig = field(default_factory=RunConfig)
    backup: BackupConfig = field(default_factory=BackupConfig)
