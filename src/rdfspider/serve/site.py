"""What all pages of the site share: the crawl, its indexes, the templates, the access rules, and the threads that make pages.

Indexes are opened on first use, and retried until they exist: the site may start before the first page is fetched.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import Request

from rdfspider.api import Crawl
from rdfspider.crawl.reports.live import LiveReports
from rdfspider.errors import OtherVersionError, RdfspiderError, UnansweredError, UnindexedError
from rdfspider.results import QueryLimits
from rdfspider.run.visitor import Visitor
from rdfspider.search.indexes import Indexes
from rdfspider.serve.access import Access, hide_place
from rdfspider.serve.limits import MAX_HEAVY_UNDER_WAY, QUERY_ROWS, QUERY_TIMEOUT_S
from rdfspider.serve.rendering import make_templates
from rdfspider.serve.sampler import Sampler

_T = TypeVar("_T")
# Python runs one thread at a time, so more threads would only slow each other down: one works while the other waits for the
# index.
_PAGE_THREADS = 2
# The wait for work that does not check whether it is cancelled; it ends by its own limits.
_LEAVE_S = 60.0


class DisconnectedError(Exception):
    """The client has disconnected."""


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Command line options for the site."""

    query_timeout_s: float = QUERY_TIMEOUT_S
    query_rows: int = QUERY_ROWS
    origins: tuple[str, ...] = ()
    """The origins whose pages may read SPARQL answers; `*` stands for all."""


class Site:
    """The site of one crawl."""

    def __init__(self, crawl: Crawl, access: Access, options: SiteOptions) -> None:
        self.crawl = crawl
        self.folder: Path = crawl.folder
        self.access = access
        self.options = options
        self.limits = QueryLimits(timeout_s=options.query_timeout_s, rows=options.query_rows, output_bytes=32 << 20)
        """The limits of a SPARQL query."""
        cores = os.cpu_count() or 1
        # However many queries one client sends, a worker is left for others.
        self.indexes = Indexes(crawl.folder, keeps_quads=True, workers=cores + 1, most_by_client=cores)
        """The indexes of the crawl."""
        self.live_reports = LiveReports(crawl.folder)
        """Live reports of the frontiers on URLs and hosts."""
        self.sampler = Sampler(crawl, self.live_reports)
        """The state of the crawl and the machine, every second."""
        self.sampler.listeners.append(lambda sample: self.rest())
        self.page_threads = ThreadPoolExecutor(_PAGE_THREADS, thread_name_prefix="page")
        # Slow pages have a pool of their own, so that other pages never wait for them; they mostly wait for other processes.
        # The limit per client is lower than the number of threads, so one client cannot occupy all of them.
        self.heavy_threads = ThreadPoolExecutor(MAX_HEAVY_UNDER_WAY, thread_name_prefix="heavy")
        self.query_threads = ThreadPoolExecutor(MAX_HEAVY_UNDER_WAY, thread_name_prefix="sparql")
        """Threads that wait for SPARQL answers."""
        self._templates = make_templates()
        self._lock = threading.Lock()
        self._visitor: Visitor | None = None
        self._is_closed = False

    @property
    def visitor(self) -> Visitor:
        """Extracts pasted pages, and fetches single pages on request."""
        with self._lock:
            if self._is_closed:
                # A page that is still being made must not start processes.
                raise UnansweredError("the server is being ended")
            if self._visitor is None:
                self._visitor = Visitor(self.folder, self.crawl.config)
            return self._visitor

    def tell(self, error: RdfspiderError) -> str:
        """The message of an error for a client, without paths on this machine."""
        if isinstance(error, OtherVersionError):
            return "the index was made by another version of rdfspider, and has to be made again: rdfspider index --rebuild"
        if isinstance(error, UnindexedError):
            return "there is no index yet, or it is being made again: try again in some seconds"
        text = hide_place(str(error), self.folder)
        for path in self.indexes.list_foreign_files():
            text = text.replace(str(path), path.name)
        return text

    def render(self, template: str, context: Mapping[str, Any]) -> str:
        """Render a template as HTML; all text in it is escaped."""
        return self._templates.get_template(template).render(site=self, **context)

    def rest(self) -> None:
        """Close files that were not read for a while: replaced files take disk space until they are closed."""
        self.live_reports.rest()
        self.indexes.release_idle()

    def end_visits(self) -> None:
        """Cancel requests to other servers, which would otherwise last as long as these take."""
        with self._lock:
            if self._visitor is not None:
                self._visitor.end_visits()

    def close(self) -> None:
        """Close everything."""
        self.sampler.stop()
        for threads in (self.page_threads, self.heavy_threads, self.query_threads):
            threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_closed = True
            visitor, self._visitor = self._visitor, None
        self.indexes.close(for_good=True)
        if visitor:
            visitor.close()
        self.live_reports.close()


async def run_while_wanted(
    request: Request,
    pool: ThreadPoolExecutor,
    cancel: threading.Event,
    work: Callable[[], _T],
    timeout_s: float | None = None,
) -> _T:
    """Run work for a client in a thread and return its result; if the client disconnects or the time is up, set `cancel` and
    raise DisconnectedError or TimeoutError."""
    asking = asyncio.get_running_loop().run_in_executor(pool, work)
    # Errors of abandoned work are dropped.
    asking.add_done_callback(lambda done: done.cancelled() or done.exception())
    leaving = asyncio.create_task(_wait_for_end(request))
    try:
        await asyncio.wait((asking, leaving), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result()
        cancel.set()
        if not leaving.done():
            raise TimeoutError
        # The request counts as running as long as it occupies a thread.
        await asyncio.wait((asking,), timeout=_LEAVE_S)
        raise DisconnectedError
    finally:
        cancel.set()
        leaving.cancel()


async def _wait_for_end(request: Request) -> None:
    """Return when the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
