"""The records of the frontier's interface besides leases and verdicts.

Robots answers, refusals and page facts enter; counts, entries of URLs and hosts, and errors leave.
"""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from rdfspider.codes import DuplicateKind, Reason
from rdfspider.errors import RdfspiderError
from rdfspider.records import Capture, Discovered, Failure, Judgement, RobotsState
from rdfspider.ways import Way

Priority = Callable[[Discovered], int]
"""Computes how soon a URL should be fetched, from the link alone: 0 is first, 7 last."""

LOWEST_PRIORITY = 7


class StaleLifeError(RdfspiderError):
    """The frontier has had a life with this epoch, or a later one: the caller must begin one above."""


class LastHeard(Struct, frozen=True, array_like=True):
    """What was last heard of a frontier, from which a copy that was put back is told apart."""

    generation: tuple[int, int] = (0, 0)
    """Epoch and number of commits."""
    hosts: int = 0
    """The highest host number that was given out."""
    urls: int = 0
    """No host has given out a higher sequence."""
    lives: int = 0
    """How many lives were begun."""

    def merge(self, other: "LastHeard") -> "LastHeard":
        """The later of both, and the higher numbers."""
        generation = max(self.generation, other.generation)
        hosts, urls, lives = (max(getattr(self, name), getattr(other, name)) for name in ("hosts", "urls", "lives"))
        return LastHeard(generation, hosts, urls, lives)


NOTHING_HEARD = LastHeard()


class UrlState(StrEnum):
    """The recorded state of a URL."""

    SCHEDULED = "scheduled"
    """It is to be fetched, for the first time or again; it may be leased already."""
    DONE = "done"
    """It was answered."""
    FAILED = "failed"
    """All attempts failed, and there is no other."""
    DISALLOWED = "disallowed"
    """It was not requested, because of robots.txt, the scope, a filter or a trap."""

    __repr__ = str.__repr__


class HostStatus(StrEnum):
    """Why a host gets no requests at all."""

    NONE = ""
    """It gets requests, now or after a wait."""
    GIVEN_UP = "given up"
    """It had too many errors in a row; it is tried again much later."""
    OVER_BUDGET = "over budget"
    """It or its domain has reached its page limit."""
    NO_ADDRESS = "no address"
    """Its name has no address that may be contacted."""

    __repr__ = str.__repr__


class RobotsAnswer(Struct, frozen=True, gc=False):
    """The result of a lease of a robots.txt."""

    state: RobotsState
    """The new state of the robots.txt."""
    exchange: Capture | Failure | None = None
    """The last request for it; None if none was made."""
    crawl_delay_s: float = 0.0
    """Its Crawl-delay; 0 without one."""


class Refusal(Struct, frozen=True, gc=False):
    """Why a leased page was not requested."""

    reason: str
    """One word for the record: filtered, or disallowed."""
    rule: str = ""
    """The line of robots.txt or the filter that decided, in words for people."""


class PageFacts(Struct, frozen=True, gc=False):
    """What is known of a fetched page, all empty if none was fetched; times are seconds since 1970."""

    digest: str = ""
    """The payload digest, `sha1:BASE32`; empty if later visits must not be compared with this one."""
    etag: str = ""
    last_modified: str = ""
    captured: float = 0.0
    """When the page was captured; 0 if later visits must not be compared with it."""
    body_bytes: int = 0
    quads: int = 0
    position: tuple[str, int] | None = None
    """WARC segment and offset of the metadata record; None without one."""
    judgement: Judgement = Judgement()
    """The judgement of its content; the default if it was not judged."""


class Counts(Struct):
    """The counts of a frontier; they include staged changes at once, and are durable with the commit."""

    known: int = 0
    """URLs ever seen: scheduled + done + failed + disallowed."""
    scheduled: int = 0
    """URLs to be fetched, those in flight included."""
    in_flight: int = 0
    """Open leases of every kind, and released pages that are not finished; not durable, as leases are not."""
    done: int = 0
    failed: int = 0
    disallowed: int = 0
    """URLs that robots.txt, a filter or a trap kept from being fetched."""
    filtered: int = 0
    """Disallowed URLs that a filter, the scope or the form of a trap excluded."""
    trapped: int = 0
    """Disallowed URLs whose pattern gave nothing new."""
    pages: int = 0
    """Committed 2xx responses; every visit counts."""
    structured: int = 0
    """Pages with structured data."""
    duplicates: int = 0
    """Pages that repeat another page."""
    imported_pages: int = 0
    """Pages from other archives, which no limit counts."""
    body_bytes: int = 0
    imported_bytes: int = 0
    """Body bytes of the imported pages."""
    quads: int = 0
    sites: int = 0
    """Registrable domains with pages."""
    hosts: int = 0
    active_hosts: int = 0
    """Hosts in memory."""
    given_up_hosts: int = 0
    scheduled_given_up: int = 0
    """Scheduled URLs of hosts that were given up; they do not keep a crawl alive."""
    over_budget: int = 0
    """Scheduled URLs of hosts and domains that reached their page limit; they do not keep a crawl alive either."""
    future_visits: int = 0
    """Done URLs that are to be visited again."""

    def count_refused(self, reason: str, number: int = 1) -> None:
        """Add a disallowed URL to the counts, by its recorded reason; -1 removes one."""
        self.disallowed += number
        self.filtered += number * (reason == Reason.FILTERED)
        self.trapped += number * (reason == Reason.TRAP)

    @property
    def fetched_pages(self) -> int:
        """Pages that count towards the crawl's limits."""
        return self.pages - self.imported_pages

    @property
    def fetched_bytes(self) -> int:
        """Body bytes that count towards the crawl's limits."""
        return self.body_bytes - self.imported_bytes

    @property
    def pending(self) -> int:
        """Scheduled URLs that keep a crawl alive."""
        return self.scheduled - self.scheduled_given_up - self.over_budget


class UrlEntry(Struct, frozen=True):
    """All that is known of one URL; times are seconds since 1970, or 0."""

    url: str
    url_id: int
    state: UrlState
    depth: int
    found_as: Way
    via: int
    """The id of the URL that it was found on; 0 for a seed."""
    chain: tuple[str, ...] = ()
    reason: str = ""
    """The last verdict's reason; empty before the first."""
    status: int = 0
    error: str = ""
    attempts: int = 0
    decided: float = 0.0
    """When the last verdict was recorded."""
    next_visit: float = 0.0
    digest: str = ""
    captured: float = 0.0
    quads: int = 0
    position: tuple[str, int] | None = None
    """WARC segment and offset of the metadata record."""
    rule: str = ""
    """What decided, in words for people; empty if the reason suffices."""
    duplicate: DuplicateKind = DuplicateKind.NONE
    original: str = ""
    """The URL of the page that it repeats."""


class HostEntry(Struct, frozen=True):
    """What is known of a host, and why it waits."""

    host: str
    pages: int
    structured: int
    """Pages with structured data."""
    quads: int
    failed: int
    """Exchanges without an answer or with a server error; a name that does not exist counts as one."""
    queued: int
    """URLs to be fetched."""
    wait_s: float
    """Seconds until the next request may be sent; 0 if it may be now, or never."""
    reason: str
    """Why it waits or gets no requests at all, in words; empty if neither is so."""
    status: HostStatus = HostStatus.NONE
