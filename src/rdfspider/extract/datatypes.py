"""Dates, times, durations and numbers as pages write them enter, lexical forms and datatypes of XML Schema leave.

Feeds, sitemaps and robots directives write dates in the notation of RFC 822 or of the W3C, microformats nearly in that
of XML Schema. Microdata and RDFa each have their own rules for which text has a datatype.
"""

import re
from datetime import UTC, date, datetime, timedelta

from rdfspider.vocabulary.prefixes import XSD

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

# For microformats: what comes after a day, and dates without one.
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(:[0-5]\d(?:\.\d+)?)?")
_ZONE = re.compile(r"[zZ]|([+-])(0\d|1[0-3]|14(?=:?00|$)):?([0-5]\d)?")

Datatypes = tuple[tuple[re.Pattern[str], str], ...]
"""Lexical forms, and the terms of their datatypes of XML Schema; the first that fits counts."""


def _datatypes(flags: re.RegexFlag, **patterns: str) -> Datatypes:
    return tuple((re.compile(pattern, flags), f"<{XSD}{name}>") for name, pattern in patterns.items())


_DURATION = r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
_MICROFORMAT_DATES = _datatypes(re.NOFLAG, gYear=r"\d{4}", gYearMonth=r"\d{4}-(?:0[1-9]|1[0-2])", duration=_DURATION)
# Microdata to RDF, 5.5, asks for the form alone: a thirteenth month has it.
_ANY_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"
_ANY_CLOCK = rf"\d\d:\d\d:\d\d(?:\.\d+)?{_ANY_ZONE}"
MICRODATA_TIMES = _datatypes(
    re.NOFLAG,
    date=rf"-?\d{{4,}}-\d\d-\d\d{_ANY_ZONE}",
    dateTime=rf"-?\d{{4,}}-\d\d-\d\dT{_ANY_CLOCK}",
    time=_ANY_CLOCK,
    duration=_DURATION,
    gYearMonth=r"-?\d{4,}-\d\d",
    gYear=r"-?\d{4,}",
)
MICRODATA_NUMBERS = _datatypes(re.NOFLAG, integer=r"[+-]?\d+", double=r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
# HTML+RDFa 1.1, 3.1, asks for the lexical space of the datatype.
_CLOCK_ZONE = r"(?:Z|[+\-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?"
_YEAR = r"-?(?:[1-9]\d{3,}|0\d{3})"
_MONTH_AND_DAY = r"(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
RDFA_TIMES = _datatypes(
    re.ASCII,
    duration=_DURATION,
    dateTime=f"{_YEAR}-{_MONTH_AND_DAY}T{_CLOCK}{_CLOCK_ZONE}",
    date=f"{_YEAR}-{_MONTH_AND_DAY}{_CLOCK_ZONE}",
    time=f"{_CLOCK}{_CLOCK_ZONE}",
    gYearMonth=f"{_YEAR}-(?:0[1-9]|1[0-2]){_CLOCK_ZONE}",
    gYear=f"{_YEAR}{_CLOCK_ZONE}",
)


def to_xsd_date(text: str) -> tuple[str, str] | None:
    """The lexical form of a date by RFC 822 or the W3C's note, and the term of its datatype; None for anything else."""
    text = text.strip()
    if len(text) > 64:
        return None
    try:
        return _read_w3c(text) or _read_rfc822(text)
    except (ValueError, OverflowError):
        return None


def to_timestamp(text: str) -> float:
    """Such a date in seconds since 1970; 0 where it is none. A missing zone means UTC, a missing month or day the first."""
    found = to_xsd_date(text) if text else None
    if found is None:
        return 0.0
    try:
        moment = datetime.fromisoformat(found[0] + {4: "-01-01", 7: "-01"}.get(len(found[0]), ""))
        return max((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


def repair_xsd_date(text: str) -> tuple[str, str | None]:
    """The lexical form and the datatype of a date, time or duration as microformats write it; None where it is none.

    Seconds that XML Schema insists on are written as 00, zones with their colon.
    """
    day = _DAY.match(text)
    if day is None:
        datatype = find_datatype(text, _MICROFORMAT_DATES, len(text))
        time = None if datatype else _repair_time(text)
        return (time, f"<{XSD}time>") if time else (text, datatype)
    try:
        date(int(day[1]), int(day[2]), int(day[3]))
    except ValueError:
        return text, None
    if day.end() == len(text):
        return text, f"<{XSD}date>"
    time = _repair_time(text[day.end() + 1 :]) if text[day.end()] in "tT " else None
    return (f"{day[0]}T{time}", f"<{XSD}dateTime>") if time else (text, None)


def find_datatype(text: str, datatypes: Datatypes, max_chars: int) -> str | None:
    """The first of the datatypes whose lexical form the text has; None for all other and all longer texts."""
    if len(text) > max_chars:
        return None
    return next((datatype for pattern, datatype in datatypes if pattern.fullmatch(text)), None)


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
    """RFC 822, with years of two digits by RFC 2822 (section 4.3)."""
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
    """The zone as XML Schema writes it; ValueError for an unknown one."""
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


def _repair_time(text: str) -> str | None:
    match = _TIME.match(text)
    if match is None:
        return None
    time = f"{match[1]}:{match[2]}{match[3] or ':00'}"
    rest = text[match.end() :].lstrip(" ")
    zone = _ZONE.fullmatch(rest) if rest else None
    if zone is None:
        return None if rest else time
    return f"{time}{zone[1]}{zone[2]}:{zone[3] or '00'}" if zone[1] else f"{time}Z"
