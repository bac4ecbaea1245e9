"""Where the processes of a crawl on this machine reach each other."""

import tempfile
from pathlib import Path

import pytest
import zmq

from networks import has_ipv6
from rdfspider.config import Config, CrawlConfig, RunConfig
from rdfspider.errors import UsageError
from rdfspider.run.peers.sockets import open_hub
from rdfspider.run.runners.local import LocalRunner, make_local_runner, remove_socket_folder


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


FAMILIES = [("127.0.0.2", "127.0.0.9"), *([("::1", "127.0.0.1"), ("[::1]", "[::1]")] if has_ipv6() else [])]


def make_placed(folder: Path, place: str, address: str) -> LocalRunner:
    run = RunConfig(places=(f"{place}={folder}/place",), address=address)
    return make_local_runner(folder, Config(crawl=CrawlConfig(shards=1), run=run))


@pytest.mark.parametrize(("place", "address"), FAMILIES)
def test_places_and_the_coordinator_have_addresses_of_either_family(place: str, address: str, tmp_path: Path) -> None:
    runner = make_placed(tmp_path, place, address)
    try:
        literals = [host if "." in host else "[::1]" for host in (address, place)]
        assert [*runner.addresses] == [f"tcp://{literals[0]}:*", (f"tcp://{literals[1]}:*",)]
    finally:
        runner.close()


@pytest.mark.parametrize(
    ("place", "address", "complaint"),
    [
        ("127.0.0.2", "192.0.2.1", r"run\.address: nobody can listen at 192\.0\.2\.1 on this machine: "),
        ("2001:db8::1", "127.0.0.1", r"run\.places: nobody can listen at 2001:db8::1 on this machine: "),
        ("nowhere0", "127.0.0.1", r"run\.places: nobody can listen at nowhere0 on this machine: "),
    ],
)
def test_addresses_of_other_machines_are_refused(place: str, address: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=complaint):
        make_placed(tmp_path, place, address)
