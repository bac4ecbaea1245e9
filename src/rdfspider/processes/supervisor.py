"""Keeps a child process alive: starts it, starts it again with growing pauses when it dies, gives it up, stops it.

How a child is started, and on which machine, is the caller's business, and so is what its exit code means. On this machine it is
a `ModuleProcess` (`processes/module_process.py`).
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


class SupervisedChild(Protocol):
    """A child that was started."""

    @property
    def pid(self) -> int:
        """Its process id, on the machine where it runs."""
        ...

    async def wait(self) -> int:
        """Its exit code, once it has ended; negative after a signal."""
        ...

    def terminate(self) -> None:
        """Ask it to end. Does nothing where it has ended."""
        ...

    def kill(self) -> None:
        """End it at once. Does nothing where it has ended."""
        ...


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """When a child that died is started again, and when it is given up."""

    first_pause_s: float = 1.0
    """The pause before the first restart; each further one is twice as long."""
    max_pause_s: float = 30.0
    recovered_s: float = 60.0
    """A child that lived for so long had recovered: the pauses begin anew."""
    max_failures: int = 8
    """A child that failed so many times in a row is given up."""
    stuck_s: float = 120.0
    """A child that gives no sign of life for so long is killed. Children give one every second."""


class Fate(Enum):
    """What follows from the end of a child."""

    OVER = "over"
    """It is not started again."""
    FAILED = "failed"
    """It is started again, unless it has failed too often in a row."""
    WORKED = "worked"
    """It had worked before it died: it is started again, and failures are counted anew."""
    SUSPENDED = "suspended"
    """It cannot go on at the moment, and has told why itself: as if it had worked, and nothing is logged."""


class Exit(NamedTuple):
    """The end of a child."""

    code: int
    has_recovered: bool
    """Whether it had lived long enough, and was not stuck."""
    failures: int
    """How many children have failed in a row, if this one has."""


class Supervisor:
    """Keeps one child alive while `run` runs. All of it belongs to one event loop."""

    def __init__(
        self,
        name: str,
        start: Callable[[], Awaitable[SupervisedChild]],
        judge: Callable[[Exit], Fate],
        policy: RestartPolicy | None = None,
    ) -> None:
        """`name` is what messages call the child; `judge` decides what follows from its end."""
        self._name = name
        self._start = start
        self._judge = judge
        self._policy = policy or RestartPolicy()
        self._child: SupervisedChild | None = None
        self._is_stopping = False
        self._is_killed = False
        self._is_stuck = False
        self._last_sign: object = None
        self._heard_at = 0.0

    @property
    def pid(self) -> int | None:
        """The process id of the child; None while there is none."""
        return self._child.pid if self._child is not None else None

    async def run(self) -> bool:
        """Keep the child alive until it is over or stopped; False where it was given up."""
        policy = self._policy
        pause_s = policy.first_pause_s
        failures = 0
        while not self._is_stopping:
            started = time.monotonic()
            code = await self._run_child()
            has_recovered = time.monotonic() - started > policy.recovered_s and not self._is_stuck
            fate = self._judge(Exit(code, has_recovered, failures + 1))
            if fate is Fate.OVER or self._is_stopping:
                return True
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
        """Take the latest sign of life of the present child, any value that differs each time, or None where it has given none
        yet. To be called every second or so. Returns for how many seconds it has been silent; one that is stuck is killed."""
        if self._child is None or (sign is None and self._last_sign is None):
            return 0.0
        if sign is not None and sign != self._last_sign:
            self._last_sign, self._heard_at = sign, time.monotonic()
        silent_s = time.monotonic() - self._heard_at
        if silent_s > self._policy.stuck_s and not self._is_stuck:
            _log.warning("%s has not been heard for %g s; it is started again", self._name, self._policy.stuck_s)
            self._is_stuck = True
            self._child.kill()
        return silent_s

    def stop(self) -> None:
        """Start no child any more; the present one ends by itself."""
        self._is_stopping = True

    def kill(self) -> None:
        """End the child at once, and start no other."""
        self.stop()
        self._is_killed = True
        if self._child is not None:
            self._child.kill()

    async def terminate(self, patience_s: float) -> None:
        """Ask the child to end, and start no other; one that takes longer is killed."""
        self.stop()
        # One that is just being started has nothing to lose.
        self._is_killed = self._child is None
        end = time.monotonic() + patience_s
        if self._child is not None:
            self._child.terminate()
        while self._child is not None:
            if time.monotonic() > end:
                self._child.kill()
            await asyncio.sleep(_POLL_S)

    async def _run_child(self) -> int:
        self._is_stuck = False
        self._last_sign = None
        self._child = await self._start()
        try:
            if self._is_killed:
                self._child.kill()
            return await self._child.wait()
        except BaseException:
            self._child.kill()
            raise
        finally:
            self._child = None

    async def _sleep(self, seconds: float) -> None:
        """Wait, but not once the child is not to be started again."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._is_stopping:
            await asyncio.sleep(min(_POLL_S, seconds))
