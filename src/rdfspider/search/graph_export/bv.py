"""BV, the format of WebGraph: rows of targets in id order enter; `.graph`, `.offsets` and `.properties` leave.

The format is that of Boldi and Vigna ("The WebGraph framework I: compression techniques", 2004), with the parameters that most
published graphs have. A row may refer to one of the rows before it: blocks say which of its targets are copied. Of the rest, runs
of successive numbers are intervals, others are residuals. References are chosen as WebGraph does, so that the files are the same.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rdfspider.search.documents import open_document
from rdfspider.search.graph_export.bit_codes import (
    BitStream,
    Codes,
    IntArray,
    encode_gamma,
    encode_unary,
    encode_zeta,
    fold_sign,
    measure_gamma,
    measure_zeta,
)

WINDOW = 7
"""How far back a row may refer; at most 8, because links have a bit for each."""
MAX_REFERENCES = 3
"""How long a chain of references may be."""
MIN_INTERVAL = 4
ZETA = 3
MAX_NODES = (1 << 31) - 1
"""WebGraph numbers nodes by Java's integers."""

# Rows are compressed in chunks of about so many links, and at most so many rows, whose numbers then fit into 16 bits.
_CHUNK_LINKS = 1 << 17
_CHUNK_ROWS = 1 << 15

Rows = NDArray[np.int64]
"""For each of some numbers, in which row of its chunk it is."""


@dataclass(frozen=True, slots=True)
class BvExport:
    """What has been written."""

    nodes: int
    links: int
    graph_bits: int
    offset_bits: int


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Successive rows: `context` ones that are already written, to which others may refer, and those to write."""

    context: int
    first: int
    """The id of the first row."""
    lengths: IntArray
    targets: IntArray
    rows: Rows

    def bound(self, row: int) -> int:
        """Where a row's targets begin."""
        return int(self.lengths[:row].sum())


def write_bv(rows: Iterable[NDArray[Any]], base: Path, on_rows: Callable[[int], None] = lambda rows: None) -> BvExport:
    """Write `base`.graph, .offsets and .properties; the last appears last. Each row has the ascending targets of a node, in
    the order of ids. Memory is bounded by the longest rows. `on_rows` is told how many rows are written."""
    with ExitStack() as files:
        names = ("properties", "offsets", "graph")
        # Those that are opened last are complete first.
        properties, offsets, graph = (
            files.enter_context(open_document(base.with_name(f"{base.name}.{name}"))) for name in names
        )
        writer = _Writer(BitStream(graph), BitStream(offsets))
        for chunk in _read_chunks(rows):
            writer.write(chunk)
            on_rows(writer.nodes)
        exported = writer.finish()
        properties.write(_write_properties(exported).encode())
    return exported


class _Writer:
    """Compresses chunk by chunk, and knows the chains of references at the end of the last one."""

    def __init__(self, graph: BitStream, offsets: BitStream) -> None:
        self._graph, self._offsets = graph, offsets
        self._chains: list[int] = []
        self._highest = -1
        self.nodes = self.links = 0
        self._offsets.write(encode_gamma(np.zeros(1, np.int64)))

    def write(self, chunk: _Chunk) -> None:
        copied, referred = _match(chunk)
        references = self._choose_references(chunk, _measure(chunk, copied, referred))
        rows, codes = _encode(chunk, references, copied, referred)
        bits = np.bincount(rows, codes.widths, len(chunk.lengths)).astype(np.int64)[chunk.context :]
        self._graph.write(codes)
        self._offsets.write(encode_gamma(bits))
        self.nodes += len(bits)
        self.links += int(chunk.lengths[chunk.context :].sum())
        self._highest = max(self._highest, int(chunk.targets.max(initial=-1)))

    def finish(self) -> BvExport:
        if self._highest >= self.nodes or self.nodes > MAX_NODES:
            raise ValueError(f"a graph of {self.nodes} nodes has a link to {self._highest}")
        self._graph.finish()
        self._offsets.finish()
        return BvExport(self.nodes, self.links, self._graph.bits, self._offsets.bits)

    def _choose_references(self, chunk: _Chunk, bits: NDArray[np.float64]) -> IntArray:
        """For each row how far back it refers, or 0: what takes the fewest bits, where no chain becomes too long."""
        chains = self._chains
        references = [0] * chunk.context
        for row, costs in enumerate(bits.T.tolist(), chunk.context):
            least, best, chain = costs[0], 0, 0
            for back in range(1, min(WINDOW, row) + 1):
                if costs[back] < least and chains[row - back] < MAX_REFERENCES:
                    least, best, chain = costs[back], back, chains[row - back] + 1
            references.append(best)
            chains.append(chain)
        self._chains = chains[-WINDOW:]
        return np.array(references, np.int64)


def _read_chunks(rows: Iterable[NDArray[Any]]) -> Iterator[_Chunk]:
    """Join rows to chunks, each with the last rows of the one before."""
    kept: list[NDArray[Any]] = []
    context = links = first = 0
    for row in rows:
        kept.append(row)
        links += len(row)
        if links >= _CHUNK_LINKS or len(kept) >= _CHUNK_ROWS:
            yield _make_chunk(kept, context, first)
            first += max(len(kept) - WINDOW, 0)
            kept = kept[-WINDOW:]
            context, links = len(kept), 0
    if len(kept) > context:
        yield _make_chunk(kept, context, first)


def _make_chunk(kept: list[NDArray[Any]], context: int, first: int) -> _Chunk:
    lengths = np.fromiter(map(len, kept), np.int64, len(kept))
    targets = np.concatenate(kept).astype(np.int64)
    rows = np.repeat(np.arange(len(kept)), lengths)
    if ((targets[1:] <= targets[:-1]) & (rows[1:] == rows[:-1])).any() or (targets < 0).any():
        raise ValueError(f"a row after {first} is not of ascending ids")
    return _Chunk(context, first, lengths, targets, rows)


def _match(chunk: _Chunk) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """For each link: bit i - 1 of the first array says that the i-th row before has that target, of the second the i-th after."""
    count = len(chunk.targets)
    copied, referred = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
    place_bits = count.bit_length()
    keys = (chunk.targets << place_bits) | np.arange(count)
    keys.sort()
    links, targets = keys & ((1 << place_bits) - 1), keys >> place_bits
    for distance in range(1, WINDOW + 1):
        same = np.flatnonzero(targets[distance:] == targets[:-distance])
        before, after = links[same], links[same + distance]
        back = chunk.rows[after] - chunk.rows[before]
        near = back <= WINDOW
        before, after, bits = before[near], after[near], np.uint8(1) << (back[near] - 1).astype(np.uint8)
        copied[after] |= bits
        referred[before] |= bits
    return copied, referred


def _measure(chunk: _Chunk, copied: NDArray[np.uint8], referred: NDArray[np.uint8]) -> NDArray[np.float64]:
    """How many bits each row takes, without its length, by how far back it refers; infinity where it would copy nothing."""
    count = len(chunk.lengths)
    bits = np.full((WINDOW + 1, count), np.inf)
    start = chunk.bound(chunk.context)
    bits[0] = 1 + _measure_extras(chunk, chunk.rows[start:], chunk.targets[start:])
    for back in range(1, WINDOW + 1):
        bit = np.uint8(1 << (back - 1))
        is_copied = copied & bit > 0
        possible = np.zeros(count + back, bool)
        possible[chunk.rows[is_copied]] = True
        possible[: chunk.context] = False
        if not possible.any():
            continue
        extra = np.flatnonzero(possible[chunk.rows] & ~is_copied)
        source = np.flatnonzero(possible[chunk.rows + back])
        rows, values = _list_blocks(chunk.rows[source] + back, referred[source] & bit > 0)
        measured = back + 1 + _measure_extras(chunk, chunk.rows[extra], chunk.targets[extra])
        measured += np.bincount(rows, measure_gamma(values), count)
        measured += measure_gamma(np.bincount(rows, minlength=count))
        bits[back] = np.where(possible[:count], measured, np.inf)
    return bits[:, chunk.context :]


def _measure_extras(chunk: _Chunk, rows: Rows, targets: IntArray) -> NDArray[np.float64]:
    """How many bits the targets that are not copied take, in each row."""
    count = len(chunk.lengths)
    interval_rows, intervals, residual_rows, residuals = _list_extras(chunk.first, rows, targets)
    bits = np.zeros(count)
    # Without numbers, `bincount` gives integers.
    bits += np.bincount(interval_rows, measure_gamma(intervals), count)
    bits += np.bincount(residual_rows, measure_zeta(residuals, ZETA), count)
    has_extras = np.bincount(rows, minlength=count) > 0
    bits += np.where(has_extras, measure_gamma(np.bincount(interval_rows, minlength=count) // 2), 0)
    return bits


def _encode(
    chunk: _Chunk, references: IntArray, copied: NDArray[np.uint8], referred: NDArray[np.uint8]
) -> tuple[Rows, Codes]:
    """The codes of all rows but the context, in order, and the row of each."""
    count = len(chunk.lengths)
    new = np.arange(chunk.context, count)
    filled = new[chunk.lengths[new] > 0]
    referring = np.flatnonzero(references)
    # Bit i - 1 for a reference to the i-th row before.
    chosen = np.where(references > 0, 1 << np.maximum(references - 1, 0), 0).astype(np.uint8)
    block_rows, blocks = _list_chosen_blocks(chunk, references, referred)
    extra = np.flatnonzero((copied & chosen[chunk.rows] == 0) & (chunk.rows >= chunk.context))
    interval_rows, intervals, residual_rows, residuals = _list_extras(
        chunk.first, chunk.rows[extra], chunk.targets[extra]
    )
    with_extras = np.flatnonzero(np.bincount(chunk.rows[extra], minlength=count))
    interval_counts = np.bincount(interval_rows, minlength=count) // 2
    # The parts of a row in their order.
    parts = [
        (new, encode_gamma(chunk.lengths[new])),
        (filled, encode_unary(references[filled])),
        (referring, encode_gamma(np.bincount(block_rows, minlength=count)[referring])),
        (block_rows, encode_gamma(blocks)),
        (with_extras, encode_gamma(interval_counts[with_extras])),
        (interval_rows, encode_gamma(intervals)),
        (residual_rows, encode_zeta(residuals, ZETA)),
    ]
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(rows.astype(np.uint16), kind="stable")
    codes, widths = (np.concatenate(columns)[order] for columns in zip(*(codes for _, codes in parts), strict=True))
    return rows[order], Codes(codes, widths)


def _list_chosen_blocks(chunk: _Chunk, references: IntArray, referred: NDArray[np.uint8]) -> tuple[Rows, IntArray]:
    """The blocks of all rows that refer to another, in the order of rows."""
    referring = np.flatnonzero(references)
    back = references[referring]
    lengths = chunk.lengths[referring - back]
    starts = (np.cumsum(chunk.lengths) - chunk.lengths)[referring - back]
    # The links of the rows that are referred to, once for each row that refers to them.
    links = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    is_copied = referred[links] >> np.repeat(back - 1, lengths).astype(np.uint8) & 1 > 0
    return _list_blocks(np.repeat(referring, lengths), is_copied)


def _list_blocks(rows: Rows, is_copied: NDArray[np.bool_]) -> tuple[Rows, IntArray]:
    """Which targets of the row that is referred to are copied: the lengths of blocks, by turns copied and not, from a copied one
    that may be empty; the last is left out. All but the first have at least 1, so 1 less is written."""
    if not len(rows):
        return rows, rows
    new_row = np.concatenate(([True], rows[1:] != rows[:-1]))
    starts = np.flatnonzero(np.concatenate(([True], is_copied[1:] != is_copied[:-1])) | new_row)
    lengths = np.diff(starts, append=len(rows))
    is_first = new_row[starts]
    is_last = np.append(is_first[1:], True)
    # Where the first target is not copied, the first block is empty; its place is a half before the run.
    empty = is_first & ~is_copied[starts]
    values = lengths - (~is_first | empty)
    places = np.arange(len(starts), dtype=np.int64) * 2
    kept = ~is_last
    order = np.argsort(np.concatenate((places[empty] - 1, places[kept])), kind="stable")
    run_rows = rows[starts]
    all_rows = np.concatenate((run_rows[empty], run_rows[kept]))[order]
    all_values = np.concatenate((np.zeros(int(empty.sum()), np.int64), values[kept]))[order]
    return all_rows, all_values


def _list_extras(first: int, rows: Rows, targets: IntArray) -> tuple[Rows, IntArray, Rows, IntArray]:
    """The intervals, two numbers each, and the residuals of targets that are not copied, as differences, with their rows."""
    if not len(rows):
        return rows, targets, rows, targets
    starts = np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]) | (targets[1:] != targets[:-1] + 1))))
    lengths = np.diff(starts, append=len(rows))
    is_interval = lengths >= MIN_INTERVAL
    heads, interval_lengths = starts[is_interval], lengths[is_interval]
    interval_rows, lefts = rows[heads], targets[heads]
    # The next interval begins at least 2 after the end of the one before.
    gaps = _subtract_previous(first, interval_rows, lefts, lefts + interval_lengths)
    intervals = np.stack((gaps, interval_lengths - MIN_INTERVAL), axis=1).reshape(-1)
    is_residual = np.repeat(~is_interval, lengths)
    residual_rows, residual_targets = rows[is_residual], targets[is_residual]
    residuals = _subtract_previous(first, residual_rows, residual_targets, residual_targets)
    return np.repeat(interval_rows, 2), intervals, residual_rows, residuals


def _subtract_previous(first: int, rows: Rows, values: IntArray, ends: IntArray) -> IntArray:
    """The difference of each value to the end of the one before in its row, less 1; of a row's first one to the row's own id."""
    if not len(rows):
        return values
    is_first = np.concatenate(([True], rows[1:] != rows[:-1]))
    previous = np.concatenate(([0], ends[:-1]))
    return np.where(is_first, fold_sign(values - rows - first), values - previous - 1)


def _write_properties(exported: BvExport) -> str:
    properties = {
        "graphclass": "it.unimi.dsi.webgraph.BVGraph",
        "version": 0,
        "nodes": exported.nodes,
        "arcs": exported.links,
        "windowsize": WINDOW,
        "maxrefcount": MAX_REFERENCES,
        "minintervallength": MIN_INTERVAL,
        "zetak": ZETA,
        "compressionflags": "",
        "bitsperlink": f"{exported.graph_bits / max(exported.links, 1):.3f}",
        "bitspernode": f"{exported.graph_bits / max(exported.nodes, 1):.3f}",
    }
    return "#BVGraph properties\n" + "".join(f"{name}={value}\n" for name, value in properties.items())
