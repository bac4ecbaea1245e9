"""Reads graphs in the BV format, bit by bit, by the published description of the format. It shares no code with what writes them.

A row is: its length (gamma); unless that is 0, how far back the row is to which it refers (unary). If it refers to one: how many
blocks follow (gamma), and their lengths (gamma; all but the first less 1), by turns copied and skipped; after an even number of
them, what is left is copied too. If targets remain: the number of intervals (gamma); of each the left end (gamma; the first as a
signed difference to the row's id, the others from the end of the one before) and the length less the shortest. Then the residuals
(zeta), likewise.
"""

from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path


class Bits:
    """The bits of a file, read from its beginning."""

    def __init__(self, body: bytes) -> None:
        self._bits = bin(int.from_bytes(b"\x01" + body, "big"))[3:]
        self.place = 0

    def read_unary(self) -> int:
        start = self.place
        self.place = self._bits.index("1", start) + 1
        return self.place - start - 1

    def read_binary(self, width: int) -> int:
        start = self.place
        self.place += width
        assert self.place <= len(self._bits)
        return int(self._bits[start : self.place], 2) if width else 0

    def read_gamma(self) -> int:
        width = self.read_unary()
        return (1 << width) + self.read_binary(width) - 1

    def read_zeta(self, k: int) -> int:
        group = self.read_unary()
        left = 1 << group * k
        value = self.read_binary(group * k + k - 1)
        if value < left:
            return value + left - 1
        return (value << 1) + self.read_binary(1) - 1


def read_properties(path: Path) -> dict[str, str]:
    lines = (line.strip() for line in path.read_text("latin-1").splitlines())
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def read_graph(folder: Path, name: str) -> Iterator[list[int]]:
    """The rows of a graph, each with the ids of its targets, after its offsets have been compared."""
    properties = read_properties(folder / f"{name}.properties")
    assert properties["graphclass"] == "it.unimi.dsi.webgraph.BVGraph"
    assert properties["version"] == "0"
    assert properties["compressionflags"] == ""
    nodes, links = int(properties["nodes"]), int(properties["arcs"])
    offsets = Bits((folder / f"{name}.offsets").read_bytes())
    reader = RowReader(Bits((folder / f"{name}.graph").read_bytes()), properties)
    assert offsets.read_gamma() == 0
    found = 0
    for node in range(nodes):
        start = reader.bits.place
        row = reader.read_row(node)
        assert reader.bits.place - start == offsets.read_gamma()
        assert len(row) == len(set(row))
        found += len(row)
        yield row
    assert found == links


class RowReader:
    """Reads one row after the other."""

    def __init__(self, bits: Bits, properties: dict[str, str]) -> None:
        self.bits = bits
        self._shortest = int(properties["minintervallength"])
        self._zeta = int(properties["zetak"])
        self._window: deque[tuple[list[int], int]] = deque(maxlen=int(properties["windowsize"]))
        self._max_chain = int(properties["maxrefcount"])

    def read_row(self, node: int) -> list[int]:
        length = self.bits.read_gamma()
        targets: list[int] = []
        chain = 0
        if length:
            back = self.bits.read_unary()
            if back:
                referred, chain = self._window[-back]
                chain += 1
                assert chain <= self._max_chain
                targets = self._read_copied(referred)
            if len(targets) < length:
                targets += self._read_intervals(node)
            assert len(targets) <= length
            targets += self._read_residuals(node, length - len(targets))
        targets.sort()
        self._window.append((targets, chain))
        return targets

    def _read_copied(self, referred: list[int]) -> list[int]:
        count = self.bits.read_gamma()
        lengths = [self.bits.read_gamma() + (number > 0) for number in range(count)]
        ends = [0]
        for length in lengths:
            ends.append(ends[-1] + length)
        if count % 2 == 0:
            ends.append(len(referred))
        assert max(ends) <= len(referred)
        return [
            target
            for number, (start, end) in enumerate(pairwise(ends))
            if number % 2 == 0
            for target in referred[start:end]
        ]

    def _read_intervals(self, node: int) -> list[int]:
        targets: list[int] = []
        end = 0
        for number in range(self.bits.read_gamma()):
            left = self.bits.read_gamma()
            left = node + to_signed(left) if number == 0 else end + 1 + left
            end = left + self.bits.read_gamma() + self._shortest
            targets += range(left, end)
        return targets

    def _read_residuals(self, node: int, count: int) -> list[int]:
        targets: list[int] = []
        for number in range(count):
            value = self.bits.read_zeta(self._zeta)
            targets.append(node + to_signed(value) if number == 0 else targets[-1] + 1 + value)
        return targets


def to_signed(value: int) -> int:
    return -(value + 1) // 2 if value % 2 else value // 2
