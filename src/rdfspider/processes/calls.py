"""A function and its arguments enter, what it returns leaves, by way of a process that can be killed: whatever takes too long,
needs too much or dies costs itself alone.

The process is started when it is first needed, and its calls take turns. One that ends badly is told by a CallError, and the next
gets a new process; an error that we raise on purpose is passed on as it is. Temporary files of calls go with their process.
"""

import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any

from rdfspider.errors import RdfspiderError, UnansweredError
from rdfspider.processes.child import (
    BusyError,
    Child,
    DiedError,
    NotStartedError,
    RestartedChild,
    make_command,
)
from rdfspider.processes.confinement import limit_resources, read_resident_bytes
from rdfspider.processes.framing import READY, ParentPipe

# Address space of a call: 16 MB of the worst markup need about half of it.
_MEMORY_BYTES = 2 * 1024**3
# A process that has this much does not give it back; it ends, and the next call starts another.
_SPENT_BYTES = 384 * 1024**2
_DONE, _SPENT = b"d", b"s"


class CallFailure(StrEnum):
    """Why a call did not end well."""

    TOO_SLOW = "too-slow"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"


class CallError(UnansweredError):
    """A call that did not end well."""

    def __init__(self, code: CallFailure, message: str) -> None:
        super().__init__(message)
        self.code = code


class KillableCalls:
    """One such process; it may be used by any thread."""

    def __init__(self, timeout_s: float, wait_turn_s: float | None = None) -> None:
        """So long a call may take; and so long it may wait for those before it, by default for ever."""
        self._timeout_s = timeout_s
        self._child = RestartedChild(lambda: _CallChild(timeout_s), lambda answer: answer[:1] == _SPENT, wait_turn_s)

    @property
    def pid(self) -> int | None:
        """The process id; None while no process is needed."""
        return self._child.pid

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """What a function of a module's top level returns; CallError where it does not end well, UnansweredError where its turn
        does not come."""
        message = pickle.dumps((function, *arguments))
        try:
            answer = self._child.ask(message, self._timeout_s)
        except BusyError:
            raise UnansweredError("others are being answered before this: try again in a moment") from None
        except TimeoutError as error:
            raise CallError(CallFailure.TOO_SLOW, f"it took more than {self._timeout_s:g} s") from error
        except (NotStartedError, DiedError) as error:
            raise CallError(CallFailure.CRASHED, f"the process that read it {error}") from error
        returned, failure = pickle.loads(memoryview(answer)[1:])
        if isinstance(failure, RdfspiderError):
            raise failure
        if failure is not None:
            raise CallError(*failure)
        return returned

    def close(self) -> None:
        """End the process, whatever it does; calls that wait are not done."""
        self._child.close()

    def rest(self) -> None:
        """End the process until it is needed again, with all that it has open; unless it has something to do."""
        self._child.rest()


class _CallChild(Child):
    """A process for calls, with a folder for temporary files that goes with it."""

    def __init__(self, timeout_s: float) -> None:
        # Here and not there, because whoever is killed removes nothing.
        self._folder = tempfile.TemporaryDirectory(prefix="rdfspider-calls-", ignore_cleanup_errors=True)
        try:
            super().__init__(make_command(__name__, str(timeout_s), self._folder.name), has_session=False)
        except BaseException:
            self._folder.cleanup()
            raise

    def end(self) -> int:
        """Kill it, and remove what it has left."""
        status = super().end()
        self._folder.cleanup()
        return status


def main() -> None:
    """The child: answer calls until the parent hangs up: `TIMEOUT FOLDER`."""
    timeout_s, folder = float(sys.argv[1]), sys.argv[2]
    tempfile.tempdir = folder
    pipe = ParentPipe()
    pipe.send(READY)
    with suppress(BrokenPipeError):
        while (message := pipe.receive()) is not None:
            with limit_resources(timeout_s, _MEMORY_BYTES):
                answer = _answer(message)
            pipe.send(answer)
    # The parent may have been killed.
    shutil.rmtree(folder, ignore_errors=True)


def _answer(message: bytes) -> bytes:
    """Whether this process should end, what the call returns, and what kept it from that: an error of ours or a code and a
    message."""
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
        # A fault of ours, or arguments that cannot be loaded here: whoever asked should know, and go on.
        reason = (CallFailure.CRASHED, f"{type(error).__name__}: {error}"[:500])
        return _DONE + pickle.dumps((None, reason))
