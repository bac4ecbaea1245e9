"""Dates of feeds as XML Schema writes them: RFC 822 and W3C notes on dates go in, a value and its datatype come
out, or a moment."""

import re
from datetime import UTC, datetime, timedelta

from rdfspider.vocabulary.ntriples import XSD

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
# The zones that RFC 822 names, in hours.
_ZONES = {"z": 0, "gmt": 0, "ut": 0, "utc": 0}
_ZONES |= {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}

_W3C = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)? ?(Z|z|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII
)
_RFC822 = re.compile(
    r"(?:[A-Za-z]{2,9}\.?,?\s{0,9})?(\d{1,2})[\s-]{1,9}([A-Za-z]{3})[a-z]{0,6}\.?,?[\s-]{1,9}(\d{4}|\d{2})"
    r"(?:\s{1,9}(\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d{1,9})?\s{0,9}([A-Za-z]{1,3}|(?:GMT|UTC)?[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)


def read_date(text: str) -> tuple[str, str] | None:
    """The date's lexical form and the term of its datatype; None when it is in neither notation or on no calendar."""
    text = text.strip()
    if len(text) > 64:
        return None
    try:
        return _read_w3c(text) or _read_rfc822(text)
    except (ValueError, OverflowError):
        return None


def read_time(text: str) -> float:
    """The same date in seconds since 1970: one without a zone is UTC's, one without a day the first; 0 where it is none."""
    found = read_date(text) if text else None
    if found is None:
        return 0.0
    try:
        date = datetime.fromisoformat(found[0] + {4: "-01-01", 7: "-01"}.get(len(found[0]), ""))
        return max((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


def _read_w3c(text: str) -> tuple[str, str] | None:
    match = _W3C.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    if hour is not None:
        when = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0))
        return f"{when.isoformat()}{fraction or ''}{_offset(zone)}", f"<{XSD}dateTime>"
    if day is not None:
        datetime(int(year), int(month), int(day))
        return text, f"<{XSD}date>"
    if month is not None:
        datetime(int(year), int(month), 1)
        return text, f"<{XSD}gYearMonth>"
    datetime(int(year), 1, 1)
    return text, f"<{XSD}gYear>"


def _read_rfc822(text: str) -> tuple[str, str] | None:
    """RFC 822 with RFC 2822's reading of short years (section 4.3)."""
    match = _RFC822.fullmatch(text)
    if match is None or match[2].lower() not in _MONTHS:
        return None
    year = int(match[3])
    if len(match[3]) == 2:
        year += 2000 if year < 50 else 1900
    day = datetime(year, _MONTHS[match[2].lower()], int(match[1]))
    if match[4] is None:
        return day.date().isoformat(), f"<{XSD}date>"
    when = day.replace(hour=int(match[4]), minute=int(match[5]), second=int(match[6] or 0))
    return f"{when.isoformat()}{_offset(match[7])}", f"<{XSD}dateTime>"


def _offset(zone: str | None) -> str:
    """The zone as XML Schema writes it; an unknown one makes the date unreadable."""
    if not zone:
        return ""
    name = zone.lower()
    if name in _ZONES:
        hours = _ZONES[name]
        return f"{hours:+03d}:00" if hours else "Z"
    digits = name.removeprefix("gmt").removeprefix("utc").replace(":", "")
    if len(digits) != 5:
        raise ValueError(zone)
    delta = timedelta(hours=int(digits[1:3]), minutes=int(digits[3:]))
    if delta > timedelta(hours=14) or int(digits[3:]) > 59:
        raise ValueError(zone)
    return f"{digits[:3]}:{digits[3:]}" if delta else "Z"
