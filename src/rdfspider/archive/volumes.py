"""Folders on several disks enter, the path of each new segment leaves: on the disk with most room, with a link beside the others.

On each volume a shard has a folder of its own, whose name ends with random characters; the file `.volumes` beside the links notes
it, and its own inode: a copy of a crawl has the same name on record, but in another file, and so it knows that the files are the
first crawl's, which it may read but never cut, lengthen or delete.
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
# Some disks take no other characters in names, and none more than 255 bytes.
_UNUSUAL = re.compile(r"[^\w.-]+")
_MAX_NAME_CHARS = 40
_MISSING = -1


def check_volumes(volumes: Iterable[str]) -> None:
    """UsageError where one is no folder that can be written to, or another name of one before it."""
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
    """Bytes that may still be written to the disk of a folder or an open file; -1 where it takes none or is missing."""
    try:
        disk = os.statvfs(place)
    except OSError:
        return _MISSING
    return _MISSING if disk.f_flag & os.ST_RDONLY else disk.f_bavail * disk.f_frsize


class Volumes:
    """Where the segments of a shard are: all in its own folder (`home`), or new ones on volumes and links to them at home."""

    def __init__(self, home: Path, volumes: Iterable[str] = (), name: str = "") -> None:
        """`name` is what people know the shard's folders on volumes by."""
        self.home = home
        self._volumes = tuple(Path(volume).absolute() for volume in volumes)
        self._name = _UNUSUAL.sub("-", name)[-_MAX_NAME_CHARS:]
        self._note = _read_note(home)

    def begin(self, is_new: bool) -> None:
        """Be ready to take segments. A shard that `is_new` has committed nothing: what older folders hold is not its own."""
        if not self._volumes:
            return
        known = self._note.mounts if self._note else []
        mounts = {*known, *(str(volume) for volume in self._volumes if _is_mounted(volume))}
        if self._note is None or is_new:
            for folder in self.folders():
                with suppress(OSError):  # One that is not empty is left to whoever wants what is in it.
                    folder.rmdir()
            chance = secrets.token_hex(8)
            self._note = _write_note(self.home, f"{self._name}-{chance}" if self._name else chance, mounts)
        elif mounts != set(known):
            self._note = _write_note(self.home, self._note.folder, mounts)

    def owns(self, segment: Path) -> bool:
        """Whether a segment at home is this shard's alone; what it is only linked to may be in use by others."""
        if not segment.is_symlink():
            return True
        return self._note is not None and segment.readlink().parent.name == self._note.folder

    def takes(self, segment: Path) -> bool:
        """Whether a segment is where new ones go, so that it may grow."""
        if not segment.is_symlink():
            return not self._volumes
        return segment.readlink().parent in self.folders()

    def folders(self) -> list[Path]:
        """The shard's folders on the volumes, made or not."""
        return [volume / self._note.folder for volume in self._volumes] if self._note else []

    def place(self, name: str) -> Path:
        """Where the file of a new segment is to be made. The link comes first: who is killed leaves no file without one."""
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
            # Of an attempt that failed.
            link.unlink()
        link.symlink_to(folder / name)
        return folder / name

    def delete(self, segment: Path) -> None:
        """Delete a segment; its file first, so that the link still leads to it if that is all that comes of it."""
        if segment.is_symlink() and self.owns(segment):
            file = segment.readlink()
            file.unlink(missing_ok=True)
            sync_folder(file.parent)
        segment.unlink()

    def check_links(self, segments: Iterable[Path]) -> None:
        """OSError where a segment's disk is missing. One whose folder is there, but not the file, is gone for good."""
        for segment in segments:
            if segment.is_symlink() and not segment.exists():
                file = segment.parent / segment.readlink()
                if not (self.owns(segment) and file.parent.is_dir()):
                    raise FileNotFoundError(errno.ENOENT, "the disk of a segment is not there", str(file))

    def find_full(self, least_bytes: int) -> list[str]:
        """The volumes, if each of them has less room than this; none where one has more."""
        rooms = {place: self._measure(place) for place in self._places}
        if any(room >= least_bytes for room in rooms.values()):
            return []
        return [f"{place}{' (missing or read-only)' if room == _MISSING else ''}" for place, room in rooms.items()]

    @property
    def free_bytes(self) -> int:
        """The room on all disks to which new segments may go."""
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
        """The room on a volume. Where a disk was mounted once and is not now, there is none: what is written there would go to
        another disk, and be hidden when the right one is back."""
        was_mounted = self._note is not None and str(place) in self._note.mounts
        return measure_room(place) if not was_mounted or _is_mounted(place) else _MISSING


class _Note(msgspec.Struct, frozen=True):
    """The file `.volumes`."""

    version: int
    folder: str
    """The name of this shard's folder on each volume."""
    inode: int
    """Of this file."""
    mounts: list[str]
    """Volumes on which a disk was mounted when they were used first."""


def _read_note(home: Path) -> _Note | None:
    """What was noted here; None where nothing was, or elsewhere."""
    try:
        with (home / _NOTE_NAME).open("rb") as file:
            note = msgspec.json.decode(file.read(), type=_Note)
            return note if note.inode == os.fstat(file.fileno()).st_ino else None
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _write_note(home: Path, folder: str, mounts: Iterable[str]) -> _Note:
    with replace_file(home / _NOTE_NAME) as file:
        note = _Note(1, folder, os.fstat(file.fileno()).st_ino, sorted(mounts))
        file.write(msgspec.json.encode(note) + b"\n")
    return note


def _is_mounted(volume: Path) -> bool:
    """Whether a folder is on another disk than the one that it is in, directly or by a link."""
    try:
        return volume.stat().st_dev != volume.parent.stat().st_dev
    except OSError:
        return False
