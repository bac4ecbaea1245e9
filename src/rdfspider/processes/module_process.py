"""Runs one of our modules as a process on this machine: the parent starts it with its order on stdin, the child sets itself up.

Shards, the indexer and imports run this way. `processes/supervisor.py` keeps them alive.
"""

import asyncio
import gc
import logging
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Self

# As `python -m`, but without garbage collection while modules are imported, of which next to nothing is garbage; and without the
# threads for algebra that numpy would start, which nothing here needs, and which cost more than its import.
_SCRIPT = (
    "import gc, os, runpy, sys; gc.disable(); os.environ.setdefault('OPENBLAS_NUM_THREADS', '1'); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)
_LINE_BYTES = 16 * 1024 * 1024
# Thresholds of the garbage collector: new objects, and collections of a generation before the next. Python's are (700, 10, 10).
_COLLECTOR = (5_000, 20, 50)


class ModuleProcess:
    """A child on this machine that runs one of our modules, which reads its order from stdin. It ignores Ctrl-C, and collects no
    garbage before it calls `calm_collector`."""

    def __init__(self, process: asyncio.subprocess.Process, on_line: Callable[[bytes], None] | None) -> None:
        self._process = process
        self._on_line = on_line

    @classmethod
    async def start(
        cls, module: str, order: bytes, *, keeps_stdin: bool = False, on_line: Callable[[bytes], None] | None = None
    ) -> Self:
        """Start the process. With `keeps_stdin`, the pipe stays open: more can be sent, and when it closes, the child knows that
        this process is gone. `on_line` gets each line of its stdout during `wait`."""
        # Ctrl-C reaches every process of a terminal, also one that has not yet run the line that ignores it. So SIGINT is
        # blocked here for a moment, and the child inherits that.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            process = await asyncio.create_subprocess_exec(
                # -P: modules in the current folder are not ours.
                *(sys.executable, "-P", "-c", _SCRIPT, module),
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
        """The process id."""
        return self._process.pid

    def send(self, data: bytes) -> None:
        """Write to the child's stdin."""
        assert self._process.stdin is not None
        with suppress(OSError, RuntimeError):  # It may have just died.
            self._process.stdin.write(data)

    async def wait(self) -> int:
        """Wait until the child has ended, and return its exit code."""
        if self._on_line is not None and self._process.stdout is not None:
            async for line in self._process.stdout:
                self._on_line(line)
        code = await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        return code

    def terminate(self) -> None:
        """Ask the child to end."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    def kill(self) -> None:
        """Kill the child."""
        with suppress(ProcessLookupError):
            self._process.kill()


def start_beside(module: str, order: bytes) -> "subprocess.Popen[bytes]":
    """Start a process that runs beside a crawl, without a loop that watches it. It has its order on stdin, which stays open: when
    that closes, it knows that this process is gone. Its first words are on stdout."""
    command = (sys.executable, "-P", "-c", _SCRIPT, module)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    with suppress(OSError):  # It may have just died.
        process.stdin.write(order)
        process.stdin.flush()
    return process


def begin_module_process() -> None:
    """Set up the child first of all: ignore Ctrl-C, and log warnings to stderr as the command line does."""
    # Ctrl-C reaches every process of a terminal; the parent decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="rdfspider: %(message)s", stream=sys.stderr)


def calm_collector() -> None:
    """Make garbage collection rare, and limit it to objects created after this call; for use in a child once all is loaded. What
    is loaded by then stays, and pages create no cycles. Python's defaults would take a tenth of an indexer's time."""
    gc.freeze()
    gc.set_threshold(*_COLLECTOR)
    gc.enable()
