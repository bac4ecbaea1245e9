"""Ctrl-C while modules are being imported: the process ends at once, with one line and no traceback."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def end_at_interrupt() -> Iterator[None]:
    """Within this context an interrupt ends the process; an exception could get lost in a module that is being imported.

    It is for commands that have not begun yet: nothing is cleaned up. Whoever started the process may have chosen that interrupts
    are ignored; then they still are.
    """
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: object) -> None:
    try:
        os.write(2, b"rdfspider: interrupted\n")
    finally:
        os._exit(128 + number)
