"""GRDDL (W3C Recommendation, 11 September 2007), on request: a page or an XML document enters, the statements that its
transformations make of it leave.

A transformation is an XSLT 1.0 stylesheet. Stylesheets, and the documents of namespaces and profiles that name further
ones, come from `config.documents`; a missing document is a Problem, and nothing is ever fetched.
"""

import re
import time
from dataclasses import replace

from rdfspider.extract.dom import XHTML, Document, Element, expand_entities, parse_html, parse_xml_text, to_xml
from rdfspider.extract.rdf import extract_rdf_document
from rdfspider.extract.statements import Statements
from rdfspider.extract.untrusted import Output, UntrustedLimits, UntrustedRefusal, run_stylesheet, take_answer
from rdfspider.records import Content, ContentKind
from rdfspider.urls import resolve_iri
from rdfspider.vocabulary.prefixes import RDF

DATA_VIEW = "http://www.w3.org/2003/g/data-view"

# Real pages name one or two. Namespaces and profiles may name others in turn, so the total is limited.
_MAX_TRANSFORMATIONS = 16
_MAX_DOCUMENTS = 16

_ENCODING = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._\-]{1,40})""")
_MARKUP = re.compile(r"\s*+<(?:[!?]|[\w:.\-]++(?:\s|/?>))")
_OBJECT = re.compile(r"\S+ \S+ <([^>]*)>")


def extract_grddl(tree: Document, content: Content, out: Statements) -> None:
    """Apply every transformation that the page names, if the settings ask for GRDDL."""
    if out.config.wants("grddl"):
        _Gleaning(out.config.transform_seconds).glean(tree, out, content.kind == ContentKind.HTML)


class _Gleaning:
    """GRDDL for one page: the documents used so far, and the time that is left."""

    def __init__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._documents: dict[str, bytes | None] = {}
        self._visited: set[str] = set()
        self._applied = 0

    def glean(self, tree: Document, out: Statements, is_page: bool) -> None:
        """Add the GRDDL results of a document to its statements."""
        if tree.root is None:
            return
        transformations = [
            *_root_transformations(tree.root, out.base),
            # Section 4: links of the relation `transformation`, on pages that declare GRDDL's profile.
            *(_links(tree, "transformation", out.base) if is_page and DATA_VIEW in _profiles(tree, out.base) else ()),
            *self._namespace_transformations(tree.root, out),
            *(self._profile_transformations(tree, out) if is_page else ()),
        ]
        if transformations:
            xml = to_xml(tree, xhtml=is_page)
            for transformation in dict.fromkeys(transformations):
                self._apply(transformation, xml, is_page, out)

    def _apply(self, transformation: str, xml: str, is_page: bool, out: Statements) -> None:
        self._applied += 1
        if self._applied > _MAX_TRANSFORMATIONS:
            out.problem(
                "too-many-transformations", f"more than {_MAX_TRANSFORMATIONS} were asked for: {transformation}"
            )
            return
        stylesheet = self._document(transformation, out)
        if stylesheet is None:
            return
        limits = UntrustedLimits.of(out.config)
        seconds = min(limits.seconds, self._deadline - time.monotonic())
        if seconds <= 0:
            answer: Output | UntrustedRefusal = UntrustedRefusal(
                "transform-timeout", "the page's other transformations took all the time"
            )
        else:
            answer = run_stylesheet(stylesheet, xml, out.base, replace(limits, seconds=seconds), lenient=is_page)
        take_answer(answer, transformation, out)
        out.forget_labels()

    def _namespace_transformations(self, root: Element, out: Statements) -> list[str]:
        """Section 3. The namespaces of HTML and RDF/XML are left out: other syntaxes read these documents."""
        prefix = root.tag.rpartition(":")[0]
        namespace = root.attr(f"xmlns:{prefix}" if prefix else "xmlns")
        if not namespace or namespace in (XHTML, RDF):
            return []
        return self._stated(namespace, "namespaceTransformation", out)

    def _profile_transformations(self, tree: Document, out: Statements) -> list[str]:
        """Section 5."""
        found: list[str] = []
        for profile in _profiles(tree, out.base):
            if profile != DATA_VIEW:
                found += self._stated(profile, "profileTransformation", out)
        return found

    def _stated(self, subject: str, name: str, out: Statements) -> list[str]:
        """The transformations that the document of a namespace or profile states for it."""
        if subject in self._visited:
            return []
        self._visited.add(subject)
        body = self._document(subject, out)
        if body is None:
            return []
        address = subject.partition("#")[0]
        statements = Statements(address, address, out.syntax, out.config, out.problems)
        tree = self._read(_decode(body), statements)
        start = f"<{subject}> <{DATA_VIEW}#{name}> "
        found = [match[1] for line in statements.lines if line.startswith(start) and (match := _OBJECT.match(line))]
        if tree is not None and DATA_VIEW in _profiles(tree, address):
            found += _links(tree, name, address)
        return found

    def _read(self, text: str, statements: Statements) -> Document | None:
        """Read the document of a namespace or profile, which is RDF or again uses GRDDL; its tree, where it is markup."""
        if not _MARKUP.match(text):
            extract_rdf_document(Content("text/turtle", ContentKind.RDF, "utf-8", text), statements)
            return None
        expanded, _ = expand_entities(text)
        tree = parse_xml_text(expanded)
        if isinstance(tree, str) or tree.root is None:
            tree = parse_html(text)
        elif tree.root.tag.rpartition(":")[2] == "RDF":
            extract_rdf_document(Content("application/rdf+xml", ContentKind.RDF, "utf-8", text), statements)
            return None
        self.glean(tree, statements, tree.root is not None and tree.root.tag == "html")
        return tree

    def _document(self, url: str, out: Statements) -> bytes | None:
        address = url.partition("#")[0]
        if address not in self._documents:
            if len(self._documents) >= _MAX_DOCUMENTS:
                out.problem("too-many-documents", f"more than {_MAX_DOCUMENTS} were asked for: {address}")
                return None
            self._documents[address] = out.config.documents(address) if out.config.documents else None
        body = self._documents[address]
        if body is None:
            out.problem("grddl-document-missing", f"not among the documents given: {address}")
        return body


def _root_transformations(root: Element, base: str) -> list[str]:
    """Section 2: the attribute `transformation`, in the namespace of GRDDL, of the root element."""
    base = resolve_iri(base, root.attr("xml:base") or "")
    prefixes = [name[6:] for name in root.attrs if name.startswith("xmlns:") and root.attr(name) == f"{DATA_VIEW}#"]
    return [
        resolve_iri(base, reference)
        for prefix in prefixes
        for reference in (root.attr(f"{prefix}:transformation") or "").split()
    ]


def _profiles(tree: Document, base: str) -> list[str]:
    """The profiles of a page: of its head, or, since HTML 5 has no such attribute, by links of the relation `profile`."""
    head = tree.select_one("head[profile]")
    declared = (head.attr("profile") or "").split() if head is not None else []
    return [*(resolve_iri(base, profile) for profile in declared), *_links(tree, "profile", base)]


def _links(tree: Document, relation: str, base: str) -> list[str]:
    elements = tree.select(f'link[rel~="{relation}"][href], a[rel~="{relation}"][href]')
    return [resolve_iri(base, (element.attr("href") or "").strip()) for element in elements]


def _decode(body: bytes) -> str:
    """The text of an XML document: its encoding is in a byte-order mark, in its declaration, or UTF-8."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    declared = _ENCODING.match(body)
    try:
        return body.decode(declared[1].decode() if declared else "utf-8-sig", "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")
