"""Mends a crawl's folder: Findings enter, Steps leave that say what will be done; then they are done, in the order of the table.

What is replaced is set aside, never deleted. A shard is mended as a whole: damaged records are filled, its archive is cut back as
at every start, and pages whose records are lost are scheduled again; or its frontier is made again from the archive.
"""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from rdfspider.archive.filling import fill_ranges
from rdfspider.archive.recovery import find_damages
from rdfspider.archive.segments import COMMITTED_NAME, parse_name, read_committed, write_committed
from rdfspider.config import Config
from rdfspider.crawl import history
from rdfspider.crawl.folder import (
    SEEDS,
    SUFFIXES,
    hold_folder,
    is_seed,
    list_shards,
    load_domains,
    restore_settings,
    shard_folder,
)
from rdfspider.crawl.lives import find_identity, open_frontier
from rdfspider.crawl.messages import Beat, RunState
from rdfspider.crawl.settings import FILE
from rdfspider.crawl.status import FILE as STATUS
from rdfspider.crawl.status import Status, end_shards, forget_run, strip_beat, sum_beats, write_status
from rdfspider.disk import rename_durably, write_atomically
from rdfspider.domains import bundled_suffix_list
from rdfspider.errors import UnreadableError, UsageError
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.store import is_disk_error, is_made
from rdfspider.index.layout import IndexPaths
from rdfspider.places.records import read_place
from rdfspider.repair.findings import KINDS, Finding
from rdfspider.repair.folder_checks import hash_suffixes, load_settings, read_lines_left
from rdfspider.repair.frontier_restoration import restore_frontier
from rdfspider.repair.set_aside import SetAside
from rdfspider.repair.shard_checks import ShardFolder, is_matched, list_matched, read_lengths
from rdfspider.repair.verify import check_unused
from rdfspider.run.commits import ShardStore
from rdfspider.run.heartbeat import Condition, Meter, make_beat
from rdfspider.run.reindexing import rebuild_index, update_index
from rdfspider.ways import Way

_RESTORED = frozenset({"frontier", "frontier-behind", "unknown-records", "counts"})
_RECOVERED = frozenset({"records", "segments", "lengths", "tail", "lost-pages"})
_UPDATED = frozenset({"unread", "index-behind", "index-status"})
_LOST_END = "its status was made again, and how the last run ended is not known"


class Step(Struct, frozen=True):
    """What is done about findings of one kind at one place."""

    code: str
    where: str
    what: str
    """What will be done, in words; empty if a person has to decide."""
    message: str


def plan_mends(findings: Iterable[Finding]) -> list[Step]:
    """Plan a step for each finding, in the order in which they are mended."""
    order = list(KINDS)
    found = sorted(findings, key=lambda finding: (order.index(finding.code), finding.where))
    return [Step(each.code, each.where, each.kind.mend, each.message) for each in found]


def mend_crawl(folder: Path, findings: Sequence[Finding], tell: Callable[[str], None] = lambda line: None) -> Path:
    """Mend what can be mended, and return the folder with what was set aside. `tell` hears what was done. Raise UsageError if the
    crawl is in use, or cannot be mended without something that only a person can bring."""
    if stuck := next((finding for finding in findings if not finding.kind.mend), None):
        raise UsageError(f"{folder / stuck.where}: {stuck.message}")
    check_unused(folder)
    try:
        return _mend(folder, findings, tell)
    except Exception as error:
        if not is_disk_error(error):
            raise
        raise UsageError(
            f"{' '.join(str(error).split())[:300]}; make room, or let {folder} be writable, then run the same command again"
        ) from error


def _mend(folder: Path, findings: Sequence[Finding], tell: Callable[[str], None]) -> Path:
    aside = SetAside(folder)
    codes = {finding.code for finding in findings}
    _mend_folder(folder, codes, aside, tell)
    if "settings" in codes and codes & _RESTORED:
        raise UsageError(
            f"{folder / FILE} was made again with what was left of it, and the old one is in {aside.path}: look through it, "
            "then run the same command again; its scope and filters decide which links a new frontier follows"
        )
    # From here on the settings can be read.
    config = load_settings(folder)
    with hold_folder(folder, "doctor"):
        for number in list_shards(folder):
            own = {finding.code for finding in findings if finding.shard == number}
            if own:
                _mend_shard(ShardFolder(folder, number, config), own, aside, tell)
        if "seeds" in codes:
            _mend_seeds(folder, config, aside, tell)
        if "status" in codes or codes & (_RESTORED | _RECOVERED):
            _mend_status(folder, config, aside, tell)
        if "history" in codes:
            aside.move(folder / history.FILE)
        _mend_index(folder, config, codes, aside, tell)
    return aside.path


def _mend_folder(folder: Path, codes: set[str], aside: SetAside, tell: Callable[[str], None]) -> None:
    """Mend the suffix list, then the settings, which name its digest."""
    if "suffixes" in codes:
        aside.keep(folder / SUFFIXES)
        write_atomically(folder / SUFFIXES, bundled_suffix_list())
        tell(f"{SUFFIXES}: put back")
    if "settings" in codes:
        left = read_lines_left(folder / FILE)
        made = _find_oldest(folder)
        aside.keep(folder / FILE)
        kept = restore_settings(
            folder, left, len(list_shards(folder)), hash_suffixes(folder), made, _find_identity(folder)
        )
        tell(f"{FILE}: made again with {kept} of the settings that were in it; look through it before you crawl")


def _find_identity(folder: Path) -> str:
    """Whose crawl it is, as its shards in places or its last run tell: its backup and its places know it by that."""
    places = (read_place(folder, number) for number in list_shards(folder))
    return next((place.crawl for place in places if place is not None), "") or find_identity(folder)


def _find_oldest(folder: Path) -> datetime:
    """When the crawl was made, as far as its files tell."""
    return datetime.fromtimestamp(min(path.stat().st_mtime for path in folder.iterdir()), UTC)


def _mend_seeds(folder: Path, config: Config, aside: SetAside, tell: Callable[[str], None]) -> None:
    """Make the list of seeds again from its sound lines, and from the frontiers."""
    path = folder / SEEDS
    # In normal form a URL is ASCII.
    lines = path.read_bytes().split() if path.exists() else []
    seeds = dict.fromkeys(url for url in (line.decode() for line in lines if line.isascii()) if is_seed(url))
    for shard in (ShardFolder(folder, number, config) for number in list_shards(folder)):
        if not is_made(shard.frontier):
            continue
        with shard.open_frontier() as frontier:
            entries = (entry for entry in frontier.iterate_urls() if entry.found_as == Way.SEED and not entry.chain)
            seeds.update(dict.fromkeys(entry.url for entry in entries))
    aside.keep(path)
    write_atomically(path, "".join(f"{seed}\n" for seed in seeds).encode())
    tell(f"{SEEDS}: {len(seeds):,} seeds")


def _mend_shard(shard: ShardFolder, codes: set[str], aside: SetAside, tell: Callable[[str], None]) -> None:
    if codes & _RESTORED:
        _set_lengths(shard, aside)
        lengths = read_committed(shard.warc)
        new = shard.frontier.with_name("frontier.new")
        shutil.rmtree(new, ignore_errors=True)
        known = restore_frontier(shard, lengths, new)
        aside.move(shard.frontier)
        rename_durably(new, shard.frontier)
        _fill_segments(shard, lengths, aside)
        tell(f"{shard.name(shard.frontier)}: made again with {known:,} URLs")
        _recover(shard)
        return
    with shard.open_frontier() as reader:
        lengths = read_lengths(reader)
        if "lengths" in codes:
            aside.keep(shard.warc / COMMITTED_NAME)
            write_committed(shard.warc, lengths)
        matched = list_matched(shard, reader, lengths)
    # Filling hides what is lost, so the frontier must know it first, whatever ends this.
    with closing(_open(shard)) as frontier:
        lost = frontier.restarts.reschedule_lost(lambda segment, offset: not is_matched(matched, segment, offset))
    _fill_segments(shard, lengths, aside)
    for name, length in lengths.items():
        if (shard.warc / name).stat().st_size > length:
            aside.copy(shard.warc / name)
    _recover(shard)
    tell(f"{shard.name(shard.warc)}: {lost:,} pages are scheduled again")


def _set_lengths(shard: ShardFolder, aside: SetAside) -> None:
    """If the list of readable lengths is lost, let it say how far each segment can be read: damage in the middle is filled, and
    what is after the last sound record was never committed, or is lost."""
    try:
        if read_committed(shard.warc):
            return
    except UsageError:
        aside.keep(shard.warc / COMMITTED_NAME)
    paths = [path for path in shard.warc.glob("*.warc.gz") if parse_name(path.name)]
    lengths = {path.name: _find_sound_end(path, path.stat().st_size) for path in paths}
    if shard.warc.is_dir():
        write_committed(shard.warc, {name: length for name, length in lengths.items() if length})


def _find_sound_end(path: Path, size: int) -> int:
    damages = find_damages(path, size)
    return damages[-1][0] if damages and damages[-1][1] == size else size


def _fill_segments(shard: ShardFolder, lengths: Mapping[str, int], aside: SetAside) -> None:
    """Put filling in the place of what cannot be read or is missing: each segment has its length then, and all positions hold."""
    for name, length in lengths.items():
        path = shard.warc / name
        if path.is_symlink() and not path.resolve().parent.is_dir():
            raise UsageError(f"the disk of {path.resolve()} is not there: mount it first")
        size = path.stat().st_size if path.exists() else 0
        damages = find_damages(path, min(length, size))
        if size < length:
            start = damages.pop()[0] if damages and damages[-1][1] == size else size
            damages.append((start, length))
        if damages:
            # Whatever ends this, the segment is the old one or the new one.
            filled = path.resolve().with_name(f"{path.name}.filled")
            fill_ranges(path, filled, damages)
            aside.keep(path)
            filled.replace(path.resolve())


def _recover(shard: ShardFolder) -> None:
    """Open the shard as a crawl does, which cuts its archive back to the last commit."""
    with closing(_open(shard)) as frontier:
        store = _open_store(shard, frontier)
        asyncio.run(store.store_counts())
        store.close()


def _open(shard: ShardFolder) -> Frontier:
    domains = load_domains(shard.folder, shard.config.crawl.shards)
    return open_frontier(shard.folder, shard.number, shard.config, domains)


def _open_store(shard: ShardFolder, frontier: Frontier) -> ShardStore:
    place = shard_folder(shard.folder, shard.number)
    return ShardStore(shard.number, place, shard.config, frontier, Meter())


def _mend_status(folder: Path, config: Config, aside: SetAside, tell: Callable[[str], None]) -> None:
    """Make the status again from the frontiers."""
    beats: list[Beat] = []
    for number in list_shards(folder):
        shard = ShardFolder(folder, number, config)
        with closing(_open(shard)) as frontier:
            store = _open_store(shard, frontier)
            condition = Condition(RunState.STOPPED, archive_bytes=store.archive_bytes)
            beats.append(forget_run(make_beat(number, frontier, Meter(), store.data_counts, condition)))
            store.close()
    aside.keep(folder / STATUS)
    totals, now = sum_beats(beats), time.time()
    status = Status(
        state=RunState.STOPPED,
        reason=_LOST_END,
        updated=now,
        totals=totals,
        shards=tuple(map(strip_beat, beats)),
    )
    write_status(folder, end_shards(status))
    tell(f"{STATUS}: {totals.pages:,} pages, {totals.scheduled:,} URLs to fetch")


def _mend_index(folder: Path, config: Config, codes: set[str], aside: SetAside, tell: Callable[[str], None]) -> None:
    paths = IndexPaths(folder)
    if "unread" in codes:
        aside.move(paths.unreadable)
    if "index" in codes:
        status = rebuild_index(folder, config, set_aside=aside.move)
    elif codes & _UPDATED:
        status = update_index(folder, config)
    else:
        return
    if status.incomplete:
        raise UnreadableError(f"{paths.index} is not complete: {status.incomplete}")
    tell(f"{paths.index.name}: {status.pages:,} pages, {status.quads:,} quads")
