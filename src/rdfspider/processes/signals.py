"""Ctrl-C and SIGTERM for what runs until it ends: a coroutine enters, from whatever thread, and its result leaves.

Signals reach the main thread alone, and where that has a loop already, as in a notebook, the coroutine runs in another one.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

_POLL_S = 0.1

_Result = TypeVar("_Result")


class Signals:
    """The two signals that end things, for one coroutine."""

    def __init__(self, take: Callable[[signal.Signals], None]) -> None:
        """`take` is called in the loop of the coroutine, once that listens."""
        self._take = take
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """From here on they are heard; called in the loop."""
        self._loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self._take, number)

    def interrupt(self) -> bool:
        """Do, from another thread, what Ctrl-C does; False where nothing listens yet."""
        if self._loop is None:
            return False
        with suppress(RuntimeError):  # It may have ended in this moment.
            self._loop.call_soon_threadsafe(self._take, signal.SIGINT)
        return True


def run_until_end(run: Callable[[], Coroutine[Any, Any, _Result]], signals: Signals) -> _Result:
    """Run a coroutine to its end, in this thread or, where that has a loop already, beside it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    return _run_aside(run, signals)


def _run_aside(run: Callable[[], Coroutine[Any, Any, _Result]], signals: Signals) -> _Result:
    """Run it in another thread, which Ctrl-C does not reach by itself."""
    with ThreadPoolExecutor(1, "crawl") as thread:
        running = thread.submit(lambda: asyncio.run(run()))
        is_interrupted = False
        while True:
            try:
                if is_interrupted:
                    is_interrupted = not signals.interrupt()
                return running.result(_POLL_S if is_interrupted else None)
            except KeyboardInterrupt:
                is_interrupted = True
            except TimeoutError:
                # There was no loop yet that could have been told.
                if running.done():
                    raise
