"""A generation of the graph: one file that never changes, with the links of some pages.

It has the sorted keys of all URLs that occur in it; the rows of its pages, in the order of their numbers, with the kinds and
words of their links; the same links by target; and the stamp of each row. A *row* may have no links, and that of a page that
is gone has none.
"""

import threading
from array import array
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from rdfspider.index.graph.blobs import BlobsReader, BlobsWriter
from rdfspider.index.graph.dictionary import Dictionary, DictionaryWriter
from rdfspider.index.graph.page_links import Stamp
from rdfspider.index.graph.rows import RowsReader, RowsWriter
from rdfspider.index.graph.sections import Sections, SectionWriter
from rdfspider.index.graph.varints import Flags, Numbers

SUFFIX = ".graph"
KIND_ROWS, WORD_ROWS = 128, 16
"""Rows a block: words are long, and are read for a few rows only."""
_GROUP_BITS = 512
Hashes = npt.NDArray[np.uint32]
Stamps = npt.NDArray[np.uint64]


class Words(NamedTuple):
    """What is said of the links of a row."""

    anchors: list[str]
    """The anchor text of each link, empty where there is none; no texts at all if there are none."""
    predicates: list[str]
    """The predicates of the data links, in their order."""


class Generation:
    """An open generation; for any number of threads."""

    def __init__(self, path: Path) -> None:
        """Raise FileNotFoundError if it is not there, UnreadableError if it is damaged."""
        self.file = file = Sections(path)
        self.name = path.name
        try:
            self.links = file.counts["links"]
            self.rows = file.counts["rows"]
            self.removed = file.counts["removed"]
            self.dictionary = Dictionary(file)
        except KeyError as error:
            raise file.tell_damage(f"it has no {error}") from error
        self.keys = self.dictionary.count
        self.forward = RowsReader(file, "forward", self.rows)
        self.transposed = RowsReader(file, "transposed", self.keys)
        self.kinds = BlobsReader(file, "kinds", KIND_ROWS, self.rows)
        self.words = BlobsReader(file, "words", WORD_ROWS, self.rows)
        self._bits = file.get_checked("row_bits")
        self._ranks = file.get_checked("row_ranks").cast("I")
        self._removed = file.get_checked("removed_bits")
        self._lock = threading.Lock()
        self._sources: Numbers | None = None

    def find_row(self, number: int) -> int | None:
        """Return the row of the URL with a number; None if it has none."""
        place = number >> 3
        if not self._bits[place] >> (number & 7) & 1:
            return None
        group = number // _GROUP_BITS
        start = group * _GROUP_BITS
        bits = int.from_bytes(self._bits[start >> 3 : place + 1], "little")
        return self._ranks[group] + (bits & ((1 << number - start) - 1)).bit_count()

    def is_removed(self, row: int) -> bool:
        """Return whether the page of a row is gone."""
        return bool(self._removed[row >> 3] >> (row & 7) & 1)

    def list_sources(self) -> Numbers:
        """The numbers of the URLs that have a row, in the order of rows."""
        with self._lock:
            if self._sources is None:
                bits = np.unpackbits(np.frombuffer(self._bits, np.uint8), bitorder="little")[: self.keys]
                self._sources = np.flatnonzero(bits)
            return self._sources

    def list_removed(self) -> Flags:
        """Whether the page of each row is gone."""
        bits = np.unpackbits(np.frombuffer(self._removed, np.uint8), bitorder="little")
        return bits[: self.rows].astype(np.bool_)

    def load_stamps(self) -> tuple[Stamps, Stamps]:
        """The stamps of all rows: times and ties."""
        return self.file.get_table("times", np.uint64), self.file.get_table("ties", np.uint64)

    def load_hashes(self) -> Hashes:
        """The sorted hashes of the keys that have a row: a key whose hash is not here has none."""
        return self.file.get_table("sorted_hashes", np.uint32)

    @cached_property
    def row_hashes(self) -> Hashes:
        """The hash of the key of each row."""
        return self.file.get_table("row_hashes", np.uint32)

    def read_words(self, row: int) -> Words:
        """Return what is said of the links of a row."""
        return parse_words(self.words.read(row))


class GenerationWriter:
    """Writes a generation: first the keys with their rows, then what each row has, one kind of things after the other."""

    def __init__(self, path: Path, samples: Sequence[bytes]) -> None:
        """`samples` are blocks like those of its dictionary."""
        self.file = SectionWriter(path)
        self._dictionary = DictionaryWriter(self.file, samples)
        self._has_row: list[Flags] = []
        self._hashes = array("I")
        self._counts: dict[str, int] = {}

    def add_keys(self, keys: Sequence[bytes], has_row: Flags) -> None:
        """Add the next keys, and whether each has a row."""
        self._dictionary.add(keys)
        self._has_row.append(has_row)
        self._hashes.extend([hash_key(keys[place]) for place in np.flatnonzero(has_row).tolist()])

    def finish_keys(self) -> None:
        """Write the tables of the keys."""
        self._dictionary.finish()
        has_row = np.concatenate(self._has_row) if self._has_row else np.empty(0, np.bool_)
        self._counts["keys"], self._counts["rows"] = len(has_row), int(has_row.sum())
        self.file.write_table("row_bits", np.packbits(has_row, bitorder="little"))
        starts = np.arange(0, len(has_row), _GROUP_BITS)
        groups = np.add.reduceat(has_row, starts, dtype=np.int64) if len(has_row) else starts
        self.file.write_table("row_ranks", (np.cumsum(groups) - groups).astype(np.uint32))
        hashes = np.array(self._hashes, np.uint32)
        self.file.write_table("row_hashes", hashes)
        self.file.write_table("sorted_hashes", np.sort(hashes))
        self._has_row, self._hashes = [], array("I")

    def write_removed(self, is_removed: Flags) -> None:
        """Write which of the rows are of pages that are gone."""
        self._counts["removed"] = int(is_removed.sum())
        self.file.write_table("removed_bits", np.packbits(is_removed, bitorder="little"))

    def begin_forward(self) -> RowsWriter:
        """Begin the rows: the targets of each page."""
        return RowsWriter(self.file, "forward")

    def begin_transposed(self) -> RowsWriter:
        """Begin the rows of all keys: the sources of each page."""
        return RowsWriter(self.file, "transposed")

    def begin_kinds(self) -> BlobsWriter:
        """Begin the kinds of the links of each row."""
        return BlobsWriter(self.file, "kinds", KIND_ROWS)

    def begin_words(self) -> BlobsWriter:
        """Begin what is said of the links of each row."""
        return BlobsWriter(self.file, "words", WORD_ROWS)

    def finish(self, links: int) -> None:
        """Make it durable, and give it its name."""
        self.file.finish({**self._counts, "links": links})


def hash_key(key: bytes) -> int:
    """Return the hash of a key in the tables of hashes."""
    return xxh3_64_intdigest(key) & 0xFFFF_FFFF


def make_words(anchors: Sequence[str], predicates: Sequence[str]) -> bytes:
    """Make the piece of a row that `parse_words` reads."""
    said = "\n".join(anchors) if any(anchors) else ""
    stated = "\0" + "\n".join(predicates) if any(predicates) else ""
    return (said + stated).encode("utf-8", "replace")


def parse_words(piece: bytes) -> Words:
    """Read what `make_words` has made."""
    if not piece:
        return Words([], [])
    said, _, stated = piece.decode("utf-8", "replace").partition("\0")
    return Words(said.split("\n") if said else [], stated.split("\n") if stated else [])


def read_stamp(stamps: tuple[Stamps, Stamps], row: int) -> Stamp:
    """Return the stamp of a row."""
    return Stamp(int(stamps[0][row]), int(stamps[1][row]))
