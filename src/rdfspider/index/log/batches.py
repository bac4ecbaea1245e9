"""Reads the log once for all views: a position in a source enters, the next batch of outcomes leaves, with the statements that
the indexes take and, if several views take them, their triples.

Each view follows the log at its own pace, but seldom far from the others. A batch that one view has read is kept until all have
taken it, or until newer ones need the room; a view that is further behind reads for itself.
"""

import threading
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from rdfspider.archive.outcomes import Outcome
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
# Files that stay open between two batches; the number of open files is limited.
_MAX_READERS = 32


class Batch(NamedTuple):
    """Some outcomes of a source, in the order of the log."""

    outcomes: list[Outcome]
    end: int
    """Where the next batch begins."""
    chars: int


class Batches:
    """The reader of the log that all views of a crawl share; any thread may use it."""

    def __init__(self, sources: Sources, *, mechanics: bool = False, views: int = 1) -> None:
        """`views` is how many take each batch."""
        self._sources = sources
        self._mechanics = mechanics
        self._others = views - 1
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, int], tuple[Batch, int]] = {}
        """By source and position, the oldest first: a batch, and how many views still have to take it."""
        self._kept_chars = 0
        self._readers: dict[tuple[str, int], tuple[Iterator[Outcome | Damage], int]] = {}
        """By source and position, the oldest first: an open reader, and where it ends."""

    def read(self, source: str, look: LogState, start: int) -> Batch:
        """Return the outcomes that follow a position in a source. OSError if its file cannot be opened."""
        with self._lock:
            if (source, start) in self._kept:
                return self._take(source, start)
            batch = self._read(source, look, start)
            if self._others and batch.outcomes:
                self._keep(source, start, batch)
            return batch

    def _take(self, source: str, start: int) -> Batch:
        batch, others = self._kept.pop((source, start))
        if others > 1:
            self._kept[source, start] = (batch, others - 1)
        else:
            self._kept_chars -= batch.chars
        return batch

    def _keep(self, source: str, start: int, batch: Batch) -> None:
        self._kept[source, start] = (batch, self._others)
        self._kept_chars += batch.chars
        while self._kept_chars > _KEPT_CHARS:
            oldest, _ = self._kept.pop(next(iter(self._kept)))
            self._kept_chars -= oldest.chars

    def _read(self, source: str, look: LogState, start: int) -> Batch:
        opened = self._readers.pop((source, start), None)
        reader, stop = opened or (_read_on(self._sources.read(source, look, start)), look[source].length)
        outcomes: list[Outcome] = []
        chars = 0
        for item in reader:
            if isinstance(item, Damage):
                self._sources.tell(source, item)
                continue
            outcome = choose_statements(item, mechanics=self._mechanics)
            if self._others and outcome.statements:
                outcome = replace(outcome, statements=FoldedStatements(outcome.statements, outcome.url))
            outcomes.append(outcome)
            chars += _OUTCOME_CHARS + len(item.text) + _FOLDED * sum(map(len, item.statements.values()))
            if len(outcomes) >= _BATCH_OUTCOMES or chars >= _BATCH_CHARS:
                if item.end < stop:
                    self._keep_open(source, item.end, reader, stop)
                return Batch(outcomes, item.end, chars)
        # The last record need not be an outcome.
        return Batch(outcomes, stop, chars)

    def _keep_open(self, source: str, position: int, reader: Iterator[Outcome | Damage], stop: int) -> None:
        self._readers[source, position] = (reader, stop)
        if len(self._readers) > _MAX_READERS:
            del self._readers[next(iter(self._readers))]


def _read_on(reader: Iterator[Outcome | Damage]) -> Iterator[Outcome | Damage]:
    """Read outcomes; a file that cannot be opened, as on a removed disk, raises OSError because it may come back."""
    try:
        yield from reader
    except UsageError as error:
        raise OSError(str(error)) from error
