"""Real shards' frontiers and sockets, all in one process or in several that are killed."""

import asyncio
import itertools
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq

from peering import Crawl, Shard, make_domains, send_beats, until
from rdfspider.config import Config, CrawlConfig, FrontierConfig
from rdfspider.crawl.messages import LinksTo
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.address_clocks import find_owner
from rdfspider.records import Discovered, Esteem
from rdfspider.run.peers.messages import ALL_TOLD, Control, Hello, Links, MessageBatch, encode_links
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.runners.local import LocalRunner

DELAY_S = 0.05


@pytest.fixture
def sockets() -> Iterator[LocalRunner]:
    runner = LocalRunner(8)
    yield runner
    runner.close()


def take_addresses(runner: LocalRunner, shards: int) -> AddressBook:
    return runner.addresses._replace(shards=runner.addresses.shards[:shards])


@pytest.fixture
def tell(tmp_path: Path, sockets: LocalRunner) -> Callable[..., None]:
    """Runs a story of a crawl, and closes what it left open."""

    def run(story: Callable[[Crawl], Coroutine[Any, Any, None]], shards: int = 2, **crawl: int) -> None:
        config = Config(crawl=CrawlConfig(shards=shards, **crawl), frontier=FrontierConfig(ip_delay_s=DELAY_S))

        async def tell() -> None:
            told = Crawl(tmp_path, take_addresses(sockets, shards), config)
            try:
                await asyncio.wait_for(story(told), 60)
            finally:
                await told.stop_all()

        asyncio.run(tell())

    return run


def test_links_arrive_and_are_acknowledged(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        await until(lambda: first.peers.is_settled)
        first.send(1, "http://a.test/1", "http://a.test/2")
        second.send(0, "http://b.test/1")
        await asyncio.sleep(0)
        assert not first.peers.is_settled
        await until(lambda: first.peers.is_settled and second.peers.is_settled)
        assert second.knows("http://a.test/1")
        assert second.knows("http://a.test/2")
        assert first.knows("http://b.test/1")
        await until(lambda: not first.frontier.has_staged)
        assert first.frontier.outbox.stored_bytes == 0

    tell(story)


def test_links_are_acknowledged_only_when_they_are_durable(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        second.holds_commits = True
        first.send(1, "http://a.test/1")
        await until(lambda: second.frontier.has_staged)
        await asyncio.sleep(0.1)
        assert not first.peers.is_settled
        second.commit()
        await until(lambda: first.peers.is_settled)

    tell(story)


def test_a_peer_that_is_not_there_is_sent_everything_when_it_comes(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        for n in range(50):
            first.send(1, f"http://a.test/{n}")
        await asyncio.sleep(0.2)
        assert not first.peers.is_settled
        await crawl.stop(first)
        first = await crawl.start(0)
        first.send(1, "http://a.test/50")
        second = await crawl.start(1)
        await until(lambda: first.peers.is_settled)
        assert all(second.knows(f"http://a.test/{n}") for n in range(51))
        assert second.frontier.inbox.cursor(0) == (2, 1)

    tell(story)


def test_a_shard_learns_from_its_peers_which_numbers_it_gave_out_before_it_was_put_back(
    tell: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        first.send(1, "http://a.test/1")
        await until(lambda: first.peers.is_settled)
        await crawl.stop(first)
        shutil.copytree(crawl.folder / "0", crawl.folder / "copy")
        first = await crawl.start(0)
        first.frontier.add([Discovered(f"http://b{n}.test/") for n in range(5000)])
        first.send(1, "http://a.test/2")
        await until(lambda: first.peers.is_settled)
        assert second.frontier.inbox.numbered(0) == first.frontier.numbered == (5000, 5000)
        await crawl.stop(first)
        shutil.rmtree(crawl.folder / "0")
        (crawl.folder / "copy").rename(crawl.folder / "0")
        first = await crawl.start(0, epoch=3)
        await until(lambda: first.peers.is_settled)
        first.frontier.add([Discovered("http://c.test/")])
        assert first.frontier.numbered > (5000, 5000)

    tell(story)
    assert caplog.messages == ["shard 0 was put back to an older copy, as shard 1 knows"]


def test_a_shard_whose_peer_restarts_leaves_out_no_numbers(
    tell: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        first.frontier.add([Discovered(f"http://b{n}.test/{n}") for n in range(500)])
        for url in ("http://a.test/1", "http://a.test/2", "http://a.test/3"):
            first.send(1, url)
            # It is sent when the peer has told what it knows.
            while not (second.knows(url) and first.peers.is_settled):
                await asyncio.sleep(0.005)
            assert second.frontier.inbox.numbered(0) == first.frontier.numbered == (500, 500)
            await crawl.stop(second)
            second = await crawl.start(1)

    tell(story)
    assert not caplog.messages


@pytest.mark.parametrize("numbered", [(-1, 0), (0, -1), (1 << 28, 0), (0, 1 << 54), (1 << 63, 1 << 63)])
def test_numbers_that_no_shard_gives_out_are_not_believed(
    tell: Callable[..., None], caplog: pytest.LogCaptureFixture, numbered: tuple[int, int]
) -> None:
    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        other = Player(crawl.addresses, 1, epoch=7)
        await other.meet(first, numbered)
        await until(lambda: first.peers.is_settled)
        first.frontier.add([Discovered("http://a.test/")])
        first.commit()
        assert first.frontier.numbered == (1, 1)
        other.close()

    tell(story)
    hosts, urls = numbered
    assert caplog.messages == [f"shard 1 tells of numbers that no shard gives out: {hosts} hosts, {urls} URLs"]


def test_what_the_link_graph_says_reaches_each_shard_also_one_that_comes_later(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        await until(lambda: 0 in crawl.coordinator.present)
        tables = {0: [Esteem("a.test", -1)], 1: [Esteem("b.test", 2)]}
        crawl.hub.send(crawl.coordinator.tell_esteem(tables))
        await until(lambda: first.frontier._core.steps.of("www.a.test") == -1)
        second = await crawl.start(1)
        await until(lambda: second.frontier._core.steps.of("b.test") == 2)
        assert first.frontier._core.steps.of("b.test") == 0
        crawl.hub.send(crawl.coordinator.tell_esteem({0: [], 1: []}))
        await until(
            lambda: not any(shard.frontier._core.steps.of(f"{n}.test") for shard, n in ((first, "a"), (second, "b")))
        )

    tell(story)


def test_what_was_sent_but_not_committed_is_sent_again_to_the_next_life(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        first.send(1, "http://a.test/1")
        await until(lambda: first.peers.is_settled)
        second.holds_commits = True
        first.send(1, "http://a.test/2")
        await until(lambda: second.frontier.has_staged)
        await crawl.stop(second)
        first.send(1, "http://a.test/3")
        second = await crawl.start(1)
        assert not second.knows("http://a.test/2")
        await until(lambda: first.peers.is_settled)
        assert second.knows("http://a.test/2")
        assert second.knows("http://a.test/3")

    tell(story)


def test_links_wait_in_the_outbox_beyond_the_window(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        await until(lambda: not first.peers.missing and not second.peers.missing)
        second.holds_commits = True
        page = [f"http://a.test/{'x' * 1000}/{n}" for n in range(100)]
        for n in range(10):
            first.send(1, *(f"{url}/{n}" for url in page))
        await until(lambda: second.taken == 3)
        await asyncio.sleep(0.1)
        second.frontier.commit()
        # Entries of 100 KB: the third passes the limit of 256 KB.
        assert second.frontier.inbox.cursor(0) == (1, 3)
        second.holds_commits = False
        second.peers.after_commit()
        await until(lambda: first.peers.is_settled)
        assert second.frontier.inbox.cursor(0) == (1, 10)

    tell(story)


def test_an_outbox_can_be_full(tell: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdfspider.run.peers.peers._MAX_OUTBOX_BYTES", 1000)

    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        assert not first.peers.is_outbox_full
        first.send(1, "http://a.test/" + "x" * 1000)
        assert first.peers.is_outbox_full
        await crawl.start(1)
        await until(lambda: not first.peers.is_outbox_full)

    tell(story)


def test_repeated_links_are_taken_once(tell: Callable[..., None]) -> None:
    """The peer is played by hand, and repeats itself."""

    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        other = Player(crawl.addresses, 1, epoch=7)
        hello = await other.meet(first)
        assert hello[0] == (0, 0)

        def links(sequence: int, previous: int, url: str) -> Links:
            return Links((7, sequence), (7, previous) if previous else (0, 0), encode_links([Discovered(url)]))

        other.say(links(1, 0, "http://a.test/1"), links(1, 0, "http://a.test/1"), links(2, 1, "http://a.test/2"))
        await other.hear(lambda message: message[0] == 5 and message[1:] == [[7, 2], [7, 2]])
        other.say(links(1, 0, "http://a.test/1"), links(3, 2, "http://a.test/3"))
        await other.hear(lambda message: message[0] == 5 and message[1:] == [[7, 3], [7, 3]])
        assert first.frontier.counts.known == 3
        assert not first.frontier.inbox.lacking
        other.close()

    tell(story)


def test_what_cannot_be_read_does_not_hold_up_what_follows(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        other = Player(crawl.addresses, 1, epoch=7)
        await other.meet(first)
        other.say(Links((7, 1), (0, 0), b"\xc1"), Links((7, 2), (7, 1), encode_links([Discovered("http://a.test/2")])))
        await other.hear(lambda message: message[0] == 5 and message[1] == [7, 2])
        assert first.knows("http://a.test/2")
        other.close()

    tell(story)


def test_a_shard_that_has_lost_links_asks_until_it_is_told_again(tell: Callable[..., None]) -> None:
    """Its folder is put back to a copy; the one who sent the links hears of it, again after each restart, until all is told."""

    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        first.send(1, "http://a.test/1")
        await until(lambda: first.peers.is_settled)
        await crawl.stop(second)
        shutil.copytree(crawl.folder / "1", crawl.folder / "copy")
        second = await crawl.start(1)
        first.send(1, "http://a.test/2")
        await until(lambda: first.peers.is_settled and not first.frontier.has_staged)
        assert first.asked == []
        await crawl.stop(second)
        shutil.rmtree(crawl.folder / "1")
        shutil.copytree(crawl.folder / "copy", crawl.folder / "1")
        second = await crawl.start(1, epoch=3)
        await until(lambda: first.asked == [(1, (1, 1), True)])
        # Other links come first, and the shard remembers that it lacks some.
        first.send(1, "http://a.test/3")
        await until(lambda: second.frontier.inbox.cursor(0) == (1, 3) and not second.frontier.has_staged)
        assert not second.peers.is_settled
        await crawl.stop(first)
        await crawl.stop(second)
        first, second = await crawl.start(0), await crawl.start(1)
        await until(lambda: first.asked == [(1, (1, 3), False)])
        first.send(1, "http://a.test/2")
        first.frontier.outbox.put(1, ALL_TOLD)
        first.commit()
        await until(lambda: first.peers.is_settled and second.peers.is_settled)
        assert all(second.knows(f"http://a.test/{n}") for n in (1, 2, 3))
        await crawl.stop(second)
        await crawl.start(1)
        await until(lambda: first.peers.is_settled)
        assert len(first.asked) == 1

    tell(story)


def test_links_are_counted_and_those_that_wait_have_an_age(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        first.send(1, "http://a.test/1", "http://a.test/2")
        await until(lambda: bool(first.peers.list_links()))
        await until(lambda: first.peers.list_links()[0].oldest_s > 0)
        assert first.peers.list_links()[0].sent == 0
        second = await crawl.start(1, has_backup=True)
        await until(lambda: first.peers.is_settled)
        assert first.peers.list_links() == (LinksTo(1, 2, 2, 0, 0.0),)
        second.peers.note_backup({0: (1, 1)})
        await until(lambda: first.peers.list_links() == (LinksTo(1, 2, 2, 2, 0.0),))
        assert second.peers.list_links() == ()
        # In the next life, what was not received before has waited since its start at least.
        await crawl.stop(second)
        first.send(1, *(f"http://b.test/{number}" for number in range(70_000)))
        await crawl.stop(first)
        first = await crawl.start(0)
        await until(lambda: first.peers.list_links()[0].oldest_s > 0)
        await crawl.start(1)
        await until(lambda: first.peers.is_settled)
        assert first.peers.list_links() == (LinksTo(1, 70_000, 70_000, 70_000, 0.0),)

    tell(story)


@pytest.mark.parametrize("is_older", [False, True])
def test_with_a_backup_links_are_freed_when_it_is_written(tell: Callable[..., None], is_older: bool) -> None:
    """If the last copy is lost and the one before it is restored, the links that were freed are told again."""

    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1, has_backup=True)
        first.send(1, "http://a.test/1")
        first.send(1, "http://a.test/2")
        await until(lambda: first.peers.is_settled)
        assert second.knows("http://a.test/2")
        assert first.frontier.outbox.freed(1) == (0, 0)
        second.peers.note_backup({0: (1, 1)})
        await until(lambda: first.frontier.outbox.freed(1) == (1, 1))
        # Restored from that backup, it gets the rest.
        await crawl.stop(second)
        shutil.rmtree(crawl.folder / "1")
        second = await crawl.start(1, epoch=2, has_backup=True)
        if not is_older:
            second.frontier.inbox.resume(0, (1, 1))
            second.frontier.commit()
            second.peers._peers[0].intake.settle()
        await until(lambda: second.knows("http://a.test/2"))
        assert first.asked == ([(1, (0, 0), True)] if is_older else [])
        assert not is_older or 0 in second.frontier.inbox.lacking

    tell(story)


def test_what_was_meant_for_an_earlier_life_is_not_heard(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        other = Player(crawl.addresses, 1, epoch=7)
        await other.meet(first)
        other.is_present = False
        other.to_epoch += 1
        other.say(Links((7, 1), (0, 0), encode_links([Discovered("http://a.test/1")])))
        other.to_epoch -= 1
        other.epoch -= 1
        other.say(Links((7, 1), (0, 0), encode_links([Discovered("http://a.test/2")])))
        other.raw(b"\xc1 no batch")
        other.epoch += 1
        other.is_present = True
        other.say(Links((7, 1), (0, 0), encode_links([Discovered("http://a.test/3")])))
        await until(lambda: first.knows("http://a.test/3"))
        assert not first.knows("http://a.test/1")
        assert not first.knows("http://a.test/2")
        other.close()

    tell(story)


@pytest.mark.parametrize("owner", [0, 1])
def test_two_shards_share_an_address(tell: Callable[..., None], owner: int) -> None:
    address = find_address(owner, 2)
    visits: list[tuple[float, float]] = []

    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        await asyncio.gather(*start_visits(first, address, visits, 6), *start_visits(second, address, visits, 6))

    tell(story)
    assert len(visits) == 12
    check_pace(visits)
    # It is the pace that takes time, not the asking: nobody waits for what is done every few seconds only.
    assert max(end for _, end in visits) - min(start for start, _ in visits) < 4


def test_the_pace_holds_when_a_user_of_an_address_is_started_again(tell: Callable[..., None]) -> None:
    address = find_address(0, 2)
    visits: list[tuple[float, float]] = []

    async def story(crawl: Crawl) -> None:
        owner, user = await crawl.start(0), await crawl.start(1)
        tasks = start_visits(user, address, visits, 3)
        await until(lambda: bool(visits))
        others = start_visits(owner, address, visits, 6)
        await cancel(tasks)
        await crawl.stop(user)
        user = await crawl.start(1)
        await asyncio.gather(*start_visits(user, address, visits, 3), *others)

    tell(story)
    assert len(visits) >= 10
    check_pace(visits)


def test_the_pace_holds_when_the_owner_of_an_address_is_started_again(tell: Callable[..., None]) -> None:
    address = find_address(0, 2)
    visits: list[tuple[float, float]] = []

    async def story(crawl: Crawl) -> None:
        owner, user = await crawl.start(0), await crawl.start(1)
        tasks = start_visits(user, address, visits, 20)
        await until(lambda: bool(visits))
        await crawl.stop(owner)
        # The user goes on with what it was granted; the new owner must not grant it to itself meanwhile.
        owner = await crawl.start(0)
        await asyncio.gather(*start_visits(owner, address, visits, 5), *tasks)

    tell(story)
    assert len(visits) == 25
    check_pace(visits)


def test_with_one_shard_an_address_has_its_pace_too(tell: Callable[..., None]) -> None:
    visits: list[tuple[float, float]] = []

    async def story(crawl: Crawl) -> None:
        shard = await crawl.start(0)
        await asyncio.gather(*(visit(shard, "192.0.2.1", visits) for _ in range(4)))

    tell(story, shards=1)
    check_pace(visits)


def test_the_end_is_found_when_all_are_idle_and_nothing_is_on_its_way(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        shards = [await crawl.start(number) for number in range(3)]
        shards[0].is_idle = shards[1].is_idle = True
        shards[2].holds_commits = True
        shards[0].send(2, "http://a.test/1")
        await until(lambda: shards[2].frontier.has_staged)
        shards[2].is_idle = True
        send_beats(shards)
        await asyncio.sleep(0.1)
        assert not crawl.coordinator.ended
        shards[2].commit()
        await until(lambda: shards[0].peers.is_settled and not shards[0].frontier.has_staged)
        send_beats(shards)
        await until(lambda: all(shard.controls for shard in shards))
        assert [shard.controls for shard in shards] == [[Control("stop", "finished")]] * 3

    tell(story, shards=3)


def test_the_limit_of_pages_is_exact_over_shards_and_their_restarts(tell: Callable[..., None]) -> None:
    """A shard takes what it can get, dies with permits in its hands, and comes back; the other gets the rest."""

    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        taken = 0
        while taken < 6:
            await until(first.peers.coordinator.permits.has_one)
            first.peers.coordinator.permits.reserve()
            taken += 1
        await until(second.peers.coordinator.permits.has_one)
        await crawl.stop(first)
        # Permits of the dead one may have been spent: they are not given to anybody before it is back.
        rest = 0
        for _ in range(40):
            await asyncio.sleep(0.01)
            while second.peers.coordinator.permits.has_one():
                second.peers.coordinator.permits.reserve()
                rest += 1
        assert rest <= 4
        first = await crawl.start(0)
        while rest < 10:
            await until(second.peers.coordinator.permits.has_one)
            second.peers.coordinator.permits.reserve()
            rest += 1
        await asyncio.sleep(0.1)
        assert not second.peers.coordinator.permits.has_one()
        assert not first.peers.coordinator.permits.has_one()

    tell(story, pages=10)


def test_permits_that_are_not_used_go_to_who_waits(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        await until(first.peers.coordinator.permits.has_one)
        first.peers.coordinator.permits.receive(0)
        for _ in range(2):
            await until(second.peers.coordinator.permits.has_one)
            second.peers.coordinator.permits.reserve()

    tell(story, pages=2)


def test_commands_and_findings_reach_all_shards(tell: Callable[..., None]) -> None:
    async def story(crawl: Crawl) -> None:
        first, second = await crawl.start(0), await crawl.start(1)
        await until(lambda: len(crawl.coordinator.present) == 2)
        crawl.hub.send(crawl.coordinator.execute("pause")[1])
        await until(lambda: bool(first.controls and second.controls))
        first.peers.coordinator.tell_scope(("example.test",))
        found = Control("scope", additions=("example.test",))
        await until(lambda: found in first.controls and found in second.controls)
        await crawl.stop(second)
        second = await crawl.start(1)
        await until(lambda: len(second.controls) == 2)
        assert second.controls == [Control("pause"), found]

    tell(story)


def test_a_shard_without_a_coordinator_halts(tell: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdfspider.run.peers.coordinator_client._LINGER_MS", 0)
    monkeypatch.setattr("rdfspider.run.peers.peers._BEAT_TICKS", 1)

    async def story(crawl: Crawl) -> None:
        shard = await crawl.start(0)
        # Longer than it would wait for one who says nothing.
        for _ in range(25):
            send_beats([shard])
            await asyncio.sleep(0.1)
        assert not shard.controls
        crawl.hub.close()
        await until(lambda: bool(shard.controls))
        assert shard.controls == [Control("halt", "the coordinator is gone")]

    tell(story, shards=1)


def test_a_missing_peer_is_named(tell: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdfspider.run.peers.peers._MISSING_LIVES", 600.0)

    async def story(crawl: Crawl) -> None:
        first = await crawl.start(0)
        assert first.peers.missing == ()
        monkeypatch.setattr("rdfspider.run.peers.peers._MISSING_LIVES", 1.0)
        await until(lambda: first.peers.missing == (1,))
        await crawl.start(1)
        await until(lambda: first.peers.missing == ())

    tell(story)


def test_no_link_is_lost_when_shards_are_killed(tmp_path: Path, sockets: LocalRunner) -> None:
    """Three processes send each other links, and are killed in the middle of it until all has arrived."""
    chance = random.Random(5)
    addresses = take_addresses(sockets, 3)
    processes = {number: start_process(number, tmp_path, addresses) for number in range(3)}

    def wait_for(mark: str, numbers: Iterable[int]) -> None:
        deadline = time.monotonic() + 120
        while not all((tmp_path / f"{number}.{mark}").exists() for number in numbers):
            assert time.monotonic() < deadline
            assert all(process.poll() is None for process in processes.values())
            time.sleep(0.01)

    try:
        for _ in range(6):
            victim = chance.randrange(3)
            wait_for("open", [victim])
            time.sleep(chance.uniform(0.0, 0.3))
            processes[victim].kill()
            processes[victim].wait()
            for mark in ("open", "done"):
                (tmp_path / f"{victim}.{mark}").unlink(missing_ok=True)
            processes[victim] = start_process(victim, tmp_path, addresses)
        wait_for("done", range(3))
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    config = Config(crawl=CrawlConfig(shards=3))
    for number in range(3):
        frontier = Frontier(tmp_path / str(number) / "frontier", config, make_domains(3), number)
        others = [other for other in range(3) if other != number]
        assert all(frontier.find(f"http://s{other}.test/{n}") for other in others for n in range(PAGES))
        assert frontier.counts.known == 2 * PAGES
        frontier.close()


PAGES = 2000


async def send_pages(number: int, folder: Path, addresses: AddressBook) -> None:
    """What one of those processes does: each page has a link for each other shard, and its number is stored with them."""
    shard = Shard(number, folder, addresses, Config(crawl=CrawlConfig(shards=3)))
    await shard.start()
    (folder / f"{number}.open").touch()
    page = int(shard.frontier.meta.get("page") or b"0")
    while page < PAGES:
        for destination in shard.peers.others:
            shard.frontier.outbox.put(destination, encode_links([Discovered(f"http://s{number}.test/{page}")]))
        page += 1
        shard.frontier.meta.put("page", b"%d" % page)
        if page % 7 == 0 or page == PAGES:
            shard.commit()
            await asyncio.sleep(0.005)
    await until(lambda: shard.peers.is_settled and not shard.frontier.has_staged)
    (folder / f"{number}.done").touch()
    await asyncio.sleep(600)


def start_process(number: int, folder: Path, addresses: AddressBook) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen([sys.executable, __file__, str(number), str(folder), *addresses.shards], env=environment)


def find_address(owner: int, shards: int) -> str:
    return next(f"192.0.2.{n}" for n in range(100) if find_owner(f"192.0.2.{n}", shards) == owner)


def start_visits(shard: Shard, address: str, visits: list[tuple[float, float]], count: int) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(visit(shard, address, visits)) for _ in range(count)]


async def cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def visit(shard: Shard, address: str, visits: list[tuple[float, float]]) -> None:
    await shard.peers.gate.acquire(address)
    start = time.monotonic()
    try:
        await asyncio.sleep(DELAY_S / 5)
    finally:
        visits.append((start, time.monotonic()))
        shard.peers.gate.release(address)


def check_pace(visits: list[tuple[float, float]]) -> None:
    for (_, end), (start, _) in itertools.pairwise(sorted(visits)):
        assert start >= end + DELAY_S


class Player:
    """A peer whose every word is written by the test."""

    def __init__(self, addresses: AddressBook, number: int, epoch: int) -> None:
        self.number, self.epoch, self.to_epoch = number, epoch, 0
        self._said = self._received = 0
        self.is_present = True
        self._context = zmq.Context()
        self._in = self._context.socket(zmq.PULL)
        self._in.bind(addresses.shards[number])
        self._out = self._context.socket(zmq.PUSH)
        self._out.linger = 0
        self._out.connect(addresses.shards[0])
        self._heard: list[Any] = []

    def raw(self, frame: bytes) -> None:
        self._out.send(frame)

    def say(self, *messages: Any) -> None:
        """Say something in a parcel of its own, which counts only if it is meant for the present epoch."""
        batch = MessageBatch(
            self.number, self.epoch, self.to_epoch, self._said + 1, self._received, False, list(messages)
        )
        self._said += self.is_present
        self.raw(msgspec.msgpack.encode(batch))

    async def hear(self, wanted: Callable[[Any], bool]) -> Any:
        """The first message, as plain lists, that is wanted."""
        while True:
            for message in self._heard:
                if wanted(message):
                    self._heard.remove(message)
                    return message
            await asyncio.sleep(0.005)
            while self._in.poll(0):
                source, _, _, number, _, _, messages = msgspec.msgpack.decode(self._in.recv())
                assert source == 0
                if number == self._received + 1:
                    self._received = number
                    self._heard += messages

    async def meet(self, shard: Shard, numbered: tuple[int, int] = (0, 0)) -> Any:
        self.to_epoch = shard.frontier.epoch
        self.say(Hello((0, 0), (0, 0), numbered=numbered))
        _, cursor, *rest = await self.hear(lambda message: message[0] == 3)
        return tuple(cursor), *rest

    def close(self) -> None:
        self._in.close()
        self._out.close()
        self._context.term()


if __name__ == "__main__":
    asyncio.run(send_pages(int(sys.argv[1]), Path(sys.argv[2]), AddressBook("ipc:///nowhere", tuple(sys.argv[3:]))))
