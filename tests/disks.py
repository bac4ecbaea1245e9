"""Small disks in memory, mounted where a test wants them; where that is not permitted, the test is skipped and says so."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest


@contextmanager
def mount_disk(folder: Path, size_bytes: int) -> Iterator[Path]:
    """A disk of its own at this folder, gone with all that is on it when the context ends."""
    folder.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        _unmount(folder)


@contextmanager
def mount_read_only(folder: Path) -> Iterator[Path]:
    """The folder in its own place, where nothing can be written until the context ends."""
    _mount("--bind", str(folder), str(folder))
    try:
        _mount("-o", "remount,bind,ro", str(folder))
        yield folder
    finally:
        _unmount(folder)


def leave_room(disk: Path, free_bytes: int, free_files: int = 100_000) -> None:
    """Let a disk take so many more bytes and files, whatever it has, and no more."""
    found = os.statvfs(disk)
    used_bytes, used_files = (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree
    # A size of 0 would be none at all.
    size_bytes = max(used_bytes + free_bytes, found.f_frsize)
    _mount("-o", f"remount,size={size_bytes},nr_inodes={used_files + free_files}", str(disk))


class Slot:
    """A folder at which a disk can be put and from which it can be taken, without being gone; empty when the context ends."""

    def __init__(self, disk: Path, folder: Path) -> None:
        self.folder = folder
        self._disk = disk
        self._is_in = False
        folder.mkdir(exist_ok=True)

    def __enter__(self) -> Self:
        self.put_in()
        return self

    def __exit__(self, *_: object) -> None:
        self.take_out()

    def put_in(self) -> None:
        """Mount the disk here."""
        _mount("--bind", str(self._disk), str(self.folder))
        self._is_in = True

    def take_out(self) -> None:
        """Unmount it, if it is in."""
        if self._is_in:
            _unmount(self.folder)
            self._is_in = False


def set_read_only(folder: Path) -> None:
    """Let a disk take nothing any more, as a system does when it fails."""
    _mount("-o", "remount,ro", str(folder))


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


def _mount(*arguments: str) -> None:
    try:
        subprocess.run(["mount", *arguments], check=True, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("a disk cannot be mounted here: there is no command for it")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a disk cannot be mounted here: {error.stderr.strip()}")
