"""Keeps a child process alive: restarts it with growing pauses when it dies, gives it up after too many failures, and ends it.

The caller decides how and on which machine a child is started, and what its exit code means. On this machine it is a
`ModuleProcess` (`processes/module_process.py`).
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

_log = logging.getLogger(__name__)

_POLL_S = 0.1
# How long after its kill a child whose end is not known is abandoned.
_KILL_S = 2.0
ABANDONED = 255
"""The exit code of a child that is out of reach."""


class SupervisedChild(Protocol):
    """A child that was started."""

    @property
    def pid(self) -> int:
        """The process id, on the machine where the child runs."""
        ...

    async def wait(self) -> int:
        """Wait until the child has ended, and return its exit code; negative after a signal."""
        ...

    def terminate(self) -> None:
        """Ask the child to end; does nothing if it has ended."""
        ...

    def kill(self) -> None:
        """Kill the child; does nothing if it has ended."""
        ...


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """When a child that died is restarted, and when it is given up."""

    first_pause_s: float = 1.0
    """The pause before the first restart; each further one is twice as long."""
    max_pause_s: float = 30.0
    recovered_s: float = 60.0
    """After a child has lived this long, the pauses start again from the first."""
    max_failures: int = 8
    """A child that fails this many times in a row is given up."""
    stuck_s: float = 120.0
    """A child that gives no sign of life for this long is killed. Children give one every second."""
    unheard_s: float = 600.0
    """A child that has given none at all is killed after so long; that is not counted as a failure."""
    abandons: bool = False
    """Whether a killed child is given up if its end is not known soon, as its machine may be out of reach. Only for children that
    end by themselves within `stuck_s` of silence."""


class Fate(Enum):
    """What follows from the end of a child."""

    OVER = "over"
    """It is not restarted."""
    FAILED = "failed"
    """It is restarted, unless it has failed too often in a row."""
    WORKED = "worked"
    """It had worked before it died: it is restarted, and the count of failures is reset."""
    SUSPENDED = "suspended"
    """It cannot continue at the moment and has logged why: like WORKED, but nothing is logged."""


class Exit(NamedTuple):
    """The end of a child."""

    code: int
    has_recovered: bool
    """Whether it lived long enough and was not stuck."""


class Supervisor:
    """Keeps one child alive while `run` runs. All methods must be called in the same event loop."""

    def __init__(
        self,
        name: str,
        start: Callable[[], Awaitable[SupervisedChild]],
        judge: Callable[[Exit], Fate],
        policy: RestartPolicy,
    ) -> None:
        """`name` is the child's name in log messages; `judge` decides what follows from its end."""
        self._name = name
        self._start = start
        self._judge = judge
        self._policy = policy
        self._child: SupervisedChild | None = None
        self._starting: asyncio.Future[SupervisedChild] | None = None
        """The start that is under way."""
        self._is_stopping = False
        self._is_killed = False
        self._is_stuck = False
        self._last_sign: object = None
        self._heard_at = 0.0
        self._started_at = 0.0
        self._lost: asyncio.Future[int] | None = None
        """Done when the child is abandoned."""

    @property
    def pid(self) -> int | None:
        """The process id of the child; None while there is none."""
        return self._child.pid if self._child is not None else None

    @property
    def unheard_s(self) -> float:
        """For how long the child has run without any sign of life; 0 if it has given one, or there is none."""
        is_heard = self._child is None or self._last_sign is not None
        return 0.0 if is_heard else time.monotonic() - self._started_at

    async def run(self) -> bool:
        """Keep the child alive until it is over or stopped; False if it was given up."""
        policy = self._policy
        pause_s = policy.first_pause_s
        failures = 0
        while not self._is_stopping:
            started = time.monotonic()
            try:
                code = await self._run_child()
            except OSError as error:
                # A full or missing disk, as a rule: what the child needs cannot be written now.
                _log.warning("%s cannot be started: %s; it is tried again in %g s", self._name, error, pause_s)
                await self._sleep(pause_s)
                pause_s = min(2 * pause_s, policy.max_pause_s)
                continue
            if code is None:
                return True
            has_recovered = time.monotonic() - started > policy.recovered_s and not self._is_stuck
            fate = self._judge(Exit(code, has_recovered))
            if fate is Fate.OVER or self._is_stopping:
                return True
            # What was killed before it was heard may have been at work.
            if fate is not Fate.FAILED or not self._is_stuck:
                failures = failures + 1 if fate is Fate.FAILED else 0
            if failures >= policy.max_failures:
                return False
            if has_recovered:
                pause_s = policy.first_pause_s
            if fate is not Fate.SUSPENDED:
                _log.warning("%s has ended with code %d; it is started again in %g s", self._name, code, pause_s)
            await self._sleep(pause_s)
            pause_s = min(2 * pause_s, policy.max_pause_s)
        return True

    def watch(self, sign: object) -> float:
        """Take the latest sign of life of the current child, any value that differs each time, or None if there is none yet. Must
        be called about every second. Kills a stuck child. Returns for how many seconds the child has been silent."""
        if self._child is None:
            return 0.0
        if sign is None and self._last_sign is None:
            if self.unheard_s > self._policy.unheard_s:
                self._kill_stuck(self._child, f"since it was started {self._policy.unheard_s:g} s ago")
            return 0.0
        if sign is not None and sign != self._last_sign:
            self._last_sign, self._heard_at = sign, time.monotonic()
        silent_s = time.monotonic() - self._heard_at
        if silent_s > self._policy.stuck_s:
            self._kill_stuck(self._child, f"for {self._policy.stuck_s:g} s")
        return silent_s

    def stop(self) -> None:
        """Start no more children, nor wait for one that is being started; the current one ends by itself."""
        self._is_stopping = True
        if self._starting is not None:
            self._starting.cancel()

    def kill(self) -> None:
        """Kill the child, and start no other."""
        self.stop()
        self._is_killed = True
        if self._child is not None:
            self._kill(self._child)

    async def terminate(self, patience_s: float) -> None:
        """Ask the child to end, and start no other; if it takes longer than `patience_s`, it is killed."""
        self.stop()
        # A child that is just being started can be killed without loss.
        self._is_killed = self._child is None
        end = time.monotonic() + patience_s
        if self._child is not None:
            self._child.terminate()
        while self._child is not None:
            if time.monotonic() > end:
                self._kill(self._child)
            await asyncio.sleep(_POLL_S)

    def _kill_stuck(self, child: SupervisedChild, silence: str) -> None:
        if not self._is_stuck:
            _log.warning("%s has not been heard %s; it is started again", self._name, silence)
            self._is_stuck = True
            self._kill(child)

    async def _run_child(self) -> int | None:
        """Return the exit code of a new child; None if it was stopped before there was one."""
        self._is_stuck = False
        self._last_sign = None
        self._lost = asyncio.get_running_loop().create_future()
        child = await self._start_child()
        if child is None:
            return None
        self._child = child
        self._started_at = time.monotonic()
        try:
            if self._is_killed:
                self._kill(self._child)
            return await self._wait(self._child, self._lost)
        except BaseException:
            self._child.kill()
            raise
        finally:
            self._child = None

    async def _start_child(self) -> SupervisedChild | None:
        """Start a child; None if it was stopped meanwhile, as a start may wait for what does not answer."""
        self._starting = asyncio.ensure_future(self._start())
        try:
            await asyncio.wait([self._starting])
            return None if self._starting.cancelled() else self._starting.result()
        except asyncio.CancelledError:
            self._starting.cancel()
            raise
        finally:
            self._starting = None

    def _kill(self, child: SupervisedChild) -> None:
        child.kill()
        if self._policy.abandons and self._lost is not None:
            asyncio.get_running_loop().call_later(_KILL_S, _abandon, self._lost)

    async def _wait(self, child: SupervisedChild, lost: "asyncio.Future[int]") -> int:
        """Return the exit code of a child, or `ABANDONED` if it was killed and its end cannot be learnt."""
        ended = asyncio.ensure_future(child.wait())
        try:
            await asyncio.wait([ended, lost], return_when=asyncio.FIRST_COMPLETED)
            return ended.result() if ended.done() else lost.result()
        finally:
            ended.cancel()

    async def _sleep(self, seconds: float) -> None:
        """Wait, unless the child is not to be restarted."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._is_stopping:
            await asyncio.sleep(min(_POLL_S, seconds))


def _abandon(lost: "asyncio.Future[int]") -> None:
    if not lost.done():
        lost.set_result(ABANDONED)
