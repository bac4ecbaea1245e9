"""The manifest of a graph: which generations it consists of, which of their rows no longer count, and where reading resumes.

It is replaced in one step, after everything that it names is durable: it is the one place that says what is committed. A row
counts no more if a newer one of its page is in another generation, or if the page is forgotten; so each page has at most one row that counts,
and the order of generations means nothing.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import numpy as np
from xxhash import xxh3_64_digest

from rdfspider.disk import NEW, write_atomically
from rdfspider.errors import UnreadableError, is_shortage
from rdfspider.index.graph.compression import Compressor, DamagedBlockError, Decompressor
from rdfspider.index.graph.generation import SUFFIX, Generation
from rdfspider.index.graph.varints import Flags, Numbers, decode, encode
from rdfspider.index.layout import advise_rebuild

_NAME = "manifest"
_CHECKSUM_BYTES = 8
_TRIES = 20


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A generation of the graph."""

    name: str
    dead: bytes = b""
    """The rows that no longer count, as `pack_numbers` writes them."""
    is_stale: bool = False
    """Whether it has rows of forgotten pages, so that it has to be written again."""


class Manifest(msgspec.Struct, frozen=True):
    """What is committed."""

    cursors: dict[str, int] = {}
    generations: list[Entry] = []


class Part:
    """An open generation with the rows of it that no longer count."""

    __slots__ = ("dead", "generation", "is_stale")

    def __init__(self, generation: Generation, dead: Numbers, is_stale: bool = False) -> None:
        self.generation = generation
        self.dead = dead
        """The numbers of URLs whose rows do not count, sorted."""
        self.is_stale = is_stale

    @property
    def live_rows(self) -> int:
        """How many rows count."""
        return self.generation.rows - len(self.dead)

    def find_row(self, number: int) -> int | None:
        """Return the row of a URL, if it has one that counts."""
        row = self.generation.find_row(number)
        if row is None or not len(self.dead):
            return row
        place = int(np.searchsorted(self.dead, number))
        return None if place < len(self.dead) and self.dead[place] == number else row

    def select_live(self, numbers: Numbers) -> Numbers:
        """Return those of some sources whose rows count."""
        return numbers[self.are_live(numbers)] if len(self.dead) else numbers

    def are_live(self, numbers: Numbers) -> Flags:
        """Return of each of some sources whether its row counts."""
        if not len(self.dead):
            return np.ones(len(numbers), np.bool_)
        places = np.searchsorted(self.dead, numbers)
        nearest: Numbers = self.dead[np.minimum(places, len(self.dead) - 1)]
        return np.not_equal(nearest, numbers)


def load_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a graph's folder; None if nothing was committed yet. Raise UnreadableError if it is damaged."""
    path = folder / _NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        if is_shortage(error):
            raise
        raise _tell_damage(path, error) from error
    body = data[_CHECKSUM_BYTES:]
    if xxh3_64_digest(body) != data[:_CHECKSUM_BYTES]:
        raise _tell_damage(path, "it has another checksum")
    try:
        return msgspec.msgpack.decode(body, type=Manifest)
    except (ValueError, msgspec.MsgspecError) as error:
        raise _tell_damage(path, error) from error


def save_manifest(folder: Path, cursors: dict[str, int], parts: Iterable[Part]) -> None:
    """Replace the manifest durably."""
    entries = [Entry(part.generation.name, pack_numbers(part.dead), part.is_stale) for part in parts]
    body = msgspec.msgpack.encode(Manifest(cursors, entries))
    write_atomically(folder / _NAME, xxh3_64_digest(body) + body)


def open_parts(folder: Path, manifest: Manifest) -> list[Part]:
    """Open the generations of a manifest. Raise FileNotFoundError if one is gone, UnreadableError if one is damaged."""
    return [
        Part(Generation(folder / entry.name), _unpack_numbers(folder, entry.dead), entry.is_stale)
        for entry in manifest.generations
    ]


def open_newest(folder: Path) -> tuple[Manifest, list[Part]] | None:
    """Open the newest committed state, also while a writer replaces it; None if nothing was committed yet."""
    for _ in range(_TRIES):
        manifest = load_manifest(folder)
        if manifest is None:
            # A writer makes a manifest before all else.
            if any(folder.glob(f"*{SUFFIX}")) and not (folder / _NAME).exists():
                raise _tell_damage(folder / _NAME, "it is missing")
            return None
        try:
            return manifest, open_parts(folder, manifest)
        except FileNotFoundError as error:
            missing = error
            if load_manifest(folder) == manifest:
                break
    raise UnreadableError(f"{missing.filename} is missing; {advise_rebuild(folder.parent.parent)}")


def mark_manifest(folder: Path) -> tuple[int, int]:
    """What differs from one manifest to the next."""
    try:
        stat = (folder / _NAME).stat()
    except FileNotFoundError:
        return 0, 0
    return stat.st_ino, stat.st_mtime_ns


def remove_leftovers(folder: Path, manifest: Manifest) -> int:
    """Remove what killed writers have left; return the highest number of a generation that is or was there."""
    kept = {entry.name for entry in manifest.generations}
    highest = 0
    for path in folder.iterdir():
        number = path.name.partition(".")[0]
        highest = max(highest, int(number) if number.isdecimal() else 0)
        if path.name.endswith(NEW) or (path.name.endswith(SUFFIX) and path.name not in kept):
            path.unlink(missing_ok=True)
    return highest


def pack_numbers(numbers: Numbers) -> bytes:
    """Pack sorted numbers."""
    if not len(numbers):
        return b""
    return Compressor().compress(encode(np.diff(numbers, prepend=0))[0].tobytes())


def _unpack_numbers(folder: Path, packed: bytes) -> Numbers:
    if not packed:
        return np.empty(0, np.int64)
    try:
        return np.cumsum(decode(np.frombuffer(Decompressor().decompress(packed), np.uint8))[0])
    except (DamagedBlockError, ValueError) as error:
        raise _tell_damage(folder / _NAME, error) from error


def _tell_damage(path: Path, reason: object) -> UnreadableError:
    told = " ".join(str(reason).split())[:200]
    return UnreadableError(f"{path} is damaged: {told}; {advise_rebuild(path.parent.parent.parent)}")
