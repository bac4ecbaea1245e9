"""The dictionary of a generation: sorted keys enter, and each gets its place in the order as its number; key → number and
number → key leave.

Keys are front-coded in blocks: how many bytes a key has in common with the first of its block, then the rest. So a key is read
without those before it, and once compressed it takes as much as if it referred to the one before. A block is compressed with what
all blocks have in common, and has few keys (`BLOCK_KEYS`), because a row's URLs are in nearly as many blocks as it has links:
with 16 keys, one is read in 2 µs. On the links of real pages that takes 19.6 bytes for a URL of 58; blocks of 64 keys would
take 15.3, but 1.6 times as long for most pages' links, blocks of 1,024 keys 14.0 and eleven times as long
(`benchmarks/bench_graph.py`). To find a key's block, the beginnings that tell blocks apart are searched in a memory-mapped table.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from rdfspider.index.graph.compression import Compressor, DamagedBlockError, Decompressor, train
from rdfspider.index.graph.keys import END
from rdfspider.index.graph.sections import Sections, SectionWriter

BLOCK_KEYS = 16
_MAX_COMMON = 255
_CACHED_BLOCKS = 1024
_SAMPLE_BLOCKS = 1024
_KEYS_AT_ONCE = 4096


class Starts(Sequence[bytes]):
    """The beginnings of blocks, read when they are asked for."""

    def __init__(self, texts: memoryview, ends: memoryview) -> None:
        self._texts = texts
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number):  # type: ignore[no-untyped-def]
        start = self._ends[number - 1] if number else 0
        return self._texts[start : self._ends[number]].tobytes()


class DictionaryWriter:
    """Writes the sections of a dictionary."""

    def __init__(self, file: SectionWriter, samples: Sequence[bytes]) -> None:
        """`samples` are blocks like those that will come (`sample_blocks`, `encode_blocks`)."""
        self._file = file
        self._shared = train(samples)
        self._compressor = Compressor(self._shared)
        self._pending: list[bytes] = []
        self._last = b""
        self._ends = array("Q")
        self._starts = bytearray()
        self._start_ends = array("I")
        self.count = 0
        file.begin("keys")

    def add(self, keys: Sequence[bytes]) -> None:
        """Add keys, which come after all before, in their order."""
        self.count += len(keys)
        pending = self._pending
        pending.extend(keys)
        whole = len(pending) - len(pending) % BLOCK_KEYS
        self._write(pending[:whole])
        del pending[:whole]

    def finish(self) -> None:
        """Write what is left, and the tables."""
        if self._pending:
            self._write(self._pending)
        self._file.end()
        self._file.write_table("key_ends", self._ends.tobytes())
        self._file.write_table("key_starts", bytes(self._starts))
        self._file.write_table("key_start_ends", self._start_ends.tobytes())
        self._file.write_table("key_shared", self._shared)

    def _write(self, keys: Sequence[bytes]) -> None:
        for start, block in zip(range(0, len(keys), BLOCK_KEYS), encode_blocks(keys), strict=True):
            first = keys[start]
            self._starts += first[: _count_common(self._last, first) + 1]
            self._start_ends.append(len(self._starts))
            self._last = keys[min(start + BLOCK_KEYS, len(keys)) - 1]
            packed = self._compressor.compress(block)
            self._ends.append(self._file.write(packed) + len(packed))


class Dictionary:
    """The keys of a generation, by number, and the numbers by key; for any number of threads."""

    def __init__(self, file: Sections) -> None:
        self._file = file
        self.count = file.counts["keys"]
        """How many keys there are."""
        self._blocks = file.get("keys")
        self._ends = file.get_checked("key_ends").cast("Q")
        self._starts = Starts(file.get_checked("key_starts"), file.get_checked("key_start_ends").cast("I"))
        self._decompressor = Decompressor(bytes(file.get_checked("key_shared")))
        self._cached: dict[int, bytes] = {}
        if len(self._ends) != -(-self.count // BLOCK_KEYS) or len(self._starts) != len(self._ends):
            raise file.tell_damage("it has another number of keys than it says")

    def find(self, key: bytes) -> int | None:
        """Return the number of a key; None if it is not there."""
        block = bisect_right(self._starts, key) - 1
        if block < 0:
            return None
        keys = _join_rests(*self._split(block, self._load(block)))
        place = bisect_left(keys, key)
        return block * BLOCK_KEYS + place if place < len(keys) and keys[place] == key else None

    def count_before(self, key: bytes) -> int:
        """Return how many keys come before one, which need not be there."""
        block = bisect_right(self._starts, key) - 1
        return (
            block * BLOCK_KEYS + bisect_left(_join_rests(*self._split(block, self._load(block))), key)
            if block >= 0
            else 0
        )

    def read(self, number: int) -> bytes:
        """Return the key with a number."""
        return self.read_all((number,))[0]

    def read_all(self, numbers: Iterable[int]) -> list[bytes]:
        """Return the keys with these numbers, in the same order; sorted numbers are read fastest."""
        found: list[bytes] = []
        last, commons, rests = -1, b"", [b""]
        for number in numbers:
            block, place = number // BLOCK_KEYS, number % BLOCK_KEYS
            if block != last:
                last = block
                commons, rests = self._split(block, self._load(block))
            found.append(rests[0][: commons[place]] + rests[place])
        return found

    def list_keys(self, start: int = 0) -> Iterator[list[bytes]]:
        """The keys of block after block, from the block with this number."""
        for block in range(start, len(self._ends)):
            yield self._decode(block)

    def list_hosts(self) -> Iterator[tuple[bytes, int]]:
        """The first key of each run of keys of one host, and how long the run is; blocks within one host are skipped."""
        blocks = len(self._ends)
        run, length = b"", 0
        for block in range(blocks):
            size = min(BLOCK_KEYS, self.count - block * BLOCK_KEYS)
            host = run[: run.find(END) + 1] if run[:1] != b"!" else b""
            if (
                host
                and self._starts[block].startswith(host)
                and block + 1 < blocks
                and self._starts[block + 1].startswith(host)
            ):
                length += size
                continue
            for key in self._decode(block):
                if host and key.startswith(host):
                    length += 1
                    continue
                if length:
                    yield run, length
                run, length = key, 1
                host = run[: run.find(END) + 1] if run[:1] != b"!" else b""
        if length:
            yield run, length

    def sample_blocks(self, count: int) -> list[bytes]:
        """Return some blocks from all over, for `DictionaryWriter`."""
        step = max(1, len(self._ends) // max(count, 1))
        return encode_blocks([key for block in range(0, len(self._ends), step) for key in self._decode(block)])

    def _load(self, block: int) -> bytes:
        encoded = self._cached.get(block)
        if encoded is None:
            encoded = self._decompress(block)
            if len(self._cached) >= _CACHED_BLOCKS:
                self._cached.clear()
            self._cached[block] = encoded
        return encoded

    def _decompress(self, block: int) -> bytes:
        start = self._ends[block - 1] if block else 0
        try:
            return self._decompressor.decompress(self._blocks[start : self._ends[block]])
        except DamagedBlockError as error:
            raise self._file.tell_damage(error) from error

    def _split(self, block: int, encoded: bytes) -> tuple[bytes, list[bytes]]:
        """How many bytes each key of a block has in common with the first (and what follows), and the rests."""
        count = BLOCK_KEYS if (block + 1) * BLOCK_KEYS <= self.count else self.count % BLOCK_KEYS
        rests = encoded[count:].split(b"\0")
        if len(rests) != count:
            raise self._file.tell_damage("a block has another number of keys than it should")
        return encoded, rests

    def _decode(self, block: int) -> list[bytes]:
        """All keys of a block that will hardly be asked for again soon."""
        return _join_rests(*self._split(block, self._decompress(block)))


def _join_rests(commons: bytes, rests: Sequence[bytes]) -> list[bytes]:
    first = rests[0]
    return [first[:common] + rest for common, rest in zip(commons, rests, strict=False)]


def encode_blocks(keys: Sequence[bytes]) -> list[bytes]:
    """Encode keys as blocks: how many bytes each has in common with the first, then the rests."""
    blocks = []
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        some = keys[start : start + _KEYS_AT_ONCE]
        commons = _count_commons(some)
        rests = [key[common:] for key, common in zip(some, commons, strict=True)]
        blocks += [
            commons[block : block + BLOCK_KEYS] + b"\0".join(rests[block : block + BLOCK_KEYS])
            for block in range(0, len(some), BLOCK_KEYS)
        ]
    return blocks


def choose_samples(keys: Sequence[bytes]) -> list[bytes]:
    """Return some blocks of sorted keys, for `DictionaryWriter`."""
    step = max(1, len(keys) // BLOCK_KEYS // _SAMPLE_BLOCKS) * BLOCK_KEYS
    if step == BLOCK_KEYS:
        return encode_blocks(keys)
    return encode_blocks([key for start in range(0, len(keys), step) for key in keys[start : start + BLOCK_KEYS]])


def _count_commons(keys: Sequence[bytes]) -> bytes:
    """Count the bytes that each key has in common with the first of its block at their beginnings; 0 for the first itself."""
    # Shorter keys are filled up with NUL, which no key contains.
    table = np.array(keys, f"S{_MAX_COMMON}").view(np.uint8).reshape(len(keys), _MAX_COMMON)
    differs = table != np.repeat(table[::BLOCK_KEYS], BLOCK_KEYS, axis=0)[: len(keys)]
    commons = differs.argmax(axis=1).astype(np.uint8)
    commons[~differs[np.arange(len(commons)), commons]] = _MAX_COMMON
    commons[::BLOCK_KEYS] = 0
    return bytes(commons)


def _count_common(one: bytes, other: bytes) -> int:
    """Count the bytes that two keys have in common at their beginning."""
    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size
    difference = int.from_bytes(one[:size], "big") ^ int.from_bytes(other[:size], "big")
    return size - (difference.bit_length() + 7) // 8
