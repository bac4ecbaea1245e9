"""Large pages: real processes that hang, die, need too much, and are replaced."""

import asyncio
import fcntl
import functools
import importlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import uvloop

from rdfspider.config import ExtractConfig
from rdfspider.pipeline import extract_from
from rdfspider.processes.calls import CallError, CallFailure
from rdfspider.records import Extraction, Page, Problem
from rdfspider.run import heavy_pages
from rdfspider.run.heavy_pages import LARGE_PAGE_BYTES, LargePages, PoisonPages
from waiting import wait_until

CONFIG = ExtractConfig()
GOOD = Page("http://example.org/good", b"<title>Good</title><p vocab='http://schema.org/' typeof='Thing'>", "text/html")
# The helper asks for the context of this page, which is where it can be led astray.
ASKING = Page(
    "http://example.org/asking",
    b'<script type="application/ld+json">{"@context": "http://example.org/context", "a": "b"}</script>',
    "Text/HTML; charset=utf-8",
)
DYING = ExtractConfig(documents=functools.partial(os.execlp, "false"))
DOCUMENTS = """
import os, sys, time

def crash_with_turbohtml(url):
    if "turbohtml" in sys.modules:
        os.abort()
    return answer(url)

def hang(url):
    time.sleep(60)

def wait(url):
    time.sleep(2)

def take_all(url):
    return bytes(2 ** 31)

def answer(url):
    return b'{"@context": {"@vocab": "http://example.org/v/"}}'
"""


@pytest.fixture
def large_pages(tmp_path: Path) -> Iterator[LargePages]:
    pages = LargePages(60, tmp_path / "turn")
    yield pages
    pages.close()


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of the user's, which a shard can import, and so must its helper."""
    module = tmp_path / "own_documents.py"
    module.write_text(DOCUMENTS)
    monkeypatch.syspath_prepend(tmp_path)
    yield module
    sys.modules.pop("own_documents", None)


def using(name: str) -> ExtractConfig:
    return ExtractConfig(documents=getattr(importlib.import_module("own_documents"), name))


async def run_all(pages: LargePages, *jobs: tuple[Page, ExtractConfig]) -> list[Extraction]:
    return [found for found, _ in await asyncio.gather(*(pages.extract(page, config) for page, config in jobs))]


def codes(extraction: Extraction) -> list[str]:
    return [problem.code for problem in extraction.problems]


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_page_says_the_same_as_in_this_process(large_pages: LargePages, run: "type[asyncio.run]") -> None:
    large = Page("http://example.org/", b"<title>Long</title>" + b"<p><a href='/x'>words</a>" * 100_000, "text/html")
    found = run(run_all(large_pages, (GOOD, CONFIG), (large, CONFIG)))
    assert found == [extract_from(GOOD, CONFIG), extract_from(large, CONFIG)]
    assert found[0].statements and found[1].text
    assert large_pages.waiting_bytes == 0


def test_a_page_that_kills_the_calls_costs_only_itself(large_pages: LargePages) -> None:
    found = asyncio.run(run_all(large_pages, (GOOD, CONFIG), (ASKING, DYING), (GOOD, CONFIG), (ASKING, DYING)))
    assert [codes(extraction) for extraction in found] == [[], ["crashed"], [], ["crashed"]]
    death = "the process that read it ended with exit status 1"
    assert found[1].problems[0].message == f"{death}; read again by another parser: {death}"
    assert (found[1].url, found[1].media_type, found[1].statements) == (ASKING.url, "text/html", {})
    assert found[2].statements


@pytest.mark.usefixtures("documents")
def test_a_page_that_kills_its_parser_is_read_by_the_second(large_pages: LargePages) -> None:
    crashing = using("crash_with_turbohtml")
    first, second, third = asyncio.run(run_all(large_pages, (ASKING, crashing), (ASKING, crashing), (GOOD, CONFIG)))
    assert "<http://example.org/v/a>" in first.to_nquads()
    assert first == second
    because = "read by justhtml, because at first the process that read it was killed by signal 6"
    assert first.problems == (Problem("second-parser", because),)
    assert large_pages._second._calls.pid is None, "it ends with its page"
    assert third == extract_from(GOOD, CONFIG)


@pytest.mark.usefixtures("documents")
def test_a_page_that_takes_too_long_is_killed_and_the_loop_goes_on(tmp_path: Path) -> None:
    pages = LargePages(60, tmp_path / "turn")

    async def run() -> tuple[Extraction, Extraction, int]:
        await pages.extract(GOOD, CONFIG)
        # A new helper has to load much before it can read anything; the old one has done that.
        pages._calls._timeout_s = 2
        rounds, running = 0, asyncio.ensure_future(pages.extract(ASKING, using("hang")))
        while not running.done():
            await asyncio.sleep(0.01)
            rounds += 1
        pages._calls._timeout_s = 60
        return (await running)[0], (await pages.extract(GOOD, CONFIG))[0], rounds

    slow, good, rounds = asyncio.run(run())
    pages.close()
    assert codes(slow) == ["too-slow"]
    assert slow.problems[0].message == "it took more than 2 s"
    assert good.statements
    # A loop that waits has three.
    assert rounds > 10


def test_memory_is_bounded_and_modules_of_ones_own_are_found(large_pages: LargePages, documents: Path) -> None:
    greedy, modest = using("take_all"), using("answer")
    first, second = asyncio.run(run_all(large_pages, (ASKING, greedy), (ASKING, modest)))
    assert ["MemoryError" in problem.message for problem in first.problems] == [True]
    assert "<http://example.org/v/a>" in second.to_nquads()
    # A new helper cannot load these settings any more; it says so, and goes on.
    documents.unlink()
    shutil.rmtree(documents.with_name("__pycache__"), ignore_errors=True)
    asyncio.run(run_all(large_pages, (ASKING, DYING)))
    third, fourth = asyncio.run(run_all(large_pages, (ASKING, modest), (GOOD, CONFIG)))
    assert codes(third) == ["crashed"]
    assert third.problems[0].message.startswith("ModuleNotFoundError")
    assert fourth.statements


def test_a_page_waits_for_a_machine_that_can_start_no_process_now(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pages = LargePages(60, tmp_path / "turn")

    async def run() -> Extraction:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, hard))
        asyncio.get_running_loop().call_later(1.5, resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        return (await pages.extract(GOOD, CONFIG))[0]

    monkeypatch.setattr(heavy_pages, "_START_PAUSE_S", 0.5)
    found = asyncio.run(run())
    pages.close()
    assert found == extract_from(GOOD, CONFIG)


def test_a_machine_that_can_start_no_process_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """However long each of its attempts takes."""
    pages = LargePages(60, tmp_path / "turn")
    tried: list[str] = []

    def start(*_: object) -> None:
        tried.append("start")
        time.sleep(0.1)
        raise CallError(CallFailure.NOT_STARTED, "the process to read it did not start in time")

    async def run() -> Extraction:
        return (await pages.extract(GOOD, CONFIG))[0]

    monkeypatch.setattr(pages._calls, "call", start)
    monkeypatch.setattr(heavy_pages, "_START_PAUSE_S", 0.0)
    monkeypatch.setattr(heavy_pages, "_STARTING_S", 0.35)
    assert codes(asyncio.run(run())) == ["not-started"]
    pages.close()
    assert len(tried) <= 4


def test_statements_are_cut_where_they_are_too_much_to_hold(large_pages: LargePages) -> None:
    prefix = "http://example.org/" + "x" * 15_000
    turtle = f"@prefix p: <{prefix}> .\n" + "".join(f"p:{number} p:a p:b .\n" for number in range(1_600))
    (found,) = asyncio.run(run_all(large_pages, (Page("http://example.org/", turtle.encode(), "text/turtle"), CONFIG)))
    assert codes(found) == ["statements-cut"]
    nquads = found.statements["rdf"]
    assert 60_000_000 < len(nquads) < 68_000_000
    assert nquads.endswith(" <http://example.org/> .\n")


LARGE = Page("http://example.org/large", b"<title>Large</title>" + b" " * (LARGE_PAGE_BYTES + 1), "text/html")


@pytest.mark.parametrize("page", [LARGE, replace(LARGE, body=b"<title>Small</title>")], ids=["large", "small"])
def test_shards_take_turns(large_pages: LargePages, tmp_path: Path, page: Page) -> None:
    with (tmp_path / "turn").open("r+b") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)

        async def run() -> Extraction:
            job = asyncio.ensure_future(large_pages.extract(page, CONFIG))
            await asyncio.sleep(0.2)
            assert large_pages._calls.pid is None
            fcntl.flock(turn, fcntl.LOCK_UN)
            return (await job)[0]

        assert asyncio.run(run()) == extract_from(page, CONFIG)


def test_closing_does_not_wait_for_the_turn(tmp_path: Path) -> None:
    pages = LargePages(60, tmp_path / "turn")
    with (tmp_path / "turn").open("r+b") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)

        async def run() -> Extraction:
            job = asyncio.ensure_future(pages.extract(LARGE, CONFIG))
            await asyncio.sleep(0.1)
            await asyncio.to_thread(pages.close)
            return (await job)[0]

        assert codes(asyncio.run(run()))[0] in ("crashed", "not-started")


@pytest.mark.usefixtures("documents")
def test_closing_ends_what_is_under_way(tmp_path: Path) -> None:
    pages = LargePages(60, tmp_path / "turn")

    async def run() -> list[tuple[Extraction, float] | BaseException]:
        jobs = [asyncio.ensure_future(pages.extract(page, using("hang"))) for page in (ASKING, ASKING)]
        while pages._calls.pid is None:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(pages.close)
        return await asyncio.gather(*jobs, return_exceptions=True)

    first, second = asyncio.run(run())
    assert isinstance(first, tuple) and codes(first[0])[0] in ("crashed", "not-started")
    assert isinstance(second, asyncio.CancelledError)


@pytest.mark.usefixtures("documents")
def test_shards_come_first_and_so_do_queries(tmp_path: Path) -> None:
    """A page that waits keeps the one process, which is nice to the shards; queries are of every page, and need not wait."""
    pages = LargePages(60, tmp_path / "turn")

    async def run() -> list[str] | Problem:
        job = asyncio.ensure_future(pages.extract(ASKING, using("hang")))
        found = await pages.query("SELECT ?url { ?url ?p ?o }", GOOD, "<http://a.example/> <p:p> <o:o> .\n")
        assert not job.done()
        await asyncio.to_thread(
            wait_until, lambda: pages._calls.pid and psutil.Process(pages._calls.pid).nice() > os.nice(0)
        )
        assert psutil.Process(pages._queries.pid).nice() == os.nice(0)
        await asyncio.to_thread(pages.close)
        await asyncio.gather(job, return_exceptions=True)
        return found

    assert asyncio.run(run()) == ["http://a.example/"]


@pytest.mark.usefixtures("documents")
def test_a_page_is_charged_its_processor_time(large_pages: LargePages) -> None:
    """The process waits for the shards, and that is no fault of the page."""
    _, seconds = asyncio.run(large_pages.extract(ASKING, using("wait")))
    assert 0 < seconds < 2.0


KILLED_SCRIPT = """
import os, signal, sys
from pathlib import Path
from rdfspider.run.heavy_pages import PoisonPages

poison_pages = PoisonPages(Path(sys.argv[1]))
with poison_pages.watch("http://example.org/a-page-that-was-read-before"):
    pass
with poison_pages.watch(sys.argv[2]):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_page_is_suspected_when_the_process_died_of_it_and_ever_after(tmp_path: Path) -> None:
    urls = ["http://example.org/one", "http://example.org/two"]
    for url in urls:
        ended = subprocess.run([sys.executable, "-c", KILLED_SCRIPT, str(tmp_path), url], timeout=120)
        assert ended.returncode == -signal.SIGKILL
    for _ in range(2):
        poison_pages = PoisonPages(tmp_path)
        with poison_pages.watch("http://example.org/harmless"):
            pass
        poison_pages.close()
    poison_pages = PoisonPages(tmp_path)
    assert all(map(poison_pages.has, urls))
    assert not poison_pages.has("http://example.org/harmless")
    assert not poison_pages.has("http://example.org/a-page-that-was-read-before")
    poison_pages.close()


def test_a_page_is_suspected_when_an_exception_ended_the_process(tmp_path: Path) -> None:
    poison_pages = PoisonPages(tmp_path)
    url = "http://example.org/one"
    with pytest.raises(BaseException, match="a panic"), poison_pages.watch(url):
        raise BaseException("a panic")
    poison_pages.close()
    poison_pages = PoisonPages(tmp_path)
    assert poison_pages.has(url)
    poison_pages.close()
