"""Copies of a real crawl's pages that change their minds: what asks for no copy, or is forgotten, is not shown, whenever it was
fetched."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from rdfspider import Crawl
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log.indexed_sources import add_rule
from serving import Serving, serve
from web import Answer, Web, crawl

HOST = "http://a.test"
DAY_S = 86_400
NOARCHIVE = {"X-Robots-Tag": "noarchive"}
TAG = {"ETag": '"one"'}


def page(word: str, status: int = 200, **headers: str) -> Answer:
    body = f'<title>{word}</title><p vocab="http://schema.org/" typeof="Book"><b property="name">{word}</b> says {word}'
    return Answer(status, body.encode(), headers=headers)


# The answers to three visits; what has a tag and is asked by it is not modified, with the same headers.
PAGES = {
    "/steady": [page("amarulo"), page("amarulo"), page("amarulo")],
    "/closing": [page("brevio"), page("brevio", **NOARCHIVE), page("brevio", **NOARCHIVE)],
    "/tagged": [page("cobalto", **TAG), page("cobalto", **TAG, **NOARCHIVE), page("cobalto", **TAG, **NOARCHIVE)],
    "/ill": [page("dravito"), page("dravito", **NOARCHIVE), Answer(500, b"<title>Oh</title>")],
    "/back": [page("epidoto"), page("epidoto", **NOARCHIVE), page("epidoto")],
}
HAS_COPY = {
    "/steady": [True, True, True],
    "/closing": [True, False, False],
    "/tagged": [True, False, False],
    "/ill": [True, False, False],
    "/back": [True, False, True],
}


class Visits:
    """A site that is another for each visit of the crawl."""

    def __init__(self) -> None:
        self.visit = 0
        self.unmodified = 0

    def __call__(self, host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if path not in PAGES:
            return Answer(404)
        found = PAGES[path][self.visit]
        if found.headers.get("ETag") and headers.get("if-none-match") == found.headers["ETag"]:
            self.unmodified += 1
            return Answer(304, headers=found.headers)
        return found


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[dict[str, Any]], Serving]]:
    """After each visit, what is shown of each page; and the site after the last."""
    folder, site, seen = tmp_path_factory.mktemp("copies") / "c", Visits(), []
    with Web(site) as web:
        flags = [*(HOST + path for path in PAGES), "--delay", 0, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        for site.visit in range(3):
            settings = {"crawl_revisit_s": DAY_S, "frontier_attempts": 1, "index_enabled": None}
            crawl(folder, *flags, ahead_s=site.visit * (DAY_S + 1), **settings)
            with serve(Crawl.open(folder)) as serving:
                seen.append({path: look(serving, HOST + path) for path in PAGES})
    assert site.unmodified == 2
    with serve(Crawl.open(folder)) as serving:
        yield seen, serving


def look(serving: Serving, url: str) -> dict[str, Any]:
    copy, page = serving.get("/copy.json", url=url), serving.get("/page.json", url=url).json
    return {"status": copy.status, "error": copy.json.get("error", ""), "page": page}


@pytest.mark.parametrize("path", PAGES)
def test_a_copy_is_shown_only_while_the_newest_visit_allows_it(
    crawled: tuple[list[dict[str, Any]], Serving], path: str
) -> None:
    for visit, seen in enumerate(crawled[0]):
        has_copy, found = HAS_COPY[path][visit], seen[path]
        assert found["status"] == (200 if has_copy else 404), visit
        assert found["page"]["fetch"]["has_copy"] is has_copy, visit
        assert ("noarchive (X-Robots-Tag)" in found["error"]) is not has_copy, visit
        # What it says was never asked to be kept from people.
        assert list(found["page"]["statements"]) == ["rdfa"], visit


def test_nothing_is_shown_of_a_forgotten_page(crawled: tuple[list[dict[str, Any]], Serving]) -> None:
    serving, url = crawled[1], f"{HOST}/back"
    assert serving.get("/copy", url=url).status == 200
    assert "epidoto" in serving.get("/page", url=url).text
    serving.site.crawl.forget(url)
    check_forgotten(serving, url, "epidoto")
    assert "amarulo" in serving.get("/copy", url=f"{HOST}/steady").text


def test_a_page_is_not_shown_before_the_index_has_forgotten_it(
    crawled: tuple[list[dict[str, Any]], Serving],
) -> None:
    serving, url = crawled[1], f"{HOST}/steady"
    assert serving.get("/copy", url=url).status == 200
    add_rule(IndexPaths(serving.site.folder), "a.test")
    check_forgotten(serving, url, "amarulo")


def check_forgotten(serving: Serving, url: str, word: str) -> None:
    for written in (url, url.removeprefix("http://"), f"{url}#top"):
        for address in ("/copy", "/copy.json"):
            reply = serving.get(address, url=written)
            assert (reply.status, word in reply.text) == (404, False), (address, written)
        for address in ("/page", "/page.json", "/page.nq", "/page.csv"):
            reply = serving.get(address, url=written)
            assert (reply.status, word in reply.text) == (200, False), (address, written)
    assert "was forgotten" in serving.get("/page", url=url).text
