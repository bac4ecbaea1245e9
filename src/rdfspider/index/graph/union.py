"""Several generations as one: their sorted keys enter, the numbers of the keys in their union leave.

The union goes from range to range of keys, so that it never holds more than some thousands of each generation.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from rdfspider.index.graph.manifest import Part
from rdfspider.index.graph.varints import Flags, Numbers

_BATCH_ROWS = 16_384
_BLOCKS = 64


class Range(NamedTuple):
    """Some keys of the union."""

    keys: list[bytes]
    places: list[tuple[Numbers, Numbers]]
    """For each part: the numbers of its keys in this range, and their places in `keys`."""


def join_keys(parts: Sequence[Part], are_used: Sequence[Flags]) -> Iterator[Range]:
    """The distinct keys of all parts in their order, without those that a part does not use."""
    readers = [_KeyReader(part, is_used) for part, is_used in zip(parts, are_used, strict=True)]
    while True:
        for reader in readers:
            reader.fill()
        filled = [reader.keys[-1] for reader in readers if reader.keys]
        if not filled:
            return
        last = min(filled)
        taken = [reader.take(last) for reader in readers]
        if sum(1 for keys, _ in taken if keys) == 1:
            keys = next(keys for keys, _ in taken if keys)
        else:
            keys = sorted(set().union(*(keys for keys, _ in taken)))
        places = {key: place for place, key in enumerate(keys)}
        yield Range(
            keys,
            [(numbers, np.fromiter(map(places.__getitem__, own), np.int64, len(own))) for own, numbers in taken],
        )


def count_live_links(part: Part) -> Numbers:
    """How many links that count each key of a part has as a target."""
    generation = part.generation
    counts = np.zeros(generation.keys, np.int64)
    for start, rows in generation.transposed.list_batches(_BATCH_ROWS):
        counts[start : start + len(rows.counts)] = rows.counts
    if len(part.dead):
        sources = generation.list_sources()
        for start in range(0, len(sources), _BATCH_ROWS):
            is_dead = ~part.are_live(sources[start : start + _BATCH_ROWS])
            if is_dead.any():
                rows = generation.forward.list_rows(start, start + len(is_dead))
                targets = rows.numbers[np.repeat(is_dead, rows.counts)]
                counts -= np.bincount(targets, minlength=len(counts))
    return counts


def find_used(part: Part, *, has_removed: bool) -> Flags:
    """Which keys of a part have a row that counts, or a link that counts leads to. Pages that are gone have a row, too, but it
    makes them no page: with `has_removed` they are found nevertheless."""
    generation = part.generation
    if not len(part.dead) and (has_removed or not generation.removed):
        return np.ones(generation.keys, np.bool_)
    is_used = count_live_links(part) > 0
    sources = generation.list_sources()
    is_row = part.are_live(sources)
    if not has_removed:
        is_row &= ~generation.list_removed()
    is_used[sources[is_row]] = True
    return is_used


class _KeyReader:
    """Reads the keys of a part."""

    def __init__(self, part: Part, is_used: Flags) -> None:
        self._blocks = part.generation.dictionary.list_keys()
        self._is_used = is_used
        self._is_whole = bool(is_used.all())
        self._next = 0
        self.keys: list[bytes] = []
        self._numbers = np.empty(0, np.int64)

    def fill(self) -> None:
        """Read on if nothing is left of what was read."""
        while not self.keys:
            read: list[bytes] = []
            for _, keys in zip(range(_BLOCKS), self._blocks, strict=False):
                read += keys
            if not read:
                return
            numbers = np.arange(self._next, self._next + len(read))
            self._next += len(read)
            if not self._is_whole:
                is_used = self._is_used[numbers]
                read, numbers = list(compress(read, is_used.tolist())), numbers[is_used]
            self.keys, self._numbers = read, numbers

    def take(self, last: bytes) -> tuple[list[bytes], Numbers]:
        """Take the keys up to this one, with their numbers."""
        if not self.keys:
            return [], self._numbers
        count = bisect_right(self.keys, last)
        taken = self.keys[:count], self._numbers[:count]
        self.keys, self._numbers = self.keys[count:], self._numbers[count:]
        return taken
