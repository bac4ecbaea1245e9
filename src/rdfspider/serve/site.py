"""What all pages of the site share: the crawl, its indexes, how text becomes HTML, and who may do what.

Indexes are opened when they are first asked, and again until they are there: the site may be opened before the first page was
fetched.
"""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import Store

from rdfspider.api import Crawl
from rdfspider.crawl.reports.live import Lookout
from rdfspider.errors import OtherVersionError, RdfspiderError, UnansweredError, UnindexedError, UnreadableError
from rdfspider.index.layout import IndexPaths, check_index
from rdfspider.index.log.foreign import read_sources
from rdfspider.index.quads.snapshots import SnapshotReader, tell_damage
from rdfspider.index.quads.sparql.engine import Limits, Sparql
from rdfspider.index.text.searcher import TextIndex
from rdfspider.run.visitor import Visitor
from rdfspider.search.indexes import find_statistics
from rdfspider.search.statistics import Statistics
from rdfspider.search.text_service import Finder
from rdfspider.serve.access import Access, hide_place
from rdfspider.serve.limits import MAX_HEAVY_UNDER_WAY, QUERY_ROWS, QUERY_TIMEOUT_S
from rdfspider.serve.monitor.sampler import Sampler
from rdfspider.serve.rendering import make_templates


@dataclass(frozen=True, slots=True)
class Options:
    """What a person has asked of the server."""

    query_timeout_s: float = QUERY_TIMEOUT_S
    query_rows: int = QUERY_ROWS
    allows_cors: bool = True
    """Whether the pages of any site may read what SPARQL answers."""


class Site:
    """One crawl, shown."""

    def __init__(self, crawl: Crawl, access: Access, options: Options) -> None:
        self.crawl = crawl
        self.folder: Path = crawl.folder
        self.access = access
        self.options = options
        self.limits = Limits(timeout_s=options.query_timeout_s, rows=options.query_rows, output_bytes=32 << 20)
        """Of a SPARQL query."""
        self.paths = IndexPaths(crawl.folder)
        self.snapshots = SnapshotReader(self.paths.snapshots)
        """The quads, for `use_store`."""
        self.statistics = KeptStatistics(crawl.folder)
        """The totals and the most used names, kept until there are others."""
        self.lookout = Lookout(crawl.folder)
        """What frontiers tell of URLs and hosts."""
        self.sampler = Sampler(crawl, self.lookout)
        """How the crawl and the machine are, by the second."""
        self.sampler.listeners.append(lambda sample: self.rest())
        self.askers = ThreadPoolExecutor(MAX_HEAVY_UNDER_WAY, thread_name_prefix="sparql")
        """Threads that wait for answers to SPARQL."""
        self._templates = make_templates()
        self._lock = threading.Lock()
        self._text: TextIndex | None = None
        self._sparql: Sparql | None = None
        self._finder: Finder | None = None
        self._visitor: Visitor | None = None
        self._is_closed = False

    @property
    def text(self) -> TextIndex:
        """The text index; UnindexedError where there is none yet."""
        with self._lock:
            if self._text is None:
                self._text = TextIndex(self.folder)
            return self._text

    @contextmanager
    def use_store(self) -> Iterator[Store]:
        """The newest quads, whose files stay until the end; UnindexedError where there are none yet, UnreadableError where they
        cannot be read, also later: what is opened is not yet read."""
        check_index(self.paths)
        try:
            with self.snapshots.use() as store:
                yield store
        except (OSError, RuntimeError) as error:
            raise UnreadableError(tell_damage(self.paths.snapshots, error)) from error

    @property
    def sparql(self) -> Sparql:
        """The processes that answer SPARQL."""
        with self._lock:
            self._check_open()
            if self._sparql is None:
                check_index(self.paths)
                self._finder = Finder(self.folder)
                cores = os.cpu_count() or 1
                # However many questions one client asks, there is a place for another.
                self._sparql = Sparql(self.folder, self._finder, workers=cores + 1, most_by_client=cores)
            return self._sparql

    @property
    def visitor(self) -> Visitor:
        """Reads what people have at hand, and fetches single pages for them."""
        with self._lock:
            self._check_open()
            if self._visitor is None:
                self._visitor = Visitor(self.folder, self.crawl.config)
            return self._visitor

    def tell(self, error: RdfspiderError) -> str:
        """What is wrong, in words for whoever asks, who need not know where things are on this machine."""
        if isinstance(error, OtherVersionError):
            return "the index was made by another version of rdfspider, and has to be made again: rdfspider index --rebuild"
        if isinstance(error, UnindexedError):
            return "there is no index yet, or it is being made again: try again in some seconds"
        text = hide_place(str(error), self.folder)
        for path in read_sources(self.paths):
            text = text.replace(str(path), path.name)
        return text

    def render(self, template: str, context: Mapping[str, Any]) -> str:
        """HTML of a template; all text in it is escaped."""
        return self._templates.get_template(template).render(site=self, **context)

    def rest(self) -> None:
        """Let files go that nobody has asked for a while: those that the crawl has replaced keep their place on the disk."""
        self.lookout.rest()
        self.snapshots.rest()

    def end_visits(self) -> None:
        """End what waits for other servers, which would take as long as these do."""
        with self._lock:
            if self._visitor is not None:
                self._visitor.end_visits()

    def close(self) -> None:
        """Let all go."""
        self.sampler.stop()
        self.askers.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_closed = True
            sparql, finder, self._sparql, self._finder = self._sparql, self._finder, None, None
            visitor, self._visitor = self._visitor, None
        if sparql:
            sparql.close()
        if finder:
            finder.close()
        if visitor:
            visitor.close()
        self.lookout.close()
        self.snapshots.close()

    def _check_open(self) -> None:
        """A page that is still being made must not start what nobody would end."""
        if self._is_closed:
            raise UnansweredError("the server is being ended")


TOP = 40
"""Names of each kind."""
# While a crawl runs there is a commit every second or so, and nobody sees the difference.
_KEPT_S = 2.0

_State = tuple[tuple[int, int, int], ...]


class KeptStatistics:
    """The statistics of one crawl, for any number of threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = _list_files(IndexPaths(folder))
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._state: _State | None = None
        self._kept: Statistics | None = None

    def read(self) -> Statistics | None:
        """The totals, and the most used names of each kind; None where nothing is indexed yet, UnreadableError where that does
        not help."""
        with self._lock:
            now = time.monotonic()
            if now < self._read_at + _KEPT_S and self._kept is not None:
                return self._kept
            state = _look(self._files)
            if state != self._state or self._kept is None:
                try:
                    self._kept = find_statistics(self._folder, TOP)
                except UnreadableError:
                    self._kept = None
                    raise
                except UnindexedError:
                    # Nothing is indexed yet, which is no mistake of whoever looks.
                    self._kept = None
            self._read_at, self._state = now, state
            return self._kept


def _list_files(paths: IndexPaths) -> tuple[Path, ...]:
    """The ledger, the log of what was written to it last, and what says that it can be read."""
    return paths.version, paths.ledger, paths.ledger.with_name(f"{paths.ledger.name}-wal")


def _look(files: tuple[Path, ...]) -> _State:
    found = []
    for path in files:
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        found.append((stat.st_ino, stat.st_mtime_ns, stat.st_size))
    return tuple(found)
