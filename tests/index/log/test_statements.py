"""The views get what is data, about the page that says it."""

from tests.index.pages import make_outcome

from rdfspider.index.entities.nodes import read_graph
from rdfspider.index.log.statements import choose_statements
from rdfspider.vocabulary.terms import fold_statements

HOME, URL = "https://a.example/", "https://a.example/news/1"
OG = "http://ogp.me/ns#"


def choose(html: str, *, mechanics: bool = False) -> dict[str, str]:
    return dict(choose_statements(make_outcome(URL, html), mechanics=mechanics).statements)


def test_mechanics_are_left_out_unless_wanted():
    html = '<html lang="en"><nav role="navigation">x</nav>'
    assert choose(html) == {}
    assert list(choose(html, mechanics=True)) == ["rdfa"]


def test_a_site_wide_base_leaves_opengraph_to_the_page():
    html = (
        f'<html><head><base href="{HOME}"><meta property="og:title" content="One"><meta property="article:tag" content="t">'
        '</head><body><p about="#me" property="foaf:name">Me</p></body>'
    )
    outcome = make_outcome(URL, html)
    assert f'<{HOME}> <{OG}title> "One"' in outcome.statements["rdfa"]
    chosen = choose_statements(outcome, mechanics=False).statements
    triples = fold_statements(chosen, URL)
    assert sorted(triples) == [
        f'<{HOME}#me> <http://xmlns.com/foaf/0.1/name> "Me"',
        f'<{URL}> <{OG}title> "One"',
        f'<{URL}> <http://ogp.me/ns/article#tag> "t"',
    ]


def test_what_is_said_of_another_thing_stays_there():
    html = f'<div about="{HOME}other" property="og:title">Other</div><meta property="og:title" content="One">'
    assert f'<{HOME}other> <{OG}title> "Other"' in choose(html)["rdfa"]


def test_lines_that_are_no_statements_do_no_harm():
    outcome = make_outcome(URL, statements={"rdfa": "<\n<x> \n\nnonsense", "meta": f"<{URL}>\n"})
    assert choose_statements(outcome, mechanics=False) is outcome


def test_prefixes_of_nobody_are_no_ontologies():
    html = '<html lang="en"><meta property="article:tag" content="t"><meta property="slick:group" content="g">'
    facts = read_graph(URL, choose(html)).facts
    assert list(facts.ontologies) == ["http://ogp.me/ns/article#"]
    assert facts.properties["http://ogp.me/ns/article#tag"] == 1, "RDFa and meta state the same"
    assert facts.properties["slick:group"] == 1
