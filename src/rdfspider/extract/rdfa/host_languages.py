"""The initial contexts of RDFa, and the features of its host languages.

The content and the tree of a page enter, its `HostLanguage` leaves: the record of features that the processing depends
on. The tables are those of the W3C initial contexts (RDFa 1.1 and XHTML+RDFa 1.1), HTML+RDFa 1.1 and RDFa in XHTML 1.0.
"""

from dataclasses import dataclass, replace

from rdfspider.extract.dom import XHTML, Document
from rdfspider.records import Content, ContentKind
from rdfspider.vocabulary.prefixes import XHV

CORE_TERMS: dict[str, str] = {
    "describedby": "http://www.w3.org/2007/05/powder-s#describedby",
    "license": XHV + "license",
    "role": XHV + "role",
}

_XHTML_LINK_TYPES = (
    "alternate appendix bookmark chapter cite contents copyright first glossary help icon index last license meta next"
    " p3pv1 prev previous role section start stylesheet subsection top up"
)
LINK_TYPES: dict[str, str] = {term: XHV + term for term in _XHTML_LINK_TYPES.split()}


@dataclass(frozen=True, slots=True)
class HostLanguage:
    """The features of a host language; the defaults are those of plain XML."""

    terms: dict[str, str]
    html: bool = False
    """The tree was built by HTML's rules: lower-case names, the language by `lang` and by a `meta` element."""
    head_body: bool = False
    """`head` and `body` are about what their parent is about."""
    ignore_plain_rel: bool = False
    """Beside @property, terms in @rel and @rev that are neither CURIEs nor IRIs are ignored."""
    datetime: bool = False
    """@datetime and the element `time` give typed literals."""
    html_literal: bool = False
    """The datatype rdf:HTML keeps the markup."""
    patterns: bool = False
    """Properties are copied from rdfa:Pattern resources."""
    base_element: bool = False
    """The element `base` sets the base."""
    xml_base: bool = False
    """@xml:base sets the base of a subtree."""
    lang: bool = False
    """@lang gives the language where @xml:lang does not."""
    rdfa10: bool = False
    """The rules of RDFa in XHTML 1.0 apply."""


_XML = HostLanguage(CORE_TERMS, xml_base=True)
_HTML5 = HostLanguage(
    CORE_TERMS,
    html=True,
    head_body=True,
    ignore_plain_rel=True,
    datetime=True,
    html_literal=True,
    patterns=True,
    base_element=True,
    lang=True,
)
_XHTML5 = replace(_HTML5, html=False)
_XHTML1 = HostLanguage(CORE_TERMS | LINK_TYPES, head_body=True, base_element=True, lang=True)


def find_host_language(tree: Document, content: Content, version: str | None = None) -> HostLanguage:
    """The host language of a page; `version` ("1.0", "1.1") overrides the version that the page declares."""
    doctype = _public_id(tree)
    if content.media_type == "application/xhtml+xml" or (
        content.kind != ContentKind.HTML and content.namespace == XHTML
    ):
        host_language = _XHTML1 if "XHTML" in doctype else _XHTML5
    elif content.kind == ContentKind.HTML:
        host_language = _HTML5
    else:
        host_language = _XML
    if version == "1.0" or (version is None and _says_rdfa10(tree, doctype)):
        return HostLanguage(
            LINK_TYPES,
            html=host_language.html,
            head_body=host_language.head_body,
            base_element=host_language.base_element,
            xml_base=host_language.xml_base,
            lang=host_language.html,
            rdfa10=True,
        )
    return host_language


def find_pragma_language(tree: Document) -> str | None:
    """HTML, 4.2.5.3: the default language of a page, set by a `meta` element."""
    for meta in tree.select('meta[http-equiv="content-language" i][content]'):
        content = meta.attr("content") or ""
        if "," not in content and content.split():
            return content.split()[0]
    return None


def _public_id(tree: Document) -> str:
    node = tree.root.previous_sibling if tree.root is not None else None
    # Comments may come between; no page has a hundred.
    for _ in range(100):
        if node is None:
            break
        public_id = getattr(node, "public_id", None)
        if public_id:
            return str(public_id)
        node = node.previous_sibling
    return ""


def _says_rdfa10(tree: Document, doctype: str) -> bool:
    """RDFa in XHTML, 4.1: a document declares its version by @version on the root, or by its document type."""
    version = tree.root.attr("version") if tree.root is not None else None
    if version and "RDFa" in version:
        return "RDFa 1.0" in version
    return "RDFa 1.0" in doctype
