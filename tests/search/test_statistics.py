import os
import sys
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store

from indexed import index_pages
from rdfspider import Crawl, UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.search import statistics
from rdfspider.search.statistics import CachedStatistics

S = "http://schema.org/"
VOID = "http://rdfs.org/ns/void#"
PAGES = {
    "https://one.example/": {
        "@context": "https://schema.org",
        "@type": "Person",
        "name": "Ada",
        "url": "https://one.example/",
    },
    "https://one.example/b": {"@context": "https://schema.org", "@type": "Book", "name": "Notes"},
    "https://www.two.example/": '<p vocab="http://xmlns.com/foaf/0.1/" typeof="Person"><b property="name">Bob</b>',
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return index_pages(tmp_path_factory.mktemp("vocabulary") / "crawl", PAGES)


def test_names_are_counted_by_uses_pages_and_sites(crawl: Crawl) -> None:
    stats = crawl.stats()
    assert stats.totals.pages == 3
    assert stats.totals.sites == len(stats.sites) == 2
    assert {(each.name, each.uses, each.pages, each.sites) for each in stats.classes} == {
        (f"{S}Person", 1, 1, 1),
        (f"{S}Book", 1, 1, 1),
        ("http://xmlns.com/foaf/0.1/Person", 1, 1, 1),
    }
    counts = {each.name: each for each in stats.properties}
    assert counts[f"{S}name"].pages == 2
    assert stats.ontologies[0].name == S
    assert {each.name for each in stats.sites} == {"one.example", "two.example"}
    assert {"jsonld", "rdfa"} <= {each.name for each in stats.syntaxes}


def test_only_the_top_is_listed_but_all_are_counted(crawl: Crawl) -> None:
    stats = crawl.stats(top=1)
    assert len(stats.classes) == len(stats.properties) == 1
    assert stats.totals.classes == 3
    with pytest.raises(UsageError, match="at least 1"):
        crawl.stats(top=0)


def test_void_is_turtle_that_says_the_same(crawl: Crawl) -> None:
    stats = crawl.stats()
    store = Store()
    store.load(stats.to_void().encode(), RdfFormat.TURTLE)

    def ask(query: str) -> set[tuple[str, ...]]:
        prefixes = {"void": VOID, "our": "urn:rdfspider:vocab#"}
        return {tuple(term.value for term in row) for row in store.query(query, prefixes=prefixes)}  # type: ignore[union-attr]

    assert ask("SELECT ?t ?d { <urn:rdfspider:dataset> a void:Dataset ; our:uses ?t ; void:documents ?d }") == {
        (str(stats.totals.quads), "3")
    }
    # What is counted once for each syntax and page is no number of triples or things.
    assert ask("SELECT ?x { ?x void:triples ?n }") == set()
    assert ask("SELECT ?x { ?x void:entities ?n }") == {("urn:rdfspider:dataset",)}
    assert ask("SELECT ?c ?n { ?x void:classPartition [ void:class ?c ; our:uses ?n ] }") == {
        (each.name, str(each.uses)) for each in stats.classes
    }
    assert ask("SELECT ?p ?n { ?x void:propertyPartition [ void:property ?p ; our:uses ?n ] }") == {
        (each.name, str(each.uses)) for each in stats.properties
    }
    assert ask("SELECT ?v { ?x void:vocabulary ?v }") == {(each.name,) for each in stats.ontologies}
    assert ask("SELECT ?s ?n { ?x void:subset [ <http://purl.org/dc/terms/title> ?s ; void:documents ?n ] }") == {
        ("one.example", "2"),
        ("two.example", "1"),
    }
    assert ask("SELECT ?n { <urn:rdfspider:dataset> void:entities ?n }") == {(str(stats.totals.entities),)}


def test_counts_become_tables(crawl: Crawl) -> None:
    classes = crawl.stats().classes
    pandas = pytest.importorskip("pandas")
    frame = classes.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["name", "uses", "pages", "sites"]
    assert len(frame) == 3


def test_without_pandas_that_is_told(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"pip install 'rdfspider\[pandas\]'"):
        crawl.stats().classes.to_pandas()


def test_html_is_escaped(tmp_path: Path) -> None:
    page = """<p vocab="https://evil.example/?'onclick=&amp;lt;" typeof="X"><b property="y">1</b>"""
    html = index_pages(tmp_path / "crawl", {**PAGES, "https://evil.example/": page}).stats()._repr_html_()
    assert "https://evil.example/?&#x27;onclick=&amp;lt;X" in html
    assert f'href="{S}Person"' in html


def test_an_empty_index_has_statistics_too(tmp_path: Path) -> None:
    stats = index_pages(tmp_path / "crawl", {}).stats()
    assert stats.totals.pages == 0
    assert stats.classes == ()
    assert "void:documents 0" in stats.to_void()
    assert stats._repr_html_()


def test_counts_are_cached_until_the_ledger_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "_CACHED_S", 3600.0)
    cached = CachedStatistics(IndexPaths(tmp_path / "c"))
    assert cached.read() is None
    index_pages(tmp_path / "c", {"https://tea.example/": {"@context": "https://schema.org", "@type": "Product"}})
    first = cached.read()
    assert first is not None
    assert first.totals.pages == 1
    ledger = IndexPaths(tmp_path / "c").ledger
    os.utime(ledger, (1, 1))
    # Within seconds nobody looks.
    assert cached.read() is first
    monkeypatch.setattr(statistics, "_CACHED_S", 0.0)
    second = cached.read()
    assert second is not first
    assert cached.read() is second
