"""A frontier that is looked at from outside, while another has it open, and after that one has ended."""

import os
from pathlib import Path

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture, kill
from tests.frontier.simulation import by_depth

from rdfspider.config import Config, CrawlConfig, FrontierConfig
from rdfspider.errors import RdfspiderError
from rdfspider.frontier.entries import Refusal, RobotsAnswer
from rdfspider.frontier.reader import FrontierReader, open_reader
from rdfspider.records import Addresses, Discovered, Failure, RobotsState

A = "http://a.test/"


def read(tmp_path: Path, clock: HandClock, crawl: CrawlConfig | None = None, **frontier: float) -> FrontierReader:
    config = Config(crawl=crawl or CrawlConfig(), frontier=FrontierConfig(**frontier))  # type: ignore[arg-type]
    return FrontierReader(tmp_path / "frontier", config, 0, clock)


def links(*paths: str, depth: int = 1, via: int = 0) -> list[Discovered]:
    return [Discovered(f"{A}{path}", depth, "link", via) for path in paths]


def test_what_is_committed_is_seen_while_the_frontier_is_open(
    open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path
) -> None:
    frontier = open_frontier()
    frontier.add([Discovered(A, found_as="seed")])
    frontier.commit()
    frontier.add(links("staged"))
    with read(tmp_path, clock) as reader:
        entry = reader.find(A)
        assert entry == frontier.find(A) and entry.state == "scheduled"
        assert reader.get(entry.url_id) == entry
        assert reader.find(f"{A}staged") is None
        assert reader.find("http://other.test/") is None
        frontier.commit()
        assert reader.find(f"{A}staged") is None, "it is a view of one moment"
    with read(tmp_path, clock) as reader:
        assert reader.find(f"{A}staged") == frontier.find(f"{A}staged")


def test_a_view_leaves_no_trace(open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path) -> None:
    frontier = open_frontier()
    frontier.add([Discovered(A)])
    frontier.commit()
    frontier.sync()

    def look() -> list[tuple[str, int, int]]:
        return sorted((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in os.scandir(folder))

    folder = tmp_path / "frontier"
    before = look()
    with read(tmp_path, clock) as reader:
        notes = Path(reader._notes.name)
        assert reader.find(A) and any(notes.iterdir())
    assert look() == before
    assert not notes.exists()


def test_places_in_the_queue_are_counted_by_priority(
    open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path
) -> None:
    frontier = open_frontier(priority=by_depth)
    frontier.add(links("deep", depth=3))
    frontier.add(links("1", "2", "3"))
    frontier.add(links("4"))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run(pages=1)
    with read(tmp_path, clock) as reader:
        places = {
            path: reader.find_place(entry.url_id)
            for path in ("1", "2", "3", "4", "deep")
            if (entry := reader.find(f"{A}{path}"))
        }
    assert places == {"1": None, "2": (1, 0), "3": (1, 1), "4": (1, 2), "deep": (3, 3)}


def test_a_host_tells_what_it_waits_for(open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path) -> None:
    frontier = open_frontier()
    crawler = Crawler(frontier, clock)
    frontier.add(links("1", "2", "3", "4"))
    frontier.commit()

    def wait() -> tuple[float, str]:
        frontier.commit()
        with read(tmp_path, clock) as reader:
            host = reader.find_host("a.test")
        assert host
        return host.wait_s, host.reason

    assert wait() == (0.0, "its address is not known yet")
    lease = crawler.next_page()
    frontier.finish(lease, frontier.release(lease, capture(lease.url)))
    assert wait() == (1.0, "the usual delay")
    clock.advance(0.4)
    assert wait() == (0.6, "the usual delay")
    lease = crawler.next_page()
    frontier.finish(lease, frontier.release(lease, capture(lease.url, duration_s=2.13)))
    assert wait() == (21.3, "its last answer took 2.1 s")
    lease = crawler.next_page()
    frontier.finish(lease, frontier.release(lease, capture(lease.url, 503, Retry_After="100")))
    assert wait() == (100.0, "Retry-After: 100 s (503)")
    lease = crawler.next_page()
    frontier.finish(lease, frontier.release(lease, Failure(lease.url, "timeout")))
    assert wait() == (20.0, "backed off after 2 errors in a row (timeout)")
    # Another boot has another monotonic clock; the wall's tells.
    clock.reboot(wall_shift_s=5.0)
    assert wait() == (15.0, "backed off after 2 errors in a row (timeout)")
    with read(tmp_path, clock) as reader:
        host = reader.find_host("a.test")
    assert host and (host.pages, host.failed, host.queued) == (2, 2, 2)


def test_hosts_that_are_not_asked_tell_why(open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path) -> None:
    frontier = open_frontier(crawl={"pages_per_host": 1}, frontier={"give_up_errors": 1})
    names = ("spent", "silent", "none", "shut")
    frontier.add([Discovered(f"http://{name}.test/{path}", 1) for name in names for path in ("1", "2")])
    frontier.commit()
    while lease := frontier.lease():
        name = lease.host.removesuffix(".test")
        now = clock.now()
        if lease.kind == "name":
            found = Addresses((), now + 900, "nxdomain") if name == "none" else Addresses(("192.0.2.1",), now + 900)
            frontier.release(lease, found)
        elif lease.kind == "robots" and name == "shut":
            shut = RobotsState("unreachable", now, now + 50, reason="status-500", errors=1)
            frontier.release(lease, RobotsAnswer(shut, capture(lease.url, 500)))
        elif lease.kind == "robots":
            frontier.release(lease, RobotsAnswer(RobotsState("allow", now, now + 900), capture(lease.url, 404)))
            clock.advance(1.0)
        elif not lease.addresses:
            frontier.finish(lease, frontier.release(lease, Refusal("")))
        else:
            exchange = Failure(lease.url, "refused") if name == "silent" else capture(lease.url)
            frontier.finish(lease, frontier.release(lease, exchange))
            clock.advance(1.0)
        frontier.commit()
    clock.advance(1.0)
    assert frontier.lease() is None
    frontier.commit()
    with read(tmp_path, clock, CrawlConfig(pages_per_host=1)) as reader:
        found_hosts = {host.host: host for _, host in reader.find_top_hosts("pages", 10)}
        top = reader.find_top_hosts("wait", 10)
        waits = [host.host for _, host in top[:2]]
    assert [wait_s for wait_s, _ in top] == [host.wait_s for _, host in top], "what is shown is not what sorts"
    assert found_hosts["none.test"].failed == 1
    reasons = {name: (host.status, host.reason) for name, host in found_hosts.items()}
    assert reasons == {
        "spent.test": ("over budget", "over budget: it has all its pages: 1 (crawl.pages_per_host)"),
        "silent.test": ("given up", "given up: backed off after an error (refused)"),
        "none.test": ("no address", "there is no such name"),
        "shut.test": ("given up", "given up: robots.txt of http://shut.test cannot be had (status-500)"),
    }
    assert next(iter(found_hosts)) == "spent.test"
    assert set(waits) == {"silent.test", "shut.test"}
    assert found_hosts["silent.test"].wait_s > 80_000
    for crawl, status, reason in [
        (
            CrawlConfig(pages_per_domain=1),
            "over budget",
            "over budget: spent.test has all its pages: 1 (crawl.pages_per_domain)",
        ),
        (CrawlConfig(pages_per_host=2, pages_per_domain=2), "", ""),
    ]:
        with read(tmp_path, clock, crawl) as reader:
            spent = reader.find_host("spent.test")
        assert spent and (spent.status, spent.reason) == (status, reason)


def test_a_killed_frontier_can_be_read(open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path) -> None:
    frontier = open_frontier()
    frontier.add(links("1"))
    frontier.meta.put("note", b"kept")
    frontier.commit()
    kill(frontier)
    with read(tmp_path, clock) as reader:
        assert reader.find(f"{A}1")
        assert reader.get_meta("note") == b"kept"
        assert reader.get_meta("other") is None


def test_a_shard_that_has_not_begun_has_no_reader(tmp_path: Path) -> None:
    assert open_reader(tmp_path / "frontier", Config(crawl=CrawlConfig()), 0) is None
    assert not (tmp_path / "frontier").exists()


def test_a_damaged_frontier_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdfspider.frontier.store._VIEW_WAIT_S", 0.0)
    (tmp_path / "CURRENT").write_text("MANIFEST-000001\n")
    with pytest.raises(RdfspiderError, match="cannot be read"):
        open_reader(tmp_path, Config(), 0)


def test_of_requests_side_by_side_the_longest_wait_keeps_its_reason(
    open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path
) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    crawler = Crawler(frontier, clock)
    frontier.add(links("1", "2"))
    frontier.commit()
    first, second = crawler.next_page(), crawler.next_page()
    frontier.finish(first, frontier.release(first, capture(first.url, 429, Retry_After="60")))
    frontier.finish(second, frontier.release(second, capture(second.url)))
    frontier.commit()
    with read(tmp_path, clock, delay_s=0.0) as reader:
        host = reader.find_host("a.test")
    assert host and (host.wait_s, host.reason) == (60.0, "Retry-After: 60 s (429)")


def test_a_pattern_that_gave_nothing_new_is_told(open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path) -> None:
    frontier = open_frontier()
    frontier.add(links("calendar/2030/1"))
    frontier.commit()
    pattern = frontier._patterns.obtain(frontier._hosts.get(1)).obtain("/calendar/0/0")
    pattern.idle = 40
    frontier.add(links("other"))
    frontier.commit()
    with read(tmp_path, clock) as reader:
        assert reader.find_trap(f"{A}calendar/2031/7") == "pattern /calendar/0/0 gave nothing new in 40 pages"
        assert reader.find_trap(f"{A}other") == ""
        assert reader.find_trap("http://b.test/calendar/2031/7") == ""
