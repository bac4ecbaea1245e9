"""Patience: what a test waits for comes sooner or later, and how much later says nothing where many tests share a machine."""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 60.0
"""Only what takes longer than this is broken rather than slow."""

T = TypeVar("T")


def wait_until(condition: Callable[[], T | None], patience_s: float = PATIENCE_S) -> T:
    """Wait until there is something to see, and return it; a test that sees nothing in time has failed."""
    end = time.monotonic() + patience_s
    while not (seen := condition()):
        assert time.monotonic() < end, f"nothing came of waiting {patience_s:.0f} s; last {seen!r}"
        time.sleep(0.02)
    return seen
