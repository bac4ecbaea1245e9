"""Filters of the user's: a URL enters, the filter that keeps it out leaves. They are regular expressions of RE2, which takes time
by the length of a URL alone, whatever the expression; Python's own could take hours for one link.
"""

from collections.abc import Sequence
from typing import Any

import re2

# What one expression may take in memory, and the length of its program. Where it is made so that RE2 has to take it step by step,
# that is what a character of a URL costs, in ten nanoseconds each: the worst takes 20 ms for the longest URL that is no trap.
_MAX_BYTES = 1024 * 1024
_MAX_STEPS = 2_000


class Filters:
    """What `crawl.include` and `crawl.exclude` say of URLs."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        # One by one: put together, they could not say which of them it was, and might be too large.
        self._include = tuple(map(compile_pattern, self.include))
        self._exclude = tuple(map(compile_pattern, self.exclude))

    def find_refusal(self, url: str) -> str:
        """Which filter keeps a URL out, in words; empty where none does."""
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return "filter: no --include matches"
        for pattern in self._exclude:
            if pattern.search(url):
                return f"filter: --exclude {pattern.pattern}"
        return ""


def compile_pattern(pattern: str) -> Any:
    """An expression that can be searched for; a ValueError says what is wrong with it."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_BYTES
    options.never_capture = True
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        # RE2 gives bytes: its complaint, and the place where it stopped.
        reason = error.args[0] if error.args else ""
        raise ValueError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from error
    if compiled.programsize > _MAX_STEPS:
        raise ValueError(f"it is too large, with {compiled.programsize:,} steps of {_MAX_STEPS:,} that are allowed")
    return compiled
