"""A site without an index, or with a damaged one: it says so, and not where it is on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider import Crawl
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
        serving.site.paths.ledger.write_bytes(b"no database" * 1000)
        reply = serving.get("/site.json", name="a.example")
        assert (reply.status, "c/index/ledger.sqlite cannot be read" in reply.text) == (400, True)
        assert str(tmp_path) not in reply.text
