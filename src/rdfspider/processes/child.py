"""A child process that can be killed at any moment: messages go in, answers come out, each within a time.

A `Child` is one process and the conversation with it; a `RestartedChild` is one that is started when it is needed, answers one
thread at a time, and is replaced after it had to be killed. What the messages mean, and what a child may use, is the business of
the modules that have one: `processes/calls.py`, `extract/untrusted.py` and `index/quads/sparql/engine.py`.
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
# Of what a child writes on stderr, the end is kept.
_LAST_BYTES = 10_000
_START_S = 30.0
# One that has closed its output is about to end; if it does not by then, it is killed.
_LAST_MOMENT_S = 1.0

# Whatever this process can import, so can its child; the current folder is no part of that unless it is for this one.
_SCRIPT = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from {} import main; main()"

Wait = Callable[[], float]
"""For how many seconds to wait before it is called again. TimeoutError once the time is up; any error ends the waiting."""


class DiedError(Exception):
    """The child has ended instead of answering: its exit status, and the last that it wrote on stderr, where that is kept."""

    def __init__(self, status: int, last_words: str = "") -> None:
        super().__init__(describe_exit(status))
        self.status = status
        self.last_words = last_words


class NotStartedError(Exception):
    """There is no child that could be asked."""


class TooLongError(Exception):
    """The child answers more than is allowed."""


class BusyError(Exception):
    """Others have the child all the time."""


def wait_seconds(seconds: float) -> Wait:
    """Wait for so long, from now on."""
    deadline = time.monotonic() + seconds

    def find_step_s() -> float:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return left_s

    return find_step_s


def describe_exit(status: int) -> str:
    """How a process ended, in words."""
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
    """One process. It gets a process group of its own: Ctrl-C does not reach it, and whatever it starts is killed with it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        keeps_errors: bool = False,
        has_session: bool = True,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """With `keeps_errors` the end of what it writes on stderr is told when it dies. Without a session of its own, it shares
        the processor with this process by how nice each is; Linux shares it between sessions first."""
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
        os.set_blocking(self._input.fileno(), False)
        # So that the two need not take turns so often; some systems allow less, or do not know it.
        with suppress(OSError, AttributeError):
            fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, _CHUNK_BYTES)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._popen.poll() is None

    def send(self, message: bytes, wait: Wait) -> None:
        """Send a message. Whether somebody is there to read it shows when the answer is read."""
        poll = select.poll()
        poll.register(self._input.fileno(), select.POLLOUT)
        for data in (LENGTH.pack(len(message)), message):
            rest = memoryview(data)
            while rest:
                if poll.poll(wait() * 1000):
                    rest = _write_some(self._input.fileno(), rest)

    def receive(self, wait: Wait, max_bytes: int | None = None) -> bytes:
        """The next message; TimeoutError, DiedError, or TooLongError where it has more bytes."""
        (length,) = LENGTH.unpack(self._read(LENGTH.size, wait))
        if max_bytes is not None and length > max_bytes:
            raise TooLongError
        return self._read(length, wait)

    def exchange(self, data: bytes, wait: Wait, max_bytes: int) -> tuple[bytes, int, str]:
        """Of a child that knows of no messages: all that it makes of these bytes until it ends, its exit status, and the end of
        what it wrote on stderr. It may begin to answer before it has read all."""
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
            return bytes(output), self._popen.wait(wait()), errors.decode("utf-8", "replace")
        raise TimeoutError

    def kill(self) -> None:
        """Kill it, whatever it does, and all that it has started; another thread may wait for its answer, and lets it go."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    def end(self) -> int:
        """Kill it likewise, and let go of it; returns its exit status."""
        if not self._is_ended:
            self._is_ended = True
            self.kill()
            self._popen.wait()
            self._close_pipes()
        return self._popen.wait()

    def forget(self) -> None:
        """In a forked process: leave it to the parent, whose child it is."""
        self._is_ended = True
        self._close_pipes()
        self._popen.returncode = 0  # so that nobody here waits for it

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

    def _find_death(self) -> DiedError:
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_LAST_MOMENT_S)
        self.kill()
        status = self._popen.wait()
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
    """At most one child, and one question at a time, whichever thread asks. A child that does not answer is killed, and the next
    question gets another one."""

    def __init__(
        self, start: Callable[[], Child], is_last: Callable[[bytes], bool], wait_turn_s: float | None = None
    ) -> None:
        """`is_last` tells from an answer whether its child should answer no more. So long a question may wait for those before
        it, by default for ever."""
        self._start = start
        self._is_last = is_last
        self._wait_turn_s = wait_turn_s
        self._turn = threading.Lock()
        self._child: Child | None = None
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The process id of the child; None while there is none."""
        return self._child.pid if self._child is not None else None

    def ask(self, message: bytes, timeout_s: float, max_bytes: int | None = None) -> bytes:
        """The answer; BusyError, NotStartedError, TimeoutError, DiedError or TooLongError where there is none."""
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
        """End the child until it is needed again, with all that it has open; unless it has something to do."""
        if self._turn.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._turn.release()

    def close(self) -> None:
        """End the child for good, whatever it does; questions that wait are not answered."""
        self._is_closed = True
        if (child := self._child) is not None:
            child.kill()
        with self._turn:
            self._end()

    def forget(self) -> None:
        """In a forked process: leave the child to the parent, whose it is."""
        self._turn = threading.Lock()
        if self._child is not None:
            self._child.forget()
            self._child = None

    def _find_child(self) -> Child:
        """The child, after it has said that it is ready."""
        if self._child is not None and self._child.is_alive():
            return self._child
        self._end()
        try:
            self._child = child = self._start()
            # Closing says so first and then kills the child that it sees: one of the two sides always notices the other.
            if self._is_closed:
                raise NotStartedError("was not needed any more")
            child.receive(wait_seconds(_START_S), len(READY))
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
    """What remains after writing as much as there is room for: nothing once the other side has stopped reading."""
    try:
        return rest[os.write(descriptor, rest[:_CHUNK_BYTES]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]
