"""A module of ours as a process of this machine, with its order on stdin: how it is started, and how it begins.

Shards, the indexer and imports run so. `processes/supervisor.py` keeps them alive.
"""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Self

_LINE_BYTES = 16 * 1024 * 1024
# Objects that are new, and how often each generation is looked through before the next: Python's own are (700, 10, 10).
_COLLECTOR = (5_000, 20, 50)


class ModuleProcess:
    """A child on this machine: `python -m` a module of ours, which reads its order from stdin. Ctrl-C does not reach it."""

    def __init__(self, process: asyncio.subprocess.Process, on_line: Callable[[bytes], None] | None) -> None:
        self._process = process
        self._on_line = on_line

    @classmethod
    async def start(
        cls, module: str, order: bytes, *, keeps_stdin: bool = False, on_line: Callable[[bytes], None] | None = None
    ) -> Self:
        """Start it. With `keeps_stdin` the pipe stays open: more can be sent, and its end tells the child that this process is
        gone. `on_line` gets each line that it writes on stdout, while it is waited for."""
        # Ctrl-C reaches every process of a terminal, also one that has not yet come to the line where it turns that off: it
        # inherits what is blocked here, for a moment.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            process = await asyncio.create_subprocess_exec(
                # What lies in the current folder is no part of us (-P).
                *(sys.executable, "-P", "-m", module),
                stdin=asyncio.subprocess.PIPE,
                stdout=None if on_line is None else asyncio.subprocess.PIPE,
                limit=_LINE_BYTES,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        started = cls(process, on_line)
        started.send(order)
        if not keeps_stdin and process.stdin is not None:
            process.stdin.close()
        return started

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def send(self, data: bytes) -> None:
        """Send it something on stdin."""
        assert self._process.stdin is not None
        with suppress(OSError, RuntimeError):  # It may have died in this moment.
            self._process.stdin.write(data)

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        if self._on_line is not None and self._process.stdout is not None:
            async for line in self._process.stdout:
                self._on_line(line)
        code = await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        return code

    def terminate(self) -> None:
        """Ask it to end."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            self._process.kill()


def begin_module_process() -> None:
    """In the child, first of all: leave Ctrl-C to the parent, and write warnings to stderr as the command line does."""
    # Ctrl-C reaches every process of a terminal; what it means is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="rdfspider: %(message)s", stream=sys.stderr)


def calm_collector() -> None:
    """In the child, when all is loaded: look for cycles among what is new alone, and seldom. What is loaded by now is kept, and
    pages come and go without any. To look as often as Python does takes a tenth of an indexer's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTOR)
