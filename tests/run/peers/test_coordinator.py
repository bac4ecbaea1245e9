import asyncio

import msgspec
import pytest

from rdfspider.config import CrawlConfig
from rdfspider.crawl.messages import Beat
from rdfspider.frontier.clock import Clock
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.peers.coordinator_hub import CoordinatorHub, send_command
from rdfspider.run.peers.messages import (
    Arrival,
    Book,
    Control,
    Heard,
    Permits,
    PermitsReturned,
    PermitsWanted,
    Recall,
    Round,
    RoundAnswer,
    ScopeFound,
    Welcome,
)
from rdfspider.run.runners.local import LocalRunner

NO_LIMITS = CrawlConfig()


class FakeClock(Clock):
    seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


def make_coordinator(config: CrawlConfig = NO_LIMITS, shards: int = 2, spent_s: float = 0.0) -> Coordinator:
    coordinator = Coordinator(shards, config, spent_s, clock=FakeClock())
    for shard in range(shards):
        coordinator.receive(Arrival(shard, 1, 0, 0))
    return coordinator


def make_beat(
    shard: int, *, is_idle: bool = True, commits: int = 5, epoch: int = 1, pages: int = 0, body_bytes: int = 0
) -> Beat:
    return Beat(shard, epoch, 0.0, 1, (epoch, commits), is_idle, pages=pages, body_bytes=body_bytes)


def answer(shard: int, number: int, *, is_idle: bool = True, commits: int = 5, epoch: int = 1) -> RoundAnswer:
    return RoundAnswer(shard, epoch, number, is_idle, (epoch, commits))


def test_two_rounds_of_idleness_are_the_end() -> None:
    coordinator = make_coordinator()
    assert coordinator.receive(make_beat(0)) == [(0, Heard(1))]
    assert coordinator.receive(make_beat(1)) == [(1, Heard(1)), (0, Round(1)), (1, Round(1))]
    assert coordinator.receive(answer(0, 1)) == []
    assert coordinator.receive(answer(1, 1)) == [(0, Round(2)), (1, Round(2))]
    assert coordinator.receive(answer(0, 2)) == []
    assert not coordinator.ended
    assert coordinator.receive(answer(1, 2)) == [(0, Control("stop", "finished")), (1, Control("stop", "finished"))]
    assert coordinator.ended == "finished"


def test_a_brief_beat_leaves_what_is_displayed_as_it_was() -> None:
    coordinator = make_coordinator()
    whole = msgspec.structs.replace(make_beat(0, pages=1), types={"http://schema.org/Thing": 5})
    coordinator.receive(whole)
    coordinator.receive(msgspec.structs.replace(make_beat(0, pages=2), is_brief=True))
    assert (coordinator.beats[0].pages, coordinator.beats[0].types) == (2, {"http://schema.org/Thing": 5})


def test_a_commit_between_two_rounds_means_another_round() -> None:
    coordinator = make_coordinator()
    coordinator.receive(make_beat(0))
    coordinator.receive(make_beat(1))
    coordinator.receive(answer(0, 1))
    coordinator.receive(answer(1, 1))
    coordinator.receive(answer(0, 2))
    assert coordinator.receive(answer(1, 2, commits=6)) == [(0, Round(3)), (1, Round(3))]
    coordinator.receive(answer(0, 3))
    coordinator.receive(answer(1, 3, commits=6))
    assert coordinator.ended == "finished"


def test_a_shard_that_has_work_again_ends_the_rounds() -> None:
    coordinator = make_coordinator()
    coordinator.receive(make_beat(0))
    coordinator.receive(make_beat(1))
    coordinator.receive(answer(0, 1))
    coordinator.receive(answer(1, 1))
    assert coordinator.receive(answer(0, 2, is_idle=False)) == []
    assert coordinator.receive(answer(1, 2)) == []
    assert coordinator.receive(make_beat(0, is_idle=False)) == [(0, Heard(1))]
    assert coordinator.receive(make_beat(0))[1:] == [(0, Round(3)), (1, Round(3))]
    coordinator.receive(answer(0, 3))
    # Round 1 does not count any more.
    assert coordinator.receive(answer(1, 3)) == [(0, Round(4)), (1, Round(4))]


def test_a_crawl_does_not_end_while_a_shard_is_missing() -> None:
    coordinator = make_coordinator()
    coordinator.receive(make_beat(0))
    coordinator.receive(make_beat(1))
    coordinator.note_exit(1)
    assert coordinator.present == {0}
    assert coordinator.receive(answer(0, 1)) == []
    assert coordinator.receive(make_beat(0)) == [(0, Heard(1))]
    coordinator.receive(Arrival(1, 2, 0, 0))
    assert coordinator.receive(make_beat(0)) == [(0, Heard(1))]
    assert coordinator.receive(make_beat(1, epoch=1)) == []
    assert (1, Round(2)) in coordinator.receive(make_beat(1, epoch=2))


def test_a_round_that_is_not_answered_is_given_up() -> None:
    coordinator = make_coordinator()
    coordinator.receive(make_beat(0))
    coordinator.receive(make_beat(1))
    assert coordinator.receive(make_beat(0)) == [(0, Heard(1))]
    coordinator._clock.seconds += 11  # type: ignore[attr-defined]
    coordinator.tick()
    assert (0, Round(2)) in coordinator.receive(make_beat(0))


def test_permits_are_given_recalled_and_given_to_who_waits() -> None:
    coordinator = make_coordinator(CrawlConfig(pages=4))
    assert coordinator.receive(PermitsWanted(0, 1, 64)) == [(0, Permits(1, 1))]
    for _ in range(3):
        coordinator.receive(PermitsWanted(0, 1, 64))
    assert coordinator.receive(PermitsWanted(1, 1, 64)) == [(0, Recall(1))]
    # Who does not use its permits now may do so never, so they are asked for again and again.
    assert coordinator.tick() == [(0, Recall(1))]
    assert coordinator.receive(PermitsReturned(0, 1, 2)) == [(1, Permits(1, 1))]


def test_the_limit_of_pages_ends_a_crawl_when_they_are_committed() -> None:
    coordinator = make_coordinator(CrawlConfig(pages=4))
    assert coordinator.receive(make_beat(0, pages=3, is_idle=False)) == [(0, Heard(1))]
    outgoing = coordinator.receive(make_beat(1, pages=1, is_idle=False))
    assert (0, Control("stop", "pages")) in outgoing
    assert coordinator.ended == "pages"


def test_a_crawl_that_had_all_its_pages_ends_at_once() -> None:
    coordinator = Coordinator(1, CrawlConfig(pages=4), clock=FakeClock())
    assert coordinator.receive(Arrival(0, 2, 4, 0)) == [(0, Control("stop", "pages")), (0, Welcome(2))]


def test_the_limit_of_bytes_ends_a_crawl() -> None:
    coordinator = make_coordinator(CrawlConfig(bytes=1000))
    coordinator.receive(make_beat(0, body_bytes=600, is_idle=False))
    coordinator.receive(make_beat(1, body_bytes=600, is_idle=False))
    assert coordinator.ended == "bytes"


def test_the_limit_of_time_counts_earlier_runs() -> None:
    coordinator = make_coordinator(CrawlConfig(time_s=60.0), spent_s=50.0)
    coordinator._clock.seconds += 9.0  # type: ignore[attr-defined]
    assert coordinator.tick() == []
    coordinator._clock.seconds += 1.0  # type: ignore[attr-defined]
    assert coordinator.tick() == [(0, Control("stop", "time")), (1, Control("stop", "time"))]
    assert coordinator.ran_s == 60.0


def test_what_is_found_to_be_in_scope_is_told_to_all_once() -> None:
    coordinator = make_coordinator()
    told = Control("scope", additions=("example.org",))
    assert coordinator.receive(ScopeFound(0, 1, ("example.org",))) == [(0, told), (1, told)]
    assert coordinator.receive(ScopeFound(1, 1, ("example.org",))) == []
    assert coordinator.receive(Arrival(1, 2, 0, 0)) == [(1, told), (1, Welcome(2))]
    assert coordinator.receive(Arrival(1, 3, 0, 0, ("example.org",))) == [(1, Welcome(3))]


def test_a_shard_that_comes_late_hears_of_the_pause_and_of_the_end() -> None:
    coordinator = make_coordinator()
    coordinator.execute("pause")
    assert coordinator.receive(Arrival(1, 2, 0, 0)) == [(1, Control("pause")), (1, Welcome(2))]
    coordinator.execute("resume")
    coordinator.execute("stop")
    assert coordinator.receive(Arrival(1, 3, 0, 0)) == [(1, Control("stop", "asked")), (1, Welcome(3))]


def test_shards_are_slowed_while_there_is_a_reason_and_the_crawl_may_end_meanwhile() -> None:
    coordinator = make_coordinator()
    slow = Control("slow", "the index is 63 s behind")
    assert coordinator.slow(slow.reason) == [(0, slow), (1, slow)]
    assert coordinator.slow(slow.reason) == []
    assert coordinator.state == "running"
    coordinator.note_exit(1)
    assert coordinator.receive(Arrival(1, 2, 0, 0)) == [(1, slow), (1, Welcome(2))]
    assert coordinator.slow("") == [(0, Control("slow")), (1, Control("slow"))]
    assert coordinator.receive(Arrival(1, 3, 0, 0)) == [(1, Welcome(3))]
    coordinator.slow(slow.reason)
    coordinator.receive(make_beat(0))
    assert (0, Round(1)) in coordinator.receive(make_beat(1, epoch=3))


def test_a_halt_follows_a_stop_but_nothing_else_does() -> None:
    coordinator = make_coordinator(shards=1)
    coordinator.execute("stop")
    assert coordinator.end("finished") == []
    assert not coordinator.execute("resume")[0].is_done
    assert coordinator.execute("halt")[1] == [(0, Control("halt", "halted"))]


def test_a_crawl_is_paused_when_no_shard_has_anything_under_way() -> None:
    coordinator = make_coordinator()
    coordinator.receive(say(0, "running"))
    assert coordinator.state == "running"
    coordinator.execute("pause")
    coordinator.receive(say(0, "paused"))
    coordinator.receive(say(1, "pausing"))
    assert coordinator.execute("status")[0].state == "pausing"
    coordinator.receive(say(1, "paused"))
    assert coordinator.execute("status")[0].state == "paused"
    # What was said before it went on does not count.
    coordinator.execute("resume")
    coordinator.execute("pause")
    assert coordinator.state == "pausing"
    coordinator.receive(say(0, "paused"))
    # Who is dead does nothing, and who comes back has to say so.
    coordinator.note_exit(1)
    assert coordinator.state == "paused"
    coordinator.receive(Arrival(1, 2, 0, 0))
    assert coordinator.state == "pausing"
    coordinator.execute("stop")
    assert coordinator.state == "stopping"


def test_what_a_shard_had_counted_before_it_died_still_counts() -> None:
    coordinator = make_coordinator(shards=1)
    for epoch in (1, 2, 3):
        coordinator.receive(Arrival(0, epoch, 0, 0))
        coordinator.receive(count(epoch, 3))
        coordinator.receive(count(epoch, 5))
        coordinator.note_exit(0)
    beat = coordinator.beats[0]
    assert (beat.epoch, beat.wire_bytes, beat.pages) == (3, 1500, 5)
    assert (beat.statuses, beat.failures) == ({"200": 15, "only-1": 5, "only-2": 5, "only-3": 5}, {"timeout": 15})
    assert beat.robots == {"allowed": 15}
    # A shard keeps these itself, over all its lives.
    assert (beat.quads, beat.cpu_s) == ({"rdfa": 5}, {"all": 7.5})


def say(shard: int, state: str) -> Beat:
    return Beat(shard, 1, 0.0, 1, (1, 5), False, state)


def count(epoch: int, number: int) -> Beat:
    return Beat(
        0,
        epoch,
        0.0,
        1,
        (epoch, 5),
        False,
        pages=number,
        wire_bytes=100 * number,
        statuses={"200": number, f"only-{epoch}": number},
        failures={"timeout": number},
        robots={"allowed": number},
        quads={"rdfa": number},
        cpu_s={"all": number / 2},
    )


@pytest.mark.parametrize("command", ["", "dance"])
def test_an_unknown_command_is_told_so(command: str) -> None:
    answer, outgoing = make_coordinator().execute(command)
    assert not answer.is_done
    assert repr(command) in answer.message
    assert outgoing == []


def test_the_command_line_reaches_the_coordinator() -> None:
    runner = LocalRunner(2)
    address = runner.addresses.coordinator
    changes = []

    async def story() -> None:
        coordinator = make_coordinator()
        coordinator.receive(make_beat(1))
        hub = CoordinatorHub(coordinator, address, lambda: changes.append(coordinator.is_paused))
        hub.open()
        try:
            done = await asyncio.to_thread(send_command, address, "pause")
            assert done is not None
            assert done.is_done
            assert coordinator.is_paused
            status = await asyncio.to_thread(send_command, address, "status")
            assert status is not None
            assert [beat.shard for beat in status.beats] == [1]
            wrong = await asyncio.to_thread(send_command, address, "dance")
            assert wrong is not None
            assert not wrong.is_done
        finally:
            hub.close()

    try:
        asyncio.run(story())
        assert changes == [True, True, True]
        assert send_command(runner.addresses.shards[0], "pause", timeout_s=0.05) is None
    finally:
        runner.close()


def test_permits_come_back_from_a_shard_that_waits_for_some_itself() -> None:
    """It may have one by now, of a page that was none, and no host that may be asked."""
    coordinator = make_coordinator(CrawlConfig(pages=2))
    coordinator.receive(PermitsWanted(0, 1, 64))
    coordinator.receive(PermitsWanted(0, 1, 64))
    assert coordinator.receive(PermitsWanted(0, 1, 64)) == [(1, Recall(1))]
    assert coordinator.receive(PermitsWanted(1, 1, 64)) == [(0, Recall(1)), (1, Recall(1))]


def test_a_change_is_told_to_all_and_to_those_that_come_later() -> None:
    coordinator = make_coordinator()
    first = Control("filters", exclude=("/a",))
    assert coordinator.announce(first) == [(0, first), (1, first)]
    last = Control("filters", exclude=("/b",))
    coordinator.announce(last)
    coordinator.announce(Control("seeds"))
    coordinator.note_exit(1)
    outgoing = coordinator.receive(Arrival(1, 2, 0, 0))
    assert outgoing == [(1, last), (1, Control("seeds")), (1, Welcome(2))]


def test_a_change_between_two_rounds_means_that_it_is_not_over() -> None:
    coordinator = make_coordinator()
    coordinator.receive(make_beat(0))
    coordinator.receive(make_beat(1))
    coordinator.receive(answer(0, 1))
    coordinator.receive(answer(1, 1))
    coordinator.receive(answer(0, 2))
    coordinator.announce(Control("seeds"))
    assert coordinator.receive(answer(1, 2)) == []
    assert not coordinator.ended


def test_an_earlier_epoch_is_refused() -> None:
    coordinator = make_coordinator()
    coordinator.receive(Arrival(0, 3, 0, 0))
    assert coordinator.receive(Arrival(0, 2, 0, 0)) == []
    assert coordinator.receive(make_beat(0, epoch=2)) == []
    assert coordinator.receive(ScopeFound(0, 2, ("example.org",))) == []
    coordinator.note_exit(0)
    coordinator.note_start(0, 5)
    assert coordinator.receive(Arrival(0, 4, 0, 0)) == []
    assert coordinator.present == {1}
    assert coordinator.receive(Arrival(0, 5, 0, 0)) == [(0, Welcome(5))]


def test_shards_are_told_where_others_are_reached_now() -> None:
    coordinator = Coordinator(2, NO_LIMITS, clock=FakeClock())
    first, second, third = (f"tcp://127.0.0.{number}:1" for number in (2, 3, 4))
    assert coordinator.receive(Arrival(0, 1, 0, 0, address=first)) == [(0, Book({0: (first, 1)})), (0, Welcome(1))]
    outgoing = coordinator.receive(Arrival(1, 1, 0, 0, address=second))
    both = Book({0: (first, 1), 1: (second, 1)})
    assert outgoing == [(1, both), (0, Book({1: (second, 1)})), (1, Welcome(1))]
    coordinator.note_exit(1)
    outgoing = coordinator.receive(Arrival(1, 2, 0, 0, address=third))
    assert (0, Book({1: (third, 2)})) in outgoing
