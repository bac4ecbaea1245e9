import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Quad, Store

from rdfspider.errors import UsageError
from rdfspider.index.quads import snapshots
from rdfspider.index.quads.snapshots import SnapshotReader, find_newest, hold_snapshot, remove_old, take_snapshot
from waiting import ShiftedTime


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "quads"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index" / "snapshots"


def add(store: Store, number: int) -> None:
    store.add(Quad(NamedNode(f"http://s/{number}"), NamedNode("http://p/"), NamedNode("http://o/")))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_snapshot_is_the_store_as_it_was(store, folder):
    assert find_newest(folder) is None
    add(store, 1)
    path = take_snapshot(store, folder)
    add(store, 2)
    assert find_newest(folder) == path
    assert len(Store.read_only(str(path))) == 1
    assert take_snapshot(store, folder).name == "000002"
    assert len(Store.read_only(str(find_newest(folder)))) == 2


def test_old_ones_are_removed_and_what_killed_writers_have_left(store, folder):
    for number in range(4):
        add(store, number)
        take_snapshot(store, folder)
    (folder / ".taking").mkdir()
    (folder / ".removing-000009" / "x").mkdir(parents=True)
    remove_old(folder)
    assert names(folder) == ["000004"]
    (folder / ".taking" / "half").mkdir(parents=True)
    assert take_snapshot(store, folder).name == "000005"


def test_what_is_held_is_not_removed(store, folder):
    take_snapshot(store, folder)
    with hold_snapshot(folder) as hold, hold_snapshot(folder):
        for _ in range(3):
            take_snapshot(store, folder)
        remove_old(folder)
        assert names(folder) == ["000001", "000004"]
        assert hold.path.name == "000001"
    remove_old(folder)
    assert names(folder) == ["000004"]


def test_a_hold_goes_with_its_process(store, folder):
    take_snapshot(store, folder)
    code = "import sys, pathlib, time; from rdfspider.index.quads.snapshots import hold_snapshot\n"
    code += "hold = hold_snapshot(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE) as reader:
        assert reader.stdout.readline() == b"held\n"
        for _ in range(2):
            take_snapshot(store, folder)
        remove_old(folder)
        assert names(folder) == ["000001", "000003"]
        reader.kill()
    remove_old(folder)
    assert names(folder) == ["000003"]


def test_readers_never_find_one_gone_while_the_writer_removes(store, folder):
    take_snapshot(store, folder)
    errors: list[BaseException] = []
    stop = threading.Event()

    def read() -> None:
        try:
            while not stop.is_set():
                with hold_snapshot(folder) as hold:
                    assert (hold.path / "CURRENT").exists()
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(25):
        add(store, number)
        take_snapshot(store, folder)
        remove_old(folder)
    stop.set()
    for reader in readers:
        reader.join()
    assert not errors
    remove_old(folder)
    assert len(names(folder)) == 1


def test_a_reader_sees_the_newest(store, folder, monkeypatch):
    monkeypatch.setattr(snapshots, "LOOK_S", 0.0)
    reader = SnapshotReader(folder)
    with pytest.raises(UsageError, match="rdfspider index"):
        _ = reader.store
    add(store, 1)
    take_snapshot(store, folder)
    assert len(reader.store) == 1
    assert reader.store is reader.store
    add(store, 2)
    take_snapshot(store, folder)
    assert len(reader.store) == 2
    reader.close()


def test_a_reader_looks_for_a_newer_one_only_now_and_then(store, folder, monkeypatch):
    clock = ShiftedTime()
    monkeypatch.setattr(snapshots, "time", clock)
    monkeypatch.setattr(snapshots, "LOOK_S", 1000.0)
    reader = SnapshotReader(folder)
    take_snapshot(store, folder)
    first = reader.store
    add(store, 1)
    take_snapshot(store, folder)
    assert reader.store is first
    clock.ahead_s = 1001
    assert len(reader.store) == 1


def test_what_a_reader_uses_stays_until_it_is_done(store, folder, monkeypatch):
    monkeypatch.setattr(snapshots, "LOOK_S", 0.0)
    reader = SnapshotReader(folder)
    take_snapshot(store, folder)
    with reader.use() as old:
        add(store, 1)
        for _ in range(3):
            take_snapshot(store, folder)
        assert len(reader.store) == 1
        remove_old(folder)
        assert "000001" in names(folder)
        assert len(old) == 0
    remove_old(folder)
    assert names(folder) == ["000004"]


def test_a_reader_notices_an_index_that_was_made_again(store, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "LOOK_S", 0.0)
    reader = SnapshotReader(folder)
    take_snapshot(store, folder)
    assert len(reader.store) == 0
    folder.rename(tmp_path / "old")
    add(store, 1)
    take_snapshot(store, folder)
    assert len(reader.store) == 1


def test_a_damaged_snapshot_is_one_clear_line(folder):
    (folder / "000001").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"snapshots cannot be read \(.*000001.*index --rebuild"):
        _ = SnapshotReader(folder).store


def test_a_reader_that_nobody_asks_lets_go(store, folder, monkeypatch):
    add(store, 1)
    take_snapshot(store, folder)
    reader = SnapshotReader(folder)
    with reader.use() as opened:
        monkeypatch.setattr(snapshots, "_IDLE_S", 0.0)
        reader.rest()
        take_snapshot(store, folder)
        remove_old(folder)
        assert (names(folder), len(opened)) == (["000001", "000002"], 1), "somebody asks"
    reader.rest()
    remove_old(folder)
    assert names(folder) == ["000002"]
    assert len(reader.store) == 1
    reader.close()
