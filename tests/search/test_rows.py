"""Rows and statements as Python has them: values, terms, and tables of pandas, polars and Arrow."""

import copy
import json
import pickle
import sys
import tracemalloc
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pyarrow
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, Store, Triple

from rdfspider.errors import UnansweredError, UsageError
from rdfspider.search.rows import Rows, Statements, read_rows


def ask(query: str) -> Rows:
    """The rows that Oxigraph itself has for a query."""
    prefixes = {"xsd": "http://www.w3.org/2001/XMLSchema#"}
    results = Store().query(query, prefixes=prefixes)
    return read_rows(results.serialize(format=QueryResultsFormat.JSON))  # type: ignore[union-attr, arg-type]


def values(*terms: str) -> Rows:
    return ask(f"SELECT ?x {{ VALUES ?x {{ {' '.join(terms)} }} }}")


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("<http://a/>", "http://a/"),
        ("'text'", "text"),
        ("'text'@en", "text"),
        ("5", 5),
        ("'-7'^^xsd:long", -7),
        ("5.25", 5.25),
        ("5e3", 5000.0),
        ("'INF'^^xsd:double", float("inf")),
        ("true", True),
        ("'0'^^xsd:boolean", False),
        ("'2024-02-29T12:00:00Z'^^xsd:dateTime", datetime(2024, 2, 29, 12, tzinfo=UTC)),
        ("'2024-02-29T12:00:00'^^xsd:dateTime", datetime(2024, 2, 29, 12)),
        ("'2024-02-29'^^xsd:date", date(2024, 2, 29)),
        # What no Python value stands for stays text.
        ("'-0044-03-15'^^xsd:date", "-0044-03-15"),
        ("'soon'^^xsd:dateTime", "soon"),
        ("'five'^^xsd:integer", "five"),
        ("'1_000'^^xsd:integer", "1_000"),
        ("'yes'^^xsd:boolean", "yes"),
        ("'P1Y'^^xsd:duration", "P1Y"),
        ("UNDEF", None),
    ],
)
def test_values_are_those_of_python(term: str, value: object) -> None:
    ((found,),) = values(term)
    assert found == value
    assert type(found) is type(value)


def test_a_number_of_any_length_costs_no_time() -> None:
    digits = "9" * 100_000
    assert values(f"'{digits}'^^xsd:integer")[0].x == digits


def test_rows_are_a_sequence_and_their_values_have_names() -> None:
    rows = ask("SELECT ?name ?count { VALUES (?name ?count) { ('a' 1) ('b' UNDEF) ('c' 3) } }")
    assert rows.variables == ("name", "count")
    assert (len(rows), rows[0].name, rows[0]["count"], rows[-1][1]) == (3, "a", 1, 3)
    assert [row.as_dict() for row in rows[1:]] == [{"name": "b", "count": None}, {"name": "c", "count": 3}]
    name, _ = rows[2]
    assert name == "c"
    with pytest.raises(AttributeError, match="there is no variable 'nam': there are name, count"):
        _ = rows[0].nam
    with pytest.raises(KeyError):
        _ = rows[0]["nam"]
    with pytest.raises(IndexError):
        _ = rows[3]


def test_variables_may_be_called_as_anything_is() -> None:
    names = ("count", "index", "as_dict", "_places", "self", "__class__")
    (row,) = ask(f"SELECT * {{ VALUES ({' '.join(f'?{name}' for name in names)}) {{ (1 2 3 4 5 6) }} }}")
    assert (row.count, row.index, row.self) == (1, 2, 5)
    assert [row[name] for name in names] == [1, 2, 3, 4, 5, 6]
    assert dict(row.as_dict()) == dict(zip(names, range(1, 7), strict=True))
    ((other,),) = ask("SELECT ?x { VALUES ?x { 1 } }")
    assert other == 1


def test_rows_travel_between_processes() -> None:
    rows = ask("SELECT ?name ?count { VALUES (?name ?count) { ('a' 1) ('b' UNDEF) } }")
    for copied in (pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows)):
        assert (copied.variables, list(copied), copied.terms) == (rows.variables, list(rows), rows.terms)
        assert copied[0].count == 1
    row = pickle.loads(pickle.dumps(rows[1]))
    assert (row, row.name, row.as_dict()) == (("b", None), "b", {"name": "b", "count": None})


def test_rows_take_little_more_room_than_what_they_came_in() -> None:
    row = ",".join(f'"v{at}":{{"type":"literal","value":"{at}"}}' for at in range(10))
    document = (
        f'{{"head":{{"vars":["v1"]}},"results":{{"bindings":[{",".join(["{" + row + "}"] * 20_000)}]}}}}'.encode()
    )
    tracemalloc.start()
    try:
        rows = read_rows(document)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert rows[-1].v1 == "1"
    assert peak < len(document)


def test_terms_keep_what_values_lose() -> None:
    rows = ask("SELECT * { VALUES (?a ?b ?c) { (<http://a/> 'x'@en-gb '05'^^<a:type>) (UNDEF 'x' 1) } }")
    assert rows.terms == [
        (NamedNode("http://a/"), Literal("x", language="en-gb"), Literal("05", datatype=NamedNode("a:type"))),
        (None, Literal("x"), Literal(1)),
    ]
    ((node,),) = ask("SELECT (BNODE() AS ?x) {}").terms
    assert isinstance(node, BlankNode)
    triple = Triple(NamedNode("a:a"), NamedNode("a:b"), Literal("c"))
    rows = ask("SELECT (TRIPLE(<a:a>, <a:b>, 'c') AS ?x) {}")
    assert (rows.terms, rows[0].x) == ([(triple,)], str(triple))


def test_triples_within_triples_are_not_followed_forever() -> None:
    cell: dict[str, Any] = {"type": "literal", "value": "x"}
    text = json.dumps(cell)
    for _ in range(20_000):
        text = '{"type":"triple","value":{"subject":%s}}' % text  # noqa: UP031
    with pytest.raises(UnansweredError, match="too deep to be read"):
        read_rows(f'{{"head":{{"vars":["x"]}},"results":{{"bindings":[{{"x":{text}}}]}}}}'.encode())


@pytest.mark.parametrize(
    ("terms", "kind", "found"),
    [
        (["1", "UNDEF", "2"], pyarrow.int64(), [1, None, 2]),
        (["1", "2.5"], pyarrow.float64(), [1.0, 2.5]),
        (["true", "false"], pyarrow.bool_(), [True, False]),
        (["1", "'one'"], pyarrow.string(), ["1", "one"]),
        (["1", "true"], pyarrow.string(), ["1", "true"]),
        (["1", "99999999999999999999"], pyarrow.string(), ["1", "99999999999999999999"]),
        (["<http://a/>", "'b'@en"], pyarrow.string(), ["http://a/", "b"]),
        (["UNDEF"], pyarrow.string(), [None]),
        (["'2024-02-29'^^xsd:date"], pyarrow.date32(), [date(2024, 2, 29)]),
        (["'2024-02-29T12:00:00'^^xsd:dateTime"], pyarrow.timestamp("us"), [datetime(2024, 2, 29, 12)]),
        (
            ["'2024-02-29T12:00:00+02:00'^^xsd:dateTime"],
            pyarrow.timestamp("us", "UTC"),
            [datetime(2024, 2, 29, 12, tzinfo=timezone(timedelta(hours=2)))],
        ),
        (
            ["'2024-02-29T12:00:00'^^xsd:dateTime", "'2024-02-29T12:00:00Z'^^xsd:dateTime"],
            pyarrow.string(),
            ["2024-02-29T12:00:00", "2024-02-29T12:00:00Z"],
        ),
        (["'0001-01-01T00:00:00+14:00'^^xsd:dateTime"], pyarrow.string(), ["0001-01-01T00:00:00+14:00"]),
    ],
)
def test_a_column_has_the_type_of_its_values(terms: list[str], kind: pyarrow.DataType, found: list[object]) -> None:
    table = values(*terms).to_arrow()
    assert table.schema.field("x").type == kind
    assert table.column("x").to_pylist() == found


def test_pandas_and_polars_take_rows_in_one_call() -> None:
    rows = ask("SELECT ?name ?count { VALUES (?name ?count) { ('a' 1) ('b' 2) } }")
    expected = [{"name": "a", "count": 1}, {"name": "b", "count": 2}]
    assert rows.to_pandas().to_dict("records") == expected
    assert rows.to_polars().to_dicts() == expected
    assert ask("SELECT ?x { FILTER(false) }").to_pandas().empty


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_is_not_installed_is_told(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=rf"{library} is not installed: pip install 'rdfspider\[{library}\]'"):
        getattr(values("1"), f"to_{library}")()


def test_notebooks_show_rows_and_no_page_writes_html() -> None:
    evil = "<script>alert(1)</script>"
    rows = values(f"'{evil}'", "<http://a/?b=c&d>", "<javascript:alert(1)>", "'" + "long " * 200 + "'")
    shown = rows._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert '<a href="http://a/?b=c&amp;d" rel="noreferrer">' in shown
    assert 'href="javascript' not in shown
    assert len(shown) < 1_000
    assert "<p>4 rows</p>" in shown
    many = Rows(["x"], [*values("1")._bindings] * 1_000, True)
    assert many._repr_html_().count("<tr>") == 21
    assert "1,000 rows, the first 20 are shown; there are more" in many._repr_html_()
    assert repr(many) == "<Rows: 1,000 of x, truncated>"


def test_statements_are_triples_and_tables() -> None:
    statements = Statements(b'<http://a/> <http://schema.org/name> "A"@en .\n<http://a/> <a:b> "<i>" .\n', True)
    assert [triple.object for triple in statements] == [Literal("A", language="en"), Literal("<i>")]
    assert (len(statements), statements.is_truncated) == (2, True)
    assert 'schema:name "A"@en' in statements.to_turtle()
    assert statements.to_ntriples().count("\n") == 2
    table = statements.to_arrow()
    assert table.column_names == ["subject", "predicate", "object", "object_kind", "datatype", "language"]
    assert table.column("object").to_pylist() == ["A", "<i>"]
    assert statements.to_polars()["language"].to_list() == ["en", None]
    assert len(statements.to_pandas()) == 2
    assert "&lt;i&gt;" in statements._repr_html_()
    assert repr(statements) == "<Statements: 2, truncated>"
