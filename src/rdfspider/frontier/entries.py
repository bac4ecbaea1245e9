"""The records that cross the frontier's door besides leases and verdicts.

In go the answer to a robots.txt, a refusal, and what is known of a page that came; out come counts, what is known of URLs and
hosts, and errors.
"""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from rdfspider.errors import RdfspiderError
from rdfspider.records import Capture, Discovered, DuplicateKind, Failure, Judgement, Reason, RobotsState
from rdfspider.ways import Way

Priority = Callable[[Discovered], int]
"""How soon a URL should be fetched, by itself: 0 is first, 7 last."""

LOWEST_PRIORITY = 7


def by_depth(link: Discovered) -> int:
    """Breadth first: seeds and what is near them before the rest, whatever was found before."""
    return link.depth if link.depth < LOWEST_PRIORITY else LOWEST_PRIORITY


class GapError(RdfspiderError):
    """A message from another shard is missing before this one; the sender must go back to the cursor."""


class UrlState(StrEnum):
    """What is on record of a URL."""

    SCHEDULED = "scheduled"
    """It is to be fetched, for the first time or again; it may be leased."""
    DONE = "done"
    """It had an answer."""
    FAILED = "failed"
    """It was tried in vain, and is not tried again."""
    DISALLOWED = "disallowed"
    """It was not asked for: robots.txt, the scope, a filter or a trap is against it."""

    __repr__ = str.__repr__


class RobotsAnswer(Struct, frozen=True, gc=False):
    """What a lease of a robots.txt has led to."""

    state: RobotsState
    """What is known of the robots.txt now."""
    exchange: Capture | Failure | None = None
    """The last request for it; None where none was made."""
    crawl_delay_s: float = 0.0
    """The Crawl-delay that it asks for; 0 where it asks for none."""


class Refusal(Struct, frozen=True, gc=False):
    """Why a leased page was not asked for."""

    reason: str
    """One word for the record: filtered, or disallowed."""
    rule: str = ""
    """What decided, in words for people: a line of robots.txt or a filter."""


class PageFacts(Struct, frozen=True, gc=False):
    """What is known of a page that came. All of it is empty where none came; times are seconds since 1970."""

    digest: str = ""
    """The payload digest, `sha1:BASE32`; empty where later visits must not be compared with this one."""
    etag: str = ""
    last_modified: str = ""
    captured: float = 0.0
    """When the page was captured; 0 where later visits must not be compared with it."""
    body_bytes: int = 0
    quads: int = 0
    position: tuple[str, int] | None = None
    """WARC segment and offset of the metadata record; None where there is none."""
    judgement: Judgement = Judgement()
    """What was found of its content; the default where it was not judged."""


class Counts(Struct):
    """How many there are of each. What is staged is in them at once, and durable with the commit."""

    known: int = 0
    """URLs ever seen: scheduled + done + failed + disallowed."""
    scheduled: int = 0
    """URLs to be fetched, those in flight included."""
    in_flight: int = 0
    """Leases of every kind that are out, and pages that are not recorded yet; not durable, as leases are not."""
    done: int = 0
    failed: int = 0
    disallowed: int = 0
    """URLs that robots.txt, a filter or a trap kept from being fetched."""
    filtered: int = 0
    """Of these, those that a filter, the scope or the form of a trap was against."""
    trapped: int = 0
    """Of these, those whose pattern gave nothing new."""
    pages: int = 0
    """Committed answers of 2xx, every visit counted."""
    structured: int = 0
    """Of these, those with structured data."""
    duplicates: int = 0
    """Of these, those that repeat another page."""
    imported_pages: int = 0
    """Of the pages, those that came from archives of others: they use up no limit."""
    body_bytes: int = 0
    imported_bytes: int = 0
    """Of these, those of the imported pages."""
    quads: int = 0
    sites: int = 0
    """Registrable domains with pages."""
    hosts: int = 0
    active_hosts: int = 0
    """Hosts in memory."""
    given_up_hosts: int = 0
    scheduled_given_up: int = 0
    """Of the scheduled ones, those of hosts that were given up: they do not keep a crawl alive."""
    over_budget: int = 0
    """Of the scheduled ones, those of hosts and domains that have all the pages they may have: nor do these."""
    future_visits: int = 0
    """Done URLs that are to be visited again."""

    def count_refused(self, reason: str, number: int = 1) -> None:
        """Take a URL into the counts that is not asked for, by the reason on record; or, with -1, out of them."""
        self.disallowed += number
        self.filtered += number * (reason == Reason.FILTERED)
        self.trapped += number * (reason == Reason.TRAP)

    @property
    def fetched_pages(self) -> int:
        """Pages that count where a crawl is limited."""
        return self.pages - self.imported_pages

    @property
    def fetched_bytes(self) -> int:
        """Bytes of bodies that count likewise."""
        return self.body_bytes - self.imported_bytes

    @property
    def pending(self) -> int:
        """Scheduled URLs that keep a crawl alive."""
        return self.scheduled - self.scheduled_given_up - self.over_budget


class UrlEntry(Struct, frozen=True):
    """All that is known of one URL. Times are seconds since 1970, 0 where there is none."""

    url: str
    url_id: int
    state: UrlState
    depth: int
    found_as: Way
    via: int
    """The id of the URL that it was found on; 0 for a seed."""
    chain: tuple[str, ...] = ()
    reason: str = ""
    """The verdict's reason; empty before the first."""
    status: int = 0
    error: str = ""
    attempts: int = 0
    decided: float = 0.0
    """When the last verdict was recorded."""
    next_visit: float = 0.0
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    captured: float = 0.0
    quads: int = 0
    position: tuple[str, int] | None = None
    """WARC segment and offset of the metadata record."""
    rule: str = ""
    """What decided, in words for people; empty where the reason says all."""
    duplicate: DuplicateKind = DuplicateKind.NONE
    original: str = ""
    """The URL of that page."""


class HostEntry(Struct, frozen=True):
    """What is known of a host, and what it waits for."""

    host: str
    pages: int
    structured: int
    """Of these, those with structured data."""
    quads: int
    failed: int
    """Exchanges that gave no answer or an error of the server; that there is no such name is one."""
    queued: int
    """URLs to be fetched."""
    wait_s: float
    """Seconds before it may be asked again; 0 when it may be now, and where no time will do."""
    reason: str
    """Why it waits or is not asked at all, in words; empty where it does neither."""
    status: str = ""
    """given up, over budget, no address, or empty."""
