"""Filters and seeds of a crawl that runs, as people change them from another terminal."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from rdfspider import Crawl
from rdfspider.cli import run_command
from rdfspider.discover.filters import MAX_PATTERNS
from web import Answer, Crawling, Site, Web, crawl, make_page, pages_of, prolong, read_outcomes

EVERYWHERE = {"*.test": "127.0.0.1"}
HOME, MORE = "http://a.test/", "http://busy.test/more/0"
DRAFTS = [f"/draft/{number}" for number in range(30)]
PAGES = [f"/page/{number}" for number in range(30)]


# Seconds that each page takes while the queue is to last, so that a test can come in between.
SLOW_S = 0.4


class Busy:
    """A web that is not over before the test says so: a home page with many links, and a host that always leads on."""

    def __init__(self) -> None:
        self.site = Site()
        self.is_slow = True
        self.is_over = False
        links = [path for pair in zip(DRAFTS, PAGES, strict=True) for path in pair]
        self.site.add(HOME, make_page(HOME, links))
        for path in links:
            self.site.add(f"http://a.test{path}", make_page(f"http://a.test{path}"))
        self.site.add("http://other.test/", make_page("http://other.test/", ["/deeper"]))
        self.site.add("http://other.test/deeper", make_page("http://other.test/deeper"))
        self.web = Web(prolong(self.answer, "busy.test", lambda: self.is_over))

    def answer(self, host: str, path: str, headers: Mapping[str, str]) -> Answer:
        answer = self.site(host, path, headers)
        return replace(answer, delay_s=SLOW_S) if self.is_slow and path.count("/") > 1 else answer

    def flags(self, *more: object, shards: int = 1) -> list[object]:
        return ["--delay", 0.02, "--shards", shards, *self.web.resolve(EVERYWHERE), *more]

    def end(self) -> None:
        """Let a crawl come to its end, and soon."""
        self.is_slow, self.is_over = False, True

    def asked(self, part: str) -> set[str]:
        return {exchange.url for exchange in pages_of(list(self.web.log)) if part in exchange.url}


@pytest.fixture
def busy() -> Iterator[Busy]:
    busy = Busy()
    with busy.web:
        yield busy


Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command for a crawl's folder, which must go well; its stdout."""

    def run_one(folder: Path, *arguments: str) -> str:
        assert run_command([*arguments, "--dir", str(folder)]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run_one


def is_queued(crawling: Crawling, least: int) -> bool:
    try:
        status = json.loads((crawling.folder / "status.json").read_bytes())
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    return bool(status["totals"]["scheduled"] >= least)


def start(busy: Busy, folder: Path, *more: object, shards: int = 1) -> Crawling:
    quick = {"frontier_ip_delay_s": 0.001}
    return Crawling(folder, HOME, MORE, *busy.flags(*more, shards=shards), **quick)


def finish(busy: Busy, crawling: Crawling) -> dict[str, str]:
    """Let the crawl come to its end; what became of each URL."""
    busy.end()
    assert crawling.wait() == 0, crawling.stderr()
    return {outcome.url: outcome.get("reason") for outcome in read_outcomes(crawling.folder)}


def test_a_filter_holds_for_what_is_queued_and_its_end_brings_that_back(busy: Busy, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with start(busy, folder, shards=2) as crawling:
        crawling.wait_until(lambda: is_queued(crawling, 20))
        run(folder, "pause")
        asked = busy.asked("/draft/")
        assert len(asked) < len(DRAFTS), "the site was too small for the test"
        assert run(folder, "filter", "add", "--exclude", "/draft/") == "1 filter added\n"
        assert run(folder, "filter", "list") == "--exclude /draft/\n"
        busy.is_slow = False
        run(folder, "resume")
        crawling.wait_until(lambda: len(busy.asked("/page/")) == len(PAGES))
        crawling.wait_until(lambda: crawling.status()["totals"]["disallowed"] == len(DRAFTS) - len(asked))
        assert busy.asked("/draft/") == asked
        assert run(folder, "filter", "remove", "--exclude", "/draft/") == "1 filter removed\n"
        crawling.wait_until(lambda: len(busy.asked("/draft/")) == len(DRAFTS))
        assert set(finish(busy, crawling).values()) == {"fetched"}
        assert crawling.status()["totals"]["disallowed"] == 0
    filtered = [outcome for outcome in read_outcomes(folder) if outcome.get("reason") == "filtered"]
    assert len(filtered) == len(DRAFTS) - len(asked)
    assert {outcome.get("rule") for outcome in filtered} == {"filter: --exclude /draft/"}


def test_a_filter_that_was_changed_while_nothing_ran(busy: Busy, run: Run, tmp_path: Path) -> None:
    """What an earlier run had queued is judged by the new filters; and comes back when those go, wherever that is done."""
    folder = tmp_path / "crawl"
    with start(busy, folder) as crawling:
        crawling.wait_until(lambda: is_queued(crawling, 20))
        crawling.kill()
    busy.web.wait_until_left()
    asked = busy.asked("/draft/")
    assert len(asked) < len(DRAFTS), "the site was too small for the test"
    busy.end()
    crawl(folder, *busy.flags("--exclude", "/draft/"))
    assert busy.asked("/draft/") == asked
    assert len(busy.asked("/page/")) == len(PAGES)
    assert run(folder, "filter", "remove", "--exclude", "/draft/") == "1 filter removed\n"
    crawl(folder, *busy.flags())
    assert len(busy.asked("/draft/")) == len(DRAFTS)


def test_no_expression_stalls_a_crawl(busy: Busy, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    evil = "http://a.test/page/" + "a" * 1500 + "!"
    busy.site.add(HOME, make_page(HOME, [evil, *PAGES]))
    busy.site.add(evil, make_page(evil))
    busy.is_slow = False
    with start(busy, folder, "--exclude", "(a+)+$", "--exclude", "(x+x+)+y") as crawling:
        crawling.wait_until(lambda: len(busy.asked("/page/")) == len(PAGES) + 1)
        finish(busy, crawling)


def test_seeds_join_a_crawl_that_runs(busy: Busy, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    busy.is_slow = False
    with start(busy, folder, shards=2) as crawling:
        crawling.wait_until(lambda: bool(busy.asked("/more/")))
        assert run(folder, "add", "http://other.test/", HOME) == "1 new seed\n"
        # Its domain is in scope from now on, in all shards.
        crawling.wait_until(lambda: len(busy.asked("other.test")) == 2)
        assert Crawl.open(folder).add_seeds("http://other.test/") == 0
        finish(busy, crawling)


def test_seeds_wait_for_a_crawl_that_does_not_run(busy: Busy, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    busy.end()
    crawl(folder, HOME, *busy.flags(), frontier_ip_delay_s=0.001)
    (tmp_path / "more").write_text("http://other.test/\nhttp://a.test/\n")
    assert run(folder, "add", "--seeds", str(tmp_path / "more")) == "1 new seed\n"
    asked = len(busy.web.log)
    crawl(folder, *busy.flags())
    assert busy.asked("other.test") == {"http://other.test/", "http://other.test/deeper"}
    assert {exchange.host for exchange in busy.web.log[asked:]} == {"other.test"}, "old seeds were fetched again"


@pytest.mark.parametrize("moment_s", [0.0, 0.1])
def test_a_kill_loses_neither_seeds_nor_filters(busy: Busy, moment_s: float, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with start(busy, folder, shards=2) as crawling:
        crawling.wait_until(lambda: is_queued(crawling, 20))
        running = Crawl.open(folder)
        assert running.add_seeds(["http://other.test/"]) == 1
        assert running.add_filter(exclude="/draft/") == 1
        time.sleep(moment_s)
        crawling.kill()
    busy.web.wait_until_left()
    before = busy.asked("/draft/")
    busy.end()
    assert Crawl.open(folder).filters["exclude"] == ("/draft/",)
    crawl(folder, *busy.flags(shards=2))
    assert busy.asked("/draft/") == before
    assert len(busy.asked("other.test")) == 2
    assert len(busy.asked("/page/")) == len(PAGES)


def test_a_shard_that_dies_is_told_again(busy: Busy, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with start(busy, folder) as crawling:
        crawling.wait_until(lambda: is_queued(crawling, 20) and bool(crawling.shard_pids()))
        run(folder, "pause")
        Crawl.open(folder).add_filter(exclude="/draft/")
        asked = busy.asked("/draft/")
        crawling.kill_process(crawling.shard_pids()[0])
        run(folder, "resume")
        finish(busy, crawling)
    assert len(busy.asked("/page/")) == len(PAGES)
    assert busy.asked("/draft/") == asked


def test_what_was_typed_wrong_is_one_line(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "crawl"
    Crawl.create(folder, ["https://example.org/"], exclude=[f"/{number}/" for number in range(MAX_PATTERNS)])
    for arguments, complaint in (
        (["filter", "add", "--exclude", "/one-more/"], "--exclude /one-more/: not allowed; it may be "),
        (["filter", "add"], "name at least one filter: --include REGEX or --exclude REGEX"),
        (
            ["filter", "add", "--exclude", "(?!x)"],
            "--exclude (?!x): not allowed; it may be a regular expression of RE2",
        ),
        (
            ["filter", "remove", "--include", "x"],
            "--include x: there is no such filter; `rdfspider filter list` shows all",
        ),
        (["add"], "name at least one URL to add"),
        (["add", "x:y"], "x:y: not an http or https URL"),
    ):
        assert run_command([*arguments, "--dir", str(folder)]) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"rdfspider: {complaint}")
        assert told.count("\n") == 1
    assert len(json.loads(run(folder, "filter", "list", "--json"))["exclude"]) == MAX_PATTERNS
