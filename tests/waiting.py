"""How tests wait: until something is seen, however long a busy machine takes for it, or on simulated time, which passes at once.

No test judges by how long something took by the wall's clock: where many tests share a machine, that says nothing.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

PATIENCE_S = 60.0
"""Only what takes longer than this is broken rather than slow."""

T = TypeVar("T")


def wait_until(condition: Callable[[], T | None], patience_s: float = PATIENCE_S) -> T:
    """Wait until there is something to see, and return it; a test that sees nothing in time has failed."""
    end = time.monotonic() + patience_s
    while not (seen := condition()):
        assert time.monotonic() < end, f"nothing came of waiting {patience_s:.0f} s; last {seen!r}"
        time.sleep(0.02)
    return seen


class ShiftedTime:
    """Stands in for the module `time` where a test puts the clocks forward."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def time(self) -> float:
        return time.time() + self.ahead_s

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s


class SimulatedSelector(selectors.SelectSelector):
    """Lets time pass instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        """What is there now; whoever waits without a limit would wait for ever."""
        assert timeout is not None, "nothing would ever happen again"
        self.seconds += timeout
        return super().select(0)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only where all tasks wait, and then at once: no load of the machine changes its order."""

    def __init__(self) -> None:
        self._simulated = SimulatedSelector()
        super().__init__(self._simulated)

    def time(self) -> float:
        """The seconds that have passed for those who run in it."""
        return self._simulated.seconds

    def put_forward(self, seconds: float) -> None:
        """Let time pass while nobody waits."""
        self._simulated.seconds += seconds


def run_simulated(main: Coroutine[Any, Any, T]) -> T:
    """Run on simulated time."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(main)
