"""Runs work for a client in a thread, until it is done, the client disconnects or the time is up; then the work is cancelled."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

_T = TypeVar("_T")
# The wait for work that does not check whether it is cancelled; it ends by its own limits.
_LEAVE_S = 60.0


class DisconnectedError(Exception):
    """The client has disconnected."""


async def run_while_wanted(
    request: Request,
    pool: ThreadPoolExecutor,
    cancel: threading.Event,
    work: Callable[[], _T],
    timeout_s: float | None = None,
) -> _T:
    """Return the result of `work`; otherwise set `cancel` and raise DisconnectedError or TimeoutError."""
    asking = asyncio.get_running_loop().run_in_executor(pool, work)
    # Errors of abandoned work are dropped.
    asking.add_done_callback(lambda done: done.cancelled() or done.exception())
    leaving = asyncio.create_task(_wait_for_end(request))
    try:
        await asyncio.wait((asking, leaving), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result()
        cancel.set()
        if not leaving.done():
            raise TimeoutError
        # The request counts as running as long as it occupies a thread.
        await asyncio.wait((asking,), timeout=_LEAVE_S)
        raise DisconnectedError
    finally:
        cancel.set()
        leaving.cancel()


async def _wait_for_end(request: Request) -> None:
    """Return when the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
