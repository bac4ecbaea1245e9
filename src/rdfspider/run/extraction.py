"""A page enters, its Extraction leaves: made in this process, or in one that can be killed.

A page that names missing JSON-LD contexts waits for them for a while; in the meantime its permit is free for other pages.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rdfspider.config import Config, ExtractConfig
from rdfspider.detect.content import MAGIC
from rdfspider.html_parser import IS_SECOND_PARSER
from rdfspider.pipeline import extract_from
from rdfspider.records import Extraction, Lease, Page
from rdfspider.run.heartbeat import Meter
from rdfspider.run.heavy_pages import LARGE_PAGE_BYTES, LargePages, PoisonPages
from rdfspider.run.peers.permits import PermitPool
from rdfspider.run.prerequisites import Contexts

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
    ) -> None:
        """`folder` is the shard's; `wake` is called when a permit is free."""
        self._contexts = contexts
        self._config = replace(config.extract, documents=contexts.documents)
        self._fetches_contexts = "contexts" in config.crawl.ways
        self._meter = meter
        self._permits = permits
        self._wake = wake
        self._large_pages = LargePages(config.run.extract_timeout_s)
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

    async def extract(self, lease: Lease, page: Page) -> Extraction | None:
        """Extract a page with the contexts that it names; None if it must be fetched again for them, and then its permit has been
        given back."""
        extraction = await self._read(page)
        if not extraction.missing_documents or not self._fetches_contexts:
            return extraction
        # Fetching the context may need this permit.
        self._permits.give_back()
        self._wake()
        completed = await self._contexts.complete(lease, page, extraction, self._read)
        while completed is not None and not self._permits.has_one():
            # Other pages have taken it; wait for more permits or the end of the crawl.
            if self._contexts.is_called_off:
                return None
            await asyncio.sleep(_PERMIT_POLL_S)
        if completed is not None:
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

    async def _read(self, page: Page) -> Extraction:
        return await extract_page(page, self._config, self._large_pages, self._poison_pages, self._meter)


async def extract_page(
    page: Page, config: ExtractConfig, large_pages: LargePages, poison_pages: PoisonPages, meter: Meter
) -> Extraction:
    """Extract a page: here, or in another process if it may take long or crash."""
    # A compressed body may be much larger than it looks.
    is_large = len(page.body) > LARGE_PAGE_BYTES or page.body.startswith(MAGIC)
    if is_large or IS_SECOND_PARSER or poison_pages.has(page.url):
        return await large_pages.extract(page, config)
    with meter.of("extract"), poison_pages.watch(page.url):
        return extract_from(page, config)
