"""Child processes that can be killed at any moment: messages enter, answers leave, each within a time limit.

A `Child` is one process and its pipes; a `RestartedChild` starts one when it is needed, serves one thread at a time, and replaces
a child that had to be killed. The modules that use them define the messages and the limits: `processes/calls.py`,
`extract/untrusted.py` and `index/quads/sparql/engine.py`.
"""

import fcntl
import json
import os
import select
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rdfspider.processes.framing import LENGTH, READY

_CHUNK_BYTES = 1 << 20
# How much of the end of a child's stderr is kept.
_LAST_BYTES = 10_000
START_S = 30.0
"""How long a child may take to start."""
# A child that has closed its output should end within this time; otherwise it is killed.
_LAST_MOMENT_S = 1.0

# The child gets the import path of this process, so the current folder is on it only if it is here.
_SCRIPT = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from {} import main; main()"

Wait = Callable[[], float]
"""Returns how many seconds to wait before calling it again. It raises TimeoutError when time is up; any error ends the wait."""


class DiedError(Exception):
    """The child has ended instead of answering; has its exit status, and the end of its stderr if that is kept."""

    def __init__(self, status: int, last_words: str) -> None:
        super().__init__(describe_exit(status))
        self.status = status
        self.last_words = last_words


class NotStartedError(Exception):
    """There is no child to ask: it did not start, or is no longer needed."""


class TooLongError(Exception):
    """The answer of the child is longer than allowed."""


class BusyError(Exception):
    """The child was busy with other questions for too long."""


def wait_seconds(seconds: float) -> Wait:
    """Make a Wait that ends after this many seconds from now."""
    deadline = time.monotonic() + seconds

    def find_step_s() -> float:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return left_s

    return find_step_s


def describe_exit(status: int) -> str:
    """Describe how a process ended."""
    return f"ended with exit status {status}" if status >= 0 else f"was killed by signal {-status}"


def make_command(module: str, *arguments: str) -> list[str]:
    """The command that runs `main` of a module of ours."""
    path = [entry or _find_folder() for entry in sys.path if isinstance(entry, str)]
    return [sys.executable, "-P", "-c", _SCRIPT.format(module), json.dumps(path), *arguments]


def _find_folder() -> str:
    """The current folder, which an empty entry of the path means; empty where it was deleted."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""


class Child:
    """One process, in its own process group: Ctrl-C does not reach it, and the processes that it starts are killed with it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        keeps_errors: bool = False,
        has_session: bool = True,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """With `keeps_errors`, the end of its stderr is reported when it dies. Without its own session, it shares the CPU with
        this process by their nice values; otherwise Linux divides the CPU between sessions first."""
        self._popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if keeps_errors else subprocess.DEVNULL,
            bufsize=0,
            cwd=cwd,
            env=env,
            start_new_session=has_session,
            process_group=None if has_session else 0,
        )
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self._input, self._output = self._popen.stdin, self._popen.stdout
        self._is_ended = False
        self._is_reaped = False
        """Whether the process has ended, its exit status was read, and the processes that it has started are killed."""
        os.set_blocking(self._input.fileno(), False)
        # A larger pipe needs fewer context switches; some systems allow less, or have no such call.
        with suppress(OSError, AttributeError):
            fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, _CHUNK_BYTES)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        if self._popen.poll() is None:
            return True
        self._reap()
        return False

    def send(self, message: bytes, wait: Wait) -> None:
        """Send a message. If the child has died, only `receive` reports it."""
        poll = select.poll()
        poll.register(self._input.fileno(), select.POLLOUT)
        for data in (LENGTH.pack(len(message)), message):
            rest = memoryview(data)
            while rest:
                if poll.poll(wait() * 1000):
                    rest = _write_some(self._input.fileno(), rest)

    def receive(self, wait: Wait, max_bytes: int | None = None) -> bytes:
        """Receive the next message; raises TimeoutError, DiedError, or TooLongError if it exceeds `max_bytes`."""
        (length,) = LENGTH.unpack(self._read(LENGTH.size, wait))
        if max_bytes is not None and length > max_bytes:
            raise TooLongError
        return self._read(length, wait)

    def exchange(self, data: bytes, wait: Wait, max_bytes: int) -> tuple[bytes, int, str]:
        """Send bytes to a child that does not use messages, and return its whole output, its exit status and the end of its
        stderr. It may write output before it has read all input."""
        output, errors, rest = bytearray(), bytearray(), memoryview(data)
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ, output)
            if self._popen.stderr is not None:
                selector.register(self._popen.stderr, selectors.EVENT_READ, errors)
            reading = len(selector.get_map())
            selector.register(self._input, selectors.EVENT_WRITE)
            while reading:
                for key, _ in selector.select(wait()):
                    if key.fileobj is self._input:
                        rest = _write_some(key.fd, rest)
                        if not rest:
                            selector.unregister(self._input)
                            self._input.close()
                    elif part := os.read(key.fd, _CHUNK_BYTES):
                        key.data.extend(part)
                        if len(output) > max_bytes:
                            raise TooLongError
                        del errors[:-_LAST_BYTES]
                    else:
                        selector.unregister(key.fileobj)
                        reading -= 1
        with suppress(subprocess.TimeoutExpired):
            return bytes(output), self._reap(wait()), errors.decode("utf-8", "replace")
        raise TimeoutError

    def kill(self) -> None:
        """Kill the child and the processes that it has started; a thread that waits for its answer gets an error."""
        # The id of a group without processes may be given to another group.
        if not self._is_reaped:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def end(self) -> int:
        """Kill the child in the same way, and close its pipes; returns its exit status."""
        if not self._is_ended:
            self._is_ended = True
            self.kill()
            self._reap()
            self._close_pipes()
        return self._popen.wait()

    def forget(self) -> None:
        """Leave the child to the parent; for use in a forked process."""
        self._is_ended = self._is_reaped = True
        self._close_pipes()
        self._popen.returncode = 0  # so that this process never waits for it

    def _read(self, length: int, wait: Wait) -> bytes:
        descriptor = self._output.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        parts = []
        while length:
            while not poll.poll(wait() * 1000):
                pass
            part = os.read(descriptor, min(length, _CHUNK_BYTES))
            if not part:
                raise self._find_death()
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _reap(self, timeout_s: float | None = None) -> int:
        """Wait until the process has ended, kill what it has started, and return its exit status."""
        status = self._popen.wait(timeout_s)
        self.kill()
        self._is_reaped = True
        return status

    def _find_death(self) -> DiedError:
        with suppress(subprocess.TimeoutExpired):
            self._reap(_LAST_MOMENT_S)
        self.kill()
        status = self._reap()
        errors = b""
        if self._popen.stderr is not None:
            # What the child has started may have outlived it, and hold the pipe open.
            os.set_blocking(self._popen.stderr.fileno(), False)
            while part := self._popen.stderr.read(_LAST_BYTES):
                errors = (errors + part)[-_LAST_BYTES:]
        return DiedError(status, errors.decode("utf-8", "replace"))

    def _close_pipes(self) -> None:
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()


class RestartedChild:
    """At most one child, which answers one question at a time, from any thread. A child that does not answer is killed, and the
    next question starts another."""

    def __init__(
        self,
        start: Callable[[], Child],
        is_last: Callable[[bytes], bool],
        wait_turn_s: float | None = None,
        start_s: float = START_S,
    ) -> None:
        """`is_last` decides from an answer whether its child should be ended. A question may wait for earlier ones for
        `wait_turn_s`, by default forever, and for a child to start for `start_s`."""
        self._start = start
        self._is_last = is_last
        self._wait_turn_s = wait_turn_s
        self._start_s = start_s
        self._turn = threading.Lock()
        self._child: Child | None = None
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The process id of the child; None while there is none."""
        return self._child.pid if self._child is not None else None

    def ask(self, message: bytes, timeout_s: float, max_bytes: int | None = None) -> bytes:
        """Return the answer; raises BusyError, NotStartedError, TimeoutError, DiedError or TooLongError if there is none."""
        if not self._turn.acquire(timeout=-1 if self._wait_turn_s is None else self._wait_turn_s):
            raise BusyError
        try:
            child = self._find_child()
            wait = wait_seconds(timeout_s)
            child.send(message, wait)
            answer = child.receive(wait, max_bytes)
            if self._is_last(answer):
                self._end()
            return answer
        except BaseException:
            self._end()
            raise
        finally:
            self._turn.release()

    def rest(self) -> None:
        """End the child, and with it its open files, until it is needed again; does nothing while it answers a question."""
        if self._turn.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._turn.release()

    def close(self) -> None:
        """Kill the child for good; waiting questions are not answered."""
        self._is_closed = True
        if (child := self._child) is not None:
            child.kill()
        with self._turn:
            self._end()

    def forget(self) -> None:
        """Leave the child to the parent; for use in a forked process."""
        self._turn = threading.Lock()
        if self._child is not None:
            self._child.forget()
            self._child = None

    def _find_child(self) -> Child:
        """Return the child, starting it and waiting until it is ready if necessary."""
        if self._child is not None and self._child.is_alive():
            return self._child
        self._end()
        try:
            self._child = child = self._start()
            # `close` sets the flag before it kills the child that it sees, so either it or this check notices a new child.
            if self._is_closed:
                raise NotStartedError("was not needed any more")
            child.receive(wait_seconds(self._start_s), len(READY))
        except TimeoutError:
            raise NotStartedError("did not start in time") from None
        except (OSError, DiedError, TooLongError) as error:
            raise NotStartedError(str(error)) from error
        return child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


def _write_some(descriptor: int, rest: memoryview) -> memoryview:
    """Write as much as there is room for, and return the rest; nothing if the other side has stopped reading."""
    try:
        return rest[os.write(descriptor, rest[:_CHUNK_BYTES]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]
