"""Calls of the text index within a query: what is read of them, and what takes their place."""

import pytest
from pyoxigraph import Store

from rdfspider.errors import UsageError
from rdfspider.index.quads.sparql.query_text import find_calls, read_tokens, replace_calls
from rdfspider.vocabulary.prefixes import TEXT_NAMESPACE

PREFIXES = {"text": TEXT_NAMESPACE, "schema": "http://schema.org/"}


def calls_of(query: str) -> list[tuple[str, int, str, str]]:
    return [call[:4] for call in find_calls(query, read_tokens(query), PREFIXES)]


@pytest.mark.parametrize(
    ("inside", "call"),
    [
        ("?s text:query 'white whale'", ("white whale", 100, "?s", "")),
        ('?s text:query """a \\"b\\u0041\\"""" ; text:score ?x ; text:limit 5 .', ('a "bA"', 5, "?s", "?x")),
        ("$s text:limit 7 . $s text:query 'a' . $s text:score $n", ("a", 7, "$s", "$n")),
        (f"?s <{TEXT_NAMESPACE}query> 'a' # 'b'\n;", ("a", 100, "?s", "")),
        ("?s text:query ''", ("", 100, "?s", "")),
    ],
)
def test_the_text_service_is_read(inside: str, call: tuple[str, int, str, str]) -> None:
    assert calls_of(f"SELECT * {{ SERVICE <urn:rdfspider:text> {{ {inside} }} ?s ?p ?o }}") == [call]


def test_prefixes_of_the_query_win() -> None:
    own = f"PREFIX t: <{TEXT_NAMESPACE}> SELECT * {{ service <urn:rdfspider:text> {{ ?s t:query 'a' }} }}"
    assert calls_of(own) == [("a", 100, "?s", "")]
    other = "PREFIX text: <http://a/> SELECT * { SERVICE <urn:rdfspider:text> { ?s text:query 'a' } }"
    with pytest.raises(UsageError, match="knows text:query, text:score and text:limit, not text:query"):
        calls_of(other)


@pytest.mark.parametrize(
    ("inside", "complaint"),
    [
        ("", "needs text:query"),
        ("<a:b> text:query 'a'", "must begin with a variable"),
        ("?s text:query ?words", "the words as a string"),
        ("?s text:query 'a' ; text:score 5", "a variable of its own"),
        ("?s text:query 'a' ; text:score ?s", "a variable of its own"),
        ("?s text:query 'a' ; text:limit 'b'", "whole number"),
        ("?s text:query 'a' ; text:limit 0", "from 1 to 10,000"),
        ("?s text:query 'a' ; text:limit 100001", "from 1 to 10,000"),
        ("?s text:query 'a'@en", "where ; or . should be"),
        ("?s schema:name 'a'", "not schema:name"),
        ("?s text:query", "a property and its value"),
    ],
)
def test_a_wrong_call_is_told(inside: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        calls_of(f"SELECT * {{ SERVICE <urn:rdfspider:text> {{ {inside} }} }}")
    with pytest.raises(UsageError, match="has no `}`"):
        calls_of(f"SELECT * {{ SERVICE <urn:rdfspider:text> {{ {inside}")


def test_what_was_found_takes_the_place_of_the_call() -> None:
    query = "SELECT ?s ?x { SERVICE <urn:rdfspider:text> { ?s text:query 'a' ; text:score ?x } } ORDER BY ?x"
    calls = find_calls(query, read_tokens(query), PREFIXES)
    found = [("http://a/", 2.5), ("not an IRI> } INSERT", 2.0), ("genid:0/n1", float("nan"))]
    rewritten = replace_calls(query, calls, [found])
    rows = [(row["s"].value, float(row["x"].value)) for row in Store().query(rewritten)]  # type: ignore[union-attr]
    assert rows == [("genid:0/n1", 0.0), ("http://a/", 2.5)]
    assert list(Store().query(replace_calls(query, calls, [[]]))) == []  # type: ignore[arg-type]


def ask_words(times: int, limit: int = 100) -> str:
    call = f"{{ SERVICE <urn:rdfspider:text> {{ ?s text:query 'tea' ; text:limit {limit} }} }}"
    return f"SELECT * {{ {' UNION '.join([call] * times)} }}"


def test_a_query_looks_for_words_only_so_often_and_for_so_many_results() -> None:
    assert len(calls_of(ask_words(10, 1000))) == 10
    with pytest.raises(UsageError, match="asked 10 times by a query, and this one does so 11 times"):
        calls_of(ask_words(11, 1))
    with pytest.raises(UsageError, match="gives 10,000 results to a query, not 10,001: lower text:limit"):
        calls_of(f"{ask_words(1, 10_000)[:-1]} UNION {ask_words(1, 1)[9:]}")
