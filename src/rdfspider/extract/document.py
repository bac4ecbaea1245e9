"""What a page says of itself as a document: title, language, canonical address, wishes to robots, and, on request, all
of this and more as RDF (Dublin Core, FOAF, RDFS).
"""

import re
from typing import NamedTuple

from rdfspider.extract.dom import Document, Element
from rdfspider.extract.robots_directives import NAME, read_wishes
from rdfspider.extract.statements import Statements
from rdfspider.records import Extraction, Link, Robots
from rdfspider.urls import resolve_links
from rdfspider.vocabulary.ntriples import RDF_TYPE

DCTERMS = "http://purl.org/dc/terms/"
FOAF = "http://xmlns.com/foaf/0.1/"
RDFS_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
RDFS_SEE_ALSO = "<http://www.w3.org/2000/01/rdf-schema#seeAlso>"
MAX_TITLE_CHARS = 2_000
MAX_ADDRESSES = 1_000

_EMAIL = re.compile(r"(?<![\w.+\-])[\w.+\-]{1,64}@(?:[A-Za-z0-9\-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w\-])")


class DocumentFacts(NamedTuple):
    """What the head of a page tells; None and "" where it is silent."""

    title: str | None
    language: str | None
    canonical: str | None
    robots: Robots


def read_facts(tree: Document, base: str) -> DocumentFacts:
    """The facts of a page of HTML or of XML, where it has them."""
    title = tree.select_one("head > title") or tree.select_one("title:not(svg title)")
    return DocumentFacts(
        " ".join(title.text[: 2 * MAX_TITLE_CHARS].split())[:MAX_TITLE_CHARS] or None if title else None,
        _read_language(tree),
        _read_canonical(tree, base),
        _read_robots(tree),
    )


def _read_canonical(tree: Document, base: str) -> str | None:
    link = tree.select_one('link[rel~="canonical" i][href]')
    href = (link.attr("href") or "") if link else ""
    return resolve_links(base, (href,))[href] if href else None


def _read_robots(tree: Document) -> Robots:
    elements = tree.select('meta[name="robots" i]') + tree.select(f'meta[name="{NAME}" i]')
    return read_wishes(element.attr("content") or "" for element in elements) if elements else Robots()


def _read_language(tree: Document) -> str | None:
    root = tree.root
    language = root.attr("lang") or root.attr("xml:lang") if root is not None else None
    if not language:
        meta = tree.select_one('meta[http-equiv="content-language" i]')
        language = (meta.attr("content") or "").partition(",")[0] if meta else None
    return (language or "").strip() or None


def describe_page(tree: Document, found: Extraction, out: Statements) -> None:
    """State the page's title, description, language, e-mail addresses, images and links."""
    page, tag = out.page, found.language
    out.add(page, RDF_TYPE, f"<{FOAF}Document>")
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
            _label(term, image, out)


def _label(term: str, image: Element, out: Statements) -> None:
    alternative = " ".join((image.attr("alt") or "").split())
    if alternative:
        out.add(term, RDFS_LABEL, out.literal(alternative))


def _describe_link(link: Link, out: Statements) -> None:
    term = out.iri(link.target)
    if term is None:
        return
    out.add(out.page, RDFS_SEE_ALSO if link.relation.lower() == "alternate" else f"<{DCTERMS}references>", term)
    if link.text:
        out.add(term, RDFS_LABEL, out.literal(link.text))


MIN_MAIN_CHARS = 200
"""Less than this is no main text: a stub, a listing or a front page, of which everything is taken."""


def read_text(tree: Document) -> str:
    """The main text without navigation, or the whole text; lines are the page's blocks.

    A page with one `article` or one `main` says itself where it is; to find it otherwise means to weigh every block.
    """
    for tag in ("article", "main"):
        elements = tree.select(tag)
        if len(elements) == 1 and len(text := elements[0].to_text()) >= MIN_MAIN_CHARS:
            return text
    text = tree.main_text()
    return text if len(text) >= MIN_MAIN_CHARS else tree.to_text()
