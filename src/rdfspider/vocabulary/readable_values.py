"""Literals as pages write them enter, text as people write it leaves: dates, durations, prices and degrees.

Only what is certain is rewritten: other text gives an empty string, and the caller shows it as it is. Nothing is added that the
page does not say: a date without a zone gets none, a price without a currency stays a number.
"""

import re
from datetime import datetime

LATITUDES, LONGITUDES = ("latitude", "lat"), ("longitude", "long", "lng", "lon")
"""Short names of properties for degrees."""
PRICES = ("price", "lowprice", "highprice", "minprice", "maxprice", "hascurrencyvalue")
"""Short names of properties for amounts of money whose currency is a property beside them."""
CURRENCIES = ("pricecurrency", "currency", "hascurrency")
_MONTHS = "January February March April May June July August September October November December".split()
_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)?)?)?(Z|[+-]\d\d:?\d\d)?"
)
_SPAN = re.compile(
    r"P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?"
    r"(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6}(?:\.\d{1,9})?)S)?)?"
)
_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
# Short names of properties for durations; elsewhere P3D may be the name of anything.
_SPANS = re.compile(r"time.*|.*(?:time|duration|period)s?|validfor|repeatfrequency|loanterm|length|age")
# Names and identifiers that look like dates are not dates.
_NAMES = re.compile(
    r".*(?:name|title|label|headline|identifier|number|code|version|model|sku|mpn|issn)|gtin\d*|isbn\d*|(?:.*[-_])?id|productid|uid|guid"
)
_DEGREES = re.compile(r"[+-]?\d{1,3}(?:[.,]\d{1,20})?")
_AMOUNT = re.compile(r"[+-]?\d[\d.,' ]{0,30}")
# No comma, because in one country it stands before the pence and in another after the thousands.
_PLAIN_AMOUNT = re.compile(r"\d{1,12}(?:\.(\d{1,9}))?")
_CURRENCY = re.compile(r"[A-Za-z]{3}")
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}
"""Of currencies that people everywhere write so; a dollar of another country has its code."""


def is_identifier(name: str) -> bool:
    """Whether a property, by its short name, is for names and numbers that one does not calculate with."""
    return _NAMES.fullmatch(name) is not None or name in ("telephone", "faxnumber", "postalcode")


def write_value(text: str, name: str, datatype: str = "", *, has_time: bool = True) -> str:
    """Write a date, duration or degrees, by the short name of the property and the datatype; empty for other text."""
    shown = write_iso_date(text, name, datatype, has_time=has_time)
    if not shown and (datatype.endswith("uration") or _SPANS.fullmatch(name)):
        shown = write_duration(text)
    return shown or write_degrees(text, name)


def write_iso_date(text: str, name: str = "", datatype: str = "", *, has_time: bool = True) -> str:
    """Write a date of ISO 8601 as 1 May 2024, 14:30 UTC; empty for other text. A year or month alone must be marked as a date by
    its property or datatype; so must any date in a name or identifier."""
    found = _DATE.fullmatch(text)
    if not found:
        return ""
    is_typed = datatype.endswith(("#gYear", "#gYearMonth", "Date", "#date", "ateTime"))
    is_certain = "date" in name or "year" in name or is_typed
    if not (is_certain or (found[3] and not _NAMES.fullmatch(name))):
        return ""
    year, month, day, hour, minute, second = (int(found[at] or at in (2, 3)) for at in range(1, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return ""
    parts = [str(moment.day)] if found[3] else []
    parts += [_MONTHS[moment.month - 1]] if found[2] else []
    shown = " ".join([*parts, str(moment.year)])
    if has_time and found[4] and (moment.hour or moment.minute or moment.second or found[7]):
        zone = "" if not found[7] else " UTC" if found[7] in ("Z", "+00:00", "+0000") else f" UTC{found[7]}"
        shown += f", {moment:%H:%M}{zone}"
    return shown


def write_duration(text: str) -> str:
    """Write a duration of ISO 8601 in words: 1 hour 30 minutes; empty for other text."""
    found = _SPAN.fullmatch(text)
    if not found or not any(found.groups()):
        return ""
    counts = [
        (float(count), unit) for count, unit in zip(found.groups(), _UNITS, strict=True) if count and float(count)
    ]
    return " ".join(f"{count:g} {unit}{'s' * (count != 1)}" for count, unit in counts) or "0 seconds"


def write_price(amount: str, currency: str) -> str:
    """Write an amount with its currency: €1,299.00, or 63.07 RON; empty unless both are what they should be."""
    amount, code = amount.strip(), currency.strip().upper()
    if not _AMOUNT.fullmatch(amount) or not _CURRENCY.fullmatch(code):
        return ""
    if not (plain := _PLAIN_AMOUNT.fullmatch(amount)):
        return f"{amount} {code}"
    # 12.5 is written 12.50, and 12.500000 too; 0.005 keeps its digits.
    digits = max(2, len((plain[1] or "").rstrip("0"))) if plain[1] else 0
    shown = f"{float(amount):,.{digits}f}"
    return f"{_SIGNS[code]}{shown}" if code in _SIGNS else f"{shown} {code}"


def write_degrees(text: str, name: str) -> str:
    """Write a latitude or longitude, by the short name of the property: 52.5200° N; empty for other text."""
    is_latitude = name in LATITUDES
    if not is_latitude and name not in LONGITUDES:
        return ""
    degrees = read_degrees(text, 90 if is_latitude else 180)
    if degrees is None:
        return ""
    return f"{abs(degrees):.4f}° {('NS' if is_latitude else 'EW')[degrees < 0]}"


def read_degrees(text: str, most: int) -> float | None:
    """Read degrees up to `most` on either side; None for other text."""
    if not _DEGREES.fullmatch(text.strip()[:40]):
        return None
    degrees = float(text.strip().replace(",", "."))
    return degrees if abs(degrees) <= most else None
