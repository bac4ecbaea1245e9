"""The process that answers for a place: whom it answers, and what it does not read."""

import pickle
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ports import find_free_ports
from rdfspider.archive.segments import write_committed
from rdfspider.config import Config
from rdfspider.errors import AwayError
from rdfspider.places.client import AskFrontier, Lengths, PlaceClient, ReadPart, ReadRecord
from rdfspider.places.keys import CrawlKeys, make_keys
from rdfspider.places.records import PlaceRecord, mark_state
from rdfspider.processes.module_process import start_beside
from rdfspider.run.runners.local import PlaceOrder

FACTS, PAGES = "shard-001-facts-000001.warc.gz", "shard-001-pages-000001.warc.gz"


class Desk:
    """A place with shard 1 of a crawl, and the process that answers for it."""

    def __init__(self, folder: Path, port: str = "*", *, has_reader: bool = True) -> None:
        self.keys: CrawlKeys = make_keys(2)
        warc = folder / "some name" / "shards" / "001" / "warc"
        warc.mkdir(parents=True)
        # Its tables cannot be read here.
        frontier = folder / "some name" / "shards" / "001" / "frontier"
        frontier.mkdir()
        (frontier / "CURRENT").write_bytes(b"")
        mark_state(folder / "some name", "mine", 1, 3)
        (warc / FACTS).write_bytes(b"0123456789")
        (warc / PAGES).write_bytes(b"bodies")
        write_committed(warc, {FACTS: 7, PAGES: 6})
        order = PlaceOrder(folder, "mine", Config(), self.keys.of_shard(1), f"tcp://127.0.0.2:{port}")
        self.process: subprocess.Popen[bytes] = start_beside("rdfspider.run.place_process", pickle.dumps(order))
        assert self.process.stdout is not None
        address = self.process.stdout.readline().decode().strip() if has_reader else order.address
        if not has_reader:
            self.process.stdout.close()
        self.place = PlaceRecord("mine", "127.0.0.2", str(folder), address, self.keys.shards[1].public.decode())

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.close()


def test_it_says_nothing_when_nobody_reads_its_address(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As when the parent was killed while it was started."""
    (port,) = find_free_ports(1)
    desk = Desk(tmp_path, str(port), has_reader=False)
    with PlaceClient(desk.place, desk.keys.of_coordinator(), 60.0) as client:
        assert msgspec.msgpack.decode(client.ask(Lengths(1))) == {FACTS: 7}
    desk.close()
    assert capfd.readouterr().err == ""


def test_it_tells_what_is_committed_and_no_more(desk: Desk) -> None:
    with PlaceClient(desk.place, desk.keys.of_coordinator()) as client:
        assert msgspec.msgpack.decode(client.ask(Lengths(1))) == {FACTS: 7}
        assert client.ask(ReadPart(1, FACTS, 2, 100)) == b"23456"
        assert client.ask(ReadPart(1, FACTS, 2, 3)) == b"234"
        assert client.ask(ReadPart(1, FACTS, 8, 3)) == b""


def test_it_says_why_there_is_no_answer(desk: Desk) -> None:
    with PlaceClient(desk.place, desk.keys.of_coordinator()) as client:
        for request, why in (
            (Lengths(0), "it has no state there"),
            (ReadPart(1, "../../state.json", 0, 10), "there is no segment"),
            (ReadRecord(1, PAGES, 0), "cannot be read"),
            (ReadPart(1, FACTS, -5, 10), "Invalid argument"),
            (ReadPart(1, f"\0{FACTS}", 0, 10), "the question cannot be answered: ValueError"),
            (ReadRecord(1, PAGES, -1), "ends before -1"),
            (AskFrontier(1, "close", ()), "there is no question"),
            (AskFrontier(1, "find", ("http://a.test/",)), "001/frontier"),
        ):
            with pytest.raises(AwayError, match=why):
                client.ask(request)


def test_it_answers_the_coordinators_key_alone(desk: Desk) -> None:
    with (
        PlaceClient(desk.place, desk.keys.of_shard(1), timeout_s=1.0) as client,
        pytest.raises(AwayError, match="is away"),
    ):
        client.ask(Lengths(1))
