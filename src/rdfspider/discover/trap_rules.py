"""Traps by the form of a URL: a URL enters; a readable rule by which it looks like one of an endless series leaves.

These rules need no fetched page; the frontier learns which URL patterns stop giving anything new. Every link of every page passes
through here, so cheap checks come first, and ordinary URLs need no others. `docs/judgement.md` explains the numbers.
"""

import re
from datetime import UTC, datetime

MAX_CHARS = 2_000
"""Browsers and sitemaps stop at 2,048; longer URLs come from software that keeps appending to them."""
MAX_SEGMENTS = 24
"""File trees and archives are not deeper."""
MAX_SAME_SEGMENTS = 3
"""How often one segment may occur in a path: relative links on pages that answer any path make `/a/a/a/a/a`. Three occurrences
can be legitimate: `/tiles/0/0/0`."""
MAX_RUNS = 2
"""How often a sequence of two or more segments may occur in a row."""
MAX_PARAMETERS = 12
"""Search forms have fewer; listings in which every choice adds one have more."""
MAX_SAME_PARAMETERS = 2
"""How often one parameter may occur: choices that accumulate make a page for every combination."""
MAX_NESTED = 2
"""Queries within a query: `?return=/login?return=/login?return=…` grows with each click."""
FIRST_YEAR = 1970
YEARS_AHEAD = 3
"""Calendars always offer a next month; nobody plans longer ahead."""

# Slashes of a URL with four segments, the minimum for the rules on repetition.
_SOME_SLASHES = 6
# How far into a URL to look for a date: calendar URLs are shorter, and searching longer ones takes time.
_MAX_CALENDAR_CHARS = 500
_NESTED = re.compile(r"%(?:25)*3F")
_CALENDAR = re.compile(
    r"calend|kalender|agenda|/cal[/?.]|/events?\b|termine|veranstaltung|schedule|tribe|[?&](?:[^=&]*(?:date|month|year|day|week)|cal)="
)
_MONTH_NAME = (
    r"(?:jan(?:uary?)?|feb(?:ruary?)?|mar(?:ch)?|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?"
    r"|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
# The end of a number or date; a letter must not follow, as in the title of `/events/4711-10-years`.
_END = r"(?![0-9a-z]|[-_.+][a-z])"
# A year beside a month or a week; before a month of one digit, without a separator, or before a week only from 1000 to 2999.
_DATE = re.compile(
    rf"(?<![0-9a-z%])(?:([12]\d{{3}})[-/_.+](?:0?[1-9]|1[0-2]){_END}"
    rf"|(\d{{4}})[-/_.+](?:0[1-9]|1[0-2]){_END}"
    rf"|([12]\d{{3}})(?:0[1-9]|1[0-2])(?:\d\d)?(?!\d)"
    rf"|([12]\d{{3}})-?w[0-5]\d{_END}"
    rf"|(\d{{4}})[-/_.+]{_MONTH_NAME}{_END}"
    rf"|(?:{_MONTH_NAME}[-/_.+]|(?:0?[1-9]|1[0-2])[-_.]|(?<==)(?:\d\d?/)?\d\d?/)(\d{{4}}){_END})",
    re.ASCII,
)
# A year in a parameter of its own; the month may be in another.
_YEAR = re.compile(r"(?:year|jahr|[?&;]y)=(\d{4})(?!\d)", re.ASCII)
_MONTH = re.compile(r"(?:month|monat|[?&;]m)=")
# A number alone may be an event's rather than a year, but URLs named after a calendar have few of those.
_NAMED_CALENDAR = re.compile(r"(?:calendar|kalender|agenda|/cal)\b")
_LONE_YEAR = re.compile(r"/(2[01]\d\d)(?![^/?])", re.ASCII)


def find_trap(url: str) -> str:
    """Explain why a URL in normal form looks like a trap; empty if it does not."""
    if len(url) > MAX_CHARS:
        return f"trap: URL length ({len(url):,} characters)"
    if url.count("/") >= _SOME_SLASHES and (found := _find_in_path(url)):
        return found
    if "?" in url and (found := _find_in_query(url)):
        return found
    return _find_calendar(url)


def _find_in_path(url: str) -> str:
    segments = url.partition("?")[0].split("/")[3:]
    count = len(segments)
    if count > MAX_SEGMENTS:
        return f"trap: path depth ({count} segments)"
    different = set(segments)
    # The smallest repetition that counts has three segments more than different ones.
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
    if not others and ";" in url:
        # Some sites separate parameters with `;`; on others it separates the items of a value.
        address, _, query = url.partition("?")
        parameters = [part for part in query.split(";") if "=" in part]
        url = f"{address}?{'&'.join(parameters)}"
        others = len(parameters) - 1
    if others >= MAX_PARAMETERS:
        return f"trap: parameters ({others + 1} of them)"
    if others >= MAX_SAME_PARAMETERS:
        names = [parameter.partition("=")[0] for parameter in url.partition("?")[2].split("&")]
        if len(names) - len(set(names)) >= MAX_SAME_PARAMETERS:
            for name in names:
                if name and names.count(name) > MAX_SAME_PARAMETERS:
                    return f"trap: repeated parameter ({name[:100]})"
    # An escaped question mark is %3F, a doubly escaped one %253F, and so on.
    if url.count("?") + url.count("3F") > MAX_NESTED + 1:
        nested = url.count("?") - 1 + len(_NESTED.findall(url))
        return f"trap: nested queries ({nested} of them)" if nested > MAX_NESTED else ""
    return ""


def _find_calendar(url: str) -> str:
    """Find a distant year in a URL that looks like a calendar's; in other URLs it may be a number, or history."""
    text = url[:_MAX_CALENDAR_CHARS].lower()
    # Searching for plain text takes a tenth of the time of an expression, and most URLs have none of these.
    is_likely = (
        "alend" in text
        or "/cal" in text
        or "agenda" in text
        or "/event" in text
        or "termine" in text
        or "veranstaltung" in text
        or "schedule" in text
        or "tribe" in text
        or ("?" in text and ("date" in text or "month" in text or "year" in text or "day=" in text or "week=" in text))
        or "cal=" in text
    )
    if not is_likely or not _CALENDAR.search(text):
        return ""
    text = text.replace("%2f", "/")
    last_year = datetime.now(UTC).year + YEARS_AHEAD
    years = [int("".join(date)) for date in _DATE.findall(text)]
    # A listing by year without months may be history.
    has_month = _MONTH.search(text) is not None
    years += [year for year in map(int, _YEAR.findall(text)) if has_month or year >= FIRST_YEAR]
    if _NAMED_CALENDAR.search(text):
        years += map(int, _LONE_YEAR.findall(text))
    far = next((year for year in years if not FIRST_YEAR <= year <= last_year), None)
    return "" if far is None else f"trap: calendar (the year {far})"
