"""A page enters, its Extraction leaves: made in this process, or in one that can be killed.

A page that names missing JSON-LD contexts waits for them for a while; in the meantime its permit is free for other pages.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rdfspider.codes import Lane, Reason
from rdfspider.config import Config, ExtractConfig
from rdfspider.frontier.frontier import HEAVY_S
from rdfspider.html_parser import IS_SECOND_PARSER
from rdfspider.pipeline import extract_from
from rdfspider.processes.budgets import OverBudgetError, limit_cpu
from rdfspider.records import Extraction, Lease, Page
from rdfspider.run.heartbeat import Meter
from rdfspider.run.heavy_pages import TURN_FILE, LargePages, PoisonPages, is_large
from rdfspider.run.peers.permits import PermitPool
from rdfspider.run.prerequisites import Contexts

# The lanes of pages that are extracted however many wait: they are few.
_ALWAYS_LET_IN = frozenset({Lane.SLOW, Lane.HEAVY})
# What a heavy page counts for that is dropped as too many wait, and how often that may happen; then it waits, too, and fewer
# requests start meanwhile.
_DROPPED_HEAVY_S, _MAX_HEAVY_DROPS = 1.0, 3
# How often a page that has waited checks for a permit.
_PERMIT_POLL_S = 0.1


class Extractor:
    """Extracts the pages of one shard."""

    def __init__(
        self,
        folder: Path,
        config: Config,
        contexts: Contexts,
        permits: PermitPool,
        meter: Meter,
        wake: Callable[[], None],
        charge: Callable[[Lease, float], None],
    ) -> None:
        """`folder` is the shard's; `wake` is called when a permit is free, `charge` with the seconds that a page took."""
        self._contexts = contexts
        self._config = replace(config.extract, documents=contexts.documents)
        self._fetches_contexts = "contexts" in config.crawl.ways
        self._meter = meter
        self._permits = permits
        self._wake = wake
        self._charge = charge
        self._large_pages = LargePages(config.run.extract_timeout_s, folder.parent / TURN_FILE)
        self._poison_pages = PoisonPages(folder)
        self._queried_bytes = 0

    @property
    def waiting_bytes(self) -> int:
        """The bodies of pages that wait for another process or a context, and the statements of pages that wait for a query."""
        return self.waiting_body_bytes + self._queried_bytes

    @property
    def waiting_body_bytes(self) -> int:
        """The bodies among them."""
        return self._large_pages.waiting_bytes + self._contexts.waiting_bytes

    async def extract(self, lease: Lease, page: Page) -> Extraction | Reason:
        """Extract a page with the contexts that it names. If it must be fetched again, for them or because too many pages wait to
        be extracted, return the reason, and its permit has been given back."""
        extraction = None
        if lease.lane != Lane.HEAVY and not may_take_long(page, self._poison_pages):
            extraction, seconds = read_here(page, self._config, self._poison_pages, self._meter)
            self._charge(lease, seconds)
        if extraction is None:
            is_let_in = lease.lane in _ALWAYS_LET_IN or lease.heavy >= _MAX_HEAVY_DROPS
            if not is_let_in and not self._large_pages.has_room(page):
                self._permits.give_back()
                self._wake()
                self._charge(lease, _DROPPED_HEAVY_S)
                return Reason.HEAVY
            extraction, seconds = await self._large_pages.extract(page, self._config)
            self._charge(lease, seconds)
        if not extraction.missing_documents or not self._fetches_contexts:
            return extraction
        # Fetching the context may need this permit.
        self._permits.give_back()
        self._wake()
        completed = await self._contexts.complete(lease, page, extraction, self._read_again)
        while completed is not None and not self._permits.has_one():
            # Other pages have taken it; wait for more permits or the end of the crawl.
            if self._contexts.is_called_off:
                return Reason.CONTEXT
            await asyncio.sleep(_PERMIT_POLL_S)
        if completed is None:
            return Reason.CONTEXT
        self._permits.reserve()
        return completed

    async def query(self, query: str, page: Page, extraction: Extraction) -> tuple[list[str], Extraction]:
        """Return the URLs that the user's query finds in a page's data, none if there is no query; and the Extraction, with a
        Problem if the query failed or took too long."""
        if not query or not extraction.statements:
            return [], extraction
        nquads = extraction.to_nquads()
        # Both the Extraction and the message to the process hold the statements.
        queried_bytes = 2 * len(nquads)
        self._queried_bytes += queried_bytes
        try:
            found = await self._large_pages.query(query, page, nquads)
        finally:
            self._queried_bytes -= queried_bytes
        if isinstance(found, list):
            return found, extraction
        return [], replace(extraction, problems=(*extraction.problems, found))

    def close(self) -> None:
        """Kill the process for large pages."""
        self._large_pages.close()
        self._poison_pages.close()

    async def _read_again(self, page: Page) -> Extraction:
        return await extract_page(page, self._config, self._large_pages, self._poison_pages, self._meter)


async def extract_page(
    page: Page, config: ExtractConfig, large_pages: LargePages, poison_pages: PoisonPages, meter: Meter
) -> Extraction:
    """Extract a page, here, or in another process if it takes long or may crash."""
    found = None if may_take_long(page, poison_pages) else read_here(page, config, poison_pages, meter)[0]
    return found or (await large_pages.extract(page, config))[0]


def may_take_long(page: Page, poison_pages: PoisonPages) -> bool:
    """Whether a page should not even be begun here."""
    return is_large(page) or IS_SECOND_PARSER or poison_pages.has(page.url)


def read_here(
    page: Page, config: ExtractConfig, poison_pages: PoisonPages, meter: Meter
) -> tuple[Extraction | None, float]:
    """Extract a page in this process, and tell how many seconds of processor time it took; None if it takes too long for that,
    since all other pages wait."""
    extraction = None
    started_s = time.thread_time()
    with meter.of("extract"), poison_pages.watch(page.url), suppress(OverBudgetError), limit_cpu(HEAVY_S):
        extraction = extract_from(page, config)
    return extraction, time.thread_time() - started_s
