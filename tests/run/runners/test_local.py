"""Where the processes of a crawl on this machine reach each other."""

import tempfile
from pathlib import Path

import pytest
import zmq

from rdfspider.run.peers.sockets import open_hub
from rdfspider.run.runners.local import LocalRunner, remove_socket_folder


def test_addresses_are_private_and_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    for parent in (tempfile.gettempdir(), str(long)):
        monkeypatch.setattr(tempfile, "tempdir", parent)
        runner = LocalRunner(2)
        addresses = (runner.addresses.coordinator, *runner.addresses.shards)
        (folder,) = {Path(address.removeprefix("ipc://")).parent for address in addresses}
        assert folder.stat().st_mode & 0o777 == 0o700
        assert max(len(address.encode()) for address in addresses) < 107
        runner.close()
        assert not folder.exists()
    assert list(long.iterdir()) == []


def test_addresses_are_removed_when_nobody_listens_and_nothing_else_is(tmp_path: Path) -> None:
    """A crawl's folder that was copied while it ran names the sockets of that run."""
    other = tmp_path / "home" / "rdfspider-data"
    other.mkdir(parents=True)
    remove_socket_folder(f"ipc://{other}/coordinator")
    assert other.is_dir()

    runner = LocalRunner(1)
    address = runner.addresses.coordinator
    folder = Path(address.removeprefix("ipc://")).parent
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    hub = open_hub(context, address)
    runner.close()
    assert folder.is_dir()
    hub.close(linger=0)
    context.term()
    runner.close()
    assert not folder.exists()
