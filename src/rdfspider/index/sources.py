"""All that is indexed: the segments of a crawl's shards, which grow, and WARC files from elsewhere, which do not.

A place in one of them enters, outcomes leave. Several threads ask, and the folder is looked at a few times a second for all.
"""

import logging
import threading
import time
from collections.abc import Iterator, Mapping

from rdfspider.archive.reader import Damage
from rdfspider.config import ExtractConfig
from rdfspider.index.foreign import list_sources, read_foreign
from rdfspider.index.forgotten import Forgotten
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log import Segment, list_segments, read_outcomes
from rdfspider.index.outcomes import Outcome
from rdfspider.index.views import Cursors

_log = logging.getLogger(__name__)

FORGOTTEN = "forgotten.txt"
"""The key of `views.Cursors` for what was forgotten."""
# Nothing is looked at again within so short a time.
_FRESH_S = 0.2


class Look(Mapping[str, Segment]):
    """What there is to index, as of one moment."""

    __slots__ = ("_segments", "foreign", "forgotten", "taken")

    def __init__(
        self, log: Mapping[str, Segment], foreign: Mapping[str, Segment], forgotten: Forgotten, taken: float
    ) -> None:
        self._segments = {**log, **foreign}
        self.foreign = foreign
        self.forgotten = forgotten
        self.taken = taken
        """When, by the monotonic clock."""

    def __getitem__(self, source: str) -> Segment:
        return self._segments[source]

    def __iter__(self) -> Iterator[str]:
        return iter(self._segments)

    def __len__(self) -> int:
        return len(self._segments)

    def list_log(self) -> dict[str, int]:
        """How long the shards' segments are: for these alone it counts how soon they are found."""
        return {source: segment.length for source, segment in self._segments.items() if source not in self.foreign}

    def measure_rest(self, cursors: Cursors) -> int:
        """Bytes that cursors have not passed."""
        return sum(max(0, segment.length - cursors.get(source, 0)) for source, segment in self._segments.items())


class Sources:
    """The sources of one crawl's indexes."""

    def __init__(self, paths: IndexPaths, config: ExtractConfig) -> None:
        self._paths = paths
        self._config = config
        self._lock = threading.Lock()
        self._look: Look | None = None
        self._missing: tuple[str, ...] = ()
        self._foreign: dict[str, Segment] = {}
        self._stamps: dict[str, tuple[int, int]] = {}
        self._forgotten = Forgotten([])

    @property
    def missing(self) -> tuple[str, ...]:
        """Files from elsewhere that cannot be read, and why."""
        return self._missing

    def look(self, since: float = 0.0) -> Look:
        """What there is, as of a moment ago, but not before `since`. UsageError where a person has spoiled one of the lists."""
        with self._lock:
            now = time.monotonic()
            if self._look is None or now - self._look.taken > _FRESH_S or self._look.taken < since:
                if self._has_changed("forgotten"):
                    self._forgotten = Forgotten.load(self._paths)
                if self._has_changed("sources") or self._missing:
                    self._list_foreign()
                self._look = Look(list_segments(self._paths.folder), self._foreign, self._forgotten, now)
            return self._look

    def read(self, source: str, look: Look, start: int) -> Iterator[Outcome | Damage]:
        """The outcomes of a source from a place on."""
        path, stop = look[source]
        if source in look.foreign:
            return read_foreign(path, start, self._config, stop)
        return read_outcomes(path, source, start, stop)

    def _list_foreign(self) -> None:
        self._foreign, missing = list_sources(self._paths)
        told = tuple(f"{damage.path}: {damage.reason}" for damage in missing)
        for line in set(told) - set(self._missing):
            _log.warning("%s; it is indexed when it is back", line)
        self._missing = told

    def _has_changed(self, name: str) -> bool:
        """Whether one of the lists is another file than before; they are replaced as a whole."""
        try:
            found = getattr(self._paths, name).stat()
        except OSError:
            return False
        stamp = (found.st_ino, found.st_mtime_ns)
        has_changed = self._stamps.get(name) != stamp
        self._stamps[name] = stamp
        return has_changed
