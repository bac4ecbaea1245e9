"""An archived page enters, sanitized HTML leaves, which `/copy` shows to people.

None of the page's own markup is passed on. Its tree is walked, and elements and attributes on a short allowlist are written
anew; of the rest only the text stays. So the output never contains a script, style, frame, form, image or URL of another
server, and a browser that parses it finds nothing else in it. Content that is not HTML becomes escaped text.
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
"""The longest body; the rest of a longer one is not shown."""
MAX_CHARS = 8 << 20
"""The longest output: escapes and URLs make it longer than the input."""

_KEPT = frozenset(
    "a abbr address article aside b bdi bdo big blockquote caption center cite code col colgroup data dd del details dfn div dl "
    "dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup i ins kbd li main mark menu nav ol p pre q rp rt ruby s samp "
    "section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var".split()
)
_VOID = frozenset({"br", "hr", "wbr"})
# Their text is not part of the page, or is meaningless without the parts that are removed.
_DROPPED = frozenset(
    "applet audio base canvas datalist embed frame frameset head iframe input link meta noembed noframes object param picture "
    "script select source style svg math template title track video".split()
)
# Without a space, text in these would join the text beside it.
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
# Ids in the copy must not collide with those of the surrounding page.
_ID_START = "copy-"
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Copy:
    """What can be shown of an archived page."""

    media_type: str
    is_refused: bool = False
    """Whether the page or its server forbids showing a copy; then the copy is empty."""
    is_binary: bool = False
    """Whether the content is not text; then the copy is empty."""
    html: str = ""
    """Sanitized."""
    source: str = ""
    """The decoded text as it was sent: untrusted."""
    language: str = ""
    direction: str = ""
    is_cut: bool = False


def make_copy(capture: Capture) -> Copy:
    """Make the copy of a page. This may take long or crash, so it runs in a helper process."""
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
    """Write the sanitized HTML of a tree; also return whether it is complete."""
    top = tree.select_one("body") or tree.root
    if top is None:
        return "", True
    anchors = _rewrite_anchors(tree, url)
    parts: list[str] = []
    room = max_chars
    # A stack of open elements, each with its remaining children and its end tag. There is no recursion, because pages nest
    # arbitrarily deep.
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
    """What to write before and after a node's children, and whether to write these at all."""
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
        # The content of `plaintext`, `xmp` and similar elements is text in the tree, and is escaped as text.
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
    """The links of a page, by `href`, as URLs of this site; links that lead to no web page are left out."""
    base = tree.select_one("base[href]")
    href = ((base.attr("href") or "") if base else "").strip()
    start = resolve_links(url, (href,))[href] or url if href else url
    hrefs = {anchor.attr("href") or "" for anchor in tree.select("a[href]")}
    targets = resolve_links(start, {href for href in hrefs if href and href[0] != "#"})
    return {href: make_address("/page", url=target) for href, target in targets.items() if target}


def _match(pattern: re.Pattern[str], value: str | None) -> str:
    """The value if it is allowed, otherwise empty; surrogates cannot be encoded."""
    return value if value and pattern.fullmatch(value) and not _UNSEEN.search(value) else ""
