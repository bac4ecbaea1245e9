"""Reads the log once for all views: a position in a source enters, the next batch of outcomes leaves, with the statements that
the indexes take and, if several views take them, their triples and the digest of their content.

Each view follows the log at its own pace. A batch that one view has read is kept for those that are behind it; a view that is
ahead waits until they have taken some, because reading is dear and would be done again for each. It does not wait for a view
that stands still: then the oldest batch makes room, and who needs it reads for itself.
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


class Batch(NamedTuple):
    """Some outcomes of a source, in the order of the log."""

    outcomes: list[Outcome]
    end: int
    """Where the next batch begins."""
    chars: int


class _Reader:
    """A view that takes batches."""

    def __init__(self, cursors: Mapping[str, int], *, is_awaited: bool) -> None:
        self.cursors = cursors
        self.is_awaited = is_awaited
        self.moved_at = time.monotonic()


class Batches:
    """The reader of the log that all views of a crawl share; any thread may use it."""

    def __init__(self, sources: Sources, *, mechanics: bool = False) -> None:
        self._sources = sources
        self._mechanics = mechanics
        self._changed = threading.Condition()
        self._readers: dict[str, _Reader] = {}
        self._kept: dict[tuple[str, int], tuple[Batch, set[str]]] = {}
        """By source and position, the oldest first: a batch, and the views that are still to take it."""
        self._kept_chars = 0
        self._is_hurried = False
        self._open: dict[tuple[str, int], tuple[Iterator[Outcome | Damage], int]] = {}
        """By source and position, the oldest first: an open file, and where it ends."""

    def join(self, name: str, cursors: Mapping[str, int], *, is_awaited: bool = True) -> None:
        """A view will read from its cursors on, which it moves as it reads. Only if it `is_awaited` do others wait for it."""
        with self._changed:
            self._readers[name] = _Reader(cursors, is_awaited=is_awaited)
            for source, start in list(self._kept):
                if cursors.get(source, 0) > start:
                    self._release((source, start), name)

    def leave(self, name: str) -> None:
        """A view reads no more, for now or for ever."""
        with self._changed:
            self._readers.pop(name, None)
            for place in list(self._kept):
                self._release(place, name)

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
        with self._changed:
            while not (is_kept := place in self._kept) and self._has_to_wait(name):
                self._changed.wait(_PATIENCE_S)
            batch = self._kept[place][0] if is_kept else self._read(source, look, start)
            if not is_kept and batch.outcomes:
                self._keep(place, batch)
            self._release(place, name)
            self._readers[name].moved_at = time.monotonic()
            return batch

    def _has_to_wait(self, name: str) -> bool:
        """Whether the room is full of batches for others who move."""
        if self._kept_chars < _KEPT_CHARS or self._is_hurried:
            return False
        behind = set[str]().union(*(names for _, names in self._kept.values()))
        since = time.monotonic() - _PATIENCE_S
        readers = [self._readers[other] for other in behind]
        return name not in behind and any(reader.is_awaited and reader.moved_at > since for reader in readers)

    def _keep(self, place: tuple[str, int], batch: Batch) -> None:
        while self._kept and self._kept_chars >= _KEPT_CHARS:
            self._drop(next(iter(self._kept)))
        source, start = place
        names = {name for name, reader in self._readers.items() if reader.cursors.get(source, 0) <= start}
        self._kept[place] = (batch, names)
        self._kept_chars += batch.chars

    def _release(self, place: tuple[str, int], name: str) -> None:
        """A view does not need a batch, or no more."""
        if place in self._kept:
            names = self._kept[place][1]
            names.discard(name)
            if not names:
                self._drop(place)

    def _drop(self, place: tuple[str, int]) -> None:
        self._kept_chars -= self._kept.pop(place)[0].chars
        self._changed.notify_all()

    def _read(self, source: str, look: LogState, start: int) -> Batch:
        opened = self._open.pop((source, start), None)
        reader, stop = opened or (_read_on(self._sources.read(source, look, start)), look[source].length)
        outcomes: list[Outcome] = []
        chars = 0
        for item in reader:
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
            if len(outcomes) >= _BATCH_OUTCOMES or chars >= _BATCH_CHARS:
                if item.end < stop:
                    self._keep_open(source, item.end, reader, stop)
                return Batch(outcomes, item.end, chars)
        # The last record need not be an outcome.
        return Batch(outcomes, stop, chars)

    def _keep_open(self, source: str, position: int, reader: Iterator[Outcome | Damage], stop: int) -> None:
        self._open[source, position] = (reader, stop)
        if len(self._open) > _MAX_OPEN:
            del self._open[next(iter(self._open))]


def _read_on(reader: Iterator[Outcome | Damage]) -> Iterator[Outcome | Damage]:
    """Read outcomes; a file that cannot be opened, as on a removed disk, raises OSError because it may come back."""
    try:
        yield from reader
    except UsageError as error:
        raise OSError(str(error)) from error
