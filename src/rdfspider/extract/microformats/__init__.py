"""Microformats: a tree enters, RDF statements or the canonical JSON of microformats 2 leave.

Classic microformats are read as microformats 2 (`vcard` as `h-card`). `mapping` has the tables, `items` finds items and
their properties, `values` reads property values. `parse_microformats` returns all that the parsing specification asks
for; `extract_microformats` leaves out classes that only look like microformats. Neither recurses, and both return at
once for pages without a root class.

In RDF, every item is a blank node, whatever URL it gives itself: a page does not speak for other sites. URLs become
IRIs, valid dates typed literals, markup its text.
"""

import re
from typing import Any

from rdfspider.extract.datatypes import repair_xsd_date
from rdfspider.extract.dom import Document
from rdfspider.extract.microformats.items import Item, Items, PropertyElement, find_items
from rdfspider.extract.microformats.mapping import (
    CHILD,
    FEED_CHILD,
    IGNORED_CLASSES,
    MAPPINGS,
    ORGANISATION,
    class_terms,
    is_defined,
    predicate_terms,
)
from rdfspider.extract.microformats.values import SPACE, Markup, PropertyReader, Url, Value
from rdfspider.extract.statements import Statements
from rdfspider.records import Content
from rdfspider.urls import resolve_iri
from rdfspider.vocabulary.terms import RDF_TYPE_TERM

_POSITION = re.compile(r"\s*(?P<latitude>[+-]?\d{1,3}(?:\.\d+)?)\s*[;,]\s*(?P<longitude>[+-]?\d{1,3}(?:\.\d+)?)\s*")

Json = dict[str, Any]
PredicateObject = tuple[str, "str | Item"]
"""A predicate, and the term or the item that is its object."""


def extract_microformats(tree: Document, content: Content, out: Statements) -> None:
    """Add the statements of the page's microformats."""
    items = find_items(tree, IGNORED_CLASSES, out.problem)
    if items is not None:
        _state_items(items, PropertyReader(tree, out.base, items, out.problem), out)


def parse_microformats(tree: Document, base: str) -> Json:
    """The page's microformats as canonical JSON; `base` is the base of relative URLs, with any `base` element already applied."""
    items = find_items(tree, frozenset(), _ignore) or Items()
    reader = PropertyReader(tree, base, items, _ignore)
    rendered: dict[Item, _Rendered] = {}
    for item in items.inside_out():
        rendered[item] = _render(item, reader, rendered)
    return {"items": [rendered[item].json for item in items.top], **_relations(tree, base)}


def _state_items(items: Items, reader: PropertyReader, out: Statements) -> None:
    """Add the statements of all items of a page that have any."""
    described: dict[Item, list[PredicateObject]] = {}
    # Items inside an item decide whether it has statements.
    for item in items.inside_out():
        if _may_be_described(item):
            description = _describe_item(item, described, reader, out)
            if description:
                described[item] = description
    nodes = {item: out.blank() for item in items.every if item in described}
    for item, node in nodes.items():
        for term in class_terms(item.types):
            out.add(node, RDF_TYPE_TERM, term)
        for predicate, thing in described[item]:
            out.add(node, predicate, nodes[thing] if isinstance(thing, Item) else thing)


def _may_be_described(item: Item) -> bool:
    """Whether an item is meant as a microformat: one of an unknown type must have a property that some format defines."""
    return any(kind in MAPPINGS for kind in item.types) or any(is_defined(found.name) for found in item.properties)


def _describe_item(
    item: Item, described: dict[Item, list[PredicateObject]], reader: PropertyReader, out: Statements
) -> list[PredicateObject]:
    description: list[PredicateObject] = []
    texts: dict[str, str] = {}
    for found, value in reader.read_item(item, is_defined):
        literal, resource = predicate_terms(item.types, found.name)
        if found.item is not None:
            if found.item in described:
                description.append((resource, found.item))
                continue
            # An item without statements is read as an element with text.
            value = reader.read(found.prefix, found.element)
        if isinstance(value, Url):
            iri = _url_term(found, value, reader, out)
            if iri is not None:
                description.append((resource, iri))
        elif value:
            # Text as a browser shows it: every run of white space is a space.
            text = " ".join((value.value if isinstance(value, Markup) else value).split())
            if text:
                texts.setdefault(found.name, text)
                lexical, datatype = repair_xsd_date(text) if found.prefix == "dt" else (text, None)
                description.append((literal, out.literal(lexical, datatype=datatype)))
    if "h-card" in item.types and "org" in texts and texts["org"] == texts.get("name"):
        description.append((RDF_TYPE_TERM, ORGANISATION))
    if "h-geo" in item.types and "latitude" not in texts:
        description = _position(item, texts, reader, out) or description
    for child in item.children:
        if child in described:
            is_entry = "h-feed" in item.types and "h-entry" in child.types
            description.append((FEED_CHILD if is_entry else CHILD, child))
    return description


def _url_term(found: PropertyElement, value: Url, reader: PropertyReader, out: Statements) -> str | None:
    """The IRI of a URL; e-mail addresses get `mailto:`, and data: URLs are left out, since they name nothing."""
    if value.value[:5].lower() == "data:":
        return None
    if found.name == "email" and value.value[:7].lower() != "mailto:":
        text = reader.read("p", found.element)
        if isinstance(text, str) and "@" in text and ":" not in text:
            return out.iri(f"mailto:{text.strip()}")
    return out.resolve(value.value)


def _position(item: Item, texts: dict[str, str], reader: PropertyReader, out: Statements) -> list[PredicateObject]:
    """The position of a geo without properties, from its text: latitude, semicolon, longitude."""
    text = texts.get("name") if item.rules is None else None if item.properties else reader.read("p", item.element)
    match = _POSITION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return []
    names = ("latitude", "longitude")
    return [(predicate_terms(item.types, name)[0], out.literal(match[name])) for name in names]


class _Rendered:
    """An item as JSON, and the values that stand for it as a property: its first p-name and its first u-url."""

    __slots__ = ("json", "name", "url")

    def __init__(self, json: Json) -> None:
        self.json = json
        self.name: Any = None
        self.url: Any = None


def _render(item: Item, reader: PropertyReader, rendered: dict[Item, _Rendered]) -> _Rendered:
    properties: dict[str, list[Any]] = {}
    json: Json = {"type": item.types, "properties": properties}
    result = _Rendered(json)
    for found, value in reader.read_item(item):
        shown = _shown(found, value, item, reader, rendered)
        properties.setdefault(found.name, []).append(shown)
        plain = shown["value"] if value is None else shown
        if found.prefix == "p" and found.name == "name" and result.name is None:
            result.name = plain
        elif found.prefix == "u" and found.name == "url" and result.url is None:
            result.url = plain
    if item.children:
        json["children"] = [rendered[child].json for child in item.children]
    identifier = item.element.attr("id") if item.rules is None else None
    if identifier:
        json["id"] = identifier
    return result


def _shown(
    found: PropertyElement, value: Value | None, item: Item, reader: PropertyReader, rendered: dict[Item, _Rendered]
) -> Any:
    """A property's value as JSON."""
    if found.item is not None:
        return _nested(found, rendered[found.item], reader)
    if isinstance(value, Url):
        # Classic microformats have no alternative text.
        return value.value if value.alt is None or item.rules else {"value": value.value, "alt": value.alt}
    if isinstance(value, Markup):
        return {"value": value.value, "html": reader.markup(value.element)}
    return value


def _nested(found: PropertyElement, nested: _Rendered, reader: PropertyReader) -> Json:
    """An item that is a property: its JSON, with the value that a property without an item would have."""
    known = nested.name if found.prefix == "p" else nested.url if found.prefix == "u" else None
    if known is not None:
        return {**nested.json, "value": known}
    value = reader.read(found.prefix, found.element)
    if isinstance(value, Markup):
        return {**nested.json, "value": value.value, "html": reader.markup(value.element)}
    text = value.value if isinstance(value, Url) else value or ""
    for included in found.item.included if found.item else ():
        part = reader.read("e", included)
        text += f" {part.value}" if isinstance(part, Markup) else ""
    return {**nested.json, "value": text}


def _relations(tree: Document, base: str) -> Json:
    """Parsing for rels: the link relations of a page, by relation and by URL."""
    rels: dict[str, list[str]] = {}
    urls: dict[str, Json] = {}
    for link in tree.select("a[rel][href], area[rel][href], link[rel][href]"):
        url = resolve_iri(base, (link.attr("href") or "").strip(SPACE))
        known = urls.setdefault(url, {"rels": set()})
        for name in (link.attr("rel") or "").split():
            if name not in known["rels"]:
                known["rels"].add(name)
                rels.setdefault(name, []).append(url)
        for key in ("hreflang", "media", "title", "type"):
            attribute = link.attr(key)
            if attribute is not None:
                known.setdefault(key, attribute)
        known.setdefault("text", link.text)
    for known in urls.values():
        known["rels"] = sorted(known["rels"])
    return {"rels": rels, "rel-urls": urls}


def _ignore(code: str, message: str) -> None:
    """Discard a problem."""
