"""Literals as written on pages enter, readable HTML leaves: dates, durations, coordinates and prices.

Unrecognised literals stay as they are. The original text is always available as the title of the formatted one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rdfspider.results import StatedValue, ValueKind
from rdfspider.serve.rendering import draw_outward, write_text
from rdfspider.vocabulary.labels import decode_references
from rdfspider.vocabulary.names import find_short_name
from rdfspider.vocabulary.readable_values import (
    CURRENCIES,
    LATITUDES,
    LONGITUDES,
    PRICES,
    read_degrees,
    write_duration,
    write_iso_date,
    write_price,
    write_value,
)

_POINT = re.compile(
    r"(?:geo:)?\s*([+-]?\d{1,3}(?:\.\d{1,20})?)[\s,;]+([+-]?\d{1,3}(?:\.\d{1,20})?)(?:[,;].{0,100})?", re.DOTALL
)
_POINTS = ("geo", "point", "hasgeo", "position", "coordinates", "lat_long")
_POINTS_READ = 10
# Pages write terms of schema.org as text: InStock, NewCondition.
_SCHEMA_TERM = re.compile(r"https?://schema\.org/([A-Z][A-Za-z]{1,60})")
# The zone at the end of a date.
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")
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
    if place := read_place(values):
        return place
    for name, found in values.items():
        for value in found[:_POINTS_READ] if find_short_name(name) in _POINTS else ():
            if place := read_place(value.inside):
                return place
            point = _POINT.fullmatch(value.text[:200].strip())
            if point and (place := _make_place(point[1], point[2])):
                return place
    return None


def read_place(values: Values) -> Coordinates | None:
    """Read a thing's position from its own latitude and longitude."""
    latitude, longitude = _find(values, LATITUDES), _find(values, LONGITUDES)
    return _make_place(latitude.text, longitude.text) if latitude and longitude else None


def draw_place(place: Coordinates) -> Markup:
    """A position as people write it, with a link to a map; nothing is requested from the map until someone follows the link."""
    return Markup('<span class="place">{} · {}</span>').format(place.text, draw_outward(place.map, "map"))


def draw_literal(value: StatedValue, predicate: str = "", beside: Values | None = None) -> Markup:
    """A literal as people read it; `beside` are the other values of the same thing."""
    text, name = value.text[:_TEXT_CHARS].strip(), find_short_name(predicate)
    if not value.text.strip():
        return Markup('<span class="dim">(empty)</span>')
    if len(value.text) > _TEXT_CHARS:
        return write_text(decode_references(value.text), _TEXT_CHARS)
    if drawn := draw_date(text, value.datatype, name):
        return drawn
    if shown := write_value(text, name, value.datatype):
        return draw_span(text) or _draw_titled(text, shown)
    currency = _find(beside, CURRENCIES) if name in PRICES and beside else None
    if currency and (shown := write_price(text, currency.text)):
        return Markup('<span class="price" title="{}">{}</span>').format(f"{text} {currency.text.strip()}", shown)
    if (term := _SCHEMA_TERM.fullmatch(text)) is not None:
        return draw_outward(text, term[1])
    if text.startswith(("http://", "https://")) and not any(sign.isspace() for sign in text):
        return draw_outward(text)
    return write_text(decode_references(value.text), _TEXT_CHARS)


def draw_date(text: str, datatype: str = "", name: str = "") -> Markup | None:
    """An ISO 8601 date as people write it; None for other text."""
    shown = write_iso_date(text, name, datatype)
    if not shown:
        return None
    # HTML does not allow a time zone in a date without a time.
    machine = text.replace(" ", "T") if ":" in text[10:16] else _ZONE.sub("", text)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(machine, text, shown)


def draw_span(text: str) -> Markup | None:
    """An ISO 8601 duration in words; None for other text."""
    shown = write_duration(text)
    if not shown:
        return None
    # Years, months and weeks have no fixed length, and HTML durations do not allow them.
    if any(unit in shown for unit in ("year", "month", "week")):
        return _draw_titled(text, shown)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(text, text, shown)


def _draw_titled(text: str, shown: str) -> Markup:
    return Markup('<span title="{}">{}</span>').format(text, shown)


def _find(values: Values, names: Sequence[str]) -> StatedValue | None:
    for iri, found in values.items():
        if found and find_short_name(iri) in names and found[0].kind == ValueKind.LITERAL:
            return found[0]
    return None


def _make_place(latitude: str, longitude: str) -> Coordinates | None:
    north, east = read_degrees(latitude, 90), read_degrees(longitude, 180)
    return None if north is None or east is None else Coordinates(north, east)
