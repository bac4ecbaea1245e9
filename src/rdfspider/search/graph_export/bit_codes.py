"""Codes for natural numbers, and a stream of their bits: arrays of numbers enter, bytes leave.

Unary: n zeros and a one. Gamma (Elias, 1975): of n + 1 the number of binary digits in unary, then the digits after the first.
Zeta (Boldi and Vigna, "Codes for the World Wide Web", 2005): the same by groups of k digits, with a minimal binary code in a
group.
"""

from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


class Codes(NamedTuple):
    """Codes, each a number and its width in bits, at most 63."""

    codes: IntArray
    widths: IntArray


class BitStream:
    """Writes codes one after the other, the highest bit first."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.bits = 0
        """How many bits have been written."""
        # The bits of the last word, which is not full, at its upper end.
        self._rest = np.uint64(0)

    def write(self, codes: Codes) -> None:
        """Append some codes."""
        if not len(codes.codes):
            return
        ends = np.cumsum(codes.widths) + self.bits % 64
        starts = ends - codes.widths
        words = np.zeros(int(ends[-1]) // 64 + 1, np.uint64)
        words[0] = self._rest
        places = starts >> 6
        # A code that does not fit into its word continues in the next one.
        over = codes.widths + (starts & 63) - 64
        numbers = codes.codes.astype(np.uint64)
        shifted = np.where(
            over > 0,
            numbers >> np.maximum(over, 0).astype(np.uint64),
            numbers << np.maximum(-over, 0).astype(np.uint64),
        )
        firsts = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
        words[places[firsts]] |= np.bitwise_or.reduceat(shifted, firsts)
        split = np.flatnonzero(over > 0)
        words[places[split] + 1] |= numbers[split] << (64 - over[split]).astype(np.uint64)
        self._stream.write(words[:-1].astype(">u8").tobytes())
        self._rest = words[-1]
        self.bits += int(ends[-1]) - self.bits % 64

    def finish(self) -> None:
        """Write the last bits; zeros fill the last byte."""
        rest_bytes = (self.bits % 64 + 7) // 8
        self._stream.write(int(self._rest).to_bytes(8, "big")[:rest_bytes])


def fold_sign(numbers: IntArray) -> IntArray:
    """Integers as natural numbers: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4."""
    return np.where(numbers >= 0, 2 * numbers, -2 * numbers - 1)


def encode_unary(numbers: IntArray) -> Codes:
    """Codes of numbers below 63."""
    return Codes(np.ones_like(numbers), numbers + 1)


def encode_gamma(numbers: IntArray) -> Codes:
    """Codes of numbers below 2^32: the zeros of the unary part are those before n + 1 in a wider field."""
    return Codes(numbers + 1, measure_gamma(numbers))


def encode_zeta(numbers: IntArray, k: int) -> Codes:
    """Codes of numbers below 2^40."""
    digits = _count_digits(numbers)
    groups = digits // k
    left = np.int64(1) << groups * k
    above = numbers + 1 - left
    is_short = above < left
    width = groups * k + k - is_short
    return Codes((np.int64(1) << width) | np.where(is_short, above, numbers + 1), groups + 1 + width)


def measure_gamma(numbers: IntArray) -> IntArray:
    """The widths of their codes."""
    return 2 * _count_digits(numbers) + 1


def measure_zeta(numbers: IntArray, k: int) -> IntArray:
    """The widths of their codes."""
    groups = _count_digits(numbers) // k
    return groups + 1 + groups * k + k - (numbers + 1 < np.int64(2) << groups * k)


def _count_digits(numbers: IntArray) -> IntArray:
    """How many binary digits n + 1 has after the first; exact below 2^52."""
    return np.frexp((numbers + 1).astype(np.float64))[1].astype(np.int64) - 1
