"""Split sources into parts: ordered pieces of work of a few megabytes, each readable by one process.

A source is a file, a folder (with everything in it), a pattern, a WARC archive, a URL or `-`. A missing one is an error before
any work starts. Workers read the Pages of their parts themselves, so that pages are not sent between processes.
"""

import glob
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from rdfspider.archive.reader import Mark, is_archive, read_archive, read_file, split_archive
from rdfspider.archive.segments import is_committed_list
from rdfspider.archive.warc_file import Damage
from rdfspider.errors import UsageError
from rdfspider.records import Page
from rdfspider.urls import resolve_iri

PART_BYTES = 4 * 1024 * 1024
PART_FILES = 64
STDIN_URL = "file:///dev/stdin"

_STDIN = Path("-")
# WARC, gzip and Zstandard.
_ARCHIVE_STARTS = (b"WARC/", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, slots=True)
class PagePart:
    """A page that has already been read."""

    page: Page
    part_bytes: int


@dataclass(frozen=True, slots=True)
class FilesPart:
    """Files, each with the URL of its page."""

    files: tuple[tuple[str, str], ...]
    content_type: str | None
    part_bytes: int


@dataclass(frozen=True, slots=True)
class ArchivePart:
    """A range of an archive; `exact` if a record is known to begin at its start."""

    path: str
    start: int
    stop: int
    exact: bool

    @property
    def part_bytes(self) -> int:
        """The range's length."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class DamagedPart:
    """An archive that cannot be read."""

    damage: Damage
    part_bytes: int = 0


Part = PagePart | FilesPart | ArchivePart | DamagedPart


def plan_parts(
    sources: Sequence[str],
    *,
    base: str | None = None,
    content_type: str | None = None,
    limit: int,
    part_bytes: int = PART_BYTES,
    fetch: Callable[[str], Page] | None = None,
) -> list[Part]:
    """Return the parts of all sources in the given order; files in a folder are sorted by name.

    `base` is the URL of a single file, or the base of the relative paths of several; archives do not use it. `fetch` gets the
    page of a source that is a URL; without it, no URL is a source.
    """
    if sources.count("-") > 1:
        raise UsageError("stdin (-) can be read only once")
    try:
        found = [each for source in sources for each in _find_pages(source, fetch)]
        return _plan(found, base, content_type, limit, part_bytes)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def is_address(source: str) -> bool:
    """Return whether a source is a URL to be fetched; a file of such a name would be in a folder `https:`."""
    return source.lower().startswith(("http://", "https://"))


def _find_pages(source: str, fetch: Callable[[str], Page] | None) -> Iterator["_Place | PagePart"]:
    if fetch is not None and is_address(source):
        page = fetch(source)
        yield PagePart(page, len(page.body))
    else:
        yield from _find_files(source)


def _plan(
    found: Sequence["_Place | PagePart"], base: str | None, content_type: str | None, limit: int, part_bytes: int
) -> list[Part]:
    in_files = [place for place in found if isinstance(place, _Place)]
    naming = _Naming(base, _common_folder(in_files), alone=len(in_files) == 1)
    parts: list[Part] = []
    for kind, group in itertools.groupby(found, key=_kind_of):
        members = list(group)
        parts += [each for each in members if isinstance(each, PagePart)]
        places = [each for each in members if isinstance(each, _Place)]
        if kind == "files":
            parts += _files_parts(places, naming, content_type, part_bytes)
        elif kind == "stream":
            parts += [_read_stream(place, naming, content_type, limit) for place in places]
        else:
            for place in places:
                parts += _archive_parts(place, part_bytes)
    return parts


def read_part(part: Part, limit: int) -> Iterator[Page | Damage | Mark]:
    """Read the pages of a part; those of an archive are between two Marks."""
    match part:
        case PagePart():
            yield part.page
        case DamagedPart():
            yield part.damage
        case FilesPart():
            for path, url in part.files:
                yield read_file(Path(path), url, part.content_type, limit)
        case ArchivePart():
            yield from read_archive(Path(part.path), part.start, part.stop, exact=part.exact, limit=limit)


class _Place(NamedTuple):
    """A file, the folder it was found by, and whether the user named the file itself."""

    path: Path
    folder: Path
    named: bool = False


class _Naming(NamedTuple):
    """How files get their URLs: a single file gets the base; several get their paths from their common folder, relative to
    the base; without a base, files get file URLs.
    """

    base: str | None
    folder: Path
    alone: bool

    def url_of(self, place: _Place) -> str:
        """Return the URL of the page in a file."""
        if self.base is None:
            return STDIN_URL if place.path == _STDIN else place.path.absolute().as_uri()
        if self.alone or place.path == _STDIN:
            return self.base
        relative = quote(os.fsencode(place.path.absolute().relative_to(self.folder)))
        return resolve_iri(self.base, relative)


def _common_folder(places: Sequence[_Place]) -> Path:
    folders = [place.folder.absolute() for place in places if place.path != _STDIN]
    return Path(os.path.commonpath(folders)) if folders else Path()


def _find_files(source: str) -> Iterator[_Place]:
    """Find the files of a source."""
    path = Path(source)
    if source == "-":
        yield _Place(_STDIN, _STDIN.parent)
    elif not source:
        raise UsageError("a source has no name")
    elif path.is_dir():
        yield from _walk_folder(path)
    elif path.exists():
        if not os.access(path, os.R_OK):
            raise UsageError(f"{path}: it may not be read")
        yield _Place(path, path.parent, named=True)
    elif glob.has_magic(source):
        matches = glob.glob(source, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute patterns
        if not matches:
            raise UsageError(f"{source}: no file matches")
        for match in sorted(matches):
            if not Path(match).is_dir():
                yield _Place(Path(match), Path(match).parent)
            elif "**" not in source:
                yield from _walk_folder(Path(match))
    else:
        raise UsageError(f"{source}: no such file or folder")


def _walk_folder(folder: Path) -> Iterator[_Place]:
    """Yield all files below a folder by name, except hidden ones, those behind links to folders, and a crawl's own lists."""
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UsageError(f"{folder}: it may not be read")
    empty = True
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(current, name)
            if not name.startswith(".") and path.is_file() and not is_committed_list(path):
                empty = False
                yield _Place(path, folder)
    if empty:
        raise UsageError(f"{folder}: no files in it")


def _kind_of(found: "_Place | PagePart") -> str:
    """Return how a source becomes parts. A stream (a pipe, stdin) can be read only here, and only once."""
    if isinstance(found, PagePart):
        return "page"
    path = found.path
    if path == _STDIN or not path.is_file():
        return "stream"
    return "archive" if is_archive(path) else "files"


def _archive_parts(place: _Place, part_bytes: int) -> list[Part]:
    """Return the ranges of an archive. An invalid one is a usage error if the user named it, else it is reported as damage."""
    try:
        ranges = split_archive(place.path, part_bytes)
    except UsageError as error:
        if place.named:
            raise
        reason = str(error).removeprefix(f"{place.path}: ")
        return [DamagedPart(Damage(str(place.path), 0, reason))]
    return [ArchivePart(str(place.path), start, stop, exact=start == 0) for start, stop in ranges]


def _files_parts(
    places: Iterable[_Place], naming: _Naming, content_type: str | None, part_bytes: int
) -> Iterator[FilesPart]:
    """Group files into parts of about equal size."""
    group: list[tuple[str, str]] = []
    group_bytes = 0
    for place in places:
        group.append((str(place.path), naming.url_of(place)))
        group_bytes += place.path.stat().st_size
        if group_bytes >= part_bytes or len(group) >= PART_FILES:
            yield FilesPart(tuple(group), content_type, group_bytes)
            group, group_bytes = [], 0
    if group:
        yield FilesPart(tuple(group), content_type, group_bytes)


def _read_stream(place: _Place, naming: _Naming, content_type: str | None, limit: int) -> PagePart:
    if place.path == _STDIN:
        if sys.stdin is None:
            raise UsageError("stdin (-) is closed")
        body = sys.stdin.buffer.read(limit + 1)
    else:
        with place.path.open("rb") as stream:
            body = stream.read(limit + 1)
    if body.startswith(_ARCHIVE_STARTS):
        raise UsageError(f"{place.path}: archives and compressed pages are read from files; save it to one first")
    return PagePart(Page(naming.url_of(place), body, content_type), len(body))
