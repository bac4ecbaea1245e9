"""The clock is set while a crawl runs: it ends as ever, asks no host too early, loses no page, and its times are sane."""

import json
import time
from pathlib import Path

import pytest
from tests.repair.damages import read_quads

from command_line import run_line
from web import Crawling, Web, check_archives, check_once, check_pace, make_site, pages_of, read_outcomes

HOUR_S, YEAR_S = 3_600.0, 365 * 86_400.0
HOSTS = ["a.test", "b.test", "c.test"]
PAGES, DELAY_S = 24, 0.3


@pytest.mark.parametrize("ahead_s", [HOUR_S, -HOUR_S, YEAR_S, -YEAR_S])
def test_the_clock_is_set_while_a_crawl_runs(tmp_path: Path, ahead_s: float) -> None:
    site = make_site(HOSTS, PAGES)
    folder = tmp_path / "crawl"
    began = time.time()
    with Web(site) as web:
        flags = ["http://a.test/", "--scope", "any", "--delay", DELAY_S, "--shards", 2, "--time", 1000]
        flags += web.resolve({"*.test": "127.0.0.1"})
        settings = {"index_enabled": "true", "frontier_ip_delay_s": 0}
        with Crawling(folder, *flags, ahead_s=0.0, **settings) as crawling:
            assert crawling.wait_until(lambda: len(pages_of(web.log)) >= 4)
            crawling.set_calendar(ahead_s)
            assert crawling.wait() == 0, crawling.stderr()
            told = crawling.stderr()
        assert "Traceback" not in told
        assert "suspended" not in told
        assert check_pace(web.log, DELAY_S) == []
        assert check_once(web.log) == []
    assert {outcome.url for outcome in read_outcomes(folder)} == site.urls
    check_archives(folder)
    assert len(read_quads(folder)) == 2 * PAGES
    done = run_line("verify", "--deep", "--dir", folder)
    assert (done.returncode, done.stdout) == (0, "")
    # Each time is what the clock said: before it was set, or after.
    status = json.loads((folder / "status.json").read_bytes())
    times = [beat["time"] for beat in status["shards"]]
    ended = time.time()
    assert began <= status["updated"] - ahead_s <= ended
    assert began <= status["started"] <= ended
    assert all(began <= when <= ended or began <= when - ahead_s <= ended for when in times)
    # Durations do not follow it.
    assert 0 < status["elapsed_s"] <= ended - began + 1
