"""Dates as pages write them in, seconds since 1970 out."""

import re
from datetime import UTC, datetime

_DAY = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_YEARS = range(1700, 2200)
"""The text index holds nanoseconds in 64 bits, from 1677 to 2262."""
_FIRST, _LAST = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (_YEARS.start, _YEARS.stop))


def read_date(text: str) -> float | None:
    """The time that an ISO 8601 date tells, to the day at least or to the month; UTC where it tells no zone."""
    text = text.strip()[:40]
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        day = _DAY.match(text)
        if day is None:
            return None
        try:
            found = datetime(int(day[1]), int(day[2]), int(day[3] or 1))
        except ValueError:
            return None
    if found.year not in _YEARS:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def bound_date(time: float) -> float:
    """A time that the text index can hold, however a clock was set."""
    return min(max(time, _FIRST), _LAST)
