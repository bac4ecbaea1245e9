"""Whether a backup is complete: a store enters, what is missing or damaged leaves, by name. Nothing is written."""

import hashlib
from collections.abc import Iterator

from msgspec import Struct

from rdfspider.backup.manifests import HEAD, Place, list_members, list_places, manifest_key, read_manifest
from rdfspider.backup.objects import Objects
from rdfspider.errors import AwayError, UnreadableError


class BackupFault(Struct, frozen=True):
    """An object that is not what a manifest says."""

    member: str
    key: str
    message: str


class VerifiedBackup(Struct):
    """What was looked at."""

    members: int = 0
    manifests: int = 0
    objects: int = 0
    bytes: int = 0


def verify_backup(objects: Objects, seen: VerifiedBackup) -> Iterator[BackupFault]:
    """Read every object that a manifest names, and compare its digest; count in `seen` what is sound. A crawl may go on
    meanwhile."""
    members = list_members(objects)
    if HEAD not in members:
        yield BackupFault(HEAD, f"{HEAD}/manifests/", "the crawl's settings and seeds have no manifest")
    for member in members:
        seen.members += 1
        sound: set[tuple[str, int, str]] = set()
        for place in list_places(objects, member):
            seen.manifests += 1
            yield from _verify_manifest(objects, member, place, sound, seen)


def _verify_manifest(
    objects: Objects,
    member: str,
    place: Place,
    sound: set[tuple[str, int, str]],
    seen: VerifiedBackup,
) -> Iterator[BackupFault]:
    """Find what is wrong with a manifest, without what was found `sound` already."""
    try:
        manifest = read_manifest(objects, member, place)
    except AwayError:
        raise
    except UnreadableError as error:
        if _is_there(objects, member, place):
            yield BackupFault(member, manifest_key(member, place), _strip_url(objects, error))
        return
    for entry in manifest.list_objects():
        if entry in sound:
            continue
        key, size, digest = entry
        fault = _check_object(objects, key, size, digest)
        if not fault:
            sound.add(entry)
            seen.objects += 1
            seen.bytes += size
        elif _is_there(objects, member, place):
            yield BackupFault(member, key, fault)
        else:
            # The crawl goes on, and has replaced the manifest meanwhile.
            return


def _check_object(objects: Objects, key: str, size: int, digest: str) -> str:
    """Say what is wrong with an object; empty if nothing is."""
    found, count = hashlib.sha256(), 0
    try:
        for chunk in objects.stream(key):
            found.update(chunk)
            count += len(chunk)
    except AwayError:
        raise
    except UnreadableError:
        return "it is missing"
    if count != size:
        return f"it has {count:,} bytes instead of {size:,}"
    return "" if found.hexdigest() == digest else "its content has another digest than what was sent"


def _is_there(objects: Objects, member: str, place: Place) -> bool:
    return place in list_places(objects, member)


def _strip_url(objects: Objects, error: Exception) -> str:
    return str(error).removeprefix(f"{objects.url}: ")
