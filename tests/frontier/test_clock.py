"""Stored times, also when the clock is put right while a crawl runs: nothing lasts for as long as the clock moved."""

import pytest
from tests.frontier.conftest import DAY_S, Crawler, HandClock, OpenFrontier, capture

from rdfspider.frontier.clock import Clock, Moment
from rdfspider.frontier.entries import RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Addresses, Discovered, Lease, RobotsState

URLS = [f"https://a.org/{number}" for number in range(3)]


def test_the_machine_has_clocks() -> None:
    clock = Clock()
    assert clock.now() > 1_700_000_000
    assert clock.monotonic() <= clock.monotonic()
    assert clock.moment().boot_id == clock.boot_id == Clock().boot_id


@pytest.mark.parametrize(("passed_s", "wait_s"), [(0, 10), (4, 6), (10, 0), (50, 0)])
def test_within_a_boot_the_monotonic_clock_counts(clock: HandClock, passed_s: float, wait_s: float) -> None:
    then = clock.moment()
    clock.advance(passed_s)
    clock.wall -= 10_000
    assert clock.wait_s(then, 10.0) == wait_s


@pytest.mark.parametrize(("wall_shift_s", "wait_s"), [(3, 7), (20, 0), (-500, 10)])
def test_after_a_reboot_the_wall_counts_and_no_wait_exceeds_the_gap(
    clock: HandClock, wall_shift_s: float, wait_s: float
) -> None:
    then = clock.moment()
    clock.reboot(wall_shift_s)
    assert clock.wait_s(then, 10.0) == pytest.approx(wait_s)


def test_an_unknown_boot_is_never_the_same(clock: HandClock) -> None:
    clock.boot_id = ""
    then = Moment("", clock.monotonic(), clock.now() - 4)
    assert clock.wait_s(then, 10.0) == pytest.approx(6)


@pytest.mark.parametrize(("left_s", "counted_s"), [(-1, 0), (0, 0), (5, 5), (10, 10), (11, 0)])
def test_a_time_that_is_further_away_than_it_can_be_is_over(clock: HandClock, left_s: float, counted_s: float) -> None:
    assert clock.left_s(clock.now() + left_s, 10.0) == counted_s


def fill(frontier: Frontier) -> None:
    frontier.add(Discovered(url) for url in URLS)
    frontier.commit()


def lease_robots(frontier: Frontier, clock: HandClock) -> Lease:
    Crawler(frontier, clock).answer(frontier.lease() or pytest.fail("there is a name to look up"))
    robots = frontier.lease()
    assert robots and robots.kind == "robots"
    return robots


@pytest.mark.parametrize("is_looked_at", [True, False])
@pytest.mark.parametrize("is_restarted", [True, False])
def test_after_the_clock_was_set_back_an_unreachable_robots_txt_is_asked_for_again(
    is_looked_at: bool, is_restarted: bool, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier)
    robots = lease_robots(frontier, clock)
    state = RobotsState("unreachable", clock.now(), clock.now() + 10, errors=1)
    frontier.release(robots, RobotsAnswer(state, capture(robots.url, 503)))
    frontier.commit()
    if is_looked_at:
        assert frontier.lease() is None
    clock.wall -= 30 * DAY_S
    if is_restarted:
        frontier.close()
        frontier = open_frontier()
    before = clock.monotonic()
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert crawler.fetched == URLS
    assert clock.monotonic() - before < 60


def test_after_the_clock_was_set_back_names_and_rules_are_asked_for_again(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier)
    crawler = Crawler(frontier, clock)
    page = crawler.next_page()
    frontier.finish(page, frontier.release(page, capture(page.url)))
    clock.wall -= 30 * DAY_S
    clock.advance(2)
    name = frontier.lease()
    assert name and name.kind == "name"
    # A name server's answer may be from before, too.
    frontier.release(name, Addresses(("192.0.2.1",), clock.now() + 30 * DAY_S))
    robots = frontier.lease()
    assert robots and robots.kind == "robots"
    crawler.answer(robots)
    crawler.run()
    assert frontier.counts.done == 3


def test_what_holds_for_as_long_as_it_can_is_used(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"delay_s": 2 * DAY_S}, fetch={"robots_ttl_s": 60.0})
    fill(frontier)
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert len(crawler.requests) <= 6, "the robots.txt once a page at most"
    assert crawler.fetched == URLS


def test_after_the_clock_was_set_back_hosts_that_wait_on_disk_come_up(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier)
    host = frontier._hosts.get(frontier._hosts.number_of("a.org") or 0)
    frontier._front_queues.put_waiting(host, 8, clock.now() + 100)
    frontier._hosts.mark_changed(host)
    frontier.commit()
    assert frontier.next_lease_in_s() == 100
    clock.wall -= 30 * DAY_S
    assert frontier.next_lease_in_s() == 0
    assert frontier.lease()
