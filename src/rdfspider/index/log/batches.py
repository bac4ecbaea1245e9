"""Reads the log once for all views: a position in a source enters, the next batch of outcomes leaves, with the statements that
the indexes take and, if several views take them, their triples and the digest of their content.

Each view follows the log at its own pace. A batch that one view has read is kept for those that have not passed it; a view that
is ahead waits until they have taken some, because reading is dear and would be done again for each. It waits only for views
that can take a kept batch next, and not for one that stands still: then the oldest batch makes room, and who needs it reads
for itself. A batch ends where another view stands or a kept one begins, so that views that have resumed at different places
soon share batches again. Files are read without the lock: nobody waits for a disk to get what is kept.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from rdfspider.archive.outcomes import Effect, Outcome, digest_content
from rdfspider.archive.warc_file import Damage
from rdfspider.errors import UsageError
from rdfspider.index.log.indexed_sources import LogState, Sources
from rdfspider.index.log.statements import choose_statements
from rdfspider.vocabulary.terms import FoldedStatements

# The size of a batch: large enough to be fast, small enough to hold several in memory.
_BATCH_OUTCOMES = 128
_BATCH_CHARS = 4_000_000
# What an outcome counts for besides its text and statements: many outcomes have neither, but still take memory.
_OUTCOME_CHARS = 1_000
# What a character of statements counts for, with the triples that are made of it.
_FOLDED = 3
# The characters of batches that wait for other views.
_KEPT_CHARS = 32_000_000
# A view that has taken nothing for this time stands still, say in a long commit.
_PATIENCE_S = 15.0
# Files that stay open between two batches; the number of open files is limited.
_MAX_OPEN = 32

_Place = tuple[str, int]
"""A source and a position in it."""


class Batch(NamedTuple):
    """Some outcomes of a source, in the order of the log."""

    outcomes: list[Outcome]
    end: int
    """Where the next batch begins."""
    chars: int

    @property
    def is_cut(self) -> bool:
        """Whether it ends inside a compressed member of many records, at the beginning of which the next one begins again."""
        return bool(self.outcomes) and self.outcomes[-1].offset == self.end


class _Reader:
    """A view that takes batches."""

    def __init__(self, cursors: Mapping[str, int], *, is_awaited: bool) -> None:
        self.cursors = cursors
        self.is_awaited = is_awaited
        self.moved_at = time.monotonic()

    def stands_at(self, place: _Place) -> bool:
        """Whether it can take the batch of this place next."""
        source, start = place
        return self.cursors.get(source, 0) == start


class _File(NamedTuple):
    """An open file of a source, and where it ends."""

    items: Iterator[Outcome | Damage]
    stop: int


class Batches:
    """The reader of the log that all views of a crawl share; any thread may use it."""

    def __init__(self, sources: Sources, *, mechanics: bool = False) -> None:
        self._sources = sources
        self._mechanics = mechanics
        self._changed = threading.Condition()
        """Guards all that follows, and tells those who wait of every change that may let them go on."""
        self._readers: dict[str, _Reader] = {}
        self._kept: dict[_Place, tuple[Batch, set[str]]] = {}
        """The oldest first: a batch, and the views that are still to take it."""
        self._kept_chars = 0
        self._being_read: set[_Place] = set()
        self._is_hurried = False
        self._open: dict[_Place, _File] = {}
        """The oldest first."""
        self._alone: dict[tuple[str, _Place], _File] = {}
        """By view: files that it has open inside a compressed member of many records, of which it stands at the beginning."""

    def join(self, name: str, cursors: Mapping[str, int], *, is_awaited: bool = True) -> None:
        """A view will read from its cursors on, which it moves as it reads. Only if it `is_awaited` do others wait for it."""
        with self._changed:
            self._readers[name] = _Reader(cursors, is_awaited=is_awaited)
            self._leave_members(name)
            for source, start in list(self._kept):
                if cursors.get(source, 0) > start:
                    self._release((source, start), name)
            self._changed.notify_all()

    def leave(self, name: str) -> None:
        """A view reads no more, for now or for ever."""
        with self._changed:
            self._readers.pop(name, None)
            self._leave_members(name)
            for place in list(self._kept):
                self._release(place, name)
            self._changed.notify_all()

    def _leave_members(self, name: str) -> None:
        for of, place in list(self._alone):
            if of == name:
                del self._alone[of, place]

    def hurry(self) -> None:
        """Let no view wait for another from now on."""
        with self._changed:
            self._is_hurried = True
            self._changed.notify_all()

    def has(self, source: str, start: int) -> bool:
        """Whether the outcomes that follow a position need not be read from a file."""
        return (source, start) in self._kept

    def read(self, name: str, source: str, look: LogState, start: int) -> Batch:
        """Return the outcomes that follow a position in a source. OSError if its file cannot be opened."""
        place = (source, start)
        alone = self._alone.pop((name, place), None)
        if alone is not None:
            return self._read_alone(name, place, alone)
        with self._changed:
            while place not in self._kept and (place in self._being_read or self._has_to_wait(name)):
                self._changed.wait(_PATIENCE_S)
            if place in self._kept:
                batch = self._kept[place][0]
                self._pass(name, source, batch.end)
                return batch
            self._being_read.add(place)
            opened = self._open.pop(place, None)
            ends = self._list_ends(source, start)
        try:
            file = opened or _File(_read_on(self._sources.read(source, look, start)), look[source].length)
            batch = self._read(source, file, ends)
        except BaseException:
            with self._changed:
                self._being_read.discard(place)
                self._changed.notify_all()
            raise
        with self._changed:
            self._being_read.discard(place)
            if batch.outcomes and batch.end > start:
                self._keep(place, batch, name)
            self._put_back(name, source, file, batch)
        return batch

    def _read_alone(self, name: str, place: _Place, file: _File) -> Batch:
        """Read on inside a member. Others cannot share what comes: there is no position from where it can be read."""
        source, _ = place
        batch = self._read(source, file, set())
        with self._changed:
            self._put_back(name, source, file, batch)
        return batch

    def _put_back(self, name: str, source: str, file: _File, batch: Batch) -> None:
        """A view has read a batch: keep its file for the next one. After a part of a member the file is for that view alone:
        others who come to the beginning of the member lack that part."""
        place = (source, batch.end)
        if batch.is_cut:
            self._alone[name, place] = file
        elif batch.end < file.stop:
            self._open[place] = file
            if len(self._open) > _MAX_OPEN:
                del self._open[next(iter(self._open))]
        self._pass(name, source, batch.end)
        self._changed.notify_all()

    def _has_to_wait(self, name: str) -> bool:
        """Whether the room is full of batches, none of which this view needs, and another can take one next and moves."""
        if self._kept_chars < _KEPT_CHARS or self._is_hurried:
            return False
        since = time.monotonic() - _PATIENCE_S
        is_awaited = False
        for place, (_, names) in self._kept.items():
            if name in names:
                return False
            readers = (self._readers[other] for other in names)
            is_awaited = is_awaited or any(
                reader.is_awaited and reader.moved_at > since and reader.stands_at(place) for reader in readers
            )
        return is_awaited

    def _list_ends(self, source: str, start: int) -> set[int]:
        """Where a batch of a source that begins somewhere should end, so that others can share the next one."""
        stands = {reader.cursors.get(source, 0) for reader in self._readers.values()}
        return (stands | {kept for other, kept in self._kept if other == source}) - {start}

    def _keep(self, place: _Place, batch: Batch, name: str) -> None:
        source, start = place
        names = {
            other for other, reader in self._readers.items() if other != name and reader.cursors.get(source, 0) <= start
        }
        if not names:
            return
        while self._kept and self._kept_chars >= _KEPT_CHARS:
            self._drop(next(iter(self._kept)))
        self._kept[place] = (batch, names)
        self._kept_chars += batch.chars

    def _pass(self, name: str, source: str, end: int) -> None:
        """A view has taken all of a source up to a position."""
        if name in self._readers:
            self._readers[name].moved_at = time.monotonic()
        for place in [place for place in self._kept if place[0] == source and place[1] < end]:
            self._release(place, name)

    def _release(self, place: _Place, name: str) -> None:
        """A view does not need a batch, or no more."""
        names = self._kept[place][1]
        names.discard(name)
        if not names:
            self._drop(place)

    def _drop(self, place: _Place) -> None:
        self._kept_chars -= self._kept.pop(place)[0].chars
        self._changed.notify_all()

    def _read(self, source: str, file: _File, ends: set[int]) -> Batch:
        """The next outcomes of an open file."""
        outcomes: list[Outcome] = []
        chars = 0
        for item in file.items:
            if isinstance(item, Damage):
                self._sources.tell(source, item)
                continue
            outcome = choose_statements(item, mechanics=self._mechanics)
            if len(self._readers) > 1 and outcome.effect == Effect.REPLACE:
                outcome = replace(
                    outcome,
                    statements=FoldedStatements(outcome.statements, outcome.url),
                    content=digest_content(outcome),
                )
            outcomes.append(outcome)
            chars += _OUTCOME_CHARS + len(item.text) + _FOLDED * sum(map(len, item.statements.values()))
            if len(outcomes) >= _BATCH_OUTCOMES or chars >= _BATCH_CHARS or item.end in ends:
                return Batch(outcomes, item.end, chars)
        # The last record need not be an outcome.
        return Batch(outcomes, file.stop, chars)


def _read_on(reader: Iterator[Outcome | Damage]) -> Iterator[Outcome | Damage]:
    """Read outcomes; a file that cannot be opened, as on a removed disk, raises OSError because it may come back."""
    try:
        yield from reader
    except UsageError as error:
        raise OSError(str(error)) from error
