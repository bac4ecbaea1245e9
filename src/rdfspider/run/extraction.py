"""A page in, its Extraction out: by this process, or by one that can be killed.

A page that names contexts which are not there yet waits for them a while; meanwhile its permit is free for other pages.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rdfspider.config import Config, ExtractConfig
from rdfspider.detect.content import MAGIC
from rdfspider.pipeline import extract_from
from rdfspider.records import Extraction, Lease, Page
from rdfspider.run.heartbeat import Meter
from rdfspider.run.heavy_pages import LARGE_PAGE_BYTES, LargePages, PoisonPages
from rdfspider.run.peers.permits import PermitPool
from rdfspider.run.prerequisites import Contexts

# How often a page that had to wait looks for a permit.
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
        """`folder` is that of the shard; `wake` tells of a free permit."""
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
        """The bodies of the pages that wait for another process or for a context, and what was read from those that wait for a
        query."""
        return self.waiting_body_bytes + self._queried_bytes

    @property
    def waiting_body_bytes(self) -> int:
        """Of these, the bodies."""
        return self._large_pages.waiting_bytes + self._contexts.waiting_bytes

    async def extract(self, lease: Lease, page: Page) -> Extraction | None:
        """What a page says, with the contexts that it names; None where it has to be fetched again for them, and then its permit
        was given back."""
        extraction = await self._read(page)
        if not extraction.missing_documents or not self._fetches_contexts:
            return extraction
        # What it waits for may need its permit.
        self._permits.give_back()
        self._wake()
        completed = await self._contexts.complete(lease, page, extraction, self._read)
        while completed is not None and not self._permits.has_one():
            # Others have it; there are more to come, or the crawl is over.
            if self._contexts.is_called_off:
                return None
            await asyncio.sleep(_PERMIT_POLL_S)
        if completed is not None:
            self._permits.reserve()
        return completed

    async def query(self, query: str, page: Page, extraction: Extraction) -> tuple[list[str], Extraction]:
        """The addresses that a query of the user's finds in a page's data, none where there is no query; and what the page says,
        with the Problem of a query that took too long or failed."""
        if not query or not extraction.statements:
            return [], extraction
        nquads = extraction.to_nquads()
        # The page has it, and the question has it again.
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
        """End the process for large pages, whatever it does."""
        self._large_pages.close()
        self._poison_pages.close()

    async def _read(self, page: Page) -> Extraction:
        return await extract_page(page, self._config, self._large_pages, self._poison_pages, self._meter)


async def extract_page(
    page: Page, config: ExtractConfig, large_pages: LargePages, poison_pages: PoisonPages, meter: Meter
) -> Extraction:
    """Extract a page: here, or in another process where it may take long or kill."""
    # What is packed may be much larger than it looks.
    is_large = len(page.body) > LARGE_PAGE_BYTES or page.body.startswith(MAGIC)
    if is_large or poison_pages.has(page.url):
        return await large_pages.extract(page, config)
    with meter.of("extract"), poison_pages.watch(page.url):
        return extract_from(page, config)
