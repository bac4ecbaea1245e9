"""Shards that come back from a store: what the mark in their folder is for."""

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from rdfspider.backup.manifests import HEAD, Manifest, begin_epoch, name_shard
from rdfspider.backup.objects import Objects
from rdfspider.backup.shipment import Shipper, Snapshot
from rdfspider.config import BackupConfig, Config
from rdfspider.crawl.folder import RESTORED, frontier_folder, shard_folder
from rdfspider.crawl.lives import begin_life, lost_before
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import InUseError, UnreadableError
from rdfspider.frontier.frontier import Frontier
from rdfspider.places.records import PlaceRecord, mark_state, write_place
from rdfspider.run.backups import (
    UnrestoredError,
    _read_generation,
    backup_crawl,
    list_database,
    recover_shard,
    restore_crawl,
    restore_shard,
)
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.runners.runner import ShardOrder


def test_a_restored_shard_is_known_as_one_until_that_is_written_down(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_text("x")
    objects = Objects(str(tmp_path / "store"))
    Shipper(objects, name_shard(0), 5).ship(Snapshot(1.0, (5, 9), {"frontier/CURRENT": tmp_path / "CURRENT"}))
    folder = tmp_path / "crawl"
    assert restore_shard(objects, folder, 0) is not None
    mark = shard_folder(folder, 0) / RESTORED
    assert mark.exists()
    # The record of its lives cannot be written.
    (folder / "lives").write_text("")
    with pytest.raises(OSError):
        begin_life(folder, 0)
    assert mark.exists()
    (folder / "lives").unlink()
    life = begin_life(folder, 0)
    assert life.heard.generation == lost_before(life.epoch).generation
    assert not mark.exists()
    # From now on, the record says it.
    assert begin_life(folder, 0).heard.generation == life.heard.generation


@pytest.mark.parametrize("is_sent_so", [False, True])
@pytest.mark.parametrize("body", [b"[run\n", b"\xff\xfe", b"run = 3\n", b"[run]\n", b"crawl = 1\nrun = 3\n"])
def test_settings_that_are_damaged_are_told_and_make_no_crawl(tmp_path: Path, body: bytes, is_sent_so: bool) -> None:
    settings, store = tmp_path / "crawl.toml", tmp_path / "store"
    settings.write_bytes(body if is_sent_so else b"[fixed]\nshards = 1\n")
    manifest = Shipper(Objects(str(store)), HEAD, 1).ship(Snapshot(1.0, files={"crawl.toml": settings}))
    if not is_sent_so:
        (store / manifest.files["crawl.toml"].key).write_bytes(body)
    with pytest.raises(UnreadableError, match=r"crawl\.toml"):
        restore_crawl(str(store), tmp_path / "new")
    assert not (tmp_path / "new" / "crawl.toml").exists()


HOLDER = """
import sys
from pathlib import Path
from rdfspider.config import BackupConfig, Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.frontier import Frontier
frontier = Frontier(Path(sys.argv[1]), Config(), Domains(bundled_suffix_list(), 1), 0)
frontier.commit()
print(flush=True)
sys.stdin.read()
frontier.close()
"""


def test_a_shard_that_a_process_still_uses_is_not_taken_for_one_at_rest(tmp_path: Path) -> None:
    """As one in a place, of which the lock of the crawl's folder says nothing."""
    place, folder = tmp_path / "place", tmp_path / "crawl"
    state = place / "one"
    state.mkdir(parents=True)
    mark_state(state, "c", 0, 1)
    shard_folder(folder, 0).mkdir(parents=True)
    write_place(folder, 0, PlaceRecord("c", "127.0.0.1", str(place), "", ""))
    frontier = frontier_folder(state, 0)
    command = [sys.executable, "-c", HOLDER, str(frontier)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        with pytest.raises(InUseError, match="in use by another process"):
            backup_crawl(folder, Config(), str(tmp_path / "store"))
        holder.communicate()
    assert backup_crawl(folder, Config(), str(tmp_path / "store")).shards == 1


def send_states(folder: Path, store: str, count: int) -> list[Manifest]:
    """Send some states of a shard one after the other, and return their manifests."""
    frontier = Frontier(frontier_folder(folder, 0), Config(), Domains(bundled_suffix_list(), 1), 0, epoch=1)
    objects = Objects(store)
    begin_epoch(objects, HEAD, 1)
    shipper = Shipper(objects, name_shard(0), 1)
    manifests = []
    for number in range(count):
        frontier.meta.put("number", b"%d" % number)
        frontier.commit()
        frontier.create_checkpoint(folder / "checkpoint")
        manifests.append(shipper.ship(Snapshot(1.0, frontier.generation, list_database(folder / "checkpoint"))))
        shutil.rmtree(folder / "checkpoint")
    frontier.close()
    return manifests


def damage(store: Path, lost: Manifest, kept: Manifest) -> str:
    """Remove an object of the one state which the other has not got."""
    known = {key for key, _, _ in kept.list_objects()}
    gone = next(key for key, _, _ in lost.list_objects() if key not in known)
    (store / gone).unlink()
    return gone


def make_order(folder: Path, store: Path) -> ShardOrder:
    return ShardOrder(0, folder, AddressBook("", ("",)), Config(backup=BackupConfig(url=str(store))), epoch=7)


def test_a_shard_that_is_gone_comes_back_from_the_copy_before_its_last_one_or_says_what_is_missing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, store = tmp_path / "crawl", tmp_path / "store"
    before, last = send_states(folder, str(store), 2)
    gone = damage(store, last, before)
    shutil.rmtree(shard_folder(folder, 0))
    order = recover_shard(make_order(folder, store))
    assert order.heard.generation == lost_before(7).generation
    assert _read_generation(order) == before.generation
    assert gone in caplog.text
    gone = damage(store, before, msgspec.structs.replace(last, files={}))
    shutil.rmtree(shard_folder(folder, 0))
    with pytest.raises(UnrestoredError, match="shard 0 cannot be restored"):
        recover_shard(order)


def test_a_shard_is_not_replaced_by_a_copy_that_is_older_than_its_disk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its disk was put back, and the last copy, which is newer, is not whole."""
    folder, store = tmp_path / "crawl", tmp_path / "store"
    send_states(folder, str(tmp_path / "other"), 2)
    shutil.copytree(shard_folder(folder, 0), tmp_path / "disk")
    shutil.rmtree(shard_folder(folder, 0))
    manifests = send_states(folder, str(store), 3)
    damage(store, manifests[2], manifests[1])
    damage(store, manifests[1], manifests[2])
    shutil.rmtree(shard_folder(folder, 0))
    (tmp_path / "disk").rename(shard_folder(folder, 0))
    own = _read_generation(make_order(folder, store))
    assert own and manifests[0].generation < own < manifests[2].generation
    order = recover_shard(make_order(folder, store))
    assert order.heard.generation == lost_before(7).generation
    assert _read_generation(order) == own
    assert "goes on with what is on its disk" in caplog.text
