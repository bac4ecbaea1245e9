"""Crawls that are indexed while they run, as a person starts them: soon found, never lost, and slower where they must wait."""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyoxigraph import Store
from tests.index.holdings import check_merge, read_cards, read_quads

from rdfspider import Crawl
from rdfspider.config import Config, IndexConfig
from rdfspider.errors import USAGE_EXIT, UsageError
from rdfspider.index.indexer import hold_index
from rdfspider.index.layout import IndexPaths
from rdfspider.index.quads.snapshots import hold_snapshot
from rdfspider.index.status import (
    IndexState,
    IndexStatus,
    ViewStatus,
    is_indexed,
    read_index_status,
    write_index_status,
)
from rdfspider.processes import supervisor
from rdfspider.run.index_watch import FINISH, IndexOrder, IndexWatch, encode_order
from waiting import PATIENCE_S, ShiftedTime, wait_until
from web import Crawling, Site, Web, command, crawl, make_page, make_site, prolong
from web.crawls import wait_for_end

EVERYWHERE = {"*.test": "127.0.0.1"}
QUICK = ["--scope", "any", "--delay", 0, "--shards", 2]
INDEXED: dict[str, Any] = {"index_enabled": None}


def find_indexer(crawling: Crawling) -> psutil.Process | None:
    """Its indexer, if there is one at this moment."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(crawling.process.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):
                if "rdfspider.run.indexer_process" in process.cmdline():
                    return process
    return None


def ask_snapshot(folder: Path, query: str) -> bool:
    try:
        with hold_snapshot(IndexPaths(folder).snapshots) as held:
            return bool(Store.read_only(str(held.path)).query(query))
    except UsageError:
        return False


def find_words(folder: Path, words: str) -> bool:
    try:
        return any(words in hit.label for hit in Crawl.open(folder).search(words))
    except UsageError:
        return False


def test_a_page_is_found_while_the_crawl_runs(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    site = make_site(["a.test", "b.test"], 50)
    found: set[str] = set()
    url = "http://a.test/more/5"
    with Web(prolong(site, "a.test", lambda: len(found) == 2)) as web:
        seeds = ["http://a.test/", "http://a.test/more/0"]
        flags = [*seeds, *QUICK, *web.resolve(EVERYWHERE)]
        with Crawling(folder, *flags, **INDEXED) as crawling:
            checks: dict[str, Callable[[], bool]] = {
                "words": lambda: find_words(folder, f"the thing of {url}"),
                "sparql": lambda: ask_snapshot(folder, f'ASK {{ <{url}#it> ?name "the thing of {url}" }}'),
            }
            for name, check in checks.items():
                assert crawling.wait_until(check)
                status = crawling.status()["index"]
                assert status["state"] in ("indexing", "idle")
                assert status["pid"] != crawling.process.pid
                found.add(name)
            assert crawling.wait() == 0
            assert "index       " in crawling.stderr()
    status = read_index_status(IndexPaths(folder))
    assert status is not None
    assert (status.state, status.behind_pages) == ("ended", 0)
    assert status.pages == Crawl.open(folder).status().totals.pages


def test_an_indexer_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    chance = random.Random(5)
    deaths = 0
    site = make_site(["a.test", "b.test", "c.test"], 300, delay_s=0.1)
    with Web(prolong(site, "a.test", lambda: deaths >= 3)) as web:
        flags = [*QUICK, "http://a.test/", "http://a.test/more/0", *web.resolve(EVERYWHERE)]
        with Crawling(folder, *flags, **INDEXED) as crawling:
            while deaths < 3:
                time.sleep(chance.uniform(0.5, 1.2))
                if indexer := find_indexer(crawling):
                    indexer.kill()
                    deaths += 1
            assert crawling.wait() == 0
            assert crawling.stderr().count("the indexer has ended with code -9; it is started again") == 3
    quads, cards = read_quads(folder), read_cards(folder)
    check_merge(folder)
    found = read_index_status(IndexPaths(folder))
    assert found is not None
    assert found.pages == Crawl.open(folder).status().totals.pages > 300
    command(folder, "index", "--rebuild")
    assert read_quads(folder) == quads
    assert read_cards(folder) == cards


def test_ctrl_c_lets_it_leave_and_the_next_run_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    paths = IndexPaths(folder)
    is_interrupted = False
    with Web(prolong(make_site(["a.test", "b.test"], 100), "a.test", lambda: is_interrupted)) as web:
        flags = ["http://a.test/", "http://a.test/more/0", *QUICK, *web.resolve(EVERYWHERE)]
        with Crawling(folder, *flags, **INDEXED) as crawling:
            assert crawling.wait_until(lambda: bool((status := read_index_status(paths)) and status.pages))
            indexer = find_indexer(crawling)
            assert indexer is not None
            crawling.interrupt()
            is_interrupted = True
            assert crawling.wait() == 128 + signal.SIGINT
            assert not indexer.is_running()
        assert not is_indexed(paths)
        crawl(folder, *flags, **INDEXED)
    status = read_index_status(paths)
    assert status is not None
    assert status.pages == Crawl.open(folder).status().totals.pages > 100


def test_it_leaves_with_its_parent(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    site = make_site(["a.test"], 20)
    with Web(prolong(site, "a.test", lambda: False)) as web:
        flags = ["http://a.test/more/0", "--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)]
        with Crawling(folder, *flags, **INDEXED) as crawling:
            assert crawling.wait_until(lambda: is_indexed(IndexPaths(folder)))
            left = crawling.kill_parent()
            assert len(left) == 2
            for process in left:
                wait_for_end(process)
    assert not is_indexed(IndexPaths(folder))


@contextlib.contextmanager
def pretend_to_index(paths: IndexPaths, lag_s: Callable[[], float]) -> Iterator[None]:
    """Hold the index as another process would, and say every now and then how far behind it is."""
    is_over = threading.Event()

    def tell() -> None:
        while not is_over.wait(0.1):
            views = (ViewStatus("quads", lag_s=lag_s()), ViewStatus("text"), ViewStatus("http://x/sparql", lag_s=9999))
            write_index_status(paths, IndexStatus("indexing", os.getpid(), time.time(), views=views))

    with hold_index(paths):
        thread = threading.Thread(target=tell)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


def read_lag(paths: IndexPaths) -> float:
    status = read_index_status(paths)
    return status.lag_s if status else 0.0


def test_shards_wait_for_an_index_that_is_far_behind_and_say_so(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    site = make_site(["a.test", "b.test"], 60)
    flags = [*QUICK, "http://a.test/"]
    lag_s = 30.0
    with Web(prolong(site, "a.test", lambda: lag_s == 1.0)) as web:
        flags += ["http://a.test/more/0", *web.resolve(EVERYWHERE)]
        Crawl.create(folder, ["http://a.test/"], shards=2)
        with (
            pretend_to_index(IndexPaths(folder), lambda: lag_s),
            Crawling(folder, *flags, **INDEXED, index_max_lag_s=50) as crawling,
        ):
            # What is within the bound slows nobody.
            assert crawling.wait_until(lambda: len(web.log) > 20)
            lag_s = 63.0
            slowed = "slowed: the index is 63 s behind"
            assert crawling.wait_until(lambda: crawling.is_resting("slowed"))
            asked = web.asked
            crawling.wait_for_beats()
            assert web.asked == asked, "nothing new is asked for"
            assert crawling.status()["state"] == "running"
            lag_s = 45.0
            assert crawling.wait_until(lambda: read_lag(IndexPaths(folder)) == 45)
            crawling.wait_for_beats()
            assert web.asked == asked, "until it is well below the bound"
            lag_s = 1.0
            assert crawling.wait() == 0
            assert slowed in crawling.stderr()
            assert web.asked > asked
    # What others were indexing is not waited for; nobody did, so all of it is still to do.
    command(folder, "index")
    status = read_index_status(IndexPaths(folder))
    assert status is not None
    assert status.pages == Crawl.open(folder).status().totals.pages


def test_an_indexer_that_is_given_up_slows_nobody(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    watch = IndexWatch(tmp_path, Config(index=IndexConfig(max_lag_s=60)))
    assert watch.find_slow_reason() == ""

    def find_slow_reason() -> str:
        watch.look()
        return watch.find_slow_reason()

    with pretend_to_index(paths, lambda: 61.0):
        assert wait_until(find_slow_reason) == "the index is 61 s behind"
    # It has died, and is started again.
    watch.look()
    assert watch.status is not None
    assert not watch.status.is_running
    assert watch.find_slow_reason() == "the index is 61 s behind"
    # It cannot go on, and does not get nearer by waiting.
    late = ViewStatus("quads", lag_s=61.0)
    watch.status = IndexStatus(IndexState.INDEXING, views=(late,))
    assert watch.find_slow_reason() == "the index is 61 s behind"
    watch.status = IndexStatus(IndexState.SUSPENDED, views=(late,))
    assert watch.find_slow_reason() == ""
    with pretend_to_index(paths, lambda: 61.0):
        assert wait_until(find_slow_reason)
    watch.finish()
    assert watch.find_slow_reason() == ""


@pytest.mark.parametrize("is_written", [True, False])
def test_an_index_whose_last_status_could_not_be_written_may_lack_pages(tmp_path: Path, is_written: bool) -> None:
    """As on a full disk: the status before that says that all is well."""
    if not is_written:
        IndexPaths(tmp_path).status.mkdir(parents=True)
    watch = IndexWatch(tmp_path, Config())
    watch.finish()
    asyncio.run(watch.run())
    watch.look()
    assert watch.status is not None
    expected = "" if is_written else "index: the indexer could not write its last status"
    assert watch.status.incomplete == expected


def test_an_indexer_that_hangs_slows_shards_and_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ShiftedTime()
    monkeypatch.setattr(supervisor, "time", clock)
    paths = IndexPaths(tmp_path)
    watch = IndexWatch(tmp_path, Config(index=IndexConfig(max_lag_s=60)))

    def find_pid() -> int:
        watch.look()
        return watch.status.pid if watch.status and watch.status.is_running and is_indexed(paths) else 0

    async def wait_for(condition: Callable[[], object], step_s: float = 0.0) -> None:
        """With `step_s`, the watch's clock goes faster than that of the indexer, which does nothing anyway."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await asyncio.sleep(0.1)
                clock.ahead_s += step_s

    async def hang() -> None:
        running = asyncio.create_task(watch.run())
        await wait_for(find_pid)
        pid = find_pid()
        assert watch.find_slow_reason() == ""
        os.kill(pid, signal.SIGSTOP)
        await wait_for(lambda: find_pid() and watch.find_slow_reason(), 10.0)
        assert watch.find_slow_reason().startswith("the index is ")
        assert find_pid() == pid
        await wait_for(lambda: find_pid() != pid, 10.0)
        await wait_for(find_pid)
        assert watch.find_slow_reason() == ""
        await watch.leave(PATIENCE_S)
        await running

    asyncio.run(hang())
    assert "the indexer has not been heard for 120 s; it is started again" in caplog.text


def test_an_indexer_that_cannot_be_made_says_why_in_one_line(tmp_path: Path) -> None:
    config = Config(index=IndexConfig(stores=("ftp://x",)))
    order = encode_order(IndexOrder(tmp_path, config, is_finishing=True))
    ended = subprocess.run(
        [sys.executable, "-m", "rdfspider.run.indexer_process"],
        input=order,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == USAGE_EXIT
    assert ended.stderr.startswith(b"rdfspider: --store ftp://x: ")
    assert ended.stderr.count(b"\n") == 1


def test_an_indexer_without_a_descriptor_waits_for_one(tmp_path: Path) -> None:
    """It starts where all are in use, and goes on when more are allowed."""
    code = """
        import os, resource
        from rdfspider.run.indexer_process import main
        last = os.open(os.devnull, os.O_RDONLY)
        resource.setrlimit(resource.RLIMIT_NOFILE, (last + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        main()
        """
    folder = Crawl.create(tmp_path / "crawl", ["http://a.test/"], shards=1).folder
    said = tmp_path / "stderr"
    with (
        said.open("wb") as stderr,
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stderr=stderr
        ) as indexer,
    ):
        assert indexer.stdin is not None
        indexer.stdin.write(encode_order(IndexOrder(folder, Config(), is_finishing=False)))
        indexer.stdin.flush()
        wait_until(lambda: "the indexer is suspended: [Errno 24]" in said.read_text())
        process = psutil.Process(indexer.pid)
        most = process.rlimit(psutil.RLIMIT_NOFILE)[1]
        process.rlimit(psutil.RLIMIT_NOFILE, (most, most))
        wait_until(lambda: (status := read_index_status(IndexPaths(folder))) is not None and status.is_running)
        indexer.stdin.write(FINISH)
        indexer.stdin.flush()
        assert indexer.wait(PATIENCE_S) == 0
    assert said.read_text().count("suspended") == 1


def test_an_index_of_another_version_is_told_before_a_crawl_begins(tmp_path: Path) -> None:
    crawl = Crawl.create(tmp_path / "crawl", ["http://a.test/"], shards=1)
    paths = IndexPaths(crawl.folder)
    paths.index.mkdir()
    paths.version.write_text("99\n")
    complaint = f"its layout is '99'.* `rdfspider index --rebuild --dir {crawl.folder}`, or crawl with --no-index"
    with pytest.raises(UsageError, match=complaint):
        crawl.run()
    assert crawl.status().state == "new"


def test_an_index_that_cannot_be_made_is_told_when_the_crawl_begins(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    Crawl.create(folder, ["http://a.test/more/0"], shards=1)
    (folder / "forgotten.txt").write_text("neither a page nor a site\n")
    with (
        Web(prolong(Site(), "a.test", lambda: False)) as web,
        Crawling(folder, "--delay", 0, *web.resolve(EVERYWHERE), **INDEXED) as crawling,
    ):
        assert crawling.wait() == 2
        assert "forgotten.txt" in crawling.stderr()
        assert "the index cannot be made; --no-index crawls without it" in crawling.stderr()


def test_without_the_index_there_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    site = Site()
    site.add("http://a.test/", make_page("http://a.test/"))
    with Web(site) as web:
        crawl(folder, "http://a.test/", *QUICK, *web.resolve(EVERYWHERE), "--no-index", **INDEXED)
    assert not (folder / "index").exists()
    assert json.loads(command(folder, "status", "--json"))["index"] is None
