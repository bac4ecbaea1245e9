"""The process that answers for a place, as its runner sees it."""

import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from rdfspider.config import Config
from rdfspider.crawl.folder import shard_folder
from rdfspider.errors import AwayError
from rdfspider.places.client import Lengths, PlaceClient
from rdfspider.places.keys import make_keys
from rdfspider.places.records import read_place
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.runners import local
from rdfspider.run.runners.local import LocalRunner, PlaceOrder
from rdfspider.run.runners.places import Place
from rdfspider.run.runners.runner import ShardOrder
from waiting import wait_until


def test_a_process_that_does_not_tell_its_address_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And when it ends, the next one tells it."""
    start = local.start_beside
    silent = subprocess.Popen(["sleep", "600"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    monkeypatch.setattr(local, "_DESK_S", 0.01)
    monkeypatch.setattr(local, "start_beside", lambda module, order: silent)
    desk = local._Desk(PlaceOrder(tmp_path, "mine", Config(), make_keys(1).of_shard(0), "tcp://127.0.0.2:*"))
    assert desk.address == ""
    monkeypatch.undo()
    desk.tend()
    assert desk.address == ""
    silent.kill()
    silent.wait()
    assert local.start_beside is start
    # It is not started again at once.
    wait_until(desk.tend)
    assert desk.address.startswith("tcp://127.0.0.2:")
    desk.close()


def test_a_process_whose_port_is_taken_meanwhile_takes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """And the crawl's folder tells which, without a word."""
    monkeypatch.setattr(local, "_FIRST_PAUSE_S", 0.0)
    place, keys = Place("127.0.0.2", tmp_path / "place"), make_keys(1)
    runner = LocalRunner(1, [place], keys, 3.0)
    shard_folder(tmp_path, 0).mkdir(parents=True)
    addresses = AddressBook("", ())
    runner._note_place(place, ShardOrder(0, tmp_path, addresses, Config()), "mine")
    before = read_place(tmp_path, 0)
    assert before is not None
    desk = runner._desks[place]
    desk._process.kill()
    desk._process.wait()
    with socket.socket() as taker:
        taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taker.bind(("127.0.0.2", int(before.address.rpartition(":")[2])))
        taker.listen()
        runner.tend()
        wait_until(lambda: runner.tend() or desk._has_told)
    after = read_place(tmp_path, 0)
    assert after is not None
    assert after.address == desk.address != before.address
    with PlaceClient(after, keys.of_coordinator()) as client, pytest.raises(AwayError, match="it has no state there"):
        client.ask(Lengths(0))
    runner.close()
    assert capfd.readouterr().err == ""


def test_a_process_that_dies_again_and_again_is_started_after_longer_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, started = [0.0], []

    def start(module: str, order: bytes) -> "subprocess.Popen[bytes]":
        started.append(now[0])
        process = subprocess.Popen(["false"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.wait()
        return process

    monkeypatch.setattr(local, "start_beside", start)
    monkeypatch.setattr(local, "time", SimpleNamespace(monotonic=lambda: now[0]))
    desk = local._Desk(PlaceOrder(tmp_path, "mine", Config(), make_keys(1).of_shard(0), "tcp://127.0.0.2:*"))
    while now[0] < 40:
        now[0] += 1.0
        assert not desk.tend()
    assert started == [0.0, 1.0, 3.0, 7.0, 15.0, 31.0]
    desk.close()
