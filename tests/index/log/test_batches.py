"""The log is read once for views that are close together, and again for one that is far behind."""

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


def read_all(batches: Batches, sources: Sources) -> list[Outcome]:
    look, start, found = sources.look(), 0, list[Outcome]()
    while start < look[SOURCE].length:
        outcomes, start, _ = batches.read(SOURCE, look, start)
        found += outcomes
    return found


def test_a_second_view_gets_what_the_first_has_read(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources, views=2)
    first = read_all(batches, sources)
    assert [outcome.url for outcome in first] == [f"http://a.test/{number}" for number in range(6)]
    assert sources.opened == 1
    second = read_all(batches, sources)
    assert all(one is other for one, other in zip(first, second, strict=True))
    assert sources.opened == 1
    folded = [fold_triples(outcome.statements, outcome.url) for outcome in first if outcome.statements]
    again = [fold_triples(outcome.statements, outcome.url) for outcome in second if outcome.statements]
    assert folded and all(one is other for one, other in zip(folded, again, strict=True)), "triples are made once, too"


def test_nothing_is_kept_once_all_views_have_it(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources, views=2)
    for _ in range(3):
        read_all(batches, sources)
    assert sources.opened == 2


def test_a_view_alone_keeps_nothing(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources, views=1)
    assert [outcome.url for outcome in read_all(batches, sources)] == [
        outcome.url for outcome in read_all(batches, sources)
    ]
    assert sources.opened == 2


def test_a_view_far_behind_reads_for_itself(tmp_path: Path, log: ShardLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "_KEPT_CHARS", 0)
    sources = open_sources(tmp_path)
    batches = Batches(sources, views=2)
    first, second = read_all(batches, sources), read_all(batches, sources)
    assert first == second
    assert sources.opened == 2


def test_views_that_take_turns_read_once(tmp_path: Path, log: ShardLog) -> None:
    sources = open_sources(tmp_path)
    look = sources.look()
    batches = Batches(sources, views=2)
    seen: list[list[str]] = [[], []]
    ends = [0, 0]
    while min(ends) < look[SOURCE].length:
        for view in (0, 1):
            outcomes, ends[view], _ = batches.read(SOURCE, look, ends[view])
            seen[view] += [outcome.url for outcome in outcomes]
    assert seen[0] == seen[1] == [f"http://a.test/{number}" for number in range(6)]
    assert sources.opened == 1
