"""Checks of the shards: whether the archive can be read, the frontier too, and whether they agree.

The quick checks open everything and compare lengths. The deep ones read every record and every row. Of each record that a row
refers to, its offset is kept in memory, so eight bytes a page, for one shard at a time.
"""

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fastwarc.stream_io import GzipReader
from fastwarc.warc import ArchiveIterator, WarcRecordType

from rdfspider.archive.log import read_outcomes
from rdfspider.archive.recovery import find_damages, has_sound_end
from rdfspider.archive.segments import COMMITTED_NAME, SegmentKind, kind_of, read_committed
from rdfspider.archive.warc_file import Damage
from rdfspider.codes import PREREQUISITE_REASONS
from rdfspider.config import Config
from rdfspider.crawl.folder import frontier_folder, shard_folder
from rdfspider.errors import UnreadableError, UsageError
from rdfspider.frontier.entries import UrlEntry, UrlState
from rdfspider.frontier.reader import FrontierReader
from rdfspider.frontier.store import TABLES, has_store, is_made, read_database
from rdfspider.repair.findings import Finding
from rdfspider.run import shard_archive

Offsets = Mapping[str, "array[int]"]
"""By segment: where records begin, in order."""
_NO_OFFSETS: "array[int]" = array("Q")
_DIGESTED = WarcRecordType.response
_BODIES = WarcRecordType.response | WarcRecordType.revisit


class ShardFolder(NamedTuple):
    """One shard of a crawl's folder."""

    folder: Path
    number: int
    config: Config

    @property
    def warc(self) -> Path:
        """The folder of its segments."""
        return shard_folder(self.folder, self.number) / "warc"

    @property
    def frontier(self) -> Path:
        """The folder of its frontier."""
        return frontier_folder(self.folder, self.number)

    def name(self, path: Path) -> str:
        """Name a file of the shard as people find it in the crawl's folder."""
        return str(path.relative_to(self.folder))

    def open_frontier(self) -> FrontierReader:
        """Open all tables of the frontier; UnreadableError if it is missing or damaged."""
        if not has_store(self.frontier):
            raise UnreadableError(f"{self.frontier} is missing")
        return FrontierReader(self.frontier, self.config, self.number, tables=TABLES, is_used=False)


def has_begun(shard: ShardFolder, run: Container[int]) -> bool:
    """Whether the shard has an archive or a frontier, or should have, because it has `run`. One that was ended while its frontier
    was made has nothing to lose."""
    return shard.number in run or any(shard.warc.glob("*.warc.gz")) or is_made(shard.frontier)


def check_shard(shard: ShardFolder, *, is_deep: bool) -> Iterator[Finding]:
    """Check the archive and the frontier of a shard that has begun, or should have."""
    published: dict[str, int] = {}
    is_listed = True
    try:
        published = read_committed(shard.warc)
    except UsageError as error:
        is_listed = False
        yield _find(shard, "lengths", shard.warc / COMMITTED_NAME, str(error))
    try:
        with shard.open_frontier() as frontier:
            lengths = read_lengths(frontier)
            yield from _compare_lengths(shard, published, lengths)
            yield from _check_segments(shard, lengths, is_deep=is_deep)
            if is_deep:
                read_database(shard.frontier)
            if is_deep and is_listed:
                # Without the list no record may be read.
                yield from _check_agreement(shard, frontier, lengths)
    except UnreadableError as error:
        yield _find(shard, "frontier", shard.frontier, str(error))
        yield from _check_segments(shard, published, is_deep=is_deep)


def has_seeds(shard: ShardFolder) -> bool:
    """Whether the frontier has URLs that a person gave; False if it cannot be read."""
    try:
        with shard.open_frontier() as frontier:
            return frontier.has_seeds()
    except UnreadableError:
        return False


def read_lengths(frontier: FrontierReader) -> dict[str, int]:
    """Return the lengths of the segments at the frontier's last commit."""
    return shard_archive.read_lengths(frontier.get_meta)


def list_matched(shard: ShardFolder, frontier: FrontierReader, lengths: Mapping[str, int]) -> Offsets:
    """Return where the whole records are to which the rows of their URLs refer; raise nothing for damage."""
    return _Agreement(shard, frontier, lengths).matched


def is_matched(matched: Offsets, segment: str, offset: int) -> bool:
    """Whether a record is among them."""
    offsets = matched.get(segment, _NO_OFFSETS)
    place = bisect_left(offsets, offset)
    return place < len(offsets) and offsets[place] == offset


def _find(shard: ShardFolder, code: str, path: Path, message: str, count: int = 1) -> Finding:
    return Finding(code, shard.name(path), message, count, shard.number)


def _compare_lengths(shard: ShardFolder, published: Mapping[str, int], lengths: Mapping[str, int]) -> Iterator[Finding]:
    """Compare what was published with what the frontier knows: it is published last, so it never says more."""
    later = [name for name, length in published.items() if length > lengths.get(name, 0)]
    if later:
        message = f"it knows less of {', '.join(sorted(later))} than was committed"
        yield _find(shard, "frontier-behind", shard.frontier, message, len(later))
    elif lengths and not published and not (shard.warc / COMMITTED_NAME).exists():
        yield _find(shard, "lengths", shard.warc / COMMITTED_NAME, "it is missing")


def _check_segments(shard: ShardFolder, lengths: Mapping[str, int], *, is_deep: bool) -> Iterator[Finding]:
    """Check whether the segments are there, have their lengths, and can be read."""
    for name, length in sorted(lengths.items()):
        path = shard.warc / name
        try:
            size = path.stat().st_size
        except OSError as error:
            yield _find(shard, "segments", path, str(error.strerror))
            continue
        if size < length:
            yield _find(shard, "segments", path, f"it has {size:,} of {length:,} bytes")
        if size > length:
            yield _find(shard, "tail", path, f"{size - length:,} bytes after the last commit")
        readable = min(size, length)
        if is_deep:
            damages = find_damages(path, readable)
            if size < length and damages and damages[-1][1] == readable:
                # The record at which it was cut.
                damages.pop()
            if damages:
                lost = sum(stop - start for start, stop in damages)
                message = f"{lost:,} of {length:,} bytes cannot be read"
                yield _find(shard, "records", path, message, len(damages))
        elif size >= length and not has_sound_end(path, length):
            yield _find(shard, "records", path, "its last record cannot be read")


def _check_agreement(shard: ShardFolder, frontier: FrontierReader, lengths: Mapping[str, int]) -> Iterator[Finding]:
    """Check that every row has its record, every record its row, and that the rows are as many as was counted."""
    agreement = _Agreement(shard, frontier, lengths)
    if agreement.unknown:
        first = f"the first is {agreement.first_unknown}"
        yield _find(shard, "unknown-records", shard.warc, first, agreement.unknown)
    states: Counter[str] = Counter()
    lost, first_lost = 0, ""
    for entry in frontier.iterate_urls():
        states[entry.state] += 1
        if _is_lost(entry, agreement.matched):
            lost += 1
            first_lost = first_lost or entry.url
    if lost:
        yield _find(shard, "lost-pages", shard.frontier, f"the first is {first_lost}", lost)
    counts = frontier.counts
    counted = {
        UrlState.SCHEDULED: counts.scheduled,
        UrlState.DONE: counts.done,
        UrlState.FAILED: counts.failed,
        UrlState.DISALLOWED: counts.disallowed,
    }
    if wrong := [state for state, count in counted.items() if states[state] != count]:
        told = ", ".join(f"{states[state]:,} {state} instead of {counted[state]:,}" for state in wrong)
        yield _find(shard, "counts", shard.frontier, told, len(wrong))


def _is_lost(entry: UrlEntry, matched: Offsets) -> bool:
    """Whether a URL should have a record and has none; one that is scheduled is fetched anyway, a trap has none."""
    if entry.state == UrlState.SCHEDULED:
        return False
    if entry.position is None:
        return entry.state != UrlState.DISALLOWED
    return not is_matched(matched, *entry.position)


class _Agreement:
    """Reads the whole archive of a shard, and looks up each of its URLs in the frontier."""

    def __init__(self, shard: ShardFolder, frontier: FrontierReader, lengths: Mapping[str, int]) -> None:
        self.matched: defaultdict[str, array[int]] = defaultdict(lambda: array("Q"))
        """Where the records are to which the rows of their URLs refer, and which are whole with their bodies."""
        self.unknown = 0
        """Records of URLs that have no row."""
        self.first_unknown = ""
        present = {name: length for name, length in lengths.items() if (shard.warc / name).exists()}
        bodies = {
            name: _list_bodies(shard.warc / name, length)
            for name, length in present.items()
            if kind_of(name) == SegmentKind.PAGES
        }
        for name, length in sorted(present.items()):
            if kind_of(name) == SegmentKind.FACTS:
                self._read(shard.warc / name, length, frontier, bodies)

    def _read(self, path: Path, length: int, frontier: FrontierReader, bodies: Offsets) -> None:
        length = min(length, path.stat().st_size)
        damages = find_damages(path, length)
        # After a kill, the frontier may know more than was published.
        for outcome in read_outcomes(path, "", 0, length, has_prerequisites=True, is_committed=True):
            if isinstance(outcome, Damage):
                continue
            entry = frontier.find(outcome.url)
            if entry is None:
                # A prerequisite is fetched again wherever it is needed.
                if outcome.reason in PREREQUISITE_REASONS:
                    continue
                self.unknown += 1
                self.first_unknown = self.first_unknown or outcome.url
                continue
            has_body = outcome.payload is None or is_matched(bodies, *outcome.payload)
            is_whole = not any(start < outcome.end and stop > outcome.offset for start, stop in damages)
            if has_body and is_whole and entry.position == (path.name, outcome.offset):
                self.matched[path.name].append(outcome.offset)


def _list_bodies(path: Path, length: int) -> "array[int]":
    """List where the responses and revisits of a segment begin that can be read and have the digest that they state."""
    found = array("Q")
    length = min(length, path.stat().st_size)
    position = 0
    damages = find_damages(path, length)
    with path.open("rb") as file:
        for start, stop in [*damages, (length, length)]:
            file.seek(position)
            reader = GzipReader(file)
            # The damage that follows ends the iteration.
            with suppress(OSError):
                for record in ArchiveIterator(reader, record_types=_BODIES, parse_http=True):
                    at = reader.frame_start_position() or 0
                    if at >= start:
                        break
                    if record.record_type != _DIGESTED or record.verify_payload_digest():
                        found.append(at)
            position = stop
    return found
