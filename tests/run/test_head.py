"""Which run of the coordinator leads a crawl: every run has a higher epoch, and an earlier one learns of a later one."""

import asyncio
import shutil
from pathlib import Path

import pytest

from rdfspider.backup.manifests import SupersededError, check_epoch
from rdfspider.backup.objects import Objects
from rdfspider.crawl.folder import hold_folder
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.status import Status, read_status, write_status
from rdfspider.errors import AwayError, UsageError
from rdfspider.run import head
from rdfspider.run.head import find_earliest_start, lead, watch_successor


def test_each_run_has_a_higher_epoch(tmp_path: Path) -> None:
    assert [lead(tmp_path, "") for _ in range(3)] == [(1, False, True), (2, False, False), (3, False, False)]
    (tmp_path / "lives/head.json").unlink()
    assert lead(tmp_path, "").epoch > 1_000_000


def test_of_two_machines_with_one_backup_the_earlier_one_learns_of_the_later(tmp_path: Path) -> None:
    first, second, store = tmp_path / "first", tmp_path / "second", str(tmp_path / "store")
    first.mkdir()
    assert lead(first, store) == (1, False, True)
    shutil.copytree(first, second)

    async def story() -> None:
        watch = asyncio.create_task(watch_successor(store, 1, look_s=0.01))
        await asyncio.sleep(0.1)
        assert not watch.done()
        assert lead(second, store) == (2, True, False)
        with pytest.raises(SupersededError, match="the crawl goes on elsewhere"):
            await watch

    asyncio.run(asyncio.wait_for(story(), 60))
    # Where the first one goes on again, the second may still lead, whatever is known here.
    assert lead(first, store) == (3, True, False)
    assert [lead(first, store), lead(second, store)] == [(4, False, False), (5, True, False)]


def test_no_run_begins_without_an_epoch_of_the_store(tmp_path: Path) -> None:
    """An earlier one elsewhere would not learn of it."""
    store = tmp_path / "store"
    assert lead(tmp_path, str(store)).epoch == 1
    shutil.rmtree(store)
    store.write_text("no folder")
    with pytest.raises(AwayError):
        lead(tmp_path, str(store))
    store.unlink()
    assert lead(tmp_path, str(store)).epoch == 2


def test_a_store_that_is_away_ends_no_crawl(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert lead(tmp_path, str(store)).epoch == 1

    async def story() -> None:
        watch = asyncio.create_task(watch_successor(str(store), 1, look_s=0.01))
        shutil.rmtree(store)
        await asyncio.sleep(0.1)
        # It may be that of a disk which is not mounted.
        assert not store.exists()
        store.write_text("no folder")
        await asyncio.sleep(0.1)
        assert not watch.done()
        watch.cancel()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_no_other_fault_of_the_look_for_a_successor_ends_a_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = iter([MemoryError("no memory"), MemoryError("no memory"), UsageError("no folder")])

    def look(objects: Objects, member: str, epoch: int) -> None:
        if (error := next(looks, None)) is not None:
            raise error
        check_epoch(objects, member, epoch)

    monkeypatch.setattr(head, "check_epoch", look)
    store = str(tmp_path / "store")
    assert [lead(tmp_path, store).epoch, lead(tmp_path, store).epoch] == [1, 2]
    with pytest.raises(SupersededError):
        asyncio.run(asyncio.wait_for(watch_successor(store, 1, look_s=0.01), 60))
    assert [message.rpartition(": ")[2] for message in caplog.messages] == [
        "MemoryError('no memory')",
        "UsageError('no folder')",
    ]


@pytest.mark.parametrize(
    ("state", "may_overlap", "earliest"),
    [
        (RunState.RUNNING, False, 100.0 + 15),
        (RunState.STOPPING, False, 100.0 + 15),
        (RunState.RUNNING, True, 100.0 + 15 + 8),
        (RunState.STOPPED, True, 100.0 + 15 + 8),
        (RunState.ENDED, False, 0.0),
    ],
)
def test_shards_start_when_those_of_a_run_that_was_killed_have_ended(
    tmp_path: Path, state: RunState, may_overlap: bool, earliest: float
) -> None:
    write_status(tmp_path, Status(state=state, updated=90.0))
    with hold_folder(tmp_path):
        previous = read_status(tmp_path)
        found = [
            find_earliest_start(previous, 100.0, 15.0, is_first=is_first, may_overlap=may_overlap)
            for is_first in (False, True)
        ]
        assert found == [earliest, earliest]


def test_shards_of_a_new_crawl_start_at_once(tmp_path: Path) -> None:
    with hold_folder(tmp_path):
        life, previous = lead(tmp_path, ""), read_status(tmp_path)
        assert find_earliest_start(previous, 100.0, 15.0, is_first=life.is_first, may_overlap=False) == 0.0
        # The status of a run that was killed may be lost, or was not written yet.
        assert not lead(tmp_path, "").is_first
        assert find_earliest_start(previous, 100.0, 15.0, is_first=False, may_overlap=False) == 115.0
