"""Brings the state of a member back to a disk: its newest Manifest enters, files as they were leave, each with its digest
checked. Of the manifests that are kept, the newest that is whole counts.

What is on the disk already and right is not fetched again, so that a restoration that was interrupted goes on where it was.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from rdfspider.archive.segments import write_committed
from rdfspider.backup.manifests import Cursor, Manifest, StoredFile, StoredPart, list_places, read_manifest
from rdfspider.backup.objects import Objects
from rdfspider.backup.shipment import read_range
from rdfspider.disk import replace_file, sync_folder
from rdfspider.errors import OtherVersionError, UnreadableError, UsageError

_log = logging.getLogger(__name__)

# Most of the time is spent waiting for the store.
_AT_ONCE = 4
# A running crawl replaces its manifests; one of them lasts for two shipments.
_TRIES = 5
_NOTHING: Mapping[str, str] = MappingProxyType({})
# Before the generation of any manifest.
_ANY: Cursor = (-1, -1)


class _ReplacedError(Exception):
    """The crawl goes on, and has replaced a manifest while it was read."""


def restore_member(
    objects: Objects,
    member: str,
    folder: Path,
    *,
    crawl: str = "",
    archive: str = "warc",
    renamed: Mapping[str, str] = _NOTHING,
    newer_than: Cursor = _ANY,
    on_begin: Callable[[], None] = lambda: None,
) -> Manifest | None:
    """Make a member's folder as its newest manifest says, files that are `renamed` under other paths; None if it has no manifest
    of this crawl, by its identity, with a generation `newer_than` this one. If that manifest lacks something, the one before it
    is taken, with a warning; UnreadableError if none is whole. `on_begin` is called before anything is fetched."""

    def restore(manifest: Manifest, problem: UnreadableError | None) -> None:
        if problem is None:
            on_begin()
        else:
            _log.warning("%s is restored to a state before its last one, which is not whole: %s", member, problem)
        _restore(objects, manifest, folder, archive, renamed)

    for _ in range(_TRIES):
        with suppress(_ReplacedError):
            return _restore_newest(objects, member, crawl, newer_than, restore)
    raise UsageError(f"{objects.url}: {member} changes too often to be restored")


def _restore_newest(
    objects: Objects,
    member: str,
    crawl: str,
    newer_than: Cursor,
    restore: Callable[[Manifest, UnreadableError | None], None],
) -> Manifest | None:
    problem: UnreadableError | None = None
    for place in reversed(list_places(objects, member)):
        try:
            manifest = read_manifest(objects, member, place)
            if not manifest.is_of(crawl):
                continue
            if manifest.generation <= newer_than:
                break
            restore(manifest, problem)
            return manifest
        except OtherVersionError:
            raise
        except UnreadableError as error:
            if place not in list_places(objects, member):
                raise _ReplacedError from error
            problem = problem or error
    if problem is not None:
        raise problem
    return None


def _restore_file(objects: Objects, stored: StoredFile, path: Path) -> None:
    """Bring one file back, if it is not there as it was; UnreadableError if its object is missing or damaged."""
    if path.is_file() and path.stat().st_size == stored.size and _digest(path, 0, stored.size) == stored.digest:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with replace_file(path) as file:
        for chunk in objects.stream(stored.key):
            digest.update(chunk)
            file.write(chunk)
        if digest.hexdigest() != stored.digest:
            raise _tell_damage(objects, stored.key)


def _restore(objects: Objects, manifest: Manifest, folder: Path, archive: str, renamed: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {renamed.get(name, name): stored for name, stored in manifest.files.items()}
    for name in (*files, *manifest.segments):
        _check_inside(name)
    _remove_others(folder, (*files, *(f"{archive}/{name}" for name in manifest.segments)))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        tasks = [pool.submit(_restore_file, objects, stored, folder / name) for name, stored in files.items()]
        tasks += [
            pool.submit(_restore_segment, objects, folder / archive / name, parts)
            for name, parts in manifest.segments.items()
        ]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if manifest.segments:
        write_committed(folder / archive, manifest.lengths)
        sync_folder(folder / archive)


def _restore_segment(objects: Objects, path: Path, parts: tuple[StoredPart, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        for part in parts:
            if size < part.end or _digest(path, part.start, part.end) != part.digest:
                _restore_part(objects, descriptor, part)
        os.ftruncate(descriptor, parts[-1].end)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _restore_part(objects: Objects, descriptor: int, part: StoredPart) -> None:
    digest = hashlib.sha256()
    position = part.start
    for chunk in objects.stream(part.key):
        digest.update(chunk)
        rest = memoryview(chunk)
        while rest:
            written = os.pwrite(descriptor, rest, position)
            position, rest = position + written, rest[written:]
    if digest.hexdigest() != part.digest:
        raise _tell_damage(objects, part.key)


def _remove_others(folder: Path, files: Collection[str]) -> None:
    """Remove files of an earlier attempt beside those that come, in the folders that are wholly restored: a database must not
    find files of another state."""
    for below in {Path(name).parent for name in files} - {Path()}:
        for path in (folder / below).glob("*"):
            if path.is_file() and str(path.relative_to(folder)) not in files:
                path.unlink()


def _check_inside(name: str) -> None:
    """Raise UnreadableError if a name leads elsewhere, as none of a manifest of ours does."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise UnreadableError(f"{name}: a manifest names a file outside of the crawl's folder")


def _digest(path: Path, start: int, end: int) -> str:
    digest = hashlib.sha256()
    for chunk in read_range(path, start, end):
        digest.update(chunk)
    return digest.hexdigest()


def _tell_damage(objects: Objects, key: str) -> UnreadableError:
    return UnreadableError(f"{objects.url}: {key} is damaged: it is not what was sent")
