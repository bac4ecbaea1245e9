"""The process that answers for a place, as its runner sees it."""

import subprocess
from pathlib import Path

import pytest

from rdfspider.config import Config
from rdfspider.places.keys import make_keys
from rdfspider.run.runners import local
from rdfspider.run.runners.local import PlaceOrder


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
    desk.tend()
    assert desk.address.startswith("tcp://127.0.0.2:")
    desk.close()
