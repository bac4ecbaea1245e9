"""The lives of shards and of the head: each process that opens a frontier for writing, and each run of the coordinator, gets an
epoch of its own, one higher each time.

A small file for each shard, `lives/007.json` in the crawl's folder, says which epoch was given last, and what was heard of the
shard since. It is written before the frontier is opened, and lies outside the shard's folder: a folder that is put back to an
older copy, or lost, never gets an epoch that others know already, and is recognised as what it is. It also says whether the shard
has ever run, so that one whose disk is missing does not begin anew, whatever else is lost. `lives/head.json` is the same for the
coordinator, and has the crawl's identity.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from rdfspider.config import Config
from rdfspider.crawl.folder import RESTORED, frontier_folder, identify_crawl, shard_folder
from rdfspider.crawl.messages import Beat
from rdfspider.disk import write_atomically
from rdfspider.domains import Domains
from rdfspider.frontier.entries import NOTHING_HEARD, LastHeard, StaleLifeError
from rdfspider.frontier.frontier import Frontier

FOLDER, _HEAD = "lives", "head"
# How far to go beyond an epoch that was refused although it is as high as the clock.
_LEAP = 1 << 20
_MOST_COMMITS = 1 << 53


class Life(NamedTuple):
    """What a process needs to open a shard's frontier."""

    epoch: int
    heard: LastHeard = NOTHING_HEARD
    """What was last heard of the shard's earlier lives."""


class _Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of a file."""

    epoch: int
    heard: LastHeard = NOTHING_HEARD
    home: str = ""
    """Where the head has run."""
    has_run: bool = False
    """Whether the shard was ever heard."""
    crawl: str = ""
    """The identity of the head's crawl."""


class HeadLife(NamedTuple):
    """One run of the coordinator."""

    epoch: int
    is_elsewhere: bool
    """Whether the last one was, or may have been, in another folder or on another machine; it may still run."""
    is_first: bool = False
    """Whether none is known to have been before."""


def begin_life(
    folder: Path,
    shard: int,
    last: Beat | None = None,
    *,
    is_refused: bool = False,
    claim: Callable[[int], int] = lambda least: least,
) -> Life:
    """Give the next epoch to a shard, durably. `last` is the last beat that is known of it. If the frontier `is_refused` to take
    the epoch that was given last, the record was lost, and the new one leaves all earlier ones behind. `claim` may give a
    higher epoch than the one that it gets, as the store of a backup does."""
    record = _read(folder, f"{shard:03}")
    heard = record.heard if record else NOTHING_HEARD
    if last is not None:
        heard = heard.merge(LastHeard(last.generation, *last.numbered))
    is_lost = record is None and (last is not None or frontier_folder(folder, shard).exists())
    epoch = claim(_find_next(record, is_lost=is_lost or is_refused))
    if is_lost:
        # How many there were is not known. If the shard's folder is lost, too, its segments begin where none can have been.
        heard = heard.merge(LastHeard(lives=int(time.time()) // 60))
    mark = shard_folder(folder, shard) / RESTORED
    if mark.exists():
        heard = heard.merge(lost_before(epoch))
    heard = msgspec.structs.replace(heard, lives=heard.lives + 1)
    is_known = last is not None or (record is not None and record.has_run)
    _write(folder, f"{shard:03}", _Record(epoch, heard, has_run=is_known))
    mark.unlink(missing_ok=True)
    return Life(epoch, heard)


def note_run(folder: Path, shard: int) -> None:
    """Note that a shard has run, durably. Only while none of its lives begins."""
    record = _read(folder, f"{shard:03}")
    if record is not None and not record.has_run:
        _write(folder, f"{shard:03}", msgspec.structs.replace(record, has_run=True))


def has_run(folder: Path, shard: int) -> bool:
    """Whether a shard has run before, so that it has a state somewhere, as far as its lives tell."""
    record = _read(folder, f"{shard:03}")
    return record is not None and (record.has_run or record.heard.generation > NOTHING_HEARD.generation)


def find_identity(folder: Path) -> str:
    """Return the identity of the crawl that has run in a folder, as far as its head's record tells; empty if it does not."""
    record = _read(folder, _HEAD)
    return record.crawl if record else ""


def begin_head(folder: Path, home: str, claim: Callable[[int], int] = lambda least: least) -> HeadLife:
    """Give the next epoch to the coordinator, durably. `home` names where it runs."""
    record = _read(folder, _HEAD)
    is_lost = record is None and (folder / FOLDER).exists()
    least = _find_next(record, is_lost=is_lost)
    epoch = claim(least)
    _write(folder, _HEAD, _Record(epoch, home=home, crawl=identify_crawl(folder)))
    # A higher epoch than the next one here means that others were given elsewhere since.
    is_elsewhere = is_lost or epoch > least or (record is not None and record.home != home)
    return HeadLife(epoch, is_elsewhere, is_first=record is None and not is_elsewhere)


def lost_before(epoch: int) -> LastHeard:
    """What must be taken for heard of a shard that was restored: whatever its copy says, more may have been before this epoch."""
    return LastHeard((epoch - 1, _MOST_COMMITS))


def open_frontier(folder: Path, shard: int, config: Config, domains: Domains, *, at: Path | None = None) -> Frontier:
    """Begin a life of a shard in this process, and open its frontier, or one `at` another place that is to replace it."""
    at = at or frontier_folder(folder, shard)
    is_refused = False
    while True:
        life = begin_life(folder, shard, is_refused=is_refused)
        try:
            frontier = Frontier(at, config, domains, shard, epoch=life.epoch, heard=life.heard)
        except StaleLifeError:
            is_refused = True
            continue
        note_run(folder, shard)
        return frontier


def _find_next(record: _Record | None, *, is_lost: bool) -> int:
    """Return the epoch after the last one, or, if that is not known, one that leaves all earlier ones behind."""
    given = record.epoch if record else 0
    if not is_lost:
        return given + 1
    # Nothing has begun as often as seconds have passed since 1970.
    now = int(time.time())
    return now if now > given else given + _LEAP


def _read(folder: Path, name: str) -> _Record | None:
    """Read a record; None if there is none that can be read."""
    try:
        return msgspec.json.decode(_path(folder, name).read_bytes(), type=_Record)
    except (FileNotFoundError, ValueError):
        return None


def _write(folder: Path, name: str, record: _Record) -> None:
    path = _path(folder, name)
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, msgspec.json.encode(record) + b"\n")


def _path(folder: Path, name: str) -> Path:
    return folder / FOLDER / f"{name}.json"
