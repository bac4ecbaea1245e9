"""What a store knows of a member of a crawl: its epochs, and its manifests, of which the highest counts.

A life that begins makes the object of its epoch first and looks for manifests then; one that writes a manifest looks for later
epochs before and after that, and relies on it then. So of two lives that overlap, either the later one starts from the manifest,
or the earlier one learns that it is over, and tells nobody that anything is safe.
"""

import logging
import re
import secrets
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec import Struct

from rdfspider.backup.objects import Objects
from rdfspider.errors import AwayError, OtherVersionError, UnreadableError, UsageError

_log = logging.getLogger(__name__)

HEAD = "head"
"""The member with the crawl's small files."""
VERSION = 1
"""The version of the layout; manifests with another one are refused."""
_MANIFEST = re.compile(r"(\d+)-(\d+)\.json")
_EPOCH = re.compile(r"[0-9]{1,10}")
# Epochs are stored in 32 bits; the rest is room for those that come. Without a record they begin at the seconds since 1970.
_MAX_EPOCH = 2**32 - 2**24
_SHOWN_CHARS = 100
_SHARD = re.compile(r"shards/(\d+)/manifests/")

Cursor = tuple[int, int]
"""Epoch and number of an entry between two shards."""


class SupersededError(UsageError):
    """A later life of the member has begun, so this one must end."""


class OtherStoreError(AwayError):
    """What answers is not the store that was used before, as where a disk is not mounted."""


class StoredFile(Struct, frozen=True):
    """A file and its object."""

    size: int
    digest: str
    """SHA-256, in hexadecimal."""
    key: str


class StoredPart(Struct, frozen=True):
    """Some bytes of a segment and their object."""

    start: int
    end: int
    digest: str
    key: str


class Manifest(Struct, frozen=True):
    """The state of a member at one moment."""

    version: int
    member: str
    """`head`, or `shards/007`"""
    epoch: int
    number: int
    """Of the shipment in this epoch."""
    taken: float
    """When the state was taken, in seconds since 1970."""
    crawl: str = ""
    """The identity of the crawl; empty if it is not known."""
    generation: Cursor = (0, 0)
    """The epoch and the number of commits of a shard's frontier."""
    files: dict[str, StoredFile] = {}
    """By path in the member's folder."""
    segments: dict[str, tuple[StoredPart, ...]] = {}
    """By name; the parts of each, without gaps, up to the length that was committed."""
    inbox: dict[int, Cursor] = {}
    """How far the links of each other shard are part of this state."""

    @property
    def place(self) -> "Place":
        """By which manifests are ordered."""
        return Place(self.epoch, self.number)

    def is_of(self, crawl: str) -> bool:
        """Whether this may be the state of a crawl. It is not where another crawl still wrote when this one took the store."""
        return not (crawl and self.crawl) or crawl == self.crawl

    @property
    def lengths(self) -> dict[str, int]:
        """The length of each segment."""
        return {name: parts[-1].end for name, parts in self.segments.items() if parts}

    def list_objects(self) -> Iterator[tuple[str, int, str]]:
        """List the key, size and digest of each object."""
        for file in self.files.values():
            yield file.key, file.size, file.digest
        for parts in self.segments.values():
            for part in parts:
                yield part.key, part.end - part.start, part.digest


class Place(NamedTuple):
    """The order of manifests: later epochs, and in each later shipments, take the place of earlier ones."""

    epoch: int
    number: int


def name_shard(number: int) -> str:
    """Return the member of a shard."""
    return f"shards/{number:03}"


def list_members(objects: Objects) -> list[str]:
    """List the members that have a manifest; UsageError if there are none."""
    members = find_members(objects)
    if not members:
        raise UsageError(f"{objects.url}: there is no backup of a crawl")
    return members


def find_members(objects: Objects) -> list[str]:
    """List the members that have a manifest, if there are any."""
    shards = {found[0] for entry in objects.list("shards/") if (found := _SHARD.match(entry.key))}
    members = [prefix.removesuffix("/manifests/") for prefix in sorted(shards)]
    if list_places(objects, HEAD):
        members.insert(0, HEAD)
    return members


def list_places(objects: Objects, member: str) -> list[Place]:
    """List the manifests of a member, the newest last."""
    names = (entry.key.rpartition("/")[2] for entry in objects.list(f"{member}/manifests/"))
    return sorted(Place(int(found[1]), int(found[2])) for name in names if (found := _MANIFEST.fullmatch(name)))


def read_manifest(objects: Objects, member: str, place: Place) -> Manifest:
    """Read a manifest; UnreadableError if it is missing or damaged, OtherVersionError if it is of another version."""
    key = manifest_key(member, place)
    try:
        manifest = msgspec.json.decode(objects.read(key), type=Manifest)
    except msgspec.DecodeError as error:
        raise UnreadableError(f"{objects.url}: {key} is damaged ({error})") from error
    if manifest.version != VERSION:
        raise OtherVersionError(f"{objects.url}: {key} was made by another version of rdfspider")
    return manifest


def find_newest(objects: Objects, member: str) -> Manifest | None:
    """Read the manifest that counts; None if the member has none."""
    places = list_places(objects, member)
    return read_manifest(objects, member, places[-1]) if places else None


def write_manifest(objects: Objects, manifest: Manifest) -> None:
    """Write a manifest, whose objects are all there; SupersededError if another life has written it, or a later one has begun."""
    # A later life may have removed its objects, as those of an interrupted shipment.
    check_epoch(objects, manifest.member, manifest.epoch)
    key, body = manifest_key(manifest.member, manifest.place), msgspec.json.encode(manifest)
    # It may be there although the answer to the first attempt was lost.
    if not objects.create(key, body) and objects.read(key) != body:
        raise _tell_superseded(objects, manifest.member)
    check_epoch(objects, manifest.member, manifest.epoch)


def manifest_key(member: str, place: Place) -> str:
    """Return the key of a manifest."""
    return f"{member}/manifests/{place.epoch}-{place.number}.json"


def begin_epoch(objects: Objects, member: str, least: int) -> int:
    """Give a life an epoch that no other has or had, at least this one."""
    epoch = max([least - 1, *list_epochs(objects, member)]) + 1
    while not objects.create(f"{member}/epochs/{epoch}", b""):
        epoch += 1
    return epoch


def is_same_store(own: Objects, other: Objects) -> bool:
    """Whether two URLs lead to one store: what is written by one is found by the other. AwayError if one does not answer."""
    key = f"probes/{secrets.token_hex(16)}"
    other.create(key, b"")
    try:
        return own.measure(key) is not None
    finally:
        other.delete([key])


def note_epoch(objects: Objects, member: str, epoch: int) -> None:
    """Let the store know of an epoch that was given elsewhere, as while the store was away; SupersededError if there are later
    ones."""
    objects.create(f"{member}/epochs/{epoch}", b"")
    check_epoch(objects, member, epoch)


def check_epoch(objects: Objects, member: str, epoch: int) -> None:
    """Raise SupersededError if a life with a later epoch has begun, OtherStoreError if the store does not know this one."""
    epochs = list_epochs(objects, member)
    if max(epochs, default=0) > epoch:
        raise _tell_superseded(objects, member)
    if epoch not in epochs:
        raise OtherStoreError(f"{objects.url} knows nothing of epoch {epoch} of {member}; is a disk not mounted?")


def check_head(objects: Objects) -> None:
    """Raise OtherStoreError if the store does not know the crawl, whose head begins there before its shards."""
    if not list_epochs(objects, HEAD):
        raise OtherStoreError(f"{objects.url} knows nothing of the crawl; is a disk not mounted?")


def list_epochs(objects: Objects, member: str) -> list[int]:
    """List the epochs that were given to a member."""
    epochs = []
    for entry in objects.list(f"{member}/epochs/"):
        name = entry.key.rpartition("/")[2]
        if _EPOCH.fullmatch(name) and int(name) <= _MAX_EPOCH:
            epochs.append(int(name))
        else:
            _warn_of(objects.url, entry.key)
    return epochs


@lru_cache(maxsize=64)
def _warn_of(url: str, key: str) -> None:
    """Say once that a key is none of ours: epochs are listed every few seconds."""
    _log.warning("%s: %s is not the epoch of any life, and is ignored", url, key[:_SHOWN_CHARS])


def _tell_superseded(objects: Objects, member: str) -> SupersededError:
    return SupersededError(
        f"{objects.url} has a later life of {member}: the crawl goes on elsewhere, or another copy of it does; "
        "`rdfspider restore` gets the newest state"
    )
