"""Ranks follow the graph in the background, and whatever is killed, the older ones stay."""

import logging
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.index.graph.pages import make_history, make_page
from tests.index.graph.rated import add_pages, list_ranks, make_paths, rate
from tests.index.logs import ShardLog

from rdfspider.config import Config, RunConfig
from rdfspider.index.graph import rater as rater_module
from rdfspider.index.graph.esteem_file import NAME as ESTEEM
from rdfspider.index.graph.esteem_file import load_esteem, mark_esteem
from rdfspider.index.graph.fame import NAME, FameReader
from rdfspider.index.graph.rater import Rater
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.indexer import Indexer
from rdfspider.index.layout import IndexPaths
from waiting import wait_until


@pytest.fixture
def paths(tmp_path: Path) -> IndexPaths:
    return make_paths(tmp_path)


@pytest.fixture
def rater(paths: IndexPaths) -> Iterator[Rater]:
    with closing(Rater(paths)) as rater:
        yield rater


@pytest.fixture
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """All graphs are rated by a process."""
    monkeypatch.setattr(rater_module, "AT_ONCE_LINKS", 0)


def add(paths: IndexPaths, count: int, host: str) -> None:
    add_pages(paths, [make_page(f"http://{host}.test/{number}", 1.0, ["http://hub.test/"]) for number in range(count)])


def never() -> bool:
    return False


def wait() -> None:
    pass


def test_ranks_are_made_when_the_graph_has_grown_or_rests(
    paths: IndexPaths, rater: Rater, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rater_module, "PAUSE_S", 0.0)
    monkeypatch.setattr(rater_module, "_SHARE", 1e9)
    reader = FameReader(paths.graph)
    rater.look()
    assert reader.state is None
    add(paths, 100, "a")
    rater.look()
    assert reader.links == 100
    add(paths, 49, "b")
    rater.look()
    # Less than half.
    assert reader.links == 100
    add(paths, 1, "c")
    rater.look()
    assert reader.links == 150
    add(paths, 1, "d")
    rater.look()
    assert reader.links == 150
    monkeypatch.setattr(rater_module, "_REST_S", 0.0)
    rater.look()
    assert reader.links == 151
    dated = reader.dated
    rater.look()
    assert reader.dated == dated


def test_ranks_are_made_once_a_minute_at_most(paths: IndexPaths, rater: Rater) -> None:
    reader = FameReader(paths.graph)
    add(paths, 10, "a")
    rater.look()
    add(paths, 10, "b")
    for _ in range(5):
        rater.look()
    assert reader.links == 10
    # But at the end.
    rater.finish(never, wait)
    assert reader.links == 20


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"damaged")])
def test_the_table_for_the_crawl_is_made_again_when_it_is_lost(
    paths: IndexPaths, damage: Callable[[Path], None]
) -> None:
    add_pages(paths, [make_page(f"http://fan{number}.test/", 1.0, ["http://hub.test/"]) for number in range(9)])
    with closing(Rater(paths)) as rater:
        rater.finish(never, wait)
    table, marked = load_esteem(paths.graph), mark_esteem(paths.graph)
    assert table
    with closing(Rater(paths)) as rater:
        rater.finish(never, wait)
    assert mark_esteem(paths.graph) == marked, "nothing is made again while nothing is lost"
    damage(paths.graph / ESTEEM)
    with closing(Rater(paths)) as rater:
        rater.finish(never, wait)
    assert load_esteem(paths.graph) == table


@pytest.mark.usefixtures("_apart")
def test_a_process_rates_a_large_graph(paths: IndexPaths, rater: Rater, tmp_path: Path) -> None:
    history = make_history(3, 300)
    add_pages(paths, history)
    rater.look()
    reader = FameReader(paths.graph)
    wait_until(lambda: reader.state is not None)
    assert list_ranks(reader) == list_ranks(rate(tmp_path / "other", history))
    wait_until(lambda: not rater._is_running())
    waited = []
    add(paths, 10, "a")
    rater.finish(never, lambda: waited.append(1))
    assert waited
    with closing(GraphReader(paths)) as graph:
        assert reader.links == graph.count_links()


@pytest.mark.usefixtures("_apart")
def test_a_killed_process_leaves_the_older_ranks(paths: IndexPaths, rater: Rater) -> None:
    add_pages(paths, make_history(3, 300))
    rater.finish(never, wait)
    reader, chance = FameReader(paths.graph), random.Random(5)
    before = list_ranks(reader)
    add_pages(paths, [make_page(f"http://new{n}.test/", 9.0, ["http://hub.test/"]) for n in range(3_000)])
    for _ in range(8):
        rater._start(time.monotonic())
        assert rater._process is not None
        time.sleep(chance.random() * 0.6)
        os.kill(rater._process.pid, signal.SIGKILL)
        wait_until(lambda: not rater._is_running())
        if reader.links > 3_000:
            # It was ready before it was killed.
            break
        assert list_ranks(reader) == before
    with closing(Rater(paths)) as other:
        assert not list(paths.graph.glob(f"{NAME}.*"))
        other.finish(never, wait)
    with closing(GraphReader(paths)) as graph:
        assert reader.links == graph.count_links()


@pytest.mark.usefixtures("_apart")
def test_the_process_ends_with_its_rater(paths: IndexPaths, rater: Rater) -> None:
    add(paths, 10, "a")
    rater.look()
    process = rater._process
    assert process is not None
    rater.close()
    assert process.returncode is not None
    rater._start(time.monotonic())
    process = rater._process
    assert process is not None
    assert process.stdin is not None
    # As if this process had been killed.
    process.stdin.close()
    assert process.wait(30) in (0, 1)


@pytest.mark.usefixtures("_apart")
def test_an_indexer_that_is_told_to_stop_does_not_wait(paths: IndexPaths, rater: Rater) -> None:
    add(paths, 10, "a")
    rater.finish(lambda: True, wait)
    assert rater._process is None
    assert FameReader(paths.graph).state is None


def test_a_damaged_file_is_made_again(paths: IndexPaths, rater: Rater) -> None:
    add(paths, 10, "a")
    rater.finish(never, wait)
    reader = FameReader(paths.graph)
    before = list_ranks(reader)
    (paths.graph / NAME).write_bytes(b"nonsense")
    rater.finish(never, wait)
    assert list_ranks(reader) == before


def test_what_goes_wrong_is_told_once(
    paths: IndexPaths, rater: Rater, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(rater_module, "PAUSE_S", 0.0)
    monkeypatch.setattr(rater_module, "_SHARE", 1e9)

    def fail(_: IndexPaths) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(rater_module, "rate_graph", fail)
    add(paths, 10, "a")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            rater.look()
        rater.finish(never, wait)
    assert len(caplog.messages) == 1
    assert "No space left" in caplog.messages[0]


@pytest.mark.usefixtures("_apart")
def test_what_goes_wrong_in_the_process_is_told(
    paths: IndexPaths, rater: Rater, caplog: pytest.LogCaptureFixture
) -> None:
    add(paths, 10, "a")
    (generation,) = paths.graph.glob("*.graph")
    whole = generation.read_bytes()
    # The end, which says what there is, stays.
    generation.write_bytes(bytes(len(whole) // 2) + whole[len(whole) // 2 :])
    with caplog.at_level(logging.WARNING):
        rater.finish(never, wait)
        rater.finish(never, wait)
    assert len(caplog.messages) == 1
    assert "is damaged" in caplog.messages[0]


def test_a_graph_beyond_the_limit_is_not_rated(
    paths: IndexPaths, rater: Rater, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rater_module, "MAX_LINKS", 9)
    add(paths, 10, "a")
    rater.look()
    rater.finish(never, wait)
    assert FameReader(paths.graph).state is None


def test_the_indexer_ends_with_the_ranks_of_the_whole_graph(tmp_path: Path) -> None:
    log = ShardLog(tmp_path)
    for turn in range(2):
        for number in range(5):
            url = f"http://a.test/{turn}/{number}"
            log.write(url, rdfa=f"<{url}> <http://schema.org/about> <http://b.test/> <{url}> .\n")
        indexer = Indexer(IndexPaths(tmp_path), replace(Config(), run=RunConfig(min_free_bytes=0)))
        indexer.finish()
        indexer.run()
        with closing(GraphReader(IndexPaths(tmp_path))) as reader:
            rank = reader.read_rank("http://b.test/")
            assert rank is not None
            assert rank.total == 5 * turn + 6
