import io
import json

import pyarrow
import pyoxigraph
import pytest
import rdflib
from pyoxigraph import Dataset, RdfFormat

from rdfspider import formats

PAGE = """\
_:p1n1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Book> <http://example.org/a> .
_:p1n1 <http://schema.org/name> "The \\"Tempest\\"\\n\\u00E9"@en-GB <http://example.org/a> .
_:p1n1 <http://schema.org/pageCount> "012"^^<http://www.w3.org/2001/XMLSchema#integer> <http://example.org/a> .
_:p1n1 <http://schema.org/author> _:p1n2 <http://example.org/a> .
_:p1n2 <http://schema.org/name> "William" <http://example.org/a> .
<http://example.org/a> <http://schema.org/about> _:p1n1 <http://example.org/a> .
"""
OTHER = '<http://example.org/b> <http://schema.org/name> "B, again" <http://example.org/b> .\n'
PAGES = [{"jsonld": PAGE}, {"rdfa": OTHER, "microdata": OTHER}, {}]


def dataset(text: str | bytes, rdf_format: RdfFormat) -> Dataset:
    quads = Dataset(pyoxigraph.parse(text, rdf_format))
    quads.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return quads


def triples(nquads: str) -> str:
    return nquads.replace(" <http://example.org/a> .\n", " .\n").replace(" <http://example.org/b> .\n", " .\n")


@pytest.mark.parametrize(
    ("write", "rdf_format"), [(formats.to_trig, RdfFormat.TRIG), (formats.to_jsonld, RdfFormat.JSON_LD)]
)
def test_quads_survive(write: object, rdf_format: RdfFormat) -> None:
    assert callable(write)
    assert dataset(write(PAGE), rdf_format) == dataset(PAGE, RdfFormat.N_QUADS)


def test_turtle_has_triples_and_prefixes() -> None:
    turtle = formats.to_turtle(PAGE + OTHER)
    assert dataset(turtle, RdfFormat.TURTLE) == dataset(triples(PAGE + OTHER), RdfFormat.N_QUADS)
    assert "_:p1n1 a schema:Book" in turtle
    assert "@prefix schema: <http://schema.org/> ." in turtle


def test_merging_keeps_the_order_and_drops_repeats() -> None:
    assert formats.merge_nquads([OTHER, PAGE, "", OTHER]) == OTHER + PAGE
    assert formats.merge_nquads([]) == ""


@pytest.mark.parametrize("name", formats.FRAMES)
def test_pages_join_to_a_document(name: str) -> None:
    frame = formats.FRAMES[name]
    fragments = [fragment.decode() for page in PAGES if (fragment := formats.page_fragment(page, name))]
    document = frame.start + frame.between.join(fragments) + frame.end
    rdf_format = {
        "nquads": RdfFormat.N_QUADS,
        "turtle": RdfFormat.TURTLE,
        "trig": RdfFormat.TRIG,
        "jsonld": RdfFormat.JSON_LD,
    }[name]
    expected = triples(PAGE + OTHER) if name == "turtle" else PAGE + OTHER
    assert dataset(document, rdf_format) == dataset(expected, RdfFormat.N_QUADS)
    assert document.count("@prefix schema:") == (1 if name in ("turtle", "trig") else 0)


def test_jsonld_is_an_array_of_graphs() -> None:
    assert [graph["@id"] for graph in json.loads(formats.to_jsonld(PAGE + OTHER))] == [
        "http://example.org/a",
        "http://example.org/b",
    ]
    assert json.loads(formats.to_jsonld("")) == []


def test_rdflib_keeps_labels_and_lexical_forms() -> None:
    read = formats.to_rdflib(PAGE)
    graph = read.graph(rdflib.URIRef("http://example.org/a"))
    assert len(read) == len(graph) == 6
    assert (
        rdflib.BNode("p1n2"),
        rdflib.URIRef("http://schema.org/name"),
        rdflib.Literal("William"),
    ) in graph
    assert str(graph.value(rdflib.BNode("p1n1"), rdflib.URIRef("http://schema.org/pageCount"))) == "012"


def test_table_has_a_row_a_quad_and_syntax() -> None:
    table = formats.to_arrow({"jsonld": PAGE, "rdfa": OTHER})
    assert tuple(table.column_names) == formats.COLUMNS
    rows = [tuple(row.values()) for row in table.to_pylist()]
    graph = "http://example.org/a"
    assert rows[1:4] == [
        (
            "_:p1n1",
            "http://schema.org/name",
            'The "Tempest"\né',
            "literal",
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
            "en-GB",
            graph,
            "jsonld",
        ),
        (
            "_:p1n1",
            "http://schema.org/pageCount",
            "012",
            "literal",
            "http://www.w3.org/2001/XMLSchema#integer",
            None,
            graph,
            "jsonld",
        ),
        ("_:p1n1", "http://schema.org/author", "_:p1n2", "blank", None, None, graph, "jsonld"),
    ]
    assert rows[-1][4:] == ("http://www.w3.org/2001/XMLSchema#string", None, "http://example.org/b", "rdfa")
    assert len(rows) == 7


def test_table_of_nothing_has_its_columns() -> None:
    assert formats.to_arrow({}).num_rows == formats.to_arrow({"rdfa": ""}).num_rows == 0
    assert tuple(formats.to_arrow({}).column_names) == formats.COLUMNS


def test_parquet_fragment_is_an_arrow_stream() -> None:
    fragment = formats.page_fragment({"jsonld": PAGE}, "parquet")
    table = pyarrow.ipc.open_stream(io.BytesIO(fragment)).read_all()
    assert table.equals(formats.to_arrow({"jsonld": PAGE}))
