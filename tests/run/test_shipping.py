"""Checkpoints of a shard while it commits, and a store that fails in the midst of them."""

import asyncio
import threading
from pathlib import Path

import msgspec
import pytest

from loopback import run_loop
from rdfspider.backup.manifests import HEAD, SupersededError, begin_epoch, find_newest, name_shard
from rdfspider.backup.objects import Objects
from rdfspider.backup.restoration import restore_member
from rdfspider.backup.shipment import Snapshot
from rdfspider.config import BackupConfig, Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import AwayError
from rdfspider.frontier.frontier import Frontier
from rdfspider.run import shard_epochs
from rdfspider.run.shard_epochs import claim_epoch
from rdfspider.run.shipping import ShardSnapshots, Shipping, ship_shard

MEMBER = name_shard(0)
COUNT = "count"


def open_frontier(folder: Path) -> Frontier:
    return Frontier(folder / "frontier", Config(), Domains(bundled_suffix_list(), 1), 0)


def make_store(folder: Path) -> Objects:
    """A store in which a crawl has begun."""
    objects = Objects(str(folder))
    begin_epoch(objects, HEAD, 1)
    return objects


def read_count(folder: Path) -> int:
    frontier = open_frontier(folder)
    try:
        return int(frontier.meta.get(COUNT) or b"0")
    finally:
        frontier.close()


def test_a_copy_is_a_state_between_two_commits(tmp_path: Path) -> None:
    """The lengths of the segments in a manifest are those that the restored frontier has."""
    folder, store = tmp_path / "shard", tmp_path / "store"
    (folder / "warc").mkdir(parents=True)
    objects = make_store(store)
    frontier = open_frontier(folder)
    committed: list[int] = [0]
    segment = folder / "warc" / "shard-000-facts-000001.warc.gz"

    async def run() -> None:
        turn = asyncio.Lock()
        snapshots = ShardSnapshots(folder, frontier, turn, lambda: {segment.name: committed[0]})
        config = BackupConfig(url=str(store), every_s=0.1)
        shipped: list[int] = []
        shipping = ship_shard(config, 0, snapshots, frontier.epoch, lambda inbox: shipped.append(committed[0]))
        loop = shipping.start()
        # The last shipment has begun after the one before it, when something was committed.
        while committed[0] < 30 or not any(shipped[:-1]):
            with segment.open("ab") as file:
                file.write(b"x")
            await asyncio.sleep(0.01)
            async with turn:
                frontier.meta.put(COUNT, b"%d" % (committed[0] + 1))
                frontier.commit()
                await asyncio.to_thread(frontier.sync)
                committed[0] += 1
        loop.cancel()

    run_loop(run())
    manifest = restore_member(objects, MEMBER, tmp_path / "restored")
    frontier.close()
    assert manifest is not None
    assert manifest.lengths.get(segment.name, 0) == read_count(tmp_path / "restored") > 0


def test_what_is_sent_last_is_all_and_a_checkpoint_is_removed(tmp_path: Path) -> None:
    folder, store = tmp_path / "shard", tmp_path / "store"
    folder.mkdir()
    objects = make_store(store)
    frontier = open_frontier(folder)

    async def run() -> Shipping:
        snapshots = ShardSnapshots(folder, frontier, asyncio.Lock(), dict)
        shipping = ship_shard(BackupConfig(url=str(store)), 0, snapshots, frontier.epoch, lambda inbox: None)
        shipping.start()
        frontier.meta.put(COUNT, b"7")
        frontier.commit()
        await shipping.finish(60)
        return shipping

    shipping = run_loop(run())
    frontier.close()
    assert (shipping.state.problem, shipping.state.taken > 0) == ("", True)
    assert not (folder / "checkpoint").exists()
    assert restore_member(objects, MEMBER, tmp_path / "restored")
    assert read_count(tmp_path / "restored") == 7


def test_a_store_that_fails_is_told_and_what_arrived_is_not_sent_again(tmp_path: Path) -> None:
    store, file = tmp_path / "store", tmp_path / "file"
    file.write_bytes(bytes(1000))
    make_store(store)
    has_failed: list[bool] = []

    async def take() -> Snapshot:
        if not has_failed:
            has_failed.append(True)
            return Snapshot(taken=1.0, files={"a.sst": file, "b.sst": tmp_path / "missing"})
        return Snapshot(taken=2.0, files={"a.sst": file})

    async def run() -> tuple[str, msgspec.Struct]:
        shipping = Shipping(BackupConfig(url=str(store), every_s=0.01), MEMBER, take, epoch=1)
        task = shipping.start()
        while not shipping.state.problem and not shipping.state.taken:
            await asyncio.sleep(0.001)
        problem = shipping.state.problem
        while not shipping.state.taken:
            await asyncio.sleep(0.001)
        task.cancel()
        return problem, shipping.state

    problem, state = run_loop(run())
    assert "missing" in problem
    assert state == msgspec.structs.replace(state, problem="", taken=2.0, sent_bytes=1000)


def test_a_life_that_is_over_learns_it_from_the_store(tmp_path: Path) -> None:
    objects = make_store(tmp_path / "store")
    epoch = begin_epoch(objects, MEMBER, 1)

    async def take() -> Snapshot:
        return Snapshot(taken=1.0)

    async def run() -> None:
        shipping = Shipping(BackupConfig(url=objects.url, every_s=0.01), MEMBER, take, epoch=epoch)
        task = shipping.start()
        while not shipping.state.taken:
            await asyncio.sleep(0.001)
        begin_epoch(objects, MEMBER, 1)
        await task

    with pytest.raises(SupersededError):
        run_loop(run())
    newest = find_newest(objects, MEMBER)
    assert newest is not None
    assert newest.epoch == epoch


def test_nothing_is_sent_to_a_store_in_which_no_crawl_has_begun(tmp_path: Path) -> None:
    """Such as the folder of a disk that is not mounted."""
    store, safe = tmp_path / "store", list[object]()

    async def take() -> Snapshot:
        return Snapshot(taken=1.0)

    async def run() -> None:
        shipping = Shipping(BackupConfig(url=str(store)), MEMBER, take, epoch=2, on_shipped=safe.append)
        for problem in ("no such folder", "is a disk not mounted"):
            with pytest.raises(AwayError, match=problem):
                await shipping.ship()
            assert claim_epoch(str(store), 0, 3) == 3
            store.mkdir(exist_ok=True)
        assert not list(store.iterdir())
        assert not safe
        make_store(store)
        assert claim_epoch(str(store), 0, 2) == 2
        await shipping.ship()
        assert len(safe) == 1

    run_loop(run())


def test_a_store_that_says_nothing_gives_no_epoch_and_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def wait(url: str, *, creates: bool) -> Objects:
        gate.wait()
        return Objects(url, creates=creates)

    monkeypatch.setattr(shard_epochs, "Objects", wait)
    monkeypatch.setattr(shard_epochs, "_CLAIM_S", 0.01)
    make_store(tmp_path / "store")
    assert claim_epoch(str(tmp_path / "store"), 0, 7) == 7
    gate.set()
    monkeypatch.setattr(shard_epochs, "_CLAIM_S", 60.0)
    assert claim_epoch(str(tmp_path / "store"), 0, 9) == 9
