"""What all pages of the site share: the crawl, its indexes, the templates and the access rules.

Indexes are opened on first use, and retried until they exist: the site may start before the first page is fetched.
"""

import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rdfspider.api import Crawl
from rdfspider.crawl.reports.live import LiveReports
from rdfspider.errors import OtherVersionError, RdfspiderError, UnansweredError, UnindexedError
from rdfspider.index.quads.sparql.engine import QueryLimits
from rdfspider.run.visitor import Visitor
from rdfspider.search.indexes import Indexes
from rdfspider.serve.access import Access, hide_place
from rdfspider.serve.limits import MAX_HEAVY_UNDER_WAY, QUERY_ROWS, QUERY_TIMEOUT_S
from rdfspider.serve.rendering import make_templates
from rdfspider.serve.sampler import Sampler


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Command line options for the site."""

    query_timeout_s: float = QUERY_TIMEOUT_S
    query_rows: int = QUERY_ROWS
    allows_cors: bool = True
    """Whether pages of any site may read SPARQL answers."""


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
        self.askers = ThreadPoolExecutor(MAX_HEAVY_UNDER_WAY, thread_name_prefix="sparql")
        """Threads that wait for SPARQL answers."""
        self._templates = make_templates()
        self._lock = threading.Lock()
        self._visitor: Visitor | None = None
        self._is_closed = False

    @property
    def visitor(self) -> Visitor:
        """Extracts pasted pages, and fetches single pages on request."""
        with self._lock:
            self._check_open()
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
        self.askers.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_closed = True
            visitor, self._visitor = self._visitor, None
        self.indexes.close(for_good=True)
        if visitor:
            visitor.close()
        self.live_reports.close()

    def _check_open(self) -> None:
        """Raise if the site is closed: a page still being made must not start processes afterwards."""
        if self._is_closed:
            raise UnansweredError("the server is being ended")
