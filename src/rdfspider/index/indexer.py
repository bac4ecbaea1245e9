"""Runs all indexes of a crawl: each view follows the log in its own thread, and a status is written every second.

Only one process indexes at a time. It can be killed at any instant: every view resumes at its own cursors.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial

from rdfspider.config import Config
from rdfspider.disk import HeldError, hold_lock, rename_durably, write_atomically
from rdfspider.errors import InUseError, UsageError, is_shortage
from rdfspider.index.graph.rater import Rater
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import VERSION, IndexPaths, advise_rebuild, check_index, has_index
from rdfspider.index.ledger.reader import LedgerReader, read_same
from rdfspider.index.log.batches import Batches
from rdfspider.index.log.follower import Follower, Room, is_damage
from rdfspider.index.log.indexed_sources import Sources
from rdfspider.index.quads.view import QuadView
from rdfspider.index.status import IndexState, IndexStatus, end_index, is_outside, write_index_status
from rdfspider.index.stores.graph_servers import read_address
from rdfspider.index.stores.view import StoreView
from rdfspider.index.text.view import TextView
from rdfspider.index.view import View

_TICK_S = 1.0
# Shorter, so that a caller that waits for the end does not wait for the next tick.
_LAST_TICK_S = 0.1
# Counting the totals again takes a moment where there are millions.
_TOTALS_S = 3.0
# How long to wait at the end for an outside store that makes no progress.
_STORE_PATIENCE_S = 10.0
# How long an outside store may take to stop; our own views are never interrupted.
_JOIN_S = 3.0

Opener = Callable[[], View]

VIEWS: dict[str, Callable[[IndexPaths], View]] = {
    "quads": QuadView,
    "text": TextView,
    "graph": GraphView,
}
"""The indexes of every crawl, by name; a new one is one line here. Outside stores come from the settings (`list_views`)."""


class Indexer:
    """The views of one crawl and their followers. `run` is for one thread, everything else for any."""

    def __init__(
        self,
        paths: IndexPaths,
        config: Config,
        list_openers: Callable[[IndexPaths, Config], dict[str, Opener]] | None = None,
    ) -> None:
        """`list_openers` returns functions that open the views, by name; the default is `list_views`."""
        self._paths = paths
        self._config = config
        self._list_openers = list_openers or list_views
        self._followers: dict[Follower, threading.Thread] = {}
        self._wake = threading.Event()
        self._is_stopping = False
        self._is_finishing = False
        self._totals = (0, 0, 0)
        self._counted_at = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether it has the index and has opened it."""
        return bool(self._followers)

    @property
    def has_to_leave(self) -> bool:
        """Whether it should stop, now or once everything is indexed."""
        return self._is_stopping or self._is_finishing

    def stop(self) -> None:
        """Commit what the views have taken, and stop."""
        self._is_stopping = True
        self._wake.set()

    def finish(self) -> None:
        """Stop once everything that exists now is indexed."""
        self._is_finishing = True
        self._wake.set()

    def run(self, on_progress: Callable[[IndexStatus], None] | None = None) -> IndexStatus:
        """Index until stopped, and return the final status. Raise InUseError if another process indexes."""
        with hold_index(self._paths):
            sources = Sources(self._paths, self._config.extract)
            # Report errors in the lists before anything starts.
            sources.look()
            self._start(sources)
            with closing(Rater(self._paths)) as rater:
                try:
                    self._watch(sources, rater, on_progress or (lambda status: None))
                finally:
                    self._leave()
                self._write_same()
                if self._is_finishing and not any(follower.failure for follower in self._followers):
                    rater.finish(lambda: self._is_stopping, partial(self._tell_status, sources))
            self._counted_at = 0.0
            status = end_index(self._describe(sources))
            with suppress(OSError):
                write_index_status(self._paths, status)
        for follower in self._followers:
            if follower.failure is not None:
                self._raise(follower.name, follower.failure)
        return status

    def _start(self, sources: Sources) -> None:
        room = Room(self._paths.index, self._config.run.min_free_bytes)
        openers = self._list_openers(self._paths, self._config)
        batches = Batches(sources, mechanics=self._config.index.mechanics)
        for name, opener in openers.items():
            follower = Follower(name, opener, sources, batches, room)
            self._followers[follower] = threading.Thread(target=follower.run, name=name, daemon=True)
        for thread in self._followers.values():
            thread.start()

    def _watch(self, sources: Sources, rater: Rater, on_progress: Callable[[IndexStatus], None]) -> None:
        told_at = 0.0
        while any(thread.is_alive() for thread in self._followers.values()):
            if self._is_stopping or any(follower.failure for follower in self._followers):
                return
            if self._is_finishing:
                self._let_finish()
            if time.monotonic() - told_at >= _TICK_S and self._have_opened():
                told_at = time.monotonic()
                on_progress(self._tell_status(sources))
                rater.look()
            self._wake.wait(_LAST_TICK_S if self._is_finishing else _TICK_S)
            self._wake.clear()

    def _tell_status(self, sources: Sources) -> IndexStatus:
        status = self._describe(sources)
        try:
            write_index_status(self._paths, status)
        except OSError:
            # The views report a full disk themselves; touching the file needs no space and shows that the indexer is alive.
            with suppress(OSError):
                os.utime(self._paths.status)
        return status

    def _have_opened(self) -> bool:
        """Whether all views of our own could be opened, or say why they wait: before that, there is no progress to tell."""
        own = [follower for follower in self._followers if not is_outside(follower.name)]
        return all(follower.has_opened or follower.describe().problem for follower in own)

    def _raise(self, name: str, failure: BaseException) -> None:
        if is_damage(failure):
            paths = self._paths
            raise UsageError(
                f"{paths.index} is damaged ({name}: {failure}); {advise_rebuild(paths.folder)}"
            ) from failure
        raise failure

    def _let_finish(self) -> None:
        for follower, thread in self._followers.items():
            follower.finish()
            is_stuck = thread.is_alive() and time.monotonic() - follower.moved_at > _STORE_PATIENCE_S
            if is_outside(follower.name) and is_stuck and follower.describe().problem:
                follower.interrupt()

    def _leave(self) -> None:
        for follower in self._followers:
            follower.stop()
        for follower, thread in self._followers.items():
            if not is_outside(follower.name):
                thread.join()
        for follower, thread in self._followers.items():
            thread.join(_JOIN_S)
            if thread.is_alive():
                follower.interrupt()
                thread.join(_JOIN_S)

    def _write_same(self) -> None:
        """Let the quads have what the text view has found since they were last committed."""
        opener = self._list_openers(self._paths, self._config).get(QuadView.name)
        if opener is None or any(follower.failure or follower.describe().problem for follower in self._followers):
            return
        with closing(opener()) as view:
            if view.has_deferred:
                view.commit(view.load_cursors())

    def _describe(self, sources: Sources) -> IndexStatus:
        views = tuple(follower.describe() for follower in self._followers)
        state = IndexState.INDEXING
        if any(view.problem for view in views if not view.is_outside):
            state = IndexState.SUSPENDED
        elif all(follower.has_caught_up for follower in self._followers if not is_outside(follower.name)):
            state = IndexState.IDLE
        if time.monotonic() - self._counted_at > _TOTALS_S:
            self._count()
        return IndexStatus(state, os.getpid(), time.time(), *self._totals, views, sources.problems, sources.unreadable)

    def _count(self) -> None:
        self._counted_at = time.monotonic()
        # At the very start the ledger or its tables do not exist yet.
        with suppress(UsageError, sqlite3.Error), closing(LedgerReader(self._paths)) as reader:
            totals = reader.read_totals()
            self._totals = (totals.pages, totals.quads, totals.entities)


def list_views(paths: IndexPaths, config: Config) -> dict[str, Opener]:
    """Functions that open the crawl's views, by name: the views of every crawl, and its outside stores."""
    openers: dict[str, Opener] = {name: partial(view, paths) for name, view in VIEWS.items()}
    openers["quads"] = partial(QuadView, paths, partial(read_same, paths))
    openers["text"] = partial(TextView, paths, is_merging=config.index.merge)
    for url in config.index.stores:
        openers[read_address(url).name] = partial(StoreView, paths, url)
    return openers


@contextmanager
def hold_index(paths: IndexPaths) -> Iterator[None]:
    """Lock the index, and create it if there is none. Raise InUseError if another process holds it, OtherVersionError or
    UnreadableError if `check_index` refuses it. The lock ends with the process, however that ends."""
    with lock_index(paths):
        if has_index(paths):
            check_index(paths)
        else:
            try:
                write_atomically(paths.version, f"{VERSION}\n".encode())
            except OSError as error:
                if is_shortage(error):
                    raise
                raise UsageError(f"{paths.index} cannot be made: {error.strerror}") from error
        yield


@contextmanager
def lock_index(paths: IndexPaths) -> Iterator[None]:
    """Lock the index folder, without looking at its content."""
    try:
        if not paths.index.exists() and paths.replaced.exists():
            # A rebuild was killed between moving the old index away and moving the new one in.
            rename_durably(paths.replaced, paths.index)
        paths.index.mkdir(parents=True, exist_ok=True)
        lock = ExitStack()
        lock.enter_context(hold_lock(paths.lock, ""))
    except HeldError as error:
        raise InUseError(f"{paths.folder} is being indexed already (process {str(error) or 'unknown'})") from None
    except OSError as error:
        if is_shortage(error):
            raise
        raise UsageError(
            f"{paths.index} cannot be written to ({error.strerror}): make it writable, or work on a copy of {paths.folder}"
        ) from error
    with lock:
        yield
