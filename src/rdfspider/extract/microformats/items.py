"""A tree enters, its items leave: which elements are roots of items, which are properties, and which item owns them.

Only classes are read here, not values: every class attribute of the page once, then the elements with classes of
microformats. Items are in document order, parents before children, so that no reader needs to recurse.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple, cast

from rdfspider.extract.dom import Document, Element, Node
from rdfspider.extract.microformats.mapping import ITEM, ROOTS, Rules, rules_of
from rdfspider.extract.statements import Report

_MAX_INCLUDED = 20_000
"""Elements that all includes of a page may add to items: an element is added to each item that includes it."""

_MAX_ITEMS = 50_000
"""Items kept of one page; listings of real sites have hundreds."""

_MAX_PROPERTIES = 100_000
"""Properties kept of one page: a class attribute can have one every four bytes."""

_MAX_CLASS_CHARS = 8_192
"""Characters read of a class attribute."""

_MAX_LEVELS = 64
"""Levels of nested properties: the text of each includes that of all inside it."""

_SPACE = " \\t\\n\\f\\r"
_TOKEN = re.compile(f"[^{_SPACE}]+")
# Microformats 2 parsing, "note about class names": a vendor's prefix may have digits, all other words are lower-case letters.
_V2_NAME = "(?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*"
_V2_ROOT = re.compile(f"h-{_V2_NAME}")
_V2_PROPERTY = re.compile(f"(p|u|dt|e)-({_V2_NAME})")
_V2_PREFIX = re.compile(f"(?:^|[{_SPACE}])(?:[hpue]|dt)-")
_CLASSIC_ROOTS = frozenset(ROOTS)
_AFTER_SPACE = re.compile(f" (h-[^ ]*|(?:{'|'.join(sorted(ROOTS))})(?= ))")
_VALUES = frozenset({"value", "value-title"})

_RELATIONS = frozenset({"bookmark", "tag", "principles"})
_INCLUDING = ".include, [itemref], [headers]"


class PropertyElement(NamedTuple):
    """An element that is a property of an item; `item` is the item whose root is the same element."""

    prefix: str
    name: str
    element: Element
    item: "Item | None" = None


@dataclass(slots=True, eq=False)
class Item:
    """A root element with its properties and children; `rules` is None for microformats 2, in which properties can be implied."""

    element: Element
    types: list[str]
    rules: Rules | None
    properties: list[PropertyElement] = field(default_factory=list)
    children: list["Item"] = field(default_factory=list)
    includes: list[str] = field(default_factory=list)
    """Ids of the elements that a classic item includes."""
    included: list[Element] = field(default_factory=list)


@dataclass(slots=True)
class Items:
    """The microformats of a page."""

    top: list[Item] = field(default_factory=list)
    every: list[Item] = field(default_factory=list)
    """All items in document order."""
    shared: set[Item] = field(default_factory=set)
    """Items inside included elements: they may come before the items that include them."""
    values: dict[Element, list[Element]] = field(default_factory=dict)
    """The value elements of each property element (value class pattern)."""

    def inside_out(self) -> list[Item]:
        """All items, each after the items inside it: in reverse order, included ones first."""
        first = [item for item in self.every if item in self.shared]
        rest = [item for item in self.every if item not in self.shared] if first else self.every
        return [*reversed(first), *reversed(rest)]


class _Classes(NamedTuple):
    """The meaning of a class attribute; `words` are those that have a meaning in some classic item of the page."""

    types: tuple[str, ...]
    classic: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    is_value: bool
    is_include: bool


def find_items(tree: Document, ignored: frozenset[str], report: Report) -> Items | None:
    """The items of a page; None where no class is a root. Classes in `ignored` are not counted as roots."""
    elements = tree.select("[class]")
    names = cast(list[str], list(map(Element.attr, elements, repeat("class"))))
    distinct = set(names)
    classic, has_v2 = _present_roots(distinct, ignored)
    if not classic and not has_v2:
        return None
    known = _known_words(classic)
    # Split at any white space, of which HTML has less: `_classify` looks closely at what this finds.
    others = map(known.isdisjoint, map(str.split, distinct))
    meant = {
        name
        for name, is_other in zip(distinct, others, strict=True)
        if not is_other or (has_v2 and _V2_PREFIX.search(name))
    }
    meanings: dict[str, _Classes] = {}
    finder = _Finder(tree, report)
    for element, name in [pair for pair in zip(elements, names, strict=True) if pair[1] in meant]:
        if name not in meanings:
            meanings[name] = _classify(name, known, ignored)
        if not finder.visit(element, meanings[name]):
            break
    finder.finish()
    return finder.items


def _present_roots(names: set[str], ignored: frozenset[str]) -> tuple[frozenset[str], bool]:
    """The classic roots of a page, and whether it has roots of microformats 2: one search over all class attributes."""
    joined = f" {' '.join(names)} ".replace("\n", " ").replace("\t", " ").replace("\r", " ").replace("\f", " ")
    found = frozenset(_AFTER_SPACE.findall(joined))
    return found & _CLASSIC_ROOTS, any(_V2_ROOT.fullmatch(token) for token in found - ignored)


def _root_names(tokens: list[str], ignored: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types of microformats 2 among class names, sorted as the specification asks, or else the classic roots."""
    types = {token for token in tokens if token[:2] == "h-" and _V2_ROOT.fullmatch(token)} - ignored
    if types:
        return tuple(sorted(types)), ()
    return (), tuple(sorted({token for token in tokens if token in ROOTS}))


@lru_cache(maxsize=64)
def _known_words(classic: frozenset[str]) -> frozenset[str]:
    """The class names that have a meaning on a page with these classic roots."""
    if not classic:
        return _VALUES
    reviews = {ITEM} if any(name.startswith("hreview") for name in classic) else set()
    return _VALUES | classic | {"include", *rules_of(tuple(sorted(classic | reviews))).names}


def _classify(name: str, known: frozenset[str], ignored: frozenset[str]) -> _Classes:
    tokens = _TOKEN.findall(name[:_MAX_CLASS_CHARS])
    types, old = _root_names(tokens, ignored)
    matches = [_V2_PROPERTY.fullmatch(token) for token in tokens]
    return _Classes(
        types,
        old,
        tuple((match[1], match[2]) for match in matches if match and match[0] not in ignored),
        tuple(token for token in tokens if token in known),
        not _VALUES.isdisjoint(tokens),
        "include" in tokens,
    )


class _Finder:
    """Visits the elements with classes of microformats, in document order, and adds each to its item."""

    def __init__(self, tree: Document, report: Report) -> None:
        self.items = Items()
        self._tree = tree
        self._report = report
        # For every node above a visited element: the item that its children belong to, and how many properties they are in.
        self._owners: dict[Node, tuple[Item | None, int]] = {}
        self._roots: dict[Element, Item] = {}
        self._values: list[Element] = []
        self._words: dict[Element, tuple[str, ...]] = {}
        self._properties_left = _MAX_PROPERTIES

    def visit(self, element: Element, classes: _Classes) -> bool:
        """Visit an element; False when the limits are reached."""
        owner, level = self._find_owner(element)
        properties = self._properties(owner, classes)
        if level >= _MAX_LEVELS and properties:
            self._report("nested-properties", f"properties inside more than {_MAX_LEVELS} others were left out")
            return True
        item = self._root(element, classes, owner)
        if classes.words:
            self._words[element] = classes.words
        if properties or item:
            self._owners[element] = (item or owner, level + 1 if properties else level)
        if owner is not None:
            owner.properties.extend([PropertyElement(prefix, name, element, item) for prefix, name in properties])
            if item is not None and not properties:
                owner.children.append(item)
            if classes.is_include and owner.rules:
                owner.includes.extend(_include_ids(element))
        elif item is not None:
            self.items.top.append(item)
        if classes.is_value and owner is not None:
            self._values.append(element)
        return self._has_room(len(properties))

    def _has_room(self, properties: int) -> bool:
        """Whether the limits allow more after so many further properties."""
        self._properties_left -= properties
        if self._properties_left > 0 and len(self.items.every) < _MAX_ITEMS:
            return True
        self._report("too-many-items", f"beyond {_MAX_ITEMS} items or {_MAX_PROPERTIES} properties the page was left")
        return False

    def finish(self) -> None:
        """Add what needs the whole page: link relations, includes, value elements."""
        if any(item.rules and item.rules.rels for item in self.items.every):
            self._add_relations()
        including = [item for item in self.items.every if item.includes]
        if including:
            self._add_includes(including)
        if self._values:
            self._assign_values()

    def _find_owner(self, element: Element) -> tuple[Item | None, int]:
        """The nearest item around an element, and how many properties the element is in.

        Both are cached for every node between, so that no node is passed twice.
        """
        owners = self._owners
        passed: list[Node] = []
        node: Node | None = element.parent
        while node is not None and node not in owners:
            passed.append(node)
            node = node.parent
        found = (None, 0) if node is None else owners[node]
        for node in passed:
            owners[node] = found
        return found

    def _properties(self, owner: Item | None, classes: _Classes) -> tuple[tuple[str, str], ...]:
        """The properties of the owner that the element is; inside a classic item, only classic names count."""
        if owner is None:
            return ()
        if owner.rules is None:
            return classes.properties
        names = owner.rules.names
        return tuple(dict.fromkeys(names[word] for word in classes.words if word in names))

    def _root(self, element: Element, classes: _Classes, owner: Item | None) -> Item | None:
        """The item that the element is the root of."""
        if classes.types:
            item = Item(element, list(classes.types), None)
        elif classes.classic:
            item = Item(element, sorted({ROOTS[name] for name in classes.classic}), rules_of(classes.classic))
            item.includes = _referred_ids(element)
        elif ITEM in classes.words and owner is not None and owner.rules and ITEM in owner.rules.names:
            item = Item(element, ["h-item"], rules_of((ITEM,)))
        else:
            return None
        self._roots[element] = item
        self.items.every.append(item)
        return item

    def _add_relations(self) -> None:
        """Links whose relation is a property of the classic item around them, unless their class already is."""
        links = self._tree.select("a[rel][href]")
        if self._tree.select("area[rel][href]"):
            # In tree order, by a walk over the whole tree; an index of tag names has the elements of one tag.
            links = self._tree.select("a[rel][href], area[rel][href]")
        for element in links:
            relations = frozenset(_TOKEN.findall((element.attr("rel") or "").lower()))
            if relations.isdisjoint(_RELATIONS):
                continue
            owner, _ = self._find_owner(element)
            if owner is None or owner.rules is None or element in self._roots:
                continue
            names = {owner.rules.names.get(word, ("", ""))[1] for word in self._words.get(element, ())}
            for needed, prefix, name in owner.rules.rels:
                if needed <= relations and name not in names:
                    owner.properties.append(PropertyElement(prefix, name, element))
                    if not self._has_room(1):
                        return

    def _add_includes(self, including: list[Item]) -> None:
        """The include pattern: elements that a classic item includes count as if they were inside the item."""
        targets: dict[str, Element] = {}
        for element in self._tree.select("[id]"):
            targets.setdefault(element.attr("id") or "", element)
        parts: dict[Element, list[Element]] = {}
        left = _MAX_INCLUDED
        for item in including:
            for identifier in dict.fromkeys(item.includes):
                target = targets.get(identifier)
                if target is None:
                    self._report("include-missing", f"no element has the id {identifier[:60]!r}")
                    continue
                if target not in parts:
                    parts[target] = self._parts(target)
                left -= len(parts[target])
                if left < 0:
                    self._report("include-limit", f"includes of more than {_MAX_INCLUDED} elements were left out")
                    return
                self._include(item, target, parts[target])

    def _parts(self, target: Element) -> list[Element]:
        """The element and all elements with classes in it; none where it includes others itself, so that there are no cycles."""
        if target.matches(_INCLUDING) or target.select_one(_INCLUDING):
            self._report("include-nested", "an included element that includes others was left out")
            return []
        return [target, *target.select("[class]")]

    def _include(self, item: Item, target: Element, parts: list[Element]) -> None:
        if not parts or item.rules is None:
            return
        around, _ = self._find_owner(target)
        names = item.rules.names
        for element in parts:
            nested = self._roots.get(element)
            if nested is not None:
                self.items.shared.add(nested)
            if self._find_owner(element)[0] is not around:
                continue
            properties = dict.fromkeys(names[word] for word in self._words.get(element, ()) if word in names)
            item.properties.extend([PropertyElement(prefix, name, element, nested) for prefix, name in properties])
            if nested is not None and not properties:
                item.children.append(nested)
        item.included.append(target)

    def _assign_values(self) -> None:
        """Value class pattern: a value element belongs to the nearest property, unless an item or another value is between."""
        properties = {found.element for item in self.items.every for found in item.properties}
        nearest: dict[Node, Node | None] = dict.fromkeys(self._values)
        for element in (*self._values, *self._roots, *properties):
            nearest[element] = element
        for element in self._values:
            passed: list[Node] = []
            node: Node | None = element.parent
            while node is not None and node not in nearest:
                passed.append(node)
                node = node.parent
            stop = None if node is None else nearest[node]
            nearest.update(dict.fromkeys(passed, stop))
            if isinstance(stop, Element) and stop in properties:
                self.items.values.setdefault(stop, []).append(element)


def _include_ids(element: Element) -> Iterator[str]:
    """The id that `a.include` or `object.include` points to."""
    reference = (element.attr("href") if element.tag == "a" else element.attr("data")) or ""
    if reference[:1] == "#" and len(reference) > 1:
        yield reference[1:]


def _referred_ids(element: Element) -> list[str]:
    """The ids in `itemref` of a classic root or, for a table cell, in `headers`."""
    references = element.attr("itemref") or (element.attr("headers") if element.tag in ("td", "th") else "")
    return _TOKEN.findall(references or "")
