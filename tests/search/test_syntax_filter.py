"""An export takes statements of some syntaxes, properties and pages alone."""

from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import RdfFormat
from tests.index.logs import ShardLog

from rdfspider import Crawl
from rdfspider.errors import UsageError

URL = "http://a.test/1"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A page that names a thing in JSON-LD, and another in RDFa."""
    folder = tmp_path_factory.mktemp("syntaxes") / "c"
    crawl = Crawl.create(folder, [URL], contact="me@example.org", index_enabled=False)
    rdfa = f'_:b <http://schema.org/name> "ü of RDFa"@EN <{URL}> .\n'
    ShardLog(folder).write(URL, name="of JSON-LD", rdfa=rdfa)
    crawl.index()
    return crawl


def export(crawl: Crawl, path: Path, **choice: str) -> list[str]:
    crawl.export(path, **choice)
    return sorted(f"{quad.predicate} {quad.object}" for quad in pyoxigraph.parse(path.read_bytes(), RdfFormat.N_QUADS))


def test_statements_are_chosen_by_syntax(crawl: Crawl, tmp_path: Path) -> None:
    path = tmp_path / "o.nq"
    in_rdfa = ['<http://schema.org/name> "ü of RDFa"@en']
    assert export(crawl, path, syntax="rdfa") == in_rdfa
    assert export(crawl, path, without_syntax="jsonld") == in_rdfa
    assert len(export(crawl, path, syntax="jsonld")) == 2
    assert len(export(crawl, path)) == 3
    with pytest.raises(UsageError, match="unknown syntax rdfb"):
        export(crawl, path, syntax="rdfb")


def test_tables_too(crawl: Crawl) -> None:
    assert crawl.things("Thing", "name", syntax="jsonld").rows == [("of JSON-LD",)]
    assert crawl.things("Thing", "name", syntax="rdfa").rows == []


def test_statements_are_chosen_by_property_and_page(crawl: Crawl, tmp_path: Path) -> None:
    path = tmp_path / "o.nq"
    assert len(export(crawl, path, property="schema:name")) == 2
    assert len(export(crawl, path, without_property="name")) == 1
    assert len(export(crawl, path, graph="http://a.test/*", without_property="rdf:type")) == 2
    assert export(crawl, path, graph="http://b.test/*") == []
    assert export(crawl, path, without_graph="*/1") == []
    with pytest.raises(UsageError, match="a property that is called 'nome': did you mean schema:name"):
        export(crawl, path, property="nome")
