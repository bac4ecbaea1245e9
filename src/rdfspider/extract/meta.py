"""`meta` elements → RDF: OpenGraph, Twitter cards, Dublin Core, also where no prefix is declared.

RDFa already reads `meta property="og:…"`. This module reads what RDFa must ignore: `name` in place of `property`,
prefixes that the page does not declare, and Dublin Core's `DC.title`. Values are the same literals as RDFa's, so that
both agree.
"""

from functools import lru_cache

from rdfspider.extract.dom import Document
from rdfspider.extract.statements import Statements
from rdfspider.records import Content
from rdfspider.vocabulary.prefixes import DC, DCTERMS, META_PREFIXES

# The properties of http://purl.org/dc/elements/1.1/, and those that http://purl.org/dc/terms/ adds.
_DC_ELEMENT_NAMES = frozenset(
    "contributor coverage creator date description format identifier language publisher relation rights source subject "
    "title type".split()
)
_DC_TERM_NAMES = {
    name.lower(): name
    for name in (
        "abstract accessRights accrualMethod accrualPeriodicity accrualPolicy alternative audience available "
        "bibliographicCitation conformsTo created dateAccepted dateCopyrighted dateSubmitted educationLevel extent "
        "hasFormat hasPart hasVersion instructionalMethod isFormatOf isPartOf isReferencedBy isReplacedBy isRequiredBy "
        "isVersionOf issued license mediator medium modified provenance references replaces requires rightsHolder spatial "
        "tableOfContents temporal valid"
    ).split()
}


def extract_meta(tree: Document, content: Content, out: Statements) -> None:
    """Add the statements of the page's `meta` elements, and of Dublin Core's `link` elements."""
    root = tree.root
    language = root.attr("lang") or root.attr("xml:lang") if root is not None else None
    for meta in tree.select("meta[content]"):
        names = meta.attr("property") or meta.attr("name")
        if not names or (":" not in names and "." not in names):
            continue
        value = meta.attr("content")
        if not value:
            continue
        predicates = [predicate for name in names.split() if (predicate := _predicate(name))]
        literal = out.literal(value, meta.attr("lang") or language) if predicates else ""
        for predicate in predicates:
            term = out.iri(predicate)
            if term:
                out.add(out.page, term, literal)
            if out.full:
                return
    for link in tree.select('link[rel^="dc" i][href]'):
        predicate = _predicate(link.attr("rel") or "")
        target = out.resolve(link.attr("href") or "") if predicate else None
        if predicate and target:
            out.add(out.page, f"<{predicate}>", target)


def _predicate(name: str) -> str | None:
    return _usual_predicate(name) if len(name) < 64 else _usual_predicate.__wrapped__(name)


@lru_cache(maxsize=4096)
def _usual_predicate(name: str) -> str | None:
    """The property that a name such as `og:title`, `twitter:card` or `DC.date.created` means; None for all other names."""
    for mark in (":", "."):
        prefix, found, local = name.partition(mark)
        namespace = META_PREFIXES.get(prefix.lower()) if found else None
        if namespace is not None and local:
            if namespace in (DC, DCTERMS):
                return _dublin_core(namespace, local)
            return namespace + local if mark == ":" else None
    return None


def _dublin_core(namespace: str, local: str) -> str | None:
    """The last part of a Dublin Core name that is a term: `Date.Created` means dcterms:created, `Title` dc:title."""
    for part in reversed(local.lower().replace(":", ".").split(".")):
        if part in _DC_TERM_NAMES:
            return DCTERMS + _DC_TERM_NAMES[part]
        if part in _DC_ELEMENT_NAMES:
            return namespace + part
    return None
