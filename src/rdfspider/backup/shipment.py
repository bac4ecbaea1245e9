"""Sends the state of a member to the store: a Snapshot enters, a Manifest leaves, and only what the store lacks is sent.

Files of RocksDB never change, except for a few short ones; segments only grow. A segment is sent in parts, which are joined as
they become many: a part is sent again together with newer bytes of at least its length, so that each byte is sent a few times
at most and a manifest stays short.
"""

import hashlib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rdfspider.backup.manifests import (
    VERSION,
    Cursor,
    Manifest,
    OtherStoreError,
    StoredFile,
    StoredPart,
    SupersededError,
    begin_epoch,
    check_epoch,
    find_newest,
    list_places,
    manifest_key,
    note_epoch,
    read_manifest,
    write_manifest,
)
from rdfspider.backup.objects import Objects
from rdfspider.backup.pace import Pace
from rdfspider.errors import OtherVersionError, UnreadableError

_log = logging.getLogger(__name__)

# A part of a segment, at most: it is read into a few pieces, and sent again if the store fails meanwhile.
PART_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024
# Manifests that are kept: whoever restores the last one may still read it when the next is written.
_KEPT_MANIFESTS = 2
_IMMUTABLE = (".sst",)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state that does not change while it is sent."""

    taken: float
    """In seconds since 1970."""
    generation: Cursor = (0, 0)
    files: Mapping[str, Path] = field(default_factory=dict)
    """By the path in the member's folder."""
    archive: Path | None = None
    """The folder of the segments."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """How far each segment is part of this state."""
    inbox: Mapping[int, Cursor] = field(default_factory=dict)
    pause_s: float = 0.0
    """For how long commits have waited for it."""


class Shipper:
    """Sends the states of one life of a member."""

    def __init__(self, objects: Objects, member: str, epoch: int, pace: Pace | None = None, *, crawl: str = "") -> None:
        """`crawl` is the identity of the crawl."""
        self._objects = objects
        self._member = member
        self._epoch = epoch
        self._crawl = crawl
        self._pace = pace or Pace()
        self._kept: list[Manifest] | None = None
        """The newest manifests, the newest last; None before the first shipment."""
        self._is_noted = False
        """Whether the store has known the epoch."""
        self._number = 0
        self._known: dict[tuple[str, int], str] = {}
        """The keys of objects that are in the store, by digest and size."""
        self._sent: dict[tuple[str, int, int], StoredFile] = {}
        """Files that need not be read again, by name, inode and size."""
        self._parts: dict[str, tuple[StoredPart, ...]] = {}
        """The parts of each segment that are in the store."""
        self._checked: set[str] = set()
        """The segments of which this life has sent something, or seen that they are those of the store."""
        self._loose: set[str] = set()
        """Keys that were sent, or named by manifests that are gone, and may be named by none."""
        self.sent_bytes = 0
        """In all shipments."""

    def ship(self, snapshot: Snapshot) -> Manifest:
        """Send what is new, then the manifest, and remove what no manifest needs any more. AwayError if the store does not
        answer: the next call goes on with what has arrived. SupersededError if a later life has begun."""
        self._pace.begin()
        try:
            return self._ship(snapshot)
        except OtherStoreError:
            # What was sent meanwhile may be there instead.
            self._forget()
            raise

    def _ship(self, snapshot: Snapshot) -> Manifest:
        if self._is_noted:
            # Before anything is sent: a folder where nothing is mounted takes everything.
            check_epoch(self._objects, self._member, self._epoch)
        if self._kept is None:
            self._kept = self._begin()
        self._number += 1
        files = {name: self._send_file(name, path) for name, path in snapshot.files.items()}
        segments = {
            name: self._send_segment(snapshot.archive / name, length)
            for name, length in snapshot.lengths.items()
            if snapshot.archive is not None and length
        }
        manifest = Manifest(
            version=VERSION,
            member=self._member,
            epoch=self._epoch,
            number=self._number,
            taken=snapshot.taken,
            crawl=self._crawl,
            generation=snapshot.generation,
            files=files,
            segments=segments,
            inbox=dict(snapshot.inbox),
        )
        write_manifest(self._objects, manifest)
        self._remove_old(manifest)
        return manifest

    def _begin(self) -> list[Manifest]:
        """Learn what the store has; remove what an interrupted shipment left there."""
        objects, member = self._objects, self._member
        if not self._is_noted:
            note_epoch(objects, member, self._epoch)
            self._is_noted = True
        places = list_places(objects, member)
        self._number = max((place.number for place in places if place.epoch == self._epoch), default=0)
        kept, is_sound = [], True
        for place in places[-_KEPT_MANIFESTS:]:
            try:
                kept.append(read_manifest(objects, member, place))
            except OtherVersionError:
                raise
            except UnreadableError as error:
                _log.warning("%s", error)
                is_sound = False
        needed = {manifest_key(member, manifest.place) for manifest in kept}
        for manifest in kept:
            needed.update(key for key, _, _ in manifest.list_objects())
        kinds = (f"{member}/{kind}/" for kind in ("manifests", "files", "segments"))
        found = {entry.key: entry.size for kind in kinds for entry in objects.list(kind)}
        # Between two lives nobody sends, unless this one is over already.
        check_epoch(objects, member, self._epoch)
        # What a damaged manifest names is not known, and may be all that there is.
        objects.delete(found.keys() - needed if is_sound else ())
        if kept:
            self._learn(kept[-1], found)
        return kept

    def _forget(self) -> None:
        self._kept = None
        for known in (self._known, self._sent, self._parts, self._checked):
            known.clear()

    def _learn(self, newest: Manifest, found: Mapping[str, int]) -> None:
        """Take over what is in the store with its right size; the rest is sent again."""
        for key, size, digest in newest.list_objects():
            if found.get(key) == size:
                self._known[digest, size] = key
        for name, parts in newest.segments.items():
            whole = next(
                (n for n, part in enumerate(parts) if found.get(part.key) != part.end - part.start), len(parts)
            )
            self._parts[name] = parts[:whole]

    def _send_file(self, name: str, path: Path) -> StoredFile:
        status = path.stat()
        identity = (name, status.st_ino, status.st_size)
        if name.endswith(_IMMUTABLE) and identity in self._sent:
            return self._sent[identity]
        size = status.st_size
        digest = ""
        if any(size == known for _, known in self._known):
            digest = self._digest(path, 0, size)
        key = self._known.get((digest, size))
        if key is None:
            key = f"{self._member}/files/{self._epoch}-{self._number}/{name}"
            digest = self._send(key, path, 0, size)
        stored = StoredFile(size, digest, key)
        if name.endswith(_IMMUTABLE):
            self._sent[identity] = stored
        return stored

    def _send_segment(self, path: Path, length: int) -> tuple[StoredPart, ...]:
        known = self._parts.get(path.name, ())
        if known and path.name not in self._checked and not self._has_part(path, known[-1]):
            known = ()
        self._checked.add(path.name)
        parts, ranges = plan_parts(known, length)
        for start, end in ranges:
            key = f"{self._member}/segments/{self._epoch}-{self._number}/{path.name}.{start}-{end}"
            parts = (*parts, StoredPart(start, end, self._send(key, path, start, end), key))
        self._parts[path.name] = parts
        return parts

    def _has_part(self, path: Path, part: StoredPart) -> bool:
        """Whether a segment on disk goes on where the store ends: another copy of the crawl may have another one of that name."""
        return path.stat().st_size >= part.end and self._digest(path, part.start, part.end) == part.digest

    def _send(self, key: str, path: Path, start: int, end: int) -> str:
        """Send bytes of a file; return their digest."""
        digest = hashlib.sha256()
        self._loose.add(key)
        self._objects.put(key, self._read(path, start, end, digest))
        self._known[digest.hexdigest(), end - start] = key
        self.sent_bytes += end - start
        return digest.hexdigest()

    def _digest(self, path: Path, start: int, end: int) -> str:
        digest = hashlib.sha256()
        for _ in self._read(path, start, end, digest):
            pass
        return digest.hexdigest()

    def _read(self, path: Path, start: int, end: int, digest: "hashlib._Hash") -> Iterator[bytes]:
        for chunk in read_range(path, start, end):
            digest.update(chunk)
            yield chunk
            self._pace.wait(len(chunk))

    def _remove_old(self, newest: Manifest) -> None:
        """Remove manifests beyond those that are kept, and objects that only they name."""
        assert self._kept is not None
        self._kept.append(newest)
        old, self._kept = self._kept[:-_KEPT_MANIFESTS], self._kept[-_KEPT_MANIFESTS:]
        needed = {key for manifest in self._kept for key, _, _ in manifest.list_objects()}
        self._loose.update(key for manifest in old for key, _, _ in manifest.list_objects())
        kept = {manifest.place for manifest in self._kept}
        # A later life may have begun since the manifest was written; what it writes is not for this one to remove.
        places = (place for place in list_places(self._objects, self._member) if place < newest.place)
        stray = {manifest_key(self._member, place) for place in places if place not in kept}
        self._known = {known: key for known, key in self._known.items() if key in needed}
        self._sent = {
            identity: stored
            for identity, stored in self._sent.items()
            if identity[0] in newest.files and stored.key in needed
        }
        self._parts = {name: parts for name, parts in self._parts.items() if name in newest.segments}
        # Manifests first: none may name what is gone.
        self._objects.delete(stray)
        self._objects.delete(self._loose - needed)
        self._loose.clear()


def begin_shipper(
    objects: Objects, member: str, generation: Cursor, pace: Pace | None = None, *, crawl: str = ""
) -> Shipper:
    """The shipper of a life to which the store gives an epoch; SupersededError if the store has a later state than this."""
    newest = find_newest(objects, member)
    if newest is not None and newest.is_of(crawl) and newest.generation > generation:
        raise SupersededError(f"{objects.url} has a later state of {member}; restore it to go on from there")
    return Shipper(objects, member, begin_epoch(objects, member, max(generation[0], 1)), pace, crawl=crawl)


def plan_parts(parts: tuple[StoredPart, ...], length: int) -> tuple[tuple[StoredPart, ...], list[tuple[int, int]]]:
    """Choose which parts of a segment of this length are kept, and which ranges are sent after them."""
    kept = [part for part in parts if part.end <= length]
    start = kept[-1].end if kept else 0
    if start == length:
        return tuple(kept), []
    while kept and kept[-1].end - kept[-1].start <= length - start and length - kept[-1].start <= PART_BYTES:
        start = kept.pop().start
    return tuple(kept), [(begin, min(begin + PART_BYTES, length)) for begin in range(start, length, PART_BYTES)]


def read_range(path: Path, start: int, end: int) -> Iterator[bytes]:
    """Read bytes of a file in chunks; OSError if it is shorter."""
    with path.open("rb") as file:
        file.seek(start)
        while start < end:
            chunk = file.read(min(_CHUNK_BYTES, end - start))
            if not chunk:
                raise OSError(f"{path} ends at byte {start}, before byte {end}")
            start += len(chunk)
            yield chunk
