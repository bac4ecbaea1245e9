"""Children that die, hang, work, or cannot be started."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

from rdfspider.processes import supervisor
from rdfspider.processes.supervisor import Exit, Fate, RestartPolicy, Supervisor

QUICK = RestartPolicy(first_pause_s=0.001, max_pause_s=0.004, max_failures=3)


class Pretended:
    """A child that ends when it is told to."""

    def __init__(self, pid: int, code: int | None) -> None:
        self.pid = pid
        self.is_terminated = False
        self._code = asyncio.get_running_loop().create_future()
        if code is not None:
            self._code.set_result(code)

    async def wait(self) -> int:
        return int(await self._code)

    def terminate(self) -> None:
        self.is_terminated = True

    def kill(self) -> None:
        if not self._code.done():
            self._code.set_result(-9)


class Children:
    """All that were started; the codes are those of the first ones, and later ones stay alive."""

    def __init__(self, *codes: int) -> None:
        self._codes = codes
        self.started: list[Pretended] = []

    async def start(self) -> Pretended:
        number = len(self.started)
        self.started.append(Pretended(number, self._codes[number] if number < len(self._codes) else None))
        return self.started[-1]


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 60))


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def fail(ended: Exit) -> Fate:
    return Fate.FAILED


def test_a_child_that_dies_is_started_again_after_longer_and_longer_pauses(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        children = Children(1, 1, 1, 1, 0)
        fates = {0: Fate.OVER, 1: Fate.WORKED}
        assert await Supervisor("it", children.start, lambda ended: fates[ended.code], QUICK).run()
        assert len(children.started) == 5

    run(story)
    pauses = [record.getMessage().rpartition(" in ")[2] for record in caplog.records]
    assert pauses == ["0.001 s", "0.002 s", "0.004 s", "0.004 s"]
    assert caplog.records[0].getMessage().startswith("it has ended with code 1; it is started again")


def test_one_that_fails_again_and_again_is_given_up_and_one_that_worked_in_between_is_not() -> None:
    async def story() -> None:
        children = Children(1, 1, 7, 1, 1, 1)
        judge = {1: Fate.FAILED, 7: Fate.WORKED}
        codes: list[int] = []

        def judge_exit(ended: Exit) -> Fate:
            codes.append(ended.code)
            return judge[ended.code]

        assert not await Supervisor("it", children.start, judge_exit, QUICK).run()
        assert codes == [1, 1, 7, 1, 1, 1]

    run(story)


def test_one_that_says_itself_what_it_waits_for_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        children = Children(*[75] * 9, 0)
        fates = {0: Fate.OVER, 75: Fate.SUSPENDED}
        assert await Supervisor("it", children.start, lambda ended: fates[ended.code], QUICK).run()

    with caplog.at_level(logging.INFO, supervisor.__name__):
        run(story)
    assert not caplog.records


def test_pauses_begin_anew_once_a_child_had_recovered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = SimpleNamespace(monotonic=lambda: now[0])
    now = [0.0]

    async def story() -> None:
        lives_s = iter([1.0, 1.0, 61.0, 1.0])
        recovered: list[bool] = []

        async def start() -> Pretended:
            now[0] += next(lives_s)
            return Pretended(1, 1)

        def judge(ended: Exit) -> Fate:
            recovered.append(ended.has_recovered)
            return Fate.OVER if len(recovered) == 4 else Fate.WORKED

        watched = Supervisor("it", start, judge, RestartPolicy())
        monkeypatch.setattr(watched, "_sleep", lambda seconds: asyncio.sleep(0))
        assert await watched.run()
        assert recovered == [False, False, True, False]

    monkeypatch.setattr(supervisor, "time", clock)
    run(story)
    assert [record.getMessage().rpartition(" in ")[2] for record in caplog.records] == ["1 s", "2 s", "1 s"]


def test_one_that_gives_no_sign_of_life_any_more_is_killed_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def story() -> None:
        children = Children()
        watched = Supervisor("it", children.start, fail, RestartPolicy(first_pause_s=0.0, stuck_s=10.0))
        running = asyncio.create_task(watched.run())
        await until(lambda: watched.pid == 0)
        # One that has not been heard yet may take longer to begin.
        now[0] = 100.0
        assert watched.watch(None) == 0.0
        assert watched.unheard_s == 100.0
        assert watched.watch("a") == watched.unheard_s == 0.0
        now[0] = 109.0
        assert watched.watch("a") == 9.0
        assert watched.watch("b") == 0.0
        now[0] = 120.0
        assert watched.watch("b") == watched.watch("b") == 11.0
        await until(lambda: watched.pid == 1)
        assert watched.watch(None) == 0.0
        watched.kill()
        assert await running

    run(story)
    assert [record.getMessage() for record in caplog.records].count(
        "it has not been heard for 10 s; it is started again"
    ) == 1


def test_one_that_is_never_heard_is_killed_each_time_and_not_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As one that was stopped before its first sign of life, or is busy before it."""
    now = [0.0]
    monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def story() -> None:
        children = Children()
        policy = RestartPolicy(first_pause_s=0.0, max_failures=2, unheard_s=600.0)
        watched = Supervisor("it", children.start, fail, policy)
        running = asyncio.create_task(watched.run())
        for number in range(4):
            await until(lambda number=number: watched.pid == number)
            now[0] += 599.0
            watched.watch(None)
            assert watched.pid == number
            now[0] += 2.0
            watched.watch(None)
            watched.watch(None)
        await until(lambda: watched.pid == 4)
        watched.kill()
        assert await running

    run(story)
    told = [record.getMessage() for record in caplog.records]
    assert told.count("it has not been heard since it was started 600 s ago; it is started again") == 4


def test_none_is_started_after_it_was_stopped_and_the_present_one_ends_by_itself() -> None:
    async def story() -> None:
        children = Children()
        watched = Supervisor("it", children.start, fail, QUICK)
        running = asyncio.create_task(watched.run())
        await until(lambda: children.started)
        watched.stop()
        await asyncio.sleep(0.01)
        assert not running.done()
        children.started[0].kill()
        assert await running
        assert len(children.started) == 1

    run(story)


def test_one_that_does_not_end_when_it_is_asked_is_killed() -> None:
    async def story() -> None:
        children = Children()
        watched = Supervisor("it", children.start, fail, QUICK)
        running = asyncio.create_task(watched.run())
        await until(lambda: children.started)
        await watched.terminate(0.05)
        assert await running
        assert children.started[0].is_terminated
        assert await children.started[0].wait() == -9

    run(story)


def test_a_child_out_of_reach_is_abandoned_after_its_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its machine is cut off: nobody learns whether the kill arrived."""

    class Unreachable(Pretended):
        def kill(self) -> None:
            self.is_terminated = True

    codes: list[int] = []

    def note(ended: Exit) -> Fate:
        codes.append(ended.code)
        return Fate.WORKED

    async def story() -> None:
        children: list[Unreachable] = []

        async def start() -> Unreachable:
            children.append(Unreachable(len(children), None))
            return children[-1]

        policy = RestartPolicy(first_pause_s=0.001, stuck_s=0.01, abandons=True)
        kept = Supervisor("a child", start, note, policy)
        running = asyncio.create_task(kept.run())
        await until(lambda: children)
        kept.watch(1)
        await asyncio.sleep(0.02)
        kept.watch(1)
        assert children[0].is_terminated
        await until(lambda: len(children) == 2)
        assert codes == [supervisor.ABANDONED]
        kept.kill()
        assert await running

    monkeypatch.setattr(supervisor, "_KILL_S", 0.01)
    run(story)


def test_a_child_that_cannot_be_started_for_lack_of_room_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    """As when its disk is full at the moment of a restart: that must not end all others."""
    children = Children()
    failures = [OSError(28, "No space left on device")] * 3

    async def start() -> Pretended:
        if failures:
            raise failures.pop()
        return await children.start()

    async def story() -> None:
        kept = Supervisor("child", start, fail, QUICK)
        running = asyncio.create_task(kept.run())
        await until(lambda: children.started)
        kept.kill()
        assert await running

    run(story)
    assert caplog.text.count("child cannot be started: [Errno 28] No space left on device") == 3


@pytest.mark.parametrize("end", [Supervisor.stop, Supervisor.kill])
def test_a_start_that_takes_for_ever_is_dropped_when_it_is_stopped(end: Callable[[Supervisor], None]) -> None:
    """As one that waits for a store which takes connections and says nothing."""
    dropped: list[bool] = []

    async def start() -> Pretended:
        try:
            await asyncio.Event().wait()
        finally:
            dropped.append(True)
        raise AssertionError

    async def story() -> None:
        kept = Supervisor("child", start, fail, QUICK)
        running = asyncio.create_task(kept.run())
        await asyncio.sleep(0.01)
        end(kept)
        assert await running
        assert dropped == [True]
        # Whoever gives up waiting for the child ends its start, too.
        running = asyncio.create_task(Supervisor("child", start, fail, QUICK).run())
        await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: len(dropped) == 2)

    run(story)
