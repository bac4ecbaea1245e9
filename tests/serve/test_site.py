"""The site while the index below it changes: made again, gone, of another version, of files from elsewhere; and its end."""

import shutil
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.crawl.reports import live
from rdfspider.errors import UnansweredError
from rdfspider.index.quads import snapshots
from rdfspider.search import statistics
from serving import Serving, serve
from waiting import PATIENCE_S, wait_until
from web import Answer, Web

TEA = "https://shop.example/#tea"
PAGES = {"https://shop.example/": {"@context": "https://schema.org", "@id": TEA, "@type": "Product", "name": "Tea"}}
ASKED = (
    ("/", {}),
    ("/search", {"q": "tea"}),
    ("/search.json", {"q": "tea"}),
    ("/entity", {"iri": TEA}),
    ("/classes", {}),
    ("/class", {"iri": "http://schema.org/Product"}),
    ("/quality", {"site": "shop.example"}),
    ("/sparql.json", {"query": "ASK {}"}),
)


@pytest.fixture
def site_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Crawl:
    monkeypatch.setattr(statistics, "_CACHED_S", 0.0)
    return index_pages(tmp_path / "c", PAGES)


def ask_all(serving: Serving) -> dict[str, int]:
    return {path: serving.get(path, **parameters).status for path, parameters in ASKED}


def test_an_index_of_another_version_is_told_while_the_site_is_open(site_crawl: Crawl) -> None:
    version = site_crawl.folder / "index" / "version"
    ours = version.read_text()
    with serve(site_crawl) as serving:
        assert set(ask_all(serving).values()) == {200}
        version.write_text("999\n")
        assert ask_all(serving) == {path: 503 for path, _ in ASKED}
        for path, parameters in ASKED:
            reply = serving.get(path, **parameters)
            assert "another version" in reply.text, path
            assert str(site_crawl.folder.parent) not in reply.text
        version.write_text(ours)
        assert set(ask_all(serving).values()) == {200}


def test_an_index_that_is_removed_and_made_again_is_found_again(site_crawl: Crawl, tmp_path: Path) -> None:
    index = site_crawl.folder / "index"
    with serve(site_crawl) as serving:
        assert set(ask_all(serving).values()) == {200}
        shutil.rmtree(index)
        gone = ask_all(serving)
        # What can be said without an index is said.
        assert {path for path, status in gone.items() if status == 200} == {"/", "/classes"}
        assert {status for status in gone.values() if status != 200} == {503}
        assert "indexed yet" in serving.get("/").text
        other = index_pages(tmp_path / "other", {url: {**page, "name": "Green tea"} for url, page in PAGES.items()})
        (other.folder / "index").rename(index)
        assert set(ask_all(serving).values()) == {200}
        assert serving.get("/search.json", q="green").json["total"] == 1
        assert "Green tea" in serving.get("/entity", iri=TEA).text


def test_what_pages_of_files_from_elsewhere_say_is_not_read_again_for_a_thing(tmp_path: Path) -> None:
    """To extract them takes any time; in which syntaxes the page speaks is known without it."""
    page = (
        f'<script type="application/ld+json">{{"@context": "https://schema.org", "@id": "{TEA}", "name": "Tea"}}</script>'
        f'<p vocab="http://schema.org/" resource="{TEA}"><b property="slogan">Both</b></p>'
    )
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}".encode()
    head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://shop.example/\r\nWARC-Date: 2024-05-01T10:00:00Z\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    archive = tmp_path / "other.warc"
    archive.write_bytes(head.encode() + block + b"\r\n\r\n")
    crawl = Crawl.create(tmp_path / "c", ["https://example.org/"], crawl_shards=1)
    crawl.index([str(archive)])
    with serve(crawl) as serving:
        said = serving.get("/entity.json", iri=TEA).json["properties"]["http://schema.org/slogan"]["values"]
        assert [value["text"] for value in said] == ["Both"]
        assert [(one["syntaxes"], one["is_exact"]) for one in said[0]["sources"]] == [(["jsonld", "rdfa"], False)]
        says = serving.get("/entity.json", iri=TEA, says="http://schema.org/slogan").json["attributions"]
        assert [one["is_exact"] for one in says] == [False]
        # The inspector takes the time.
        assert list(serving.get("/page.json", url="https://shop.example/").json["statements"]) == ["jsonld", "rdfa"]


def test_nothing_is_started_after_the_end(site_crawl: Crawl) -> None:
    with serve(site_crawl) as serving:
        assert serving.site.indexes.ask("ASK {}", formats=["json"]).body
    site = serving.site
    for start in (lambda: site.indexes.ask("ASK {}"), lambda: site.visitor, lambda: site.live_reports.hosts("wait", 5)):
        with pytest.raises(UnansweredError):
            start()
    with pytest.raises(RuntimeError):
        site.query_threads.submit(int)


def test_a_site_that_nobody_looks_at_holds_no_old_files(site_crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "_IDLE_S", 0.5)
    monkeypatch.setattr(live, "_IDLE_S", 0.5)
    with serve(site_crawl) as serving:
        site = serving.site
        assert serving.get("/page", url="https://shop.example/").status == 200
        assert serving.get("/entity", iri=TEA).status == 200
        wait_until(lambda: site.indexes._snapshots._opened is None and site.live_reports._calls.pid is None)
        assert set(ask_all(serving).values()) == {200}


def test_who_waits_for_another_server_is_told_of_the_end(tmp_path: Path) -> None:
    asked = threading.Event()

    def keep_waiting(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        asked.set()
        return Answer(delay_s=3600)

    with Web(keep_waiting) as web, ThreadPoolExecutor(1) as client:
        resolve = [f"*.test=127.0.0.1:{web.ports['127.0.0.1']}"]
        crawl = Crawl.create(tmp_path / "c", ["http://a.test/"], fetch_resolve=resolve, fetch_allow_private=True)
        with serve(crawl) as serving:
            visit = client.submit(serving.post, "/inspect/url.json", trusted=True, url="http://a.test/")
            assert asked.wait(PATIENCE_S)
        reply = visit.result(PATIENCE_S)
    assert (reply.status, "the server is being ended" in reply.text) == (503, True)
