"""A function and what it takes enter, what it makes of that leaves, by way of a process that can be killed: whatever takes too
long, needs too much or dies costs itself alone.

The process is started when it is first needed, and its jobs take turns. One that ends badly is told by a JobError, and the next
gets a new process; an error that we raise on purpose is passed on as it is. Temporary files of jobs go with their process.
"""

import json
import os
import pickle
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import psutil

from rdfspider.errors import RdfspiderError, UnansweredError

# Address space of a helper: 16 MB of the worst markup need about half of it.
_MEMORY_BYTES = 2 * 1024**3
# A helper that ever needed this much does not give it back; it ends, and the next job starts another.
_SPENT_BYTES = 384 * 1024**2
_START_S = 30.0
# If this process is killed, nobody is left to kill the helper: it does so itself, this much later than we would have.
_ALARM_MARGIN_S = 5.0

# Whatever this process can import, so can its helper; the current folder is no part of that unless it is for this one.
_SCRIPT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from rdfspider.processes.calls import serve_jobs; serve_jobs(float(sys.argv[2]), sys.argv[3])"
)


class JobError(UnansweredError):
    """A job that did not end well."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        """too-slow, out-of-memory or crashed."""


class Helper:
    """One such process; it may be called by any thread."""

    def __init__(self, timeout_s: float, turn_s: float | None = None) -> None:
        """So long a job may take; and so long it may be in line before that, where somebody waits for it."""
        self._timeout_s = timeout_s
        self._turn_s = turn_s
        self._turn = threading.Lock()
        self._process: _Process | None = None
        self._is_closed = False

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """What a function of a module's top level makes of its arguments; JobError where it does not end well, UnansweredError
        where its turn does not come."""
        if not self._turn.acquire(timeout=-1 if self._turn_s is None else self._turn_s):
            raise UnansweredError("others are being answered before this: try again in a moment")
        try:
            return self._ask(pickle.dumps((function, *arguments)))
        finally:
            self._turn.release()

    def close(self) -> None:
        """End the process, whatever it does; jobs that are in line are not done."""
        self._is_closed = True
        if (process := self._process) is not None:
            process.popen.kill()
        with self._turn:
            self._stop()

    def rest(self) -> None:
        """End the process until it is needed again, with all that it has open; unless it has something to do."""
        if self._turn.acquire(blocking=False):
            try:
                self._stop()
            finally:
                self._turn.release()

    def _ask(self, job: bytes) -> Any:
        try:
            process = self._start()
            process.connection.send_bytes(job)
            if not process.connection.poll(self._timeout_s):
                self._stop()
                raise JobError("too-slow", f"it took more than {self._timeout_s:g} s")
            answer = process.connection.recv_bytes()
        except (OSError, EOFError) as error:
            raise JobError("crashed", f"the process that read it {self._stop() or error}") from error
        except BaseException:
            self._stop()
            raise
        found, failure, is_spent = pickle.loads(answer)
        if is_spent:
            self._stop()
        if isinstance(failure, RdfspiderError):
            raise failure
        if failure is not None:
            raise JobError(*failure)
        return found

    def _start(self) -> "_Process":
        """The process, after it has said that it is ready."""
        if self._process is not None and self._process.popen.poll() is None:
            return self._process
        self._stop()
        self._process = process = _Process(self._timeout_s)
        # Closing says so first and then kills the process that it sees: one of the two sides always notices the other.
        if self._is_closed:
            raise OSError("was not needed any more")
        if not process.connection.poll(_START_S):
            raise OSError("did not start in time")
        process.connection.recv_bytes()
        return process

    def _stop(self) -> str:
        """How the process ended; empty where there was none."""
        process, self._process = self._process, None
        return process.stop() if process is not None else ""


class _Process:
    """A process, and the connection to it, on which it gets one job at a time."""

    def __init__(self, timeout_s: float) -> None:
        # Here and not there, because whoever is killed removes nothing.
        self._folder = tempfile.TemporaryDirectory(prefix="rdfspider-helper-", ignore_cleanup_errors=True)
        command = [sys.executable, "-P", "-c", _SCRIPT, json.dumps(sys.path), str(timeout_s + _ALARM_MARGIN_S)]
        ours, theirs = socket.socketpair()
        with theirs:
            self.connection = Connection(ours.detach())
            try:
                self.popen = subprocess.Popen(
                    [*command, self._folder.name],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # Ctrl-C does not reach it. In a session of its own, Linux would share the processor between sessions, and how
                    # nice it is would not count.
                    process_group=0,
                )
            except BaseException:
                self.connection.close()
                self._folder.cleanup()
                raise

    def stop(self) -> str:
        """End it and say how it ended: by itself, before this, or now."""
        self.connection.close()
        # It hears of that, and ends; but what hangs hears nothing. One that has crashed may take a moment to be gone.
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(0.05)
        self.popen.kill()
        status = self.popen.wait()
        self._folder.cleanup()
        return f"ended with exit status {status}" if status >= 0 else f"was killed by signal {-status}"


def serve_jobs(alarm_s: float, folder: str) -> None:
    """The helper's life: take a job from standard input, answer it there, until the other side hangs up. Temporary files are in
    a folder."""
    tempfile.tempdir = folder
    connection = Connection(os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(_MEMORY_BYTES, hard)
    with suppress(ValueError, OSError):  # where the system has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    connection.send_bytes(b"ready")
    with suppress(EOFError, OSError):
        while True:
            job = connection.recv_bytes()
            signal.setitimer(signal.ITIMER_REAL, alarm_s)
            answer = _answer(job)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send_bytes(answer)
    # The other side may have been killed.
    shutil.rmtree(folder, ignore_errors=True)


def _answer(job: bytes) -> bytes:
    """What a job makes; what kept it from that, an error of ours or a code and a message; and whether this process should end."""
    try:
        function, *arguments = pickle.loads(job)
        found = function(*arguments)
        return pickle.dumps((found, None, psutil.Process().memory_info().rss > _SPENT_BYTES))
    except MemoryError:
        reason = ("out-of-memory", f"it needed more than {_MEMORY_BYTES} bytes of memory")
        return pickle.dumps((None, reason, True))
    except RdfspiderError as error:
        return pickle.dumps((None, error, False))
    except Exception as error:
        # A fault of ours, or arguments that cannot be loaded here: whoever asked should know, and go on.
        return pickle.dumps((None, ("crashed", f"{type(error).__name__}: {error}"[:500]), False))
