"""The literals of RDFa: an element enters, a term leaves, for its text, its markup as XML or HTML, or its date."""

import re

from rdfspider.extract.datatypes import RDFA_TIMES, find_datatype
from rdfspider.extract.dom import XHTML, CData, Comment, Element, Node, Text
from rdfspider.extract.rdfa.evaluation import PageNames
from rdfspider.extract.rdfa.host_languages import HostLanguage
from rdfspider.extract.statements import Statements
from rdfspider.records import Content
from rdfspider.vocabulary.prefixes import RDF

XML_LITERAL = f"<{RDF}XMLLiteral>"
_HTML_LITERAL = f"<{RDF}HTML>"

# The cost of visiting a node in Python, in characters that could be copied in the same time.
_NODE_CHARS = 32
# No date, time or duration is longer.
_MAX_TIME_CHARS = 100

# Namespaces in scope are repeated on each outermost element of a literal; more than these are of no use.
_MAX_NAMESPACES = 256
# Real pages have a few kilobytes of XML literals; nested ones repeat each other and could make gigabytes.
_MAX_PAGE_CHARS = 4 * 1024 * 1024
_FOREIGN = {"svg": "http://www.w3.org/2000/svg", "math": "http://www.w3.org/1998/Math/MathML"}
_NAME = re.compile(r"[^\W\d][\w.\-\u00b7]*(?::[^\W\d][\w.\-\u00b7]*)?")
_NOT_IN_NAMES = re.compile(r"[^\w.\-\u00b7]")
_NOT_IN_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_IN_ATTRIBUTE = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"})


class Literals:
    """Makes the literals of one page, and counts their characters against the page's limit."""

    def __init__(self, content: Content, out: Statements, host_language: HostLanguage, page: PageNames) -> None:
        self._out = out
        self._host_language = host_language
        self._page = page
        self._cdata = not host_language.html and "<![CDATA[" in content.text
        self._writer = _XmlWriter(host_language.html, out.config.max_literal_chars)

    def text_of(self, element: Element) -> str:
        """DOM's textContent, including CDATA sections, which the tree's own property leaves out."""
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
        """HTML+RDFa 1.1, 3.1: a date, time or duration with its datatype; any other text is plain."""
        datatype = find_datatype(text, RDFA_TIMES, _MAX_TIME_CHARS)
        return self.plain(text, language) if datatype is None else self._out.literal(text, None, datatype)

    def typed(self, element: Element, content: str | None, datatype: str) -> str | None:
        """A literal with a datatype: of an attribute's text, or else of the element's content."""
        if datatype == XML_LITERAL:
            return self.xml(element)
        if content is None:
            is_html = datatype == _HTML_LITERAL and self._host_language.html_literal
            content = element.inner_html if is_html else self.text_of(element)
        self._page.room -= len(content)
        return self._out.literal(content, None, datatype)

    def xml(self, element: Element) -> str | None:
        """An XML literal; None for one that is too long: a part of it would not be XML."""
        text = self._writer.inner_xml(element)
        if text is None:
            self._out.problem("xml-literal-dropped", "an XML literal was too long, and no part of it would be XML")
            return None
        self._page.room -= len(text)
        return self._out.literal(text, None, XML_LITERAL)


class _XmlWriter:
    """Writes the content of a page's elements as XML; caches the namespaces in scope, so that deep trees stay cheap."""

    def __init__(self, html: bool, max_chars: int) -> None:
        self._html = html
        self._max_chars = max_chars
        self._room = _MAX_PAGE_CHARS
        self._in_scope: dict[Node, dict[str, str]] = {}

    def inner_xml(self, element: Element) -> str | None:
        """The content of an element as canonical XML; None where it, or all XML of the page, exceeds the limit."""
        in_scope = self._namespaces(element)
        parts: list[str] = []
        size = 0
        todo: list[tuple[Node | str, dict[str, str] | None]] = [(child, None) for child in reversed(element.children)]
        while todo:
            node, rendered = todo.pop()
            if isinstance(node, Element):
                own = self._declarations(node)
                if rendered is None:
                    new = {**in_scope, **own}
                else:
                    new = {prefix: uri for prefix, uri in own.items() if rendered.get(prefix, "") != uri}
                rendered = {**rendered, **new} if rendered and new else rendered or new
                tag, start = _start_tag(node, new, rendered)
                parts.append(start)
                todo.append((f"</{tag}>", None))
                todo.extend((child, rendered) for child in reversed(node.children))
            else:
                parts.append(node if isinstance(node, str) else _leaf(node))
            size += len(parts[-1])
            if size > self._max_chars or size > self._room:
                self._room -= size
                return None
        self._room -= size
        return _NOT_IN_XML.sub("", "".join(parts))

    def _namespaces(self, element: Element) -> dict[str, str]:
        """The namespaces in scope at an element, by prefix."""
        chain: list[Element] = []
        node: Node | None = element
        while isinstance(node, Element) and node not in self._in_scope:
            chain.append(node)
            node = node.parent
        found = self._in_scope.get(node, {}) if node is not None else {}
        for ancestor in reversed(chain):
            own = self._declarations(ancestor)
            if own and len(found) < _MAX_NAMESPACES:
                found = {**found, **own}
            self._in_scope[ancestor] = found
        return found

    def _declarations(self, element: Element) -> dict[str, str]:
        own = {
            name[6:]: value
            for name, value in element.attrs.items()
            if name.startswith("xmlns") and isinstance(value, str) and (len(name) == 5 or name[5] == ":")
        }
        if self._html:
            own[""] = _FOREIGN.get(element.namespace.value, XHTML)
        return own


def _start_tag(element: Element, new: dict[str, str], in_scope: dict[str, str]) -> tuple[str, str]:
    """An element's name, and its start tag with the new namespaces and then its attributes, in canonical order."""
    tag = element.tag
    if not _NAME.fullmatch(tag):
        tag = "_" + _NOT_IN_NAMES.sub("_", tag)
    parts = [f"<{tag}"]
    for prefix, uri in sorted(new.items()):
        parts.append(f' xmlns{":" if prefix else ""}{prefix}="{uri.translate(_IN_ATTRIBUTE)}"')
    attributes: list[tuple[str, str, str]] = []
    for name, given in element.attrs.items():
        prefix, _, local = name.rpartition(":")
        if name != "xmlns" and prefix != "xmlns" and _NAME.fullmatch(name):
            value = " ".join(given) if isinstance(given, list) else given or ""
            namespace = in_scope.get(prefix, prefix) if prefix else ""
            attributes.append((namespace, local, f' {name}="{value.translate(_IN_ATTRIBUTE)}"'))
    parts.extend(text for _, _, text in sorted(attributes))
    return tag, "".join(parts) + ">"


def _leaf(node: Node) -> str:
    if isinstance(node, (Text, CData)):
        return node.data.translate(_IN_TEXT)
    if isinstance(node, Comment):
        return f"<!--{node.data}-->"
    target = getattr(node, "target", None)
    return f"<?{target} {getattr(node, 'data', '')}?>" if target else ""
