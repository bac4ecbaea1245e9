import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, RdfFormat

import rdfspider
from rdfspider.vocabulary.prefixes import RDF
from rdfspider.vocabulary.terms import (
    FETCHES_GRAPH,
    blank_prefix,
    fold_iri,
    fold_statements,
    graph_term,
    is_about_blank,
    make_graph_iri,
    quoted,
    restore_line,
    restore_term,
    skolemise,
)

PAGE = "https://a.example/page"
OTHER = "https://b.example/other"


def fold(*lines: str, url: str = PAGE, syntax: str = "jsonld") -> list[str]:
    return fold_statements({syntax: "".join(f"{line}\n" for line in lines)}, url)


def own_label(url: str = PAGE, syntax: str = "jsonld", number: int = 1) -> str:
    return f"{blank_prefix(url, syntax)}{number}"


def test_blank_nodes_become_iris_and_are_restored():
    node = own_label()
    [triple] = fold(f"{node} <http://p/> {own_label(number=2)} <{PAGE}> .")
    page_hash = node[3:19]
    assert triple == f"<genid:{page_hash}/n1> <http://p/> <genid:{page_hash}/n2>"
    assert restore_line(triple) == f"{node} <http://p/> {own_label(number=2)}"
    assert skolemise(node[2:]) == f"genid:{page_hash}/n1"
    assert is_about_blank(triple)


def test_all_that_extraction_writes_is_restored_as_it_was():
    page = """<script type="application/ld+json">{"@context": "http://schema.org/", "@type": "Book",
        "name": "A _:b \\u003cgenid:x> B", "author": {"@type": "Person", "name": "C"}}</script>
        <div itemscope itemtype="http://schema.org/Person"><span itemprop="name">D</span></div>"""
    statements = rdfspider.extract(page, url=PAGE).statements
    lines = {line.removesuffix(f" {graph_term(PAGE)} .") for text in statements.values() for line in text.splitlines()}
    assert len(statements) > 1
    assert {restore_line(triple) for triple in fold_statements(statements, PAGE)} == lines


@pytest.mark.parametrize("start", ["https://schema.org/", "http://www.schema.org/", "https://www.schema.org/"])
def test_variants_of_schema_org_are_one(start):
    [triple] = fold(f'<{start}a> <{start}b> "x <{start}c> y"^^<{start}d> <{PAGE}> .')
    assert triple == f'<http://schema.org/a> <http://schema.org/b> "x <{start}c> y"^^<http://schema.org/d>'
    [triple] = fold(f"<http://x/> <{start}b> <{start}c> <{PAGE}> .")
    assert triple == "<http://x/> <http://schema.org/b> <http://schema.org/c>"
    assert fold_iri(f"{start}Person") == "http://schema.org/Person"


def test_only_whole_names_are_folded():
    lines = ["<https://schema.org.example/a> <http://p/> <http://x/?u=https://schema.org/b>"]
    assert fold(f"{lines[0]} <{PAGE}> .") == lines


def test_what_is_said_in_two_syntaxes_is_there_once():
    line = f'<http://x/> <http://p/> "1" <{PAGE}> .\n'
    assert fold_statements({"jsonld": line, "rdfa": line * 2}, PAGE) == ['<http://x/> <http://p/> "1"']


def test_language_tags_are_small_as_the_store_has_them():
    assert fold(f'<http://x/> <http://p/> "A@B"@en-US <{PAGE}> .') == ['<http://x/> <http://p/> "A@B"@en-us']


@pytest.mark.parametrize("graph", ["", "<urn:other>", f"<{FETCHES_GRAPH}>", "_:g"])
def test_whatever_graph_a_line_names_is_left_out(graph):
    assert fold(f'<http://x/> <http://p/> "a <{PAGE}> ." {graph} .') == [f'<http://x/> <http://p/> "a <{PAGE}> ."']


@given(st.text(), st.sampled_from(["", "@de", "^^<http://www.w3.org/2001/XMLSchema#date>"]))
def test_texts_of_literals_stay(text, end):
    literal = f"{quoted(f'{own_label()} {text} <genid:x> <https://schema.org/a>')}{end}"
    assert fold(f"<http://x/> <http://p/> {literal} <{PAGE}> .") == [f"<http://x/> <http://p/> {literal}"]
    assert restore_line(f"<http://x/> <http://p/> {literal} .") == f"<http://x/> <http://p/> {literal} ."


@given(st.text(max_size=200))
def test_no_line_is_an_exception(line):
    for triple in fold(line, f"_:a {line}", f"<http://x/> <http://p/> {line} <{PAGE}> ."):
        assert len(triple.split(" ", 2)) == 3


USUAL = [
    '<https://schema.org/a> <https://schema.org/name> "A <b> ."@en-US',
    f"{own_label()} <{RDF}type> <http://www.schema.org/Person>",
    f"<http://x/> <http://p/> {own_label()}",
    f"_:other <{RDF}type> _:other",
    '<http://x/> <http://p/> "1"^^<https://schema.org/Date>',
    '<genid:a/n1> <http://p/> "a  b"',
]


def test_lines_as_extraction_writes_them_are_read_like_any_others():
    usual = "".join(f"{triple} <{PAGE}> .\n" for triple in USUAL)
    folded = fold_statements({"rdfa": usual}, PAGE)
    assert len(folded) == len(USUAL)
    assert fold_statements({"rdfa": f"{usual}# a comment\n"}, PAGE) == folded
    assert fold_statements({"rdfa": usual.replace(f" <{PAGE}> .\n", "\t.\n")}, PAGE) == folded


@pytest.mark.parametrize(
    "triple",
    [
        "",
        "<http://x/>",
        "<http://x/> <http://p/>",
        " <http://p/> <http://x/>",
        "<http://x/>  <http://x/>",
        "<http://x/> <http://p/> ",
    ],
)
def test_a_line_without_three_terms_costs_itself_alone(triple):
    other = f"<http://x/> <http://p/> <http://y/> <{PAGE}> .\n"
    assert fold_statements({"rdfa": f"{other}{triple} <{PAGE}> .\n"}, PAGE) == ["<http://x/> <http://p/> <http://y/>"]


def test_labels_that_extraction_did_not_give_are_nodes_of_their_page_alone():
    for label in ("b1", "é", "a.b-c·d", "x:y", own_label(OTHER)[2:], "p0123456789abcdefn1"):
        here, there = (fold(f"_:{label} <http://p/> _:{label} <{url}> .", url=url)[0] for url in (PAGE, OTHER))
        assert not set(here.split(" ")) & set(there.split(" ")) - {"<http://p/>"}
        subject = here.split(" ")[0]
        restored = restore_term(subject)
        assert BlankNode(restored[2:]).value.endswith(label)
        assert f"<{skolemise(restored[2:])}>" == subject
        [quad] = pyoxigraph.parse(f"{here} .", RdfFormat.N_QUADS)
        assert str(quad.subject) == subject


def test_nobody_speaks_of_the_nodes_of_another_page():
    [theirs] = fold(f'{own_label(OTHER)} <http://p/> "theirs" <{OTHER}> .', url=OTHER)
    node = theirs.split(" ")[0]
    tries = [
        f'{form} <http://p/> "mine" <{PAGE}> .'
        for form in (node, node.replace("genid", "gen\\u0069d"), own_label(OTHER))
    ]
    for line in tries:
        [triple] = fold(line)
        assert not triple.startswith(f"{node} ")
    [triple] = fold(f"<http://x/> <http://p/> {node} <{PAGE}> .")
    assert node not in triple.split(" ")
    assert restore_line(triple) == f"<http://x/> <http://p/> {node}"
    assert not is_about_blank(triple)
    [triple] = fold(f'<http://x/> {node} "a"^^{node} <{PAGE}> .')
    assert node not in triple
    assert restore_line(f"{triple} <{PAGE}> .") == f'<http://x/> {node} "a"^^{node} <{PAGE}> .'


def test_a_graph_is_named_as_extraction_names_it():
    for url in (PAGE, "http://a.example/ü?x=|{}", "no URL at all", "http://a.example/a b"):
        assert f"<{make_graph_iri(url)}>" == graph_term(url)


@pytest.mark.parametrize("url", [FETCHES_GRAPH, "urn:rdfspider:cursors", "genid:0123456789abcdef/n1"])
def test_no_page_has_the_name_of_a_graph_of_ours(url):
    assert make_graph_iri(url) != url
    assert make_graph_iri(url).startswith("urn:rdfspider:page:")


NODE, RESTORED = "<genid:0123456789abcdef/n1>", "_:p0123456789abcdefn1"


@pytest.mark.parametrize(
    ("line", "restored"),
    [
        (f"{NODE} <http://p/> {NODE} <http://g/> .", f"{RESTORED} <http://p/> {RESTORED} <http://g/> ."),
        (f'<http://x/> <http://p/> "{NODE}" .', f'<http://x/> <http://p/> "{NODE}" .'),
        (
            f'{NODE} <http://p/> "a\\" {NODE}^^<genid:iri/a>"@en .',
            f'{RESTORED} <http://p/> "a\\" {NODE}^^<genid:iri/a>"@en .',
        ),
        ('<http://x/> <http://p/> "^^<genid:iri/a>" .', '<http://x/> <http://p/> "^^<genid:iri/a>" .'),
    ],
)
def test_lines_of_exports(line, restored):
    assert restore_line(line) == restored
