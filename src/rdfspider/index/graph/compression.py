"""Blocks of bytes, compressed by zstd: the one place that knows the library. Each block has a checksum, so a damaged one is
found when it is read.
"""

import threading
from collections.abc import Sequence

import zstandard

_LEVEL = 3
_DICTIONARY_BYTES = 32_768
_MIN_SAMPLES = 256
_MAX_BLOCK_BYTES = 1 << 30


class DamagedBlockError(Exception):
    """A block is not what was written."""


class Compressor:
    """Compresses blocks; for one thread at a time."""

    def __init__(self, dictionary: bytes = b"", level: int = _LEVEL) -> None:
        """`dictionary` is what `train` has made."""
        parameters = zstandard.ZstdCompressionParameters.from_level(
            level, write_checksum=True, write_content_size=True, write_dict_id=False
        )
        data = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        if data is not None:
            data.precompute_compress(compression_params=parameters)
        self._zstd = zstandard.ZstdCompressor(dict_data=data, compression_params=parameters)

    def compress(self, block: bytes) -> bytes:
        """Compress a block; an empty one stays empty."""
        return self._zstd.compress(block) if block else b""


class Decompressor:
    """Decompresses blocks; for any number of threads."""

    def __init__(self, dictionary: bytes = b"") -> None:
        data = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        self._zstd = zstandard.ZstdDecompressor(dict_data=data)
        self._lock = threading.Lock()

    def decompress(self, block: bytes | memoryview) -> bytes:
        """Decompress a block. Raise DamagedBlockError if it is damaged."""
        if not block:
            return b""
        try:
            with self._lock:
                return self._zstd.decompress(block)
        except (zstandard.ZstdError, MemoryError) as error:
            raise DamagedBlockError(str(error)) from error


def train(samples: Sequence[bytes]) -> bytes:
    """Make a dictionary of what blocks have in common; empty if there are too few of them to say."""
    if len(samples) < _MIN_SAMPLES:
        return b""
    size = min(_DICTIONARY_BYTES, sum(map(len, samples)) // 10)
    try:
        # With a smaller table of frequencies and fewer places tried it takes a fifth of the time, for the same size.
        return zstandard.train_dictionary(size, list(samples), k=256, d=8, f=16, accel=5).as_bytes()
    except zstandard.ZstdError:
        return b""
