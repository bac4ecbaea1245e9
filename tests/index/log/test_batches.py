"""The log is read once for views that are close together, and again for one that is far behind."""

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.index.log.test_foreign import Warc
from tests.index.logs import ShardLog

from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.warc_file import Damage
from rdfspider.config import ExtractConfig
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log import batches as batches_module
from rdfspider.index.log.batches import Batches
from rdfspider.index.log.foreign import add_sources
from rdfspider.index.log.indexed_sources import LogState, Sources
from rdfspider.vocabulary.terms import fold_triples
from waiting import PATIENCE_S, wait_until

SOURCE = "000/shard-000-facts-000001.warc.gz"
OTHER_SOURCE = "001/shard-001-facts-000001.warc.gz"


class CountingSources(Sources):
    """Counts how often files are opened, and what is read from them."""

    opened = items = 0

    def read(self, source: str, look: LogState, start: int) -> Iterator[Outcome | Damage]:
        self.opened += 1
        for item in super().read(source, look, start):
            self.items += 1
            yield item


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ShardLog:
    monkeypatch.setattr(batches_module, "_BATCH_OUTCOMES", 2)
    log = ShardLog(tmp_path)
    log.write(*(f"http://a.test/{number}" for number in range(6)))
    return log


def open_sources(folder: Path) -> CountingSources:
    return CountingSources(IndexPaths(folder), ExtractConfig())


class HangingSources(Sources):
    """The file of the other shard is on a disk that does not answer for a while."""

    def __init__(self, paths: IndexPaths, config: ExtractConfig) -> None:
        super().__init__(paths, config)
        self.is_hanging = threading.Event()
        self.answer = threading.Event()

    def read(self, source: str, look: LogState, start: int) -> Iterator[Outcome | Damage]:
        if source == OTHER_SOURCE:
            self.is_hanging.set()
            assert self.answer.wait(PATIENCE_S)
        return super().read(source, look, start)


@contextmanager
def run_beside(call: Callable[..., object], *args: object) -> Iterator[threading.Thread]:
    """Call a function in a thread, which ends soon after the block if not in it."""
    thread = threading.Thread(target=call, args=args, daemon=True)
    thread.start()
    yield thread
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.fixture
def small_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room for one batch, and patience for a whole test."""
    monkeypatch.setattr(batches_module, "_KEPT_CHARS", 1)
    monkeypatch.setattr(batches_module, "_PATIENCE_S", 2 * PATIENCE_S)


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
    monkeypatch.setattr(batches_module, "_PATIENCE_S", 0.0)
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    one, other = Reading(batches, "one"), Reading(batches, "other")
    first = one.read_all(sources)
    assert other.read_all(sources) == first
    assert sources.opened == 2


def test_a_fast_view_waits_for_a_slow_one(tmp_path: Path, log: ShardLog, small_room: None) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    fast, slow = Reading(batches, "fast"), Reading(batches, "slow")
    with run_beside(fast.read_all, sources):
        look = sources.look()
        ends = list[int]()
        while slow.cursors[SOURCE] < look[SOURCE].length:
            wait_until(lambda: batches.has(SOURCE, slow.cursors[SOURCE]))
            slow.read(look)
            ends.append(slow.cursors[SOURCE])
            assert fast.cursors[SOURCE] in {0, *ends}, "it has not read the next batch before this one was taken"
    assert sources.opened == 1 and len(ends) == 3


def test_nobody_waits_for_an_outside_store(tmp_path: Path, log: ShardLog, small_room: None) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    fast = Reading(batches, "fast")
    Reading(batches, "store", is_awaited=False)
    with run_beside(fast.read_all, sources):
        pass


def test_nobody_waits_for_a_view_that_cannot_take_what_is_kept(tmp_path: Path, log: ShardLog, small_room: None) -> None:
    """One that is far behind may move for hours until it comes to the newest pages."""
    sources = open_sources(tmp_path)
    look = sources.look()
    batches = Batches(sources)
    fast = Reading(batches, "fast")
    fast.read(look)
    batches.leave("fast")
    fast, behind = Reading(batches, "fast", start=fast.cursors[SOURCE]), Reading(batches, "behind")
    with run_beside(fast.read_all, sources):
        pass
    assert behind.cursors[SOURCE] == 0


@pytest.mark.parametrize("release", [Batches.hurry, lambda batches: batches.leave("slow")])
def test_nobody_waits_at_the_end_or_for_one_that_has_left(
    tmp_path: Path, log: ShardLog, small_room: None, release: Callable[[Batches], None]
) -> None:
    sources = open_sources(tmp_path)
    batches = Batches(sources)
    fast = Reading(batches, "fast")
    Reading(batches, "slow")
    Reading(batches, "store", is_awaited=False)
    with run_beside(fast.read_all, sources) as thread:
        wait_until(lambda: batches.has(SOURCE, 0))
        thread.join(0.1)
        assert thread.is_alive(), "it waits for the slow one"
        release(batches)


def test_views_that_resume_at_different_places_soon_read_once(tmp_path: Path, log: ShardLog) -> None:
    log.write(*(f"http://a.test/{number}" for number in range(6, 40)))
    sources = open_sources(tmp_path)
    look = sources.look()
    batches = Batches(sources)
    ends = [item.end for item in sources.read(SOURCE, look, 0) if isinstance(item, Outcome)]
    behind, ahead = Reading(batches, "behind", start=ends[0]), Reading(batches, "ahead", start=ends[3])
    sources.items = 0
    urls = {"behind": list[str](), "ahead": list[str]()}
    while behind.cursors[SOURCE] < look[SOURCE].length:
        for view in (ahead, behind):
            if view.cursors[SOURCE] < look[SOURCE].length:
                urls[view.name] += [outcome.url for outcome in view.read(look)]
    assert urls["behind"] == [f"http://a.test/{number}" for number in range(1, 40)]
    assert urls["ahead"] == urls["behind"][3:]
    assert sources.items == 39, "each is read once"


def test_a_kept_batch_is_had_while_another_is_read_from_a_disk_that_does_not_answer(
    tmp_path: Path, log: ShardLog
) -> None:
    sources = HangingSources(IndexPaths(tmp_path), ExtractConfig())
    ShardLog(tmp_path, shard=1).write("http://b.test/")
    look = sources.look()
    batches = Batches(sources)
    one, other = Reading(batches, "one"), Reading(batches, "other")
    one.read_all(sources)
    with run_beside(batches.read, "one", OTHER_SOURCE, look, 0):
        assert sources.is_hanging.wait(PATIENCE_S)
        assert len(other.read_all(sources)) == 6
        batches.hurry()
        sources.answer.set()


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


def add_packed(folder: Path, alone: int) -> int:
    """Add a file from elsewhere: pages that have a compressed member each, and seven more in one; return where that begins."""
    packed = Warc(folder / "packed.warc.gz")
    plain = Warc(folder / "plain.warc", is_compressed=False)
    for number in range(alone + 7):
        (packed if number < alone else plain).add(url=f"http://a.test/{number}")
    start = packed.path.stat().st_size
    with packed.path.open("ab") as file:
        file.write(gzip.compress(plain.path.read_bytes()))
    add_sources(IndexPaths(folder), [packed.path])
    return start


def test_every_view_gets_all_of_a_member_with_more_records_than_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "_BATCH_OUTCOMES", 2)
    add_packed(tmp_path, 0)
    sources = open_sources(tmp_path)
    look = sources.look()
    (source,) = look
    batches = Batches(sources)
    cursors = {name: {source: 0} for name in ("one", "other", "late")}
    for name in cursors:
        batches.join(name, cursors[name])
    found: dict[str, list[str]] = {name: [] for name in cursors}
    while any(cursors[name][source] < look[source].length for name in cursors):
        # The last one is slower.
        for name in ("one", "other", "one", "other", "late"):
            if cursors[name][source] < look[source].length:
                outcomes, cursors[name][source], _ = batches.read(name, source, look, cursors[name][source])
                found[name] += [outcome.url for outcome in outcomes]
    assert found == {name: [f"http://a.test/{number}" for number in range(7)] for name in cursors}


def test_a_view_at_the_beginning_of_a_member_gets_all_of_it_though_another_has_read_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "_BATCH_OUTCOMES", 2)
    member = add_packed(tmp_path, 1)
    sources = open_sources(tmp_path)
    look = sources.look()
    (source,) = look
    batches = Batches(sources)
    ahead: dict[str, int] = {}
    batches.join("ahead", ahead)
    outcomes, ahead[source], _ = batches.read("ahead", source, look, 0)
    assert [outcome.url for outcome in outcomes] == ["http://a.test/0", "http://a.test/1"]
    assert ahead[source] == member
    resumed = {source: member}
    batches.join("resumed", resumed)
    found: dict[str, list[str]] = {"resumed": [], "ahead": []}
    for name, cursors in (("resumed", resumed), ("ahead", ahead)):
        while cursors[source] < look[source].length:
            outcomes, cursors[source], _ = batches.read(name, source, look, cursors[source])
            found[name] += [outcome.url for outcome in outcomes]
    assert found["resumed"] == [f"http://a.test/{number}" for number in range(1, 8)]
    assert found["ahead"] == found["resumed"][1:]
