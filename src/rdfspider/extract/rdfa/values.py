"""The literals of RDFa: what an element's content and attributes say as text, as XML, as HTML or as a date.

An element enters, a ready term leaves.
"""

import re

from rdfspider.extract.dom import CData, Element, Text
from rdfspider.extract.rdfa.contexts import Host
from rdfspider.extract.rdfa.names import PageNames
from rdfspider.extract.rdfa.xml import XmlWriter
from rdfspider.extract.statements import RDF, XSD, Statements
from rdfspider.records import Content

XML_LITERAL = f"<{RDF}XMLLiteral>"
_HTML_LITERAL = f"<{RDF}HTML>"

# What it costs to look at a node in Python, in characters that are copied meanwhile.
_NODE_CHARS = 32

_ZONE = r"(?:Z|[+\-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?"
_YEAR = r"-?(?:[1-9]\d{3,}|0\d{3})"
_DAY = r"(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_DURATION = r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
_TIMES = tuple(
    (re.compile(pattern, re.ASCII), f"<{XSD}{name}>")
    for name, pattern in (
        ("duration", _DURATION),
        ("dateTime", f"{_YEAR}-{_DAY}T{_CLOCK}{_ZONE}"),
        ("date", f"{_YEAR}-{_DAY}{_ZONE}"),
        ("time", f"{_CLOCK}{_ZONE}"),
        ("gYearMonth", f"{_YEAR}-(?:0[1-9]|1[0-2]){_ZONE}"),
        ("gYear", f"{_YEAR}{_ZONE}"),
    )
)


class Literals:
    """Makes the literals of one page, and keeps account of their length."""

    def __init__(self, content: Content, out: Statements, host: Host, page: PageNames) -> None:
        self._out = out
        self._host = host
        self._page = page
        self._cdata = not host.html and "<![CDATA[" in content.text
        self._writer = XmlWriter(host.html, out.config.max_literal_chars)

    def text_of(self, element: Element) -> str:
        """DOM's textContent, with what is in CDATA sections, which the tree's own property leaves out."""
        if not self._cdata:
            return element.text
        nodes = list(element.descendants)
        self._page.room -= len(nodes) * _NODE_CHARS
        return "".join(node.data for node in nodes if isinstance(node, (Text, CData)))

    def plain(self, text: str, language: str | None) -> str:
        """A literal with a language, where there is one."""
        self._page.room -= len(text)
        return self._out.literal(text, language)

    def timed(self, text: str, language: str | None) -> str:
        """A date, time or duration; what is none of these is plain text."""
        datatype = find_time_datatype(text)
        return self.plain(text, language) if datatype is None else self._out.literal(text, None, datatype)

    def typed(self, element: Element, content: str | None, datatype: str) -> str | None:
        """A literal with a datatype, of the text that an attribute gives or else of what is in the element."""
        if datatype == XML_LITERAL:
            return self.xml(element)
        if content is None:
            is_html = datatype == _HTML_LITERAL and self._host.html_literal
            content = element.inner_html if is_html else self.text_of(element)
        self._page.room -= len(content)
        return self._out.literal(content, None, datatype)

    def xml(self, element: Element) -> str | None:
        """An XML literal; None for one so long that it would have to be cut."""
        text = self._writer.inner_xml(element)
        if text is None:
            self._out.problem("xml-literal-dropped", "an XML literal was too long, and no part of it would be XML")
            return None
        self._page.room -= len(text)
        return self._out.literal(text, None, XML_LITERAL)


def find_time_datatype(text: str) -> str | None:
    """HTML+RDFa 1.1, 3.1: the XML Schema datatype whose lexical space has this date, time or duration."""
    if len(text) > 100:
        return None
    return next((datatype for pattern, datatype in _TIMES if pattern.fullmatch(text)), None)
