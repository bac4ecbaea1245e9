"""Bytes that belong to rows, such as the words of their links: one piece a row enters, in the order of rows, and leaves by
row.

Pieces are in compressed blocks, a block per so many rows: the length of each piece, then the pieces. A block of nothing takes
no room.
"""

from array import array
from collections.abc import Sequence

import numpy as np

from rdfspider.index.graph.compression import Compressor, DamagedBlockError, Decompressor
from rdfspider.index.graph.sections import Sections, SectionWriter

_LENGTH = np.dtype("<u4")
_LENGTH_BYTES = _LENGTH.itemsize
_CACHED_BLOCKS = 64


class BlobsWriter:
    """Writes the sections of the pieces."""

    def __init__(self, file: SectionWriter, name: str, block_rows: int) -> None:
        self._file = file
        self._name = name
        self._block_rows = block_rows
        self._compressor = Compressor()
        self._pending: list[bytes] = []
        self._ends = array("Q")
        self._end = 0
        file.begin(name)

    def add(self, pieces: Sequence[bytes]) -> None:
        """Add the pieces of the next rows."""
        pending = self._pending
        pending.extend(pieces)
        whole = len(pending) - len(pending) % self._block_rows
        for start in range(0, whole, self._block_rows):
            self._write(pending[start : start + self._block_rows])
        del pending[:whole]

    def finish(self) -> None:
        """Write what is left, and the table."""
        if self._pending:
            self._write(self._pending)
        self._file.end()
        self._file.write_table(f"{self._name}_ends", self._ends.tobytes())

    def _write(self, pieces: Sequence[bytes]) -> None:
        body = b"".join(pieces)
        if body:
            # The bytes of the lengths by their weight: most are small, so most of their bytes are zero.
            lengths = np.array(list(map(len, pieces)), _LENGTH).view(np.uint8).reshape(-1, _LENGTH_BYTES).T.tobytes()
            block = self._compressor.compress(lengths + body)
            self._end = self._file.write(block) + len(block)
        self._ends.append(self._end)


class BlobsReader:
    """The pieces of a generation, by row; for any number of threads."""

    def __init__(self, file: Sections, name: str, block_rows: int, count: int) -> None:
        self._file = file
        self._block_rows = block_rows
        self._count = count
        self._blocks = file.get(name)
        self._ends = file.get_checked(f"{name}_ends").cast("Q")
        self._decompressor = Decompressor()
        self._cached: dict[int, bytes] = {}
        if len(self._ends) != -(-count // block_rows):
            raise file.tell_damage(f"{name} has another number of rows than it says")

    @property
    def is_empty(self) -> bool:
        """Whether no row has anything."""
        return not self._blocks

    def read(self, row: int) -> bytes:
        """Return the piece of a row."""
        number, place = divmod(row, self._block_rows)
        block = self._cached.get(number)
        if block is None:
            block = self._decompress(number)
            if len(self._cached) >= _CACHED_BLOCKS:
                self._cached.clear()
            self._cached[number] = block
        if not block:
            return b""
        rows = self._count_rows(number)
        start = _LENGTH_BYTES * rows
        for weight in range(_LENGTH_BYTES):
            start += sum(block[weight * rows : weight * rows + place]) << 8 * weight
        size = int.from_bytes(block[place : _LENGTH_BYTES * rows : rows], "little")
        return block[start : start + size]

    def list_pieces(self, start: int, stop: int) -> list[bytes]:
        """Return the pieces of all rows from one to another."""
        if start >= stop:
            return []
        first, last = start // self._block_rows, (stop - 1) // self._block_rows
        pieces = [piece for number in range(first, last + 1) for piece in self._decode(number)]
        return pieces[start - first * self._block_rows : stop - first * self._block_rows]

    def _count_rows(self, number: int) -> int:
        return min(self._block_rows, self._count - number * self._block_rows)

    def _decompress(self, number: int) -> bytes:
        start = self._ends[number - 1] if number else 0
        try:
            block = self._decompressor.decompress(self._blocks[start : self._ends[number]])
        except DamagedBlockError as error:
            raise self._file.tell_damage(error) from error
        if block and len(block) < _LENGTH_BYTES * self._count_rows(number):
            raise self._file.tell_damage("a block is too short")
        return block

    def _decode(self, number: int) -> list[bytes]:
        block, rows = self._decompress(number), self._count_rows(number)
        if not block:
            return [b""] * rows
        heads = np.frombuffer(block, np.uint8, _LENGTH_BYTES * rows).reshape(_LENGTH_BYTES, rows)
        ends = (
            np.cumsum(np.ascontiguousarray(heads.T).view(_LENGTH).reshape(-1).astype(np.int64)) + _LENGTH_BYTES * rows
        )
        if ends[-1] != len(block):
            raise self._file.tell_damage("a block has another length than it says")
        last = _LENGTH_BYTES * rows
        pieces = []
        for end in ends.tolist():
            pieces.append(block[last:end])
            last = end
        return pieces
