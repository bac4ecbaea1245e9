"""A page as a document: its tree enters; title, language, canonical address, robots directives, text and links leave.

On request, the same and more leaves as RDF (Dublin Core, FOAF, RDFS), under the syntax `page`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple, cast

from rdfspider.extract.dom import Document, Element
from rdfspider.extract.robots_directives import NAME, read_directives
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Extraction, Link, Robots
from rdfspider.urls import resolve_links
from rdfspider.vocabulary.prefixes import DCTERMS, FOAF, RDFS
from rdfspider.vocabulary.terms import RDF_TYPE_TERM
from rdfspider.ways import is_unfollowed

_LABEL = f"<{RDFS}label>"
_SEE_ALSO = f"<{RDFS}seeAlso>"
MAX_TITLE_CHARS = 2_000
MAX_ADDRESSES = 1_000

_EMAIL = re.compile(r"(?<![\w.+\-])[\w.+\-]{1,64}@(?:[A-Za-z0-9\-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w\-])")

MIN_MAIN_CHARS = 200
"""Shorter text is no main text but a stub, a listing or a front page; of these, all text is taken."""

MAX_TEXT_CHARS = 500
"""Characters kept of an anchor text; a longer one is a whole section inside a link."""

MAX_TEXTS_CHARS = 8_000_000
"""Characters of anchor text read of one page in all: links inside links, as XML allows, would repeat it."""

# Relations of `link` elements that never lead to data: resources for display, hints about connections, addresses for
# programs, names of vocabularies for class names (`http://gmpg.org/xfn/11`), and other addresses of the same page. A `link`
# element with no other relation is ignored.
_WITHOUT_DATA = frozenset(
    "stylesheet icon shortcut apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon "
    "image_src preload prefetch prerender modulepreload subresource expect manifest dns-prefetch preconnect pingback webmention "
    "search edituri wlwmanifest profile shortlink openid.server openid.delegate openid2.provider openid2.local_id "
    "micropub authorization_endpoint token_endpoint indieauth-metadata hub https://api.w.org/".split()
)
# Most `link` elements are one of these; the parser leaves them out far faster than their attributes are read.
_USUAL = ("stylesheet", "preload", "icon", "shortcut icon", "apple-touch-icon", "dns-prefetch", "preconnect")
_HEADS = "link[href][rel]:not({})".format(",".join(f'[rel="{relation}"]' for relation in _USUAL))
# The cache of relations must not hold words of any length.
_MAX_WORD_CHARS = 100
# Media types of alternates that describe how to embed a page in another.
_EMBEDDING = "+oembed"


class DocumentMetadata(NamedTuple):
    """What the head of a page declares; None where it declares nothing. The fields are those of Extraction."""

    title: str | None
    language: str | None
    canonical: str | None
    robots: Robots


def read_metadata(tree: Document, base: str) -> DocumentMetadata:
    """The metadata of a tree of HTML or XML."""
    title = tree.select_one("head > title") or tree.select_one("title:not(svg title)")
    return DocumentMetadata(
        " ".join(title.text[: 2 * MAX_TITLE_CHARS].split())[:MAX_TITLE_CHARS] or None if title else None,
        _read_language(tree),
        _read_canonical(tree, base),
        _read_robots(tree),
    )


def describe_page(tree: Document, found: Extraction, out: Statements) -> None:
    """Add statements about the page: title, description, language, e-mail addresses, images and links."""
    page, tag = out.page, found.language
    out.add(page, RDF_TYPE_TERM, f"<{FOAF}Document>")
    if found.title:
        out.add(page, f"<{DCTERMS}title>", out.literal(found.title, tag))
    if found.language:
        out.add(page, f"<{DCTERMS}language>", out.literal(found.language))
    for name, predicate in (("description", "description"), ("author", "creator"), ("keywords", "subject")):
        for meta in tree.select(f'meta[name="{name}" i][content]'):
            text = " ".join((meta.attr("content") or "").split())
            if text:
                out.add(page, f"<{DCTERMS}{predicate}>", out.literal(text, tag))
    _describe_addresses(tree, found.text, out)
    _describe_images(tree, out)
    for link in found.links:
        _describe_link(link, out)


def read_text(tree: Document) -> str:
    """The main text without navigation, or else the whole text; a line is a block of the page.

    One single `article` or `main` holds it; on other pages the parser scores every block, which takes longer.
    """
    for tag in ("article", "main"):
        elements = tree.select(tag)
        if len(elements) == 1 and len(text := elements[0].to_text()) >= MIN_MAIN_CHARS:
            return text
    text = tree.main_text()
    return text if len(text) >= MIN_MAIN_CHARS else tree.to_text()


def read_links(tree: Document, base: str, max_links: int, problems: Problems) -> tuple[Link, ...]:
    """The links of a page: first `a` and `area` elements, then `link` elements, then frames; each in tree order."""
    # One selector per tag: the parser answers it from an index of tag names, and several at once by a walk over the whole tree.
    # Pages have hundreds of links, so they are read column by column.
    anchors = tree.select("a[href]") + tree.select("area[href]")
    heads = [element for element in tree.select(_HEADS) if _may_have_data(element)]
    frames = tree.select("iframe[src]") + tree.select("frame[src]")
    hrefs = list(map(Element.attr, anchors + heads, repeat("href"))) + list(map(Element.attr, frames, repeat("src")))
    targets = resolve_links(base, [href for href in set(hrefs) if href and href[0] != "#"])
    found = map(targets.get, cast(list[str], hrefs))
    # Few links have a relation, and looking for an attribute takes longer than finding those that have it.
    related = tree.select("a[rel]") + tree.select("area[rel]")
    links = _read_anchors(anchors, dict(zip(related, map(Element.attr, related, repeat("rel")), strict=True)), found)
    for element in heads:
        if target := next(found):
            relation = element.attr("rel") or ""
            media_type = (element.attr("type") or "").partition(";")[0].strip().lower()
            title = element.attr("title") or ""
            links.append(
                Link(target, relation, title, is_unfollowed(relation), media_type=media_type, is_title=bool(title))
            )
    for element in frames:
        if target := next(found):
            links.append(Link(target, element.tag))
    if len(links) > max_links:
        problems.add("too-many-links", f"{len(links)} links were cut to {max_links}")
        del links[max_links:]
    return tuple(links)


def _read_canonical(tree: Document, base: str) -> str | None:
    link = tree.select_one('link[rel~="canonical" i][href]')
    href = (link.attr("href") or "") if link else ""
    return resolve_links(base, (href,))[href] if href else None


def _read_robots(tree: Document) -> Robots:
    elements = tree.select('meta[name="robots" i]') + tree.select(f'meta[name="{NAME}" i]')
    return read_directives(element.attr("content") or "" for element in elements) if elements else Robots()


def _read_language(tree: Document) -> str | None:
    root = tree.root
    language = root.attr("lang") or root.attr("xml:lang") if root is not None else None
    if not language:
        meta = tree.select_one('meta[http-equiv="content-language" i]')
        language = (meta.attr("content") or "").partition(",")[0] if meta else None
    return (language or "").strip() or None


def _describe_addresses(tree: Document, text: str, out: Statements) -> None:
    addresses = [
        (link.attr("href") or "")[7:].partition("?")[0].strip() for link in tree.select('a[href^="mailto:" i]')
    ]
    addresses += _EMAIL.findall(text)
    for address in list(dict.fromkeys(addresses))[:MAX_ADDRESSES]:
        if _EMAIL.fullmatch(address):
            term = out.iri(f"mailto:{address}")
            if term:
                out.add(out.page, f"<{FOAF}mbox>", term)


def _describe_images(tree: Document, out: Statements) -> None:
    for image in tree.select("img[src]"):
        term = None if (image.attr("src") or "data:").startswith("data:") else out.resolve(image.attr("src") or "")
        if term:
            out.add(out.page, f"<{FOAF}depiction>", term)
            if alternative := " ".join((image.attr("alt") or "").split()):
                out.add(term, _LABEL, out.literal(alternative))


def _describe_link(link: Link, out: Statements) -> None:
    term = out.iri(link.target)
    if term is None:
        return
    out.add(out.page, _SEE_ALSO if link.relation.lower() == "alternate" else f"<{DCTERMS}references>", term)
    if link.text:
        out.add(term, _LABEL, out.literal(link.text))


def _may_have_data(element: Element) -> bool:
    return _is_about_data((element.attr("rel") or "")[:_MAX_WORD_CHARS], (element.attr("type") or "")[:_MAX_WORD_CHARS])


@lru_cache(maxsize=1024)
def _is_about_data(relation: str, media_type: str) -> bool:
    relations = relation.lower().split()
    # An alternate stylesheet is a stylesheet.
    is_other = "stylesheet" in relations or _WITHOUT_DATA.issuperset(relations)
    return not is_other and not media_type.lower().endswith(_EMBEDDING)


def _read_anchors(
    anchors: list[Element], relations: Mapping[Element, str | None], targets: Iterator[str | None]
) -> list[Link]:
    """The links of `a` and `area` elements; takes as many targets as there are elements."""
    room = MAX_TEXTS_CHARS
    links: list[Link] = []
    for element, relation, target in zip(anchors, map(relations.get, anchors), targets, strict=False):
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
            links.append(Link(target, relation, text, is_unfollowed(relation)))
        else:
            links.append(Link(target, "", text))
    return links


def _other_text(element: Element) -> str:
    """The alternative text of a link whose content is an image."""
    image = element.select_one("img[alt]")
    text = (image and image.attr("alt")) or element.attr("alt") or element.attr("aria-label") or element.attr("title")
    return " ".join((text or "").split())[:MAX_TEXT_CHARS]
