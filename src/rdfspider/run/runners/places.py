"""Shards in places of their own, which may be other disks or machines: what a shard needs of the crawl's folder enters its order,
a folder that looks like the crawl's to the shard leaves.

A shard in a place reads nothing of the coordinator's folder. The small files of the crawl travel with its order, later changes
with messages. In its place, the shard finds the newest state of itself by a file in that state's folder, whatever its name is.
"""

import errno
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rdfspider.config import Config
from rdfspider.crawl.folder import DOCUMENTS, SEEDS, SUFFIXES, identify_crawl
from rdfspider.disk import write_atomically
from rdfspider.errors import UsageError
from rdfspider.frontier.reader import read_generation
from rdfspider.linked_documents import FolderDocuments
from rdfspider.places.records import claim_folder, find_state

_GIVEN = "given-documents"
# Documents that a user gives are some files; a whole mirror of the web does not travel with an order.
_MAX_GIVEN_BYTES = 64 * 1024 * 1024


class Place(NamedTuple):
    """Where shards run."""

    host: str
    """The address at which they listen."""
    folder: Path
    """The folder in which each has its own."""


class Parcel(NamedTuple):
    """What a shard in a place needs of the crawl's folder."""

    crawl: str
    """The identity of the crawl."""
    place: str
    """Where the shard runs, ADDRESS=FOLDER."""
    name: str
    """What a new folder of the shard is called."""
    suffixes: bytes
    seeds: bytes
    documents: dict[str, bytes]
    """Contexts that the crawl has fetched, by file name."""
    given: dict[str, bytes]
    """The user's documents, by their paths in the user's folder."""


def read_places(texts: tuple[str, ...]) -> tuple[Place, ...]:
    """Read the setting `run.places`, whose entries are ADDRESS=FOLDER."""
    found = (text.partition("=") for text in texts)
    return tuple(Place(host.strip("[]"), Path(folder)) for host, _, folder in found)


def pack_files(folder: Path, config: Config, number: int, place: Place) -> Parcel:
    """Collect what a shard needs of the crawl's folder."""
    given = config.extract.documents
    return Parcel(
        crawl=identify_crawl(folder),
        place=f"{place.host}={place.folder}",
        name=f"{folder.absolute().name}-{number:03}",
        suffixes=(folder / SUFFIXES).read_bytes(),
        seeds=(folder / SEEDS).read_bytes() if (folder / SEEDS).exists() else b"",
        documents=_read_tree(folder / DOCUMENTS),
        given=_read_tree(given.folder, _MAX_GIVEN_BYTES) if isinstance(given, FolderDocuments) else {},
    )


def unpack_files(root: Path, parcel: Parcel, config: Config) -> Config:
    """Write the files of the crawl into a shard's own folder; return the settings, which name no folder of the coordinator's."""
    root.mkdir(parents=True, exist_ok=True)
    write_atomically(root / SUFFIXES, parcel.suffixes)
    write_atomically(root / SEEDS, parcel.seeds)
    for name, body in parcel.documents.items():
        _write_new(root / DOCUMENTS / name, body)
    for name, body in parcel.given.items():
        _write_new(root / _GIVEN / name, body)
    given = FolderDocuments(root / _GIVEN) if parcel.given else None
    return replace(config, extract=replace(config.extract, documents=given))


def enter_place(place: Path, parcel: Parcel, number: int, *, must_find: bool) -> Path:
    """Return the folder of a shard in a place: that of its newest state, or one that is nobody else's. Once the frontier is open,
    `mark_state` makes it the newest. FileNotFoundError if the shard `must_find` its state there, as it has run before, and there
    is none."""
    root = find_state(place, parcel.crawl, number, read_generation)
    if root is None and must_find:
        advice = f"shard {number} has run before, but its state is not there: mount its disk, or put a copy there"
        raise FileNotFoundError(errno.ENOENT, advice, str(place))
    return root or next(path for path in _list_names(place, parcel) if claim_folder(path, parcel.crawl, number))


def _list_names(place: Path, parcel: Parcel) -> Iterator[Path]:
    """What a new folder may be called: crawls whose folders have the same name may share a place."""
    yield place / parcel.name
    yield place / f"{parcel.name}-{parcel.crawl}"
    yield from (place / f"{parcel.name}-{parcel.crawl}-{number}" for number in itertools.count(2))


def _write_new(path: Path, body: bytes) -> None:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, body, durable=False)


def _read_tree(folder: Path, max_bytes: int | None = None) -> dict[str, bytes]:
    """Read all files below a folder, by their paths in it."""
    found: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(folder))] = body = path.read_bytes()
            total += len(body)
            if max_bytes is not None and total > max_bytes:
                raise UsageError(
                    f"{folder}: the documents for extraction are more than {max_bytes // 1_000_000:,} MB, too much to be sent "
                    "to shards in other places"
                )
    return found
