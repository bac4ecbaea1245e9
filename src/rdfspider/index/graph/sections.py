"""A file of named sections that never changes: pieces enter one section after another, a memory-mapped file leaves.

The file ends with a directory: the place, length and checksum of each section. Sections of blocks are too large to be checked
when the file is opened; each block has a checksum of its own. Tables are checked at once.
"""

import contextlib
import mmap
import os
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64, xxh3_64_intdigest

from rdfspider.disk import NEW, sync_folder
from rdfspider.errors import UnreadableError, is_shortage
from rdfspider.index.layout import advise_rebuild

_MAGIC = b"rdfgraf2"
_TAIL_BYTES = 4 + 8 + len(_MAGIC)
_ALIGNMENT = 8
_CHUNK_BYTES = 1 << 22
_Scalar = TypeVar("_Scalar", bound=np.generic)


class Section(msgspec.Struct, frozen=True, array_like=True):
    """The place of a section in its file."""

    start: int
    size: int
    checksum: int


class Directory(msgspec.Struct, frozen=True):
    """The end of a file."""

    sections: dict[str, Section]
    counts: dict[str, int]
    """Numbers that describe the content."""


class SectionWriter:
    """Writes a file; it gets its name at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._new = path.with_name(path.name + NEW)
        self._file: BinaryIO = self._new.open("wb", buffering=1 << 18)
        self._sections: dict[str, Section] = {}
        self._position = 0

    def begin(self, name: str) -> None:
        """Begin a section; the one before has ended."""
        self._name = name
        self._start = self._position
        self._digest = xxh3_64()

    def write(self, piece: bytes) -> int:
        """Write a piece of the section; return where it begins in the section."""
        place = self._position - self._start
        self._file.write(piece)
        self._digest.update(piece)
        self._position += len(piece)
        return place

    def end(self) -> None:
        """End the section."""
        size = self._position - self._start
        self._sections[self._name] = Section(self._start, size, self._digest.intdigest())
        rest = -self._position % _ALIGNMENT
        self._file.write(bytes(rest))
        self._position += rest

    def write_table(self, name: str, table: npt.NDArray[np.generic] | bytes) -> None:
        """Write a section that is a table of numbers."""
        self.begin(name)
        self.write(table if isinstance(table, bytes) else table.tobytes())
        self.end()

    def finish(self, counts: dict[str, int]) -> None:
        """Make the file durable, and give it its name."""
        directory = msgspec.json.encode(Directory(self._sections, counts))
        self._file.write(directory)
        self._file.write(len(directory).to_bytes(4, "little"))
        self._file.write(xxh3_64_intdigest(directory).to_bytes(8, "little"))
        self._file.write(_MAGIC)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._new.replace(self.path)
        sync_folder(self.path.parent)

    def discard(self) -> None:
        """Remove an unfinished file."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._new.unlink()


class Sections:
    """A file of sections, memory-mapped until nobody refers to this or its tables any more."""

    def __init__(self, path: Path) -> None:
        """Raise FileNotFoundError if it is not there, UnreadableError if it is damaged."""
        self.path = path
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _TAIL_BYTES:
                raise self.tell_damage("it is too short")
            try:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except (OSError, ValueError) as error:
                if is_shortage(error):
                    raise
                raise self.tell_damage(str(error)) from error
        self._view = memoryview(self._map)
        self._directory = self._read_directory(size)
        self.counts = self._directory.counts

    @property
    def size(self) -> int:
        """The length of the file."""
        return len(self._map)

    def measure(self, name: str) -> int:
        """The length of a section."""
        return self._find(name).size

    def get(self, name: str) -> memoryview:
        """A section whose blocks have checksums of their own."""
        section = self._find(name)
        return self._view[section.start : section.start + section.size]

    def get_checked(self, name: str) -> memoryview:
        """A section, checked."""
        view = self.get(name)
        if xxh3_64_intdigest(view) != self._find(name).checksum:
            raise self.tell_damage(f"{name} has another checksum")
        return view

    def get_table(self, name: str, scalar: type[_Scalar]) -> npt.NDArray[_Scalar]:
        """A table of numbers, checked."""
        view = self.get_checked(name)
        if len(view) % np.dtype(scalar).itemsize:
            raise self.tell_damage(f"{name} has a part of a number")
        return np.frombuffer(view, scalar)

    def check(self) -> None:
        """Read all that the file has. Raise UnreadableError if anything is damaged."""
        for name in self._directory.sections:
            self.get_checked(name)

    def tell_damage(self, reason: object) -> UnreadableError:
        """Make the error that says that the file is damaged, and what helps."""
        told = " ".join(str(reason).split())[:200]
        return UnreadableError(f"{self.path} is damaged: {told}; {advise_rebuild(self.path.parent.parent.parent)}")

    def _find(self, name: str) -> Section:
        try:
            return self._directory.sections[name]
        except KeyError:
            raise self.tell_damage(f"there is no {name}") from None

    def _read_directory(self, size: int) -> Directory:
        tail = bytes(self._view[size - _TAIL_BYTES :])
        length, checksum = int.from_bytes(tail[:4], "little"), int.from_bytes(tail[4:12], "little")
        start = size - _TAIL_BYTES - length
        if tail[12:] != _MAGIC or start < 0:
            raise self.tell_damage("its end is missing")
        encoded = bytes(self._view[start : start + length])
        if xxh3_64_intdigest(encoded) != checksum:
            raise self.tell_damage("its directory has another checksum")
        try:
            directory = msgspec.json.decode(encoded, type=Directory)
        except (ValueError, msgspec.MsgspecError) as error:
            raise self.tell_damage(error) from error
        if any(
            each.start < 0 or each.size < 0 or each.start + each.size > start for each in directory.sections.values()
        ):
            raise self.tell_damage("a section is beyond its end")
        return directory
