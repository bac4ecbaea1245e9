"""HTML becomes a tree: text enters, the tree that a browser without scripts would build leaves; justhtml parses."""

from collections.abc import Iterator
from typing import Any

from justhtml import JustHTML
from justhtml.dom import Comment as TheirComment
from justhtml.dom import Element as TheirElement
from justhtml.dom import Text as TheirText

from rdfspider.extract.second_parser.nodes import Comment, Doctype, Document, Element, Namespace, Node, Text

# Walks towards the root take time by the depth: what is deeper follows its parent instead of being inside it, as with turbohtml.
_MAX_DEPTH = 513
_NAMESPACES = {"svg": Namespace.SVG, "math": Namespace.MATHML}


def parse(text: str) -> Document:
    """The tree of a page, without `template` elements, which are not part of it."""
    document = Document()
    theirs = JustHTML(text, sanitize=False, scripting_enabled=False).root
    todo: list[tuple[Node, Iterator[Any]]] = [(document, iter(theirs.children or ()))]
    while todo:
        parent, children = todo[-1]
        child = next(children, None)
        if child is None:
            todo.pop()
            parent.close()
            continue
        node = _add_node(parent, child)
        if node is not None and child.children:
            todo.append((node if len(todo) < _MAX_DEPTH else parent, iter(child.children)))
    return document


def _add_node(parent: Node, theirs: Any) -> Element | None:
    """Add one of their nodes to the tree; returns it where it may have children."""
    nodes = parent.nodes
    if isinstance(theirs, TheirText):
        Text(parent, nodes, theirs.data or "")
    elif isinstance(theirs, TheirComment):
        Comment(parent, nodes, str(theirs.data or ""))
    elif theirs.name == "!doctype":
        Doctype(parent, nodes, getattr(theirs.data, "public_id", None) or "")
    elif isinstance(theirs, TheirElement) and theirs.name != "template":
        attributes = {name: value or "" for name, value in (theirs.attrs or {}).items()}
        namespace = _NAMESPACES.get(theirs.namespace or "", Namespace.HTML)
        return Element(parent, nodes, theirs.name, attributes, namespace)
    return None
