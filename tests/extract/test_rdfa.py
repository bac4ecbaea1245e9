"""RDFa: the smallest pages that show a rule, and hostile ones."""

import gzip
import re
import time
from pathlib import Path

import pytest

from rdfspider.config import ExtractConfig
from rdfspider.extract.dom import parse_html, parse_xml_text
from rdfspider.extract.rdfa import extract_processor_graph, extract_rdfa
from rdfspider.extract.statements import Problems, Statements
from rdfspider.formats import to_quads
from rdfspider.records import Content, ContentKind

URL = "http://example.org/page"
DC = "http://purl.org/dc/terms/"
SCHEMA = "http://schema.org/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
BLANK = re.compile(r"_:\w+")
XHV = "http://www.w3.org/1999/xhtml/vocab#"


def read(text: str, media_type: str = "text/html", config: ExtractConfig | None = None) -> Statements:
    out = Statements(URL, URL, "rdfa", config or ExtractConfig(), Problems())
    kind = ContentKind.HTML if "html" in media_type else ContentKind.XML
    tree = parse_html(text) if media_type == "text/html" else parse_xml_text(text)
    assert not isinstance(tree, str), tree
    extract_rdfa(tree, Content(media_type, kind, "utf-8", text), out)
    return out


def triples(
    text: str, media_type: str = "text/html", config: ExtractConfig | None = None
) -> list[tuple[str, str, str]]:
    """The triples in order; IRIs and literals by value, blank nodes as _:1, _:2 … in order of appearance."""
    labels: dict[str, str] = {}

    def name(term: object) -> str:
        value = str(getattr(term, "value", term))
        if str(term).startswith("_:"):
            return labels.setdefault(value, f"_:{len(labels) + 1}")
        return value

    quads = to_quads(read(text, media_type, config).to_nquads())
    return [(name(q.subject), name(q.predicate), name(q.object)) for q in quads]


def codes(out: Statements) -> set[str]:
    return {problem.code for problem in out.problems.listed()}


def test_meta_elements_speak_of_the_page() -> None:
    assert triples('<head><meta property="og:title" content="A"><meta property="og:type" content="B"></head>') == [
        (URL, "http://ogp.me/ns#title", "A"),
        (URL, "http://ogp.me/ns#type", "B"),
    ]


def test_ordinary_link_types_say_nothing_but_a_license_does() -> None:
    page = '<link rel="stylesheet" href="a.css"><a rel="nofollow" href="b">b</a><a rel="License" href="c">c</a>'
    assert triples(page) == [(URL, f"{XHV}license", "http://example.org/c")]


def test_a_vocabulary_makes_terms_of_link_types_in_its_subtree_alone() -> None:
    page = '<p vocab="http://schema.org/"><a rel="author" href="a">a</a></p><a rel="author" href="b">b</a>'
    assert triples(page)[1:] == [(URL, f"{SCHEMA}author", "http://example.org/a")]


def test_an_unannotated_link_is_the_subject_of_what_is_in_it() -> None:
    page = '<a href="x"><b><span property="dc:title" content="T"></span></b></a>'
    assert triples(page) == [("http://example.org/x", f"{DC}title", "T")]


def test_a_hanging_relation_is_completed_by_links_below_it() -> None:
    page = '<div rel="dc:relation"><p><a href="a">a</a> <img src="b"></p></div><a href="c">not this one</a>'
    assert triples(page) == [
        (URL, f"{DC}relation", "http://example.org/a"),
        (URL, f"{DC}relation", "http://example.org/b"),
    ]


def test_plain_link_types_beside_property_are_muted() -> None:
    page = '<p vocab="http://schema.org/"><a property="url" rel="author" href="a">a</a></p>'
    assert triples(page)[1:] == [(URL, f"{SCHEMA}url", "http://example.org/a")]


def test_typed_property_values_are_new_resources() -> None:
    page = '<div vocab="http://schema.org/" typeof="Book"><p property="author" typeof="Person">'
    page += '<i property="name">Ann</i></p></div>'
    assert triples(page)[1:] == [
        ("_:1", f"{RDF}type", f"{SCHEMA}Book"),
        ("_:2", f"{RDF}type", f"{SCHEMA}Person"),
        ("_:1", f"{SCHEMA}author", "_:2"),
        ("_:2", f"{SCHEMA}name", "Ann"),
    ]


def test_lists_end_with_the_element_of_their_subject() -> None:
    page = '<div about="a"><i property="rdf:value" inlist="">1</i><i property="rdf:value" inlist="">2</i></div>'
    page += '<p about="b" property="dc:title">B</p>'
    found = triples(page)
    assert found[0] == ("http://example.org/a", f"{RDF}value", "_:1")
    assert [o for _, p, o in found if p == f"{RDF}first"] == ["1", "2"]
    assert found[-1] == ("http://example.org/b", f"{DC}title", "B")


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('datetime="2012-03-18"', '"2012-03-18"^^<http://www.w3.org/2001/XMLSchema#date>'),
        ('datetime="2012-13-18"', '"2012-13-18"'),
        ('datetime="PT5M"', '"PT5M"^^<http://www.w3.org/2001/XMLSchema#duration>'),
        ('datetime="2012" content="now"', '"now"'),
        ('datetime="2012" datatype="xsd:string"', '"2012"'),
        ("", '"2012-03"^^<http://www.w3.org/2001/XMLSchema#gYearMonth>'),
    ],
)
def test_times_are_typed_by_their_form(attributes: str, expected: str) -> None:
    (quad,) = to_quads(read(f'<time property="dc:date" {attributes}>2012-03</time>').to_nquads())
    assert str(quad.object) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<p lang="de"><i property="dc:title">T</i></p>', '"T"@de'),
        ('<p lang="de"><i lang="" property="dc:title">T</i></p>', '"T"'),
        ('<p xml:lang="de"><i property="dc:title">T</i></p>', '"T"'),
        ('<meta http-equiv="Content-Language" content="fr"><i property="dc:title">T</i>', '"T"@fr'),
        (
            '<p lang="de" property="dc:title" datatype="xsd:token">T</p>',
            '"T"^^<http://www.w3.org/2001/XMLSchema#token>',
        ),
    ],
)
def test_languages_of_html(page: str, expected: str) -> None:
    (quad,) = to_quads(read(page).to_nquads())
    assert str(quad.object) == expected


def test_markup_is_kept_for_html_and_xml_literals() -> None:
    html = read('<p property="dc:title" datatype="rdf:HTML">a<br>&amp;</p>')
    (quad,) = to_quads(html.to_nquads())
    assert quad.object.value == "a<br>&amp;"
    xml = read('<p property="dc:title" datatype="rdf:XMLLiteral">a<br title="&quot;" class="c"><!--x-->&amp;</p>')
    (quad,) = to_quads(xml.to_nquads())
    assert quad.object.value == (
        'a<br xmlns="http://www.w3.org/1999/xhtml" class="c" title="&quot;"></br><!--x-->&amp;'
    )


def test_xml_literals_declare_the_namespaces_in_scope() -> None:
    page = (
        '<r xmlns:a="A"><p property="dc:title" datatype="rdf:XMLLiteral"><a:b xmlns:c="C"><c:d c:e=""/></a:b></p></r>'
    )
    (quad,) = to_quads(read(page, "application/xml").to_nquads())
    assert quad.object.value == '<a:b xmlns:a="A" xmlns:c="C"><c:d c:e=""></c:d></a:b>'


def test_text_in_cdata_sections_is_text() -> None:
    page = '<r><p property="dc:title">a<![CDATA[<b>]]>c</p></r>'
    assert triples(page, "application/xml") == [(URL, f"{DC}title", "a<b>c")]


def test_the_base_of_a_subtree_of_xml() -> None:
    page = '<r xml:base="a/"><p xml:base="b/" about="c" property="dc:title">T</p><p property="dc:date">D</p></r>'
    assert triples(page, "application/xml") == [
        ("http://example.org/a/b/c", f"{DC}title", "T"),
        ("http://example.org/a/", f"{DC}date", "D"),
    ]


def test_the_base_element_is_read_once() -> None:
    page = '<base href="sub/"><p about="x" property="dc:title">T</p>'
    assert triples(page) == [("http://example.org/sub/x", f"{DC}title", "T")]
    out = Statements(URL, "http://example.org/sub/", "rdfa", ExtractConfig(), Problems())
    extract_rdfa(parse_html(page), Content("text/html", ContentKind.HTML, "utf-8", page), out)
    assert out.lines[0].startswith("<http://example.org/sub/x> ")


def test_link_types_are_terms_in_xhtml_1() -> None:
    page = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.1//EN" ""><html xmlns="http://www.w3.org/1999/xhtml">'
    page += '<head><link rel="next" href="n"/></head></html>'
    assert triples(page, "application/xhtml+xml") == [(URL, f"{XHV}next", "http://example.org/n")]
    assert triples(page) == []


def test_rdfa_1_0_is_told_by_the_document_type() -> None:
    body = '<p xmlns:dc="http://purl.org/dc/terms/" property="dc:title">a<b>c</b></p><p property="og:title">x</p>'
    (quad,) = to_quads(read(f'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.0//EN" "">{body}').to_nquads())
    assert quad.object.datatype.value == f"{RDF}XMLLiteral"
    assert [o for _, _, o in triples(body)] == ["ac", "x"]


def test_roles_are_said_of_elements() -> None:
    assert triples('<div id="m" role="main button"></div><p role="x:y"></p>') == [
        (f"{URL}#m", f"{XHV}role", f"{XHV}main"),
        (f"{URL}#m", f"{XHV}role", f"{XHV}button"),
        ("_:1", f"{XHV}role", "x:y"),
    ]


def test_a_role_inside_annotations_is_said_once() -> None:
    page = '<div role="main"><a role="button" href="x"><i property="dc:title">T</i></a></div>'
    assert [p for _, p, _ in triples(page)].count(f"{XHV}role") == 2


def test_patterns_may_refer_to_each_other_in_circles() -> None:
    page = '<div about="x"><link property="rdfa:copy" href="#a"></div>'
    for name, other in (("a", "b"), ("b", "a")):
        page += f'<p resource="#{name}" typeof="rdfa:Pattern"><link property="rdfa:copy" href="#{other}">'
        page += f'<i property="dc:title">{name}</i></p>'
    assert triples(page) == [("http://example.org/x", f"{DC}title", "a"), ("http://example.org/x", f"{DC}title", "b")]


@pytest.mark.parametrize(
    "vocabulary",
    [
        b"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <http://v.example/> ."
        b" :a rdfs:subPropertyOf :b . :b rdfs:subPropertyOf :c . :c rdfs:subPropertyOf :a .",
        b'<html><p about="http://v.example/a"><a rel="rdfs:subPropertyOf" href="http://v.example/b"></a></p>'
        b'<p about="http://v.example/c"><a rel="owl:equivalentProperty" href="http://v.example/b"></a></p></html>',
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">'
        b'<rdf:Property rdf:about="http://v.example/a"><rdfs:subPropertyOf rdf:resource="http://v.example/b"/>'
        b'<rdfs:subPropertyOf rdf:resource="http://v.example/c"/></rdf:Property></rdf:RDF>',
    ],
)
def test_vocabularies_are_expanded_on_request(vocabulary: bytes) -> None:
    page = '<p vocab="http://v.example/" property="a">T</p>'
    config = ExtractConfig(vocabulary_expansion=True, documents={"http://v.example/": vocabulary}.get)
    assert {p for _, p, o in triples(page, config=config) if o == "T"} == {f"http://v.example/{n}" for n in "abc"}
    assert {p for _, p, o in triples(page) if o == "T"} == {"http://v.example/a"}


def test_a_vocabulary_that_nobody_has_is_a_problem() -> None:
    page = '<p vocab="http://v.example/" property="a">T</p>'
    assert codes(read(page, config=ExtractConfig(vocabulary_expansion=True))) == {"vocabulary-missing"}
    broken = ExtractConfig(vocabulary_expansion=True, documents=lambda url: b"<<<")
    assert codes(read(page, config=broken)) == {"vocabulary-unreadable"}


def test_the_processor_graph_alone_and_beside_the_statements() -> None:
    page = '<p prefix="dc: http://other.example/" property="unknown dc:title">T</p>'
    out = Statements(URL, URL, "rdfa", ExtractConfig(), Problems())
    extract_processor_graph(parse_html(page), Content("text/html", ContentKind.HTML, "utf-8", page), out)
    types = {q.object.value for q in to_quads(out.to_nquads()) if q.predicate.value == f"{RDF}type"}
    rdfa = "http://www.w3.org/ns/rdfa#"
    assert types == {f"{rdfa}Warning", f"{rdfa}UnresolvedTerm", f"{rdfa}PrefixRedefinition"}
    both = triples(page, config=ExtractConfig(processor_graph=True))
    assert (URL, "http://other.example/title", "T") in both
    assert f"{rdfa}UnresolvedTerm" in {o for _, _, o in both}


def test_bad_iris_neither_vanish_nor_misattribute() -> None:
    out = read('<p about="http://[bad/" property="dc:title">T</p><p about="a b" property="dc:title">U</p>')
    first, second = to_quads(out.to_nquads())
    assert str(first.subject).startswith("_:")
    assert second.subject.value == "http://example.org/a%20b"
    assert codes(out) == {"iri-dropped", "iri-repaired"}


def test_the_same_page_gives_the_same_lines() -> None:
    page = (
        '<div typeof="foaf:Person"><i rel="foaf:knows"><b typeof="foaf:Person"></b><b resource="_:x"></b></i></div>' * 3
    )
    assert read(page).lines == read(page).lines


def test_the_sparse_walk_finds_what_a_walk_over_everything_finds(corpus: Path) -> None:
    """For the processor graph, every annotated element is visited; the statements must be the same."""
    for file in sorted((corpus / "pages").glob("*.gz"))[::10]:
        page = gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
        everything = read(page, config=ExtractConfig(processor_graph=True)).lines
        reports = {line.split()[0] for line in everything if " <http://www.w3.org/ns/rdfa#Warning> " in line}
        stated = [BLANK.sub("_:", line) for line in everything if line.split()[0] not in reports]
        assert sorted(stated) == sorted(BLANK.sub("_:", line) for line in read(page).lines), file.name


MANY = 30_000
HOSTILE = {
    "deep": '<div property="dc:title" rel="dc:relation">' * 100_000,
    "deep text": '<div property="dc:title">' * 500 + "x" * 2_000_000,
    "deep XML": '<div property="dc:title" datatype="rdf:XMLLiteral">' * 500 + "<b>x</b>" * 50_000,
    "many attributes": f'<div vocab="v:" {" ".join(f"a{n}=1" for n in range(MANY))}>' + '<a rel="x"></a>' * MANY,
    "many predicates": f'<p property="{" ".join(f"dc:p{n}" for n in range(200_000))}" content="{"x" * 1_000_000}">',
    "many hanging": f'<p rel="{" ".join(f"dc:p{n}" for n in range(MANY))}">' + '<a href="x"></a>' * MANY,
    "many list members": f'<p rel="{" ".join(f"dc:p{n}" for n in range(MANY))}" inlist="">' + '<a href="x"></a>' * MANY,
    "long vocabulary": f'<p vocab="http://e/{"v" * 1_000_000}" property="{"".join(f" p{n}" for n in range(MANY))}">',
    "long prefix": f'<p prefix="x: http://e/{"v" * 16_000}" property="{"".join(f" x:{n}" for n in range(MANY))}">',
    "long base": f'<base href="http://e/?{"v" * 1_000_000}">' + '<p about="a" property="dc:title">' * MANY,
    "long language": f'<div lang="{"x" * 1_000_000}">' + '<p property="dc:title">x</p>' * MANY,
    "nested prefixes": "".join(f'<div prefix="a{n}: b">' for n in range(500))
    + '<p prefix="x: y" rel="x:y"></p>' * MANY,
    "pattern chain": "".join(
        f'<p resource="#{n}" typeof="rdfa:Pattern"><link property="rdfa:copy" href="#{n + 1}"></p>'
        for n in range(5_000)
    )
    + '<p typeof=""><link property="rdfa:copy" href="#0"></p>' * 5_000,
    "odd characters": '<p property="dc:title" about="\0\ud800" lang="\0">\0\ud800\ufffe</p>',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_bounded_time(name: str) -> None:
    started = time.process_time()
    out = read(HOSTILE[name])
    assert time.process_time() - started < 20
    to_quads("\n".join(out.lines[:1000]))
