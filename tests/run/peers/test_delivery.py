"""How links for one shard are counted, with a real outbox and without sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from peering import make_domains
from rdfspider.config import Config
from rdfspider.frontier import outbox
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.outbox import START, Cursor
from rdfspider.records import Discovered
from rdfspider.run.peers import delivery
from rdfspider.run.peers.delivery import Delivery
from rdfspider.run.peers.messages import encode_links

ENTRIES = 20_000


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Frontier]:
    frontier = Frontier(tmp_path / "frontier", Config(), make_domains(2), 0)
    yield frontier
    frontier.close()


def count(delivery: Delivery) -> tuple[int, int, int]:
    links = delivery.count(1.0)
    return links.sent, links.received, links.durable


def send_all(frontier: Frontier, entries: int) -> tuple[Delivery, list[Cursor]]:
    """Entries of one link each, all of which are received and none of which is durable."""
    payload = encode_links([Discovered("http://a.test/")])
    for _ in range(entries):
        frontier.outbox.put(1, payload)
    frontier.commit()
    sent = Delivery(frontier, 1, 0.0)
    sent.resume(START, START)
    cursors: list[Cursor] = []
    while taken := sent.take():
        cursors += [links.cursor for links in taken]
        sent.acknowledge(cursors[-1], START)
    return sent, cursors


def test_what_waits_to_be_durable_takes_little_memory_and_is_counted(frontier: Frontier) -> None:
    """As while the store of a backup is away for hours."""
    sent, cursors = send_all(frontier, ENTRIES)
    assert len(cursors) == ENTRIES
    assert len(sent._undurable) <= delivery._MAX_STEPS
    assert count(sent) == (ENTRIES, ENTRIES, 0)
    sent.acknowledge(cursors[-1], cursors[ENTRIES // 2])
    assert ENTRIES * 0.49 < count(sent)[2] <= ENTRIES // 2 + 1
    sent.acknowledge(cursors[-1], cursors[-1])
    assert count(sent) == (ENTRIES, ENTRIES, ENTRIES)
    assert not sent._undurable


def test_what_a_destination_has_lost_is_counted_once(frontier: Frontier) -> None:
    sent, cursors = send_all(frontier, 100)
    sent.resume(cursors[39], cursors[19])
    assert count(sent) == (40, 40, 20)
    while taken := sent.take():
        sent.acknowledge(taken[-1].cursor, START)
    sent.acknowledge(cursors[-1], cursors[-1])
    assert count(sent) == (100, 100, 100)


def test_what_is_not_gone_yet_is_sent_again_to_one_that_was_put_back(
    frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of very much that is durable only a part is gone at first; the destination comes back from a copy before its last one."""
    monkeypatch.setattr(outbox, "_FREED_AT_ONCE_BYTES", 1)
    sent, cursors = send_all(frontier, 10)
    sent.acknowledge(cursors[-1], cursors[7])
    assert frontier.outbox.freed(1) == cursors[0]
    monkeypatch.undo()
    sent.resume(cursors[4], START)
    assert [links.cursor for links in sent.take()] == cursors[5:]
    assert frontier.outbox.freed(1) <= cursors[4]
