"""The parsers of HTML and XML: text enters, a tree leaves.

All syntaxes in pages read the trees of turbohtml, which is imported nowhere else in `extract`. Its trees of HTML and of
XML have the same methods; in XML, tag and attribute names keep their prefixes (`svg:g`, `xml:lang`, `xmlns:dc`). RDF/XML
and feeds are read from the trees of lxml.

Where turbohtml is missing or must not be used (`html_parser.py`), the second parser (`second_parser/`) takes its place, with the
same names.

XML is made safe for native parsers first. Real vocabularies declare `<!ENTITY xsd "http://…#">` and use it, so internal
entities are replaced here, textually. External and parameter entities are never read. Entities that would grow beyond a
limit or contain themselves are refused before they are built, so that no native parser sees an entity bomb or anything
to fetch.
"""

import html.entities
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from rdfspider.html_parser import IS_SECOND_PARSER
from rdfspider.records import Problem

if TYPE_CHECKING or not IS_SECOND_PARSER:
    from turbohtml import CData, Comment, Document, Element, Html, HTMLParseError, Node, Text, parse, parse_xml
else:
    from rdfspider.extract.second_parser import (
        CData,
        Comment,
        Document,
        Element,
        Html,
        HTMLParseError,
        Node,
        Text,
        parse,
        parse_xml,
    )

__all__ = [
    "XHTML",
    "CData",
    "Comment",
    "Document",
    "Element",
    "Node",
    "Text",
    "canonical_content",
    "encode_text",
    "expand_entities",
    "parse_html",
    "parse_lxml",
    "parse_xml_text",
    "skip_declaration",
    "to_xml",
]

XHTML = "http://www.w3.org/1999/xhtml"

_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_TAG = re.compile(r"<(?:!--.*?-->|!\[CDATA\[.*?\]\]>|/?[A-Za-z_:](?:[^<>\"']|\"[^\"]*\"|'[^']*')*+>)", re.DOTALL)
_NO_NAMESPACE = re.compile(r'(<[^\s<>/]+) xmlns=""')
_GROWTH_FACTOR = 10
_GROWTH_CHARS = 1024 * 1024
_MAX_NESTED_ENTITIES = 100
_DECLARATION = re.compile(r"\s*+(?:<\?xml\s[^>]*+>)?+\s*+")
_PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})
_QUOTED = r"""(?:"[^"]*+"|'[^']*+')"""
_NAME = r"""[^\s"'%&;<>/=\[\]()|,!?]++"""

# What may stand before a document's DOCTYPE, and the DOCTYPE up to its internal subset (XML 1.0, productions 22 and 28).
_PROLOG = re.compile(r"\s*+(?:<\?.*?\?>\s*+|<!--.*?-->\s*+)*+", re.DOTALL)
_DOCTYPE = re.compile(
    rf"<!DOCTYPE\s+(?P<name>{_NAME})(?P<external>(?:\s*+(?:SYSTEM|PUBLIC|{_QUOTED}))*+)\s*+(?P<open>\[)?"
)
# The parts of an internal subset (production 28b); an alternative always matches, so the scan is linear.
_SUBSET = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)"
    rf"|<!ENTITY\s+(?P<parameter>%\s+)?+(?P<name>{_NAME})\s+(?:(?P<value>{_QUOTED})|(?P<external>SYSTEM|PUBLIC)\b)(?:{_QUOTED}|[^>\"'])*+>?"
    rf"|<!(?:{_QUOTED}|[^>\"'])*+>?|(?P<end>\])|[^<\]]++|.",
    re.DOTALL,
)
# References are not read in comments, CDATA sections and processing instructions.
_REFERENCE = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|&(?P<name>[^\s#&;<>\"']{1,256}+);", re.DOTALL
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CHARACTER = re.compile(r"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")


class _Doctype(NamedTuple):
    start: int
    end: int
    head: str
    internal: Mapping[str, str]
    external: frozenset[str]


def parse_html(text: str) -> Document:
    """The tree that a browser would build; never fails. `template` elements, which are not part of the page, are removed."""
    document = parse(text)
    if document.select("template"):
        document.remove("template")
    return document


def parse_xml_text(text: str, max_depth: int = 500) -> Document | str:
    """The tree of a well-formed document, or the reason why there is none. The entities of HTML are known."""
    if _is_deeper(text, max_depth):
        return f"elements nested deeper than {max_depth}"
    if "&" in text:
        text = _ENTITY.sub(lambda entity: _character_references(entity[1]) or entity[0], text)
    try:
        return parse_xml(text)
    except HTMLParseError as error:
        return str(error)


def to_xml(document: Document, xhtml: bool = False) -> str:
    """The root element as XML, without names or characters that XML does not allow; prefixes may be undeclared.

    With `xhtml`, which is for trees of HTML, elements are in the namespace that HTML's parsing rules give them.
    """
    root = document.root
    if root is None:
        return ""
    text = root.serialize(Html(xml=True))
    if not xhtml:
        return text
    text = _NO_NAMESPACE.sub(rf'\1 xmlns="{XHTML}"', text)
    return text if root.attr("xmlns") else text.replace("<html", f'<html xmlns="{XHTML}"', 1)


def expand_entities(text: str) -> tuple[str, Problem | None]:
    """The text with its entities replaced and without its internal DTD subset, and the problem, if there was one.

    The entities of HTML are known even where no DTD declares them. With the problem `entity-bomb`, all declared
    entities were replaced by nothing; with `external-entity`, all external ones.
    """
    doctype = _read_doctype(text)
    if doctype is None:
        return (_replace(text, {}), None) if "&" in text else (text, None)
    body = text[: doctype.start] + doctype.head + text[doctype.end :]
    if "&" not in body:
        return body, None
    values, problem = _expand_values(doctype.internal, len(text))
    if problem is None:
        total = sum(len(values[name]) for name in _references(body) if name in values)
        if total > _limit(len(text)):
            problem = Problem("entity-bomb", f"entities would make {total} characters of {len(text)}")
    if problem is not None:
        values = dict.fromkeys(doctype.internal, "")
    elif not doctype.external.isdisjoint(_references(body)):
        problem = Problem("external-entity", "an entity outside of the document was left out")
    return _replace(body, {**dict.fromkeys(doctype.external, ""), **values}), problem


def encode_text(text: str) -> bytes:
    """The text as native parsers take it; lone surrogates become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text).encode()


def skip_declaration(text: str) -> str:
    """The text after its XML declaration, whose encoding is wrong for text that is decoded already."""
    declaration = _DECLARATION.match(text)
    return text[declaration.end() :] if declaration else text


def parse_lxml(text: str, *, recover: bool = False, only_elements: bool = False) -> etree._Element:
    """The root of lxml's tree of a text without entity declarations; raises `etree.XMLSyntaxError` where there is none.

    Nothing is loaded. `recover` repairs what is not well formed; `only_elements` leaves out comments and processing
    instructions.
    """
    parser = etree.XMLParser(
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=only_elements,
        remove_pis=only_elements,
    )
    return etree.fromstring(encode_text(text), parser)


def canonical_content(element: etree._Element) -> str | None:
    """The content of an element by Exclusive XML Canonicalization; None with relative namespaces, which have none."""
    tag, attributes = element.tag, list(element.attrib.items())
    # Without a namespace in common with its children, these declare all namespaces that they use.
    element.attrib.clear()
    element.tag = "{urn:x-rdfspider:holder}x"
    try:
        text = etree.tostring(element, method="c14n", exclusive=True, with_comments=True).decode()
    except etree.C14NError:
        return None
    finally:
        element.tag = tag
        for name, value in attributes:
            element.set(name, value)
    return text[text.index(">") + 1 : text.rindex("</")]


def _is_deeper(text: str, max_depth: int) -> bool:
    """Whether tags seem to nest deeper. Walks towards the root take time by the depth; HTML is flattened by its parser."""
    depth = 0
    for found in _TAG.finditer(text):
        tag = found[0]
        if tag[1] == "/":
            depth -= 1
        elif tag[1] != "!" and tag[-2] != "/":
            depth += 1
            if depth > max_depth:
                return True
    return False


def _character_references(name: str) -> str | None:
    """The numeric references for an entity that HTML names; None for the entities of XML itself and for unknown names."""
    characters = None if name in _PREDEFINED else html.entities.html5.get(name + ";")
    return "".join(f"&#{ord(character)};" for character in characters) if characters else None


def _limit(chars: int) -> int:
    return _GROWTH_FACTOR * chars + _GROWTH_CHARS


def _read_doctype(text: str) -> _Doctype | None:
    """The document's DOCTYPE; of several declarations of an entity the first counts (XML 1.0, section 4.2)."""
    prolog = _PROLOG.match(text.removeprefix("\ufeff"))
    start = (prolog.end() if prolog else 0) + text.startswith("\ufeff")
    found = _DOCTYPE.match(text, start)
    if found is None:
        return None
    internal: dict[str, str] = {}
    external: set[str] = set()
    end = found.end()
    if found["open"]:
        for part in _SUBSET.finditer(text, end):
            end = part.end()
            if part["end"]:
                break
            name = part["name"]
            if name is None or part["parameter"] or name in internal or name in external or name in _PREDEFINED:
                continue
            if part["value"] is None:
                external.add(name)
            else:
                internal[name] = _CHARACTER.sub(_character, part["value"][1:-1])
    close = text.find(">", end)
    end = len(text) if close < 0 else close + 1
    return _Doctype(start, end, f"<!DOCTYPE {found['name']}{found['external']}>", internal, frozenset(external))


def _expand_values(declared: Mapping[str, str], chars: int) -> tuple[dict[str, str], Problem | None]:
    """The replacement text of every entity; sizes are added up before anything is built."""
    limit = _limit(chars)
    references = {name: [n for n in _references(value) if n in declared] for name, value in declared.items()}
    sizes: dict[str, int] = {}
    for first in declared:
        path, pending = [first], [iter(references[first])]
        while path:
            name = path[-1]
            inner = next(pending[-1], None) if name not in sizes else None
            if inner is not None and inner not in sizes:
                if inner in path or len(path) >= _MAX_NESTED_ENTITIES:
                    return {}, Problem(
                        "entity-bomb", f"the entity {inner[:60]} contains itself or is nested too deeply"
                    )
                path.append(inner)
                pending.append(iter(references[inner]))
            elif inner is None:
                size = len(declared[name]) + sum(sizes[n] for n in references[name])
                sizes.setdefault(name, min(size, limit + 1))
                path.pop()
                pending.pop()
    if sum(sizes.values()) > limit:
        return {}, Problem("entity-bomb", f"entities would grow beyond {limit} characters")
    values: dict[str, str] = {}
    for name in sizes:
        # In order of completion, so that the entities that a value refers to are expanded already.
        values[name] = _as_content(_replace(declared[name], values))
    return values, None


def _references(text: str) -> list[str]:
    return [match["name"] for match in _REFERENCE.finditer(text) if match["name"]] if "&" in text else []


def _replace(text: str, values: Mapping[str, str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        name: str | None = match["name"]
        if name is None or name in _PREDEFINED:
            return match[0]
        value = values.get(name)
        return _character_references(name) or match[0] if value is None else value

    return _REFERENCE.sub(value_of, text)


def _as_content(value: str) -> str:
    """Quotes in a value must not end the attribute it is put into (section 4.4.5); values with markup occur in content only."""
    return value if "<" in value else value.replace('"', "&#34;").replace("'", "&#39;")


def _character(match: re.Match[str]) -> str:
    number = int(match[1], 16) if match[1] else int(match[2])
    return chr(number) if number <= 0x10FFFF else match[0]
