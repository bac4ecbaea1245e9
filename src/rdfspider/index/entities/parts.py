"""Parts: the nodes of a page enter; those that are only parts of others leave, and what the parts of a thing say.

A part is no result of its own: its texts are found with the thing that it belongs to.
"""

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass

from rdfspider.index.entities.main_thing import find_kind_of, is_of_page
from rdfspider.index.entities.nodes import Graph, Node
from rdfspider.vocabulary.class_kinds import H_CARD, ClassKind, is_remark
from rdfspider.vocabulary.labels import ADDRESSES, IMAGES, LABELS
from rdfspider.vocabulary.prefixes import SCHEMA

_MAX_PART_VALUES = 20
"""Values of a part that are kept with the entity it belongs to."""
_MAX_PARTS, _MAX_PAGE_PARTS = 300, 20_000
"""Parts whose values are kept with an entity, and with all entities of a page."""
_MECHANICS = frozenset(
    SCHEMA + name
    for name in (
        "BreadcrumbList SiteNavigationElement WPHeader WPFooter WPSideBar WPAdBlock WebSite SearchAction ReadAction "
        "CommentAction EntryPoint SpeakableSpecification InteractionCounter"
    ).split()
)
"""Parts of a page's layout: their texts are not the thing's."""
_NEED_MORE = frozenset((None, ClassKind.ARTICLE, ClassKind.MEDIA, ClassKind.VAGUE))
"""Kinds of nodes that are only names of links, unless something else is said of them."""
_MAX_CARDS = 3
"""More names without anything else on one page are those of people who comment."""
_POSITION = SCHEMA + "position"
_UPWARD = frozenset(
    SCHEMA + name
    for name in ("isPartOf", "mainEntityOfPage", "itemReviewed", "parentItem", "about", "inLanguage", "url")
)
"""Properties of a part that do not lead to parts of it."""


def find_parts(graph: Graph, keys: Container[str], main: Collection[str], addresses: Container[str]) -> set[str]:
    """The nodes that are only parts of others. Those with `keys` are entities, and those of `main` what the page is about; the
    page itself has these `addresses`."""
    nodes = graph.nodes
    parts = {
        name
        for name, node in nodes.items()
        if name not in main and (name not in keys or _is_part(name, node, graph, addresses))
    }
    cards = [name for name, node in nodes.items() if H_CARD in node.types and name not in parts and _is_bare_card(node)]
    return parts.union(cards) if len(cards) > _MAX_CARDS else parts


def _is_part(name: str, node: Node, graph: Graph, addresses: Container[str]) -> bool:
    """Whether an entity is a part by its class, as a remark about something, or as the mere name of a link; or is the page itself
    under another spelling of its URL."""
    kind = find_kind_of(node)
    if kind in (ClassKind.PART, ClassKind.DOCUMENT):
        return True
    if kind is None and (not node.label or is_of_page(name, addresses)):
        return True
    if kind in _NEED_MORE and not node.links and all(predicate in LABELS for predicate, _ in node.texts):
        return True
    if not node.owners:
        return False
    return _is_remark(node) or (
        kind == ClassKind.AGENT and all(_is_remark(graph.nodes[owner]) for owner in node.owners)
    )


def _is_remark(node: Node) -> bool:
    return any(map(is_remark, node.types))


def _is_bare_card(node: Node) -> bool:
    """Whether a microformat gives only somebody's name, address and picture, as it does for whoever comments on a page."""
    return all(predicate in LABELS or predicate in ADDRESSES for predicate, _ in node.texts) and all(
        predicate in ADDRESSES or predicate in IMAGES for predicate, _ in node.links
    )


@dataclass(slots=True)
class PartWalk:
    """Reads what the parts of things say, within a limit for the whole page."""

    graph: Graph
    parts: Container[str]
    steps: int = _MAX_PAGE_PARTS
    """How many parts may still be read."""

    def read_texts(self, predicate: str, first: str, seen: set[str]) -> Iterator[tuple[str, str]]:
        """The texts of a node and of its own parts, in the order of the page, each with its path: `predicate`, a space, and the
        property that has it. A part without texts has an empty one, and a thing of its own only its label; the path of both is
        `predicate`. What was `seen` with the same thing is not read again."""
        waiting = [first]
        while waiting and len(seen) <= _MAX_PARTS and self.steps > 0:
            name = waiting.pop()
            node = self.graph.nodes.get(name)
            if node is None or name in seen:
                continue
            seen.add(name)
            self.steps -= 1
            if name not in self.parts:
                if name != first and node.label:
                    yield predicate, node.label
                continue
            if not _MECHANICS.isdisjoint(node.types):
                yield predicate, ""
                continue
            stated = [(inner, text) for inner, text in node.texts[:_MAX_PART_VALUES] if inner != _POSITION]
            if not stated and not node.links:
                yield predicate, ""
            for inner, text in stated:
                yield f"{predicate} {inner}", text
            waiting += [end for inner, end in reversed(node.links) if inner not in _UPWARD]
