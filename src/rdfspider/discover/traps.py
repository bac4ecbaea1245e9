"""Addresses without end: a URL enters, the rule by which it looks like a trap leaves, in words for people.

These are rules of structure, which need no page to be fetched. What is learned of patterns that stop giving anything new is in
the frontier. Every link of every page comes through here, so that what is cheap comes first, and usual URLs need nothing else.
`docs/judgement.md` tells the numbers and the reasons.
"""

import re
from datetime import UTC, datetime

MAX_CHARS = 2_000
"""Browsers and sitemaps stop at 2,048; what is longer was put together by a machine that adds to it."""
MAX_SEGMENTS = 24
"""The deepest honest paths, of archives and file trees, have about 15."""
MAX_SAME_SEGMENTS = 3
"""How often one segment may be in a path: relative links on pages that answer to any path make `/a/a/a/a/a`. Three times the same
is still honest: `/tiles/0/0/0`."""
MAX_RUNS = 2
"""How often two or more segments in a row may be repeated at once."""
MAX_PARAMETERS = 12
"""Forms that search have fewer; listings in which every choice adds one have more."""
MAX_SAME_PARAMETERS = 2
"""How often one parameter may be there: choices that add up make as many pages as there are sets of them."""
MAX_NESTED = 2
"""Queries within a query: `?return=/login?return=/login?return=…` grows with each click."""
FIRST_YEAR = 1970
YEARS_AHEAD = 3
"""Calendars offer a next month without end; nobody plans longer ahead."""

# Slashes of a URL of four segments, which the rules on repetition need at least.
_SOME_SLASHES = 6
_NESTED = re.compile(r"%(?:25)*3F")
_CALENDAR = re.compile(
    r"calend|kalender|agenda|/cal[/?.]|/events?\b|termine|veranstaltung|schedule|tribe|[?&](?:[^=&]*(?:date|month|year|day|week)|cal)="
)
# Four digits that may be a year, but none of the usual ones.
_UNUSUAL_YEAR = re.compile(r"[/=](?!19[7-9]|20[0-2])[12]\d{3}").search
# A year with a month, and perhaps a day, or a parameter that is called a year.
_DATE = re.compile(
    r"[/=](\d{4})(?:[-/_.](?:0?[1-9]|1[0-2])(?!\d)|(?:0[1-9]|1[0-2])(?:\d\d)?(?!\d))|year=(\d{4})(?!\d)", re.ASCII
)


def find_trap(url: str) -> str:
    """Why a URL in normal form looks like a trap; empty where it does not."""
    if len(url) > MAX_CHARS:
        return f"trap: URL length ({len(url):,} characters)"
    if url.count("/") >= _SOME_SLASHES and (found := _find_in_path(url)):
        return found
    if "?" in url and (found := _find_in_query(url)):
        return found
    # A search for four plain texts takes a third of the time of one for an expression, and most URLs have none of them.
    if ("/2" in url or "=2" in url or "/1" in url or "=1" in url) and _UNUSUAL_YEAR(url):
        return _find_calendar(url)
    return ""


def _find_in_path(url: str) -> str:
    segments = url.partition("?")[0].split("/")[3:]
    count = len(segments)
    if count > MAX_SEGMENTS:
        return f"trap: path depth ({count} segments)"
    different = set(segments)
    # Of the repetitions that count, the least leave three segments fewer.
    if count - len(different) < MAX_SAME_SEGMENTS:
        return ""
    for segment in different:
        if segment and segments.count(segment) > MAX_SAME_SEGMENTS:
            return f"trap: repeated segment (/{segment[:100]})"
    for length in range(2, count // (MAX_RUNS + 1) + 1):
        for start in range(count - (MAX_RUNS + 1) * length + 1):
            run = segments[start : start + length]
            if segments[start : start + (MAX_RUNS + 1) * length] == run * (MAX_RUNS + 1):
                return f"trap: repeated segments (/{'/'.join(run)[:100]})"
    return ""


def _find_in_query(url: str) -> str:
    others = url.count("&")
    if others >= MAX_PARAMETERS:
        return f"trap: parameters ({others + 1} of them)"
    if others >= MAX_SAME_PARAMETERS:
        names = [parameter.partition("=")[0] for parameter in url.partition("?")[2].split("&")]
        if len(names) - len(set(names)) >= MAX_SAME_PARAMETERS:
            for name in names:
                if name and names.count(name) > MAX_SAME_PARAMETERS:
                    return f"trap: repeated parameter ({name[:100]})"
    # An escaped question mark is %3F, one that is escaped twice %253F, and so on.
    if url.count("?") + url.count("3F") > MAX_NESTED + 1:
        nested = url.count("?") - 1 + len(_NESTED.findall(url))
        return f"trap: nested queries ({nested} of them)" if nested > MAX_NESTED else ""
    return ""


def _find_calendar(url: str) -> str:
    """A year far away, where the rest of the URL looks like a calendar; elsewhere it may be a number, or history."""
    text = url.lower()
    dates = _DATE.findall(text)
    if not dates or not _CALENDAR.search(text):
        return ""
    last_year = datetime.now(UTC).year + YEARS_AHEAD
    years = (int(date[0] or date[1]) for date in dates)
    far = next((year for year in years if not FIRST_YEAR <= year <= last_year), None)
    return "" if far is None else f"trap: calendar (the year {far})"
