"""The links of a page that a crawler could follow: target, relation, anchor text, nofollow."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import repeat

from rdfspider.extract.dom import Document, Element
from rdfspider.extract.statements import Problems
from rdfspider.records import Link
from rdfspider.urls import resolve_links

MAX_TEXT_CHARS = 500
"""Anchor text beyond this is somebody's whole page inside a link."""
MAX_TEXTS_CHARS = 8_000_000
"""Anchor text read of one page in all: links that hold each other, as XML allows, would read it again and again."""


# Relations by which a page does not stand for what it links to.
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
# Relations of `link` elements that lead to nothing with data in it: what a page is shown with, hints on connections, addresses
# for programs, and other addresses of the same page. A `link` all of whose relations are of these is none.
_WITHOUT_DATA = frozenset(
    "stylesheet icon shortcut apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon "
    "image_src preload prefetch prerender modulepreload subresource expect manifest dns-prefetch preconnect pingback webmention "
    "search edituri wlwmanifest shortlink openid.server openid.delegate openid2.provider openid2.local_id "
    "micropub authorization_endpoint token_endpoint indieauth-metadata hub https://api.w.org/".split()
)
# What is remembered of relations must not be as long as a page likes.
_MAX_WORD_CHARS = 100
# Alternates that tell how to show a page inside another.
_EMBEDDING = "+oembed"


def read_links(tree: Document, base: str, max_links: int, problems: Problems) -> tuple[Link, ...]:
    """Links in tree order: first those that people click, then those of the head, then frames."""
    # One selector a tag: each is answered from the tag names, several at once by a walk over the whole tree. Pages have
    # hundreds of links, so they are read column by column.
    anchors = tree.select("a[href]") + tree.select("area[href]")
    heads = [element for element in tree.select("link[href][rel]") if _may_have_data(element)]
    frames = tree.select("iframe[src]") + tree.select("frame[src]")
    hrefs = list(map(Element.attr, anchors + heads, repeat("href"))) + list(map(Element.attr, frames, repeat("src")))
    targets = resolve_links(base, {href for href in hrefs if href and href[0] != "#"})
    found = (targets.get(href or "") for href in hrefs)
    links = _read_anchors(anchors, found)
    for element in heads:
        if target := next(found):
            relation = element.attr("rel") or ""
            media_type = (element.attr("type") or "").partition(";")[0].strip().lower()
            is_unfollowed = _is_unfollowed(relation)
            links.append(Link(target, relation, element.attr("title") or "", is_unfollowed, media_type=media_type))
    for element in frames:
        if target := next(found):
            links.append(Link(target, element.tag))
    if len(links) > max_links:
        problems.add("too-many-links", f"{len(links)} links were cut to {max_links}")
        del links[max_links:]
    return tuple(links)


def _may_have_data(element: Element) -> bool:
    return _is_about_data((element.attr("rel") or "")[:_MAX_WORD_CHARS], (element.attr("type") or "")[:_MAX_WORD_CHARS])


@lru_cache(maxsize=1024)
def _is_about_data(relation: str, media_type: str) -> bool:
    relations = relation.lower().split()
    # An alternate stylesheet is a stylesheet.
    is_other = "stylesheet" in relations or _WITHOUT_DATA.issuperset(relations)
    return not is_other and not media_type.lower().endswith(_EMBEDDING)


def _read_anchors(anchors: list[Element], targets: Iterator[str | None]) -> list[Link]:
    """The links of `a` and `area` elements; takes as many targets as there are elements."""
    room = MAX_TEXTS_CHARS
    links: list[Link] = []
    for element, relation, target in zip(anchors, map(Element.attr, anchors, repeat("rel")), targets, strict=False):
        if target is None:
            continue
        text = element.text if room > 0 else ""
        room -= len(text)
        if len(text) > MAX_TEXT_CHARS:
            text = " ".join(text[: 4 * MAX_TEXT_CHARS].split())[:MAX_TEXT_CHARS]
        else:
            text = " ".join(text.split())
        text = text or _other_text(element)
        if relation:
            links.append(Link(target, relation, text, _is_unfollowed(relation)))
        else:
            links.append(Link(target, "", text))
    return links


def _is_unfollowed(relation: str) -> bool:
    return not _UNFOLLOWED.isdisjoint(relation.lower().split())


def _other_text(element: Element) -> str:
    """What a link without text says to those who cannot see its image."""
    image = element.select_one("img[alt]")
    text = (image and image.attr("alt")) or element.attr("alt") or element.attr("aria-label") or element.attr("title")
    return " ".join((text or "").split())[:MAX_TEXT_CHARS]
