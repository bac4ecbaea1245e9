"""The log is read once for views that are close together, and again for one that is far behind."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.index.logs import ShardLog

from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.warc_file import Damage
from rdfspider.config import ExtractConfig
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log import batches as batches_module
from rdfspider.index.log.batches import Batches
from rdfspider.index.log.indexed_sources import LogState, Sources
from rdfspider.vocabulary.terms import fold_triples

SOURCE = "000/shard-000-facts-000001.warc.gz"


class CountingSources(Sources):
    """Counts how often files are opened."""

    opened = 0

    def read(self, source: str, look: LogState, start: int) -> Iterator[Outcome | Damage]:
        self.opened += 1
        return super().read(source, look, start)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ShardLog:
    monkeypatch.setattr(batches_module, "_BATCH_OUTCOMES", 2)
    log = ShardLog(tmp_path)
    log.write(*(f"http://a.test/{number}" for number in range(6)))
    return log


def open_sources(folder: Path) -> CountingSources:
    return CountingSources(IndexPaths(folder), ExtractConfig())


class Reading:
    """A view that reads, from a position on."""

    def __init__(self, batches: Batches, name: str, start: int = 0, *, is_awaited: bool = True) -> None:
        self.name = name
        self.cursors = {SOURCE: start}
        self._batches = batches
        batches.join(name, self.cursors, is_awaited=is_awaited)

    def read(self, look: LogState) -> list[Outcome]:
        outcomes, self.cursors[SOURCE], _ = self._batches.read(self.name, SOURCE, look, self.cursors[SOURCE])
        return outcomes

    def read_all(self, sources: Sources) -> list[Outcome]:
        look, found = sources.look(), list[Outcome]()
        while self.cursors[SOURCE] < look[SOURCE].length:
            found += self.read(look)
        return found


def test_a_second_view_gets_what_the_first_has_read(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    one, other = Reading(batches, "one"), Reading(batches, "other")
    first = one.read_all(sources)
    assert [outcome.url for outcome in first] == [f"http://a.test/{number}" for number in range(6)]
    assert sources.opened == 1
    second = other.read_all(sources)
    assert all(its is same for its, same in zip(first, second, strict=True))
    assert sources.opened == 1
    folded = [fold_triples(outcome.statements, outcome.url) for outcome in first if outcome.statements]
    again = [fold_triples(outcome.statements, outcome.url) for outcome in second if outcome.statements]
    assert folded and all(its is same for its, same in zip(folded, again, strict=True)), "triples are made once, too"


def test_nothing_is_kept_for_a_view_that_has_it_or_has_left(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    one, other = Reading(batches, "one"), Reading(batches, "other")
    one.read_all(sources)
    assert batches.has(SOURCE, 0)
    other.read_all(sources)
    assert not batches.has(SOURCE, 0)
    Reading(batches, "later").read_all(sources)
    assert not batches.has(SOURCE, 0) and sources.opened == 2
    ahead = Reading(batches, "ahead", start=other.cursors[SOURCE])
    Reading(batches, "later still").read_all(sources)
    assert not batches.has(SOURCE, 0), ahead.cursors
    Reading(batches, "ahead").read_all(sources)
    Reading(batches, "behind")
    Reading(batches, "one").read_all(sources)
    assert batches.has(SOURCE, 0)
    for name in ("behind", "other", "ahead", "later", "later still"):
        batches.leave(name)
    assert not batches.has(SOURCE, 0)


def test_a_view_that_opens_after_others_have_read_frees_what_it_has_already(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    one = Reading(batches, "one")
    Reading(batches, "other")
    one.read_all(sources)
    assert batches.has(SOURCE, 0)
    Reading(batches, "other", start=one.cursors[SOURCE])
    assert not batches.has(SOURCE, 0)


def test_a_view_that_stands_still_reads_for_itself_later(
    tmp_path: Path, log: ShardLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "_KEPT_CHARS", 1)
    monkeypatch.setattr(batches_module, "_PATIENCE_S", 0.2)
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    one, other = Reading(batches, "one"), Reading(batches, "other")
    started = time.monotonic()
    first = one.read_all(sources)
    assert 0.2 <= time.monotonic() - started < 2, "it waits once"
    assert other.read_all(sources) == first
    assert sources.opened == 2


@pytest.mark.parametrize("is_awaited", [True, False])
def test_a_fast_view_waits_for_a_slow_one_unless_it_is_an_outside_store(
    tmp_path: Path, log: ShardLog, monkeypatch: pytest.MonkeyPatch, is_awaited: bool
) -> None:
    monkeypatch.setattr(batches_module, "_KEPT_CHARS", 1)
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    fast, slow = Reading(batches, "fast"), Reading(batches, "slow", is_awaited=is_awaited)
    thread = threading.Thread(target=fast.read_all, args=(sources,))
    thread.start()
    look = sources.look()
    if is_awaited:
        found = list[Outcome]()
        while slow.cursors[SOURCE] < look[SOURCE].length:
            time.sleep(0.05)
            assert fast.cursors[SOURCE] == 0 or not found or thread.is_alive() or len(found) >= 4
            found += slow.read(look)
        thread.join(5)
        assert sources.opened == 1 and len(found) == 6
    else:
        thread.join(5)
    assert not thread.is_alive()
    assert fast.cursors[SOURCE] == look[SOURCE].length


def test_nobody_waits_at_the_end(tmp_path: Path, log: ShardLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "_KEPT_CHARS", 1)
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    fast = Reading(batches, "fast")
    Reading(batches, "slow")
    thread = threading.Thread(target=fast.read_all, args=(sources,))
    thread.start()
    thread.join(0.2)
    assert thread.is_alive(), "it waits for the slow one"
    batches.hurry()
    thread.join(5)
    assert not thread.is_alive()


def test_a_view_alone_keeps_nothing(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    first, second = (Reading(batches, "one").read_all(sources) for _ in range(2))
    assert [outcome.url for outcome in first] == [outcome.url for outcome in second]
    assert sources.opened == 2


def test_views_that_take_turns_read_once(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    look = sources.look()
    batches = Batches(sources)
    views = [Reading(batches, name) for name in ("one", "other")]
    seen: list[list[str]] = [[], []]
    while min(view.cursors[SOURCE] for view in views) < look[SOURCE].length:
        for number, view in enumerate(views):
            seen[number] += [outcome.url for outcome in view.read(look)]
    assert seen[0] == seen[1] == [f"http://a.test/{number}" for number in range(6)]
    assert sources.opened == 1
