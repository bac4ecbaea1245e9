"""The nodes of the second parser's trees, with the names that turbohtml's nodes have.

Nodes are in one list, in document order, and each knows where its descendants end: what is inside a node is a slice of the list.
Nothing recurses, and a tree is not changed after it was built, except for the values of attributes.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import Enum

from rdfspider.extract.second_parser.markup import Html, html_tags, html_text, xml_comment, xml_tags, xml_text
from rdfspider.extract.second_parser.selectors import compile_selector

_UNSEEN = frozenset("datalist head noembed noframes script style template title".split())
_EDGES = {
    **dict.fromkeys(
        "address article aside blockquote body caption center details dialog dir div dl fieldset figcaption figure footer form "
        "h1 h2 h3 h4 h5 h6 header hgroup hr html legend main menu nav ol p pre search section summary table ul".split(),
        "\n\n",
    ),
    **dict.fromkeys("br dd dt li optgroup option tbody tfoot thead tr".split(), "\n"),
    **dict.fromkeys(("td", "th"), " "),
}
_BLANK_LINES = re.compile("\n\n+")
# What is around the main text on most pages.
_AROUND = frozenset({"aside", "footer", "form", "header", "menu", "nav"})
_NAMESPACES = {"svg": "http://www.w3.org/2000/svg", "math": "http://www.w3.org/1998/Math/MathML"}
_XLINK = "http://www.w3.org/1999/xlink"


class Namespace(Enum):
    """The namespaces of HTML's parsing rules; all elements of XML count as HTML, as with turbohtml."""

    HTML = "html"
    SVG = "svg"
    MATHML = "math"


class Node:
    """A node of a tree; appended to the tree's list, its descendants follow until it is closed."""

    __slots__ = ("_end", "_start", "nodes", "parent")

    def __init__(self, parent: Node | None, nodes: list[Node]) -> None:
        self.parent = parent
        self.nodes = nodes
        self._start = len(nodes)
        self._end = self._start + 1
        nodes.append(self)

    def close(self) -> None:
        """Say that all descendants are in the list."""
        self._end = len(self.nodes)

    @property
    def descendants(self) -> list[Node]:
        """All nodes inside, in document order."""
        return self.nodes[self._start + 1 : self._end]

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes directly inside."""
        found, place = [], self._start + 1
        while place < self._end:
            child = self.nodes[place]
            found.append(child)
            place = child._end
        return tuple(found)

    @property
    def previous_sibling(self) -> Node | None:
        """The node before this one with the same parent."""
        siblings = self.parent.children if self.parent is not None else (self,)
        place = siblings.index(self)
        return siblings[place - 1] if place else None

    @property
    def text(self) -> str:
        """The text inside, without CDATA sections."""
        return "".join([node.data for node in self.descendants if isinstance(node, Text)])

    @property
    def inner_html(self) -> str:
        """The markup inside, by HTML's rules of serialisation."""
        return _write(self.children, as_xml=False)

    def select(self, selector: str) -> list[Element]:
        """The elements inside that match a selector, in document order."""
        matches = compile_selector(selector)
        return [node for node in self.descendants if isinstance(node, Element) and matches(node)]

    def select_one(self, selector: str) -> Element | None:
        """The first of them."""
        matches = compile_selector(selector)
        return next((node for node in self.descendants if isinstance(node, Element) and matches(node)), None)

    def to_text(self) -> str:
        """The text inside as a browser shows it, with blank lines between blocks."""
        return _lay_out(self)

    def main_text(self) -> str:
        """The text without navigation and the like; this parser does not score blocks."""
        return _lay_out(self, _AROUND)


class Element(Node):
    """An element; in XML, names keep their prefixes."""

    __slots__ = ("attrs", "namespace", "tag")

    def __init__(
        self, parent: Node, nodes: list[Node], tag: str, attributes: dict[str, str], namespace: Namespace
    ) -> None:
        super().__init__(parent, nodes)
        self.tag = tag
        self.attrs = attributes
        self.namespace = namespace

    def attr(self, name: str) -> str | None:
        """The value of an attribute; None where there is none."""
        return self.attrs.get(name)

    def has_class(self, name: str) -> bool:
        """Whether the element is of a class."""
        return name in self.attrs.get("class", "").split()

    def matches(self, selector: str) -> bool:
        """Whether the element matches a selector."""
        return compile_selector(selector)(self)

    def closest(self, selector: str) -> Element | None:
        """The nearest element that matches, from this one upwards."""
        matches = compile_selector(selector)
        node: Node | None = self
        while isinstance(node, Element) and not matches(node):
            node = node.parent
        return node if isinstance(node, Element) else None

    def serialize(self, _form: Html) -> str:
        """The element as XML."""
        return _write((self,), as_xml=True)


class Document(Node):
    """The root of a tree."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, [])

    @property
    def root(self) -> Element | None:
        """The root element."""
        return next((child for child in self.children if isinstance(child, Element)), None)


class Leaf(Node):
    """A node with characters in place of nodes."""

    __slots__ = ("data",)

    def __init__(self, parent: Node, nodes: list[Node], data: str) -> None:
        super().__init__(parent, nodes)
        self.data = data


class Text(Leaf):
    """Text."""

    __slots__ = ()


class CData(Leaf):
    """A CDATA section of XML."""

    __slots__ = ()


class Comment(Leaf):
    """A comment."""

    __slots__ = ()


class ProcessingInstruction(Leaf):
    """A processing instruction of XML."""

    __slots__ = ("target",)

    def __init__(self, parent: Node, nodes: list[Node], target: str, data: str) -> None:
        super().__init__(parent, nodes, data)
        self.target = target


class Doctype(Node):
    """A document type."""

    __slots__ = ("public_id",)

    def __init__(self, parent: Node, nodes: list[Node], public_id: str) -> None:
        super().__init__(parent, nodes)
        self.public_id = public_id


def _write(nodes: Collection[Node], as_xml: bool) -> str:
    """The nodes as markup."""
    parts: list[str] = []
    todo: list[Node | str] = list(reversed([*nodes]))
    while todo:
        node = todo.pop()
        if isinstance(node, Element):
            children = node.children
            if as_xml:
                start, end = xml_tags(node.tag, {**_declarations(node), **node.attrs}, not children)
            else:
                start, end = html_tags(node.tag, node.attrs, node.namespace is not Namespace.HTML)
            parts.append(start)
            todo.append(end)
            todo.extend(reversed(children))
        else:
            parts.append(node if isinstance(node, str) else (_write_xml if as_xml else _write_html)(node))
    return "".join(parts)


def _declarations(element: Element) -> dict[str, str]:
    """The namespaces of an outermost element of SVG or MathML, or of HTML inside these, which HTML has without a declaration."""
    kind, parent = element.namespace.value, element.parent
    if (parent.namespace if isinstance(parent, Element) else Namespace.HTML) is element.namespace:
        return {}
    if kind not in _NAMESPACES:
        return {"xmlns": ""}
    inside = (node for node in (element, *element.descendants) if isinstance(node, Element))
    is_linked = any(name.startswith("xlink:") for node in inside for name in node.attrs)
    return {"xmlns": _NAMESPACES[kind], **({"xmlns:xlink": _XLINK} if is_linked else {})}


def _write_html(node: Node) -> str:
    match node:
        case Text():
            return html_text(node.data, node.parent.tag if isinstance(node.parent, Element) else "")
        case CData():
            return f"<![CDATA[{node.data}]]>"
        case Comment():
            return f"<!--{node.data}-->"
        case ProcessingInstruction():
            return f"<?{node.target} {node.data}>"
    return ""


def _write_xml(node: Node) -> str:
    match node:
        case Text() | CData():
            return xml_text(node.data)
        case Comment():
            return xml_comment(node.data)
        case ProcessingInstruction():
            return f"<?{node.target} {node.data}?>"
    return ""


def _lay_out(top: Node, left_out: Collection[str] = ()) -> str:
    """The text inside a node, without what is never shown and without the elements named, a paragraph for each block."""
    parts: list[str] = []
    todo: list[Node | str] = list(reversed(top.children))
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            parts.append(node)
        elif isinstance(node, Text):
            parts.append(node.data.replace("\n", " "))
        elif isinstance(node, Element) and node.tag not in _UNSEEN and node.tag not in left_out:
            edge = _EDGES.get(node.tag, "")
            parts.append(edge)
            todo.append(edge)
            todo.extend(reversed(node.children))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
