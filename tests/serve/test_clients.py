"""Clients that others have made use the endpoint: SPARQLWrapper, rdflib's SPARQLStore, and Comunica of npm."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rdflib import RDF, Dataset, Graph, Literal, Namespace, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from SPARQLWrapper import JSON, JSONLD, N3, POST, POSTDIRECTLY, RDFXML, TURTLE, XML, SPARQLWrapper

from indexed import index_pages
from node_packages import find_node, install
from serving import Serving, serve

SCHEMA = Namespace("http://schema.org/")
TEA, OIL = URIRef("https://tea.example/#tea"), URIRef("https://oil.example/#oil")
CLIENTS = Path(__file__).parent / "clients"
NAMES = "PREFIX schema: <http://schema.org/> SELECT ?name { ?s schema:name ?name } ORDER BY ?name"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    pages = {
        f"https://{name}.example/": {
            "@context": "https://schema.org", "@id": f"#{name}", "@type": "Product", "name": name,
            "offers": {"@type": "Offer", "price": price},
        }
        for name, price in (("tea", "2.50"), ("oil", "9.00"))
    }  # fmt: skip
    with serve(index_pages(tmp_path_factory.mktemp("clients") / "c", pages)) as serving:
        yield serving


@pytest.fixture
def wrapper(site: Serving) -> SPARQLWrapper:
    return SPARQLWrapper(f"{site.address}/sparql")


@pytest.mark.parametrize(("method", "way"), [("GET", None), (POST, None), (POST, POSTDIRECTLY)])
def test_sparqlwrapper_reads_rows(wrapper: SPARQLWrapper, method: str, way: str | None) -> None:
    wrapper.setMethod(method)
    if way:
        wrapper.setRequestMethod(way)
    wrapper.setQuery(NAMES)
    wrapper.setReturnFormat(JSON)
    rows: Any = wrapper.queryAndConvert()
    assert [row["name"]["value"] for row in rows["results"]["bindings"]] == ["oil", "tea"]
    wrapper.setReturnFormat(XML)
    document: Any = wrapper.queryAndConvert()
    assert [each.firstChild.data for each in document.getElementsByTagName("literal")] == ["oil", "tea"]


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")  # SPARQLWrapper uses it
def test_sparqlwrapper_reads_truth_and_triples(wrapper: SPARQLWrapper) -> None:
    wrapper.setQuery("ASK { ?s a <http://schema.org/Product> }")
    wrapper.setReturnFormat(JSON)
    truth: Any = wrapper.queryAndConvert()
    assert truth["boolean"] is True
    wrapper.setQuery("CONSTRUCT { ?s <http://schema.org/name> ?o } { ?s <http://schema.org/name> ?o }")
    for form in (XML, RDFXML, JSONLD, TURTLE, N3):
        wrapper.setReturnFormat(form)
        found: Any = wrapper.queryAndConvert()
        graph = Graph().parse(data=found, format="turtle") if isinstance(found, bytes) else found
        assert set(graph) == {(TEA, SCHEMA.name, Literal("tea")), (OIL, SCHEMA.name, Literal("oil"))}


def test_sparqlwrapper_asks_graphs(wrapper: SPARQLWrapper) -> None:
    wrapper.addDefaultGraph("https://tea.example/")
    wrapper.setQuery(NAMES)
    wrapper.setReturnFormat(JSON)
    rows: Any = wrapper.queryAndConvert()
    assert [row["name"]["value"] for row in rows["results"]["bindings"]] == ["tea"]


@pytest.mark.parametrize("method", ["GET", "POST", "POST_FORM"])
@pytest.mark.parametrize("form", ["xml", "json"])
def test_rdflib_reads_as_if_it_were_a_graph(site: Serving, method: Any, form: str) -> None:
    graph = Graph(SPARQLStore(f"{site.address}/sparql", method=method, returnFormat=form))
    assert set(graph.subjects(RDF.type, SCHEMA.Product)) == {TEA, OIL}
    assert (TEA, SCHEMA.name, Literal("tea")) in graph
    assert (TEA, SCHEMA.name, Literal("oil")) not in graph
    query = "SELECT ?price { ?s schema:offers/schema:price ?price }"
    found = list(graph.query(query, initNs={"schema": SCHEMA}, initBindings={"s": TEA}))
    assert [str(row.price) for row in found] == ["2.50"]  # type: ignore[union-attr]


def test_rdflib_knows_each_page_as_a_context(site: Serving) -> None:
    store = SPARQLStore(f"{site.address}/sparql")
    page = Graph(store, identifier=URIRef("https://tea.example/"))
    assert set(page.subjects(RDF.type, SCHEMA.Product)) == {TEA}
    contexts = {getattr(each, "identifier", each) for each in Dataset(store).store.contexts((TEA, SCHEMA.name, None))}
    assert contexts == {URIRef("https://tea.example/")}


def test_comunica_finds_out_what_is_there_and_asks_it(site: Serving) -> None:
    packages = install(CLIENTS / "package.json")

    cheap = "?s schema:name ?name ; schema:offers/schema:price ?price FILTER(?price < '5')"
    forms = ("SELECT ?name ?price", "ASK", "CONSTRUCT { ?s schema:price ?price }")
    queries = [f"PREFIX schema: <http://schema.org/> {form} {{ {cheap} }}" for form in forms]
    done = subprocess.run(
        [find_node(), str(CLIENTS / "comunica.cjs"), f"{site.address}/sparql", *queries],
        env=os.environ | {"NODE_PATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        [{"name": "tea", "price": "2.50"}],
        True,
        [[str(TEA), "http://schema.org/price", "2.50"]],
    ]
