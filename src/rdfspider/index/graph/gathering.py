"""Links that are not in a generation yet: rows of pages enter, the newest of each page leave as a new generation."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count, islice, repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rdfspider.index.graph.dictionary import choose_samples
from rdfspider.index.graph.generation import GenerationWriter, make_words
from rdfspider.index.graph.keys import make_key
from rdfspider.index.graph.kinds import LinkKind
from rdfspider.index.graph.page_links import PageLinks, Stamp
from rdfspider.index.graph.rows import Rows
from rdfspider.index.graph.varints import Numbers

FLUSH_LINKS = 1_000_000
"""So many links are a generation; they take some 100 to 200 MB until then, with their URLs."""
_FLUSH_ROWS = 200_000
_FLUSH_CHARS = 100_000_000
_USUAL, _DATA = int(LinkKind.LINK), int(LinkKind.DATA)


class _Row(NamedTuple):
    """The row of a page, with its targets as numbers."""

    stamp: Stamp
    is_removed: bool
    targets: "array[int]"
    kinds: bytes
    """The kind of each link; empty if all are hyperlinks and nothing else."""
    anchors: list[str]
    """The anchor text of each link; empty if there are none."""
    predicates: list[str]
    """The predicate of each link, empty for those that are no data links; empty if there are none."""


class Gathered:
    """The rows that were taken since the last generation; for one thread."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        """A number for each URL, in the order in which they came."""
        self._links = 0
        self._chars = 0

    def __bool__(self) -> bool:
        return bool(self._rows)

    @property
    def is_full(self) -> bool:
        """Whether it should become a generation now."""
        return self._links >= FLUSH_LINKS or len(self._rows) >= _FLUSH_ROWS or self._chars >= _FLUSH_CHARS

    def add(self, page: PageLinks) -> None:
        """Take a row, unless a newer one of the page is here."""
        known = self._rows.get(page.url)
        if known is not None:
            if page.stamp <= known.stamp:
                return
            self._links -= len(known.targets)
        numbers, before = self._numbers, len(self._numbers)
        targets = array("I", map(numbers.__getitem__, page.kinds))
        kinds = bytes(page.kinds.values())
        if kinds.count(_USUAL) == len(kinds):
            kinds = b""
        anchors = list(map(page.anchors.get, page.kinds, repeat(""))) if page.anchors else []
        predicates = list(map(page.predicates.get, page.kinds, repeat(""))) if page.predicates else []
        self._rows[page.url] = _Row(page.stamp, page.is_removed, targets, kinds, anchors, predicates)
        self._links += len(targets)
        new = islice(reversed(numbers), len(numbers) - before)
        self._chars += sum(map(len, new)) + sum(map(len, anchors)) + len(page.url)

    def list_pages(self) -> list[tuple[bytes, str, Stamp]]:
        """The key, URL and stamp of each row, by key."""
        return sorted((make_key(url), url, row.stamp) for url, row in self._rows.items())

    def drop(self, urls: Sequence[str]) -> None:
        """Drop the rows of pages."""
        for url in urls:
            if (row := self._rows.pop(url, None)) is not None:
                self._links -= len(row.targets)

    def drop_forgotten(self, is_forgotten: Callable[[str], bool]) -> None:
        """Drop the rows of forgotten pages."""
        self.drop([url for url in self._rows if is_forgotten(url)])

    def clear(self) -> None:
        """Begin again."""
        self.__init__()  # type: ignore[misc]

    def write(self, path: Path) -> None:
        """Write all rows as a generation."""
        rows = list(self._rows.values())
        numbers = self._numbers
        sources = np.array([numbers[url] for url in self._rows], np.int64)
        counts = np.array([len(row.targets) for row in rows], np.int64)
        joined = b"".join([row.targets.tobytes() for row in rows])
        targets = np.frombuffer(joined, np.dtype("I")).astype(np.int64)
        keys, places = self._sort_keys(sources, targets)
        # Rows in the order of their pages, the links of each in the order of their targets. To sort pairs as one number takes a
        # third of the time that `lexsort` takes.
        source_ids, target_ids = places[sources], places[targets]
        by_source = np.argsort(source_ids)
        link_sources = np.repeat(source_ids, counts)
        by_link = np.argsort(link_sources * len(keys) + target_ids)
        has_row = np.zeros(len(keys), np.bool_)
        has_row[source_ids] = True
        writer = GenerationWriter(path, choose_samples(keys))
        try:
            writer.add_keys(keys, has_row)
            writer.finish_keys()
            ordered = [rows[place] for place in by_source.tolist()]
            writer.write_removed(np.array([row.is_removed for row in ordered], np.bool_))
            for name, field in (("times", 0), ("ties", 1)):
                writer.file.write_table(name, np.array([row.stamp[field] for row in ordered], np.uint64))
            forward = writer.begin_forward()
            forward.add(source_ids[by_source], Rows(counts[by_source], target_ids[by_link]))
            forward.finish()
            transposed = writer.begin_transposed()
            in_counts = np.bincount(target_ids, minlength=len(keys))
            in_sources = np.sort(target_ids * len(keys) + link_sources) % len(keys)
            transposed.add(np.arange(len(keys)), Rows(in_counts, in_sources))
            transposed.finish()
            starts = np.cumsum(counts) - counts
            orders = by_link - np.repeat(starts[by_source], counts[by_source])
            _write_words(writer, ordered, orders)
            writer.finish(len(targets))
        except BaseException:
            writer.file.discard()
            raise

    def _sort_keys(self, sources: Numbers, targets: Numbers) -> tuple[list[bytes], Numbers]:
        """The keys of the URLs that rows still have, sorted, and the place of each URL among them by its number."""
        is_used = np.zeros(len(self._numbers), np.bool_)
        is_used[sources] = True
        is_used[targets] = True
        keys = list(map(make_key, self._numbers))
        order = sorted(np.flatnonzero(is_used).tolist(), key=keys.__getitem__)
        places = np.full(len(keys), -1, np.int64)
        places[order] = np.arange(len(order))
        return [keys[number] for number in order], places


def _write_words(writer: GenerationWriter, rows: Sequence[_Row], orders: Numbers) -> None:
    """Write what is said of the links of each row; `orders` has the order of the links of each."""
    kind_pieces: list[bytes] = []
    word_pieces: list[bytes] = []
    stop = 0
    for row in rows:
        start, stop = stop, stop + len(row.targets)
        kinds, words = row.kinds, b""
        if kinds or row.anchors or row.predicates:
            order = orders[start:stop].tolist()
            kinds = bytes(map(kinds.__getitem__, order)) if kinds else b""
            anchors = list(map(row.anchors.__getitem__, order)) if row.anchors else []
            predicates = (
                [row.predicates[place] for place in order if row.kinds[place] & _DATA] if row.predicates else []
            )
            words = make_words(anchors, predicates)
        kind_pieces.append(kinds)
        word_pieces.append(words)
    for begin, pieces in ((writer.begin_kinds, kind_pieces), (writer.begin_words, word_pieces)):
        blobs = begin()
        blobs.add(pieces)
        blobs.finish()
