"""A view follows the log: what is safe there is soon found here, once, whatever fails in between."""

import errno
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from tests.index.log.test_batches import add_packed
from tests.index.logs import ShardLog
from tests.index.pages import find_cards

from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.warc_file import Damage
from rdfspider.config import ExtractConfig
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log import batches as batches_module
from rdfspider.index.log import follower as follower_module
from rdfspider.index.log import indexed_sources
from rdfspider.index.log.batches import Batches
from rdfspider.index.log.follower import Follower, Lag, Room
from rdfspider.index.log.foreign import add_sources
from rdfspider.index.log.indexed_sources import Forgotten, LogState, Sources, add_rule, undo_rule
from rdfspider.index.text import view as text_view
from rdfspider.index.text.view import TextView
from rdfspider.index.view import Cursors
from waiting import PATIENCE_S, ShiftedTime, wait_until


class NamesView:
    """A small view that is real: which URLs there are, in SQLite, with the cursors in the same transaction."""

    name = "names"
    problem = ""
    has_deferred = False
    removes_forgotten = False

    def __init__(self, path: Path, fail: Callable[[], None] = lambda: None) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS pages (url TEXT PRIMARY KEY, time REAL)")
        self._db.execute("CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, cursors TEXT)")
        self._db.execute("BEGIN")
        self._fail = fail

    def load_cursors(self) -> dict[str, int]:
        row = self._db.execute("SELECT cursors FROM state").fetchone()
        return dict(json.loads(row[0])) if row else {}

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            self._db.execute("INSERT OR REPLACE INTO pages VALUES (?, ?)", (outcome.url, outcome.time))

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        for (url,) in self._db.execute("SELECT url FROM pages").fetchall():
            if is_forgotten(url):
                self._db.execute("DELETE FROM pages WHERE url = ?", (url,))

    def commit(self, cursors: Cursors) -> None:
        self._fail()
        self._db.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (json.dumps(dict(cursors)),))
        self._db.execute("COMMIT")
        self._db.execute("BEGIN")

    def close(self) -> None:
        self._db.close()


def read_urls(path: Path) -> set[str]:
    database = sqlite3.connect(path)
    try:
        return {url for (url,) in database.execute("SELECT url FROM pages")}
    except sqlite3.OperationalError:
        return set()
    finally:
        database.close()


def make_follower(
    folder: Path, fail: Callable[[], None] = lambda: None, room: Room | None = None
) -> tuple[Follower, Path]:
    path = folder / "names.sqlite"
    sources = Sources(IndexPaths(folder), ExtractConfig())
    return Follower("names", lambda: NamesView(path, fail), sources, Batches(sources), room), path


@contextmanager
def following(follower: Follower) -> Iterator[None]:
    thread = threading.Thread(target=follower.run)
    thread.start()
    try:
        yield
    finally:
        follower.stop()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def catch_up(follower: Follower) -> None:
    follower.finish()
    follower.run()
    assert follower.failure is None


def urls_of(*numbers: int) -> list[str]:
    return [f"http://a.test/{number}" for number in numbers]


def test_it_takes_all_that_is_there_and_leaves(tmp_path: Path) -> None:
    for shard in range(3):
        ShardLog(tmp_path, shard).write(*urls_of(*range(shard * 300, shard * 300 + 300)))
    follower, path = make_follower(tmp_path)
    catch_up(follower)
    assert read_urls(path) == set(urls_of(*range(900)))
    assert follower.has_caught_up
    status = follower.describe()
    assert (status.lag_s, status.behind_bytes, status.behind_pages) == (0, 0, 0)


def test_it_follows_what_grows(tmp_path: Path) -> None:
    log = ShardLog(tmp_path)
    log.write(*urls_of(1))
    follower, path = make_follower(tmp_path)
    with following(follower):
        wait_until(lambda: read_urls(path) == set(urls_of(1)))
        log.write(*urls_of(2, 3))
        second = ShardLog(tmp_path, 1)
        second.write(*urls_of(4))
        wait_until(lambda: read_urls(path) == set(urls_of(1, 2, 3, 4)))
        wait_until(lambda: follower.has_caught_up)
    # Reading goes on where it was.
    log.write(*urls_of(5))
    follower, path = make_follower(tmp_path)
    assert follower.describe().behind_bytes > 0
    catch_up(follower)
    assert read_urls(path) == set(urls_of(1, 2, 3, 4, 5))


def test_how_far_behind_it_is_can_be_told_before_any_page_was_read(tmp_path: Path) -> None:
    log = ShardLog(tmp_path)
    log.write("http://a.test/sitemap.xml", reason="sitemap")
    follower, path = make_follower(tmp_path)
    catch_up(follower)
    assert follower.describe().behind_bytes == 0
    log.write(*urls_of(1))
    wait_until(lambda: follower.describe().behind_bytes > 0)
    assert follower.describe().behind_pages >= 1
    assert not read_urls(path)


def test_how_far_behind_it_is_can_be_told_inside_a_member_with_many_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "_BATCH_OUTCOMES", 2)
    add_packed(tmp_path, 0)
    told = []

    class TellingView(NamesView):
        def apply(self, outcomes: Sequence[Outcome]) -> None:
            super().apply(outcomes)
            told.append(follower.describe().behind_pages)

    sources = Sources(IndexPaths(tmp_path), ExtractConfig())
    follower = Follower("names", lambda: TellingView(tmp_path / "names.sqlite"), sources, Batches(sources))
    catch_up(follower)
    assert len(told) == 4 and min(told) >= 1


def test_what_was_taken_is_durable_when_it_is_told_to_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "_SOON_S", 60.0)
    monkeypatch.setattr(follower_module, "_COMMIT_S", 60.0)
    log = ShardLog(tmp_path)
    log.write(*urls_of(1))
    follower, path = make_follower(tmp_path)
    with following(follower):
        # The first commit is due at once, the second never.
        wait_until(lambda: read_urls(path) == set(urls_of(1)))
        log.write(*urls_of(2))
        wait_until(lambda: follower._is_dirty)
        assert read_urls(path) == set(urls_of(1))
    assert read_urls(path) == set(urls_of(1, 2))


def test_while_pages_keep_coming_commits_take_a_small_share_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ShiftedTime()
    monkeypatch.setattr(follower_module, "time", clock)
    monkeypatch.setattr(follower_module, "_POLL_S", 0.005)
    monkeypatch.setattr(follower_module, "_SOON_S", 4.0)
    commits = []
    log = ShardLog(tmp_path)

    def take_time() -> None:
        commits.append(clock.monotonic())
        clock.ahead_s += 0.2

    follower, path = make_follower(tmp_path, take_time)
    with following(follower):
        for number in range(1, 25):
            log.write(*urls_of(number))
            wait_until(lambda wanted=number: follower._read_count == wanted)
            clock.ahead_s += 0.5
    # The first commit is due at once; then one each four seconds, twenty times what it takes; and one at the end.
    assert 4 <= len(commits) <= 6
    assert all(later - one >= 4 for one, later in pairwise(commits[:-1]))
    assert read_urls(path) == set(urls_of(*range(1, 25)))


def test_a_full_disk_suspends_it_and_nothing_is_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    is_full = True

    def fail() -> None:
        if is_full:
            raise OSError(errno.ENOSPC, "No space left on device")

    ShardLog(tmp_path).write(*urls_of(1, 2))
    follower, path = make_follower(tmp_path, fail)
    with following(follower):
        wait_until(lambda: "No space left" in follower.describe().problem)
        assert follower.describe().behind_bytes > 0
        is_full = False
        wait_until(lambda: read_urls(path) == set(urls_of(1, 2)))
        wait_until(lambda: not follower.describe().problem)
    assert follower.failure is None
    assert caplog.text.count("names is suspended") == 1


def test_others_neither_keep_anything_for_a_view_that_cannot_be_opened_nor_wait_for_it(tmp_path: Path) -> None:
    ShardLog(tmp_path).write("http://a.test/")
    sources = Sources(IndexPaths(tmp_path), ExtractConfig())
    batches = Batches(sources)
    is_tried = threading.Event()

    def fail() -> NamesView:
        is_tried.set()
        raise OSError(errno.EIO, "Input/output error")

    unopened = Follower("unopened", fail, sources, batches)
    path = tmp_path / "names.sqlite"
    follower = Follower("names", lambda: NamesView(path, lambda: None), sources, batches)
    with following(unopened):
        assert is_tried.wait(PATIENCE_S)
        wait_until(lambda: unopened.describe().problem)
        catch_up(follower)
        assert not any(batches.has(source, 0) for source in sources.look())


def test_what_is_no_longer_forgotten_comes_back_from_a_member_that_is_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "_BATCH_OUTCOMES", 2)
    monkeypatch.setattr(indexed_sources, "_FRESH_S", 0.0)
    paths, (first, *others) = IndexPaths(tmp_path), urls_of(*range(7))
    add_packed(tmp_path, 0)
    add_rule(paths, first)

    class UndoingView(NamesView):
        """The rule is undone while the member is being read."""

        def apply(self, outcomes: Sequence[Outcome]) -> None:
            super().apply(outcomes)
            if Forgotten.load(paths).mark:
                undo_rule(paths, first)

    path, sources = tmp_path / "names.sqlite", Sources(paths, ExtractConfig())
    catch_up(Follower("names", lambda: UndoingView(path), sources, Batches(sources)))
    assert read_urls(path) == {first, *others}


def test_too_little_room_suspends_it_before_the_disk_is_full(tmp_path: Path) -> None:
    ShardLog(tmp_path).write(*urls_of(1))
    follower, path = make_follower(tmp_path, room=Room(tmp_path, 1 << 62))
    with following(follower):
        wait_until(lambda: "are to be kept free" in follower.describe().problem)
        for _ in range(2):
            wait_until(lambda looked=follower.moved_at: follower.moved_at > looked)
        assert read_urls(path) == set()
    # At the end of a crawl nobody waits for a disk.
    follower, _ = make_follower(tmp_path, room=Room(tmp_path, 1 << 62))
    catch_up(follower)
    assert not follower.has_caught_up


def test_what_is_our_own_fault_ends_it(tmp_path: Path) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    ShardLog(tmp_path).write(*urls_of(1))
    follower, path = make_follower(tmp_path, fail)
    follower.run()
    assert isinstance(follower.failure, ZeroDivisionError)
    assert read_urls(path) == set()


def test_what_is_forgotten_goes_and_does_not_come_back(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    log = ShardLog(tmp_path)
    log.write(*urls_of(1, 2), "http://b.test/")
    follower, path = make_follower(tmp_path)
    with following(follower):
        wait_until(lambda: len(read_urls(path)) == 3)
        add_rule(paths, "http://a.test/1")
        wait_until(lambda: read_urls(path) == {"http://a.test/2", "http://b.test/"}, 3)
        wait_until(lambda: follower.describe().forgotten == Forgotten(["http://a.test/1"]).mark)
        add_rule(paths, "b.test")
        wait_until(lambda: read_urls(path) == {"http://a.test/2"}, 3)
        log.write(*urls_of(1, 3), "http://b.test/new")
        wait_until(lambda: read_urls(path) == set(urls_of(2, 3)))
    path.unlink()
    follower, path = make_follower(tmp_path)
    catch_up(follower)
    assert read_urls(path) == set(urls_of(2, 3))


def test_a_rule_in_the_place_of_another_is_kept_to(tmp_path: Path) -> None:
    ShardLog(tmp_path).write(*urls_of(1, 2))
    rules = tmp_path / "forgotten.txt"
    rules.write_text("http://c.test/\n")
    follower, path = make_follower(tmp_path)
    catch_up(follower)
    rules.write_text("http://a.test/1\n")
    follower, path = make_follower(tmp_path)
    catch_up(follower)
    assert read_urls(path) == set(urls_of(2))


@pytest.mark.parametrize("name", ["forgotten.txt", "sources.txt"])
def test_a_list_that_is_spoilt_meanwhile_holds_as_it_was(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = tmp_path / "elsewhere"
    ShardLog(elsewhere).write(*urls_of(7))
    (facts,) = elsewhere.glob("shards/000/warc/*-facts-*.warc.gz")
    crawl = tmp_path / "crawl"
    log = ShardLog(crawl)
    log.write(*urls_of(1, 2))
    add_rule(IndexPaths(crawl), "http://a.test/1")
    add_sources(IndexPaths(crawl), [facts])
    sources = Sources(IndexPaths(crawl), ExtractConfig())
    path = tmp_path / "names.sqlite"
    follower = Follower("names", lambda: NamesView(path), sources, Batches(sources))
    with following(follower):
        wait_until(lambda: read_urls(path) == set(urls_of(2, 7)))
        sound = (crawl / name).read_bytes()
        (crawl / name).write_bytes(b"\xff neither\n")
        wait_until(lambda: any(name in problem for problem in sources.problems))
        log.write(*urls_of(1, 3))
        wait_until(lambda: read_urls(path) == set(urls_of(2, 3, 7)))
        (crawl / name).write_bytes(sound)
        wait_until(lambda: sources.problems == ())
    assert follower.failure is None
    assert caplog.text.count("what it said before still holds") == 1


def test_few_files_are_open_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "_BATCH_OUTCOMES", 1)
    for shard in range(40):
        ShardLog(tmp_path, shard).write(*urls_of(shard, shard + 40))
    follower, path = make_follower(tmp_path)
    most = 0
    read = Sources.read
    open_now = 0

    def count(self: Sources, source: str, look: LogState, start: int) -> Iterator[Outcome | Damage]:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        try:
            yield from read(self, source, look, start)
        finally:
            open_now -= 1

    monkeypatch.setattr(Sources, "read", count)
    catch_up(follower)
    assert read_urls(path) == set(urls_of(*range(80)))
    assert most == 16


def test_damage_is_told_once_whoever_meets_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ShardLog(tmp_path).write(*urls_of(*range(20)))
    (facts,) = tmp_path.glob("shards/000/warc/*-facts-*.warc.gz")
    body = bytearray(facts.read_bytes())
    middle = len(body) // 2
    body[middle : middle + 40] = bytes(40)
    facts.write_bytes(body)
    sources = Sources(IndexPaths(tmp_path), ExtractConfig())
    for name in ("one", "other"):
        path = tmp_path / name
        catch_up(Follower(name, lambda path=path: NamesView(path), sources, Batches(sources)))  # type: ignore[misc]
        assert len(read_urls(path)) >= 19
    told = [record.getMessage() for record in caplog.records]
    assert any(str(facts) in line for line in told)
    assert len(told) == len(set(told))


def test_files_from_elsewhere_are_taken_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    elsewhere = tmp_path / "elsewhere"
    ShardLog(elsewhere).write(*urls_of(1, 2))
    (facts,) = elsewhere.glob("shards/000/warc/*-facts-*.warc.gz")
    crawl = tmp_path / "crawl"
    ShardLog(crawl).write(*urls_of(3))
    add_sources(IndexPaths(crawl), [facts, tmp_path / "missing.warc.gz"])
    follower, path = make_follower(crawl)
    catch_up(follower)
    assert read_urls(path) == set(urls_of(1, 2, 3))
    assert "missing.warc.gz: No such file or directory; it is indexed when it is back" in caplog.text
    assert follower.describe().behind_bytes == 0


def test_the_lag_is_the_age_of_the_oldest_that_is_not_found() -> None:
    lag = Lag()
    lag.see({"a": 100, "b": 50}, 1000)
    assert lag.measure({"a": 100, "b": 50}, 1001) == 0
    lag.see({"a": 150, "b": 50}, 1010)
    lag.see({"a": 200, "b": 50}, 1020)
    assert lag.measure({"a": 100, "b": 50}, 1025) == 15
    assert lag.measure({"a": 150, "b": 50}, 1025) == 5
    lag.see({"a": 200, "b": 60}, 1021)
    assert lag.measure({"a": 200, "b": 50}, 1025) == 4
    assert lag.measure({"a": 200, "b": 60}, 1025) == 0


def test_what_waited_before_the_start_is_as_old_as_its_pages() -> None:
    lag = Lag()
    lag.see({"a": 100}, 1000)
    lag.date("a", 400)
    assert lag.measure({"a": 0}, 1001) == 601
    lag.date("a", 900)
    assert lag.measure({"a": 50}, 1001) == 101
    lag.see({"a": 120}, 1005)
    assert lag.measure({"a": 100}, 1006) == 1
    # What came later is dated by when it was seen.
    lag.date("a", 400)
    assert lag.measure({"a": 100}, 1006) == 1


def test_what_is_very_old_counts_since_it_was_seen_to_wait() -> None:
    now = 1_700_000_000.0
    lag = Lag()
    lag.see({"a": 100}, now)
    lag.date("a", now - 3 * 365 * 86_400)
    assert lag.measure({"a": 0}, now + 2) == 2


def test_pages_that_were_imported_are_not_as_old_as_their_captures(tmp_path: Path) -> None:
    can_commit = threading.Event()
    written = time.time()
    ShardLog(tmp_path).write(*urls_of(1), fetched=written - 5000, reason="imported")
    follower, _ = make_follower(tmp_path, lambda: can_commit.wait(PATIENCE_S) and None)
    with following(follower):
        lag_s = wait_until(lambda: follower.describe().lag_s)
        assert lag_s <= time.time() - written + 0.1
        can_commit.set()


def test_a_view_that_cannot_follow_says_how_far_it_is_behind(tmp_path: Path) -> None:
    can_commit = threading.Event()
    log = ShardLog(tmp_path)
    fetched = time.time() - 500
    log.write(*urls_of(1), fetched=fetched)
    follower, _ = make_follower(tmp_path, lambda: can_commit.wait(PATIENCE_S) and None)
    with following(follower):
        wait_until(lambda: follower.describe().lag_s > 499)
        assert follower.describe().lag_s <= time.time() - fetched + 0.1
        can_commit.set()
        wait_until(lambda: follower.describe().lag_s == 0)


def test_a_page_that_asked_to_be_gone_by_now_goes_without_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "_REST_S", 0.1)
    clock = ShiftedTime()
    monkeypatch.setattr(text_view, "time", clock)
    paths = IndexPaths(tmp_path)
    due = datetime.fromtimestamp(time.time() + 4000, UTC)
    log = ShardLog(tmp_path)
    log.write(*urls_of(1), directives=(f"unavailable_after {due:%Y-%m-%dT%H:%M:%SZ} (meta robots)",))
    log.write(*urls_of(2))
    sources = Sources(paths, ExtractConfig())
    follower = Follower("text", lambda: TextView(paths), sources, Batches(sources))
    with following(follower):
        wait_until(lambda: follower.has_caught_up)
        assert {card.id for card in find_cards(tmp_path, "kind:page")} == set(urls_of(1, 2))
        clock.ahead_s = 4001
        wait_until(lambda: {card.id for card in find_cards(tmp_path, "kind:page")} == set(urls_of(2)))
        wait_until(lambda: follower.has_caught_up)
