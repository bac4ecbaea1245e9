"""Copies of the quad store for readers: the only writer takes them and removes old ones, readers hold the one that they read.

A snapshot is a folder `000042`, renamed into place when it is complete. A reader holds it by a shared lock on the folder
itself; it is removed only under an exclusive lock. A lock ends with its process, however that ends. While the file `.behind` is
there, the store may have what the newest snapshot lacks.
"""

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from isal import isal_zlib
from pyoxigraph import Store

from rdfspider.disk import open_alone, open_shared, sync_folder, write_atomically
from rdfspider.errors import UnindexedError, UnreadableError
from rdfspider.index.layout import advise_rebuild

_NAME = re.compile(r"[0-9]{6,}")
_TAKING, _REMOVING, _BEHIND = ".taking", ".removing-", ".behind"
_TABLES = "*.sst"
_CHUNK_BYTES = 1 << 20
LOOK_S = 0.25
"""The shortest time between two looks for a newer snapshot."""
# A reader that is idle for this long releases its snapshot.
_IDLE_S = 30.0
# The newest snapshot may be removed before it is locked; then there is a newer one to try.
_TRIES = 20


def take_snapshot(store: Store, folder: Path) -> Path:
    """Copy the store (with hard links if on the same disk) and let readers find the copy."""
    folder.mkdir(parents=True, exist_ok=True)
    taking = folder / _TAKING
    shutil.rmtree(taking, ignore_errors=True)
    store.backup(str(taking))
    newest = find_newest(folder)
    path = folder / f"{int(newest.name) + 1 if newest else 1:06}"
    sync_folder(taking)
    taking.rename(path)
    sync_folder(folder)
    _note_checksums(folder, path)
    (folder / _BEHIND).unlink(missing_ok=True)
    return path


def note_change(folder: Path) -> None:
    """Note that the store is about to have what the newest snapshot lacks, for a writer that ends before it takes the next."""
    if not is_behind(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _BEHIND).touch()
        sync_folder(folder)


def is_behind(folder: Path) -> bool:
    """Whether the store may have what the newest snapshot lacks."""
    return (folder / _BEHIND).exists()


def find_changed_files(folder: Path, store: Path) -> list[str]:
    """The files of a store, the writer's or a snapshot, whose content has changed since the snapshot in which they were first.
    Oxigraph itself finds that only where it happens to read."""
    known = _read_checksums(folder)
    files = (path for path in sorted(store.glob(_TABLES)) if path.name in known)
    return [path.name for path in files if _compute_checksum(path) != known[path.name]]


def find_newest(folder: Path) -> Path | None:
    """The newest snapshot; None if there is none."""
    numbers = _list_numbers(folder)
    return folder / f"{numbers[-1]:06}" if numbers else None


def can_read_newest(folder: Path) -> bool:
    """Whether there is a snapshot, and it can be opened."""
    newest = find_newest(folder)
    try:
        return newest is not None and Store.read_only(str(newest)) is not None
    except (OSError, RuntimeError):
        return False


def remove_old(folder: Path) -> None:
    """Remove all snapshots but the newest, except held ones, and what killed writers have left. Only for the writer.

    The newest has its files in common with the store; an older one keeps files that the store has merged into others."""
    for number in _list_numbers(folder)[:-1]:
        path = folder / f"{number:06}"
        descriptor = open_alone(path)
        if descriptor is None:
            continue
        try:
            path.rename(folder / f"{_REMOVING}{path.name}")
        finally:
            os.close(descriptor)
    for path in folder.glob(".*"):
        if path.name == _TAKING or path.name.startswith(_REMOVING):
            shutil.rmtree(path, ignore_errors=True)


class Hold:
    """Keeps a snapshot from being removed until this is closed."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def close(self) -> None:
        """Release the snapshot."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def hold_snapshot(folder: Path) -> Hold:
    """Hold the newest snapshot. Raise UnindexedError if there is none yet."""
    for _ in range(_TRIES):
        path = find_newest(folder)
        if path is None:
            break
        descriptor = open_shared(path)
        if descriptor is not None:
            return Hold(path, descriptor)
    crawl = folder.parent.parent
    raise UnindexedError(
        f"{crawl} has no quads to ask yet: index it with `rdfspider index --dir {crawl}`, or wait some seconds"
    )


def tell_damage(folder: Path, error: Exception) -> str:
    """The message that snapshots cannot be read, and what to do about it."""
    return (
        f"{folder} cannot be read ({' '.join(str(error).split())[:200]}); if that stays so, "
        f"{advise_rebuild(folder.parent.parent)}"
    )


class SnapshotReader:
    """The newest snapshot as a read-only store, reopened when there is a newer one. For any number of threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opened: _Opened | None = None
        self._looked = 0.0

    @property
    def store(self) -> Store:
        """The store for short reads; for longer ones there is `use`."""
        with self._lock:
            return self._refresh().store

    @contextmanager
    def use(self) -> Iterator[Store]:
        """The store, with its files kept until the end, however long it takes."""
        with self._lock:
            opened = self._refresh()
            opened.users += 1
        try:
            yield opened.store
        finally:
            with self._lock:
                opened.users -= 1
                if opened is not self._opened and not opened.users:
                    opened.hold.close()

    def rest(self) -> None:
        """Release the snapshot if it is idle: the files of an old one take up disk space."""
        with self._lock:
            if self._opened and not self._opened.users and time.monotonic() - self._looked > _IDLE_S:
                self._leave()

    def close(self) -> None:
        """Release the snapshot."""
        with self._lock:
            self._leave()

    def _refresh(self) -> "_Opened":
        now = time.monotonic()
        if self._opened and now - self._looked < LOOK_S:
            return self._opened
        self._looked = now
        if self._opened and self._opened.hold.path == find_newest(self._folder) and self._opened.is_there():
            return self._opened
        hold = hold_snapshot(self._folder)
        try:
            store = Store.read_only(str(hold.path))
        except (OSError, RuntimeError) as error:
            # RocksDB reports files that it cannot read as a RuntimeError.
            hold.close()
            raise UnreadableError(tell_damage(self._folder, error)) from error
        self._leave()
        self._opened = _Opened(store, hold)
        return self._opened

    def _leave(self) -> None:
        opened, self._opened = self._opened, None
        if opened and not opened.users:
            opened.hold.close()


class _Opened:
    """A store, the hold on its files, and the number of its users."""

    __slots__ = ("_stat", "hold", "store", "users")

    def __init__(self, store: Store, hold: Hold) -> None:
        self.store = store
        self.hold = hold
        self.users = 0
        self._stat = hold.path.stat()

    def is_there(self) -> bool:
        """Whether the folder of that name is still the same: a rebuilt index counts from 1 again."""
        try:
            return os.path.samestat(self._stat, self.hold.path.stat())
        except FileNotFoundError:
            return False


def _note_checksums(folder: Path, snapshot: Path) -> None:
    """Write down the checksums of a snapshot's files; those of earlier ones are known, as no file ever changes."""
    known = _read_checksums(folder)
    found = {path.name: known.get(path.name) or _compute_checksum(path) for path in snapshot.glob(_TABLES)}
    write_atomically(_place_checksums(folder), msgspec.json.encode(found), durable=False)


def _read_checksums(folder: Path) -> dict[str, tuple[int, int]]:
    """Lengths and checksums by file; none if the file is missing or damaged."""
    try:
        return msgspec.json.decode(_place_checksums(folder).read_bytes(), type=dict[str, tuple[int, int]])
    except (OSError, ValueError):
        return {}


def _place_checksums(folder: Path) -> Path:
    """The file with the checksums, beside the folder of snapshots."""
    return folder.with_name(f"{folder.name}.json")


def _compute_checksum(path: Path) -> tuple[int, int]:
    checksum = size = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            checksum = isal_zlib.crc32(chunk, checksum)
            size += len(chunk)
    return size, checksum


def _list_numbers(folder: Path) -> list[int]:
    try:
        return sorted(int(path.name) for path in folder.iterdir() if _NAME.fullmatch(path.name))
    except FileNotFoundError:
        return []
