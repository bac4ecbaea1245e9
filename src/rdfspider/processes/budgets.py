"""A bound on the processor time of a block of code in this process: code enters, and leaves by an error once its time is used up.

Python acts on the timer's signal between two of its own steps, so native code ends its call first. The code may be left anywhere,
so it must own all that it changes.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Of the program and of the system for it: a page may cost either.
_SIGNAL, _TIMER = signal.SIGPROF, signal.ITIMER_PROF
_SOON_S, _AGAIN_S = 0.002, 0.2
_end_s: float | None = None
"""The processor time of the main thread at which the code under way must end; None if there is none."""


class OverBudgetError(BaseException):
    """The code has used up its processor time; no error that the code itself would handle."""


@contextmanager
def limit_cpu(seconds: float) -> Iterator[None]:
    """Raise OverBudgetError in this context once it has used so much processor time. Only the main thread can be interrupted:
    others have no limit. Contexts do not nest, and nothing may be awaited inside."""
    global _end_s
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if signal.getsignal(_SIGNAL) is not _interrupt:
        signal.signal(_SIGNAL, _interrupt)
        # Other threads, some of them native, have system calls under way, which go on.
        signal.siginterrupt(_SIGNAL, False)
    _end_s = time.thread_time() + seconds
    signal.setitimer(_TIMER, seconds)
    try:
        try:
            yield
        finally:
            _end_s = None
    finally:
        # Once more, because a signal may have come just before.
        _end_s = None
        signal.setitimer(_TIMER, 0)


def _interrupt(_: int, frame: FrameType | None) -> None:
    if _end_s is None:
        return
    left_s = _end_s - time.thread_time()
    if left_s > 0 or _discards_errors(frame):
        # The timer counts all threads, and others have used the rest; or it is soon over.
        signal.setitimer(_TIMER, max(left_s, _SOON_S))
        return
    # If it is discarded after all, another must follow.
    signal.setitimer(_TIMER, _AGAIN_S)
    raise OverBudgetError


def _discards_errors(frame: FrameType | None) -> bool:
    """Whether code runs whose errors Python only prints: a finaliser, or what is called when an object is gone."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code.co_filename.endswith(("_weakrefset.py", "weakref.py")):
            return True
        frame = frame.f_back
    return False
