"""All indexes of a crawl: each follows the log in a thread, and what they say of themselves is written every second.

One process has the index at a time. It may be killed at any instant: every view goes on where its own cursors say.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial

from rdfspider.config import Config
from rdfspider.disk import HeldError, hold_lock, write_atomically
from rdfspider.errors import InUseError, UsageError
from rdfspider.index.layout import VERSION, IndexPaths, check_index, has_index
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.log.follower import Follower, Room, is_damage
from rdfspider.index.log.sources import Sources
from rdfspider.index.quads.view import QuadView
from rdfspider.index.status import IndexStatus, end_index, is_outside, write_index_status
from rdfspider.index.stores.graph_servers import read_address
from rdfspider.index.stores.view import StoreView
from rdfspider.index.text.view import TextView
from rdfspider.index.view import View

_TICK_S = 1.0
# Who waits for the end is not to wait for the next tick.
_LAST_TICK_S = 0.1
# Totals are counted anew, which takes a moment where there are millions.
_TOTALS_S = 3.0
# An outside store that takes nothing is not waited for longer than this.
_STORE_PATIENCE_S = 10.0
# What an outside store may take to leave; our own are never interrupted.
_JOIN_S = 3.0
# Who looks whether there is an indexer tries the lock for an instant.

Opener = Callable[[], View]

VIEWS: dict[str, Callable[[IndexPaths], View]] = {
    "quads": QuadView,
    "text": TextView,
}
"""The indexes of every crawl, by name; a new one is a line here. Outside stores come from the settings (`list_views`)."""


class Indexer:
    """The views of one crawl, and who follows the log for them. `run` is for one thread, all else for any."""

    def __init__(
        self,
        paths: IndexPaths,
        config: Config,
        list_openers: Callable[[IndexPaths, Config], dict[str, Opener]] | None = None,
    ) -> None:
        """`list_openers` gives what opens each view, by name; without it they are those that a crawl has."""
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
    def has_to_leave(self) -> bool:
        """Whether it was told to leave, now or when all is indexed."""
        return self._is_stopping or self._is_finishing

    def stop(self) -> None:
        """Make durable what was taken, and leave."""
        self._is_stopping = True
        self._wake.set()

    def finish(self) -> None:
        """Leave when all is indexed that there is now."""
        self._is_finishing = True
        self._wake.set()

    def run(self, on_progress: Callable[[IndexStatus], None] | None = None) -> IndexStatus:
        """Index until told to leave; how far it is then. InUseError where another process does."""
        with hold_index(self._paths):
            sources = Sources(self._paths, self._config.extract)
            # What is wrong with the lists is told before anything begins.
            sources.look()
            self._start(sources)
            try:
                self._watch(sources, on_progress or (lambda status: None))
            finally:
                self._leave()
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
        for name, opener in self._list_openers(self._paths, self._config).items():
            follower = Follower(name, opener, sources, room)
            self._followers[follower] = threading.Thread(target=follower.run, name=name, daemon=True)
        for thread in self._followers.values():
            thread.start()

    def _watch(self, sources: Sources, on_progress: Callable[[IndexStatus], None]) -> None:
        told_at = 0.0
        while any(thread.is_alive() for thread in self._followers.values()):
            if self._is_stopping or any(follower.failure for follower in self._followers):
                return
            if self._is_finishing:
                self._let_finish()
            if time.monotonic() - told_at >= _TICK_S:
                told_at = time.monotonic()
                status = self._describe(sources)
                try:
                    write_index_status(self._paths, status)
                except OSError:
                    # A disk that is full is told by the views; that somebody lives takes no room to tell.
                    with suppress(OSError):
                        os.utime(self._paths.status)
                on_progress(status)
            self._wake.wait(_LAST_TICK_S if self._is_finishing else _TICK_S)
            self._wake.clear()

    def _raise(self, name: str, failure: BaseException) -> None:
        if is_damage(failure):
            paths = self._paths
            raise UsageError(
                f"{paths.index} is damaged ({name}: {failure}); "
                f"make it again with `rdfspider index --rebuild --dir {paths.folder}`"
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

    def _describe(self, sources: Sources) -> IndexStatus:
        views = tuple(follower.describe() for follower in self._followers)
        state = "indexing"
        if any(view.problem for view in views if not view.is_outside):
            state = "suspended"
        elif all(follower.has_caught_up for follower in self._followers if not is_outside(follower.name)):
            state = "idle"
        if time.monotonic() - self._counted_at > _TOTALS_S:
            self._count()
        return IndexStatus(state, os.getpid(), time.time(), *self._totals, views, sources.problems)

    def _count(self) -> None:
        self._counted_at = time.monotonic()
        # At the very start there is no ledger yet, and no table in it.
        with suppress(UsageError, sqlite3.Error), closing(LedgerReader(self._paths)) as reader:
            totals = reader.read_totals()
            self._totals = (totals.pages, totals.quads, totals.entities)


def list_views(paths: IndexPaths, config: Config) -> dict[str, Opener]:
    """What opens the views that a crawl has, by name: those of every crawl, and its outside stores."""
    openers: dict[str, Opener] = {name: partial(view, paths) for name, view in VIEWS.items()}
    for url in config.index.stores:
        openers[read_address(url).name] = partial(StoreView, paths, url)
    return openers


@contextmanager
def hold_index(paths: IndexPaths) -> Iterator[None]:
    """Have the index alone; it is made where there is none. InUseError where another process has it, UsageError where it is of
    another version. It is let go with the process, however that ends."""
    with lock_index(paths):
        if has_index(paths):
            check_index(paths)
        else:
            try:
                write_atomically(paths.version, f"{VERSION}\n".encode())
            except OSError as error:
                raise UsageError(f"{paths.index} cannot be made: {error.strerror}") from error
        yield


@contextmanager
def lock_index(paths: IndexPaths) -> Iterator[None]:
    """The same, whatever is in the index."""
    try:
        if not paths.index.exists() and paths.replaced.exists():
            # A rebuild was killed in the very moment when it put the new one in the place of the old.
            paths.replaced.rename(paths.index)
        paths.index.mkdir(parents=True, exist_ok=True)
        lock = ExitStack()
        lock.enter_context(hold_lock(paths.lock, ""))
    except HeldError as error:
        raise InUseError(f"{paths.folder} is being indexed already (process {str(error) or 'unknown'})") from None
    except OSError as error:
        raise UsageError(f"{paths.index} cannot be made: {error.strerror}") from error
    with lock:
        yield
