"""What keeps one view up to date: the log's outcomes enter in batches, `apply` and `commit` of the view are called, and how far
the view is behind leaves as a `ViewStatus`.

A follower opens its view, reads on at the view's cursors, and commits every few seconds. Where a disk is full or a server is away
it closes the view and tries again after a pause. `Lag` measures how long the oldest part of the log has waited.
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
from rdfspider.archive.reader import Damage
from rdfspider.errors import InUseError, UsageError
from rdfspider.index.log.sources import FORGOTTEN, Forgotten, LogState, Sources
from rdfspider.index.status import ViewStatus
from rdfspider.index.view import Cursors, View

# What grows within so short a time is remembered as one step, so that a view that is hours behind costs little memory.
_STEP_S = 1.0
# A page that is older has come from elsewhere, or has waited for so long that it matters no more for how long.
_OLD_S = 86_400.0


class Lag:
    """When each part of the log was first seen to be safe, as far as it is not found yet."""

    def __init__(self) -> None:
        self._steps: dict[str, list[tuple[float, int]]] = {}
        """By source: when it was first seen that it had this length, the oldest first."""
        self._old: dict[str, tuple[float, int]] = {}
        """By source: the step that was there at the first look, since when nobody knows."""
        self._is_begun = False

    def see(self, lengths: Mapping[str, int], now: float) -> None:
        """Take how long the log's files are now."""
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
        """What is to be found next was fetched at this time: that is all that tells how old the first part of the log is. Of
        what is very old counts for how long it was seen to wait."""
        steps = self._steps.get(source)
        if steps and fetched and (old := self._old.get(source)):
            seen, length = old
            steps[0] = (min(fetched, seen) if seen - fetched < _OLD_S else seen, length)

    def measure(self, cursors: Cursors, now: float) -> float:
        """The age of the oldest that these cursors have not passed; 0 where they have passed all."""
        oldest = now
        for source, steps in self._steps.items():
            cursor = cursors.get(source, 0)
            while steps and steps[0][1] <= cursor:
                del steps[0]
                self._old.pop(source, None)
            if steps:
                oldest = min(oldest, steps[0][0])
        return now - oldest


_log = logging.getLogger(__name__)

# What a view takes at once: enough to be quick, little enough to be held several times over.
_BATCH_OUTCOMES = 128
_BATCH_CHARS = 4_000_000
# While there is always more, what was taken is made durable, and so found, after so long; where there is no more, sooner.
_COMMIT_S = 3.0
_SOON_S = 0.7
# How often is looked whether the log has grown.
_POLL_S = 0.3
# After so long without news a view is asked to commit once more, so that it can do what it had put off.
_REST_S = 2.0
# A view that could not go on is tried again after so long, and after twice that, and so on.
_FIRST_PAUSE_S = 1.0
_MAX_PAUSE_S = 30.0
# So many files are read at the same time, of which a process may not have many open.
_MAX_READERS = 16
# What an outcome takes in the log, before any was read.
_USUAL_BYTES = 4_000
# How what Oxigraph says of a store begins that has lost something: a file of it, or what is in one.
_DAMAGED = ("Corruption", "IO error: No such file or directory")


class Room(NamedTuple):
    """What must be left of a disk."""

    folder: Path
    min_free_bytes: int

    def find_shortage(self) -> str:
        """What is wrong, in words; empty where there is room."""
        free = shutil.disk_usage(self.folder).free
        if free >= self.min_free_bytes:
            return ""
        return (
            f"{self.folder} has {free / 1e6:,.0f} MB left, and {self.min_free_bytes / 1e6:,.0f} MB are to be kept free"
        )


class Follower:
    """A view, and how far it is. `run` is for a thread of its own, all else that is public for any other."""

    def __init__(self, name: str, open_view: Callable[[], View], sources: Sources, room: Room | None = None) -> None:
        self.name = name
        self.failure: BaseException | None = None
        """What ended it that should not have; None where nothing did."""
        self.moved_at = time.monotonic()
        """When it last took something, or had nothing to take."""
        self.has_caught_up = False
        """Whether all that there was at the last look is found, and nothing is put off."""
        self._open_view = open_view
        self._sources = sources
        self._room = room
        self._lag = Lag()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._finish_at: float | None = None
        self._problem = ""
        self._read_bytes = self._read_count = self._turn = 0
        self._view: View | None = None
        self._durable: dict[str, int] = {}
        self._cursors: dict[str, int] = {}
        self._readers: dict[str, tuple[Iterator[Outcome | Damage], int]] = {}
        """What is being read, and where it ends."""
        self._is_dirty = self._is_at_rest = self._is_interrupted = False
        self._committed_at = 0.0

    def stop(self) -> None:
        """Make durable what was taken, and leave."""
        self._stop.set()

    def finish(self) -> None:
        """Leave once all is found that there is now; or at once where a view cannot go on, because nobody waits for a disk."""
        if self._finish_at is None:
            self._finish_at = time.monotonic()

    def interrupt(self) -> None:
        """Leave in the middle of something that waits for others. For a view that can be closed by any thread."""
        self._is_interrupted = True
        self._stop.set()
        if (view := self._view) is not None:
            # What it waited for is still to be told when it is gone.
            self._problem = self._problem or view.problem
            view.close()

    def describe(self) -> ViewStatus:
        """How far it is."""
        durable, view = self._durable, self._view
        behind_bytes = self._sources.look().measure_rest(durable)
        mean_bytes = self._read_bytes / self._read_count if self._read_count else _USUAL_BYTES
        with self._lock:
            lag_s = self._lag.measure(durable, time.time())
        return ViewStatus(
            name=self.name,
            lag_s=round(lag_s, 1),
            behind_bytes=behind_bytes,
            behind_pages=max(1, round(behind_bytes / mean_bytes)) if behind_bytes else 0,
            forgotten=durable.get(FORGOTTEN, 0),
            problem=self._problem or (view.problem if view else ""),
        )

    def run(self) -> None:
        """Follow the log until told to leave."""
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
                    # The text alone: whoever keeps the error keeps what was open when it came.
                    if not self._problem:
                        _log.warning("%s is suspended: %s", self.name, str(error))
                    self._problem = str(error)
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
            self._durable = dict(self._cursors)
            self._readers.clear()
            self._is_dirty = self._is_at_rest = False
            self._follow(view)
            self._problem = self._problem or view.problem
        finally:
            self._view = None
            view.close()

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
        """Take a batch of what is new; whether there was any."""
        forgotten = look.forgotten
        if self._cursors.get(FORGOTTEN, 0) != forgotten.mark:
            view.forget(forgotten.matches)
            self._cursors[FORGOTTEN] = forgotten.mark
            # Who asks for it waits until it is done.
            self._commit(view)
            return True
        for source in self._readers.keys() - look.keys():
            del self._readers[source]
        can_open = len(self._readers) < _MAX_READERS
        for source in _rotate(list(look), self._turn):
            is_new = can_open and self._cursors.get(source, 0) < look[source].length
            if source in self._readers or is_new:
                self._turn += 1
                outcomes = self._read_batch(source, look)
                if wanted := _keep_out(outcomes, forgotten, view):
                    view.apply(wanted)
                self._is_dirty = True
                self._is_at_rest = False
                return True
        return False

    def _read_batch(self, source: str, look: LogState) -> list[Outcome]:
        """The next outcomes of a source; its cursor is moved behind them."""
        start = self._cursors.get(source, 0)
        if source not in self._readers:
            self._readers[source] = (_read_on(self._sources.read(source, look, start)), look[source].length)
        reader, stop = self._readers[source]
        batch: list[Outcome] = []
        chars = 0
        for item in reader:
            if isinstance(item, Damage):
                self._sources.tell(item)
                continue
            batch.append(item)
            chars += len(item.text) + sum(map(len, item.statements.values()))
            if len(batch) >= _BATCH_OUTCOMES or chars >= _BATCH_CHARS:
                self._cursors[source] = item.end
                break
        else:
            # What comes last may be no outcome.
            self._cursors[source] = stop
            del self._readers[source]
        # A page that was imported is as old as its capture elsewhere, which says nothing of when it came.
        if batch and batch[0].reason != "imported" and self._durable.get(source, 0) == start:
            with self._lock:
                self._lag.date(source, batch[0].time)
        self._read_bytes += self._cursors[source] - start
        self._read_count += len(batch)
        return batch

    def _commit_when_due(self, view: View, *, is_waiting: bool, is_last: bool) -> None:
        since_s = time.monotonic() - self._committed_at
        if self._is_dirty:
            if since_s >= (_SOON_S if is_waiting else _COMMIT_S) or (is_waiting and is_last):
                self._commit(view)
        elif is_waiting and ((not self._is_at_rest and (since_s >= _REST_S or is_last)) or view.has_deferred):
            self._commit(view)
            self._is_at_rest = not view.has_deferred

    def _commit(self, view: View) -> None:
        cursors = dict(self._cursors)
        view.commit(cursors)
        self._durable = cursors
        self._is_dirty = False
        self._committed_at = time.monotonic()


def is_passing(error: Exception) -> bool:
    """Whether it may go better later: a disk that is full, a server that is not there, a file that is still held."""
    return isinstance(error, OSError | sqlite3.OperationalError | InUseError) and not is_damage(error)


def is_damage(error: BaseException) -> bool:
    """Whether a store is not as it was left, which does not get better by itself; Oxigraph has no class for that."""
    if isinstance(error, sqlite3.DatabaseError):
        return not isinstance(error, sqlite3.OperationalError)
    return isinstance(error, RuntimeError | OSError) and str(error).startswith(_DAMAGED)


def _read_on(reader: Iterator[Outcome | Damage]) -> Iterator[Outcome | Damage]:
    """What is read; a file that cannot be opened any more, such as one on a disk that was taken out, may be back later."""
    try:
        yield from reader
    except UsageError as error:
        raise OSError(str(error)) from error


def _keep_out(outcomes: list[Outcome], forgotten: Forgotten, view: View) -> list[Outcome]:
    """What a view may take: of what is forgotten nothing, or that it is to be removed."""
    if view.removes_forgotten:
        return [
            replace(outcome, effect=Effect.REMOVE, statements={}) if forgotten.matches(outcome.url) else outcome
            for outcome in outcomes
        ]
    return [outcome for outcome in outcomes if not forgotten.matches(outcome.url)]


def _rotate(sources: list[str], turn: int) -> Iterator[str]:
    """All sources, but not always the same one first: none should wait for another to end."""
    start = turn % len(sources) if sources else 0
    return chain(sources[start:], sources[:start])
