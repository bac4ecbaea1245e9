"""Filters of the user's: a URL enters, the filter that keeps it out leaves. They are regular expressions of RE2, which takes time
by the length of a URL alone, whatever the expression; Python's own could take hours for one link.
"""

from collections.abc import Callable, Sequence
from typing import Any

import re2

# What one expression may take in memory, and the length of its program. Where it is made so that RE2 has to take it step by step,
# that is what a character of a URL costs, in ten nanoseconds each: the worst takes 20 ms for the longest URL that is no trap.
_MAX_BYTES = 1024 * 1024
_MAX_STEPS = 2_000
# What all of them may take together.
_MAX_SET_BYTES = 64 * 1024 * 1024


class Filters:
    """What `crawl.include` and `crawl.exclude` say of URLs."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        self._match_include = _compile_set(self.include)
        self._match_exclude = _compile_set(self.exclude)

    def find_refusal(self, url: str) -> str:
        """Which filter keeps a URL out, in words; empty where none does."""
        if self.include and not self._match_include(url):
            return "filter: no --include matches"
        if self.exclude and (found := self._match_exclude(url)):
            return f"filter: --exclude {self.exclude[min(found)]}"
        return ""


def _compile_set(patterns: Sequence[str]) -> Callable[[str], Sequence[int] | None]:
    """Which of the expressions are somewhere in a text, by their numbers. All are looked for at once, and no place is told, which
    takes less than half the time of looking for one."""
    options = _make_options(_MAX_SET_BYTES)
    found = re2.Set.SearchSet(options)
    for pattern in patterns:
        compile_pattern(pattern)
        found.Add(pattern)
    found.Compile()
    match: Callable[[str], Sequence[int] | None] = found.Match
    return match


def compile_pattern(pattern: str) -> Any:
    """An expression that can be searched for; a ValueError says what is wrong with it."""
    try:
        compiled = re2.compile(pattern, _make_options(_MAX_BYTES))
    except re2.error as error:
        # RE2 gives bytes: its complaint, and the place where it stopped.
        reason = error.args[0] if error.args else ""
        raise ValueError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from error
    if compiled.programsize > _MAX_STEPS:
        raise ValueError(f"it is too large, with {compiled.programsize:,} steps of {_MAX_STEPS:,} that are allowed")
    return compiled


def _make_options(max_bytes: int) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = max_bytes
    options.never_capture = True
    return options
