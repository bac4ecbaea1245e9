"""Calls in a process that can be killed: a function and its arguments enter, its result leaves.

A call that takes too long, needs too much memory or crashes affects nothing else. The process starts with the first call, and
calls take turns. A call that fails this way raises CallError, and the next one gets a new process; an RdfspiderError is passed on
unchanged. Temporary files of calls are removed with their process.
"""

import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Any

from rdfspider.errors import RdfspiderError, UnansweredError
from rdfspider.processes.child import (
    START_S,
    BusyError,
    Child,
    DiedError,
    NotStartedError,
    RestartedChild,
    make_command,
)
from rdfspider.processes.confinement import CPU_SIGNAL, limit_resources, read_resident_bytes
from rdfspider.processes.framing import READY, ParentPipe

# The address space of a call; 16 MB of the worst markup need about half of it.
_MEMORY_BYTES = 2 * 1024**3
# A process that uses more memory than this would not release it, so it ends, and the next call starts another.
_SPENT_BYTES = 128 * 1024**2
_DONE, _SPENT = b"d", b"s"


class CallFailure(StrEnum):
    """Why a call failed."""

    TOO_SLOW = "too-slow"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"
    NOT_STARTED = "not-started"
    """There is no process for it, so nothing is known of the call."""


class CallError(UnansweredError):
    """A call failed: it was too slow, needed too much memory or crashed."""

    def __init__(self, code: CallFailure, message: str) -> None:
        super().__init__(message)
        self.code = code


class KillableCalls:
    """One process for calls; any thread may use it."""

    def __init__(
        self,
        timeout_s: float,
        wait_turn_s: float | None = None,
        variables: Mapping[str, str] | None = None,
        *,
        cpu_s: float = 0.0,
        niceness: int = 0,
    ) -> None:
        """A call may take `timeout_s`, of which `cpu_s` on a processor (0 for all), and wait for `wait_turn_s` for earlier calls,
        by default forever. `variables` are added to the environment of the process, `niceness` to its nice value."""
        self._timeout_s = timeout_s
        self._cpu_s = cpu_s
        self._child = RestartedChild(
            lambda: _CallChild(timeout_s, cpu_s, niceness, variables or {}),
            lambda answer: answer[:1] == _SPENT,
            wait_turn_s,
            # A nice process starts slowly where processors are busy.
            START_S * (1 + niceness),
        )

    @property
    def pid(self) -> int | None:
        """The process id; None while there is no process."""
        return self._child.pid

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Return the result of a module-level function; CallError if the call fails, UnansweredError if it waits too long."""
        message = pickle.dumps((function, *arguments))
        try:
            answer = self._child.ask(message, self._timeout_s)
        except BusyError:
            raise UnansweredError("others are being answered before this: try again in a moment") from None
        except TimeoutError as error:
            raise CallError(CallFailure.TOO_SLOW, f"it took more than {self._timeout_s:g} s") from error
        except NotStartedError as error:
            raise CallError(CallFailure.NOT_STARTED, f"the process to read it {error}") from error
        except DiedError as error:
            if error.status == -CPU_SIGNAL:
                reason = f"it took more than {self._cpu_s:g} s of processor time"
                raise CallError(CallFailure.TOO_SLOW, reason) from error
            raise CallError(CallFailure.CRASHED, f"the process that read it {error}") from error
        returned, failure = pickle.loads(memoryview(answer)[1:])
        if isinstance(failure, RdfspiderError):
            raise failure
        if failure is not None:
            raise CallError(*failure)
        return returned

    def close(self) -> None:
        """Kill the process for good; waiting calls fail."""
        self._child.close()

    def rest(self) -> None:
        """End the process, and with it its open files, until it is needed again; does nothing during a call."""
        self._child.rest()


class _CallChild(Child):
    """A process for calls, with a temporary folder that is removed with it."""

    def __init__(self, timeout_s: float, cpu_s: float, niceness: int, variables: Mapping[str, str]) -> None:
        # The parent removes it, because a killed process cannot.
        self._folder = tempfile.TemporaryDirectory(prefix="rdfspider-calls-", ignore_cleanup_errors=True)
        try:
            command = make_command(__name__, str(timeout_s), str(cpu_s), self._folder.name)
            super().__init__(command, has_session=False, env={**os.environ, **variables})
            # From its first moment on, as it takes long to start. It may have ended already.
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, self.pid, os.getpriority(os.PRIO_PROCESS, 0) + niceness)
        except BaseException:
            self._folder.cleanup()
            raise

    def end(self) -> int:
        """Kill the process, and remove its temporary folder."""
        status = super().end()
        self._folder.cleanup()
        return status


def main() -> None:
    """Answer calls in the child, with the arguments `TIMEOUT CPU FOLDER`, until the parent closes the pipe."""
    timeout_s, cpu_s, folder = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    tempfile.tempdir = folder
    pipe = ParentPipe()
    pipe.send(READY)
    with suppress(BrokenPipeError):
        while (message := pipe.receive()) is not None:
            with limit_resources(timeout_s, _MEMORY_BYTES, cpu_s):
                answer = _answer(message)
            pipe.send(answer)
    # The parent may have been killed before it could remove the folder.
    shutil.rmtree(folder, ignore_errors=True)


def _answer(message: bytes) -> bytes:
    """Return whether this process should end, the call's result, and its failure: an RdfspiderError, or a code and a message."""
    try:
        function, *arguments = pickle.loads(message)
        answer = pickle.dumps((function(*arguments), None))
        return (_SPENT if read_resident_bytes() > _SPENT_BYTES else _DONE) + answer
    except MemoryError:
        reason = (CallFailure.OUT_OF_MEMORY, f"it needed more than {_MEMORY_BYTES} bytes of memory")
        return _SPENT + pickle.dumps((None, reason))
    except RdfspiderError as error:
        return _DONE + pickle.dumps((None, error))
    except Exception as error:
        # A bug of ours, or arguments that cannot be unpickled here: the caller gets the message, and continues.
        reason = (CallFailure.CRASHED, f"{type(error).__name__}: {error}"[:500])
        return _DONE + pickle.dumps((None, reason))
