"""The W3C suites of RDF 1.1 syntaxes: every test passes.

A document counts as rejected when there is a Problem: extraction never fails, it reports.
"""

from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, DefaultGraph, NamedNode, Quad, RdfFormat, Store

from rdfspider.config import ExtractConfig
from rdfspider.extract.rdf import extract_rdf_document
from rdfspider.extract.statements import Problems, Statements
from rdfspider.formats import to_quads
from rdfspider.records import Content, ContentKind
from rdfspider.vocabulary.prefixes import RDF

MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"

SUITES = [
    ("rdf-xml", "application/rdf+xml", 166),
    ("rdf-turtle", "text/turtle", 313),
    ("rdf-n-triples", "application/n-triples", 70),
    ("rdf-n-quads", "application/n-quads", 87),
    ("rdf-trig", "application/trig", 356),
]


@pytest.mark.parametrize(("name", "media_type", "count"), SUITES)
def test_suite(suites: Path, name: str, media_type: str, count: int) -> None:
    folder = suites / "rdf" / "rdf" / "rdf11" / name
    base = f"https://w3c.github.io/rdf-tests/rdf/rdf11/{name}/"
    manifest = Store()
    manifest.load(path=folder / "manifest.ttl", format=RdfFormat.TURTLE, base_iri=base + "manifest.ttl")
    tests = list(manifest.quads_for_pattern(None, NamedNode(MANIFEST + "action"), None))
    failed = [test.subject.value for test in tests if not _passes(manifest, test, folder, base, media_type)]
    assert failed == []
    assert len(tests) == count


def _passes(manifest: Store, test: Quad, folder: Path, base: str, media_type: str) -> bool:
    url = test.object.value
    content = Content(
        media_type, ContentKind.RDF, "utf-8", (folder / url.removeprefix(base)).read_bytes().decode("utf-8", "replace")
    )
    problems = Problems()
    out = Statements(url, url, "rdf", ExtractConfig(keep_graphs=True), problems)
    extract_rdf_document(content, out)
    kind = _value(manifest, test.subject, RDF + "type")
    if "Negative" in kind:
        return problems.listed() != ()
    if problems.listed():
        return False
    quads = to_quads(out.to_nquads())
    if not kind.endswith("Eval"):
        return True
    expected = folder / _value(manifest, test.subject, MANIFEST + "result").removeprefix(base)
    return _canonical(quads, url) == _canonical(list(pyoxigraph.parse(path=expected, format=RdfFormat.N_QUADS)), url)


def _value(manifest: Store, subject: NamedNode, predicate: str) -> str:
    return next(iter(manifest.quads_for_pattern(subject, NamedNode(predicate), None))).object.value


def _canonical(quads: list[Quad], page: str) -> Dataset:
    """The quads with the page's graph as the default graph, and blank nodes in canonical order."""
    default = DefaultGraph()
    dataset = Dataset(
        Quad(q.subject, q.predicate, q.object, default if q.graph_name == NamedNode(page) else q.graph_name)
        for q in quads
    )
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset
