"""What is waited for after a start: the rest of each gap after a clean end, all of it after an unclean one."""

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture, kill

from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered

URLS = [f"https://a.org/{number}" for number in range(9)]
SETTINGS = {"frontier": {"delay_s": 10.0}}


def start(open_frontier: OpenFrontier, clock: HandClock) -> tuple[Frontier, Crawler]:
    frontier = open_frontier(**SETTINGS)
    frontier.add(Discovered(url) for url in URLS)
    frontier.commit()
    return frontier, Crawler(frontier, clock)


def visit_one(open_frontier: OpenFrontier, clock: HandClock) -> None:
    """A crawl of one page that has ended cleanly."""
    frontier, crawler = start(open_frontier, clock)
    page = crawler.next_page()
    frontier.finish(page, frontier.release(page, capture(page.url)))
    frontier.commit()
    frontier.close()


def wait_for_request(frontier: Frontier, clock: HandClock) -> float:
    """Seconds until a host is really asked; a name is no request."""
    began = clock.monotonic()
    crawler = Crawler(frontier, clock)
    crawler.next_page()
    return round(crawler.requests[0][0] - began, 3)


@pytest.mark.parametrize(("passed_s", "wait_s"), [(0, 10), (4, 6), (30, 0)])
def test_after_a_clean_end_the_rest_of_the_gap(
    open_frontier: OpenFrontier, clock: HandClock, passed_s: float, wait_s: float
) -> None:
    visit_one(open_frontier, clock)
    clock.advance(passed_s)
    assert wait_for_request(open_frontier(**SETTINGS), clock) == pytest.approx(wait_s, abs=0.01)


@pytest.mark.parametrize(("wall_shift_s", "wait_s"), [(4, 6), (-1000, 10), (1000, 0)])
def test_after_a_reboot_the_wall_tells_and_the_gap_bounds(
    open_frontier: OpenFrontier, clock: HandClock, wall_shift_s: float, wait_s: float
) -> None:
    visit_one(open_frontier, clock)
    clock.reboot(wall_shift_s)
    assert wait_for_request(open_frontier(**SETTINGS), clock) == pytest.approx(wait_s, abs=0.01)


def test_after_a_kill_the_whole_gap_from_the_opening(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier, crawler = start(open_frontier, clock)
    page = crawler.next_page()
    frontier.finish(page, frontier.release(page, capture(page.url, duration_s=2.5)))
    frontier.commit()
    crawler.next_page()
    clock.advance(1000)
    kill(frontier)
    frontier = open_frontier(**SETTINGS)
    clock.advance(5)
    assert wait_for_request(frontier, clock) == pytest.approx(20, abs=0.01), "25 s are stored, 5 have passed"


def test_after_a_kill_a_host_that_was_never_on_record_as_asked_waits_the_delay(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier, crawler = start(open_frontier, clock)
    crawler.next_page()
    clock.advance(1000)
    kill(frontier)
    assert wait_for_request(open_frontier(**SETTINGS), clock) == pytest.approx(10, abs=0.01)


def test_a_clean_end_soon_after_a_kill_shortens_no_wait(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier, crawler = start(open_frontier, clock)
    page = crawler.next_page()
    frontier.finish(page, frontier.release(page, capture(page.url)))
    frontier.commit()
    clock.advance(500)
    kill(frontier)
    frontier = open_frontier(**SETTINGS)
    clock.advance(3)
    frontier.close()
    assert wait_for_request(open_frontier(**SETTINGS), clock) == pytest.approx(7, abs=0.01)


def test_a_kill_and_a_reboot(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier, crawler = start(open_frontier, clock)
    crawler.next_page()
    kill(frontier)
    clock.reboot(1000)
    assert wait_for_request(open_frontier(**SETTINGS), clock) == pytest.approx(10, abs=0.01)


def test_a_new_frontier_waits_for_nothing(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier, _ = start(open_frontier, clock)
    assert wait_for_request(frontier, clock) == 0


def test_hosts_with_ports_users_and_brackets_have_one_pace(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    urls = [
        "https://a.org/",
        "http://a.org:8080/",
        "http://u:p@a.org/",
        "http://[2001:db8::1]:81/",
        "http://[2001:db8::1]/",
    ]
    frontier.add(Discovered(url) for url in urls)
    frontier.commit()
    assert frontier.counts.hosts == 2
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert sorted(crawler.fetched) == sorted(urls)
    robots = [url for _, _, url in crawler.requests if url.endswith("robots.txt")]
    assert sorted(robots) == [
        "http://[2001:db8::1]/robots.txt",
        "http://[2001:db8::1]:81/robots.txt",
        "http://a.org/robots.txt",
        "http://a.org:8080/robots.txt",
        "https://a.org/robots.txt",
    ]
