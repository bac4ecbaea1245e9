"""The interface to the HTML and XML parser: text enters, a tree leaves.

All syntaxes in markup read these trees; turbohtml is imported nowhere else in `extract`. Trees of HTML and of XML have
the same methods; in XML, tag and attribute names keep their prefixes (`svg:g`, `xml:lang`, `xmlns:dc`).
"""

import re

from turbohtml import CData, Comment, Document, Element, Html, HTMLParseError, Node, Text, parse, parse_xml

from rdfspider.extract.safe_xml import character_references

__all__ = [
    "XHTML",
    "CData",
    "Comment",
    "Document",
    "Element",
    "Node",
    "Text",
    "parse_html",
    "parse_xml_text",
    "to_xml",
]

XHTML = "http://www.w3.org/1999/xhtml"

_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_TAG = re.compile(r"<(?:!--.*?-->|!\[CDATA\[.*?\]\]>|(/)?[A-Za-z_:](?:[^<>\"']|\"[^\"]*\"|'[^']*')*+(/)?+>)", re.DOTALL)
_NO_NAMESPACE = re.compile(r'(<[^\s<>/]+) xmlns=""')


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
        text = _ENTITY.sub(lambda entity: character_references(entity[1]) or entity[0], text)
    try:
        return parse_xml(text)
    except HTMLParseError as error:
        return str(error)


def _is_deeper(text: str, max_depth: int) -> bool:
    """Whether tags seem to nest deeper. Walks towards the root take time by the depth; HTML is flattened by its parser."""
    depth = 0
    for tag in _TAG.finditer(text):
        if tag[1]:
            depth -= 1
        elif not tag[2]:
            depth += 1
            if depth > max_depth:
                return True
    return False


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
