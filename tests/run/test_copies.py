"""Copies of a running crawl that a user asks for: who is asked, what is told, and what they leave alone."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loopback import run_loop
from rdfspider.backup.manifests import (
    HEAD,
    begin_epoch,
    find_newest,
    list_epochs,
    list_members,
    list_places,
    name_shard,
)
from rdfspider.backup.objects import Objects
from rdfspider.backup.pace import Limits
from rdfspider.backup.shipment import Shipper, Snapshot
from rdfspider.config import BackupConfig, Config, CrawlConfig
from rdfspider.crawl.budgets import EndReason
from rdfspider.crawl.folder import identify_crawl
from rdfspider.crawl.messages import Beat, Command, CommandAnswer, CopyState
from rdfspider.run.copies import CrawlCopies, MemberCopies
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.peers.messages import Arrival, Control, ControlCommand
from rdfspider.run.shipping import Shipping

OURS, THEIRS = "0123456789abcdef", "fedcba9876543210"
MEMBER = name_shard(0)
SHARDS = 2


def make_command(url: Path, ticket: str = "one") -> Command:
    return Command("backup", to=str(url), ticket=ticket)


def make_copies(folder: Path) -> tuple[Coordinator, CrawlCopies]:
    (folder / "crawl.toml").write_text("[run]\n")
    config = Config(crawl=CrawlConfig(shards=SHARDS))
    coordinator = Coordinator(SHARDS, config.crawl)
    for shard in range(SHARDS):
        coordinator.receive(Arrival(shard, 1, 0, 0))
    return coordinator, CrawlCopies(folder, config, coordinator, None)


def beat(coordinator: Coordinator, shard: int, copy: CopyState) -> None:
    coordinator.receive(Beat(shard, 1, 1000.0, 77, (1, 2), False, copy=copy))


async def ask_until_done(copies: CrawlCopies, command: Command) -> CommandAnswer:
    while (answer := copies.answer(command)[0]).waiting:
        await asyncio.sleep(0.001)
    return answer


def test_shards_are_asked_and_the_small_files_come_last(tmp_path: Path) -> None:
    async def run() -> None:
        coordinator, copies = make_copies(tmp_path)
        store, objects = tmp_path / "store", Objects(str(tmp_path / "store"))
        answer, told = copies.answer(make_command(store))
        order = Control(ControlCommand.COPY, "one", (str(store), identify_crawl(tmp_path)))
        assert told == [(0, order), (1, order)]
        assert answer.waiting == ("shard 0", "shard 1", "settings and seeds")
        assert copies.answer(make_command(store))[1] == []
        other, _ = copies.answer(make_command(tmp_path / "other", "two"))
        assert (other.is_done, other.message) == (False, f"a copy to {store} is under way")
        beat(coordinator, 0, CopyState("one", True, "", 10, 5))
        # Shard 1 dies and comes back: it is asked again.
        assert (1, order) in coordinator.receive(Arrival(1, 2, 0, 0))
        copies.look()
        assert objects.list(f"{HEAD}/") == []
        coordinator.receive(Beat(1, 2, 1000.0, 78, (1, 2), False, copy=CopyState("one", True, "", 20, 0)))
        answer = await ask_until_done(copies, make_command(store))
        assert list_members(objects) == [HEAD]
        assert (answer.is_done, answer.count, answer.bytes - 30, answer.sent_bytes - 5) == (True, SHARDS, 6, 6)
        assert order not in [message for _, message in coordinator.receive(Arrival(0, 3, 0, 0))]
        await copies.finish()

    run_loop(run())


def test_what_a_shard_cannot_send_is_told_and_another_copy_may_begin(tmp_path: Path) -> None:
    coordinator, copies = make_copies(tmp_path)
    copies.answer(make_command(tmp_path / "store"))
    beat(coordinator, 1, CopyState("one", problem="the store is away"))
    assert copies.answer(make_command(tmp_path / "store"))[0] == CommandAnswer(False, "shard 1: the store is away")
    assert copies.answer(make_command(tmp_path / "store", "two"))[0].is_done
    coordinator.end(EndReason.ASKED)
    answer, told = copies.answer(make_command(tmp_path / "store", "two"))
    assert (answer.is_done, told) == (False, [])
    assert answer.message == "the crawl ends before the copy is complete; try again when it has ended"


def test_shards_that_arrive_later_are_not_asked_for_a_copy_that_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coordinator, copies = make_copies(tmp_path)

    def is_asked(epoch: int) -> bool:
        messages = [message for _, message in coordinator.receive(Arrival(0, epoch, 0, 0))]
        return any(isinstance(message, Control) and message.command == ControlCommand.COPY for message in messages)

    copies.answer(make_command(tmp_path / "store"))
    copies.look()
    assert is_asked(2)
    beat(coordinator, 1, CopyState("one", problem="the store is away"))
    copies.look()
    assert not is_asked(3)
    # Nobody asks how it stands.
    copies.answer(make_command(tmp_path / "store", "two"))
    assert is_asked(4)
    monkeypatch.setattr("rdfspider.run.copies._PATIENCE_S", -1.0)
    copies.look()
    assert not is_asked(5)
    copies.answer(make_command(tmp_path / "store", "two"))
    assert is_asked(6)


def test_a_shard_that_stays_away_ends_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coordinator, copies = make_copies(tmp_path)
    coordinator.note_exit(1)
    copies.answer(make_command(tmp_path / "store"))
    assert copies.answer(make_command(tmp_path / "store"))[0].is_done
    monkeypatch.setattr("rdfspider.run.copies._AWAY_S", 0.0)
    answer = copies.answer(make_command(tmp_path / "store"))[0]
    assert (answer.is_done, answer.message) == (False, "shard 1 has been away for 0 seconds; try again when it is back")


class Member:
    """A member with one file, its own backup, and copies of it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "file"
        self.file.write_bytes(bytes(1000))
        self.own_store, self.safe, self.take_now = folder / "own", 0, self.take_file
        config = BackupConfig(url=str(self.own_store))
        begin_epoch(Objects(config.url), HEAD, 1)
        epoch = begin_epoch(Objects(config.url), MEMBER, 7)
        self.own = Shipping(config, MEMBER, self.take, epoch=epoch, on_shipped=lambda inbox: self.count())
        self.copies = MemberCopies(config, MEMBER, self.take, lambda: None, self.own)

    def count(self) -> None:
        self.safe += 1

    async def take(self) -> Snapshot:
        return await self.take_now()

    async def take_file(self) -> Snapshot:
        return Snapshot(taken=1.0, generation=(7, 3), files={"a.sst": self.file})

    async def copy(self, url: Path, ticket: str, crawl: str = OURS) -> CopyState:
        self.copies.begin(ticket, str(url), crawl)
        while (state := self.copies.state) is None or not (state.is_done or state.problem):
            await asyncio.sleep(0.001)
        return state


@pytest.mark.parametrize("has_shipped", [False, True])
def test_a_copy_to_the_own_store_is_a_shipment_by_whatever_name(has_shipped: bool, tmp_path: Path) -> None:
    async def run() -> None:
        member = Member(tmp_path)
        if has_shipped:
            await member.own.ship()
        (tmp_path / "link").symlink_to(member.own_store)
        state = await member.copy(tmp_path / "link", "one")
        assert state == CopyState("one", True, "", 1000, 0 if has_shipped else 1000)
        assert (list_epochs(Objects(str(member.own_store)), MEMBER), member.safe) == ([7], 1 + has_shipped)

    run_loop(run())


@pytest.mark.parametrize("has_shipped", [False, True])
def test_a_copy_of_the_own_store_is_another_store(has_shipped: bool, tmp_path: Path) -> None:
    async def run() -> None:
        member = Member(tmp_path)
        if has_shipped:
            await member.own.ship()
        shutil.copytree(member.own_store, tmp_path / "other")
        state = await member.copy(tmp_path / "other", "one")
        assert (state.is_done, member.safe) == (True, int(has_shipped))
        assert list_epochs(Objects(str(tmp_path / "other")), MEMBER) == [7, 8]
        assert not list(tmp_path.rglob("probes/*"))
        assert len(list_places(Objects(str(member.own_store)), MEMBER)) == has_shipped

    run_loop(run())


def test_a_copy_needs_the_own_store_only_where_it_may_be_that(tmp_path: Path) -> None:
    async def run() -> None:
        member = Member(tmp_path)
        member.own_store.rename(tmp_path / "away")
        assert (await member.copy(tmp_path / "other", "one")).is_done
        state = await member.copy(tmp_path / "away", "two")
        assert "no such folder" in state.problem
        assert list_epochs(Objects(str(tmp_path / "away")), MEMBER) == [7]

    run_loop(run())


def test_a_copy_does_not_replace_that_of_another_crawl(tmp_path: Path) -> None:
    async def run() -> None:
        member = Member(tmp_path)
        assert (await member.copy(tmp_path / "other", "one")).is_done
        state = await member.copy(tmp_path / "other", "two", crawl=THEIRS)
        assert f"{tmp_path / 'other'} has the backup of another crawl" in state.problem
        assert len(list_places(Objects(str(tmp_path / "other")), MEMBER)) == 1

    run_loop(run())


def test_a_shipment_that_a_copy_has_begun_does_not_outlive_the_backup(tmp_path: Path) -> None:
    async def run() -> None:
        member = Member(tmp_path)
        taking, ended = asyncio.Event(), list[str]()

        async def take() -> Snapshot:
            taking.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("taken")
            raise AssertionError

        member.take_now = take
        member.copies.begin("one", str(member.own_store), OURS)
        await taking.wait()
        await member.copies.finish()
        assert not ended
        await member.own.finish(0.01)
        assert ended == ["taken"]

    run_loop(run())


def test_a_copy_shares_the_limits_of_the_own_backup(tmp_path: Path) -> None:
    async def run() -> None:
        member = Member(tmp_path)
        member.own.limits = limits = CountingLimits()
        with limits.share():
            assert (await member.copy(tmp_path / "other", "one")).is_done
        assert limits.counts == [1, 2]

    run_loop(run())


class CountingLimits(Limits):
    """Notes how many send when another one begins."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: list[int] = []

    @contextmanager
    def share(self) -> Iterator[None]:
        with super().share():
            self.counts.append(self.senders)
            yield


def test_a_copy_elsewhere_makes_nothing_safe_and_no_later_state_is_replaced(tmp_path: Path) -> None:
    async def run() -> None:
        member = Member(tmp_path)
        for number in range(2):
            state = await member.copy(tmp_path / "other", f"copy {number}")
            assert state == CopyState(f"copy {number}", True, "", 1000, 0 if number else 1000)
        newest = find_newest(Objects(str(tmp_path / "other")), MEMBER)
        assert newest is not None
        assert (newest.epoch, newest.generation, member.safe) == (8, (7, 3), 0)
        later = Objects(str(tmp_path / "later"))
        Shipper(later, MEMBER, 9).ship(Snapshot(taken=1.0, generation=(9, 1)))
        state = await member.copy(tmp_path / "later", "too late")
        assert "has a later state of shards/000" in state.problem
        assert list_epochs(later, MEMBER) == [9]
        # The crawl's own backup knows nothing of it.
        assert (await member.own.ship()).manifest.epoch == 7

    run_loop(run())
