"""What a page says: a page in, its Extraction out, by this process or by one that can be killed.

A page that names contexts which are not at hand waits for them a while; meanwhile its permit is another's.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rdfspider.config import Config
from rdfspider.detect.packed import MAGIC
from rdfspider.records import Discovered, Extraction, Lease, Page
from rdfspider.run.documents import KeptDocuments
from rdfspider.run.errands import Contexts
from rdfspider.run.heartbeat import Meter
from rdfspider.run.heavy import LARGE_PAGE_BYTES, LargePages
from rdfspider.run.peers.permits import PermitPool
from rdfspider.run.pipeline import extract_from
from rdfspider.run.suspects import Suspects

# How often a page that had to wait looks for a permit.
_PERMIT_POLL_S = 0.1


class Readings:
    """Reads the pages of one shard."""

    def __init__(
        self,
        folder: Path,
        documents: Path,
        config: Config,
        meter: Meter,
        permits: PermitPool,
        discover: Callable[[Sequence[Discovered]], None],
        wake: Callable[[], None],
    ) -> None:
        """`documents` is where all shards keep contexts; `discover` schedules URLs at once; `wake` tells of a free permit."""
        kept = KeptDocuments(documents, config.extract.documents)
        self.contexts = Contexts(kept, discover, attempts=config.frontier.attempts)
        self._config = replace(config.extract, documents=kept)
        self._fetches_contexts = "contexts" in config.crawl.ways
        self._meter = meter
        self._permits = permits
        self._wake = wake
        self._large_pages = LargePages(config.run)
        self._suspects = Suspects(folder)

    @property
    def waiting_bytes(self) -> int:
        """The bodies of the pages that wait for the helper or for a context."""
        return self._large_pages.waiting_bytes + self.contexts.waiting_bytes

    async def extract(self, lease: Lease, page: Page) -> Extraction | None:
        """What a page says, with the contexts that it names; None where it has to be fetched again for them, and then its permit
        was given back."""
        extraction = await self._read(page)
        if not extraction.wanted or not self._fetches_contexts:
            return extraction
        # What it waits for may need its permit.
        self._permits.give_back()
        self._wake()
        completed = await self.contexts.complete(lease, page, extraction, self._read)
        while completed is not None and not self._permits.has_one():
            # Others have it; there are more to come, or the crawl is over.
            if self.contexts.is_called_off:
                return None
            await asyncio.sleep(_PERMIT_POLL_S)
        if completed is not None:
            self._permits.reserve()
        return completed

    async def query(self, query: str, extraction: Extraction) -> list[str]:
        """The addresses that a query of the user's finds in a page's data; where there is no query, none."""
        if not query or not extraction.statements:
            return []
        return await self._large_pages.query(query, extraction.url, extraction.to_nquads())

    def close(self) -> None:
        """Let go of the helper, whatever it does."""
        self._large_pages.close()
        self._suspects.close()

    async def _read(self, page: Page) -> Extraction:
        # What is packed may be much larger than it looks.
        is_large = len(page.body) > LARGE_PAGE_BYTES or page.body.startswith(MAGIC)
        if is_large or self._suspects.has(page.url):
            return await self._large_pages.extract(page, self._config)
        with self._meter.of("extract"), self._suspects.watch(page.url):
            return extract_from(page, self._config)
