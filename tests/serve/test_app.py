"""What every page of the site has in common: formats, guards, rights, errors."""

import http.client
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from starlette.routing import Route

from indexed import index_pages
from rdfspider.serve import app
from rdfspider.serve.app import PAGES, ROUTES
from rdfspider.serve.limits import MAX_CLIENT_HEAVY_UNDER_WAY
from rdfspider.serve.pages.search import RESULTS_SHOWN
from rdfspider.serve.replies import PageReply, PageRequest, SitePage
from serving import Serving, serve


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    tea = {"@context": "https://schema.org", "@id": "#tea", "@type": "Product", "name": "Green tea"}
    crawl = index_pages(tmp_path_factory.mktemp("app") / "c", {"https://tea.example/": tea})
    with serve(crawl) as serving:
        yield serving


@pytest.mark.parametrize(
    ("path", "accept", "kind"),
    [
        ("/", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
        ("/", "*/*", "text/html; charset=utf-8"),
        ("/", "application/json", "application/json"),
        ("/home.csv", "text/html", "text/csv; charset=utf-8"),
        ("/", "text/turtle;q=0.9, application/json;q=0.1", "text/turtle; charset=utf-8"),
        ("/home.nq", "*/*", "application/n-quads"),
    ],
)
def test_the_suffix_or_the_header_says_which_format(site: Serving, path: str, accept: str, kind: str) -> None:
    reply = site.get(path, {"Accept": accept})
    assert (reply.status, reply.headers["content-type"]) == (200, kind)


def test_what_a_page_is_not_there_as_is_said(site: Serving) -> None:
    reply = site.get("/", {"Accept": "image/png"})
    assert reply.status == 406
    assert "application/json" in reply.text


def test_who_speaks_json_is_told_so_in_json(site: Serving) -> None:
    reply = site.get("/login", {"Accept": "application/json"})
    assert (reply.status, reply.headers["content-type"]) == (406, "application/json")
    assert "text/html" in reply.json["error"]


def test_what_is_not_there_is_not_there_in_other_formats(site: Serving) -> None:
    reply = site.get("/class", iri="http://schema.org/Nothing%20of%20the%20kind")
    assert reply.status == 404
    assert "This page as" not in reply.text
    assert 'rel="alternate"' not in reply.text


@pytest.mark.parametrize("page", [page.path for page in PAGES if page.method == "GET" and "html" in page.formats])
def test_no_name_of_a_parameter_is_one_of_ours(site: Serving, page: str) -> None:
    reply = site.get(page, {"Accept": "text/html"}, path="x", self="y", format_name="z", q="tea", iri="schema:Product")
    assert reply.status < 500
    if reply.status == 200:
        assert "path=x&amp;self=y&amp;format_name=z" in reply.text


@pytest.mark.parametrize(
    ("given", "shown"),
    [("2", 2), ("999999999", 1000), ("9" * 10, 1000), ("9" * 9000, 1000), ("0", 1), ("-3", 1), ("", 1)],
)
def test_a_page_of_results_that_is_too_far_is_the_last_that_can_be_had(site: Serving, given: str, shown: int) -> None:
    reply = site.get("/search.json", q="tea", page=given)
    assert (reply.status, reply.json["offset"]) == (200, (shown - 1) * RESULTS_SHOWN)


def test_a_client_that_asks_for_all_it_may_leaves_threads_to_others(
    site: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, end = threading.Semaphore(0), threading.Event()

    def show_slowly(ask: PageRequest) -> PageReply:
        begun.release()
        end.wait(60)
        return PageReply("", data=dict)

    monkeypatch.setattr(app, "PAGES", (*PAGES, SitePage("/slow", show_slowly, "", formats=("json",), is_heavy=True)))
    with serve(site.site.crawl) as serving, ThreadPoolExecutor(MAX_CLIENT_HEAVY_UNDER_WAY) as clients:
        try:
            replies = [clients.submit(serving.get, "/slow") for _ in range(MAX_CLIENT_HEAVY_UNDER_WAY)]
            for _ in replies:
                assert begun.acquire(timeout=60)
            other = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=60, source_address=("127.0.0.2", 0))
            with closing(other):
                other.request("GET", "/quality.json?site=tea.example")
                assert other.getresponse().status == 200
        finally:
            end.set()
        assert {reply.result(60).status for reply in replies} == {200}


def test_the_first_page_has_a_name_too(site: Serving) -> None:
    reply = site.get("/home")
    assert reply.status == 200
    assert "What sites say of themselves" in reply.text


def test_another_name_of_this_machine_is_not_answered(site: Serving) -> None:
    """A page of the web may have its own name lead to 127.0.0.1."""
    assert site.get("/", {"Host": "evil.example"}).status == 421
    assert site.get("/", {"Host": f"localhost:{site.port}"}).status == 200


def test_no_page_can_run_scripts_of_others(site: Serving) -> None:
    policy = site.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_a_long_body_is_refused(site: Serving) -> None:
    assert site.post("/login", token="x" * (3 << 20)).status == 413


def test_the_token_opens_once_it_is_shown(site: Serving) -> None:
    refused = site.post("/login", token="wrong", next="/monitor?a=1")
    assert refused.status == 403
    assert "That is not the token" in refused.text
    assert 'name="next" value="/monitor?a=1"' in refused.text, "the form is there again"
    assert "set-cookie" not in refused.headers
    reply = site.post("/login", token="the-token-of-the-tests", next="/monitor")
    assert (reply.status, reply.headers["location"]) == (303, "/monitor")
    assert "HttpOnly" in reply.headers["set-cookie"]
    assert "SameSite=strict" in reply.headers["set-cookie"]
    assert site.post("/login", {"Origin": "http://evil.example"}, token="the-token-of-the-tests").status == 403


@pytest.mark.parametrize(
    "target", ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
def test_nobody_is_sent_to_another_site(site: Serving, target: str) -> None:
    reply = site.post("/images", show="on", next=target)
    assert reply.headers["location"] == "/monitor"


def test_images_of_others_are_seen_only_when_asked_for(site: Serving) -> None:
    assert "http:" not in site.get("/").headers["content-security-policy"]
    cookie = site.post("/images", show="on", next="/").headers["set-cookie"].partition(";")[0]
    assert "img-src 'self' data: http: https:" in site.get("/", {"Cookie": cookie}).headers["content-security-policy"]


def test_a_crawl_without_an_index_has_a_first_page(tmp_path: Path) -> None:
    from rdfspider import Crawl

    with serve(Crawl.create(tmp_path / "c", ["https://example.org/"])) as serving:
        assert "Nothing is indexed yet" in serving.get("/").text


def split_path(path: str) -> str:
    """A path without the suffix that says a format."""
    return path if path.startswith("/.") else path.partition(".")[0]


def test_openapi_and_the_documentation_know_every_page(site: Serving) -> None:
    described = site.get("/openapi.json").json
    assert described["openapi"].startswith("3.1")
    paths = {page.path for page in PAGES}
    assert len(paths) > 20
    assert paths <= set(described["paths"])
    document = (Path(__file__).parents[2] / "docs" / "site.md").read_text()
    documented = set(re.findall(r"`(/[\w./-]*)`", document.partition("## Addresses")[2]))
    routes = {
        split_path(route.path) for make_routes in ROUTES for route in make_routes(site.site) if isinstance(route, Route)
    }
    assert paths | routes <= documented
    assert documented <= paths | routes | {"/openapi.json", "/home.json"}
