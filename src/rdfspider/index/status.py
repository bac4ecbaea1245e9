"""The indexer's progress: the states of its views enter, `index/status.json` leaves, rewritten every second while it runs.

Any process can read it: the crawl does, to slow down if the index cannot keep up, and so do the commands and the site.
"""

import time
from enum import StrEnum

import msgspec
from msgspec import Struct

from rdfspider.disk import find_holder, write_atomically
from rdfspider.index.layout import IndexPaths

# The indexer writes every second; a status older than this has no living writer.
_FRESH_S = 15.0


class IndexState(StrEnum):
    """The state of the indexer."""

    INDEXING = "indexing"
    IDLE = "idle"
    """Everything is indexed."""
    SUSPENDED = "suspended"
    """A view cannot continue at the moment."""
    ENDED = "ended"
    """No indexer runs."""

    __repr__ = str.__repr__


class ViewStatus(Struct, frozen=True):
    """The status of one view of the log."""

    name: str
    lag_s: float = 0.0
    """How long the oldest part of the log that this view has not committed has been durable, in seconds."""
    behind_bytes: int = 0
    """Bytes of the log that this view has not committed."""
    behind_pages: int = 0
    """An estimate of the outcomes in these bytes."""
    forgotten: int = 0
    """The mark of the rules in `forgotten.txt` that the view has applied; 0 for none."""
    problem: str = ""
    """Why the view is suspended or incomplete; empty if nothing is wrong."""

    @property
    def is_outside(self) -> bool:
        """Whether it is an outside store. The crawl's own answers never come from it, so nothing waits for it, and its problems
        do not suspend the index."""
        return is_outside(self.name)


class IndexStatus(Struct, frozen=True):
    """The content of `index/status.json`. Times are seconds since 1970."""

    state: IndexState
    pid: int = 0
    updated: float = 0.0
    pages: int = 0
    """Pages in the text index."""
    quads: int = 0
    """Statements of these pages, in all syntaxes."""
    entities: int = 0
    views: tuple[ViewStatus, ...] = ()
    problems: tuple[str, ...] = ()
    """Problems outside the views, such as missing files from elsewhere."""
    unreadable: int = 0
    """Records of the crawl's own archive that could not be read: their pages are missing, or not complete."""

    @property
    def lag_s(self) -> float:
        """How far answers are behind the crawl, in seconds."""
        return max((view.lag_s for view in self.views if not view.is_outside), default=0.0)

    @property
    def behind_bytes(self) -> int:
        """Bytes of the log that the slowest view has not committed."""
        return max((view.behind_bytes for view in self.views), default=0)

    @property
    def behind_pages(self) -> int:
        """Estimated outcomes that the slowest view has not committed."""
        return max((view.behind_pages for view in self.views), default=0)

    @property
    def problem(self) -> str:
        """The first problem; empty if there is none."""
        found = [f"{view.name}: {view.problem}" for view in self.views if view.problem]
        return next(iter((*found, *self.problems)), "")

    @property
    def incomplete(self) -> str:
        """Why the indexes of the crawl itself lack pages, once the indexer has ended; empty if they have all."""
        own = [view for view in self.views if not view.is_outside]
        found = [f"{view.name}: {view.problem}" for view in own if view.problem]
        if self.unreadable:
            found.append(self.problem)
        behind = max((view.behind_pages for view in own), default=0)
        return next(iter(found), f"about {behind:,} pages are not indexed" if behind else "")

    @property
    def is_running(self) -> bool:
        """Whether an indexer runs."""
        return self.state != IndexState.ENDED


def is_outside(name: str) -> bool:
    """Whether a view of this name is an outside store; their names are URLs."""
    return "://" in name


def load_index_status(paths: IndexPaths) -> IndexStatus | None:
    """The status as last written, by any process; None if there is none."""
    try:
        return msgspec.json.decode(paths.status.read_bytes(), type=IndexStatus)
    except (OSError, ValueError):
        # msgspec raises a UnicodeDecodeError for texts that are not UTF-8, which is a ValueError as its own errors are.
        return None


def read_index_status(paths: IndexPaths) -> IndexStatus | None:
    """The current status; None if there is no index. A status that no process updates any more counts as ended."""
    status = load_index_status(paths)
    if status is None:
        lost = f"{paths.status} is damaged: `rdfspider index --dir {paths.folder}` makes it again"
        return IndexStatus(IndexState.ENDED, problems=(lost,)) if paths.status.exists() else None
    is_fresh = abs(time.time() - status.updated) < _FRESH_S
    return status if is_fresh and _find_indexer(paths) == str(status.pid) else end_index(status)


def end_index(status: IndexStatus) -> IndexStatus:
    """The status without an indexer. `behind_bytes` still says how much is missing; a lag in seconds would mean nothing."""
    views = tuple(msgspec.structs.replace(view, lag_s=0.0) for view in status.views)
    return msgspec.structs.replace(status, state=IndexState.ENDED, views=views)


def prolong_lag(status: IndexStatus, silent_s: float) -> IndexStatus:
    """The status `silent_s` seconds after it was written, with each lag longer by that time: no progress is known since."""
    views = tuple(msgspec.structs.replace(view, lag_s=round(view.lag_s + silent_s, 1)) for view in status.views)
    return msgspec.structs.replace(status, views=views)


def write_index_status(paths: IndexPaths, status: IndexStatus) -> None:
    """Replace the file in one step. It is not synced, because each view has its own cursors."""
    write_atomically(paths.status, msgspec.json.encode(status), durable=False)


def is_indexed(paths: IndexPaths) -> bool:
    """Whether a process holds the index."""
    return _find_indexer(paths) is not None


def _find_indexer(paths: IndexPaths) -> str | None:
    """The id of the process that holds the index; None if none does."""
    try:
        return find_holder(paths.lock)
    except OSError:
        return None
