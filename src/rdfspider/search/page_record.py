"""A page's URL enters; its record leaves: the fetch, statements by syntax, problems, links, and the archived copy's place.

The index knows where the log has the page's outcome. A page of an imported file is extracted again.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from msgspec.structs import replace

from rdfspider.archive.log import read_outcome
from rdfspider.archive.metadata import list_fields
from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.reader import MAX_BODY_BYTES, Archived, read_capture
from rdfspider.archive.segments import parse_name
from rdfspider.archive.warc_file import Damage, WarcFile
from rdfspider.backup.records import read_record
from rdfspider.config import ExtractConfig
from rdfspider.errors import AwayError, UnreadableError, UsageError
from rdfspider.index.layout import IndexPaths, advise_rebuild
from rdfspider.index.ledger.reader import PageEntry, open_ledger
from rdfspider.index.log.foreign import read_foreign_outcome
from rdfspider.places.client import fetch_record
from rdfspider.places.records import read_place
from rdfspider.records import Capture, Problem
from rdfspider.urls import normalise_url
from rdfspider.vocabulary.terms import replace_surrogates

MAX_BYTES = 2_000_000
"""The limit for all statements of a page, and for its text."""
_EXTRACTION = ExtractConfig()
_UNWANTED = re.compile(r"\bno(?:archive|index)\b")
_SOURCE = re.compile(r"(\d+)/([^/]+)")


class Payload(NamedTuple):
    """Where the archive has the response with the page."""

    path: Path
    offset: int


@dataclass(frozen=True, slots=True)
class PageRecord:
    """The record of a page, from the fetch that gave its current statements."""

    entry: PageEntry
    outcome: Outcome
    """Facts of the fetch: `status`, `time`, `media_type`, `charset`, `digest`, `etag`, `redirected_from`, `duplicate`,
    `duplicate_of`, `canonical`, `body_bytes`, `verdict`, `reason` and more. Its statements and text are cut as here."""
    fields: Mapping[str, str]
    """All fields of the metadata record that occur once (`docs/archive.md`): `fetchTimeMs`, `http-version`, `robots` …"""
    statements: Mapping[str, str]
    """N-Quads by syntax."""
    is_cut: bool
    """Whether statements or text were cut."""
    payload: Payload | None
    """None if the archive has no copy, or robots directives forbid showing it."""

    @property
    def url(self) -> str:
        """Its URL."""
        return self.outcome.url

    @property
    def title(self) -> str:
        """Its title."""
        return self.outcome.title

    @property
    def text(self) -> str:
        """Its main text."""
        return self.outcome.text

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was repaired, dropped or cut when it was read."""
        return self.outcome.problems

    @property
    def outlinks(self) -> tuple[str, ...]:
        """The URLs that it links to."""
        return self.outcome.outlinks


def read_page(
    folder: Path, url: str, *, config: ExtractConfig | None = _EXTRACTION, max_bytes: int = MAX_BYTES
) -> PageRecord | None:
    """Read the record of a page; None if it is not indexed. Raise UnreadableError if the archive no longer has it.

    `config` is for pages of imported files, which are extracted again; that may take any time. With None they are not
    extracted, and raise UnreadableError.
    """
    entry = _find_entry(folder, url)
    return _read_entry(folder, entry, config, max_bytes) if entry else None


def read_pages(
    folder: Path, *, config: ExtractConfig | None = _EXTRACTION, max_bytes: int = MAX_BYTES
) -> Iterator[PageRecord]:
    """Read the records of all indexed pages; those that the archive no longer has are left out."""
    with open_ledger(IndexPaths(folder)) as ledger:
        for entry in ledger.list_pages():
            with suppress(UnreadableError):
                yield _read_entry(folder, entry, config, max_bytes)


def _read_entry(folder: Path, entry: PageEntry, config: ExtractConfig | None, max_bytes: int) -> PageRecord:
    path = _find_file(folder, entry.source)
    if path is None:
        raise UnreadableError(f"the index does not say where {entry.url} is archived: {advise_rebuild(folder)}")
    try:
        if entry.source == str(path):
            found = read_foreign_outcome(path, entry.url, entry.offset, config)
        else:
            found = read_outcome(path, entry.source, entry.offset, max_bytes + 1)
    except UsageError as error:
        raise UnreadableError(f"the archive of {entry.url} cannot be read: {error}") from error
    if isinstance(found, Damage):
        raise UnreadableError(f"{path} at {found.offset} cannot be read: {found.reason}")
    if found is None or found.url != entry.url:
        raise UnreadableError(f"{path} does not have {entry.url} at {entry.offset} any more: {advise_rebuild(folder)}")
    return _make_record(entry, found, path, max_bytes)


def read_copy(payload: Payload, limit: int = MAX_BODY_BYTES) -> Capture | None:
    """Read the archived response, with the body cut to `limit` bytes plus one if there are more; None if there is none.
    Raise UnreadableError if it cannot be read."""
    if not payload.path.exists() and (elsewhere := _fetch_elsewhere(payload)):
        with elsewhere as moved:
            return read_copy(moved, limit)
    with WarcFile(payload.path) as archive:
        if payload.offset >= archive.size:
            raise UnreadableError(f"{payload.path} ends before {payload.offset}, where the page should be")
        run = archive.read(payload.offset, payload.offset + 1, lambda record, at: read_capture(record, at, limit))
        found: Archived | Damage | None = next(run, None)
    if isinstance(found, Damage):
        raise UnreadableError(f"{payload.path} at {found.offset} cannot be read: {found.reason}")
    return found.capture if found else None


@contextmanager
def _lend_file(record: bytes) -> Iterator[Payload]:
    with NamedTemporaryFile(suffix=".warc.gz") as file:
        file.write(record)
        file.flush()
        yield Payload(Path(file.name), 0)


def _fetch_elsewhere(payload: Payload) -> AbstractContextManager[Payload] | None:
    """Return the response of a shard that keeps its bodies in another place, from there or from the backup; None if the shard is
    in no other place."""
    shard = payload.path.parent.parent
    if not shard.name.isdecimal():
        return None
    folder, number, segment = shard.parent.parent, int(shard.name), payload.path.name
    try:
        found = fetch_record(folder, number, segment, payload.offset, _read_generation)
        if isinstance(found, Path) and not found.exists():
            raise AwayError(f"{found} is missing")
    except AwayError as error:
        return _lend_file(_fetch_copy(folder, number, segment, payload.offset, error))
    if isinstance(found, bytes):
        return _lend_file(found)
    return nullcontext(Payload(found, payload.offset)) if found is not None else None


def _read_generation(frontier: Path) -> tuple[int, int]:
    # Imported here, because hardly ever there are copies of a shard in its place, and this needs the database.
    from rdfspider.frontier.reader import read_generation

    return read_generation(frontier)


def _fetch_copy(folder: Path, shard: int, segment: str, offset: int, error: AwayError) -> bytes:
    """Return a record from the backup of a shard whose place has not given it, for the reason in `error`."""
    place = read_place(folder, shard)
    if place is None or not place.backup:
        raise UnreadableError(f"{error}; the crawl has no backup") from error
    try:
        return read_record(place.backup, shard, segment, offset)
    except UsageError as other:
        raise UnreadableError(f"{error}; the backup does not have it, either: {other}") from other


def forbids_copy(directives: str) -> bool:
    """Return whether a page's robots directives, as the archive writes them, forbid showing a copy of it."""
    return bool(_UNWANTED.search(directives))


def _find_entry(folder: Path, url: str) -> PageEntry | None:
    url = replace_surrogates(url).strip()
    with open_ledger(IndexPaths(folder)) as ledger:
        for each in dict.fromkeys((url, normalise_url(url) or "")):
            if each and (entry := ledger.find_page(each)):
                return entry
    return None


def _find_file(folder: Path, source: str) -> Path | None:
    """Return the file of a key of `index.view.Cursors`."""
    if source.startswith("/"):
        return Path(source)
    found = _SOURCE.fullmatch(source)
    if found is None or parse_name(found[2]) is None:
        return None
    return folder / "shards" / found[1] / "warc" / found[2]


def _make_record(entry: PageEntry, outcome: Outcome, path: Path, max_bytes: int) -> PageRecord:
    statements: dict[str, str] = {}
    is_cut, room = False, max_bytes
    for syntax in sorted(outcome.statements):
        nquads = _cut(outcome.statements[syntax], room, "\n")
        is_cut |= nquads != outcome.statements[syntax]
        room -= len(nquads.encode("utf-8", "replace"))
        statements[syntax] = nquads
    text = _cut(outcome.text, max_bytes)
    fields = list_fields(outcome)
    if outcome.payload is not None and outcome.payload.segment == outcome.source:
        # Paths of imported files on this machine stay private.
        del fields["payload-at"]
    return PageRecord(
        entry,
        replace(outcome, statements=statements, text=text),
        fields,
        statements,
        is_cut or text != outcome.text,
        _find_payload(outcome, path),
    )


def _find_payload(outcome: Outcome, path: Path) -> Payload | None:
    payload = outcome.payload
    if payload is None or forbids_copy(outcome.directives):
        return None
    if payload.segment == str(path):
        return Payload(path, payload.offset)
    # Segments of pages and of facts are in the same folder.
    return Payload(path.parent / payload.segment, payload.offset) if parse_name(payload.segment) else None


def _cut(text: str, max_bytes: int, end: str = "") -> str:
    """Cut a text to `max_bytes`; with `end`, after the last `end` within them."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return text
    kept = data[: max(0, max_bytes)].decode("utf-8", "ignore")
    return kept[: kept.rfind(end) + 1] if end else kept
