"""The user's filters: a URL enters, the filter that excludes it leaves. They are RE2 expressions, whose time grows linearly with
the lengths of URL and expression; Python's own expressions could take hours for one link.

RE2 is fast while its cached states apply. A few expressions, such as `[ab].{200}c$`, make it compute a new state at each
character of a crafted URL, and take a thousand times as long; they are refused when a user enters them.
"""

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import re2

# Memory limits of one expression, and of all together.
_MAX_BYTES = 1024 * 1024
_MAX_SET_BYTES = 64 * 1024 * 1024
# How many expressions there may be, and the total length of their programs: each step costs some three nanoseconds per
# character of the worst URL.
MAX_PATTERNS = 100
MAX_STEPS = 2_000
# The time limit of one expression for the longest URL that is no trap: a page of 10,000 such links takes two seconds.
_MAX_URL_S = 0.0002
# All together may take longer: only a URL crafted against most of them does, and the links of a page have a time limit.
_MAX_ALL_S = 0.001
_URL_CHARS = 2_000
# Texts of each kind to time. The fastest counts, since the first includes RE2's setup and the machine may be busy.
_TRIALS = 5
_MAX_CHOICES = 8
_MAX_BEGINNINGS = 4
_USUAL_PARTS = ("-", "/", "1", "a")
_LETTER = "[A-Za-z0-9/?&=%_-]"
# Most filters are plain text, which cannot be slow.
_is_plain = re.compile(r"\^?(?:[\w/=&%:,;~-]|\\[./?-])*\$?", re.ASCII).fullmatch
# The literal beginning that an expression requires of a URL; nothing in it is optional except the `s` of `https?`.
_BEGINNING = re.compile(r"\^(https\?|https?(?![?*+{]))((?:(?:[\w/=&%:,;~-]|\\[./?-])(?![?*+{]))*)", re.ASCII)


class Filters:
    """Applies `crawl.include` and `crawl.exclude` to URLs."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        self._match_include = _compile_set(self.include)
        # Most links lead elsewhere; RE2 needs ten times as long as `startswith` to find that.
        self._beginnings = tuple(chain.from_iterable(map(_list_beginnings, self.include)))
        self._match_exclude = _compile_set(self.exclude)

    def find_refusal(self, url: str) -> str:
        """Describe the filter that excludes a URL; empty if none does."""
        if self.include and not (url.startswith(self._beginnings) and self._match_include(url)):
            return "filter: no --include matches"
        return self.find_exclusion(url)

    def find_exclusion(self, url: str) -> str:
        """Describe the `--exclude` that excludes a URL; empty if none does."""
        if self.exclude and (found := self._match_exclude(url)):
            return f"filter: --exclude {self.exclude[min(found)]}"
        return ""


def find_fault(patterns: Sequence[str]) -> tuple[str, str] | None:
    """Return the first expression that cannot be used together with those before it, and why."""
    if len(patterns) > MAX_PATTERNS:
        return patterns[MAX_PATTERNS], f"it is one of {len(patterns):,}, and {MAX_PATTERNS} are allowed"
    steps = 0
    for pattern in patterns:
        try:
            steps += compile_pattern(pattern).programsize
        except ValueError as error:
            return pattern, str(error)
        if steps > MAX_STEPS:
            return pattern, f"it is too large: all have {steps:,} steps up to here, of {MAX_STEPS:,} that are allowed"
        if not _is_plain(pattern) and (took := _find_excess([pattern], _MAX_URL_S)):
            return pattern, f"it is too slow, with {took} for a long URL; `.*` is quicker than `.{{20}}`"
    if len(patterns) > 1 and (took := _find_excess(patterns, _MAX_ALL_S)):
        return patterns[-1], f"all together are too slow, with {took} for a long URL"
    return None


def compile_pattern(pattern: str) -> Any:
    """Compile an expression; a ValueError says what is wrong with it."""
    try:
        compiled = re2.compile(pattern.encode("utf-8", "replace"), _make_options(_MAX_BYTES))
    except re2.error as error:
        # RE2 gives its message as bytes.
        reason = error.args[0] if error.args else ""
        raise ValueError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from error
    if compiled.programsize > MAX_STEPS:
        raise ValueError(f"it is too large, with {compiled.programsize:,} steps of {MAX_STEPS:,} that are allowed")
    return compiled


def _compile_set(patterns: Sequence[str]) -> Callable[[str], Sequence[int] | None]:
    """Return a function that finds the numbers of the expressions that match anywhere in a text. It searches for all at once and
    reports no positions, which takes less than half the time of a search for one."""
    found = re2.Set.SearchSet(_make_options(_MAX_SET_BYTES))
    for pattern in patterns:
        compile_pattern(pattern)
        found.Add(pattern)
    found.Compile()
    match: Callable[[str], Sequence[int] | None] = found.Match
    return match


def _list_beginnings(pattern: str) -> tuple[str, ...]:
    """List the texts with which every URL that the expression matches must begin."""
    found = _BEGINNING.match(pattern)
    if not found or "|" in pattern:
        return ("",)
    scheme, rest = found[1], found[2].replace("\\", "")
    return (f"http{rest}", f"https{rest}") if scheme.endswith("?") else (scheme + rest,)


def _make_options(max_bytes: int) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = max_bytes
    options.never_capture = True
    # URLs in normal form are ASCII; with all of Unicode, the program for `.` is eight times as long.
    options.encoding = re2.Options.Encoding.LATIN1
    return options


def _find_excess(patterns: Sequence[str], max_s: float) -> str:
    """Describe the time for a long URL that was crafted to be slow; empty if it is within `max_s`."""
    match = _compile_set(patterns)
    for texts in _make_slow_texts(patterns):
        least_s = min(_time_until(max_s, match, texts))
        if least_s > max_s:
            return f"{least_s * 1e6:,.0f} µs of {max_s * 1e6:,.0f}"
    return ""


def _time_until(max_s: float, match: Callable[[str], object], texts: Iterator[str]) -> Iterator[float]:
    """Time each text, until one is fast enough."""
    took_s = math.inf
    while took_s > max_s and (text := next(texts, "")):
        started = time.thread_time()
        match(text)
        took_s = time.thread_time() - started
        yield took_s


def _make_slow_texts(patterns: Sequence[str]) -> Iterator[Iterator[str]]:
    """Make long URLs, some of each kind, from random mixtures of the parts of the expressions: these make RE2 compute the most
    new states."""
    chance = random.Random(0)
    # Remove counts, such as {20}, and classes, such as \w.
    plain = re.sub(r"\{[\d,]*\}|\\[A-Za-z]", " ", " ".join(patterns))
    choices = re.findall(r"\[[^\]]+\]|\([^()]+\)", plain)[:_MAX_CHOICES]
    first_choices = re.sub(r"\((?:\?:)?([^()|]*)\|[^()]*\)", r"\1", plain)
    beginnings = {"https://example.org/"}
    for pattern in patterns:
        # The plain text that an expression requires at the beginning of the URL.
        if found := re.match(r"\^((?:[A-Za-z0-9:/_-]|\\[./-])+)", pattern):
            beginnings.add(found[1].replace("\\", ""))
    kinds = {
        tuple(sorted(set(re.findall(form, part))))
        for part in (plain, first_choices, *choices)
        for form in (_LETTER, _LETTER + "+")
    }
    kinds.add(_USUAL_PARTS)
    for beginning in sorted(beginnings)[:_MAX_BEGINNINGS]:
        for parts in sorted(kinds - {()}):
            for mixture in (parts, (*parts, *("~",) * 3 * len(parts))):
                yield (_make_text(beginning, mixture, chance) for _ in range(_TRIALS))


def _make_text(beginning: str, parts: Sequence[str], chance: random.Random) -> str:
    return (beginning + "".join(chance.choices(parts, k=_URL_CHARS)))[:_URL_CHARS]
