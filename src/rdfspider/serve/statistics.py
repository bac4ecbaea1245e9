"""The counts of a crawl's index, kept until the indexer has written more: every first page and every search shows some."""

import threading
import time
from pathlib import Path

from rdfspider.errors import UnindexedError, UnreadableError
from rdfspider.index.layout import IndexPaths
from rdfspider.search.questions import find_statistics
from rdfspider.search.vocabulary import Statistics

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
