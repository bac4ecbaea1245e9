"""Numbers as bytes, seven bits in each, the lowest first, all but the last byte of a number with the highest bit: arrays enter,
arrays leave. A gap of a sorted row is mostly one byte."""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

_MAX_BYTES = 9
_END = 128


def encode(numbers: Numbers) -> tuple[Bytes, Numbers]:
    """Encode numbers, none of them negative; return the bytes, and how many each number has."""
    lengths = np.ones(len(numbers), np.int64)
    for more in range(1, _MAX_BYTES):
        is_longer = numbers >= 1 << 7 * more
        if not is_longer.any():
            break
        lengths += is_longer
    ends = np.cumsum(lengths)
    starts = ends - lengths
    encoded = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    encoded[starts] = (numbers & 127) | ((lengths > 1) << 7)
    for place in range(1, int(lengths.max(initial=1))):
        which = np.flatnonzero(lengths > place)
        parts = (numbers[which] >> 7 * place) & 127
        encoded[starts[which] + place] = parts | ((lengths[which] > place + 1) << 7)
    return encoded, lengths


def decode(encoded: Bytes) -> tuple[Numbers, Numbers]:
    """Decode numbers; return them, and where each ends. Raise ValueError if the bytes are no numbers."""
    is_end = encoded < _END
    if is_end.all():
        return encoded.astype(np.int64), np.arange(1, len(encoded) + 1)
    ends = np.flatnonzero(is_end) + 1
    if not len(ends) or ends[-1] != len(encoded):
        raise ValueError("the last number has no end")
    starts = np.empty_like(ends)
    starts[0] = 0
    starts[1:] = ends[:-1]
    lengths = ends - starts
    longest = int(lengths.max())
    if longest > _MAX_BYTES:
        raise ValueError("a number is too long")
    numbers = (encoded[starts] & 127).astype(np.int64)
    for place in range(1, longest):
        which = np.flatnonzero(lengths > place)
        numbers[which] |= (encoded[starts[which] + place].astype(np.int64) & 127) << 7 * place
    return numbers, ends


def fold_sign(numbers: Numbers) -> Numbers:
    """Turn numbers of any sign into small ones without."""
    return (numbers << 1) ^ (numbers >> 63)


def unfold_sign(numbers: Numbers) -> Numbers:
    """Undo `fold_sign`."""
    return (numbers >> 1) ^ -(numbers & 1)
