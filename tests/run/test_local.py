"""Shards that are stuck or die of a page are started again, and the crawl ends as it should."""

import os
import signal
from pathlib import Path

import pytest

from rdfspider import Crawl, Status
from rdfspider.run import local
from web import Web, make_page, make_site, read_outcomes

POISON = """
import os
from rdfspider.run import pipeline

extract_from = pipeline.extract_from

def die_of_poison(page, config):
    if b"poison" in page.body:
        os.abort()
    return extract_from(page, config)

pipeline.extract_from = die_of_poison
"""


def make_crawl(folder: Path, web: Web, **settings: object) -> Crawl:
    resolve = tuple(web.resolve({"*.test": "127.0.0.1"})[1::2])
    pace = {"ip_delay_s": 0.0, "backoff_s": 0.2, "min_free_bytes": 0, "allow_private": True}
    return Crawl.create(folder, ["http://a.test/"], resolve=resolve, shards=1, **(pace | settings))


def test_a_shard_that_beats_no_more_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[int] = []

    def stop_once(status: Status) -> None:
        if status.totals.pages > 3 and not stopped:
            stopped.append(status.shards[0].pid)
            os.kill(stopped[0], signal.SIGSTOP)

    monkeypatch.setattr(local, "_STUCK_S", 3.0)
    site = make_site(["a.test"], 30)
    with Web(site) as web:
        status = make_crawl(tmp_path / "crawl", web, delay_s=0.1).run(stop_once)
    assert (status.state, status.totals.pages) == ("ended", 30)
    assert stopped and status.shards[0].pid != stopped[0]


def test_a_page_that_kills_a_shard_is_on_record_and_does_not_kill_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(POISON)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    site = make_site(["a.test"], 10)
    poisoned = sorted(site.urls)[3]
    site.add(poisoned, make_page(poisoned, head="<meta name=poison>"))
    with Web(site) as web:
        status = make_crawl(tmp_path / "crawl", web, delay_s=0.01).run()
    assert (status.state, status.totals.pages) == ("ended", 10)
    assert status.shards[0].epoch == 2
    assert {outcome.url for outcome in read_outcomes(tmp_path / "crawl")} == site.urls
