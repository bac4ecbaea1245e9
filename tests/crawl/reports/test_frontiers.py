"""`rdfspider hosts` against real crawls: what was found where, and why a host waits."""

import json
from pathlib import Path

import pytest
from tests.conftest import Run

from rdfspider import Crawl, UsageError
from web import Answer, Crawling, Site, Web, command, crawl, make_page, make_site

EVERYWHERE = {"*.test": "127.0.0.1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has ended: two hosts with pages, one that fails, one that does not exist."""
    site = make_site(["a.test", "b.test"], 21)
    site.add("http://bad.test/", Answer(500))
    folder = tmp_path_factory.mktemp("hosts") / "crawl"
    with Web(site) as web:
        seeds = ["http://a.test/", "http://b.test/", "http://bad.test/", "http://none.invalid/"]
        crawl(folder, *seeds, "--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE))
    return folder


def test_hosts_are_counted_and_sorted_over_all_shards(folder: Path) -> None:
    found = {host.host: host for host in Crawl.open(folder).hosts()}
    assert list(found)[:2] == ["a.test", "b.test"]
    a, bad = found["a.test"], found["bad.test"]
    assert (a.pages, a.structured, a.quads, a.queued, a.failed) == (11, 11, 22, 0, 0)
    assert (bad.pages, bad.failed) == (0, 3)
    assert found["none.invalid"].failed == 1
    assert (found["none.invalid"].status, found["none.invalid"].reason) == ("no address", "there is no such name")
    assert next(host.host for host in Crawl.open(folder).hosts("errors")) == "bad.test"
    assert [host.host for host in Crawl.open(folder).hosts("quads", limit=1)] == ["a.test"]


def test_the_table_has_a_line_a_host(folder: Path, run: Run) -> None:
    code, output, _ = run("hosts", "--dir", folder, "--sort", "pages")
    heading, first, *others = output.splitlines()
    assert (code, len(others)) == (0, 3)
    assert heading.split() == ["host", "pages", "structured", "quads", "errors", "queue", "wait"]
    assert first.split()[:6] == ["a.test", "11", "11", "22", "0", "0"]
    assert any(line.endswith("there is no such name") for line in others)


def test_json_has_a_line_a_host(folder: Path, run: Run) -> None:
    _, output, _ = run("hosts", "--dir", folder, "--limit", "1", "--json")
    (line,) = output.splitlines()
    assert (json.loads(line)["host"], json.loads(line)["quads"]) == ("a.test", 22)


def test_mistakes_are_one_line(folder: Path, run: Run, tmp_path: Path) -> None:
    code, _, errors = run("hosts", "--dir", folder, "--sort", "size")
    assert (code, errors.count("\n")) == (2, 1)
    assert "it may be one of pages, quads, errors, queue, wait" in errors
    assert run("hosts", "--dir", folder, "--limit", "0")[0] == 2
    assert run("hosts", "--dir", tmp_path)[0] == 2
    with pytest.raises(UsageError):
        Crawl.open(folder).hosts(limit=0)


def test_the_reasons_of_waits_are_told_while_the_crawl_runs(tmp_path: Path) -> None:
    site = Site()
    site.robots["slow.test"] = Answer(body=b"User-agent: *\nCrawl-delay: 3600", content_type="text/plain")
    site.robots["shut.test"] = Answer(503)
    site.add("http://slow.test/", make_page("http://slow.test/", ["/1", "/2"]))
    site.add("http://later.test/", Answer(503, headers={"Retry-After": "1800"}))
    site.add("http://bad.test/", Answer(hangs_up=True))
    hosts = ("slow", "shut", "later", "bad")
    folder = tmp_path / "crawl"
    reasons = {
        "slow.test": "Crawl-delay: 3600 of robots.txt",
        "shut.test": "robots.txt of http://shut.test cannot be had (status-503)",
        "later.test": "Retry-After: 1800 s (503)",
        "bad.test": "backed off after an error (reset)",
    }

    def find_reasons() -> dict[str, str]:
        return {host.host: host.reason for host in Crawl.open(folder).hosts("wait")} if folder.exists() else {}

    with Web(site) as web:
        seeds = [f"http://{host}.test/" for host in hosts]
        flags = ["--shards", 2, "--delay", 0.1, *web.resolve(EVERYWHERE)]
        with Crawling(folder, *seeds, *flags, frontier_backoff_s=900) as crawling:
            crawling.wait_until(lambda: web.requests_since(0) >= 6 and find_reasons() == reasons)
            lines = command(folder, "hosts", "--sort", "wait").splitlines()[1:]
    assert [line.split()[0] for line in lines[:2]] == ["slow.test", "later.test"]
    assert lines[0].endswith("60 min  Crawl-delay: 3600 of robots.txt")
    assert lines[1].endswith("30 min  Retry-After: 1800 s (503)")
