"""Prerequisites: sitemaps and JSON-LD contexts, which the crawl fetches for itself, and the pages that wait for contexts.

A missing context is scheduled like any URL, at the shard that owns it, with the same politeness. The page that names it waits for
a while and is extracted again; the shard that fetches the context stores it in the crawl's folder, which all shards read.
A response that is neither a sitemap nor a context is an ordinary page, if it is in scope, so no page is lost because a link took
it for a context. The exception is HTML at a URL like /sitemap.xml: servers answer any URL with it, mostly their home page, so
only its links count.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import msgspec

from rdfspider.codes import Reason, VerdictState
from rdfspider.discover.finder import follow_redirect
from rdfspider.discover.link_headers import read_link_headers
from rdfspider.discover.sitemaps import DEFAULT_PATH, is_list
from rdfspider.fetch.fetcher import MAX_CONTEXT_BYTES
from rdfspider.judge.soft404 import is_soft_404
from rdfspider.linked_documents import KeptDocuments
from rdfspider.records import Capture, Discovered, Extraction, Lease, Page, Verdict
from rdfspider.urls import MAX_HOST_CHARS, host_of, resolve_links
from rdfspider.ways import PREREQUISITE_WAYS, Way

# How many pages of a shard may wait at the same time, and how long each waits.
MAX_WAITING = 32
WAIT_S = 30.0
# Pages sent back to the frontier that are remembered; beyond that the oldest are forgotten, and may be sent back more often.
_MAX_SENT_BACK = 10_000
# How often to check whether another shard has stored a context.
_POLL_S = 0.5
# Contexts that a shard requests in its lifetime.
_MAX_ASKED = 1_000
MAX_ASKED_BY_SITE = 50
"""The share of one registrable domain, which could name another context on each page and leave none for others."""
# The depth of contexts that refer to other contexts, and of redirects.
_MAX_ROUNDS = 8
_JSON = frozenset({"application/ld+json", "application/json"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
# URLs with these endings are not pages.
_LIST_ENDINGS = (".xml", ".gz", ".txt")

Read = Callable[[Page], Awaitable[Extraction]]
"""Extracts a page."""


class Taken(NamedTuple):
    """The outcome of fetching a context."""

    reason: Reason
    """For the verdict."""
    found: Sequence[Discovered] = ()
    """Where the context is instead."""


class Contexts:
    """The contexts that a shard's pages refer to, and the pages that wait for them."""

    def __init__(
        self,
        documents: KeptDocuments,
        discover: Callable[[Sequence[Discovered]], None],
        domain_of: Callable[[str], str],
        *,
        attempts: int = 0,
        share: Callable[[str, bytes], None] | None = None,
    ) -> None:
        """`discover` schedules URLs at once, here or at another shard; `domain_of` gives the registrable domain of a host. A page
        that waited in vain is fetched again up to `attempts` times, as long as the context may still come. `share` sends new
        files to shards that have other folders; None if all share one."""
        self._share = share
        self.documents = documents
        """The contexts that all shards share."""
        self._discover = discover
        self._domain_of = domain_of
        self._attempts = attempts
        self._asked: dict[str, float] = {}
        """When each context was requested, by the loop's clock."""
        self._asked_by_site: Counter[str] = Counter()
        self._given_up: set[str] = set()
        """Contexts that pages no longer wait for."""
        self._sent_back: dict[int, int] = {}
        """How often each page was sent back, by the id of its URL."""
        self._news = asyncio.Event()
        self.is_called_off = False
        """Whether the shard is ending or pausing, so that no page may wait."""
        self._waiting = 0
        self.waiting_bytes = 0
        """The bodies of the pages that wait."""

    async def complete(self, lease: Lease, page: Page, extraction: Extraction, read: Read) -> Extraction | None:
        """Extract a page again once its contexts have come; without them, return what it gave before. None if the page must be
        fetched again, because they may come later or the shard is ending or pausing."""
        began = asyncio.get_running_loop().time()
        for _ in range(_MAX_ROUNDS):
            missing = self._find_missing(extraction.missing_documents)
            if missing and self.is_called_off:
                return None
            asked = self._ask(lease, missing, began)
            if asked and self._waiting < MAX_WAITING:
                await self._wait(asked, len(page.body), began + WAIT_S)
                if self.is_called_off and self._find_missing(asked):
                    return None
            if self._find_missing(asked) and self._send_back(lease):
                return None
            if all(self.documents(url) is None for url in extraction.missing_documents):
                break
            extraction = await read(page)
        self._sent_back.pop(lease.url_id, None)
        return extraction

    def call_off(self) -> None:
        """End all waiting; the pages that waited are fetched again later."""
        self.is_called_off = True
        self._tell()

    def go_on(self) -> None:
        """Allow pages to wait again."""
        self.is_called_off = False

    def take(self, lease: Lease, capture: Capture, *, is_inside: bool = False) -> Taken | None:
        """Store a fetched context, or follow the page's link to it; None if it is no context, or is also a page in scope."""
        if not capture.truncated and is_context(capture.page.body):
            self._keep(lease, capture.page.body)
            return None if is_inside and not is_context(capture.page.body, is_alone=True) else Taken(Reason.CONTEXT)
        # JSON-LD 1.1 API, 9.4.2, step 5: a Link header may name the context.
        for link in read_link_headers(capture.headers, capture.page.url):
            if link.media_type == "application/ld+json" and "alternate" in link.relation.lower().split():
                return Taken(Reason.NO_CONTEXT, self.lead(lease, follow_redirect(lease, link.target)))
        self.settle(lease, Verdict(VerdictState.DONE, Reason.NO_CONTEXT), ())
        return None

    def take_found(self, page: Page, media_type: str) -> None:
        """Store a page that is nothing but a context, so that it is not requested again."""
        if media_type in _JSON and len(page.body) <= MAX_CONTEXT_BYTES and is_context(page.body, is_alone=True):
            self._store(page.url, page.body)
            self._tell()

    def lead(self, lease: Lease, found: Sequence[Discovered]) -> Sequence[Discovered]:
        """Return where a context is that is elsewhere; nothing if it is unavailable, or stored already and used for this URL."""
        if not found or found[0].url in lease.chain or len(lease.chain) >= _MAX_ROUNDS:
            return ()
        body = self.documents(found[0].url)
        if body is not None:
            self._keep(lease, body)
        # A context that is known to be unavailable is not requested again.
        return found if body is None and not self.documents.is_known(found[0].url) else ()

    def settle(self, lease: Lease, verdict: Verdict, found: Sequence[Discovered]) -> None:
        """Take the outcome of a lease: if it was for a context that is unavailable, no shard waits for it any longer."""
        if lease.found_as == Way.CONTEXT and verdict.is_final and not found:
            for url in (lease.url, *lease.chain):
                if not self._store(url, None):
                    self._given_up.add(url)
            self._tell()

    def _keep(self, lease: Lease, body: bytes) -> None:
        for url in (lease.url, *lease.chain):
            if not self._store(url, body):
                self._given_up.add(url)
        self._tell()

    def take_shared(self, name: str, body: bytes) -> None:
        """Take a file that another shard has stored."""
        self.documents.take(name, body)
        self._tell()

    def _store(self, url: str, body: bytes | None) -> bool:
        """Store a document, or without a body that it is unavailable; False if there are too many."""
        is_new = self._share is not None and not self.documents.is_known(url)
        is_stored = self.documents.give_up(url) if body is None else self.documents.keep(url, body)
        if self._share is not None and is_new and is_stored:
            self._share(self.documents.name(url, is_kept=body is not None), body or b"")
        return is_stored

    def _find_missing(self, wanted: Iterable[str]) -> list[str]:
        """Return the URLs of the contexts that may still come."""
        named = resolve_links("", wanted).values()
        urls = dict.fromkeys(url for url in named if url and len(host_of(url)) <= MAX_HOST_CHARS)
        return [url for url in urls if url not in self._given_up and not self.documents.is_known(url)]

    def _send_back(self, lease: Lease) -> bool:
        """Whether a page may be fetched once more for a context that may still come; counts it if so."""
        times = self._sent_back.get(lease.url_id, 0)
        if times >= self._attempts:
            return False
        if len(self._sent_back) >= _MAX_SENT_BACK:
            self._sent_back.pop(next(iter(self._sent_back)))
        self._sent_back[lease.url_id] = times + 1
        return True

    def _ask(self, lease: Lease, missing: Sequence[str], now: float) -> list[str]:
        """Request missing contexts, within the limits; returns those that have been requested."""
        site = self._domain_of(lease.host)
        room = min(_MAX_ASKED - len(self._asked), MAX_ASKED_BY_SITE - self._asked_by_site[site])
        new = [url for url in missing if url not in self._asked][: max(room, 0)]
        if new:
            self._asked_by_site[site] += len(new)
            self._asked.update(dict.fromkeys(new, now))
            self._discover([Discovered(url, lease.depth, Way.CONTEXT, lease.url_id) for url in new])
        return [url for url in missing if url in self._asked]

    async def _wait(self, wanted: Sequence[str], body_bytes: int, deadline: float) -> None:
        """Wait until all contexts are stored or known to be unavailable, or until the deadline."""
        loop = asyncio.get_running_loop()
        self._waiting += 1
        self.waiting_bytes += body_bytes
        try:
            while not self.is_called_off and (missing := self._find_missing(wanted)):
                left_s = deadline - loop.time()
                if left_s <= 0:
                    # Pages are fetched again for a context only for so long: it may never come.
                    patience_s = WAIT_S * (self._attempts + 1)
                    self._given_up.update(url for url in missing if deadline >= self._asked[url] + patience_s)
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), min(left_s, _POLL_S))
        finally:
            self._waiting -= 1
            self.waiting_bytes -= body_bytes

    def _tell(self) -> None:
        """Wake all waiting pages."""
        self._news.set()
        self._news = asyncio.Event()


def is_context(body: bytes, *, is_alone: bool = False) -> bool:
    """Whether a document is a JSON object with a context, and with `is_alone` nothing else."""
    if b'"@context"' not in body:
        return False
    try:
        found = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return isinstance(found, dict) and "@context" in found and (len(found) == 1 or not is_alone)


def classify_prerequisite(
    lease: Lease, verdict: Verdict, extraction: Extraction | None = None, *, is_inside: bool = False
) -> Verdict:
    """Return the verdict with a reason that marks a prerequisite, which does not count as a page.

    A response that turned out to be a page counts as one, if it is in scope and does not merely stand in for a sitemap. A missing
    sitemap at the default path is no failure. A sitemap that was found as a page stays a page: a server may answer every URL with
    one, and pages have limits."""
    if lease.found_as not in PREREQUISITE_WAYS:
        return verdict
    is_guess = lease.found_as == Way.SITEMAP and lease.url.endswith(DEFAULT_PATH) and not lease.chain
    if verdict.is_page:
        if (
            lease.found_as == Way.SITEMAP
            and extraction is not None
            and (extraction.is_sitemap or is_list(extraction.links))
        ):
            return msgspec.structs.replace(verdict, reason=Reason.SITEMAP)
        if is_inside and extraction is not None and not _stands_in(lease, extraction):
            is_nothing = is_guess and _says_nothing(extraction)
            return msgspec.structs.replace(verdict, reason=Reason.NO_SITEMAP) if is_nothing else verdict
        return msgspec.structs.replace(verdict, reason=f"no-{lease.found_as}")
    if is_guess and verdict.is_final and verdict.status >= 400:
        return msgspec.structs.replace(verdict, state=VerdictState.DONE, reason=Reason.NO_SITEMAP)
    return verdict


def _says_nothing(extraction: Extraction) -> bool:
    """Whether the response from a guessed URL is empty or a soft 404."""
    return not (extraction.links or extraction.statements) or is_soft_404(extraction)


def _stands_in(lease: Lease, extraction: Extraction) -> bool:
    """Whether HTML came from a URL that looks like a list; a real page would also have another URL."""
    is_of_list = lease.found_as == Way.SITEMAP and lease.url.partition("?")[0].endswith(_LIST_ENDINGS)
    return is_of_list and extraction.media_type in _HTML


def trim_prerequisite(lease: Lease, verdict: Verdict, extraction: Extraction, *, is_inside: bool = False) -> Extraction:
    """Drop what is not kept: sitemaps and feeds are kept whole, HTML in place of a sitemap keeps its links, the rest nothing."""
    if not verdict.reason.startswith("no-"):
        return extraction
    leads = is_inside and _stands_in(lease, extraction) and not is_soft_404(extraction)
    return replace(extraction, statements={}, text="", title=None, links=extraction.links if leads else ())
