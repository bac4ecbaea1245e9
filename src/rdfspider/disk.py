"""Atomic file writes, which leave a whole file or none after a crash, and locks between processes.

A *durable* write also survives a loss of power, because the file and its folder are synced. A lock ends with the process that
holds it, however that process ends.
"""

import fcntl
import glob
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rdfspider.errors import UsageError

NEW = ".new"
"""The suffix of a file that is still being written."""
_LOCK_TRIES = 10
_LOCK_WAIT_S = 0.1
_MAX_HOLDER_BYTES = 64


class HeldError(Exception):
    """Another process holds the lock; the message is what that process wrote into the lock file."""


def write_atomically(path: Path, body: bytes, *, durable: bool = True, shared: bool = False) -> None:
    """Replace a file in one step, so that neither a reader nor a crash finds half of it.

    Set `shared` if several processes may write the file at the same time.
    """
    with replace_file(path, durable=durable, shared=shared) as file:
        file.write(body)


@contextmanager
def replace_file(path: Path, *, durable: bool = True, shared: bool = False) -> Iterator[BinaryIO]:
    """Like `write_atomically`, for writing in pieces: the file gets its name when the block ends without an exception."""
    new = path.with_name(f"{path.name}.{os.getpid()}{NEW}" if shared else f"{path.name}{NEW}")
    try:
        with new.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    if durable:
        sync_folder(path.parent)


@contextmanager
def replace_output(path: Path) -> Iterator[BinaryIO]:
    """Like `replace_file`, for a file that a user named: several processes may write it, and the partial files of killed ones
    are removed. It is not synced. The writer may close it."""
    for partial in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        with suppress(OSError), partial.open("rb") as leftover:
            fcntl.flock(leftover, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink()
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    lock: int | None = None
    # An interrupt may come as soon as the file is there.
    try:
        try:
            file = _open_locked(partial)
        except OSError as error:
            raise UsageError(f"{path}: it cannot be written ({error.strerror})") from error
        with file:
            # The lock must last until the file is renamed.
            lock = os.dup(file.fileno())
            yield file
        partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink()
        if lock is not None:
            os.close(lock)


def rename_durably(old: Path, new: Path) -> None:
    """Rename a file or folder within its folder, and sync that."""
    old.rename(new)
    sync_folder(new.parent)


def sync_folder(folder: Path) -> None:
    """Make the creation, renaming and deletion of files in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_lines(path: Path) -> list[str]:
    """The lines of a file in order, without duplicates, empty lines and comments; an empty list if there is no file."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    lines = [line.strip() for line in text.split("\n")]
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def add_lines(path: Path, lines: Iterable[str]) -> int:
    """Durably add the lines that are missing, and return their number; safe against concurrent writers."""
    try:
        with _hold_folder(path.parent):
            known = set(read_lines(path))
            new = [line for line in dict.fromkeys(lines) if line not in known]
            if new:
                before = path.read_text("utf-8") if path.exists() else ""
                if before and not before.endswith("\n"):
                    before += "\n"
                write_atomically(path, (before + "".join(f"{line}\n" for line in new)).encode())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return len(new)


def replace_line(path: Path, old: str, new: str) -> bool:
    """Durably replace a line by another one, and return whether it was there; safe against concurrent writers."""
    try:
        with _hold_folder(path.parent):
            lines = path.read_text("utf-8").split("\n") if path.exists() else []
            if not any(line.strip() == old for line in lines):
                return False
            write_atomically(path, "\n".join(new if line.strip() == old else line for line in lines).encode())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return True


@contextmanager
def hold_lock(path: Path, holder: str) -> Iterator[None]:
    """Hold the lock file exclusively, and write the holder's name and process id into it. HeldError is raised after a second
    of retries, as `find_holder` also takes the lock for a moment."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        for attempt in range(_LOCK_TRIES):
            if _take(descriptor, path):
                break
            if attempt == _LOCK_TRIES - 1:
                raise HeldError(os.pread(descriptor, _MAX_HOLDER_BYTES, 0).decode(errors="replace").strip())
            time.sleep(_LOCK_WAIT_S)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{holder} {os.getpid()}".strip().encode(), 0)
        yield
    finally:
        os.close(descriptor)


def find_holder(path: Path) -> str | None:
    """What the lock's holder wrote into the lock file; None if nobody holds it, empty just before the holder writes."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, _MAX_HOLDER_BYTES, 0).decode(errors="replace").strip()
    finally:
        os.close(descriptor)
    return None


def is_locked(path: Path) -> bool:
    """Whether another process holds a POSIX lock on a file, as databases do. Not for one that this process has locked itself: it
    would lose the lock."""
    try:
        with path.open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except BlockingIOError:
        return True
    return False


def open_shared(folder: Path) -> int | None:
    """A descriptor that makes `open_alone` fail for a folder until it is closed; None if the folder is gone or renamed."""
    descriptor = _open_folder(folder)
    if descriptor is None:
        return None
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(descriptor), folder.stat()):
            return descriptor
    os.close(descriptor)
    return None


def open_alone(folder: Path) -> int | None:
    """A descriptor that locks a folder exclusively until it is closed; None if the folder is gone or in use."""
    descriptor = _open_folder(folder)
    if descriptor is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


@contextmanager
def _hold_folder(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _open_locked(path: Path) -> BinaryIO:
    """Open a file for writing, with a lock that lasts until all its descriptors are closed, also by the end of the process."""
    while True:
        file = path.open("wb")
        # Some file systems have no locks.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may just have removed it as a leftover.
        if path.exists():
            return file
        file.close()


def _take(descriptor: int, path: Path) -> bool:
    """Whether we got the lock, on the file that still has this name: its whole folder may have been replaced."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _open_folder(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
