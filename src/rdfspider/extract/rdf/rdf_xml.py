"""RDF/XML made ready for the native parser, which knows less of XML than documents use.

lxml reads the document first: it is strict, bounds the depth of elements, and joins text around comments and CDATA sections.
XML literals become canonical text (Exclusive XML Canonicalization), as RDF/XML asks. A document that is not well formed is
cut where lxml found the error. What would make the native parser compare everything with everything is refused.
"""

import re
from typing import NamedTuple

from lxml import etree

from rdfspider.extract.safe_xml import encode_text
from rdfspider.vocabulary.ntriples import RDF

_MAX_ATTRIBUTES = 1000
_MAX_NAMESPACES = 300
_MAX_DEPTH = 256
_MAX_BROKEN_TAG_CHARS = 16_384
_MAX_BASE_WORK = 1_000_000_000

_DECLARATION = re.compile(r"\s*+(?:<\?xml\s[^>]*+>)?+\s*+")
_BASE = re.compile(r"""\bbase\s*+=\s*+(?:"[^"]*+|'[^']*+)""")
_LONG_TAG = re.compile(rf"<[^<>]{{{_MAX_BROKEN_TAG_CHARS}}}")
_PARSE_TYPE = f"{{{RDF}}}parseType"
_ID = f"{{{RDF}}}ID"
_XML = "{http://www.w3.org/XML/1998/namespace}"


class Normalised(NamedTuple):
    """A document for the native parser, empty when refused; `error` says what is wrong with the original."""

    text: str
    error: str | None = None


def normalise_rdf_xml(text: str) -> Normalised:
    """The document with comments, CDATA sections and XML literals resolved, or its part before the first error."""
    text = text[_DECLARATION.match(text).end() :]  # type: ignore[union-attr]
    if _base_work(text) > _MAX_BASE_WORK:
        return Normalised("", "the document's bases would take too long to resolve")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_pis=False)
    try:
        root = etree.fromstring(encode_text(text), parser)
    except etree.XMLSyntaxError as error:
        return _cut(text, error)
    if root.xpath(f"boolean(//*[count(@*) > {_MAX_ATTRIBUTES}])") or _too_many_namespaces(root, text):
        return Normalised("", "an element has too many attributes or namespaces")
    for element in [e for e in root.iter() if e.get(_PARSE_TYPE) is not None] if "parseType" in text else ():
        if _is_literal(element):
            _canonicalise(element)
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)
    return Normalised(etree.tostring(root, encoding="unicode"))


def _is_literal(element: etree._Element) -> bool:
    """RDF/XML, production 7.2.17 and 7.2.20: any other parse type means Literal, and nothing but an ID may stand by it."""
    if element.get(_PARSE_TYPE) in ("Resource", "Collection"):
        return False
    return all(name in (_PARSE_TYPE, _ID) or str(name).startswith(_XML) for name in element.attrib)


def canonical_content(element: etree._Element) -> str | None:
    """What is in an element, by Exclusive XML Canonicalization; None where namespaces are relative, which have no form."""
    tag, attributes = element.tag, list(element.attrib.items())
    # The element itself must need none of the namespaces that its children use, so that these declare all of theirs.
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


def _canonicalise(element: etree._Element) -> None:
    """Put an XML literal's canonical form in its place, as text with a datatype."""
    text = canonical_content(element)
    if text is None:
        return
    del element.attrib[_PARSE_TYPE]
    del element[:]
    element.set(f"{{{RDF}}}datatype", f"{RDF}XMLLiteral")
    element.text = text


def _cut(text: str, error: etree.XMLSyntaxError) -> Normalised:
    """What stands before the error; only what the native parser can take without the checks of a tree."""
    line, column = error.position
    message = str(error.msg)
    if text.count("xmlns") > _MAX_NAMESPACES or _LONG_TAG.search(text):
        return Normalised("", message)
    lines = text.split("\n")
    return Normalised("\n".join([*lines[: line - 1], "".join(lines[line - 1 : line])[: max(column - 1, 0)]]), message)


def _too_many_namespaces(root: etree._Element, text: str) -> bool:
    """Whether more namespaces are declared at one place than the native parser can search for every name."""
    if text.count("xmlns") <= _MAX_NAMESPACES:
        return False
    declared = 0
    for event, _ in etree.iterwalk(root, events=("start-ns", "end-ns")):
        declared += 1 if event == "start-ns" else -1
        if declared > _MAX_NAMESPACES:
            return True
    return False


def _base_work(text: str) -> int:
    """An upper bound of the characters that are copied to resolve `xml:base`: a base counts for all elements in it."""
    lengths = [len(base) for base in _BASE.findall(text)] if "base" in text else []
    return len(lengths) * min(sum(lengths), _MAX_DEPTH * max(lengths)) if lengths else 0
