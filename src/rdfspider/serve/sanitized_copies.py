"""An archived page enters, sanitized HTML leaves: for `/copy`, which shows it to people.

Nothing of the page's own markup is passed on. Its tree is walked, and what is on a short list of elements and attributes is
written anew; of the rest, words stay and everything else goes. So whatever a page holds, what leaves has no script, style, frame,
form, image or address of another server, and a browser that parses it again finds nothing else in it. What is no HTML leaves as
escaped text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import escape

from rdfspider.detect.content import detect_content
from rdfspider.extract.document import read_metadata
from rdfspider.extract.dom import Document, Element, Node, Text, parse_html
from rdfspider.extract.robots_directives import read_directives
from rdfspider.records import Capture, ContentKind
from rdfspider.serve.rendering import make_address
from rdfspider.urls import resolve_links

MAX_BYTES = 5 << 20
"""Of a body; the rest of a longer one is not shown."""
MAX_CHARS = 8 << 20
"""Of what is written: escapes and addresses make it longer."""

_KEPT = frozenset(
    "a abbr address article aside b bdi bdo big blockquote caption center cite code col colgroup data dd del details dfn div dl "
    "dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup i ins kbd li main mark menu nav ol p pre q rp rt ruby s samp "
    "section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var".split()
)
_VOID = frozenset({"br", "hr", "wbr"})
# Their words are no words of the page, or none without what is left out.
_DROPPED = frozenset(
    "applet audio base canvas datalist embed frame frameset head iframe input link meta noembed noframes object param picture "
    "script select source style svg math template title track video".split()
)
# Words in these would run into those beside them.
_APART = frozenset({"button", "label", "legend", "option", "textarea", "form", "fieldset"})
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,6}")
_DIRECTION = re.compile(r"ltr|rtl|auto", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,4}")
_SCOPE = re.compile(r"(?:row|col)(?:group)?", re.IGNORECASE)
_PLAIN = re.compile(r"[^\x00-\x1f\x7f]{1,300}")
_ID = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}")
_GLOBAL_ATTRIBUTES: Mapping[str, re.Pattern[str]] = {"lang": _LANGUAGE, "dir": _DIRECTION, "title": _PLAIN}
_OWN_ATTRIBUTES: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "td": {"colspan": _NUMBER, "rowspan": _NUMBER},
    "th": {"colspan": _NUMBER, "rowspan": _NUMBER, "scope": _SCOPE},
    "ol": {"start": _NUMBER},
    "li": {"value": _NUMBER},
    "col": {"span": _NUMBER},
    "colgroup": {"span": _NUMBER},
    "time": {"datetime": _PLAIN},
}
# Names within the copy must not be those of what stands around it.
_ID_START = "copy-"
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Copy:
    """What can be shown of an archived page."""

    media_type: str
    is_refused: bool = False
    """Whether the page, or its server, asks that no copy be shown: then there is none here."""
    is_binary: bool = False
    """Whether it is no text: then there is none here."""
    html: str = ""
    """Harmless."""
    source: str = ""
    """The text that was sent, decoded, as it is: hostile."""
    language: str = ""
    direction: str = ""
    is_cut: bool = False


def make_copy(capture: Capture) -> Copy:
    """The copy of a page. It may take long, or die: it is called in a helper process."""
    page = capture.page
    content = detect_content(page, MAX_BYTES)
    in_header = read_directives(
        (value for name, value in capture.headers if name.lower() == "x-robots-tag"), may_name=True
    )
    if in_header.noarchive or in_header.noindex:
        return Copy(content.media_type, is_refused=True)
    if content.kind == ContentKind.BINARY:
        return Copy(content.media_type, is_binary=True)
    is_cut = len(page.body) > MAX_BYTES
    if content.kind != ContentKind.HTML:
        text = _UNSEEN.sub("", content.text)
        return Copy(content.media_type, html=f"<pre>{escape(text)}</pre>", source=content.text, is_cut=is_cut)
    tree = parse_html(content.text)
    directives = read_metadata(tree, page.url).robots
    if directives.noarchive or directives.noindex:
        return Copy(content.media_type, is_refused=True)
    drawn, is_whole = draw_tree(tree, page.url)
    root = tree.root
    return Copy(
        content.media_type,
        html=drawn,
        source=content.text,
        language=_match(_LANGUAGE, root.attr("lang")) if root is not None else "",
        direction=_match(_DIRECTION, root.attr("dir")) if root is not None else "",
        is_cut=is_cut or not is_whole,
    )


def draw_tree(tree: Document, url: str, max_chars: int = MAX_CHARS) -> tuple[str, bool]:
    """The sanitized HTML of a tree, and whether it is all of it."""
    top = tree.select_one("body") or tree.root
    if top is None:
        return "", True
    anchors = _rewrite_anchors(tree, url)
    parts: list[str] = []
    room = max_chars
    # The elements that are being written, each with those of its children that are still to come, and how it ends. No recursion:
    # pages nest as deep as they like.
    open_elements: list[tuple[Iterator[Node], str]] = [(iter(top.children), "")]
    while open_elements:
        children, end = open_elements[-1]
        node = next(children, None)
        if node is None or room <= 0:
            open_elements.pop()
            parts.append(end)
            continue
        start, end, enters = _draw_node(node, anchors)
        parts.append(start)
        room -= len(start) + len(end)
        if enters:
            open_elements.append((iter(node.children), end))
    return "".join(parts), room > 0


def _draw_node(node: Node, anchors: Mapping[str, str]) -> tuple[str, str, bool]:
    """What stands before its children and after them, and whether they are written at all."""
    if isinstance(node, Text):
        return str(escape(_UNSEEN.sub("", node.data))), "", False
    if not isinstance(node, Element):
        return "", "", False
    tag = node.tag
    if node.namespace.name != "HTML" or tag in _DROPPED:
        return "", "", False
    if tag == "img":
        words = " ".join((node.attr("alt") or "")[:300].split())
        return (f"<i>[{escape(_UNSEEN.sub('', words))}]</i>" if words else ""), "", False
    if tag in _VOID:
        return f"<{tag}>", "", False
    if tag not in _KEPT:
        # A line of `plaintext`, `xmp` and the like is text of the tree, and is escaped as such.
        return (" ", " ", True) if tag in _APART else ("", "", True)
    return f"<{tag}{''.join(_draw_attributes(node, anchors))}>", f"</{tag}>", True


def _draw_attributes(element: Element, anchors: Mapping[str, str]) -> Iterator[str]:
    tag = element.tag
    for name, pattern in (*_GLOBAL_ATTRIBUTES.items(), *_OWN_ATTRIBUTES.get(tag, {}).items()):
        if value := _match(pattern, element.attr(name)):
            yield f' {name}="{escape(value)}"'
    if tag == "details":
        yield " open"
    name = _match(_ID, element.attr("id") or (element.attr("name") if tag == "a" else None))
    if name:
        yield f' id="{_ID_START}{escape(name)}"'
    href = (element.attr("href") or "") if tag == "a" else ""
    if href[:1] == "#":
        if target := _match(_ID, href[1:]):
            yield f' href="#{_ID_START}{escape(target)}"'
    elif href in anchors:
        yield f' href="{escape(anchors[href])}" rel="noopener nofollow"'


def _rewrite_anchors(tree: Document, url: str) -> dict[str, str]:
    """The links of a page, by what is written there, as addresses of this site; without what leads to no page of the web."""
    base = tree.select_one("base[href]")
    href = ((base.attr("href") or "") if base else "").strip()
    start = resolve_links(url, (href,))[href] or url if href else url
    hrefs = {anchor.attr("href") or "" for anchor in tree.select("a[href]")}
    targets = resolve_links(start, {href for href in hrefs if href and href[0] != "#"})
    return {href: make_address("/page", url=target) for href, target in targets.items() if target}


def _match(pattern: re.Pattern[str], value: str | None) -> str:
    """The value, where it is one that may pass; surrogates cannot be sent."""
    return value if value and pattern.fullmatch(value) and not _UNSEEN.search(value) else ""
