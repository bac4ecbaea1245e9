"""A crawl and a store: the crawl's state goes there at once, and comes back where it is gone."""

import errno
import itertools
import logging
import secrets
import time
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rdfspider.backup.manifests import (
    HEAD,
    Cursor,
    Manifest,
    check_head,
    list_members,
    list_places,
    name_shard,
)
from rdfspider.backup.objects import Objects
from rdfspider.backup.restoration import restore_member
from rdfspider.backup.shipment import Snapshot, begin_shipper
from rdfspider.config import Config
from rdfspider.crawl.bounds import BACKUP_PLACES
from rdfspider.crawl.folder import (
    DOCUMENTS,
    RESTORED,
    RESTORING,
    SEEDS,
    SUFFIXES,
    change_settings,
    frontier_folder,
    hold_folder,
    identify_crawl,
    list_shards,
    shard_folder,
)
from rdfspider.crawl.history import FILE as HISTORY
from rdfspider.crawl.lives import lost_before
from rdfspider.crawl.messages import Command, CommandAnswer, CommandName
from rdfspider.crawl.settings import FILE, FIXED, Asked, ask_flags, read_file
from rdfspider.crawl.status import FILE as STATUS
from rdfspider.disk import sync_folder, write_atomically
from rdfspider.errors import AwayError, OtherVersionError, UnreadableError, UsageError
from rdfspider.frontier.reader import FrontierReader, read_generation
from rdfspider.frontier.store import check_at_rest, has_store
from rdfspider.places.client import describe_place
from rdfspider.places.records import find_state, read_place
from rdfspider.run.runners.runner import ShardOrder
from rdfspider.run.shard_archive import WARC, read_lengths
from rdfspider.run.store_owner import check_seeds, claim_store

_log = logging.getLogger(__name__)

_HEAD_FILES = (FILE, SUFFIXES, SEEDS, STATUS, HISTORY, "forgotten.txt", "split.txt", "sources.txt")
_HEAD_FOLDERS = (DOCUMENTS, "lives")
# Where shards are until they are restored, and what they replace. Outside of `shards`, nobody reads them.
_COMING, _ASIDE = "restoring-shards", "set-aside/older-shards"
# What belongs to a process that has the database open.
_PASSING = ("LOCK", "LOG")
_HEAD_NAME = "settings and seeds"
# How often a running crawl is asked whether a copy is complete.
_POLL_S = 0.3
# How often it is said what is still waited for.
_TOLD_S = 60.0


class UnrestoredError(UnreadableError):
    """A shard that is gone cannot be restored, because its backup is damaged."""


class BackupReport(NamedTuple):
    """What a backup or a restoration was about."""

    shards: int
    bytes: int
    """All bytes of the state."""
    sent_bytes: int = 0
    """Those that the store did not have yet."""


def read_url(text: str, where: str) -> str:
    """Return where a backup is, a path as an absolute one; UsageError if it can be none."""
    if not text:
        raise UsageError(f"{where}: it may be {BACKUP_PLACES}")
    return str(ask_flags({"backup.url": Asked(text, where)})["backup.url"].value)


def backup_crawl(
    folder: Path, config: Config, url: str, on_progress: Callable[[str], None] = lambda line: None
) -> BackupReport:
    """Send the state of a crawl that does not run to a store. SupersededError if the store has a later state, AwayError if a
    shard is in a place that is not here, InUseError if a process still uses one."""
    objects = Objects(url)
    with hold_folder(folder, "backup"):
        crawl = identify_crawl(folder)
        claim_store(objects, crawl)
        # All are looked for before anything is sent.
        roots = {number: _find_root(folder, number) for number in list_shards(folder)}
        total = sent = shards = 0
        for number, root in roots.items():
            if not has_store(frontier_folder(root, number)):
                continue
            on_progress(f"shard {number}")
            snapshot = take_at_rest(root, number, config)
            shipper = begin_shipper(objects, name_shard(number), snapshot.generation, crawl=crawl)
            total += measure(shipper.ship(snapshot))
            sent += shipper.sent_bytes
            shards += 1
        on_progress(_HEAD_NAME)
        head = begin_shipper(objects, HEAD, (0, 0), crawl=crawl)
        total += measure(head.ship(take_head(folder)))
        return BackupReport(shards, total, sent + head.sent_bytes)


def backup_running(
    tell: Callable[[Command], CommandAnswer], url: str, on_progress: Callable[[str], None] = lambda line: None
) -> BackupReport:
    """Have a running crawl send its state to a store, and wait for it; `tell` sends it a command, and raises what it answers if
    it cannot carry it out."""
    command = Command(CommandName.BACKUP, to=url, ticket=secrets.token_hex(8))
    told, told_at = "", 0.0
    while (answer := tell(command)).waiting:
        now = time.monotonic()
        if answer.waiting[0] != told:
            told, told_at = answer.waiting[0], now
            on_progress(told)
        elif now > told_at + _TOLD_S:
            told_at = now
            on_progress(f"{', '.join(answer.waiting)}: not complete yet")
        time.sleep(_POLL_S)
    return BackupReport(answer.count, answer.bytes, answer.sent_bytes)


def _find_root(folder: Path, number: int) -> Path:
    """Where the state of a shard is, also of one in another place."""
    place = read_place(folder, number)
    if place is None:
        return folder
    root = find_state(Path(place.folder), place.crawl, number, read_generation)
    if root is None:
        raise AwayError(f"shard {number} is away: it is in {describe_place(place)}")
    # The lock of the crawl's folder says nothing of processes in places.
    check_at_rest(frontier_folder(root, number))
    return root


def take_at_rest(folder: Path, number: int, config: Config) -> Snapshot:
    """The state of a shard that does not run."""
    frontier = frontier_folder(folder, number)
    with FrontierReader(frontier, config, number, tables=("meta",), is_used=False) as reader:
        return Snapshot(
            taken=time.time(),
            generation=reader.generation,
            files=list_database(frontier),
            archive=shard_folder(folder, number) / WARC,
            lengths=read_lengths(reader.get_meta),
            inbox=reader.inbox_cursors(),
        )


def take_head(folder: Path) -> Snapshot:
    """The small files of a crawl. Each of them is replaced as a whole, and what is read of one is never half of it."""
    files = {name: folder / name for name in _HEAD_FILES if (folder / name).is_file()}
    for below in _HEAD_FOLDERS:
        files |= {f"{below}/{path.name}": path for path in (folder / below).glob("*") if _is_settled(path)}
    return Snapshot(taken=time.time(), files=files)


def list_database(folder: Path) -> dict[str, Path]:
    """The files of a frontier, by their paths in the shard's folder."""
    return {f"frontier/{path.name}": path for path in sorted(folder.iterdir()) if not path.name.startswith(_PASSING)}


def measure(manifest: Manifest) -> int:
    """Count the bytes of a state."""
    return sum(size for _, size, _ in manifest.list_objects())


def restore_crawl(
    url: str,
    folder: Path,
    on_progress: Callable[[str], None] = lambda line: None,
    *,
    keeps_places: bool = False,
) -> BackupReport:
    """Make the folder of a crawl as it was when its newest manifests were written. A folder that is not empty is refused, unless
    the same restoration was interrupted there; crawl.toml comes last, so that there is a complete crawl or none.

    All shards come into the folder, also those of a crawl in places. If it `keeps_places`, they stay there or are restored there
    when they start."""
    objects = Objects(url, creates=False)
    _check_target(folder, url)
    members = list_members(objects)
    if HEAD not in members:
        raise UsageError(
            f"{url}: there are shards of a crawl, but not its settings; `rdfspider verify --backup` says more"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with hold_folder(folder, "restore"):
        write_atomically(folder / RESTORING, f"{url}\n".encode())
        on_progress(_HEAD_NAME)
        # Not under its name yet: with that, it is a crawl.
        settings = folder / f"{FILE}.coming"
        head = restore_member(objects, HEAD, folder, renamed={FILE: settings.name})
        if head is None or FILE not in head.files:
            raise UsageError(f"{url}: the backup has no {FILE}")
        total = measure(head)
        shards, has_places = _read_settings(settings, url)
        for member in members:
            # One that came before an interruption is complete.
            is_there = (folder / member / RESTORED).exists() or (keeps_places and has_places)
            if member != HEAD and not is_there:
                on_progress(member.replace("shards/", "shard "))
                manifest = restore_shard(objects, folder, int(member.rpartition("/")[2]), crawl=head.crawl)
                total += measure(manifest) if manifest else 0
        settings.replace(folder / FILE)
        sync_folder(folder)
        if has_places and not keeps_places:
            change_settings(folder, ask_flags({"run.places": []}))
        # Shards that have sent nothing yet begin again.
        for number in range(shards):
            shard_folder(folder, number).mkdir(parents=True, exist_ok=True)
        (folder / RESTORING).unlink()
        return BackupReport(shards, total)


def _read_settings(path: Path, url: str) -> tuple[int, bool]:
    """Read how many shards a crawl has, and whether they are in places; UnreadableError if its settings are none."""
    try:
        settings = tomllib.loads(path.read_text("utf-8"))
        return int(settings[FIXED]["shards"]), bool(settings.get("run", {}).get("places"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(f"{url}: {FILE} in the backup is not that of a crawl ({error!r})") from error


def restore_shard(
    objects: Objects,
    folder: Path,
    number: int,
    *,
    crawl: str = "",
    newer_than: Cursor = (-1, -1),
    on_begin: Callable[[], None] = lambda: None,
) -> Manifest | None:
    """Make the folder of a shard as its newest manifest says; None if none of this crawl is `newer_than` this. It takes its place
    when it is complete, because the index reads what is there; what was there before is set aside. It is marked, so that its next
    life knows that it is an older copy: hosts get their full pause, and no number or segment is used again that the lost state
    may have used."""
    coming, shard = folder / _COMING / f"{number:03}", shard_folder(folder, number)
    member = name_shard(number)
    manifest = restore_member(
        *(objects, member, coming), crawl=crawl, archive=WARC, newer_than=newer_than, on_begin=on_begin
    )
    if manifest is None:
        return None
    write_atomically(coming / RESTORED, b"")
    if shard.exists():
        if any(shard.iterdir()):
            (folder / _ASIDE).mkdir(parents=True, exist_ok=True)
            names = (folder / _ASIDE / f"{shard.name}-{count}" for count in itertools.count(1))
            shard.rename(next(name for name in names if not name.exists()))
        else:
            shard.rmdir()
    shard.parent.mkdir(parents=True, exist_ok=True)
    coming.rename(shard)
    sync_folder(shard.parent)
    with suppress(OSError):  # Other shards may be coming.
        coming.parent.rmdir()
    return manifest


def recover_folder(folder: Path, url: str, seeds: Sequence[str] = ()) -> None:
    """Before a crawl starts: restore it if there is a backup and its folder is gone. Folders of shards that are gone are made,
    and each shard restores its own. UsageError if the store is another crawl's, or if seeds are given that are not its own."""
    is_gone = not folder.exists() or (folder.is_dir() and not _list_others(folder))
    if is_gone or (folder / RESTORING).is_file():
        # A new crawl has no backup yet.
        if list_places(objects := Objects(url), HEAD):
            check_seeds(objects, seeds)
            _log.warning("%s is restored from %s, and goes on", folder, url)
            restore_crawl(url, folder, keeps_places=True)
    elif isinstance(shards := read_file(folder).get(FIXED, {}).get("shards"), int):
        claim_store(Objects(url), identify_crawl(folder))
        for number in range(shards):
            shard_folder(folder, number).mkdir(parents=True, exist_ok=True)


def recover_shard(order: ShardOrder) -> ShardOrder:
    """Before a shard starts: restore its state from the backup if the disk has none, or an older one. BlockingIOError if there is
    none on the disk and the store is away, UnrestoredError if what is in the store is not whole. The order that is returned says
    what the state may lack."""
    url, number = order.config.backup.url, order.number
    is_gone = not has_store(frontier_folder(order.folder, number))
    try:
        objects = Objects(url, creates=False)
        check_head(objects)
        own = (-1, -1) if is_gone else _read_generation(order)
        if own is not None:
            tell = partial(_log.warning, "shard %d is restored from %s", number, url)
            restore_shard(objects, order.folder, number, crawl=order.crawl, newer_than=own, on_begin=tell)
    except AwayError as error:
        if is_gone:
            raise BlockingIOError(errno.EAGAIN, str(error)) from error
        _log.warning("shard %d starts without a look at its backup: %s", number, error)
    except OtherVersionError:
        raise
    except UnreadableError as error:
        if is_gone:
            raise UnrestoredError(f"shard {number} cannot be restored: {error}") from error
        # Its last copy, of which others have heard, may be newer.
        _log.warning(
            "shard %d goes on with what is on its disk, as its last copy cannot be restored: %s", number, error
        )
        write_atomically(shard_folder(order.folder, number) / RESTORED, b"")
    return _note_restored(order)


def forget_restored(order: ShardOrder) -> None:
    """Once a shard's frontier is open: it knows now that it was restored."""
    (shard_folder(order.folder, order.number) / RESTORED).unlink(missing_ok=True)


def _note_restored(order: ShardOrder) -> ShardOrder:
    """The order of a shard, which says what a restored state may lack."""
    if not (shard_folder(order.folder, order.number) / RESTORED).exists():
        return order
    return order._replace(heard=order.heard.merge(lost_before(order.epoch)))


def _read_generation(order: ShardOrder) -> Cursor | None:
    """Read how new the state on the disk is; None if it is damaged or in use, which the shard says."""
    try:
        return take_at_rest(order.folder, order.number, order.config).generation
    except UsageError:
        return None


def _check_target(folder: Path, url: str) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    marker = folder / RESTORING
    if marker.is_file():
        if marker.read_text().strip() != url:
            raise UsageError(
                f"{folder} has begun to be restored from {marker.read_text().strip()}; name another folder"
            )
    elif others := _list_others(folder):
        raise UsageError(f"{folder} is not empty: it has {min(others)}; name a new folder to restore into")


def _list_others(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name != "lock"]


def _is_settled(path: Path) -> bool:
    return path.is_file() and not path.name.endswith((".new", ".partial"))
