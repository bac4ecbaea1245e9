"""Generations enter, one leaves that has all of their rows that count.

The numbers of URLs change in step with their order, so rows stay sorted: they are decoded, renumbered and encoded again, some
thousands at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from rdfspider.index.graph.generation import Generation, GenerationWriter
from rdfspider.index.graph.manifest import Part
from rdfspider.index.graph.rows import Rows
from rdfspider.index.graph.union import find_used, join_keys
from rdfspider.index.graph.varints import Flags, Numbers

_STEP = 4096
"""URLs whose rows are written together."""
_SAMPLES = 1024
_Scalar = TypeVar("_Scalar", bound=np.generic)


class CancelledError(Exception):
    """A merge was given up."""


class _Slice(NamedTuple):
    """The rows of one input that belong to some URLs of the result."""

    input: int
    start: int
    stop: int
    is_live: Flags
    """Which of them count."""
    numbers: Numbers
    """The new numbers of the URLs of those that count."""


class Merge:
    """One merge of some parts; for one thread."""

    def __init__(self, parts: Sequence[Part], path: Path, is_cancelled: Callable[[], bool]) -> None:
        self.parts = list(parts)
        self._path = path
        self._is_cancelled = is_cancelled
        self._maps: list[npt.NDArray[np.int32]] = []
        """For each part, by its numbers: the new number of a key, or where it would be if it were kept."""
        self._sources: list[Numbers] = []
        """For each part, by row: the new number of its URL."""
        self._count = 0

    def run(self) -> Generation:
        """Write the merged generation, and open it. Raise CancelledError if it was given up."""
        samples = [
            block
            for part in self.parts
            for block in part.generation.dictionary.sample_blocks(_SAMPLES // len(self.parts))
        ]
        writer = GenerationWriter(self._path, samples)
        try:
            self._write_keys(writer)
            self._write_tables(writer)
            links = self._write_forward(writer)
            self._write_transposed(writer)
            self._write_pieces(writer)
            writer.finish(links)
        except BaseException:
            writer.file.discard()
            raise
        return Generation(self._path)

    def translate(self, number: int, dead: Numbers) -> Numbers:
        """The new numbers of the rows of a part that no longer count since the merge began."""
        part = self.parts[number]
        return self._maps[number][np.setdiff1d(dead, part.dead, assume_unique=True)].astype(np.int64)

    def _write_keys(self, writer: GenerationWriter) -> None:
        are_used = [find_used(part, has_removed=True) for part in self.parts]
        are_rows = [np.zeros(part.generation.keys, np.bool_) for part in self.parts]
        for part, is_row in zip(self.parts, are_rows, strict=True):
            is_row[part.select_live(part.generation.list_sources())] = True
        maps = [np.full(part.generation.keys, -1, np.int32) for part in self.parts]
        count = 0
        for keys, places in join_keys(self.parts, are_used):
            self._pause()
            has_row = np.zeros(len(keys), np.bool_)
            for (numbers, new), is_row, new_numbers in zip(places, are_rows, maps, strict=True):
                has_row[new[is_row[numbers]]] = True
                new_numbers[numbers] = new + count
            writer.add_keys(keys, has_row)
            count += len(keys)
        writer.finish_keys()
        self._count = count
        for each in maps:
            # What is not kept gets the number of the next that is, so that ranges can be searched.
            each[each < 0] = count
            self._maps.append(np.minimum.accumulate(each[::-1])[::-1])
        for part, renumbered in zip(self.parts, self._maps, strict=True):
            self._sources.append(renumbered[part.generation.list_sources()].astype(np.int64))

    def _write_tables(self, writer: GenerationWriter) -> None:
        removed = [part.generation.list_removed() for part in self.parts]
        writer.write_removed(
            self._gather(lambda each: removed[each.input][each.start : each.stop][each.is_live], np.bool_)
        )
        stamps = [part.generation.load_stamps() for part in self.parts]
        for field, name in enumerate(("times", "ties")):
            table = [stamp[field] for stamp in stamps]
            writer.file.write_table(
                name,
                self._gather(lambda each: table[each.input][each.start : each.stop][each.is_live], np.uint64),  # noqa: B023
            )

    def _gather(self, take: Callable[[_Slice], npt.NDArray[_Scalar]], kind: type[_Scalar]) -> npt.NDArray[_Scalar]:
        """A table of all new rows from the tables of the parts."""
        pieces = []
        for slices, order in self._list_slices():
            pieces.append(np.concatenate([take(each) for each in slices])[order])
        return np.concatenate(pieces) if pieces else np.empty(0, kind)

    def _write_forward(self, writer: GenerationWriter) -> int:
        forward = writer.begin_forward()
        links = 0
        for slices, order in self._list_slices():
            counts, targets = [], []
            for each in slices:
                rows = self.parts[each.input].generation.forward.list_rows(each.start, each.stop)
                is_kept = np.repeat(each.is_live, rows.counts)
                counts.append(rows.counts[each.is_live])
                targets.append(self._maps[each.input][rows.numbers[is_kept]].astype(np.int64))
            numbers = np.concatenate([each.numbers for each in slices])[order]
            ordered = _order_rows(Rows(np.concatenate(counts), np.concatenate(targets)), order)
            links += len(ordered.numbers)
            forward.add(numbers, ordered)
        forward.finish()
        return links

    def _write_transposed(self, writer: GenerationWriter) -> None:
        transposed = writer.begin_transposed()
        for start in range(0, self._count, _STEP):
            self._pause()
            stop = min(start + _STEP, self._count)
            links = [np.empty(0, np.int64)]
            for part, new_numbers in zip(self.parts, self._maps, strict=True):
                first, last = np.searchsorted(new_numbers, (start, stop)).tolist()
                rows = part.generation.transposed.list_rows(first, last)
                is_live = part.are_live(rows.numbers)
                targets = np.repeat(new_numbers[first:last] - start, rows.counts)[is_live]
                links.append(targets.astype(np.int64) * self._count + new_numbers[rows.numbers[is_live]])
            joined = np.sort(np.concatenate(links))
            counts = np.bincount(joined // self._count, minlength=stop - start)
            transposed.add(np.arange(start, stop), Rows(counts, joined % self._count))
        transposed.finish()

    def _write_pieces(self, writer: GenerationWriter) -> None:
        for name, begin in (("kinds", writer.begin_kinds), ("words", writer.begin_words)):
            blobs = begin()
            for slices, order in self._list_slices():
                pieces: list[bytes] = []
                for each in slices:
                    reader = getattr(self.parts[each.input].generation, name)
                    read = reader.list_pieces(each.start, each.stop)
                    pieces += [piece for piece, is_live in zip(read, each.is_live.tolist(), strict=True) if is_live]
                blobs.add([pieces[place] for place in order.tolist()])
            blobs.finish()

    def _list_slices(self) -> Iterator[tuple[list[_Slice], Numbers]]:
        """The rows of all parts for one range of new numbers after the other, and the order in which they are written."""
        for start in range(0, self._count, _STEP):
            self._pause()
            slices = []
            for number, (part, sources) in enumerate(zip(self.parts, self._sources, strict=True)):
                first, last = np.searchsorted(sources, (start, start + _STEP)).tolist()
                if first < last:
                    is_live = part.are_live(part.generation.list_sources()[first:last])
                    slices.append(_Slice(number, first, last, is_live, sources[first:last][is_live]))
            if slices:
                yield slices, np.argsort(np.concatenate([each.numbers for each in slices]), kind="stable")

    def _pause(self) -> None:
        if self._is_cancelled():
            raise CancelledError


def _order_rows(rows: Rows, order: Numbers) -> Rows:
    """Put rows into another order."""
    counts = rows.counts[order]
    if not len(rows.numbers):
        return Rows(counts, rows.numbers)
    starts = (np.cumsum(rows.counts) - rows.counts)[order]
    before = np.cumsum(counts) - counts
    return Rows(counts, rows.numbers[np.arange(len(rows.numbers)) + np.repeat(starts - before, counts)])
