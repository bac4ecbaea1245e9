"""One committed state of the graph, which never changes: keys enter, links leave; and the numbers of all its pages in one
order.

A question about one page needs no numbers: it is asked of each generation, and answers are joined by key. The *ids* of a state
number its pages in the order of keys; with several generations they are made when they are first needed.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import islice
from typing import NamedTuple

import numpy as np

from rdfspider.index.graph.csr import Csr, make_csr
from rdfspider.index.graph.generation import parse_words
from rdfspider.index.graph.kinds import LinkKind
from rdfspider.index.graph.manifest import Part
from rdfspider.index.graph.rows import CHUNK
from rdfspider.index.graph.union import find_used, join_keys
from rdfspider.index.graph.varints import Bytes, Flags, Numbers

_NONE = np.empty(0, np.int64)
_DATA = int(LinkKind.DATA)
_ALL = 1 << 62
_BATCH_ROWS = 16_384
_KEYS_A_STEP = 256
_KEPT_KEYS = 300_000
"""Keys that are kept once several generations were joined: a tenth of a kilobyte each, and to join them again takes longer."""
_SOURCES_A_STEP = 64 * CHUNK


class KeyLink(NamedTuple):
    """A link, from the view of one of its ends."""

    key: bytes
    """The key of the other end."""
    kind: int
    anchor: str
    predicate: str


class _Place(NamedTuple):
    """Where the row of a page is."""

    part: Part
    row: int


class _Batch(NamedTuple):
    """Some rows of a part, with all their links."""

    part: Part
    start: int
    """The first row."""
    counts: Numbers
    """How many links each row has."""
    sources: Numbers
    targets: Numbers
    """The ids of both ends of each link."""
    is_kept: Flags
    """Whether each link is meant."""


class State:
    """One committed state; for any number of threads."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = list(parts)
        self._lock = threading.Lock()
        self._ids: Ids | None = None

    @property
    def ids(self) -> "Ids":
        """The ids of its pages."""
        with self._lock:
            if self._ids is None:
                self._ids = Ids(self.parts)
            return self._ids

    @cached_property
    def links(self) -> int:
        """How many links there are."""
        return sum(part.generation.links - _count_dead_links(part) for part in self.parts)

    def list_targets(self, key: bytes) -> list[bytes]:
        """The keys of the pages to which a page links, and nothing else of the links."""
        place = self._find_row(key)
        if place is None:
            return []
        generation = place.part.generation
        return generation.dictionary.read_all(generation.forward.read(place.row).tolist())

    def list_out(self, key: bytes, start: int, stop: int) -> list[KeyLink]:
        """Some of the links of a page, in the order of their targets."""
        place = self._find_row(key)
        if place is None:
            return []
        generation, row = place.part.generation, place.row
        targets = generation.forward.read(row)
        kinds, words = generation.kinds.read(row), generation.read_words(row)
        links = []
        numbers = targets[start:stop].tolist()
        for offset, key_of_target in enumerate(generation.dictionary.read_all(numbers), start):
            kind = kinds[offset] if kinds else int(LinkKind.LINK)
            anchor = words.anchors[offset] if words.anchors else ""
            predicate = words.predicates[_count_data(kinds, offset)] if kind & _DATA and words.predicates else ""
            links.append(KeyLink(key_of_target, kind, anchor, predicate))
        return links

    def list_in(self, key: bytes, start: int, stop: int) -> list[KeyLink]:
        """Some of the links to a page, in the order of their sources."""
        found = self._find_sources(key)
        if len(found) == 1 and not len(found[0][0].dead):
            part, number = found[0]
            sources = part.generation.transposed.read_slice(number, start, stop)
            return [self._read_link(part, source, number) for source in sources.tolist()]
        streams = [self._stream_sources(part, number) for part, number in found]
        return [
            self._read_link(part, source, number, key_of_source)
            for key_of_source, part, source, number in islice(merge(*streams, key=lambda each: each[0]), start, stop)
        ]

    def count_out(self, key: bytes) -> int:
        """How many pages a page links to."""
        place = self._find_row(key)
        return place.part.generation.forward.count_numbers(place.row) if place else 0

    def count_in(self, key: bytes, exact_up_to: int = _ALL) -> int:
        """How many pages link to a page; of more than so many, those that no longer do may be counted too."""
        total = 0
        for part in self.parts:
            number = part.generation.dictionary.find(key)
            if number is None:
                continue
            count = part.generation.transposed.count_numbers(number)
            if 0 < count <= exact_up_to and len(part.dead):
                count = len(part.select_live(part.generation.transposed.read(number)))
            total += count
        return total

    def has_page(self, key: bytes) -> bool:
        """Whether a page has a row, or any page links to it."""
        place = self._find_row(key)
        if place is not None and not place.part.generation.is_removed(place.row):
            return True
        return self.count_in(key) > 0

    def sample_in(self, key: bytes, count: int) -> list[KeyLink]:
        """Links to a page; if there are more than so many, those whose sources have the least hashes: they depend on the sources
        alone, however these are spread over generations. What is held at a time is bounded, what is read is not."""
        found = self._find_sources(key)
        # A column for each source: its hash, its number, and the place in `found` of the part that has it.
        chosen = np.empty((3, 0), np.int64)
        for place, (part, number) in enumerate(found):
            generation = part.generation
            for start in range(0, generation.transposed.count_numbers(number), _SOURCES_A_STEP):
                sources = generation.transposed.read_slice(number, start, start + _SOURCES_A_STEP)
                sources = part.select_live(sources)
                hashes = generation.row_hashes[np.searchsorted(generation.list_sources(), sources)]
                chosen = np.hstack((chosen, [hashes, sources, np.full(len(sources), place)]))
                if chosen.shape[1] > count:
                    chosen = chosen[:, chosen[0] <= np.partition(chosen[0], count - 1)[count - 1]]
        links = [
            (hashed, self._read_link(found[place][0], source, found[place][1]))
            for hashed, source, place in chosen.T.tolist()
        ]
        # Several may have the last hash.
        links.sort(key=lambda each: (each[0], each[1].key))
        return [link for _, link in links[:count]]

    def load_csr(self, wanted: int, unwanted: int) -> Csr:
        """The graph of all links of wanted kinds that are of no unwanted one, by id."""
        return make_csr(self.ids.count, self.list_link_ids(wanted, unwanted))

    def list_link_ids(self, wanted: int = 0, unwanted: int = 0) -> Iterator[tuple[Numbers, Numbers]]:
        """The ids of source and target of all links, in pieces."""
        for batch in self._list_batches(wanted, unwanted):
            yield batch.sources[batch.is_kept], batch.targets[batch.is_kept]

    def list_anchors(
        self, is_chosen: Callable[[Numbers, Numbers], Flags], wanted: int, unwanted: int
    ) -> Iterator[tuple[Numbers, Numbers, list[str]]]:
        """The ids of source and target of links that have an anchor text, and these texts, in pieces: of those links that
        `is_chosen` says of sources and targets. Words of other rows are not read."""
        for batch in self._list_batches(wanted, unwanted):
            words = batch.part.generation.words
            if words.is_empty:
                continue
            batch.is_kept[batch.is_kept] = is_chosen(batch.sources[batch.is_kept], batch.targets[batch.is_kept])
            chosen = np.flatnonzero(batch.is_kept)
            ends = np.cumsum(batch.counts)
            rows = np.searchsorted(ends, chosen, side="right")
            offsets = chosen - (ends - batch.counts)[rows]
            links: list[int] = []
            texts: list[str] = []
            last, anchors = -1, list[str]()
            for link, row, offset in zip(chosen.tolist(), rows.tolist(), offsets.tolist(), strict=True):
                if row != last:
                    last, anchors = row, parse_words(words.read(batch.start + row)).anchors
                if anchors and anchors[offset]:
                    links.append(link)
                    texts.append(anchors[offset])
            yield batch.sources[links], batch.targets[links], texts

    def find_read(self) -> Flags:
        """Which ids are of pages that have a row, and are not gone."""
        is_read = np.zeros(self.ids.count, np.bool_)
        for part, numbers in zip(self.parts, self.ids.maps, strict=True):
            sources = part.select_live(part.generation.list_sources()[~part.generation.list_removed()])
            is_read[sources if numbers is None else numbers[sources]] = True
        return is_read

    def _list_batches(self, wanted: int, unwanted: int) -> Iterator[_Batch]:
        """The links of all rows, with those marked that count and are of a wanted kind and of no unwanted one."""
        accepted = np.array(
            [(not wanted or bool(kind & wanted)) and not kind & unwanted for kind in range(256)], np.bool_
        )
        for part, numbers in zip(self.parts, self.ids.maps, strict=True):
            generation = part.generation
            sources = generation.list_sources()
            has_kinds = not generation.kinds.is_empty
            for start, rows in generation.forward.list_batches(_BATCH_ROWS):
                ids = sources[start : start + len(rows.counts)]
                is_kept = np.repeat(part.are_live(ids), rows.counts)
                if has_kinds and not accepted.all():
                    pieces = generation.kinds.list_pieces(start, start + len(rows.counts))
                    is_kept &= accepted[_join_kinds(pieces, rows.counts)]
                elif not accepted[LinkKind.LINK]:
                    is_kept[:] = False
                link_sources, targets = np.repeat(ids, rows.counts), rows.numbers
                if numbers is not None:
                    link_sources, targets = numbers[link_sources], numbers[targets]
                yield _Batch(part, start, rows.counts, link_sources, targets, is_kept)

    def _find_row(self, key: bytes) -> _Place | None:
        for part in self.parts:
            number = part.generation.dictionary.find(key)
            if number is not None and (row := part.find_row(number)) is not None:
                return _Place(part, row)
        return None

    def _find_sources(self, key: bytes) -> list[tuple[Part, int]]:
        found = ((part, part.generation.dictionary.find(key)) for part in self.parts)
        return [
            (part, number)
            for part, number in found
            if number is not None and part.generation.transposed.count_numbers(number)
        ]

    def _stream_sources(self, part: Part, number: int) -> Iterator[tuple[bytes, Part, int, int]]:
        sources = part.select_live(part.generation.transposed.read(number))
        for start in range(0, len(sources), _KEYS_A_STEP):
            some = sources[start : start + _KEYS_A_STEP].tolist()
            for key, source in zip(part.generation.dictionary.read_all(some), some, strict=True):
                yield key, part, source, number

    def _read_link(self, part: Part, source: int, target: int, key: bytes | None = None) -> KeyLink:
        """The link from a source to a target, both by their numbers in a part."""
        generation = part.generation
        key = generation.dictionary.read(source) if key is None else key
        row = part.find_row(source)
        place = None if row is None else generation.forward.find_place(row, target)
        if row is None or place is None:
            raise generation.file.tell_damage("a link is in one direction only")
        kinds, words = generation.kinds.read(row), generation.read_words(row)
        kind = kinds[place] if kinds else int(LinkKind.LINK)
        anchor = words.anchors[place] if words.anchors else ""
        predicate = words.predicates[_count_data(kinds, place)] if kind & _DATA and words.predicates else ""
        return KeyLink(key, kind, anchor, predicate)


class Ids:
    """The ids of the pages of a state."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self.maps: list[Numbers | None] = []
        """For each part, the id of each of its numbers, or of the next that has one; None where ids and numbers are the same."""
        are_used = [find_used(part, has_removed=False) for part in parts]
        self.is_plain = len(parts) == 1 and bool(are_used[0].all())
        """Whether ids are the numbers of the one generation."""
        if self.is_plain:
            self.count = parts[0].generation.keys
            """How many pages there are."""
            self.maps = [None]
            return
        maps = [np.full(part.generation.keys, -1, np.int64) for part in parts]
        self.count = 0
        kept: list[bytes] | None = []
        for keys, places in join_keys(parts, are_used):
            for (numbers, new), ids in zip(places, maps, strict=True):
                ids[numbers] = new + self.count
            self.count += len(keys)
            if kept is not None:
                kept += keys
                kept = kept if self.count <= _KEPT_KEYS else None
        self._keys = kept
        for ids in maps:
            ids[ids < 0] = self.count
            # Of several numbers with one id, the last is meant: the others are not used.
            self.maps.append(np.minimum.accumulate(ids[::-1])[::-1])

    def find(self, key: bytes) -> int | None:
        """The id of a page; None if there is no such page."""
        for part, ids in zip(self._parts, self.maps, strict=True):
            number = part.generation.dictionary.find(key)
            if number is None:
                continue
            if ids is None:
                return number
            page = int(ids[number])
            if page < self.count and self._find_number(ids, page) == number:
                return page
        return None

    def read(self, page: int) -> bytes:
        """The key of a page. IndexError if there is no such id."""
        for part, number in self._list_numbers(page):
            return part.generation.dictionary.read(number)
        raise IndexError(f"there is no page {page}")

    def read_all(self, pages: Sequence[int]) -> list[bytes]:
        """The keys of pages."""
        if self.is_plain:
            return self._parts[0].generation.dictionary.read_all(pages)
        if self._keys is not None:
            return [self._keys[page] for page in pages]
        return [self.read(page) for page in pages]

    def list_out(self, page: int) -> Numbers:
        """The ids of the pages that a page links to, sorted."""
        for part, number in self._list_numbers(page):
            row = part.find_row(number)
            if row is not None:
                return self._translate(part, part.generation.forward.read(row))
        return _NONE

    def list_in(self, page: int) -> Numbers:
        """The ids of the pages that link to a page, sorted."""
        found = [
            self._translate(part, part.select_live(part.generation.transposed.read(number)))
            for part, number in self._list_numbers(page)
        ]
        return found[0] if len(found) == 1 else np.sort(np.concatenate(found)) if found else _NONE

    def list_keys(self) -> Iterator[list[bytes]]:
        """The keys of all pages in the order of ids, in pieces."""
        if self.is_plain:
            yield from self._parts[0].generation.dictionary.list_keys()
            return
        if self._keys is not None:
            yield self._keys
            return
        are_used = [find_used(part, has_removed=False) for part in self._parts]
        for keys, _ in join_keys(self._parts, are_used):
            yield keys

    def _list_numbers(self, page: int) -> Iterator[tuple[Part, int]]:
        """The parts that have a page, and its number there."""
        for part, ids in zip(self._parts, self.maps, strict=True):
            if ids is None:
                if 0 <= page < self.count:
                    yield part, page
            elif 0 <= page < self.count:
                number = self._find_number(ids, page)
                if number >= 0 and ids[number] == page:
                    yield part, number

    def _find_number(self, ids: Numbers, page: int) -> int:
        return int(np.searchsorted(ids, page, side="right")) - 1

    def _translate(self, part: Part, numbers: Numbers) -> Numbers:
        ids = self.maps[self._parts.index(part)]
        return numbers if ids is None else ids[numbers]


def _count_dead_links(part: Part) -> int:
    if not len(part.dead):
        return 0
    sources = part.generation.list_sources()
    return sum(
        int(rows.counts[~part.are_live(sources[start : start + len(rows.counts)])].sum())
        for start, rows in part.generation.forward.list_batches(_BATCH_ROWS)
    )


def _count_data(kinds: bytes, place: int) -> int:
    """How many data links a row has before a link."""
    return sum(1 for kind in kinds[:place] if kind & _DATA)


def _join_kinds(pieces: Sequence[bytes], counts: Numbers) -> Bytes:
    """The kinds of the links of all rows."""
    usual = bytes([LinkKind.LINK])
    filled = [piece or usual * count for piece, count in zip(pieces, counts.tolist(), strict=True)]
    return np.frombuffer(b"".join(filled), np.uint8)
