"""A site without an index, or with a damaged one: it says so, and not where it is on this machine."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.index.layout import IndexPaths
from serving import Serving, serve


@pytest.fixture(scope="module")
def unindexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serve(Crawl.create(tmp_path_factory.mktemp("unindexed") / "c", ["https://example.org/"])) as serving:
        yield serving


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/search?q=tea", 503),
        ("/suggest.json?q=t", 200),
        ("/entity?iri=https://a.example/", 503),
        ("/page?url=https://a.example/", 200),
        ("/copy?url=https://a.example/", 404),
        ("/classes", 200),
        ("/class?iri=schema:Person", 503),
        ("/property?iri=schema:name", 503),
        ("/ontology?iri=schema:", 503),
        ("/sites", 200),
        ("/site?name=a.example", 503),
        ("/quality?site=a.example", 503),
        ("/links", 503),
        ("/sparql?query=ASK{}", 503),
        ("/monitor", 200),
    ],
)
def test_without_an_index_nobody_learns_where_the_crawl_is(unindexed: Serving, path: str, status: int) -> None:
    place = str(unindexed.site.folder.parent)
    for accept in ("text/html", "application/json"):
        reply = unindexed.get(path, {"Accept": accept})
        assert (reply.status, place in reply.text) == (status, False), accept
        if status == 503 and not path.startswith("/search"):
            assert "here is no index yet" in reply.text


def test_neither_the_monitor_nor_a_damage_tells_where_the_crawl_is(tmp_path: Path) -> None:
    crawl = index_pages(tmp_path / "c", {"https://a.example/": {"@context": "https://schema.org", "name": "Tea"}})
    with serve(crawl) as serving:
        assert [disk["name"] for disk in serving.get("/monitor.json").json["machine"]["disks"]] == ["c"]
        for path in ("/monitor", "/monitor.json", "/metrics"):
            assert str(tmp_path) not in serving.get(path).text, path
        serving.site.indexes._paths.ledger.write_bytes(b"no database" * 1000)
        reply = serving.get("/site.json", name="a.example")
        assert (reply.status, "c/index/ledger.sqlite cannot be read" in reply.text) == (503, True)
        assert str(tmp_path) not in reply.text


def spoil(folder: Path, pattern: str) -> None:
    for path in folder.rglob(pattern):
        path.write_bytes(b"x" * path.stat().st_size)


SITE, CLASS, PROPERTY = "/site?name=a.example", "/class?iri=schema:Product", "/property?iri=schema:name"
THING, QUERY = "/entity?iri=https://a.example/%23tea", "/sparql.json?query=ASK%7B%3Fs%20%3Fp%20%3Fo%7D"


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        (
            "ledger.sqlite",
            ["/", "/search?q=tea", "/classes", SITE, CLASS, "/sparql", "/complete.json", "/.well-known/void"],
        ),
        ("text/meta.json", ["/search.json?q=tea", "/suggest.json?q=t"]),
        ("graph/manifest", ["/search.json?q=tea", "/page?url=https://a.example/"]),
        ("graph/*.graph", ["/page?url=https://a.example/", "/site?name=a.example", "/links"]),
        ("snapshots/*/MANIFEST-*", [THING, CLASS, PROPERTY, "/quality?site=a.example", "/search.nq?q=tea", QUERY]),
        ("snapshots/*/*.sst", [THING, CLASS, PROPERTY, "/quality?site=a.example", "/search.nq?q=tea", QUERY]),
    ],
)
def test_damage_is_told_as_such_and_is_nobodys_mistake(tmp_path: Path, files: str, paths: list[str]) -> None:
    tea = {"@context": "https://schema.org", "@id": "#tea", "@type": "Product", "name": "Tea"}
    crawl = index_pages(tmp_path / "c", {"https://a.example/": tea})
    spoil(IndexPaths(crawl.folder).index, files)
    with serve(crawl) as serving:
        for path in paths:
            reply = serving.get(path, {"Accept": "text/html" if path == "/sparql" else "*/*"})
            assert reply.status == 503, (path, reply.text)
            assert "cannot be read" in reply.text or "is damaged" in reply.text or path == QUERY
            assert str(tmp_path) not in reply.text


@pytest.mark.parametrize(
    "path", ["/", "/search?q=tea", "/suggest.json?q=t", "/complete.json", "/sparql", "/.well-known/void"]
)
def test_an_index_of_another_version_is_told_where_none_is_nothing_to_tell(tmp_path: Path, path: str) -> None:
    crawl = index_pages(tmp_path / "c", {"https://a.example/": {"@context": "https://schema.org", "name": "Tea"}})
    IndexPaths(crawl.folder).version.write_text("999\n")
    with serve(crawl) as serving:
        reply = serving.get(path, {"Accept": "text/html" if path == "/sparql" else "*/*"})
        assert (reply.status, "another version" in reply.text) == (503, True)
        page = serving.get("/page", url="https://a.example/")
        assert (page.status, "another version" in page.text) == (200, True), "what can be told is told"


def test_a_query_without_quads_is_no_mistake(tmp_path: Path) -> None:
    crawl = index_pages(tmp_path / "c", {"https://a.example/": {"@context": "https://schema.org", "name": "Tea"}})
    shutil.rmtree(IndexPaths(crawl.folder).snapshots)
    with serve(crawl) as serving:
        for path in (QUERY, THING):
            reply = serving.get(path)
            assert (reply.status, "here is no index yet" in reply.text) == (503, True)
