"""Harmonic centrality: the links between hosts enter, a score for each host leaves: the sum of 1 / distance from all others.

Small graphs are measured exactly, by searches from 1,024 hosts at once. In larger ones each host has a HyperLogLog counter of the
hosts that reach it (HyperBall, by Boldi and Vigna): in each round it takes in the counters of those that link to it. Counters are
read with the estimator of Ertl ("New cardinality estimation algorithms for HyperLogLog sketches", 2017), which fits all sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rdfspider.index.graph.csr import Csr, Mask, drop_loops, split_rows, transpose

MEMORY_BYTES = 256 << 20
MAX_DISTANCE = 100
"""Hosts that are farther away count nothing: a long chain of hosts must not make as many rounds."""
SEED = 0x5EED

# Up to this product of nodes and links, exact scores take a few seconds.
_EXACT_WORK = 4_000_000_000
_MIN_REGISTERS, _MAX_REGISTERS = 16, 1024
# Registers of all links: the bytes that a round reads. With so many, 10 rounds take some seconds.
_ROUND_BYTES = 1 << 29
# Words of 64 bits in a batch of searches, registers in a block, links in a part: what fits into the processor's cache.
_WORDS = 16
_BLOCK = 64
_LINKS_A_PART = 16_384
# Bits of a hash that give the value of a register; its lowest bits choose the register.
_VALUE_BITS = 52
# How many bits of 16 are set.
_ONES = np.array([number.bit_count() for number in range(1 << 16)], np.uint8)
_POWERS = np.concatenate(([0.0], 0.5 ** np.arange(1, _VALUE_BITS + 2)))


@dataclass(frozen=True, slots=True, eq=False)
class Centrality:
    """The scores of hosts, and how exact they are."""

    scores: NDArray[np.float64]
    registers: int | None
    """Registers of a counter; None if the scores are exact."""

    @property
    def error(self) -> float:
        """The standard error of a score plus 1, as a share of it."""
        return 0.0 if self.registers is None else 1.04 / sqrt(self.registers)


def rank_hosts(csr: Csr, *, memory_bytes: int = MEMORY_BYTES, seed: int = SEED) -> Centrality:
    """Measure exactly where that takes seconds, or else estimate with as many registers as memory and some seconds allow.

    Links of hosts to themselves do not count. The same graph and seed give the same scores.
    """
    if csr.nodes * csr.links <= _EXACT_WORK:
        return Centrality(measure_centrality(csr), None)
    registers = choose_registers(csr.nodes, csr.links, memory_bytes)
    return Centrality(estimate_centrality(csr, registers, seed=seed), registers)


def choose_registers(nodes: int, links: int, memory_bytes: int = MEMORY_BYTES) -> int:
    """How many registers a counter may have: a power of 2, which two copies of all counters and the time of a round bound."""
    most = min(memory_bytes // max(2 * nodes, 1), _ROUND_BYTES // max(nodes + links, 1), _MAX_REGISTERS)
    return max(1 << max(most.bit_length() - 1, 0), _MIN_REGISTERS)


def measure_centrality(csr: Csr, *, max_distance: int = MAX_DISTANCE) -> NDArray[np.float64]:
    """Exact scores. Each batch of 64 * 16 hosts has a bit of every host, which is set when a search from there arrives."""
    links_in = _LinksIn(csr)
    scores = np.zeros(csr.nodes)
    for first in range(0, csr.nodes, 64 * _WORDS):
        starts = np.arange(first, min(first + 64 * _WORDS, csr.nodes))
        places = starts - first
        new = np.zeros((csr.nodes, _WORDS), np.uint64)
        new[starts, places // 64] = np.uint64(1) << (places % 64).astype(np.uint64)
        seen = new.copy()
        changed = np.zeros(csr.nodes, bool)
        changed[starts] = True
        for distance in range(1, max_distance + 1):
            arrived = [(rows, found & ~seen[rows]) for rows, found in links_in.join(np.bitwise_or, new, changed)]
            changed[:] = False
            for rows, bits in arrived:
                counts = _ONES[bits.view(np.uint16)].sum(axis=1, dtype=np.int64)
                scores[rows] += counts / distance
                changed[rows] = counts > 0
                seen[rows] |= bits
                new[rows] = bits
            if not changed.any():
                break
    return scores


def estimate_centrality(
    csr: Csr, registers: int, *, seed: int = SEED, max_distance: int = MAX_DISTANCE
) -> NDArray[np.float64]:
    """Estimated scores. The standard error of a score plus 1 is at most 1.04 / sqrt(registers) of it, since the score is a sum of
    sizes of balls with positive weights. What is near counts most and is exact: how many link to a host directly."""
    if registers & (registers - 1) or not _MIN_REGISTERS <= registers <= 1 << (64 - _VALUE_BITS):
        raise ValueError(f"{registers} registers are no power of 2 of at least {_MIN_REGISTERS}")
    links_in = _LinksIn(csr)
    counters = _Counters(csr.nodes, registers, seed)
    changed = np.ones(csr.nodes, bool)
    scores = links_in.count_in().astype(np.float64)
    sizes = scores + 1
    for distance in range(1, max_distance + 1):
        changed = counters.take_in(links_in, changed)
        if not changed.any():
            break
        if distance == 1:
            continue
        grown = np.flatnonzero(changed)
        new = np.maximum(counters.estimate(grown), sizes[grown])
        scores[grown] += (new - sizes[grown]) / distance
        sizes[grown] = new
    return scores


class _Counters:
    """The HyperLogLog counters of all hosts, in blocks of registers, since a block at a time is faster."""

    def __init__(self, nodes: int, registers: int, seed: int) -> None:
        hashes = hash_numbers(np.arange(nodes, dtype=np.uint64), seed)
        own = (hashes & np.uint64(registers - 1)).astype(np.int64)
        # The place of the highest bit that is set, from the left, is the value.
        values = _VALUE_BITS + 1 - np.frexp((hashes >> np.uint64(64 - _VALUE_BITS)).astype(np.float64))[1]
        width = min(registers, _BLOCK)
        self._blocks = [np.zeros((nodes, width), np.uint8) for _ in range(registers // width)]
        for number, block in enumerate(self._blocks):
            inside = np.flatnonzero(own // width == number)
            block[inside, own[inside] % width] = values[inside]
        # The constant of the estimator, with the correction of Flajolet and others for few registers.
        self._constant = registers**2 / (2 * log(2)) / (1 + 1.079 / registers)
        # What a counter adds for so many empty registers.
        self._empty = np.array([registers * _sigma(empty / registers) for empty in range(registers + 1)])

    def take_in(self, links_in: "_LinksIn", changed: Mask) -> Mask:
        """Each host takes in the counters of those that link to it and have changed; return which ones that changes."""
        now_changed = np.zeros(len(changed), bool)
        for block in self._blocks:
            grown = []
            for rows, found in links_in.join(np.maximum, block, changed):
                before = block[rows]
                np.maximum(found, before, out=found)
                kept = (found != before).any(axis=1)
                grown.append((rows[kept], found[kept]))
            for rows, found in grown:
                block[rows] = found
                now_changed[rows] = True
        return now_changed

    def estimate(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many hosts some counters have taken in."""
        estimates = np.empty(len(rows))
        for start in range(0, len(rows), _LINKS_A_PART):
            part = rows[start : start + _LINKS_A_PART]
            empty, sums = np.zeros(len(part), np.int64), np.zeros(len(part))
            for block in self._blocks:
                values = block[part]
                empty += (values == 0).sum(axis=1)
                sums += _POWERS[values].sum(axis=1)
            estimates[start : start + len(part)] = self._constant / (self._empty[empty] + sums)
        return estimates


class _LinksIn:
    """The links to each host, without those of hosts to themselves."""

    def __init__(self, csr: Csr) -> None:
        self._csr = transpose(drop_loops(csr))
        self._targets = self._csr.list_sources()

    def count_in(self) -> NDArray[np.int64]:
        """How many hosts link to each."""
        return self._csr.count_out()

    def join(
        self, operation: np.ufunc, values: NDArray[Any], changed: Mask
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """Hosts, and the values of those that link to them and have changed, joined by the operation; part by part."""
        links = np.flatnonzero(changed[self._csr.indices])
        if not len(links):
            return
        sources, targets = self._csr.indices[links], self._targets[links]
        starts = np.flatnonzero(np.concatenate(([True], targets[1:] != targets[:-1])))
        rows = targets[starts].astype(np.int64)
        bounds = np.append(starts, len(links))
        for first, last in split_rows(bounds, _LINKS_A_PART):
            found = values[sources[bounds[first] : bounds[last]]]
            yield rows[first:last], operation.reduceat(found, bounds[first:last] - bounds[first], axis=0)


def hash_numbers(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Hashes of numbers that are as good as random: the mixing function of SplitMix64 (Steele, Lea and Flood, 2014)."""
    # The numbers of one seed are far from those of another.
    start = seed * 0xD1342543DE82EF95 % (1 << 64)
    mixed = (numbers + np.uint64(start)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)


def _sigma(share: float) -> float:
    """Ertl's correction for empty registers: x + the sum of 2^(k-1) x^(2^k) for k from 1."""
    if share == 1:
        return float("inf")
    total, power, weight = share, share, 0.5
    while power > 0:
        power *= power
        weight *= 2
        before = total
        total += power * weight
        if total == before:
            break
    return total
