"""Segments on several disks: folders enter; the path of each new segment, on the disk with the most free space, leaves.

The shard's own folder has links to them. On each volume a shard has a folder whose name ends with random characters. The file
`.volumes` beside the links stores this name and the file's own inode: in a copy of a crawl the inode differs, so the copy knows
that the files belong to the original, and that it may read them but never cut, extend or delete them.
"""

import errno
import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from rdfspider.disk import replace_file, sync_folder
from rdfspider.errors import UsageError

_NOTE_NAME = ".volumes"
# Some file systems allow no other characters in names, and none allows more than 255 bytes.
_UNUSUAL = re.compile(r"[^\w.-]+")
_MAX_NAME_CHARS = 40
_MISSING = -1


def check_volumes(volumes: Iterable[str]) -> None:
    """Raise UsageError if one is not a writable folder, or is another name of an earlier one."""
    known: dict[Path, str] = {}
    for volume in volumes:
        path = Path(volume)
        try:
            if not path.is_dir():
                raise UsageError(f"archive.volumes {volume}: there is no such folder")
            if not os.access(path, os.W_OK | os.X_OK):
                raise UsageError(f"archive.volumes {volume}: it may not be written to")
            same = known.setdefault(path.resolve(), volume)
        except OSError as error:
            raise UsageError(f"archive.volumes {volume}: {error.strerror}") from error
        if same is not volume:
            raise UsageError(f"archive.volumes {volume}: not allowed; it is the same folder as {same}")


def measure_room(place: Path | int) -> int:
    """Return the free bytes on the disk of a folder or an open file; -1 if it is read-only or missing."""
    try:
        disk = os.statvfs(place)
    except OSError:
        return _MISSING
    return _MISSING if disk.f_flag & os.ST_RDONLY else disk.f_bavail * disk.f_frsize


class Volumes:
    """Where the segments of a shard are: all in its own folder (`home`), or new ones on volumes, with links in `home`."""

    def __init__(self, home: Path, volumes: Iterable[str] = (), name: str = "") -> None:
        """`name` begins the names of the shard's folders on volumes, so that people recognise them."""
        self.home = home
        self._volumes = tuple(Path(volume).absolute() for volume in volumes)
        self._name = _UNUSUAL.sub("-", name)[-_MAX_NAME_CHARS:]
        self._note = _read_note(home)

    def begin(self, is_new: bool) -> None:
        """Prepare for new segments. A shard that `is_new` has committed nothing, so files in older folders are not its own."""
        if not self._volumes:
            return
        known = self._note.mounts if self._note else []
        mounts = {*known, *(str(volume) for volume in self._volumes if _is_mounted(volume))}
        if self._note is None or is_new:
            for folder in self.folders():
                with suppress(OSError):  # A folder that is not empty stays.
                    folder.rmdir()
            chance = secrets.token_hex(8)
            self._note = _write_note(self.home, f"{self._name}-{chance}" if self._name else chance, mounts)
        elif mounts != set(known):
            self._note = _write_note(self.home, self._note.folder, mounts)

    def owns(self, segment: Path) -> bool:
        """Whether a segment belongs to this shard; a file that it only links to may belong to another crawl."""
        if not segment.is_symlink():
            return True
        return self._note is not None and segment.readlink().parent.name == self._note.folder

    def takes(self, segment: Path) -> bool:
        """Whether a segment is in a folder for new ones, so that it may grow."""
        if not segment.is_symlink():
            return not self._volumes
        return segment.readlink().parent in self.folders()

    def folders(self) -> list[Path]:
        """Return the shard's folders on the volumes, existing or not."""
        return [volume / self._note.folder for volume in self._volumes] if self._note else []

    def place(self, name: str) -> Path:
        """Return the path for the file of a new segment. The link is created first, so that a kill leaves no file without one."""
        link = self.home / name
        if not self._volumes:
            return link
        room, volume = max((self._measure(volume), volume) for volume in self._volumes)
        if self._note is None or room == _MISSING:
            raise FileNotFoundError(errno.ENOENT, "no volume is there that can be written to", str(volume))
        folder = volume / self._note.folder
        if not folder.exists():
            folder.mkdir()
            sync_folder(volume)
        if link.is_symlink():
            # A failed attempt left this link.
            link.unlink()
        link.symlink_to(folder / name)
        return folder / name

    def delete(self, segment: Path) -> None:
        """Delete a segment, its file before its link, so that an interruption leaves no file without a link."""
        if segment.is_symlink() and self.owns(segment):
            file = segment.readlink()
            file.unlink(missing_ok=True)
            sync_folder(file.parent)
        segment.unlink()

    def check_links(self, segments: Iterable[Path]) -> None:
        """Raise OSError if a segment's disk is missing. A segment whose folder exists without the file is lost."""
        for segment in segments:
            if segment.is_symlink() and not segment.exists():
                file = segment.parent / segment.readlink()
                if not (self.owns(segment) and file.parent.is_dir()):
                    raise FileNotFoundError(errno.ENOENT, "the disk of a segment is not there", str(file))

    def find_full(self, least_bytes: int) -> list[str]:
        """List all volumes if each has less free space than this; else none."""
        rooms = {place: self._measure(place) for place in self._places}
        if any(room >= least_bytes for room in rooms.values()):
            return []
        return [f"{place}{' (missing or read-only)' if room == _MISSING else ''}" for place, room in rooms.items()]

    @property
    def free_bytes(self) -> int:
        """The free space on all disks for new segments."""
        disks: dict[int, int] = {}
        for place in self._places:
            if (room := self._measure(place)) != _MISSING:
                with suppress(OSError):
                    disks[place.stat().st_dev] = room
        return sum(disks.values())

    @property
    def _places(self) -> tuple[Path, ...]:
        return self._volumes or (self.home,)

    def _measure(self, place: Path) -> int:
        """Return the free space on a volume. A volume whose disk is no longer mounted has none: files written there would go to
        another disk, and be hidden when the right one is back."""
        was_mounted = self._note is not None and str(place) in self._note.mounts
        return measure_room(place) if not was_mounted or _is_mounted(place) else _MISSING


class _Note(msgspec.Struct, frozen=True):
    """The file `.volumes`."""

    version: int
    folder: str
    """The name of this shard's folder on each volume."""
    inode: int
    """The inode of this file."""
    mounts: list[str]
    """Volumes on which a disk has been mounted at a start of the shard."""


def _read_note(home: Path) -> _Note | None:
    """Read the note; None if there is none, or if it was copied from elsewhere."""
    try:
        with (home / _NOTE_NAME).open("rb") as file:
            note = msgspec.json.decode(file.read(), type=_Note)
            return note if note.inode == os.fstat(file.fileno()).st_ino else None
    except (FileNotFoundError, ValueError):
        return None


def _write_note(home: Path, folder: str, mounts: Iterable[str]) -> _Note:
    with replace_file(home / _NOTE_NAME) as file:
        note = _Note(1, folder, os.fstat(file.fileno()).st_ino, sorted(mounts))
        file.write(msgspec.json.encode(note) + b"\n")
    return note


def _is_mounted(volume: Path) -> bool:
    """Whether a folder is on another disk than its parent, directly or through a link."""
    try:
        return volume.stat().st_dev != volume.parent.stat().st_dev
    except OSError:
        return False
