"""Microformats as RDF: items in, statements out.

Every item is a blank node, whatever URL it gives itself: nobody speaks for another. URLs become IRIs, dates typed
literals where they are valid ones, markup its text. What page builders merely name like a microformat is left out.
"""

import re
from datetime import date as calendar_date

from rdfspider.extract.microformats.items import Found, Item, Items
from rdfspider.extract.microformats.mapping import (
    CHILD,
    FEED_CHILD,
    MAPPINGS,
    ORGANISATION,
    class_terms,
    is_meant,
    predicate_terms,
)
from rdfspider.extract.microformats.values import Markup, Reader, Url
from rdfspider.extract.statements import Statements
from rdfspider.vocabulary.ntriples import RDF_TYPE, XSD

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(:[0-5]\d(?:\.\d+)?)?")
_ZONE = re.compile(r"[zZ]|([+-])(0\d|1[0-3]|14(?=:?00|$)):?([0-5]\d)?")
_PARTIAL = {
    "gYear": re.compile(r"\d{4}"),
    "gYearMonth": re.compile(r"\d{4}-(?:0[1-9]|1[0-2])"),
    "duration": re.compile(
        r"-?P(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
    ),
}
_POSITION = re.compile(r"\s*(?P<latitude>[+-]?\d{1,3}(?:\.\d+)?)\s*[;,]\s*(?P<longitude>[+-]?\d{1,3}(?:\.\d+)?)\s*")


Fact = tuple[str, "str | Item"]
"""A predicate, and the term or the item that is its object."""


def state_items(items: Items, reader: Reader, out: Statements) -> None:
    """State all items of a page that say something."""
    facts: dict[Item, list[Fact]] = {}
    # What is inside an item decides whether the item says anything.
    for item in items.inside_out():
        if _may_speak(item):
            said = _read_facts(item, facts, reader, out)
            if said:
                facts[item] = said
    nodes = {item: out.blank() for item in items.every if item in facts}
    for item, node in nodes.items():
        for term in class_terms(item.types):
            out.add(node, RDF_TYPE, term)
        for predicate, thing in facts[item]:
            out.add(node, predicate, nodes[thing] if isinstance(thing, Item) else thing)


def _may_speak(item: Item) -> bool:
    """Whether an item is more than a class: one of an unknown type must have a property that microformats define."""
    return any(kind in MAPPINGS for kind in item.types) or any(is_meant(found.name) for found in item.found)


def _read_facts(item: Item, facts: dict[Item, list[Fact]], reader: Reader, out: Statements) -> list[Fact]:
    said: list[Fact] = []
    texts: dict[str, str] = {}
    for found, value in reader.read_item(item, is_meant):
        literal, resource = predicate_terms(item.types, found.name)
        if found.item is not None:
            if found.item in facts:
                said.append((resource, found.item))
                continue
            # An item that says nothing is but an element with text.
            value = reader.read(found.prefix, found.element)
        if isinstance(value, Url):
            iri = _url_term(found, value, reader, out)
            if iri is not None:
                said.append((resource, iri))
        elif value:
            text = _collapse(value.value if isinstance(value, Markup) else value)
            if text:
                texts.setdefault(found.name, text)
                said.append((literal, date_literal(text, out) if found.prefix == "dt" else out.literal(text)))
    if "h-card" in item.types and "org" in texts and texts["org"] == texts.get("name"):
        said.append((RDF_TYPE, ORGANISATION))
    if "h-geo" in item.types and "latitude" not in texts:
        said = _position(item, texts, reader, out) or said
    for child in item.children:
        if child in facts:
            is_entry = "h-feed" in item.types and "h-entry" in child.types
            said.append((FEED_CHILD if is_entry else CHILD, child))
    return said


def _url_term(found: Found, value: Url, reader: Reader, out: Statements) -> str | None:
    """The IRI of a URL; an address without `mailto:` is one of e-mail, and data: URLs name nothing."""
    if value.value[:5].lower() == "data:":
        return None
    if found.name == "email" and value.value[:7].lower() != "mailto:":
        text = reader.read("p", found.element)
        if isinstance(text, str) and "@" in text and ":" not in text:
            return out.iri(f"mailto:{text.strip()}")
    return out.resolve(value.value)


def _position(item: Item, texts: dict[str, str], reader: Reader, out: Statements) -> list[Fact]:
    """The position that a geo without parts gives as text: latitude, semicolon, longitude."""
    text = texts.get("name") if item.rules is None else None if item.found else reader.read("p", item.element)
    match = _POSITION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return []
    names = ("latitude", "longitude")
    return [(predicate_terms(item.types, name)[0], out.literal(match[name])) for name in names]


def _collapse(text: str) -> str:
    """Text as a browser shows it: every run of white space is a space."""
    return " ".join(text.split())


def date_literal(text: str, out: Statements) -> str:
    """The term for a date, time or duration: typed where XML Schema has a type for it, after its spelling was mended."""
    lexical, datatype = _xsd(text)
    return out.literal(lexical, datatype=f"<{XSD}{datatype}>" if datatype else None)


def _xsd(text: str) -> tuple[str, str | None]:
    """The lexical form and the XML Schema type of a date; seconds that XML Schema insists on are written as 00."""
    match = _DATE.match(text)
    if match is None:
        for datatype, pattern in _PARTIAL.items():
            if pattern.fullmatch(text):
                return text, datatype
        time = _xsd_time(text)
        return (time, "time") if time else (text, None)
    try:
        calendar_date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return text, None
    if match.end() == len(text):
        return text, "date"
    time = _xsd_time(text[match.end() + 1 :]) if text[match.end()] in "tT " else None
    return (f"{match[0]}T{time}", "dateTime") if time else (text, None)


def _xsd_time(text: str) -> str | None:
    match = _TIME.match(text)
    if match is None:
        return None
    time = f"{match[1]}:{match[2]}{match[3] or ':00'}"
    rest = text[match.end() :].lstrip(" ")
    zone = _ZONE.fullmatch(rest) if rest else None
    if zone is None:
        return None if rest else time
    return f"{time}{zone[1]}{zone[2]}:{zone[3] or '00'}" if zone[1] else f"{time}Z"
