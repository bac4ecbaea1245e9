"""Keeps one view up to date: the log's outcomes enter, go in batches to the view's `apply`, and a `ViewStatus` leaves.

A follower opens its view, reads on from the view's cursors, and commits every few seconds, or when no more comes. If a disk is
full or a server is unavailable, it closes the view and tries again after a pause. `Lag` measures how long the oldest part of the
log has waited.
"""

import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.codes import Reason
from rdfspider.errors import InUseError
from rdfspider.index.log.batches import Batches
from rdfspider.index.log.indexed_sources import FORGOTTEN, UNDONE, Forgotten, LogState, Sources
from rdfspider.index.status import ViewStatus, is_outside
from rdfspider.index.view import Cursors, View

_log = logging.getLogger(__name__)

# Growth within this time is remembered as one step, so that a view that is hours behind costs little memory.
_STEP_S = 1.0
# An older page came from elsewhere, or has waited so long that its exact age no longer matters.
_OLD_S = 86_400.0
# While pages keep coming, committing may take this share of a view's time, and a commit comes after `_COMMIT_S` at the latest.
_DUTY = 0.05
_COMMIT_S = 5.0
# After this time without news it commits at once.
_SOON_S = 0.7
# A view that is further behind than this commits less often: nobody finds the newest pages before it has caught up, and every
# commit builds entities again that the next pages describe too.
_FAR_BEHIND_S = 10.0
_FAR_COMMIT_S = 15.0
# How often the log is checked for growth.
_POLL_S = 0.3
# After this time without news the view commits once more, so that it can do deferred work.
_REST_S = 2.0
# A suspended view is tried again after the first pause, which then doubles up to the longest.
_FIRST_PAUSE_S = 1.0
_MAX_PAUSE_S = 30.0
# Sources read in turns: others wait until one of these was read to the end that it had at the beginning.
_MAX_BEGUN = 16
# The estimated bytes of an outcome in the log, before any was read.
_USUAL_BYTES = 4_000
# How much of an error the status tells.
_FAILURE_CHARS = 300
# How Oxigraph's messages begin if a store has lost a file or the content of one.
_DAMAGED = ("Corruption", "IO error: No such file or directory")


class Lag:
    """When each part of the log that is not indexed yet was first seen to be durable."""

    def __init__(self) -> None:
        self._steps: dict[str, list[tuple[float, int]]] = {}
        """By source: when each length was first seen, the oldest first."""
        self._old: dict[str, tuple[float, int]] = {}
        """By source: the step seen at the first look, whose real age is unknown."""
        self._is_begun = False

    def see(self, lengths: Mapping[str, int], now: float) -> None:
        """Record the current lengths of the log's files."""
        for source, length in lengths.items():
            steps = self._steps.setdefault(source, [])
            if not self._is_begun:
                self._old[source] = (now, length)
            if steps and length <= steps[-1][1]:
                continue
            if len(steps) > 1 and now - steps[-1][0] < _STEP_S:
                steps[-1] = (steps[-1][0], length)
            else:
                steps.append((now, length))
        self._is_begun = True

    def date(self, source: str, fetched: float) -> None:
        """Record when the next outcome of a source was fetched: only this tells how old the first step is. For very old
        outcomes the time of the first look counts."""
        steps = self._steps.get(source)
        if steps and fetched and (old := self._old.get(source)):
            seen, length = old
            steps[0] = (min(fetched, seen) if seen - fetched < _OLD_S else seen, length)

    def measure(self, cursors: Cursors, now: float) -> float:
        """The age of the oldest part that these cursors have not passed; 0 if they have passed everything."""
        oldest = now
        for source, steps in self._steps.items():
            cursor = cursors.get(source, 0)
            while steps and steps[0][1] <= cursor:
                del steps[0]
                self._old.pop(source, None)
            if steps:
                oldest = min(oldest, steps[0][0])
        return now - oldest

    def date_unread(self, cursors: Cursors, now: float) -> float:
        """The age of the oldest part that these cursors, which need not be durable, have not passed; 0 if there is none."""
        unread = (
            seen for source, steps in self._steps.items() for seen, length in steps if length > cursors.get(source, 0)
        )
        return now - min(unread, default=now)


class Room(NamedTuple):
    """The free space that must remain on a disk."""

    folder: Path
    min_free_bytes: int

    def find_shortage(self) -> str:
        """The shortage in words; empty if there is enough space."""
        free = shutil.disk_usage(self.folder).free
        if free >= self.min_free_bytes:
            return ""
        return (
            f"{self.folder} has {free / 1e6:,.0f} MB left, and {self.min_free_bytes / 1e6:,.0f} MB are to be kept free"
        )


class Follower:
    """A view and its progress. `run` is for its own thread, every other public method for other threads."""

    def __init__(
        self,
        name: str,
        open_view: Callable[[], View],
        sources: Sources,
        batches: Batches,
        room: Room | None = None,
    ) -> None:
        self.name = name
        self.failure: BaseException | None = None
        """The error that ended the follower; None if there was none."""
        self.moved_at = time.monotonic()
        """When it last completed a step; an outside store that does not answer keeps it from moving."""
        self.has_opened = False
        """Whether the view could be opened once."""
        self.has_caught_up = False
        """Whether everything seen at the last look is committed, and nothing is deferred."""
        self._open_view = open_view
        self._sources = sources
        self._room = room
        self._batches = batches
        self._lag = Lag()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._finish_at: float | None = None
        self._problem = ""
        self._read_bytes = self._read_count = self._turn = 0
        self._view: View | None = None
        self._durable: dict[str, int] = {}
        self._cursors: dict[str, int] = {}
        self._begun: dict[str, int] = {}
        """The sources that are being read, and where each ended when that began."""
        self._is_dirty = self._is_at_rest = self._is_interrupted = False
        self._committed_at = self._news_at = self._commit_s = 0.0
        # Until it is opened, it may need everything.
        self._join()

    def stop(self) -> None:
        """Commit what was taken, and end."""
        self._stop.set()
        self._batches.hurry()

    def finish(self) -> None:
        """End once everything that exists now is indexed, or immediately if the view is suspended, say by a full disk."""
        if self._finish_at is None:
            self._finish_at = time.monotonic()

    def interrupt(self) -> None:
        """End immediately, even while the view waits for a server. Only for views that any thread may close."""
        self._is_interrupted = True
        self.stop()
        if (view := self._view) is not None:
            # Keep what the view waited for, to report it after the view is gone.
            self._problem = self._problem or view.problem
            view.close()

    def describe(self) -> ViewStatus:
        """The view's current status."""
        durable, view = self._durable, self._view
        behind_bytes = self._sources.look().measure_rest(durable)
        # Of sitemaps bytes are read, but no page; of a member with many pages no byte until its end.
        has_mean = self._read_bytes and self._read_count
        mean_bytes = self._read_bytes / self._read_count if has_mean else _USUAL_BYTES
        with self._lock:
            lag_s = self._lag.measure(durable, time.time())
        return ViewStatus(
            name=self.name,
            lag_s=round(lag_s, 1),
            behind_bytes=behind_bytes,
            behind_pages=max(1, round(behind_bytes / mean_bytes)) if behind_bytes else 0,
            forgotten=durable.get(FORGOTTEN, 0),
            problem=self._describe_failure() or self._problem or (view.problem if view else ""),
        )

    def _describe_failure(self) -> str:
        return " ".join(str(self.failure).split())[:_FAILURE_CHARS] if self.failure is not None else ""

    def run(self) -> None:
        """Follow the log until told to end."""
        pause_s = _FIRST_PAUSE_S
        try:
            while not self._stop.is_set():
                started = time.monotonic()
                try:
                    self._open_and_follow()
                    return
                except Exception as error:
                    if self._is_interrupted:
                        return
                    if not is_passing(error):
                        raise
                    # Keep only the text: the error object would keep everything alive that was open when it was raised.
                    if not self._problem:
                        _log.warning("%s is suspended: %s", self.name, str(error))
                    self._problem = str(error)
                finally:
                    self._batches.leave(self.name)
                if self._finish_at is not None:
                    return
                if time.monotonic() - started > _MAX_PAUSE_S:
                    pause_s = _FIRST_PAUSE_S
                self._stop.wait(pause_s)
                pause_s = min(2 * pause_s, _MAX_PAUSE_S)
        except BaseException as error:
            self.failure = error

    def _open_and_follow(self) -> None:
        view = self._view = self._open_view()
        try:
            self._cursors = dict(view.load_cursors())
            self._join()
            self.has_opened = True
            self._durable = dict(self._cursors)
            self._begun.clear()
            self._is_dirty = self._is_at_rest = False
            self._follow(view)
            self._problem = self._problem or view.problem
        finally:
            self._view = None
            view.close()

    def _join(self) -> None:
        self._batches.join(self.name, self._cursors, is_awaited=not is_outside(self.name))

    def _follow(self, view: View) -> None:
        while not self._stop.is_set():
            finish_at = self._finish_at
            look = self._sources.look(since=finish_at or 0.0)
            with self._lock:
                self._lag.see(look.list_log(), time.time())
            self._problem = self._room.find_shortage() if self._room else ""
            has_news = not self._problem and self._take_news(view, look)
            self.moved_at = time.monotonic()
            self._commit_when_due(view, is_waiting=not has_news, is_last=finish_at is not None)
            self.has_caught_up = not (has_news or self._is_dirty or self._problem) and self._is_at_rest
            if finish_at is not None and (self.has_caught_up or self._problem):
                return
            if not has_news:
                self._stop.wait(_POLL_S)
        if self._is_dirty:
            self._commit(view)

    def _take_news(self, view: View, look: LogState) -> bool:
        """Apply one batch of new outcomes; return whether there was one."""
        forgotten = look.forgotten
        has_undone = self._cursors.get(UNDONE, 0) != forgotten.undone
        if self._cursors.get(FORGOTTEN, 0) != forgotten.mark or has_undone:
            view.forget(forgotten.matches)
            if has_undone:
                # The log is read again: what was forgotten comes back, and applying the rest twice changes nothing.
                self._cursors |= dict.fromkeys(self._cursors, 0) | {UNDONE: forgotten.undone}
                self._begun.clear()
                # What was open for this view alone was open somewhere else.
                self._join()
            self._cursors[FORGOTTEN] = forgotten.mark
            # The user who asked for it waits until this is committed.
            self._commit(view)
            return True
        for source in self._begun.keys() - look.keys():
            del self._begun[source]
        can_begin = len(self._begun) < _MAX_BEGUN
        # What others have read comes first: then nobody has to read it again.
        sources = sorted(
            _rotate(list(look), self._turn),
            key=lambda source: not self._batches.has(source, self._cursors.get(source, 0)),
        )
        for source in sources:
            is_new = can_begin and self._cursors.get(source, 0) < look[source].length
            if source in self._begun or is_new:
                self._turn += 1
                outcomes = self._read_batch(source, look)
                if wanted := _keep_out(outcomes, forgotten, view):
                    view.apply(wanted)
                self._is_dirty = True
                self._is_at_rest = False
                self._news_at = time.monotonic()
                return True
        return False

    def _read_batch(self, source: str, look: LogState) -> list[Outcome]:
        """The next outcomes of a source; moves its cursor behind them."""
        start = self._cursors.get(source, 0)
        batch, end, _ = self._batches.read(self.name, source, look, start)
        self._cursors[source] = end
        if end >= self._begun.setdefault(source, look[source].length):
            del self._begun[source]
        # An imported page is as old as its capture elsewhere, which does not say when it was added.
        if batch and batch[0].reason != Reason.IMPORTED and self._durable.get(source, 0) == start:
            with self._lock:
                self._lag.date(source, batch[0].time)
        self._read_bytes += end - start
        self._read_count += len(batch)
        return batch

    def _commit_when_due(self, view: View, *, is_waiting: bool, is_last: bool) -> None:
        now = time.monotonic()
        since_s = now - self._committed_at
        if self._is_dirty:
            is_idle = is_waiting and (is_last or now - self._news_at >= _SOON_S)
            if is_idle or since_s >= self._choose_interval():
                self._commit(view)
        elif is_waiting and ((not self._is_at_rest and (since_s >= _REST_S or is_last)) or view.has_deferred):
            self._commit(view)
            self._is_at_rest = not view.has_deferred

    def _choose_interval(self) -> float:
        """The seconds between commits, by what the last one took and by the age of what is still to be read."""
        with self._lock:
            behind_s = self._lag.date_unread(self._cursors, time.time())
        if behind_s > _FAR_BEHIND_S:
            return _FAR_COMMIT_S
        return min(max(self._commit_s / _DUTY, _SOON_S), _COMMIT_S)

    def _commit(self, view: View) -> None:
        cursors = dict(self._cursors)
        started = time.monotonic()
        view.commit(cursors)
        self._commit_s = time.monotonic() - started
        self._durable = cursors
        self._is_dirty = False
        self._committed_at = time.monotonic()


def is_passing(error: Exception) -> bool:
    """Whether a later try may succeed: a full disk, an unavailable server, or a file that is still locked."""
    return isinstance(error, OSError | sqlite3.OperationalError | InUseError) and not is_damage(error)


def is_damage(error: BaseException) -> bool:
    """Whether a store is damaged, which no retry repairs; Oxigraph has no exception class for this, and tantivy panics."""
    if type(error).__name__ == "PanicException":
        # The class of Rust panics cannot be imported.
        return True
    if isinstance(error, sqlite3.DatabaseError):
        return not isinstance(error, sqlite3.OperationalError)
    return isinstance(error, RuntimeError | OSError) and str(error).startswith(_DAMAGED)


def _keep_out(outcomes: list[Outcome], forgotten: Forgotten, view: View) -> list[Outcome]:
    """The outcomes that a view may take: those of forgotten pages are dropped, or turned into removals."""
    if view.removes_forgotten:
        return [
            replace(outcome, effect=Effect.REMOVE, statements={}) if forgotten.matches(outcome.url) else outcome
            for outcome in outcomes
        ]
    return [outcome for outcome in outcomes if not forgotten.matches(outcome.url)]


def _rotate(sources: list[str], turn: int) -> Iterator[str]:
    """All sources, starting at a different one each turn, so that none waits for another to end."""
    start = turn % len(sources) if sources else 0
    return chain(sources[start:], sources[:start])
