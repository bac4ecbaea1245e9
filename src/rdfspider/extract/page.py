"""A Page and its Content become an Extraction: the page is parsed once, then read by every syntax of a table.

The package's docstring tells the steps. A syntax is one line in a table here, one module beside this one, and one test
file.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from rdfspider.config import ExtractConfig
from rdfspider.extract import feeds, grddl, jsonld, meta, microdata, microformats, rdf, rdfa, transforms, xslt
from rdfspider.extract.document import describe_page, read_links, read_metadata, read_text
from rdfspider.extract.dom import Document, expand_entities, parse_html, parse_xml_text
from rdfspider.extract.sitemaps import read_sitemap
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Content, ContentKind, Extraction, Page
from rdfspider.urls import resolve_iri, valid_iri

log = logging.getLogger(__name__)

# Tags of one page of HTML: each takes a hundred bytes of memory, and 16 MB may have five million. Real pages of that length have
# a few hundred thousand.
_MAX_TAGS = 1_500_000

TreeReader = Callable[[Document, Content, Statements], None]
TextReader = Callable[[Content, Statements], None]

# The syntaxes of HTML, in the order in which their statements are listed.
HTML_SYNTAXES: dict[str, TreeReader] = {
    "jsonld": jsonld.extract_scripts,
    "microdata": microdata.extract_microdata,
    "rdfa": rdfa.extract_rdfa,
    "microformats": microformats.extract_microformats,
    "meta": meta.extract_meta,
    "grddl": grddl.extract_grddl,
}
# The syntaxes of any other XML.
XML_SYNTAXES: dict[str, TreeReader] = {
    "rdfa": rdfa.extract_rdfa,
    "grddl": grddl.extract_grddl,
}
# The syntaxes of documents that are data as a whole; they are read from the text, by its kind.
DOCUMENT_SYNTAXES: dict[ContentKind, tuple[str, TextReader]] = {
    ContentKind.RDF: ("rdf", rdf.extract_rdf_document),
    ContentKind.FEED: ("feed", feeds.extract_feed),
    ContentKind.JSON: ("jsonld", lambda content, out: jsonld.extract_document(content.text, out)),
    ContentKind.XML: ("xslt", xslt.extract_by_stylesheet),
}
SYNTAXES = tuple(
    dict.fromkeys([*HTML_SYNTAXES, *(name for name, _ in DOCUMENT_SYNTAXES.values()), "transform", "page"])
)
"""Every name that `by_syntax` can have."""


def extract_page(page: Page, content: Content, config: ExtractConfig) -> Extraction:
    """All that is read from the page. Never raises, and does no I/O except what the user's own transforms do."""
    reader = _PageReader(page, content, config)
    for problem in content.problems:
        reader.problems.add(problem.code, problem.message)
    found: dict[str, Any] = {}
    try:
        if content.kind == ContentKind.HTML:
            found = reader.read_html()
        elif content.kind == ContentKind.XML:
            reader.read_xml()
        elif content.kind == ContentKind.SITEMAP:
            found = {"links": read_sitemap(content, reader.start("sitemap")), "is_sitemap": True}
        elif content.kind == ContentKind.TEXT:
            found = {"text": content.text}
    except Exception as error:
        reader.report_fault(None, error)
    if content.kind in DOCUMENT_SYNTAXES:
        name, read_document = DOCUMENT_SYNTAXES[content.kind]
        out = reader.run(name, partial(read_document, content))
        if out is not None and content.kind == ContentKind.FEED:
            found["links"] = feeds.read_feed_links(out.page, out.base, out.lines, config.max_links)
    if config.transforms:
        reader.run("transform", partial(transforms.extract_by_transform, page, content))
    return Extraction(
        page.url,
        content.media_type,
        content.charset,
        statements=reader.statements,
        problems=reader.problems.listed(),
        missing_documents=tuple(reader.missing_documents),
        **found,
    )


class _PageReader:
    """The state of one extraction: the page's base, and the statements and problems so far."""

    def __init__(self, page: Page, content: Content, config: ExtractConfig) -> None:
        self.page = page
        self.content = content
        self.config = config
        self.base = page.url
        self._is_xhtml = content.media_type == "application/xhtml+xml"
        self.problems = Problems()
        self.statements: dict[str, str] = {}
        self.missing_documents: dict[str, None] = {}

    def start(self, syntax: str) -> Statements:
        """Empty statements for one syntax."""
        return Statements(self.page.url, self.base, syntax, self.config, self.problems)

    def run(self, syntax: str, read: Callable[[Statements], None]) -> Statements | None:
        """Read one syntax, if the settings ask for it. A bug in it must not cost the page its other data."""
        if not self.config.wants(syntax):
            return None
        out = self.start(syntax)
        try:
            read(out)
        except Exception as error:
            self.report_fault(syntax, error)
        if out.lines:
            self.statements[syntax] = out.to_nquads()
        if out.missing_documents:
            self.missing_documents.update(dict.fromkeys(out.missing_documents))
        return out

    def report_fault(self, syntax: str | None, error: Exception) -> None:
        """Record a bug as a Problem, with its traceback in the log."""
        log.error("%s of %s", syntax or "the tree", self.page.url, exc_info=error)
        self.problems.add("internal-error", f"{type(error).__name__}: {error}", syntax)

    def read_html(self) -> dict[str, Any]:
        """Read HTML or XHTML: its syntaxes, and as fields of Extraction its metadata, links and text."""
        tree, is_xml = self._parse_html()
        self.base = self._find_base(tree)
        self._read_tree(tree, HTML_SYNTAXES)
        found: dict[str, Any] = read_metadata(tree, self.base)._asdict()
        found["links"] = read_links(tree, self.base, self.config.max_links, self.problems)
        # The parser lays out text as a browser does for trees of HTML only.
        found["text"] = read_text(parse_html(self.content.text) if is_xml else tree)
        if self.config.wants("page"):
            described = Extraction(self.page.url, self.content.media_type, **found)
            self.run("page", partial(describe_page, tree, described))
        return found

    def _find_base(self, tree: Document) -> str:
        """HTML, "set the frozen base URL": the first `base` with @href, unless that is no URL or one of data or script."""
        element = tree.select_one("base[href]")
        if element is None:
            return self.page.url
        href = (element.attr("href") or "").strip()
        found = valid_iri(resolve_iri(self.page.url, href)) if len(href) <= self.config.max_iri_chars else None
        if found is None or found.value[:5].lower() == "data:" or found.value[:11].lower() == "javascript:":
            self.problems.add("base-ignored", f"not a base for links: {href[:100]!r}")
            return self.page.url
        return found.value

    def read_xml(self) -> None:
        """Read RDFa and GRDDL in XML that is no page."""
        tree = self._parse_xml()
        if isinstance(tree, str):
            self.problems.add("not-well-formed", tree)
            if self.config.processor_graph:
                self.run("rdfa", partial(rdfa.extract_processor_graph, tree, self.content))
        else:
            self._read_tree(tree, XML_SYNTAXES)

    def _read_tree(self, tree: Document, syntaxes: dict[str, TreeReader]) -> None:
        for syntax, read in syntaxes.items():
            self.run(syntax, partial(read, tree, self.content))

    def _parse_html(self) -> tuple[Document, bool]:
        """The tree, and whether it is one of XML."""
        if self._is_xhtml:
            tree = self._parse_xml()
            if not isinstance(tree, str):
                return tree, True
            self.problems.add("not-well-formed", f"read as HTML, since it is no XML: {tree}")
        return parse_html(self._cut_tags()), False

    def _cut_tags(self) -> str:
        """The text up to the most tags that are read."""
        text = self.content.text
        if len(text) <= _MAX_TAGS or text.count("<") <= _MAX_TAGS:
            return text
        self.problems.add("too-many-tags", f"only the first {_MAX_TAGS} tags were read")
        lower, upper = 0, len(text)
        while upper - lower > 1:
            middle = (lower + upper) // 2
            lower, upper = (lower, middle) if text.count("<", 0, middle) > _MAX_TAGS else (middle, upper)
        return text[:lower]

    def _parse_xml(self) -> Document | str:
        text, problem = expand_entities(self.content.text)
        if problem is not None:
            self.problems.add(problem.code, problem.message)
        if len(text) > _MAX_TAGS and text.count("<") > _MAX_TAGS:
            return f"more than {_MAX_TAGS} tags"
        return parse_xml_text(text, self.config.max_depth)
