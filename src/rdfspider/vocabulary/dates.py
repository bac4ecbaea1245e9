"""Dates: texts of pages enter, seconds since 1970 leave; and back to text."""

import re
from datetime import UTC, datetime

_SLASHES = re.compile(r"(?:([A-Za-z]{3})[a-z]*,? )?(\d\d?)/(\d\d?)/(\d{4})(?!\d)")
_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?|$)")
_BEFORE_CHRIST = re.compile(r"-\d{4,6}(?:-\d\d){0,2}")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_YEARS = range(1700, 2200)
"""The text index stores nanoseconds in 64 bits, from 1677 to 2262."""
_FIRST, _LAST = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (_YEARS.start, _YEARS.stop))


def read_date(text: str) -> float | None:
    """Read a date of ISO 8601 (a year is enough), of RFC 822, or like 12/19/2020; None for other text.

    It is UTC unless it has a zone. Dates before the first one that the index can store become that one."""
    text = text.strip()[:40]
    found = _parse(text)
    if found is None:
        return _FIRST if _BEFORE_CHRIST.fullmatch(text) else None
    # Programs write year 1 for an unknown date, and far years for "forever".
    if found.year == 1 or found.year >= _YEARS.stop:
        return None
    return max(_FIRST, (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def write_date(time: float) -> str:
    """Write a time from `read_date` as 2024-05-01, or only as far as it is known; empty for 0."""
    if not time:
        return ""
    moment = datetime.fromtimestamp(time, UTC)
    if time <= _FIRST:
        return write_year(_YEARS.start)
    # 1888 and 1888-01-01 give the same time; the year is right for both.
    is_year = moment == datetime(moment.year, 1, 1, tzinfo=UTC)
    return str(moment.year) if is_year else moment.date().isoformat()


def write_day(time: float) -> str:
    """Write a time as 2024-05-01; empty for 0."""
    return datetime.fromtimestamp(time, UTC).date().isoformat() if time else ""


def write_year(year: int) -> str:
    """Write a year of the index; the first one includes all earlier ones."""
    return f"{year} or earlier" if year == _YEARS.start else str(year)


def _parse(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    # Not at the top: it imports sockets, which processes that only answer queries do not need.
    from email.utils import parsedate_to_datetime

    try:
        if day := _DAY.match(text):
            return datetime(int(day[1]), int(day[2] or 1), int(day[3] or 1))
        if found := _SLASHES.match(text):
            return _read_slashes(*found.groups())
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _read_slashes(weekday: str | None, one: str, other: str, year: str) -> datetime | None:
    """Read a date with the month or the day first; None if both are possible and no weekday decides."""
    numbers = ((int(one), int(other)), (int(other), int(one)))
    days = {datetime(int(year), month, day) for month, day in numbers if month <= 12}
    if weekday:
        days = {day for day in days if _WEEKDAYS[day.weekday()] == weekday.lower()}
    return days.pop() if len(days) == 1 else None


def bound_date(time: float) -> float:
    """Limit a time to what the text index can store."""
    return min(max(time, _FIRST), _LAST)
