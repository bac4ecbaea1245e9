"""The rows of a graph: each row is a sorted list of distinct numbers; rows enter in their order, one row or many leave.

A block has 128 rows: the length of each in bytes, then the rows, compressed together. A row is the gaps between its numbers,
the first relative to the base of the block, so that equal rows are equal bytes. Only the row that is asked for is decoded. A
row that is long (a page to which many link) would make its block slow for all others: it is kept apart, in chunks that can be
read alone.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rdfspider.index.graph.compression import Compressor, DamagedBlockError, Decompressor
from rdfspider.index.graph.sections import Sections, SectionWriter
from rdfspider.index.graph.varints import Bytes, Numbers, decode, encode, fold_sign, unfold_sign

BLOCK_ROWS = 128
LONG_BYTES = 4096
"""Longer rows are kept apart; 128 rows of this length are decompressed within half a millisecond."""
CHUNK = 8192
"""How many numbers of a long row are together."""
_HEAD_BYTES = 2 * BLOCK_ROWS
_CACHED_BLOCKS = 64
_SHORT_BYTES = 256
_LARGE = np.arange(128, 256, dtype=np.uint8).tobytes()
_NONE = np.empty(0, np.int64)
_NONE.flags.writeable = False


class Rows(NamedTuple):
    """Some rows after each other."""

    counts: Numbers
    """How many numbers each row has."""
    numbers: Numbers
    """The numbers of all."""


class RowsWriter:
    """Writes the sections of rows, in pieces of any number of rows."""

    def __init__(self, file: SectionWriter, name: str) -> None:
        self._file = file
        self._name = name
        self._compressor = Compressor()
        self._bases = array("I")
        self._ends = array("Q")
        self._long: list[tuple[int, int]] = []
        """The long rows, and how many numbers each has."""
        self._chunks: list[tuple[int, int]] = []
        """The first number of each chunk of a long row, and where the chunk ends."""
        self._long_pieces: list[bytes] = []
        self._long_bytes = 0
        self._row = 0
        self._pending: list[tuple[Numbers, Rows]] = []
        self._pending_rows = 0
        file.begin(name)

    def add(self, bases: Numbers, rows: Rows) -> None:
        """Add rows. `bases` are numbers near those of each row; that of the first row counts for the whole block."""
        self._pending.append((bases, rows))
        self._pending_rows += len(bases)
        if self._pending_rows >= BLOCK_ROWS:
            self._flush(self._pending_rows - self._pending_rows % BLOCK_ROWS)

    def finish(self) -> None:
        """Write what is left, and the tables."""
        self._flush(self._pending_rows)
        self._file.end()
        name = self._name
        self._file.write_table(f"{name}_bases", self._bases.tobytes())
        self._file.write_table(f"{name}_ends", np.array(self._ends, np.uint64 if self._is_large() else np.uint32))
        self._file.begin(f"{name}_long")
        for piece in self._long_pieces:
            self._file.write(piece)
        self._file.end()
        self._file.write_table(f"{name}_long_rows", np.array(self._long, np.int64).reshape(-1))
        self._file.write_table(f"{name}_chunks", np.array(self._chunks, np.int64).reshape(-1))

    def _is_large(self) -> bool:
        return bool(self._ends) and self._ends[-1] >= 1 << 32

    def _flush(self, count: int) -> None:
        if not self._pending_rows:
            return
        bases = np.concatenate([bases for bases, _ in self._pending])
        counts = np.concatenate([rows.counts for _, rows in self._pending])
        numbers = np.concatenate([rows.numbers for _, rows in self._pending])
        size = int(counts[:count].sum())
        self._write(bases[:count], Rows(counts[:count], numbers[:size]))
        self._pending = [(bases[count:], Rows(counts[count:], numbers[size:]))]
        self._pending_rows -= count

    def _write(self, bases: Numbers, rows: Rows) -> None:
        """Write whole blocks; the last one of all may have fewer rows."""
        block_bases = bases[::BLOCK_ROWS]
        encoded, lengths = _encode(np.repeat(block_bases, BLOCK_ROWS)[: len(bases)], rows)
        ends = np.cumsum(lengths)
        is_long = lengths > LONG_BYTES
        heads = np.zeros(-(-len(bases) // BLOCK_ROWS) * BLOCK_ROWS, np.int64)
        heads[: len(bases)] = np.where(is_long, 0, lengths)
        low, high = (heads & 255).astype(np.uint8), (heads >> 8).astype(np.uint8)
        data = encoded.tobytes()
        long_rows = np.flatnonzero(is_long).tolist()
        if long_rows:
            self._write_long(long_rows, rows)
        last = 0
        for start in range(0, len(bases), BLOCK_ROWS):
            end = int(ends[min(start + BLOCK_ROWS, len(bases)) - 1])
            body = data[last:end]
            if long_rows and is_long[start : start + BLOCK_ROWS].any():
                kept = np.repeat(~is_long[start : start + BLOCK_ROWS], lengths[start : start + BLOCK_ROWS])
                body = encoded[last:end][kept].tobytes()
            head = low[start : start + BLOCK_ROWS].tobytes() + high[start : start + BLOCK_ROWS].tobytes()
            block = self._compressor.compress(head + body)
            self._ends.append(self._file.write(block) + len(block))
            last = end
        self._bases.extend(block_bases.tolist())
        self._row += len(bases)

    def _write_long(self, places: list[int], rows: Rows) -> None:
        """Keep long rows for the end; they are few, and small once they are compressed."""
        ends = np.cumsum(rows.counts)
        for place in places:
            count = int(rows.counts[place])
            numbers = rows.numbers[int(ends[place]) - count : int(ends[place])]
            self._long.append((self._row + place, count))
            for start in range(0, count, CHUNK):
                chunk = numbers[start : start + CHUNK]
                gaps = np.diff(chunk, prepend=chunk[0] - 1) - 1
                piece = self._compressor.compress(encode(gaps)[0].tobytes())
                self._long_pieces.append(piece)
                self._long_bytes += len(piece)
                self._chunks.append((int(chunk[0]), self._long_bytes))


class RowsReader:
    """Rows of a generation; for any number of threads."""

    def __init__(self, file: Sections, name: str, count: int) -> None:
        """`count` is how many rows there are."""
        self._file = file
        self.count = count
        self._blocks = file.get(name)
        self._bases = file.get_checked(f"{name}_bases").cast("I")
        blocks = -(-count // BLOCK_ROWS)
        ends = file.get_checked(f"{name}_ends")
        self._ends = ends.cast("Q" if blocks and len(ends) == 8 * blocks else "I")
        if len(self._ends) != blocks or len(self._bases) != blocks:
            raise file.tell_damage(f"{name} has another number of rows than it says")
        self._decompressor = Decompressor()
        self._cached: dict[int, bytes] = {}
        self._read_long(name)

    def read(self, row: int) -> Numbers:
        """Return the numbers of a row."""
        if row in self._long:
            return self.read_slice(row, 0, self._long[row][0])
        piece = self._find(row)
        if not piece:
            return _NONE
        try:
            return _read_row(piece, self._bases[row // BLOCK_ROWS])
        except ValueError as error:
            raise self._file.tell_damage(error) from error

    def read_slice(self, row: int, start: int, stop: int) -> Numbers:
        """Return some of the numbers of a row; of a long one, no more than these are decoded."""
        if row not in self._long:
            return self.read(row)[start:stop]
        count, chunk = self._long[row]
        stop = min(stop, count)
        if start >= stop:
            return _NONE
        first, last = start // CHUNK, (stop - 1) // CHUNK
        parts = [self._read_chunk(chunk + number) for number in range(first, last + 1)]
        return np.concatenate(parts)[start - first * CHUNK : stop - first * CHUNK]

    def count_numbers(self, row: int) -> int:
        """Return how many numbers a row has."""
        if row in self._long:
            return self._long[row][0]
        piece = self._find(row)
        return len(piece.translate(None, _LARGE))

    def find_place(self, row: int, number: int) -> int | None:
        """Return the place of a number in a row; None if it is not there."""
        if row in self._long:
            count, chunk = self._long[row]
            firsts = [self._chunks[2 * each] for each in range(chunk, chunk + -(-count // CHUNK))]
            before = max(bisect_right(firsts, number) - 1, 0)
            numbers, start = self._read_chunk(chunk + before), before * CHUNK
        else:
            numbers, start = self.read(row), 0
        place = int(np.searchsorted(numbers, number))
        return start + place if place < len(numbers) and numbers[place] == number else None

    def list_rows(self, start: int, stop: int) -> Rows:
        """Return all rows from one to another."""
        if start >= stop:
            return Rows(_NONE, _NONE)
        first, last = start // BLOCK_ROWS, (stop - 1) // BLOCK_ROWS
        blocks = [self._decompress(block) for block in range(first, last + 1)]
        heads = np.frombuffer(b"".join([block[:_HEAD_BYTES] for block in blocks]), np.uint8)
        heads = heads.reshape(-1, 2, BLOCK_ROWS).astype(np.int64)
        lengths = (heads[:, 0] + (heads[:, 1] << 8)).reshape(-1)
        data = np.frombuffer(b"".join([block[_HEAD_BYTES:] for block in blocks]), np.uint8)
        if lengths.sum() != len(data):
            raise self._file.tell_damage("a block has another length than it says")
        bases = np.repeat(np.array(self._bases[first : last + 1], np.int64), BLOCK_ROWS)
        try:
            rows = _decode(data, lengths, bases)
        except (ValueError, IndexError) as error:
            raise self._file.tell_damage(error) from error
        skipped = start - first * BLOCK_ROWS
        size = stop - start
        before = int(rows.counts[:skipped].sum())
        counts = rows.counts[skipped : skipped + size]
        return self._add_long(start, Rows(counts, rows.numbers[before : before + int(counts.sum())]))

    def list_batches(self, size: int) -> Iterator[tuple[int, Rows]]:
        """All rows in batches of that many, each with the number of its first row."""
        for start in range(0, self.count, size):
            yield start, self.list_rows(start, min(start + size, self.count))

    def _add_long(self, start: int, rows: Rows) -> Rows:
        stop = start + len(rows.counts)
        places = [row for row in self._long_rows[bisect_right(self._long_rows, start - 1) :] if row < stop]
        if not places:
            return rows
        counts = rows.counts.copy()
        ends = np.cumsum(rows.counts)
        parts, last = [], 0
        for row in places:
            end = int(ends[row - start])
            parts += [rows.numbers[last:end], self.read(row)]
            counts[row - start] = len(parts[-1])
            last = end
        return Rows(counts, np.concatenate([*parts, rows.numbers[last:]]))

    def _read_long(self, name: str) -> None:
        table = self._file.get_table(f"{name}_long_rows", np.int64).tolist()
        self._long_data = self._file.get(f"{name}_long")
        self._chunks = self._file.get_checked(f"{name}_chunks").cast("q")
        self._long: dict[int, tuple[int, int]] = {}
        """By row: how many numbers it has, and its first chunk."""
        chunk = 0
        for row, count in zip(table[::2], table[1::2], strict=True):
            self._long[row] = (count, chunk)
            chunk += -(-count // CHUNK)
        self._long_rows = sorted(self._long)

    def _read_chunk(self, chunk: int) -> Numbers:
        start = self._chunks[2 * chunk - 1] if chunk else 0
        try:
            data = self._decompressor.decompress(self._long_data[start : self._chunks[2 * chunk + 1]])
            gaps = decode(np.frombuffer(data, np.uint8))[0]
        except (DamagedBlockError, ValueError) as error:
            raise self._file.tell_damage(error) from error
        gaps[1:] += 1
        gaps[0] = self._chunks[2 * chunk]
        return np.cumsum(gaps)

    def _find(self, row: int) -> bytes:
        """The bytes of a row."""
        number, place = divmod(row, BLOCK_ROWS)
        block = self._cached.get(number)
        if block is None:
            block = self._decompress(number)
            if len(self._cached) >= _CACHED_BLOCKS:
                self._cached.clear()
            self._cached[number] = block
        high = BLOCK_ROWS + place
        start = _HEAD_BYTES + sum(block[:place]) + (sum(block[BLOCK_ROWS:high]) << 8)
        return block[start : start + block[place] + (block[high] << 8)]

    def _decompress(self, number: int) -> bytes:
        start = self._ends[number - 1] if number else 0
        try:
            block = self._decompressor.decompress(self._blocks[start : self._ends[number]])
        except DamagedBlockError as error:
            raise self._file.tell_damage(error) from error
        if len(block) < _HEAD_BYTES:
            raise self._file.tell_damage("a block is too short")
        return block


def _read_row(piece: bytes, base: int) -> Numbers:
    """Decode the bytes of one row: for nearly all rows numpy's own costs would be most of it."""
    if len(piece) > _SHORT_BYTES:
        gaps = decode(np.frombuffer(piece, np.uint8))[0]
        first = int(gaps[0])
        gaps += 1
        gaps[0] = (first >> 1 ^ -(first & 1)) + base
        return gaps.cumsum()
    places: list[int] = []
    place = -1
    rest = iter(piece)
    for gap in rest:
        if gap > 127:
            shift, more = 7, next(rest, None)
            gap &= 127
            while more is not None and more > 127:
                gap |= (more & 127) << shift
                shift, more = shift + 7, next(rest, None)
            if more is None:
                raise ValueError("the last number has no end")
            gap |= more << shift
        place += gap + 1
        places.append(place)
    numbers = np.array(places, np.int64)
    first = places[0]
    numbers += (first >> 1 ^ -(first & 1)) + base - first
    return numbers


def _encode(bases: Numbers, rows: Rows) -> tuple[Bytes, Numbers]:
    """Encode rows; return the bytes, and how many each row has."""
    counts, numbers = rows
    gaps = np.empty(len(numbers), np.int64)
    gaps[1:] = numbers[1:] - numbers[:-1] - 1
    ends = np.cumsum(counts)
    is_filled = counts > 0
    firsts = (ends - counts)[is_filled]
    gaps[firsts] = fold_sign(numbers[firsts] - bases[is_filled])
    encoded, sizes = encode(gaps)
    before = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=before[1:])
    return encoded, before[ends] - before[ends - counts]


def _decode(data: Bytes, lengths: Numbers, bases: Numbers) -> Rows:
    """Decode rows with these lengths in bytes."""
    if not len(data):
        return Rows(np.zeros(len(lengths), np.int64), _NONE)
    gaps, number_ends = decode(data)
    ends = np.searchsorted(number_ends, np.cumsum(lengths), side="right")
    counts = np.diff(ends, prepend=0)
    is_filled = counts > 0
    firsts = (ends - counts)[is_filled]
    first_numbers = unfold_sign(gaps[firsts]) + bases[is_filled]
    gaps += 1
    gaps[firsts] = first_numbers
    sums = np.cumsum(gaps)
    before = sums[firsts] - first_numbers
    return Rows(counts, sums - np.repeat(before, counts[is_filled]))
