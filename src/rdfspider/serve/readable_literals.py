"""Literals as written on pages enter, readable HTML leaves: dates, durations, coordinates and prices.

Unrecognised literals stay as they are. The original text is always available as the title of the formatted one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from rdfspider.results import StatedValue, ValueKind
from rdfspider.serve.rendering import draw_outward, write_text
from rdfspider.vocabulary.labels import decode_references
from rdfspider.vocabulary.names import find_short_name

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
_POINT = re.compile(
    r"(?:geo:)?\s*([+-]?\d{1,3}(?:\.\d{1,20})?)[\s,;]+([+-]?\d{1,3}(?:\.\d{1,20})?)(?:[,;].{0,100})?", re.DOTALL
)
_PRICE = re.compile(r"[+-]?\d[\d.,' ]{0,30}")
_CURRENCY = re.compile(r"[A-Za-z]{3}")
_LATITUDES, _LONGITUDES = ("latitude", "lat"), ("longitude", "long", "lng", "lon")
_POINTS = ("geo", "point", "hasgeo", "position", "coordinates", "lat_long")
_POINTS_READ = 10
_PRICES = ("price", "lowprice", "highprice", "minprice", "maxprice", "hascurrencyvalue")
_CURRENCIES = ("pricecurrency", "currency", "hascurrency")
_TEXT_CHARS = 1_000

Values = Mapping[str, Sequence[StatedValue]]
"""The values of one thing by property."""


@dataclass(frozen=True, slots=True)
class Coordinates:
    """A position in degrees."""

    latitude: float
    longitude: float

    @property
    def text(self) -> str:
        """The position as people write it."""
        north, east = "NS"[self.latitude < 0], "EW"[self.longitude < 0]
        return f"{abs(self.latitude):.4f}° {north}, {abs(self.longitude):.4f}° {east}"

    @property
    def map(self) -> str:
        """The URL of a map."""
        at = f"{self.latitude:.5f}", f"{self.longitude:.5f}"
        return f"https://www.openstreetmap.org/?mlat={at[0]}&mlon={at[1]}#map=15/{at[0]}/{at[1]}"


def find_place(values: Values) -> Coordinates | None:
    """Find a thing's position: its own coordinates, or those of a node or a point that it refers to."""
    if place := read_degrees(values):
        return place
    for name, found in values.items():
        for value in found[:_POINTS_READ] if find_short_name(name) in _POINTS else ():
            if place := read_degrees(value.inside):
                return place
            point = _POINT.fullmatch(value.text[:200].strip())
            if point and (place := _make_place(point[1], point[2])):
                return place
    return None


def read_degrees(values: Values) -> Coordinates | None:
    """Read a thing's position from its own latitude and longitude."""
    latitude, longitude = _find(values, _LATITUDES), _find(values, _LONGITUDES)
    return _make_place(latitude.text, longitude.text) if latitude and longitude else None


def draw_place(place: Coordinates) -> Markup:
    """A position as people write it, with a link to a map; nothing is requested from the map until someone follows the link."""
    return Markup('<span class="place">{} · {}</span>').format(place.text, draw_outward(place.map, "map"))


def draw_literal(value: StatedValue, predicate: str = "", beside: Values | None = None) -> Markup:
    """A literal as people read it; `beside` are the other values of the same thing."""
    text, name = value.text[:_TEXT_CHARS].strip(), find_short_name(predicate)
    if len(value.text) > _TEXT_CHARS:
        return write_text(decode_references(value.text), _TEXT_CHARS)
    drawn = draw_date(text, value.datatype, name)
    if not drawn and (value.datatype.endswith("uration") or _SPANS.fullmatch(name)):
        drawn = draw_span(text)
    most_degrees = 90 if name in _LATITUDES else 180 if name in _LONGITUDES else 0
    if not drawn and most_degrees and (degrees := _read_degrees(text, most_degrees)) is not None:
        sides = "NS" if name in _LATITUDES else "EW"
        drawn = Markup('<span title="{}">{:.4f}° {}</span>').format(text, abs(degrees), sides[degrees < 0])
    if not drawn and name in _PRICES and beside and (currency := _find(beside, _CURRENCIES)):
        code = currency.text.strip()
        if _PRICE.fullmatch(text) and _CURRENCY.fullmatch(code):
            drawn = Markup('<span class="price">{} {}</span>').format(text, code.upper())
    if not drawn and text.startswith(("http://", "https://")) and not any(sign.isspace() for sign in text):
        drawn = draw_outward(text)
    return drawn or write_text(decode_references(value.text), _TEXT_CHARS)


def draw_date(text: str, datatype: str = "", name: str = "") -> Markup | None:
    """An ISO 8601 date as people write it. A year or month alone must be marked as a date by its property or datatype; so
    must any date in a name or identifier."""
    found = _DATE.fullmatch(text)
    is_typed = datatype.endswith(("#gYear", "#gYearMonth", "Date", "#date", "ateTime"))
    is_certain = "date" in name or "year" in name or is_typed
    if not found or not (is_certain or (found[3] and not _NAMES.fullmatch(name))):
        return None
    year, month, day, hour, minute, second = (int(found[at] or at in (2, 3)) for at in range(1, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    parts = [str(moment.day)] if found[3] else []
    parts += [_MONTHS[moment.month - 1]] if found[2] else []
    shown = " ".join([*parts, str(moment.year)])
    if found[4] and (moment.hour or moment.minute or moment.second or found[7]):
        zone = "" if not found[7] else " UTC" if found[7] in ("Z", "+00:00", "+0000") else f" UTC{found[7]}"
        shown += f", {moment:%H:%M}{zone}"
    # HTML does not allow a time zone in a date without a time.
    machine = text.replace(" ", "T") if found[4] else text.removesuffix(found[7] or "")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(machine, text, shown)


def draw_span(text: str) -> Markup | None:
    """An ISO 8601 duration in words."""
    found = _SPAN.fullmatch(text)
    if not found or not any(found.groups()):
        return None
    counts = [
        (float(count), unit) for count, unit in zip(found.groups(), _UNITS, strict=True) if count and float(count)
    ]
    shown = " ".join(f"{count:g} {unit}{'s' * (count != 1)}" for count, unit in counts) or "0 seconds"
    # Years, months and weeks have no fixed length, and HTML durations do not allow them.
    if any(found.group(1, 2, 3)):
        return Markup('<span title="{}">{}</span>').format(text, shown)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(text, text, shown)


def _find(values: Values, names: Sequence[str]) -> StatedValue | None:
    for iri, found in values.items():
        if found and find_short_name(iri) in names and found[0].kind == ValueKind.LITERAL:
            return found[0]
    return None


def _make_place(latitude: str, longitude: str) -> Coordinates | None:
    north, east = _read_degrees(latitude, 90), _read_degrees(longitude, 180)
    return None if north is None or east is None else Coordinates(north, east)


def _read_degrees(text: str, most: int) -> float | None:
    if not _DEGREES.fullmatch(text.strip()[:40]):
        return None
    degrees = float(text.strip().replace(",", "."))
    return degrees if abs(degrees) <= most else None
