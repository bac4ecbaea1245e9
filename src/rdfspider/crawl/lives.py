"""The lives of shards: each process that opens a frontier for writing gets an epoch of its own, one higher each time.

A small file for each shard, `lives/007.json` in the crawl's folder, says which epoch was given last, and what was heard of the
shard since. It is written before the frontier is opened, and lies outside the shard's folder: a folder that is put back to an
older copy, or lost, never gets an epoch that others know already, and is recognised as what it is.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from rdfspider.config import Config
from rdfspider.crawl.folder import RESTORED, frontier_folder, shard_folder
from rdfspider.crawl.messages import Beat
from rdfspider.disk import write_atomically
from rdfspider.domains import Domains
from rdfspider.frontier.entries import NOTHING_HEARD, LastHeard, StaleLifeError
from rdfspider.frontier.frontier import Frontier

FOLDER = "lives"
# How far to go beyond an epoch that was refused although it is as high as the clock.
_LEAP = 1 << 20
_MOST_COMMITS = 1 << 53


class Life(NamedTuple):
    """What a process needs to open a shard's frontier."""

    epoch: int
    heard: LastHeard = NOTHING_HEARD
    """What was last heard of the shard's earlier lives."""


class _Record(msgspec.Struct, frozen=True):
    """The content of a file."""

    epoch: int
    heard: LastHeard = NOTHING_HEARD


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
    record = _read(folder, shard)
    heard = record.heard if record else NOTHING_HEARD
    if last is not None:
        heard = heard.merge(LastHeard(last.generation, *last.numbered))
    given = record.epoch if record else 0
    epoch = given + 1
    is_lost = record is None and (last is not None or frontier_folder(folder, shard).exists())
    if is_lost or is_refused:
        # No frontier was opened as often as seconds have passed since 1970.
        now = int(time.time())
        epoch = now if now > given else given + _LEAP
    epoch = claim(epoch)
    mark = shard_folder(folder, shard) / RESTORED
    if mark.exists():
        heard = heard.merge(lost_before(epoch))
    heard = msgspec.structs.replace(heard, lives=heard.lives + 1)
    path = _path(folder, shard)
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, msgspec.json.encode(_Record(epoch, heard)) + b"\n")
    mark.unlink(missing_ok=True)
    return Life(epoch, heard)


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
            return Frontier(at, config, domains, shard, epoch=life.epoch, heard=life.heard)
        except StaleLifeError:
            is_refused = True


def _read(folder: Path, shard: int) -> _Record | None:
    """Read the record of a shard; None if there is none that can be read."""
    try:
        return msgspec.json.decode(_path(folder, shard).read_bytes(), type=_Record)
    except (FileNotFoundError, ValueError):
        return None


def _path(folder: Path, shard: int) -> Path:
    return folder / FOLDER / f"{shard:03}.json"
