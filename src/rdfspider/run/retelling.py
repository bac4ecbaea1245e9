"""Tells other shards again what they have lost: their numbers enter, entries of the outbox with links of archived pages leave.

A shard whose folder was put back to an older copy, or emptied, lacks links that it had received, and that are gone from the
outboxes of the others. They find them in their own archives, in small steps beside the crawl. The last entry says that all is
told; until it has arrived, the shard keeps asking, so whatever dies meanwhile, nothing stays lost.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

from rdfspider.archive.outcomes import Outcome
from rdfspider.config import CrawlConfig
from rdfspider.discover.scope import Router, Scope
from rdfspider.domains import Domains
from rdfspider.fetch.robots import RobotsTxt
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.outbox import Cursor
from rdfspider.records import Discovered, Extraction, Lease, Page
from rdfspider.run.archived_links import ArchivedLinks, list_facts, make_extraction, read_segments
from rdfspider.run.peers.messages import ALL_TOLD, encode_links

# How long one step may take, and the pause after it, in which pages are fetched.
_STEP_S, _PAUSE_S = 0.02, 0.02


Query = Callable[[str, Page, Extraction], Awaitable[tuple[list[str], Extraction]]]
"""Takes a query, a page and its data; returns the URLs that it finds, as `Extractor.query` does."""


class Retelling:
    """Reads the archive of a shard for the shards that ask for it; one pass serves all that have asked by its start."""

    def __init__(
        self,
        number: int,
        warc: Path,
        crawl: CrawlConfig,
        domains: Domains,
        frontier: Frontier,
        scope: Scope,
        has_room: Callable[[], bool],
        query: Query,
        note: Callable[[], None],
        on_end: Callable[[asyncio.Task[None]], None],
    ) -> None:
        """`warc` is the folder of the shard's segments. While there is no room in the outbox, nothing is read. `query` runs the
        user's query over the data of a page. `note` is called when something was staged in the frontier, `on_end` when all is
        told or something has failed."""
        self._warc = warc
        self._crawl = crawl
        self._domains = domains
        self._scope = scope
        self._query = query
        self._frontier = frontier
        self._has_room = has_room
        self._note = note
        self._on_end = on_end
        self._router = Router(scope, domains, number, Counter())
        self._asked: set[int] = set()
        self._served: set[int] = set()
        """The shards for which the archive is being read."""
        self._ends: dict[int, Cursor] = {}
        """The last entry of what was told to each shard."""
        self._work: asyncio.Task[None] | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to be told."""
        return not self._asked and not self._served

    def ask(self, destination: int, received: Cursor, is_behind: bool) -> None:
        """Tell a shard again what it has lost, unless that is on its way. If it `is_behind` an earlier state, it has lost some of
        what was told again, too."""
        is_under_way = destination in self._served or self._ends.get(destination, received) > received
        if is_under_way and not is_behind:
            return
        self._served.discard(destination)
        self._asked.add(destination)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._tell_all())
            self._work.add_done_callback(self._on_end)

    def close(self) -> None:
        """Stop; whoever still lacks something asks the next life."""
        if self._work is not None:
            self._work.cancel()

    async def _tell_all(self) -> None:
        while self._asked:
            self._served, self._asked = self._asked, set()
            await self._tell()
            for destination in self._served:
                self._ends[destination] = self._frontier.outbox.put(destination, ALL_TOLD)
            self._served = set()
            self._note()

    async def _tell(self) -> None:
        # Each pass has its own, because some links are found once for each site or namespace.
        links = ArchivedLinks(
            *(self._crawl, self._domains, lambda url: not self._scope.find_refusal(url)),
            list_sitemaps=self._list_sitemaps,
        )
        deadline = time.monotonic() + _STEP_S
        for outcome in read_segments(list_facts(self._warc)):
            if not self._served:
                return
            self._stage(await self._find(links, outcome))
            if time.monotonic() < deadline:
                continue
            self._note()
            await asyncio.sleep(_PAUSE_S)
            while not self._has_room():
                await asyncio.sleep(_PAUSE_S)
            deadline = time.monotonic() + _STEP_S

    def _stage(self, found: list[Discovered]) -> None:
        for destination, links in self._router.route(found).others.items():
            if destination in self._served:
                self._frontier.outbox.put(destination, encode_links(self._frontier.introduce(links)))

    async def _find(self, links: ArchivedLinks, outcome: Outcome) -> list[Discovered]:
        queried: list[str] = []
        if links.query and outcome.statements:
            queried, _ = await self._query(links.query, Page(outcome.url, b""), make_extraction(outcome))
        entry = self._frontier.find(outcome.url)
        return links.find(outcome, entry.url_id if entry else 0, is_own=True, queried=queried)

    def _list_sitemaps(self, lease: Lease) -> tuple[str, ...]:
        """The sitemaps in the robots.txt that was fetched last from the origin of a page."""
        robots = self._frontier.find_robots(lease.url)
        return RobotsTxt(robots.body).sitemaps if robots is not None else ()
