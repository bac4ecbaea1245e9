"""The values of microformats properties: an element enters, its text, URL, date or markup leaves.

The rules are those of microformats 2 parsing for `p-`, `u-`, `dt-` and `e-` properties, for the value class pattern,
and for implied properties. All text taken from a page counts against one limit, because nested properties repeat the
same text.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from rdfspider.extract.dom import CData, Document, Element, Node, Text
from rdfspider.extract.microformats.items import Item, Items, PropertyElement
from rdfspider.extract.statements import Report
from rdfspider.urls import resolve_iri

SPACE = " \t\n\f\r"

_MAX_TEXT_CHARS = 16_000_000
"""Characters of text taken from one page, all properties together; real pages repeat theirs about twice."""
_NODE_CHARS = 8
"""The cost of visiting a node in Python, in characters."""

_PATH = re.compile(r"(?:[^:/?#]+:)?(?://[^/?#]*)?([^?#]*)")
_ZONE = r"(?:[zZ]|[+-]\d{1,2}(?::?\d{2})?)"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{4}-\d{3}")
_TIME = re.compile(rf"(\d{{1,2}})(?::(\d{{2}}))?(?::(\d{{2}}(?:\.\d+)?))?\s*(?:([apAP])\.?[mM]\.?)?\s*({_ZONE})?")
_DATE_AND_TIME = re.compile(
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{4}}-\d{{3}})[tT ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:\.\d+)?)?{_ZONE}?"
)
_ZONE_ALONE = re.compile(_ZONE)

_TITLED = frozenset({"abbr", "link"})
_VALUED = frozenset({"data", "input"})
_DATED = frozenset({"time", "ins", "del"})
_WITH_ALT = frozenset({"img", "area"})
_NAMING = frozenset({"img", "area", "abbr"})
_URL_ATTRIBUTES = {
    "a": ("href",),
    "area": ("href",),
    "link": ("href",),
    "img": ("src",),
    "audio": ("src",),
    "iframe": ("src",),
    "source": ("src",),
    "video": ("src", "poster"),
    "object": ("data",),
}


class Url(NamedTuple):
    """The value of a `u-` property; `alt` is the alternative text of an image."""

    value: str
    alt: str | None = None


class Markup(NamedTuple):
    """The value of an `e-` property; `PropertyReader.markup` reads its markup."""

    value: str
    element: Element


Value = str | Url | Markup


class PropertyReader:
    """Reads the property values of one page."""

    def __init__(self, tree: Document, base: str, items: Items, report: Report) -> None:
        self.base = base
        self._tree = tree
        self._values = items.values
        self._report = report
        self._chars_left = _MAX_TEXT_CHARS
        # Elements that contain a script, style or image; the text of all others is read natively.
        self._mixed: set[Node] | None = None

    def read_item(
        self, item: Item, is_defined: Callable[[str], bool] | None = None
    ) -> Iterator[tuple[PropertyElement, Value | None]]:
        """The properties of an item with their values, implied ones last; the value of a property that is an item is
        None.

        Properties whose names are not `is_defined` are skipped.
        """
        properties = (
            item.properties if is_defined is None else [found for found in item.properties if is_defined(found.name)]
        )
        date: str | None = None
        for found in properties:
            if found.item is not None:
                yield found, None
                continue
            value = self.read(found.prefix, found.element, date)
            if found.prefix == "dt" and isinstance(value, str):
                match = _DATE.match(value)
                date = match[0] if match else date
            if value is not None:
                yield found, value
        if item.rules is None:
            yield from self._read_implied(item, properties)

    def read(self, prefix: str, element: Element, date: str | None = None) -> Value | None:
        """The value of a property element; None once the page's limit of text is reached."""
        if self._chars_left <= 0:
            self._report("text-limit", f"text beyond {_MAX_TEXT_CHARS} characters was left out")
            return None
        value: Value
        if prefix == "u":
            value = self._read_url(element)
        elif prefix == "dt":
            value = self._read_date(element, date)
        elif prefix == "e":
            value = Markup(self.text(element).strip(SPACE), element)
        elif prefix == "tag":
            value = self._read_tag(element)
        else:
            value = self._read_text(element)
        self._chars_left -= len(value if isinstance(value, str) else value.value)
        return value

    def text(self, element: Element, sources: bool = True) -> str:
        """The text in an element, without scripts and styles; for images, their `alt` or, with `sources`, their address."""
        if self._mixed is None:
            self._mixed = self._find_mixed()
        if element not in self._mixed:
            return element.text
        parts: list[str] = []
        todo: list[Node] = [element]
        while todo:
            node = todo.pop()
            if isinstance(node, Text | CData):
                parts.append(node.data)
            elif not isinstance(node, Element) or node.tag in ("script", "style"):
                continue
            elif node.tag == "img":
                parts.append(self._image_text(node, sources))
            elif node in self._mixed:
                children = node.children
                self._chars_left -= _NODE_CHARS * len(children)
                todo.extend(reversed(children))
            else:
                parts.append(node.text)
        return "".join(parts)

    def markup(self, element: Element) -> str:
        """The markup in an element with absolute URLs; counts against the limit like text."""
        replaced: list[tuple[Element, str, str]] = []
        for linking in element.select("[href], [src], [poster], [data]"):
            for name in _URL_ATTRIBUTES.get(linking.tag, ()):
                reference = linking.attr(name)
                if reference is not None:
                    replaced.append((linking, name, reference))
                    linking.attrs[name] = self._resolve(reference)
        try:
            html = element.inner_html.strip(SPACE)
        finally:
            for linking, name, reference in replaced:
                linking.attrs[name] = reference
        self._chars_left -= len(html)
        return html

    def _find_mixed(self) -> set[Node]:
        mixed: set[Node] = set()
        # One selector per tag: the parser answers it from an index of tag names.
        for element in self._tree.select("img") + self._tree.select("script") + self._tree.select("style"):
            node: Node | None = element if element.tag != "img" else element.parent
            while node is not None and node not in mixed:
                mixed.add(node)
                node = node.parent
        return mixed

    def _image_text(self, image: Element, sources: bool) -> str:
        alt = image.attr("alt")
        if alt is not None:
            return alt
        source = image.attr("src") if sources else None
        return f" {self._resolve(source)} " if source is not None else ""

    def _resolve(self, reference: str) -> str:
        return resolve_iri(self.base, reference.strip(SPACE))

    def _read_text(self, element: Element) -> str:
        """Parsing a p- property."""
        pieces = self._pieces(element)
        if pieces:
            return "".join(pieces)
        attribute = _text_attribute(element)
        return self.text(element).strip(SPACE) if attribute is None else attribute

    def _read_url(self, element: Element) -> Url:
        """Parsing a u- property."""
        tag = element.tag
        for name in _URL_ATTRIBUTES.get(tag, ()):
            reference = element.attr(name)
            if reference is not None:
                return Url(self._resolve(reference), element.attr("alt") if tag == "img" else None)
        pieces = self._pieces(element)
        if pieces:
            return Url(self._resolve("".join(pieces)))
        attribute = _text_attribute(element) if tag in ("abbr", "data", "input") else None
        return Url(self._resolve(self.text(element, sources=False) if attribute is None else attribute))

    def _read_date(self, element: Element, date: str | None) -> str:
        """Parsing a dt- property; `date` is the date of a time without one."""
        pieces = self._pieces(element, dated=True)
        if pieces:
            value = _join_date(pieces, date)
            if value is not None:
                return value
        attribute = element.attr("datetime") if element.tag in _DATED else None
        if attribute is None and element.tag not in _WITH_ALT:
            attribute = _text_attribute(element)
        return self.text(element).strip(SPACE) if attribute is None else attribute

    def _read_tag(self, element: Element) -> str:
        """rel-tag: the last segment of the link's path or, where the path has none, the text."""
        match = _PATH.match(self._resolve(element.attr("href") or ""))
        segments = [segment for segment in (match[1] if match else "").split("/") if segment]
        return unquote(segments[-1]).replace("+", " ") if segments else self.text(element).strip(SPACE)

    def _pieces(self, element: Element, dated: bool = False) -> list[str]:
        """Value class pattern: the values of a property's value elements."""
        pieces: list[str] = []
        for part in self._values.get(element, ()):
            attribute: str | None = None
            if part.has_class("value-title") and not part.has_class("value"):
                attribute = part.attr("title") or ""
            elif dated and part.tag in _DATED:
                attribute = part.attr("datetime")
            elif part.tag not in ("link", "input"):
                attribute = _text_attribute(part)
            pieces.append(self.text(part).strip(SPACE) if attribute is None else attribute)
        return pieces

    def _read_implied(self, item: Item, properties: list[PropertyElement]) -> Iterator[tuple[PropertyElement, Value]]:
        """Parsing for implied properties: name, photo and url, where explicit properties do not rule them out."""
        if item.children or any(found.item is not None for found in properties):
            return
        names = {found.name for found in properties}
        prefixes = {found.prefix for found in properties}
        element = item.element
        if "name" not in names and prefixes.isdisjoint(("p", "e")) and self._chars_left > 0:
            name = self._implied_name(element)
            self._chars_left -= len(name)
            yield PropertyElement("p", "name", element), name
        if "u" in prefixes:
            return
        if "photo" not in names:
            photo = _implied_link(element, (("img", "src"), ("object", "data")))
            if photo is not None:
                yield PropertyElement("u", "photo", photo), self._read_url(photo)
        if "url" not in names:
            link = _implied_link(element, (("a", "href"), ("area", "href")))
            if link is not None:
                yield PropertyElement("u", "url", link), self._read_url(link)

    def _implied_name(self, element: Element) -> str:
        own = _text_attribute(element) if element.tag in _NAMING else None
        if own is not None:
            return own.strip(SPACE)
        child = _only_child(element)
        for inner in (child, _only_child(child) if child is not None else None):
            own = _text_attribute(inner) if inner is not None and inner.tag in _NAMING else None
            if own:
                return own.strip(SPACE)
        return self.text(element, sources=False).strip(SPACE)


def _join_date(pieces: list[str], known_date: str | None) -> str | None:
    """Value class pattern, date and time parsing: the first date, time and zone of the pieces; None where there are none."""
    date = time = zone = None
    for piece in (piece.strip(SPACE) for piece in pieces):
        if _DATE_AND_TIME.fullmatch(piece):
            if date is None and time is None:
                return piece
        elif _DATE.fullmatch(piece):
            date = date or piece
        elif _ZONE_ALONE.fullmatch(piece):
            zone = zone or _normal_zone(piece)
        elif time is None and (match := _TIME.fullmatch(piece)) and (match[2] or match[4]):
            time = _normal_time(match)
            zone = _normal_zone(match[5]) if match[5] else zone
    if time is None:
        return date
    date = date or known_date
    return f"{date} {time}{zone or ''}" if date else f"{time}{zone or ''}"


def _normal_time(match: re.Match[str]) -> str:
    """A time on the 24-hour clock, as precise as it was written."""
    hour = int(match[1])
    if match[4]:
        hour = hour % 12 + (12 if match[4] in "pP" else 0)
    seconds = f":{match[3]}" if match[3] else ""
    return f"{hour:02}:{match[2] or '00'}{seconds}"


def _normal_zone(zone: str) -> str:
    if zone in "zZ":
        return "Z"
    digits = zone[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "00")
    return f"{zone[0]}{hours:0>2}:{minutes}"


def _text_attribute(element: Element) -> str | None:
    """The attribute that replaces the element's text, where there is one."""
    tag = element.tag
    if tag in _TITLED:
        return element.attr("title")
    if tag in _VALUED:
        return element.attr("value")
    return element.attr("alt") if tag in _WITH_ALT else None


def _only_child(element: Element) -> Element | None:
    """The element's child element, if it has exactly one."""
    only: Element | None = None
    for child in element.children:
        if isinstance(child, Element):
            if only is not None:
                return None
            only = child
    return only


def _implied_link(root: Element, kinds: tuple[tuple[str, str], ...]) -> Element | None:
    """The root, or else its only child of a kind, or else the only one of a kind in its only child, with the attribute."""
    for tag, attribute in kinds:
        if root.tag == tag and root.attr(attribute) is not None:
            return root
    child = _only_child(root)
    for parent in (root,) if child is None else (root, child):
        for tag, attribute in kinds:
            same = [child for child in parent.children if isinstance(child, Element) and child.tag == tag]
            if len(same) == 1 and same[0].attr(attribute) is not None:
                return same[0]
    return None
