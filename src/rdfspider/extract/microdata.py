"""Microdata → RDF: the items of a page, by the W3C note "Microdata to RDF", second edition.

Native selectors find the annotated elements, and one native call per property finds its item, so the tree is never
walked in Python. Items are kept in a queue instead of a recursion, since `itemref` can chain them without end.
"""

import re
from collections import deque
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from rdfspider.extract.datatypes import MICRODATA_NUMBERS, MICRODATA_TIMES, Datatypes, find_datatype
from rdfspider.extract.dom import Document, Element
from rdfspider.extract.statements import Statements
from rdfspider.records import Content
from rdfspider.vocabulary.terms import RDF_TYPE_TERM

# The registry of vocabularies (http://www.w3.org/ns/md): prefixes of types whose properties share one namespace, and
# properties that imply another one. Other vocabularies are the type up to its last "/" or "#".
_Registry = dict[str, dict[str, str]]
REGISTRY: _Registry = {
    "http://schema.org/": {"additionalType": RDF_TYPE_TERM},
    "https://schema.org/": {"additionalType": RDF_TYPE_TERM},
    "http://microformats.org/profile/hcard": {},
}

_URL_ATTRIBUTES = {
    "a": "href",
    "area": "href",
    "link": "href",
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "source": "src",
    "track": "src",
    "video": "src",
    "object": "data",
}
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:\S")
# No date, time, duration or number is longer.
_MAX_TYPED_CHARS = 63
_PROPERTIES = "[itemprop],[itemprop-reverse]"
_CYCLE = "an item is a property of itself through itemref"
_CYCLE_STEPS = 512

# Names of properties are shorter.
_USUAL_CHARS = 100
_FRAGMENT_SAFE = "!$&'()*+,;=:@/?-._~%"


class _Item(NamedTuple):
    """An item whose properties are still to be written; `type` and `vocabulary` are those of the item around it."""

    element: Element
    subject: str
    type: str | None
    vocabulary: str | None
    parent: "_Item | None"


def extract_microdata(tree: Document, content: Content, out: Statements, registry: _Registry = REGISTRY) -> None:
    """Add the statements of every top-level item, and of the items in them."""
    if tree.select_one("[itemscope]") is None:
        return
    marked = tree.select(f":is([itemscope],{_PROPERTIES})")
    scopes = [element for element in marked if element.matches("[itemscope]")]
    _ItemReader(tree, marked, out, registry).read(scopes)


class _ItemReader:
    """The state of one page: which properties belong to which item, and the subjects of items so far."""

    def __init__(self, tree: Document, marked: list[Element], out: Statements, registry: _Registry) -> None:
        self.tree = tree
        self.out = out
        self.registry = registry
        self.subjects: dict[Element, str] = {}
        self.owned: dict[Element | None, list[Element]] = {}
        self.order: dict[Element, int] = {}
        self.owners: dict[Element, Element | None] = {}
        self.ids: dict[str, Element] | None = None
        self.languages: dict[Element, str | None] = {}
        self.referred: dict[Element, list[Element]] = {}
        for number, element in enumerate(marked):
            if not element.matches(_PROPERTIES):
                continue
            parent = element.parent
            owner = parent.closest("[itemscope]") if isinstance(parent, Element) else None
            self.order[element] = number
            self.owners[element] = owner
            self.owned.setdefault(owner, []).append(element)

    def read(self, scopes: list[Element]) -> None:
        """Section 5.3, step 1: items that are no property of another item.

        Then the items with `itemprop` outside of any item. The specification drops them, but the web has many.
        """
        for element in scopes:
            if element not in self.order:
                self._write_items(element)
        for element in scopes:
            if element not in self.subjects and self.owners[element] is None:
                self.out.problem("orphan-item", f"a property of no item: {(element.attr('itemprop') or '')[:60]!r}")
                self._write_items(element)

    def _write_items(self, top: Element) -> None:
        waiting = deque([_Item(top, self._subject(top)[0], None, None, None)])
        while waiting and not self.out.full:
            item = self._write_types(waiting.popleft())
            for element in self._properties(item.element):
                if self.out.full:
                    return
                self._write_property(item, element, waiting)

    def _subject(self, element: Element) -> tuple[str, bool]:
        """Steps 1 and 2: the item's subject, and whether it is new."""
        known = self.subjects.get(element)
        if known is not None:
            return known, False
        name = element.attr("itemid")
        subject = (self.out.resolve(name) if name is not None else None) or self.out.blank()
        self.subjects[element] = subject
        return subject, True

    def _write_types(self, item: _Item) -> _Item:
        """Steps 3 to 8: the item's types, and the vocabulary that its properties are named by."""
        current, vocabulary = item.type, item.vocabulary
        first = True
        for name in (item.element.attr("itemtype") or "").split():
            if not _ABSOLUTE.match(name):
                continue
            term = self.out.iri(name)
            if term is None:
                continue
            self.out.add(item.subject, RDF_TYPE_TERM, term)
            if first:
                current, vocabulary, first = term[1:-1], self._vocabulary(term[1:-1]), False
        return item._replace(type=current, vocabulary=vocabulary)

    def _vocabulary(self, item_type: str) -> str:
        """Step 6: the registry's prefix of the type, or the type up to its last "#" or "/"."""
        for prefix in self.registry:
            if item_type.startswith(prefix):
                return prefix
        fragment = item_type.rfind("#")
        return item_type[: (fragment if fragment >= 0 else item_type.rfind("/")) + 1]

    def _properties(self, scope: Element) -> list[Element]:
        """HTML, "the properties of an item": its own elements and those that it refers to, in tree order."""
        own = self.owned.get(scope, [])
        references = scope.attr("itemref")
        if not references:
            return own
        found = dict.fromkeys(own)
        for name in dict.fromkeys(references.split()):
            element = self._element_by_id(name)
            if element is None:
                self.out.problem("itemref-unknown", f"no element has the id {name[:80]!r}")
                continue
            if element in self.order:
                found[element] = None
            found.update(dict.fromkeys(self._inside(element)))
        if scope in found:
            del found[scope]
            self.out.problem("item-cycle", _CYCLE)
        return sorted(found, key=self.order.__getitem__)

    def _inside(self, element: Element) -> list[Element]:
        """The properties inside an element that `itemref` names, which belong to the referring item; found once."""
        if element not in self.referred:
            owner = element.closest("[itemscope]")
            self.referred[element] = [
                each for each in element.select(_PROPERTIES) if owner is not element and self.owners[each] is owner
            ]
        return self.referred[element]

    def _element_by_id(self, name: str) -> Element | None:
        if self.ids is None:
            self.ids = {}
            for element in self.tree.select("[id]"):
                self.ids.setdefault(element.attr("id") or "", element)
        return self.ids.get(name)

    def _write_property(self, item: _Item, element: Element, waiting: deque[_Item]) -> None:
        """Step 9: one element's value, under each of its names."""
        names, reverse_names = element.attr("itemprop"), element.attr("itemprop-reverse")
        if element.matches("[itemscope]"):
            value, is_new = self._subject(element)
            if is_new:
                waiting.append(_Item(element, value, item.type, item.vocabulary, item))
            elif _is_above(element, item):
                self.out.problem("item-cycle", _CYCLE)
        else:
            value = self._value(element)
        for name in dict.fromkeys((names or "").split()):
            predicate = self._predicate(name, item)
            if predicate:
                self.out.add(item.subject, predicate, value)
                self._expand(name, item, value)
        if reverse_names and value[0] == '"':
            self.out.problem("reverse-literal", "itemprop-reverse on a literal was ignored")
        elif reverse_names:
            for name in dict.fromkeys(reverse_names.split()):
                predicate = self._predicate(name, item)
                if predicate:
                    self.out.add(value, predicate, item.subject)

    def _predicate(self, name: str, item: _Item) -> str | None:
        """Section 5.4: the property's IRI."""
        if _ABSOLUTE.match(name):
            return self.out.iri(name)
        escaped = _escape_usual(name) if len(name) < _USUAL_CHARS else _escape_usual.__wrapped__(name)
        if item.vocabulary is None:
            page = self.out.base.partition("#")[0]
            return self.out.iri(f"{page}#{escaped}")
        joint = "" if item.vocabulary.endswith(("/", "#")) else "#"
        return self.out.iri(item.vocabulary + joint + escaped)

    def _expand(self, name: str, item: _Item, value: str) -> None:
        """Section 5.6: vocabulary expansion by the registry."""
        also = self.registry.get(item.vocabulary or "", {}).get(name)
        if also:
            self.out.add(item.subject, also, value)

    def _value(self, element: Element) -> str:
        """Section 5.5: the property's value."""
        given = element.attr("content")
        if given is not None:
            return self.out.literal(given, self._language(element))
        attribute = _URL_ATTRIBUTES.get(element.tag)
        if attribute is not None:
            reference = element.attr(attribute)
            term = self.out.resolve(reference) if reference is not None else None
            return term or self.out.literal(reference or "", None)
        if element.tag == "time":
            text = element.attr("datetime")
            return self._typed(element, element.text if text is None else text, MICRODATA_TIMES)
        if element.tag in ("data", "meter"):
            text = element.attr("value")
            return self._typed(element, element.text if text is None else text, MICRODATA_NUMBERS)
        return self.out.literal("" if element.tag == "meta" else element.text, self._language(element))

    def _typed(self, element: Element, text: str, types: Datatypes) -> str:
        lexical = text.strip()
        datatype = find_datatype(lexical, types, _MAX_TYPED_CHARS)
        if datatype is not None:
            return self.out.literal(lexical, datatype=datatype)
        return self.out.literal(text, self._language(element))

    def _language(self, element: Element) -> str | None:
        """The language of the nearest element that declares one; an empty value means none."""
        parent = element.parent
        if _own_language(element) is None and isinstance(parent, Element):
            if parent not in self.languages:
                named = parent.closest("[lang],[xml\\:lang]")
                self.languages[parent] = _own_language(named) if named else None
            return self.languages[parent] or None
        return _own_language(element) or None


def _own_language(element: Element) -> str | None:
    """@lang, or @xml:lang, which means the same in XHTML and is harmless in HTML."""
    language = element.attr("lang")
    return element.attr("xml:lang") if language is None else language


@lru_cache(maxsize=4096)
def _escape_usual(name: str) -> str:
    """The name as a part of an IRI; cached, since many pages use the same properties."""
    return quote(name, safe=_FRAGMENT_SAFE)


def _is_above(element: Element, item: _Item) -> bool:
    above: _Item | None = item
    for _ in range(_CYCLE_STEPS):
        if above is None:
            return False
        if above.element is element:
            return True
        above = above.parent
    return False
