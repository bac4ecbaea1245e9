"""How far the indexer is: what its views say of themselves enters, `index/status.json` leaves, a second old while it runs.

Any process reads it: the crawl, to slow down where the index cannot follow, and whoever asks how it goes.
"""

import time

import msgspec
from msgspec import Struct

from rdfspider.disk import find_holder, write_atomically
from rdfspider.index.layout import IndexPaths

# The indexer writes every second; a status that is so old is nobody's.
_FRESH_S = 15.0


class ViewStatus(Struct, frozen=True):
    """One view of the log."""

    name: str
    lag_s: float = 0.0
    """Seconds since the oldest that is safe in the log, and not yet found here, was."""
    behind_bytes: int = 0
    """Bytes of the log that are not yet found here."""
    behind_pages: int = 0
    """Outcomes in these, as far as can be said before they are read."""
    forgotten: int = 0
    """The mark of the rules in `forgotten.txt` that it has taken; 0 for none."""
    problem: str = ""
    """Why it does not go on at the moment; empty where it does."""

    @property
    def is_outside(self) -> bool:
        """Whether it is an outside store. No answers of this crawl come from it: nobody waits for it, and its problems are its
        own."""
        return is_outside(self.name)


class IndexStatus(Struct, frozen=True):
    """What `index/status.json` holds. Times are seconds since 1970."""

    state: str
    """indexing, idle (all is found), suspended (a view cannot go on at the moment) or ended (nobody indexes)."""
    pid: int = 0
    updated: float = 0.0
    pages: int = 0
    """Pages that are found by their words."""
    quads: int = 0
    """What they state, in all syntaxes."""
    entities: int = 0
    views: tuple[ViewStatus, ...] = ()
    problems: tuple[str, ...] = ()
    """What else people should know: files from elsewhere that are missing, say."""

    @property
    def lag_s(self) -> float:
        """How far answers are behind the crawl."""
        return max((view.lag_s for view in self.views if not view.is_outside), default=0.0)

    @property
    def behind_bytes(self) -> int:
        """Bytes of the log that some view has still to take."""
        return max((view.behind_bytes for view in self.views), default=0)

    @property
    def behind_pages(self) -> int:
        """Outcomes that some view has still to take."""
        return max((view.behind_pages for view in self.views), default=0)

    @property
    def problem(self) -> str:
        """The first thing that is wrong; empty where nothing is."""
        found = [f"{view.name}: {view.problem}" for view in self.views if view.problem]
        return next(iter((*found, *self.problems)), "")

    @property
    def is_running(self) -> bool:
        """Whether somebody indexes."""
        return self.state != "ended"


def is_outside(name: str) -> bool:
    """Whether a view of this name is an outside store: these are named by their URLs."""
    return "://" in name


def load_index_status(paths: IndexPaths) -> IndexStatus | None:
    """What was last written, by whomever; None where nothing was."""
    try:
        return msgspec.json.decode(paths.status.read_bytes(), type=IndexStatus)
    except (OSError, msgspec.MsgspecError):
        return None


def read_index_status(paths: IndexPaths) -> IndexStatus | None:
    """How far the index is; None where there is none. One that nobody writes any more has ended."""
    status = load_index_status(paths)
    if status is None:
        return None
    is_fresh = time.time() - status.updated < _FRESH_S
    return status if is_fresh and is_indexed(paths) else end_index(status)


def end_index(status: IndexStatus) -> IndexStatus:
    """The same, where nobody indexes any more. What is behind then is behind by its bytes; time is no measure of it."""
    views = tuple(msgspec.structs.replace(view, lag_s=0.0) for view in status.views)
    return msgspec.structs.replace(status, state="ended", views=views)


def prolong_lag(status: IndexStatus, silent_s: float) -> IndexStatus:
    """The same, so long after it was written: nobody knows that anything was found since."""
    views = tuple(msgspec.structs.replace(view, lag_s=round(view.lag_s + silent_s, 1)) for view in status.views)
    return msgspec.structs.replace(status, views=views)


def write_index_status(paths: IndexPaths, status: IndexStatus) -> None:
    """Replace the file in one step; it is not synced, because each view has its own cursors."""
    write_atomically(paths.status, msgspec.json.encode(status), durable=False)


def is_indexed(paths: IndexPaths) -> bool:
    """Whether a process holds the index."""
    try:
        return find_holder(paths.lock) is not None
    except OSError:
        return False
