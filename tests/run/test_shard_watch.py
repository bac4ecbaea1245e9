"""Shards that are not heard are named, and those that are heard are on record."""

import logging
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rdfspider.config import Config
from rdfspider.crawl.lives import begin_life, has_run
from rdfspider.crawl.messages import Beat
from rdfspider.processes.supervisor import RestartPolicy
from rdfspider.run import shard_watch
from rdfspider.run.coordination import _adapt_restarts, _Coordination
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.shard_watch import ShardWatch


class Watched:
    """A supervisor, as far as it is looked at."""

    def __init__(self, pid: int | None, unheard_s: float = 0.0) -> None:
        self.pid = pid
        self.unheard_s = unheard_s
        self.signs: list[object] = []

    def watch(self, sign: object) -> None:
        self.signs.append(sign)


def make_watch(folder: Path, *watched: Any) -> tuple[ShardWatch, Coordinator]:
    coordinator = Coordinator(len(watched), Config().crawl)
    return ShardWatch(folder, coordinator, watched), coordinator


def test_a_shard_that_is_not_heard_is_named_once_for_each_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    late = Watched(7, 61.0)
    watch, _ = make_watch(tmp_path, Watched(5), late, Watched(6, 59.0), Watched(None))
    for _ in range(2):
        watch.look()
    assert [unheard.shard for unheard in watch.unheard] == [1]
    late.pid = 8
    watch.look()
    late.unheard_s = 0.0
    watch.look()
    assert watch.unheard == ()
    assert [record.getMessage() for record in caplog.records] == [
        f"shard 1 (process {pid}) has not been heard since it was started 61 s ago" for pid in (7, 8)
    ]


def test_a_shard_has_run_once_its_own_process_was_heard(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watch, coordinator = make_watch(tmp_path, Watched(5), Watched(6))
    for shard in range(2):
        begin_life(tmp_path, shard)
        # The second one is of a process that has died.
        coordinator.beats[shard] = Beat(shard, 1, 1000.0, 5, (1, 2), False)
    watch.look()
    assert (has_run(tmp_path, 0), has_run(tmp_path, 1)) == (True, False)
    # What is on record once is not written again; where there is no room, it is tried again.
    (tmp_path / "lives/001.json.new").mkdir()
    with caplog.at_level(logging.DEBUG, shard_watch.__name__):
        watch.note_run(1)
    assert "it cannot be noted that shard 1 has run" in caplog.text
    (tmp_path / "lives/001.json.new").rmdir()
    watch.note_run(1)
    assert has_run(tmp_path, 1)


def test_a_shard_that_may_be_restoring_has_more_time_to_be_heard() -> None:
    config = Config()
    backed = replace(config, backup=replace(config.backup, url="/store"))
    assert _adapt_restarts(0.0, config) == RestartPolicy()
    assert _adapt_restarts(3.0, backed).unheard_s == _adapt_restarts(0.0, backed).unheard_s == 6 * 3600


@pytest.mark.parametrize("ended_s", [1.0, 10.0])
def test_a_crawl_that_is_over_does_not_wait_for_a_shard_that_was_never_heard(ended_s: float) -> None:
    """As at a limit of pages, at which those that were heard end by themselves."""
    told: list[str] = []
    shards = [
        SimpleNamespace(unheard_s=unheard_s, kill=lambda: told.append("kill"), stop=lambda: told.append("stop"))
        for unheard_s in (0.0, 100.0)
    ]
    crawl: Any = SimpleNamespace(
        _coordinator=SimpleNamespace(ended="pages"),
        _ended_at=1.0,
        _shards=shards,
        _has_ended_for=lambda seconds: ended_s > seconds,
        _is_overdue=lambda: False,
    )
    _Coordination._stop_supervisors(crawl)
    assert told == ["stop", "kill" if ended_s > 6 else "stop"]
