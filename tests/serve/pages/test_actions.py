"""What may be asked of a crawl from the site: with the token and from our own forms alone, and each mistake is a sentence."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdfspider import Crawl
from serving import TOKEN, Serving, serve
from waiting import wait_until
from web import Web, make_site
from web.crawls import Crawling

JSON = {"Accept": "application/json"}
EVERYTHING = ("pause", "resume", "stop", "seeds", "add-filter", "remove-filter")


@pytest.fixture(scope="module")
def resting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A crawl that does not run."""
    crawl = Crawl.create(tmp_path_factory.mktemp("control") / "c", ["https://example.org/"], contact="me@example.org")
    with serve(crawl) as serving:
        yield serving


def show_token(serving: Serving) -> dict[str, str]:
    """The cookie of a browser that has shown it."""
    return {"Cookie": serving.post("/login", token=TOKEN).headers["set-cookie"].partition(";")[0]}


def find_csrf(serving: Serving, cookie: dict[str, str]) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', serving.get("/monitor", cookie).text)
    assert found
    return found[1]


def wait_for_state(serving: Serving, state: str) -> None:
    wait_until(lambda: serving.get("/monitor.json").json["status"]["state"] == state)


def test_a_crawl_is_paused_goes_on_and_stops(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with Web(make_site(["a.test"], 2000)) as web:
        settings = {"frontier_delay_s": 0.05, "frontier_ip_delay_s": 0}
        with Crawling(folder, "http://a.test/", *web.resolve({"*.test": "127.0.0.1"}), **settings) as crawling:
            crawling.wait_until(lambda: (folder / "status.json").exists() and len(web.log) > 5)
            with serve(Crawl.open(folder)) as serving:
                cookie = show_token(serving)
                csrf = find_csrf(serving, cookie)
                # None of it without the token, the form's secret, or from another site.
                assert serving.post("/control/pause").status == 403
                assert serving.post("/control/pause", cookie).status == 403
                assert serving.post("/control/pause", cookie, csrf="0" * 64).status == 403
                assert serving.post("/control/pause", {**cookie, "Origin": "http://evil.test"}, csrf=csrf).status == 403
                assert serving.get("/control/pause", cookie, csrf=csrf).status == 405
                assert serving.get("/monitor.json").json["status"]["state"] == "running"

                reply = serving.post("/control/pause", cookie, csrf=csrf)
                assert (reply.status, reply.headers["location"]) == (303, "/monitor?said=paused")
                wait_for_state(serving, "paused")
                page = serving.get("/monitor", cookie, said="paused").text
                assert "The crawl was told to pause" in page
                assert '<form method="post" action="/control/resume" data-when="pausing paused">' in page

                wait_until(crawling.is_resting)
                asked = web.asked

                reply = serving.post("/control/resume", JSON, trusted=True)
                assert reply.json == {"state": "running", "count": 0}
                assert crawling.wait_until(lambda: web.asked > asked)
                reply = serving.post(
                    "/control/seeds", JSON, trusted=True, seeds="http://a.test/1999\nhttp://a.test/new\n"
                )
                assert (reply.status, reply.json["count"]) == (200, 2)
                assert crawling.wait_until(lambda: any(exchange.path == "/new" for exchange in web.log))

                assert serving.post("/control/stop", JSON, trusted=True).json["state"] in ("stopping", "stopped")
                assert crawling.wait() == 0
                wait_for_state(serving, "stopped")
                assert "no crawl runs there" in serving.post("/control/resume", JSON, trusted=True).json["error"]


@pytest.mark.parametrize("name", EVERYTHING)
def test_nothing_is_done_without_the_token(resting: Serving, name: str) -> None:
    fields = {"seeds": "https://evil.example/", "kind": "exclude", "pattern": "."}
    assert resting.post(f"/control/{name}", **fields).status == 403
    assert resting.post(f"/control/{name}", {"Authorization": "Bearer wrong"}, **fields).status == 403
    assert resting.site.crawl.filters == {"include": (), "exclude": ()}
    assert "evil" not in (resting.site.folder / "seeds.txt").read_text()


def test_filters_are_listed_added_and_removed(resting: Serving) -> None:
    cookie = show_token(resting)
    csrf = find_csrf(resting, cookie)
    pattern = r"/<private>/\d+"
    reply = resting.post("/control/add-filter", cookie, csrf=csrf, kind="exclude", pattern=pattern)
    assert (reply.status, reply.headers["location"]) == (303, "/monitor?said=filter-added&count=1")
    assert resting.site.crawl.filters["exclude"] == (pattern,)
    page = resting.get("/monitor", cookie).text
    assert r"/&lt;private&gt;/\d+" in page
    assert "private" not in resting.get("/monitor").text
    reply = resting.post("/control/remove-filter", JSON, trusted=True, kind="exclude", pattern=pattern)
    assert reply.json["count"] == 1
    assert resting.site.crawl.filters["exclude"] == ()


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("seeds", {"seeds": " \n"}, "name at least one URL"),
        ("seeds", {"seeds": "https://ok.example/\nmailto:me@example.org"}, "not an http or https URL"),
        ("seeds", {"seeds": "http://127.0.0.1/"}, "private network"),
        *(
            ("seeds", {"seeds": f"https://ok.example/\n{text}"}, f"{text}: not an http or https URL")
            for text in ("/etc/passwd", "-", "@list.txt", "javascript:1", "etc/passwd", "two words")
        ),
        ("seeds", {"seeds": "a.example\n" * 10_001}, "10,000 are taken at once"),
        ("add-filter", {"kind": "exclude", "pattern": "("}, "regular expression"),
        ("add-filter", {"kind": "sideways", "pattern": "a"}, "include or exclude"),
        ("add-filter", {"kind": "include"}, "needs a regular expression"),
        ("pause", {}, "no crawl runs there"),
        ("stop", {}, "no crawl runs there"),
    ],
)
def test_mistakes_are_told_in_a_sentence(resting: Serving, name: str, fields: dict[str, str], words: str) -> None:
    reply = resting.post(f"/control/{name}", JSON, trusted=True, **fields)
    assert reply.status == 400
    assert words in reply.json["error"]
    assert "\n" not in reply.json["error"]


def test_a_file_of_this_machine_is_no_seed(resting: Serving, tmp_path: Path) -> None:
    """Whether it is there or not, the answer is the same."""
    there = tmp_path / "there"
    there.write_text("https://secret.example/")
    replies = [
        resting.post("/control/seeds", JSON, trusted=True, seeds=str(path)) for path in (there, tmp_path / "away")
    ]
    assert [reply.status for reply in replies] == [400, 400]
    assert replies[0].json["error"].replace("there", "") == replies[1].json["error"].replace("away", "")


def test_seeds_are_taken_without_a_scheme(resting: Serving) -> None:
    reply = resting.post("/control/seeds", JSON, trusted=True, seeds="new.example\nmünchen.example/tee")
    assert (reply.status, reply.json["count"]) == (200, 2)
    seeds = (resting.site.folder / "seeds.txt").read_text()
    assert "https://new.example/" in seeds and "https://xn--mnchen-3ya.example/tee" in seeds


@pytest.mark.parametrize(("name", "pattern"), [("add-filter", "["), ("remove-filter", "/never/")])
def test_a_wrong_filter_is_not_told_as_on_a_command_line(resting: Serving, name: str, pattern: str) -> None:
    error = resting.post(f"/control/{name}", JSON, trusted=True, kind="exclude", pattern=pattern).json["error"]
    assert error.startswith(f"the filter {pattern}: ")
    assert "--exclude" not in error and "rdfspider" not in error


def test_nobody_can_have_the_page_say_something(resting: Serving) -> None:
    page = resting.get("/monitor", said="Your token has expired", count="<b>").text
    assert 'id="said"' not in page
    assert "token has expired" not in page
    assert "3 new seeds were added." in resting.get("/monitor", said="seeds", count="3").text
