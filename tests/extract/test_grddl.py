"""GRDDL by section: where transformations are named, where they come from, and how far a page can drive it."""

from collections.abc import Mapping
from typing import Any

import pytest

from rdfspider.config import ExtractConfig
from rdfspider.extract import grddl
from rdfspider.extract.dom import parse_html, parse_xml_text
from rdfspider.extract.grddl import extract_grddl
from rdfspider.extract.statements import Problems, Statements
from rdfspider.extract.untrusted import Output, UntrustedRefusal, run_stylesheet
from rdfspider.records import Content, ContentKind

URL = "http://example.org/page"
DATA_VIEW = "http://www.w3.org/2003/g/data-view"
XSL = "http://example.org/t.xsl"
SAYS = "http://example.org/says"


def stylesheet(select: str) -> bytes:
    """A transformation that states what an XPath expression finds in its source."""
    return f"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
      xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/" xmlns:d="urn:d"
      xmlns:h="http://www.w3.org/1999/xhtml" xmlns:svg="http://www.w3.org/2000/svg" exclude-result-prefixes="d h svg">
      <xsl:template match="/"><rdf:RDF><rdf:Description rdf:about=""><e:says><xsl:value-of select="{select}"/></e:says>
      </rdf:Description></rdf:RDF></xsl:template></xsl:stylesheet>""".encode()


def read(
    text: str,
    documents: Mapping[str, bytes] | None,
    kind: ContentKind = ContentKind.HTML,
    base: str = URL,
    **settings: object,
) -> tuple[list[str], list[str]]:
    """The statements, without their graph, and the codes of the problems."""
    problems = Problems()
    source = documents.get if documents is not None else None
    config = ExtractConfig(**{"grddl": True, "documents": source, **settings})  # type: ignore[arg-type]
    out = Statements(URL, base, "grddl", config, problems)
    tree = parse_html(text) if kind == ContentKind.HTML else parse_xml_text(text)
    assert not isinstance(tree, str), tree
    extract_grddl(tree, Content("text/html", kind, "utf-8", text), out)
    return [line.removesuffix(f" <{URL}> .") for line in out.lines], [problem.code for problem in problems.listed()]


def said(text: str, subject: str = URL) -> tuple[list[str], list[str]]:
    return [f'<{subject}> <{SAYS}> "{text}"'], []


PAGE = f'<head profile="{DATA_VIEW}"><title>A title</title><link rel=transformation href="t.xsl"></head>'
TITLE = {XSL: stylesheet("//h:title")}


class TestPages:
    """Section 4, valid XHTML; and HTML, which is given to transformations as if it were."""

    def test_a_linked_transformation_is_applied(self) -> None:
        assert read(PAGE, TITLE) == said("A title")

    def test_it_is_off_unless_asked_for(self) -> None:
        assert read(PAGE, TITLE, grddl=False) == ([], [])

    def test_nothing_happens_without_the_profile(self) -> None:
        assert read(PAGE.replace(DATA_VIEW, "http://www.w3.org/other"), {**TITLE, "http://www.w3.org/other": b""}) == (
            [],
            [],
        )

    def test_anchors_count_and_relations_are_lists(self) -> None:
        page = f'<head profile="{DATA_VIEW}"><title>x</title></head><a rel="next transformation" href=t.xsl>t</a>'
        assert read(page, TITLE) == said("x")

    def test_the_profile_may_be_a_link(self) -> None:
        page = f'<title>x</title><link rel=profile href="{DATA_VIEW}"><link rel=transformation href=t.xsl>'
        assert read(page, TITLE) == said("x")

    def test_references_and_results_have_the_base_of_the_page(self) -> None:
        documents = {"http://example.com/a/t.xsl": stylesheet("//h:title")}
        assert read(PAGE, documents, base="http://example.com/a/b") == said("A title", "http://example.com/a/b")

    def test_html_becomes_well_formed(self) -> None:
        page = PAGE + '<body @click="f()" og:x=1><fb:like>y</fb:like><br><svg><g><foreignObject><p>in</p></svg><p>a<p>b'
        documents = {XSL: stylesheet("concat(count(//h:p), count(//svg:g), count(//h:br), count(//*[not(self::h:*)]))")}
        assert read(page, documents) == said("3114")

    def test_a_comment_before_the_root_does_not_confuse(self) -> None:
        assert read(f"<!--[if IE]><html class=ie><![endif]--><html>{PAGE}", TITLE) == said("A title")

    def test_xhtml_parsed_as_xml_is_a_page_too(self) -> None:
        page = f"""<html xmlns="http://www.w3.org/1999/xhtml"><head profile="{DATA_VIEW} http://example.org/p">
            <title>é</title><link rel="transformation" href="t.xsl"/></head></html>"""
        problems = Problems()
        out = Statements(URL, URL, "grddl", ExtractConfig(grddl=True, documents=TITLE.get), problems)
        tree = parse_xml_text(page)
        assert not isinstance(tree, str)
        extract_grddl(tree, Content("application/xhtml+xml", ContentKind.HTML, "utf-8", page), out)
        assert out.lines == [f'<{URL}> <{SAYS}> "é" <{URL}> .']

    def test_one_transformation_is_applied_once(self) -> None:
        lines, problems = read(PAGE + "<a rel=transformation href='./t.xsl'>again</a>", TITLE)
        assert (len(lines), problems) == (1, [])

    def test_blank_nodes_of_two_results_are_two(self) -> None:
        body = stylesheet("1").replace(b'rdf:about=""', b'rdf:nodeID="n"')
        documents = {XSL: body, "http://example.org/u.xsl": body.replace(b'"1"', b'"2"')}
        lines, _ = read(PAGE + "<a rel=transformation href=u.xsl>u</a>", documents)
        assert [line.split()[2] for line in lines] == ['"1"', '"2"']
        assert lines[0].split()[0] != lines[1].split()[0]


class TestXml:
    """Section 2, the root's attribute, and section 3, the root's namespace."""

    def test_the_roots_attribute_names_transformations(self) -> None:
        xml = (
            f'<d:doc xmlns:d="urn:d" xmlns:g="{DATA_VIEW}#" g:transformation="t.xsl u.xsl"><d:x>7 &lt; 8</d:x></d:doc>'
        )
        documents = {XSL: stylesheet("//d:x"), "http://example.org/u.xsl": stylesheet("'u'"), "urn:d": b"<rdf/>"}
        lines, problems = read(xml, documents, kind=ContentKind.XML)
        assert lines == [f'<{URL}> <{SAYS}> "7 < 8"', f'<{URL}> <{SAYS}> "u"']
        assert problems == []

    def test_xml_base_counts_for_the_reference(self) -> None:
        xml = f'<doc xmlns:g="{DATA_VIEW}#" xml:base="http://example.com/a/" g:transformation="t.xsl"/>'
        assert read(xml, {"http://example.com/a/t.xsl": stylesheet("'x'")}, kind=ContentKind.XML) == said("x")

    def test_an_attribute_of_another_namespace_is_none(self) -> None:
        assert read('<doc xmlns:g="urn:other" g:transformation="t.xsl"/>', TITLE, kind=ContentKind.XML) == ([], [])

    NAMESPACE = "http://example.org/ns#"
    RDF_XML = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:g="{DATA_VIEW}#">
        <rdf:Description rdf:about="{NAMESPACE}"><g:namespaceTransformation rdf:resource="t.xsl"/></rdf:Description>
        </rdf:RDF>"""
    TURTLE = f"<#> <{DATA_VIEW}#namespaceTransformation> <t.xsl> ."
    LINKED = f"""<html><head profile="{DATA_VIEW}"></head><a rel="namespaceTransformation" href="t.xsl">t</a></html>"""

    @pytest.mark.parametrize("document", [RDF_XML, TURTLE, LINKED])
    @pytest.mark.parametrize("root", [f'<doc xmlns="{NAMESPACE}"/>', f'<a:doc xmlns:a="{NAMESPACE}"/>'])
    def test_the_document_of_the_namespace_names_one(self, document: str, root: str) -> None:
        documents = {"http://example.org/ns": document.encode(), XSL: stylesheet("name(/*)")}
        assert read(root, documents, kind=ContentKind.XML) == said("a:doc" if ":a=" in root else "doc")

    def test_the_document_of_the_namespace_may_itself_be_gleaned(self) -> None:
        """Its own transformation makes the statement that names the transformation."""
        gleaner = stylesheet("''").replace(
            b"<rdf:RDF>",
            f'<rdf:RDF><rdf:Description rdf:about="{self.NAMESPACE}"><namespaceTransformation xmlns="{DATA_VIEW}#"'
            f' rdf:resource="t.xsl"/></rdf:Description>'.encode(),
        )
        document = f'<head profile="{DATA_VIEW}"><link rel=transformation href=glean.xsl></head>'
        documents = {
            "http://example.org/ns": document.encode(),
            "http://example.org/glean.xsl": gleaner,
            XSL: stylesheet("name(/*)"),
        }
        assert read(f'<doc xmlns="{self.NAMESPACE}"/>', documents, kind=ContentKind.XML) == said("doc")

    def test_utf_16_and_declared_encodings_are_read(self) -> None:
        for encoding in ("utf-16", "iso-8859-1"):
            document = f'<?xml version="1.0" encoding="{encoding}"?><!-- é -->{self.RDF_XML}'
            documents = {"http://example.org/ns": document.encode(encoding), XSL: stylesheet("'x'")}
            assert read(f'<doc xmlns="{self.NAMESPACE}"/>', documents, kind=ContentKind.XML) == said("x")


class TestProfiles:
    """Section 5, the transformations of a page's profiles."""

    PAGE = '<head profile="http://example.org/profile"><title>x</title></head>'

    def test_the_document_of_the_profile_names_one(self) -> None:
        profile = f'<head profile="{DATA_VIEW}"></head><a rel=profileTransformation href=t.xsl>t</a>'
        assert read(self.PAGE, {"http://example.org/profile": profile.encode(), **TITLE}) == said("x")

    def test_a_profile_that_has_itself_as_profile_ends(self) -> None:
        lines, problems = read(self.PAGE, {"http://example.org/profile": self.PAGE.encode()})
        assert (lines, problems) == ([], [])


class TestBounds:
    def test_without_documents_there_is_a_problem_and_no_fetch(self) -> None:
        assert read(PAGE, None) == ([], ["grddl-document-missing"])
        assert read(PAGE, {}) == ([], ["grddl-document-missing"])

    def test_what_is_no_stylesheet_is_a_problem(self) -> None:
        assert read(PAGE, {XSL: b"function() {}"}) == ([], ["transform-failed"])
        assert read(PAGE, {XSL: b""}) == ([], ["transform-failed"])

    def test_a_transformation_that_loads_others_is_a_problem(self) -> None:
        body = stylesheet("1").replace(b"<xsl:template", b'<xsl:include href="http://example.org/u.xsl"/><xsl:template')
        assert read(PAGE, {XSL: body}) == ([], ["transform-failed"])

    def test_many_transformations_are_cut(self) -> None:
        links = "".join(f"<a rel=transformation href='t.xsl?{n}'>t</a>" for n in range(1000))
        documents = {f"{XSL}?{n}": stylesheet(str(n)) for n in range(1000)}
        lines, problems = read(PAGE + links, {**TITLE, **documents})
        assert len(lines) == 16
        assert problems == ["too-many-transformations"]

    def test_all_transformations_of_a_page_share_its_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        applied: list[bytes] = []

        def apply(stylesheet: bytes, *arguments: Any, **options: Any) -> Output | UntrustedRefusal:
            applied.append(stylesheet)
            return run_stylesheet(stylesheet, *arguments, **options)

        monkeypatch.setattr(grddl, "run_stylesheet", apply)
        call = '<xsl:call-template name="a"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>'
        endless = f"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
            <xsl:template match="/" name="a"><xsl:param name="n" select="60"/>
            <xsl:if test="$n &gt; 0">{call}{call}</xsl:if></xsl:template></xsl:stylesheet>""".encode()
        links = "".join(f"<a rel=transformation href='t.xsl?{n}'>t</a>" for n in range(10))
        documents = {XSL: endless, **{f"{XSL}?{n}": endless for n in range(10)}}
        assert read(PAGE + links, documents, transform_seconds=1) == ([], ["transform-timeout"])
        assert len(applied) == 1, "the first took all the time"

    def test_chains_of_namespaces_are_cut(self) -> None:
        """Each namespace's document is in another namespace."""
        documents = {
            f"http://example.org/ns/{n}": f'<doc xmlns="http://example.org/ns/{n + 1}"/>'.encode() for n in range(1000)
        }
        assert read('<doc xmlns="http://example.org/ns/0"/>', documents, kind=ContentKind.XML) == (
            [],
            ["too-many-documents"],
        )

    @pytest.mark.parametrize("document", [b"\xff\xfe\0", b"<", b"<!DOCTYPE", b"<a>" * 100_000, b"\0", b"@prefix", b""])
    def test_broken_documents_do_no_harm(self, document: bytes) -> None:
        lines, _ = read(
            '<doc xmlns="http://example.org/ns"/>', {"http://example.org/ns": document}, kind=ContentKind.XML
        )
        assert lines == []
