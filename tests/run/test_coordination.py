"""Shards that are stuck or die of a page are started again, those that cannot be are not, and the crawl ends as it should."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

from rdfspider import Crawl, Status, UsageError
from rdfspider.processes.supervisor import RestartPolicy
from rdfspider.run import coordination
from web import Answer, Web, make_chain, make_page, make_site, read_outcomes, run_first

POISON = """
import os
from rdfspider import pipeline

extract_from = pipeline.extract_from

def die_of_poison(page, config):
    if b"poison" in page.body:
        os.abort()
    return extract_from(page, config)

pipeline.extract_from = die_of_poison
"""


def make_crawl(folder: Path, web: Web, **settings: object) -> Crawl:
    resolve = tuple(web.resolve({"*.test": "127.0.0.1"})[1::2])
    pace = {"ip_delay_s": 0.0, "backoff_s": 0.2, "min_free_bytes": 0, "allow_private": True, "ways": ()}
    return Crawl.create(folder, ["http://a.test/"], resolve=resolve, shards=1, **(pace | settings))


def test_a_shard_that_beats_no_more_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[int] = []

    def stop_once(status: Status) -> None:
        if status.totals.pages > 3 and not stopped:
            stopped.append(status.shards[0].pid)
            os.kill(stopped[0], signal.SIGSTOP)

    monkeypatch.setattr(coordination, "_RESTARTS", RestartPolicy(stuck_s=5.0))
    site = make_site(["a.test"], 30)
    with Web(site) as web:
        status = make_crawl(tmp_path / "crawl", web, delay_s=0.1).run(stop_once)
    assert (status.state, status.totals.pages) == ("ended", 30)
    assert stopped and status.shards[0].pid != stopped[0]


@pytest.mark.parametrize("crawl_delay_s", [0, 2])
def test_a_page_that_kills_a_shard_is_on_record_and_does_not_kill_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crawl_delay_s: int
) -> None:
    """Also where its host comes up again long after the others."""
    run_first(POISON, tmp_path, monkeypatch)
    site = make_site(["a.test"], 5 if crawl_delay_s else 10)
    rules = f"User-agent: *\nCrawl-delay: {crawl_delay_s}\n".encode()
    site.robots["a.test"] = Answer(body=rules, content_type="text/plain")
    poisoned = sorted(site.urls)[3]
    site.add(poisoned, make_page(poisoned, head="<meta name=poison>"))
    with Web(site) as web:
        status = make_crawl(tmp_path / "crawl", web, delay_s=0.01).run()
    assert (status.state, status.totals.pages) == ("ended", len(site.urls))
    assert status.shards[0].epoch == 2
    assert [exchange.url for exchange in web.log].count(poisoned) == 2
    assert {outcome.url for outcome in read_outcomes(tmp_path / "crawl")} == site.urls


def test_a_shard_whose_disk_is_missing_does_not_begin_anew(tmp_path: Path) -> None:
    """Also when the other shards have gone on for a while without it."""
    folder = tmp_path / "crawl"
    hosts = [f"site{number}.test" for number in range(10)]
    seeds = [f"http://{host}/" for host in hosts]
    site = make_site(hosts, 60)
    with Web(site) as web:
        settings = {"resolve": tuple(web.resolve({"*.test": "127.0.0.1"})[1::2]), "shards": 2, "scope": "any"}
        pace = {"delay_s": 0.05, "ip_delay_s": 0.0, "min_free_bytes": 0, "allow_private": True}
        Crawl.create(folder, seeds, pages=20, **settings, **pace).run()
        shard = folder / "shards" / "001"
        shard.rename(tmp_path / "elsewhere")
        shard.mkdir()
        crawl = Crawl.create(folder, pages=0, time_s=8)
        status = crawl.run()
    assert status.reason == "time"
    assert not (shard / "frontier").exists()
    assert {beat.shard for beat in status.shards} == {0, 1}


@pytest.mark.parametrize("pattern", ["CURRENT", "*.sst"])
def test_a_damaged_shard_ends_the_crawl(tmp_path: Path, pattern: str) -> None:
    """A database may be damaged as a whole, or where it is read only when the crawl runs."""
    folder = tmp_path / "crawl"
    with Web(make_site(["a.test"], 30)) as web:
        make_crawl(folder, web, delay_s=0.01, pages=10).run()
        damaged = list((folder / "shards/000/frontier").glob(pattern))
        for path in damaged:
            path.write_bytes(bytes(path.stat().st_size))
        with pytest.raises(UsageError, match=r"shards/000/frontier is damaged: `rdfspider doctor --dir "):
            Crawl.create(folder, pages=0).run()
    assert damaged
    status = Crawl.open(folder).status()
    assert status.state == "stopped"
    assert "is damaged" in status.reason


def test_a_shard_that_cannot_be_restored_ends_the_crawl(tmp_path: Path) -> None:
    folder, store = tmp_path / "crawl", tmp_path / "store"
    with Web(make_site(["a.test"], 5)) as web:
        make_crawl(folder, web, delay_s=0.01, backup_url=str(store)).run()
        shutil.rmtree(folder / "shards" / "000")
        shutil.rmtree(store / "shards" / "000" / "files")
        with pytest.raises(UsageError, match=f"shard 0 cannot be restored; `rdfspider verify --backup {store}` tells"):
            Crawl.create(folder).run()


def test_a_shard_that_never_comes_up_ends_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run_first("import sys; 'rdfspider.run.shard_process' in sys.orig_argv and sys.exit(7)", tmp_path, monkeypatch)
    monkeypatch.setattr(coordination, "_RESTARTS", RestartPolicy(first_pause_s=0.01, max_failures=3))
    crawl = Crawl.create(tmp_path / "crawl", ["http://a.test/"], shards=1)
    with pytest.raises(UsageError, match="shard 0 cannot be started: it has failed 3 times in a row"):
        crawl.run()
    assert capfd.readouterr().err.count("started again") <= 2


def test_a_crawl_runs_where_a_loop_runs_already(tmp_path: Path) -> None:
    """As in a notebook."""

    async def run() -> Status:
        return crawl.run()

    with Web(make_site(["a.test"], 5)) as web:
        crawl = make_crawl(tmp_path / "crawl", web, delay_s=0.01)
        status = asyncio.run(run())
    assert (status.state, status.reason, status.totals.pages) == ("ended", "finished", 5)


def test_an_interrupt_stops_it_there_too(tmp_path: Path) -> None:
    heard: list[Status] = []

    def interrupt(status: Status) -> None:
        if status.totals.pages and not heard:
            heard.append(status)
            os.kill(os.getpid(), signal.SIGINT)

    async def run() -> Status:
        return crawl.run(interrupt)

    with Web(make_chain("a.test", 10_000)) as web:
        crawl = make_crawl(tmp_path / "crawl", web, delay_s=0.01)
        # Unlike `asyncio.run`, and like a notebook, this leaves Python's own handler in its place.
        loop = asyncio.new_event_loop()
        status = loop.run_until_complete(run())
        loop.close()
    assert (status.state, status.reason) == ("stopped", "interrupted")
