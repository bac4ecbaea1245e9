"""The monitor of a crawl that runs, as a browser and a program see it: news every second, shards that fall silent, a past."""

import http.client
import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from indexed import index_pages
from rdfspider import Crawl, HostEntry
from rdfspider.crawl.messages import Beat, LinksTo, RunState
from rdfspider.crawl.status import Status, Unheard
from rdfspider.serve.limits import MAX_WATCHERS
from rdfspider.serve.monitor import sections
from rdfspider.serve.monitor.sections import SILENT_S, find_rows, find_warnings
from rdfspider.serve.sampler import Machine, MonitorSample, merge_waiting
from serving import TOKEN, Serving, serve
from waiting import PATIENCE_S, wait_until
from web import Answer, Web, make_site
from web.crawls import Crawling, crawl

HOSTS = [f"site{number}.test" for number in range(4)]
SLOW = "http://slow.test/"
PATIENT = "patient.test"
SEEDS = [SLOW, f"http://{PATIENT}/", *(f"http://{host}/" for host in HOSTS)]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A crawl of two shards that takes longer than the tests, watched."""
    folder = tmp_path_factory.mktemp("monitor") / "c"
    web_site = make_site(HOSTS, 4000)
    web_site.add(SLOW, Answer(body=b"late", delay_s=600))
    web_site.robots[HOSTS[0]] = Answer(body=b"User-agent: *\nDisallow: /1\n", content_type="text/plain")
    web_site.robots[PATIENT] = Answer(body=b"User-agent: *\nCrawl-delay: 3600\n", content_type="text/plain")
    with Web(web_site) as web:
        settings = {"frontier_delay_s": 0.05, "frontier_ip_delay_s": 0, "crawl_scope": "any"}
        settings |= {"fetch_timeout_s": 900, "fetch_first_byte_timeout_s": 900}
        hosts = web.resolve({"*.test": "127.0.0.1"})
        with Crawling(folder, *SEEDS, *hosts, "--shards", 2, **settings) as crawling:
            assert crawling.wait_until(lambda: crawling.count_pages() > 5 and len(crawling.shard_pids()) == 2)
            with serve(Crawl.open(folder)) as serving, pytest.MonkeyPatch.context() as patch:
                # On a machine that is slow a shard may be silent for a while; the tests of that are below.
                patch.setattr(sections, "SILENT_S", 600.0)
                yield serving


@pytest.fixture
def silence_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is where no test runs."""
    monkeypatch.setattr(sections, "SILENT_S", SILENT_S)


class Watching:
    """A browser that watches."""

    def __init__(self, serving: Serving, path: str = "/monitor/events") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=PATIENCE_S)
        self.connection.request("GET", path)
        self.response = self.connection.getresponse()
        self.shown: dict[str, str] = {}
        """All parts as they are now."""
        self.numbers: list[int] = []
        """The ids of the events."""

    def close(self) -> None:
        self.connection.close()

    def read(self) -> dict[str, str]:
        """The next event: parts of the page by their ids."""
        while line := self.response.readline():
            if line.startswith(b"id: "):
                self.numbers.append(int(line[4:]))
            if line.startswith(b"data: "):
                found: dict[str, str] = json.loads(line[6:])
                self.shown |= found
                return found
        raise AssertionError("the stream has ended")

    def read_until(self, is_seen: Callable[[dict[str, str]], bool], most_s: float = PATIENCE_S) -> dict[str, str]:
        """Read on until what is shown fits; all parts as they are then."""
        end = time.monotonic() + most_s
        while time.monotonic() < end:
            self.read()
            if is_seen(self.shown):
                return self.shown
        raise AssertionError(f"this was not seen within {most_s} s; last {self.shown}")


def read_pages(parts: dict[str, str]) -> int:
    found = re.search(r"<dt>Pages</dt><dd>([\d,]+)", parts["totals"])
    assert found
    return int(found[1].replace(",", ""))


def find_pid(serving: Serving, shard: int) -> int:
    return next(beat.pid for beat in serving.site.crawl.status().shards if beat.shard == shard)


def test_news_come_every_second_and_numbers_grow(live: Serving) -> None:
    with closing(Watching(live)) as watching:
        assert watching.response.getheader("Content-Type", "").startswith("text/event-stream")
        first = watching.read()
        later = [watching.read() for _ in range(4)]
        assert watching.numbers == sorted(set(watching.numbers)) and len(watching.numbers) == 5
        watching.read_until(lambda shown: read_pages(shown) > read_pages(first))
    assert {"news", "totals", "charts", "shards", "machine", "queue", "fetching"} <= set(first)
    assert "charts-day" not in first
    pages = [read_pages(first), *(read_pages(parts) for parts in later if "totals" in parts)]
    assert pages == sorted(pages)
    # What has not changed is not sent again, and the state least of all: it would be read aloud.
    assert all("news" not in parts for parts in later)


def test_what_is_fetched_now_and_what_robots_txt_decided_is_shown(live: Serving) -> None:
    with closing(Watching(live)) as watching:
        parts = watching.read_until(lambda shown: SLOW in shown["fetching"] and "rules" in shown["robots"])
    assert "The crawl is running." in parts["news"]
    totals = live.get("/monitor.json").json["status"]["totals"]
    assert totals["fetching"][0]["url"] == SLOW
    assert totals["visits"]["page"] >= 1
    assert totals["robots"]["rules"] >= 1
    assert totals["robots"]["allowed"] > 5
    assert sum(totals["queued"].values()) == totals["scheduled"]


def test_a_host_that_waits_is_shown_with_the_reason(live: Serving) -> None:
    with closing(Watching(live)) as watching:
        watching.read_until(lambda shown: PATIENT in shown["hosts"] and "Crawl-delay: 3600" in shown["hosts"])
    told = live.get("/monitor.json").json
    longest = told["status"]["totals"]["waiting_hosts"][0]
    assert (longest["host"], longest["reason"]) == (PATIENT, "Crawl-delay: 3600 of robots.txt")
    assert 0 < longest["wait_s"] <= 3600
    assert PATIENT in [host["host"] for host in told["waiting_hosts"]]


def test_what_shards_tell_of_a_host_is_newer_than_what_is_on_disk() -> None:
    def wait(host: str, wait_s: float) -> HostEntry:
        return HostEntry(host, 1, 0, 0, 0, 5, wait_s, "the usual delay")

    merged = merge_waiting([wait("a.test", 40.0)], [wait("a.test", 3.0), wait("b.test", 50.0), wait("c.test", 1.0)])
    assert [(host.host, host.wait_s) for host in merged] == [("b.test", 50.0), ("a.test", 40.0), ("c.test", 1.0)]


def test_links_that_wait_for_long_are_a_warning() -> None:
    late = Beat(2, 1, 1000.0, 7, (1, 1), False, links=(LinksTo(5, 9, 4, 4, 61.0), LinksTo(6, 9, 9, 9, 30.0)))
    sample = MonitorSample(1000.0, Status(state=RunState.RUNNING, shards=(late,)), Machine())
    rows = find_rows(sample)
    assert find_warnings(sample, rows) == ["Links of shard 2 for shard 5 have waited for more than a minute."]
    unheard = Status(state=RunState.RUNNING, unheard=(Unheard(7, 900.0),))
    assert find_warnings(MonitorSample(1000.0, unheard, Machine()), []) == [
        "Shard 7 has not been heard since it was started, more than a minute ago."
    ]
    assert (rows[0].sent, rows[0].received, rows[0].durable) == (18, 13, 13)
    assert [links.shard for links in rows[0].waiting] == [5, 6]


def test_the_page_has_the_same_parts_without_any_script(live: Serving) -> None:
    page = live.get("/monitor").text
    with closing(Watching(live)) as watching:
        parts = watching.read()
    for name in parts:
        assert f'id="{name}"' in page
    assert "Under way, also those that wait" in page
    assert "<svg" in page and 'role="img"' in page
    assert 'action="/control/' not in page
    assert '<a href="/login?next=/monitor">' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    # Nobody who writes into a form loses that.
    assert "http-equiv" not in live.get("/monitor", {"Authorization": f"Bearer {TOKEN}"}).text


def test_charts_have_a_past(live: Serving) -> None:
    def find_points() -> list[dict[str, float]]:
        points: list[dict[str, float]] = live.get("/monitor.json").json["history"]["seconds"]
        return points if len(points) >= 2 and any(point["pages_s"] > 0 for point in points) else []

    times = [point["time"] for point in wait_until(find_points)]
    assert times == sorted(times)
    assert re.search(r'class="line" d="M\d', live.get("/monitor").text)
    rows = live.get("/monitor.csv", table="seconds").text.splitlines()
    assert rows[0].startswith("time,pages_s,bytes_s")
    assert len(rows) > 2
    assert 'id="charts-day"' in live.get("/monitor", span="day").text


@pytest.mark.usefixtures("silence_is_seen")
def test_a_shard_that_is_stuck_is_shown_as_silent(live: Serving) -> None:
    pid = find_pid(live, 1)
    os.kill(pid, signal.SIGSTOP)
    try:
        with closing(Watching(live)) as watching:
            parts = watching.read_until(lambda shown: "Shard 1 is silent" in shown["news"])
            assert re.search(r'data-shard="1".*?⚠ silent for \d+ s', parts["shards"], re.DOTALL)
            wait_until(lambda: live.get("/monitor.json").json["silent_shards"] == [1])
            told = 'rdfspider_shard_up{shard="0"} 1\nrdfspider_shard_up{shard="1"} 0\n'
            wait_until(lambda: told in live.get("/metrics").text)
            os.kill(pid, signal.SIGCONT)
            watching.read_until(lambda shown: "silent" not in shown["news"] + shown["shards"])
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.usefixtures("silence_is_seen")
def test_a_shard_that_is_killed_is_seen_again_as_another_process(live: Serving) -> None:
    pid = find_pid(live, 0)
    os.kill(pid, signal.SIGKILL)
    with closing(Watching(live)) as watching:
        watching.read_until(lambda shown: find_pid(live, 0) != pid and str(pid) not in shown["shards"])
        watching.read_until(lambda shown: "silent" not in shown["news"] + shown["shards"])


def test_only_so_many_watch_at_once(live: Serving) -> None:
    watchers: list[Watching] = []
    try:
        while len(watchers) <= MAX_WATCHERS and (not watchers or watchers[-1].response.status == 200):
            watchers.append(Watching(live))
        assert watchers[-1].response.status == 503
    finally:
        for watching in watchers:
            watching.close()
    wait_until(lambda: watch_once(live) == 200)


def watch_once(serving: Serving) -> int:
    with closing(Watching(serving)) as watching:
        return watching.response.status


def test_what_a_crawl_was_like_is_shown_whenever_its_site_is_opened(tmp_path: Path) -> None:
    with Web(make_site(["a.test"], 60)) as web:
        settings = {"frontier_delay_s": 0.05, "frontier_ip_delay_s": 0}
        crawl(tmp_path / "c", "http://a.test/", *web.resolve({"*.test": "127.0.0.1"}), **settings)
    for _ in range(2):
        with serve(Crawl.open(tmp_path / "c")) as serving:
            history = serving.get("/monitor.json").json["history"]["crawl"]
            assert len(history) >= 2
            assert max(point["pages_s"] for point in history) > 0
            page = serving.get("/monitor").text
            assert 'id="charts-crawl"' in page
            assert re.search(r'class="line" d="M0,\d+ \d', page)
            assert serving.get("/monitor.csv", table="crawl").text.count("\n") == len(history) + 1


def test_what_was_not_allowed_is_told_by_who_was_against_it(tmp_path: Path) -> None:
    made = Crawl.create(tmp_path / "c", ["https://example.org/"], contact="me@example.org")
    totals = {"disallowed": 1338, "trapped": 1235, "filtered": 10, "prerequisites": {"no-sitemap": 12}}
    status = {"state": "ended", "started": 1.0, "updated": 2.0, "run_s": 13.0, "elapsed_s": 13.0, "totals": totals}
    (made.folder / "status.json").write_text(json.dumps(status))
    with serve(made) as serving:
        page = serving.get("/monitor").text
    assert "robots.txt 93, traps 1,235, filters 10" in page
    assert "this run 13 s" not in page
    assert "Sitemaps that are not there" in page and "no-sitemap" not in page


def test_a_crawl_that_never_ran_or_has_died_is_shown_as_such(tmp_path: Path) -> None:
    page = {"https://tea.example/": {"@context": "https://schema.org", "@type": "Product", "name": "Tea"}}
    crawl = index_pages(tmp_path / "c", page)
    with serve(crawl) as serving:
        assert "The crawl has not run yet." in serving.get("/monitor").text
        status: dict[str, Any] = {"state": "running", "started": 1.0, "updated": 2.0}
        (crawl.folder / "status.json").write_text(json.dumps(status))
        assert "The crawl has died" in serving.get("/monitor").text


def test_text_of_the_web_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\u202e"
    crawl = Crawl.create(tmp_path / "c", ["https://example.org/"], contact="me@example.org")
    find = {
        "time": 1.0,
        "url": f"https://a.test/{evil}",
        "title": evil,
        "types": [f"https://a.test/{evil}"],
        "quads": 1,
    }
    totals = {
        "finds": [find],
        "types": {evil: 3},
        "errors": {evil: 2},
        "quads_by_syntax": {evil: 2},
        "problems": {evil: 1},
    }
    status = {"state": "stopped", "reason": evil, "started": 1.0, "updated": 2.0, "totals": totals}
    (crawl.folder / "status.json").write_text(json.dumps(status))
    with serve(crawl) as serving:
        page = serving.get("/monitor").text
        assert "&lt;script&gt;alert" in page
        assert "<script>alert" not in page
        assert "\u202e" not in page
        assert r'rdfspider_errors_total{code="<script>alert(1)</script>' in serving.get("/metrics").text
