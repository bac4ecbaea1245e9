"""Runs a coroutine to its end with Ctrl-C and SIGTERM handled: the coroutine enters, from any thread, and its result leaves.

Signals reach only the main thread. If the current thread already has an event loop, as in a notebook, the coroutine runs in
another thread.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

END_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""The signals that end a run."""
_POLL_S = 0.1

_Result = TypeVar("_Result")


class Signals:
    """SIGINT and SIGTERM for one coroutine."""

    def __init__(self, take: Callable[[signal.Signals], None]) -> None:
        """`take` is called in the coroutine's event loop, after `listen`."""
        self._take = take
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """Start handling the signals; must be called in the event loop."""
        self._loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in END_SIGNALS:
                self._loop.add_signal_handler(number, self._take, number)

    def interrupt(self) -> bool:
        """Act like Ctrl-C, from another thread; False if `listen` has not been called yet."""
        if self._loop is None:
            return False
        with suppress(RuntimeError):  # It may have just ended.
            self._loop.call_soon_threadsafe(self._take, signal.SIGINT)
        return True


def run_until_end(run: Callable[[], Coroutine[Any, Any, _Result]], signals: Signals) -> _Result:
    """Run a coroutine to its end, in this thread or, if that already has a loop, in another one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    return _run_aside(run, signals)


def _run_aside(run: Callable[[], Coroutine[Any, Any, _Result]], signals: Signals) -> _Result:
    """Run the coroutine in another thread, and pass Ctrl-C on to it."""
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
                # The coroutine is not listening yet, so the interrupt is tried again.
                if running.done():
                    raise
