import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from rdfspider.config import ExtractConfig
from rdfspider.extract import statements as statements_module
from rdfspider.extract.statements import Problems, Statements
from rdfspider.vocabulary.terms import graph_term

PAGE = "http://example.org/page"


def statements(url: str = PAGE, syntax: str = "test", **settings: object) -> Statements:
    return Statements(url, url, syntax, ExtractConfig(**settings), Problems())  # type: ignore[arg-type]


def parsed(text: str, **settings: object) -> Statements:
    out = statements(**settings)
    out.add_parsed(pyoxigraph.parse(text, RdfFormat.TRIG, base_iri=PAGE, lenient=True))
    return out


def codes(out: Statements) -> list[str]:
    return [problem.code for problem in out.problems.listed()]


def test_a_triple_is_in_the_graph_of_its_page() -> None:
    out = statements()
    out.add("<http://a.example/s>", "<http://a.example/p>", out.literal("o", "en"))
    assert out.to_nquads() == '<http://a.example/s> <http://a.example/p> "o"@en <http://example.org/page> .\n'


def test_what_was_said_twice_leaves_once() -> None:
    out = statements()
    for _ in range(2):
        out.add("<a:s>", "<a:p>", "<a:o>")
    assert out.to_nquads().count("\n") == 1


def test_blank_nodes_differ_by_page_and_syntax_and_repeat_by_order() -> None:
    first = statements().blank()
    assert statements().blank() == first
    assert statements("http://example.org/other").blank() != first
    assert statements(syntax="other").blank() != first


def test_parsed_blank_nodes_are_named_by_first_appearance() -> None:
    one = parsed("_:x <a:p> _:y . _:y <a:p> [] .").to_nquads()
    two = parsed("_:other <a:p> _:names . _:names <a:p> [] .").to_nquads()
    assert one == two


def test_source_graphs_count_only_on_request() -> None:
    trig = "<http://site.example/g> { <a:s> <a:p> 'o' }"
    assert parsed(trig).to_nquads().endswith("<http://example.org/page> .\n")
    assert parsed(trig, keep_graphs=True).to_nquads().endswith("<http://site.example/g> .\n")


def test_parsed_iris_are_repaired_or_dropped() -> None:
    out = statements()
    quads = pyoxigraph.parse(
        '{"@id":"http://example.org/a b","http://example.org/p":[{"@id":"http://b ad/"},{"@id":"http://ok/>x"}]}',
        RdfFormat.JSON_LD,
        lenient=True,
    )
    out.add_parsed(quads)
    assert out.to_nquads() == f"<http://example.org/a%20b> <http://example.org/p> <http://ok/%3Ex> <{PAGE}> .\n"
    assert codes(out) == ["iri-repaired", "iri-dropped"]


def test_language_tags_are_repaired_or_dropped() -> None:
    out = statements()
    assert out.literal("x", "en_US") == '"x"@en-US'
    assert out.literal("x", "not a language") == '"x"'
    assert codes(out) == ["language-dropped"]


def test_limits_are_kept_with_a_problem() -> None:
    out = statements(max_quads=2, max_literal_chars=3, max_iri_chars=20)
    for number in range(4):
        out.add("<a:s>", "<a:p>", out.literal(f"{number}"))
    assert out.full
    assert len(out.lines) == 2
    assert out.literal("abcd") == '"abc"'
    assert out.iri("http://example.org/too-long") is None
    assert codes(out) == ["too-many-quads", "literal-cut", "iri-too-long"]


def test_a_short_page_cannot_make_endless_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements_module, "MAX_STATEMENT_CHARS", 10_000)
    out = statements()
    prefix = "http://example.org/" + "x" * 1000
    out.add_parsed(pyoxigraph.parse(f"@prefix a: <{prefix}> . " + "a:s a:p a:o . " * 1000, RdfFormat.TURTLE))
    assert sum(map(len, out.lines)) < 10_000


def test_problems_of_one_kind_are_counted() -> None:
    out = statements()
    for number in range(1000):
        out.iri(f"bad {number}")
    (problem,) = out.problems.listed()
    assert (problem.code, problem.count) == ("iri-dropped", 1000)
    assert "bad 0" in problem.message


@given(st.text(), st.text(), st.text())
def test_whatever_the_terms_hold_the_lines_are_nquads(iri: str, text: str, language: str) -> None:
    out = statements()
    subject = out.iri(f"http://example.org/{iri}") or out.blank()
    out.add(subject, "<a:p>", out.literal(text, language))
    (quad,) = pyoxigraph.parse(out.to_nquads().encode(), RdfFormat.N_QUADS)
    assert quad.object.value == "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def test_a_page_without_a_valid_address_still_has_a_graph() -> None:
    assert graph_term("http://ex ample/") != graph_term("http://ex  ample/")
    assert graph_term("http://example.org/a b") == "<http://example.org/a%20b>"
