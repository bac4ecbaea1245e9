"""Keeps the ranks of a graph up to date while it is written: `look` is called every second, and starts `rating.py` in time.

It is time when the graph has grown by half, or has not changed for most of a minute; but never more often than once a minute,
and in no more than a fiftieth of the time. Small graphs are rated at once, which takes a fraction of a second, larger ones by a
process of their own. What goes wrong costs nothing but newer ranks.
"""

import logging
import resource
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

from rdfspider.errors import UnreadableError
from rdfspider.index.graph.esteem_file import mark_esteem, read_esteem
from rdfspider.index.graph.fame import NAME, FameReader, remove_unfinished
from rdfspider.index.graph.manifest import load_manifest, mark_manifest
from rdfspider.index.graph.rating import mark_state, rate_graph
from rdfspider.index.graph.rating_process import encode_paths
from rdfspider.index.graph.sections import Sections
from rdfspider.index.layout import IndexPaths
from rdfspider.processes.module_process import start_beside

_log = logging.getLogger(__name__)

MAX_LINKS = 50_000_000
"""Larger graphs keep their last ranks, which are dated: rating takes some 45 bytes of memory a link, so 2 GB for so many."""
AT_ONCE_LINKS = 1_000_000
"""Graphs of up to so many links are rated in this process, in less than a second: another one takes half of that to start."""
PAUSE_S = 60.0
"""The least time from the start of one rating to that of the next."""
_SHARE = 0.02
"""What rating may take of the time of one core."""
_GROWTH = 0.5
_REST_S = 45.0
"""A graph that has not changed for this time is at rest: while pages come, it changes each half minute."""
_WAIT_S = 1.0


class Rater:
    """Rates the graph of one index; for the one thread that holds the index."""

    def __init__(self, paths: IndexPaths) -> None:
        self._paths = paths
        self._fame = FameReader(paths.graph)
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = self._used_s = self._next_at = self._changed_at = 0.0
        self._mark = (0, 0)
        self._esteem_mark: tuple[int, int] | None = None
        self._has_esteem = False
        self._state: int | None = None
        self._links = 0
        self._problem = ""
        with suppress(OSError):
            remove_unfinished(paths.graph)

    def look(self) -> None:
        """Begin to rate the graph if it is time. Never raises for what is wrong with the disk or a file."""
        now = time.monotonic()
        try:
            if self._is_running() or not self._see(now) or now < self._next_at:
                return
            _, links = self._read_rated()
            if abs(self._links - links) >= _GROWTH * links or now - self._changed_at >= _REST_S:
                self._start(now)
        except (OSError, UnreadableError) as error:
            self._tell(str(error))

    def finish(self, is_ended: Callable[[], bool], on_wait: Callable[[], object]) -> None:
        """Rate the newest state, if it is not, and wait for that; or until `is_ended`. `on_wait` is called every
        second."""
        try:
            while self._is_running() and not is_ended():
                self._wait(on_wait)
            if is_ended() or not self._see(time.monotonic()):
                return
            self._start(time.monotonic())
            while self._is_running() and not is_ended():
                self._wait(on_wait)
        except (OSError, UnreadableError) as error:
            self._tell(str(error))

    def close(self) -> None:
        """End the process, if one is running."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _release(process)

    def _see(self, now: float) -> bool:
        """Look at the graph; return whether its ranks are those of another state, or the table that follows from them is lost."""
        mark = mark_manifest(self._paths.graph)
        if mark != self._mark:
            self._mark = mark
            manifest = load_manifest(self._paths.graph)
            state = mark_state(manifest) if manifest is not None and manifest.generations else None
            if manifest is not None and state != self._state:
                # Links that no longer count are few, and not counted apart.
                names = (self._paths.graph / entry.name for entry in manifest.generations)
                with suppress(FileNotFoundError):
                    self._links = sum(Sections(path).counts.get("links", 0) for path in names)
                self._state, self._changed_at = state, now
        esteem_mark = mark_esteem(self._paths.graph)
        if esteem_mark != self._esteem_mark:
            self._esteem_mark, self._has_esteem = esteem_mark, read_esteem(self._paths.graph) is not None
        is_rated = self._has_esteem and self._state == self._read_rated()[0]
        return self._state is not None and not is_rated and self._links <= MAX_LINKS

    def _read_rated(self) -> tuple[int | None, int]:
        """The state that the ranks are of, and its links."""
        try:
            return self._fame.state, self._fame.links
        except UnreadableError:
            # It is made again.
            with suppress(OSError):
                (self._paths.graph / NAME).unlink()
            return None, 0

    def _start(self, now: float) -> None:
        self._started_at, self._used_s = now, _measure_used_s()
        if self._links <= AT_ONCE_LINKS:
            try:
                rate_graph(self._paths)
            except Exception as error:
                # Whatever pages have linked to, they are indexed.
                self._tell(str(error) or type(error).__name__)
            self._plan_next()
        else:
            self._process = start_beside("rdfspider.index.graph.rating_process", encode_paths(self._paths))

    def _is_running(self) -> bool:
        if self._process is None:
            return False
        if self._process.poll() is None:
            return True
        process, self._process = self._process, None
        told = process.stdout.read().decode(errors="replace") if process.stdout else ""
        _release(process)
        if process.returncode:
            self._tell(told or f"its process has ended with {process.returncode}")
        self._plan_next()
        return False

    def _plan_next(self) -> None:
        used_s = _measure_used_s() - self._used_s
        self._next_at = self._started_at + max(PAUSE_S, used_s / _SHARE)

    def _wait(self, on_wait: Callable[[], object]) -> None:
        on_wait()
        with suppress(subprocess.TimeoutExpired):
            if self._process is not None:
                self._process.wait(_WAIT_S)

    def _tell(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            _log.warning("the link graph is not rated: %s", problem)


def _measure_used_s() -> float:
    """The processor time of this thread and of children that have ended, in seconds."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


def _release(process: "subprocess.Popen[bytes]") -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
