"""Single pages for people: robots.txt is asked once, hosts are left alone, and what is no address is said."""

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rdfspider.config import Config, FetchConfig, FrontierConfig
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.records import Page
from rdfspider.run import visitor as visitor_module
from rdfspider.run.page_requests import MAX_REDIRECTS, read_address
from rdfspider.run.visitor import Visitor
from waiting import PATIENCE_S, wait_until
from web.server import Answer, Web
from web.sites import Site, make_page

URL = "http://a.test/"


@pytest.fixture
def web() -> Iterator[Web]:
    site = Site()
    site.add(URL, make_page(URL))
    site.robots["slow.test"] = Answer(body=b"User-agent: *\nCrawl-delay: 60\n", content_type="text/plain")
    site.robots["broken.test"] = Answer(503)
    site.add("http://slow.test/", make_page("http://slow.test/"))
    for number in range(MAX_REDIRECTS + 1):
        site.add(f"http://a.test/{number}", Answer(302, headers={"Location": f"/{number + 1}"}))
    with Web(site) as running:
        yield running


@pytest.fixture
def visitor(web: Web, tmp_path: Path) -> Iterator[Visitor]:
    fetch = FetchConfig(contact="me@example.org", resolve=(f"*.test=127.0.0.1:{web.ports['127.0.0.1']}",))
    made = Visitor(tmp_path, Config(fetch=fetch, frontier=FrontierConfig(delay_s=0.3, duration_factor=0)))
    yield made
    made.close()


def list_paths(web: Web, count: int) -> list[str]:
    """What was asked. The server notes an answer after it was sent, for which nobody else waits."""
    wait_until(lambda: len(web.log) >= count)
    return [exchange.path for exchange in web.log]


def test_robots_txt_is_asked_first_and_once(visitor: Visitor, web: Web) -> None:
    for _ in range(2):
        visit = visitor.visit("http://a.test")
        assert visit.extraction is not None
        assert visit.extraction.title == URL
        assert visit.hops[0].robots.startswith("there is none")
    assert list_paths(web, 3) == ["/robots.txt", "/", "/"]
    assert "rdfspider/" in web.log[0].headers["user-agent"]
    gaps = [later.started - earlier.ended for earlier, later in zip(web.log, web.log[1:], strict=False)]
    assert min(gaps) > 0.28


def test_who_asks_for_a_long_pause_gets_it(visitor: Visitor, web: Web) -> None:
    with pytest.raises(UnansweredError, match=r"slow\.test is left alone for another \d+ s"):
        visitor.visit("http://slow.test/")
    assert list_paths(web, 1) == ["/robots.txt"]


def test_nothing_is_asked_where_robots_txt_cannot_be_had(visitor: Visitor, web: Web) -> None:
    visit = visitor.visit("http://broken.test/")
    assert "cannot be had (status-503)" in visit.refusal
    assert list_paths(web, 1) == ["/robots.txt"]


def test_redirects_end(visitor: Visitor) -> None:
    visit = visitor.visit("http://a.test/0")
    assert len(visit.hops) == MAX_REDIRECTS + 1
    assert visit.failure == f"it redirects on and on, to http://a.test/{MAX_REDIRECTS + 1}"


def test_who_pastes_does_not_wait_for_ever_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_module, "_TURN_S", 0.1)
    made = Visitor(tmp_path, Config())
    page = Page(URL, b"<title>Mine</title>", "text/html")
    with made._calls._child._turn:
        with pytest.raises(UnansweredError, match="try again in a moment"):
            made.read(page)
        # What was crawled does not wait for what is pasted.
        assert made.call(int, "7") == 7
    assert made.read(page).title == "Mine"
    made.close()


@pytest.mark.parametrize(
    "text", ["", "ftp://a.test/", "mailto:a@a.test", "file:///etc/passwd", "https://a.test/" + "x" * 9000]
)
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="not an http or https URL"):
        read_address(text)


def test_an_address_is_never_a_file(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_text("x")
    assert read_address(str(path)) == f"https://{str(path).lstrip('/')}"
    assert read_address("a.test/x") == read_address("//a.test/x") == "https://a.test/x"


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_a_visit_can_be_ended(visitor: Visitor, web: Web, is_cancelled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_module, "_TURN_S", PATIENCE_S)
    asked, cancel = threading.Event(), threading.Event()

    def keep_waiting(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        asked.set()
        return Answer(delay_s=3600)

    web.answers = keep_waiting
    with ThreadPoolExecutor(2) as threads:
        visits = [threads.submit(visitor.visit, URL, cancel) for _ in range(2)]
        assert asked.wait(PATIENCE_S)
        cancel.set() if is_cancelled else visitor.end_visits()
        for visit in visits:
            with pytest.raises(UnansweredError, match="the visit was ended"):
                visit.result(PATIENCE_S)
