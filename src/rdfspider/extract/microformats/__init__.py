"""Microformats: a tree enters, RDF statements or the canonical JSON of microformats 2 leave.

Classic microformats are read as microformats 2 (`vcard` as `h-card`, by the table in `classic`). `items` finds items
and their properties, `values` reads property values, `mapping` makes statements. `parse_microformats` returns all that
the parsing specification asks for; `extract_microformats` leaves out classes that only look like microformats. Neither
recurses, and both return at once for pages without a root class.
"""

from typing import Any

from rdfspider.extract.dom import Document
from rdfspider.extract.microformats.items import Item, Items, PropertyElement, find_items
from rdfspider.extract.microformats.mapping import IGNORED_CLASSES, state_items
from rdfspider.extract.microformats.values import SPACE, Markup, PropertyReader, Url, Value
from rdfspider.extract.statements import Report, Statements
from rdfspider.records import Content
from rdfspider.urls import resolve_iri

Json = dict[str, Any]


def extract_microformats(tree: Document, content: Content, out: Statements) -> None:
    """Add the statements of the page's microformats."""
    items = find_items(tree, IGNORED_CLASSES, out.problem)
    if items is not None:
        state_items(items, PropertyReader(tree, out.base, items, out.problem), out)


def parse_microformats(tree: Document, base: str, report: Report | None = None) -> Json:
    """The page's microformats as canonical JSON; `base` is the base of relative URLs, with any `base` element already applied."""
    report = report or _ignore
    items = find_items(tree, frozenset(), report) or Items()
    reader = PropertyReader(tree, base, items, report)
    rendered: dict[Item, _Rendered] = {}
    for item in items.inside_out():
        rendered[item] = _render(item, reader, rendered)
    return {"items": [rendered[item].json for item in items.top], **_relations(tree, base)}


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
