"""Pace, names, robots.txt, errors and budgets, with a clock that is moved by hand."""

from itertools import pairwise

import pytest
from tests.frontier.conftest import DAY_S, Crawler, HandClock, OpenFrontier, capture

from rdfspider.frontier.entries import RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Addresses, Discovered, Failure, RobotsState


def fill(frontier: Frontier, *urls: str) -> None:
    frontier.add(Discovered(url) for url in urls)
    frontier.commit()


def pages(count: int, host: str = "a.org") -> list[str]:
    return [f"https://{host}/{number}" for number in range(count)]


def gaps(crawler: Crawler, host: str = "a.org") -> list[float]:
    times = [at for at, name, _ in crawler.requests if name == host]
    return [round(later - earlier, 3) for earlier, later in pairwise(times)]


def test_first_the_name_then_robots_then_pages_one_at_a_time(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    fill(frontier, *pages(2))
    name = frontier.lease()
    assert name and (name.kind, name.host, name.url) == ("name", "a.org", "")
    assert frontier.lease() is None
    assert frontier.next_lease_in_s() is None
    frontier.release(name, Addresses(("192.0.2.7",), clock.now() + DAY_S))
    robots = frontier.lease()
    assert robots and (robots.kind, robots.url) == ("robots", "https://a.org/robots.txt")
    assert robots.addresses == ("192.0.2.7",) and robots.robots is None
    assert frontier.lease() is None
    known = RobotsState("rules", clock.now(), clock.now() + DAY_S, b"User-agent: *")
    frontier.release(robots, RobotsAnswer(known, capture(robots.url)))
    assert frontier.lease() is None, "robots.txt was a request"
    assert frontier.next_lease_in_s() == pytest.approx(1.0)
    clock.advance(1.0)
    page = frontier.lease()
    assert page and (page.kind, page.url, page.robots) == ("page", pages(2)[0], known)
    clock.advance(1000)
    assert frontier.lease() is None, "one request at a time"
    assert frontier.counts.in_flight == 1
    frontier.release(page, capture(page.url))
    assert frontier.lease() is None
    clock.advance(1.0)
    assert frontier.lease()


def test_the_gap_follows_delay_duration_and_crawl_delay(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"delay_s": 2.0, "max_wait_s": 50.0})
    fill(frontier, *pages(9))
    crawler = Crawler(frontier, clock)
    for duration_s, gap_s in ((0.0, 2.0), (0.1, 2.0), (0.5, 5.0), (100.0, 60.0)):
        page = crawler.next_page()
        frontier.release(page, capture(page.url, duration_s=duration_s))
        assert frontier.next_lease_in_s() == pytest.approx(gap_s)


def test_crawl_delay_is_kept_where_it_is_longer(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    fill(frontier, *pages(3))
    crawler = Crawler(frontier, clock)
    crawler.robots_delay_s = 7.0
    crawler.run()
    assert gaps(crawler) == [7.0, 7.0, 7.0]


def test_crawl_delay_is_bounded(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"max_wait_s": 50.0})
    fill(frontier, *pages(3))
    crawler = Crawler(frontier, clock)
    crawler.robots_delay_s = 1e9
    crawler.run()
    assert gaps(crawler) == [50.0, 50.0, 50.0]


def test_no_delay_means_no_gaps_and_several_at_once(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    fill(frontier, *pages(30))
    crawler = Crawler(frontier, clock)
    crawler.robots_delay_s = 60.0
    before = clock.monotonic()
    leases = [crawler.next_page() for _ in range(8)]
    assert frontier.lease() is None
    assert len({lease.url for lease in leases}) == 8
    frontier.release(leases[0], capture(leases[0].url, duration_s=10.0))
    assert crawler.next_page().url not in {lease.url for lease in leases}
    assert clock.monotonic() == before


def test_while_robots_is_asked_for_no_page_of_its_origin_is_leased(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    fill(frontier, *pages(50), "http://a.org/plain")
    name = frontier.lease()
    assert name
    frontier.release(name, Addresses(("192.0.2.1",), clock.now() + DAY_S))
    robots = frontier.lease()
    assert robots and robots.kind == "robots"
    assert frontier.lease() is None
    frontier.release(
        robots, RobotsAnswer(RobotsState("allow", clock.now(), clock.now() + DAY_S), capture(robots.url, 404))
    )
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert sorted(crawler.fetched) == sorted([*pages(50), "http://a.org/plain"])


def test_a_robots_txt_that_failed_is_asked_for_by_one_request_alone(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    fill(frontier, *pages(50))
    name = frontier.lease()
    assert name
    frontier.release(name, Addresses(("192.0.2.1",), clock.now() + DAY_S))
    robots = frontier.lease()
    assert robots and robots.kind == "robots"
    state = RobotsState("unreachable", clock.now(), clock.now() + 10)
    frontier.release(robots, RobotsAnswer(state, Failure(robots.url, "timeout")))
    assert frontier.lease() is None
    clock.advance(10)
    robots = frontier.lease()
    assert robots and robots.kind == "robots"
    assert frontier.lease() is None
    crawler = Crawler(frontier, clock)
    crawler.answer(robots)
    crawler.run()
    assert sorted(crawler.fetched) == sorted(pages(50))


def test_expired_names_and_robots_are_asked_for_again(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    fill(frontier, *pages(2))
    crawler = Crawler(frontier, clock)
    page = crawler.next_page()
    frontier.finish(page, frontier.release(page, capture(page.url)))
    clock.advance(DAY_S + 1)
    name = frontier.lease()
    assert name and name.kind == "name"
    crawler.answer(name)
    robots = frontier.lease()
    assert robots and robots.kind == "robots" and robots.robots, "with what was known"


@pytest.mark.parametrize("failure", ["nxdomain", "private"])
def test_urls_of_a_host_that_is_not_there_fail_without_a_request(
    open_frontier: OpenFrontier, clock: HandClock, failure: str
) -> None:
    frontier = open_frontier()
    fill(frontier, *pages(50))
    name = frontier.lease()
    assert name
    before = clock.monotonic()
    frontier.release(name, Addresses((), clock.now() + 3600, failure))
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert clock.monotonic() == before
    assert crawler.requests == []
    assert frontier.counts.failed == 50
    entry = frontier.find(pages(1)[0])
    assert entry and (entry.state, entry.reason) == ("failed", failure)
    fill(frontier, "https://a.org/late")
    page = frontier.lease()
    assert page and page.kind == "page" and not page.addresses, "the answer is cached"
    frontier.release(page, None)
    clock.advance(3601)
    name = frontier.lease()
    assert name and name.kind == "name", "until it expires"


def test_a_name_server_in_trouble_is_an_error_of_the_host(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"give_up_errors": 3})
    fill(frontier, *pages(2))
    waits = []
    for _ in range(3):
        name = frontier.lease()
        assert name and name.kind == "name"
        frontier.release(name, Addresses((), clock.now() + 5, "timeout"))
        waits.append(frontier.next_lease_in_s())
        clock.advance(waits[-1] or 0)
    assert waits == [pytest.approx(10), pytest.approx(20), None]
    assert (frontier.counts.given_up_hosts, frontier.counts.scheduled_given_up) == (1, 2)


def test_errors_double_the_wait_and_an_answer_ends_that(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"attempts": 9, "max_backoff_s": 35.0})
    fill(frontier, *pages(9))
    crawler = Crawler(frontier, clock)
    waits = []
    for answer in (500, Failure("", "reset"), 503, 429, 200, Failure("", "timeout")):
        page = crawler.next_page()
        exchange = answer if isinstance(answer, Failure) else capture(page.url, answer)
        frontier.finish(page, frontier.release(page, exchange))
        waits.append(round(frontier.next_lease_in_s() or 0.0, 3))
    assert waits == [10.0, 20.0, 35.0, 35.0, 1.0, 10.0]


def test_retry_after_is_kept_within_bounds(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    fill(frontier, *pages(9))
    crawler = Crawler(frontier, clock)
    for value, wait_s in (("120", 120.0), ("99999999999", 86_400.0)):
        page = crawler.next_page()
        frontier.finish(page, frontier.release(page, capture(page.url, 429, Retry_After=value)))
        frontier.commit()
        assert frontier.next_lease_in_s() == pytest.approx(wait_s)


def test_an_error_shortens_no_pace(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"backoff_s": 0.1, "delay_s": 2.0})
    fill(frontier, *pages(9))
    crawler = Crawler(frontier, clock)
    crawler.robots_delay_s = 7.0
    waits = []
    for exchange in (Failure("", "reset"), Failure("", "first-byte-timeout", duration_s=3.0)):
        page = crawler.next_page()
        frontier.finish(page, frontier.release(page, exchange))
        waits.append(round(frontier.next_lease_in_s() or 0.0, 3))
    assert waits == [7.0, 30.0]


def test_a_url_gets_so_many_tries_at_the_tail_of_the_queue(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    fill(frontier, *pages(3))
    crawler = Crawler(frontier, clock)
    crawler.answers[pages(3)[0]] = 500
    crawler.run()
    first, second, third = pages(3)
    assert crawler.fetched == [first, second, third, first, first]
    entry = frontier.find(first)
    assert entry and (entry.state, entry.reason, entry.attempts) == ("failed", "status-500", 3)
    assert (frontier.counts.done, frontier.counts.failed, frontier.counts.scheduled) == (2, 1, 0)


def test_a_page_that_never_has_time_ends(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    fill(frontier, *pages(40))
    crawler = Crawler(frontier, clock)
    crawler.answers[pages(1)[0]] = 503
    crawler.run()
    assert frontier.counts.scheduled == frontier.counts.scheduled_given_up
    assert frontier.counts.done == 39


def test_a_host_is_given_up_and_tried_again_much_later(open_frontier: OpenFrontier, clock: HandClock) -> None:
    settings = {"attempts": 100, "give_up_errors": 4, "give_up_s": 5000.0}
    frontier = open_frontier(frontier=settings)
    fill(frontier, *pages(5), "https://b.org/")
    crawler = Crawler(frontier, clock)
    crawler.answers = dict.fromkeys(pages(5), Failure("", "refused"))
    crawler.run()
    assert len([url for url in crawler.fetched if "a.org" in url]) == 4
    assert frontier.next_lease_in_s() is None, "it does not keep a crawl alive"
    assert (frontier.counts.given_up_hosts, frontier.counts.scheduled_given_up, frontier.counts.pending) == (1, 5, 0)
    frontier.close()
    frontier = open_frontier(frontier=settings)
    assert (frontier.counts.given_up_hosts, frontier.counts.scheduled_given_up, frontier.counts.pending) == (1, 5, 0)
    assert frontier.lease() is None
    fill(frontier, "https://a.org/new")
    assert frontier.lease() is None
    assert frontier.counts.scheduled_given_up == 6
    clock.advance(5000)
    crawler = Crawler(frontier, clock)
    crawler.answers = dict.fromkeys(pages(5), Failure("", "refused"))
    crawler.run()
    assert len(crawler.fetched) == 1, "one more error, and it is given up again"
    clock.advance(5000)
    crawler.answers.clear()
    crawler.run()
    assert frontier.counts.done == 7
    assert (frontier.counts.given_up_hosts, frontier.counts.scheduled_given_up, frontier.counts.scheduled) == (0, 0, 0)


def test_requests_side_by_side_that_fail_are_one_error(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0, "give_up_errors": 3})
    fill(frontier, *pages(20))
    crawler = Crawler(frontier, clock)
    leases = [crawler.next_page() for _ in range(8)]
    clock.advance(1)
    for lease in leases[:-1]:
        frontier.finish(lease, frontier.release(lease, Failure(lease.url, "timeout")))
    frontier.finish(leases[-1], frontier.release(leases[-1], capture(leases[-1].url)))
    assert frontier.counts.given_up_hosts == 0
    assert frontier.lease() is None
    assert frontier.next_lease_in_s() == pytest.approx(10.0), "an answer does not undo the wait"


def test_an_unreachable_robots_txt_keeps_its_origin_waiting_and_no_other(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    plain = [f"http://a.org/{number}" for number in range(30)]
    fill(frontier, *plain)
    fill(frontier, *pages(3))
    crawler = Crawler(frontier, clock)
    until = clock.now() + 500
    while True:
        lease = frontier.lease()
        if lease is None:
            if frontier.counts.done == 3:
                break
            crawler.wait()
        elif lease.kind == "robots" and lease.url.startswith("http:"):
            frontier.release(
                lease, RobotsAnswer(RobotsState("unreachable", clock.now(), until), Failure(lease.url, "timeout"))
            )
            assert frontier.next_lease_in_s() == pytest.approx(10.0), "an error of the host"
        else:
            crawler.answer(lease)
    assert crawler.fetched == pages(3)
    robots = None
    while robots is None:
        crawler.wait()
        robots = frontier.lease()
    assert clock.now() == pytest.approx(until, abs=0.01)
    assert robots.kind == "robots" and robots.robots and robots.robots.rule == "unreachable"
    crawler.answer(robots)
    crawler.run()
    assert crawler.fetched == [*pages(3), *plain]


def test_an_origin_that_stays_unreachable_is_given_up(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"give_up_errors": 3})
    fill(frontier, "http://a.org/1", "https://a.org/1", "https://a.org/2")
    crawler = Crawler(frontier, clock)
    errors = 0
    for _ in range(100):
        lease = frontier.lease()
        if lease is None:
            frontier.commit()
            wait_s = frontier.next_lease_in_s()
            if wait_s is None:
                break
            clock.advance(wait_s + 1e-6)
        elif lease.kind == "robots" and lease.url.startswith("http:"):
            errors += 1
            state = RobotsState("unreachable", clock.now(), clock.now() + 5, errors=errors)
            frontier.release(lease, RobotsAnswer(state, capture(lease.url, 500)))
        else:
            crawler.answer(lease)
    assert crawler.fetched == ["https://a.org/1", "https://a.org/2"]
    assert errors <= 6
    assert (frontier.counts.scheduled, frontier.counts.pending, frontier.counts.given_up_hosts) == (1, 0, 1)


def test_pages_a_host_are_a_budget(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(crawl={"pages_per_host": 5}, frontier={"delay_s": 0.0})
    fill(frontier, *pages(20), *pages(3, "b.org"))
    crawler = Crawler(frontier, clock)
    crawler.answers[pages(20)[0]] = 404
    leases = [crawler.next_page() for _ in range(8)]
    assert sum(lease.host == "a.org" for lease in leases) <= 5
    for lease in leases:
        frontier.release(lease, None)
    crawler.run()
    assert sum("a.org" in url for url in crawler.fetched) == 6, "a 404 is no page"
    assert frontier.counts.pages == 8
    assert (frontier.counts.scheduled, frontier.counts.over_budget, frontier.counts.pending) == (14, 14, 0)
    fill(frontier, "https://a.org/more")
    assert frontier.lease() is None
    assert frontier.counts.over_budget == 15
    frontier.close()
    frontier = open_frontier(crawl={"pages_per_host": 7})
    assert frontier.counts.over_budget == 0
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert len(crawler.fetched) == 2


def test_pages_a_domain_are_a_budget_over_its_hosts(open_frontier: OpenFrontier, clock: HandClock) -> None:
    settings = {"crawl": {"pages_per_domain": 4}, "frontier": {"delay_s": 0.0}}
    frontier = open_frontier(**settings)
    fill(frontier, *pages(5, "x.a.org"), *pages(5, "y.a.org"))
    crawler = Crawler(frontier, clock)
    leases = []
    while len(leases) < 4:
        leases.append(crawler.next_page())
    for _ in range(5):
        lease = frontier.lease()
        if lease:
            crawler.answer(lease)
    assert frontier.lease() is None
    gone = leases.pop()
    frontier.finish(gone, frontier.release(gone, capture(gone.url, 404)))
    leases.append(crawler.next_page())
    for lease in leases:
        frontier.finish(lease, frontier.release(lease, capture(lease.url)))
    crawler.run()
    assert frontier.counts.pages == 4
    assert crawler.fetched == []
    assert frontier.counts.over_budget == frontier.counts.scheduled == 5
    frontier.close()
    frontier = open_frontier(**settings)
    fill(frontier, *pages(5, "z.a.org"))
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert crawler.fetched == []
    assert frontier.counts.over_budget == 10


def test_answers_that_expire_at_once_still_serve_a_request(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"delay_s": 100.0})
    fill(frontier, *pages(2))
    fetched = []
    for _ in range(30):
        lease = frontier.lease()
        if lease is None:
            frontier.commit()
            clock.advance(frontier.next_lease_in_s() or 0.0)
        elif lease.kind == "name":
            frontier.release(lease, Addresses(("192.0.2.1",), clock.now()))
        elif lease.kind == "robots":
            frontier.release(
                lease, RobotsAnswer(RobotsState("allow", clock.now(), clock.now()), capture(lease.url, 404))
            )
        else:
            fetched.append(lease.url)
            frontier.finish(lease, frontier.release(lease, capture(lease.url)))
    assert fetched == pages(2)


def test_giving_a_page_back_frees_its_share_of_the_budget(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(crawl={"pages_per_domain": 1}, frontier={"delay_s": 0.0})
    fill(frontier, *pages(1, "x.a.org"), *pages(1, "y.a.org"))
    crawler = Crawler(frontier, clock)
    first = crawler.next_page()
    for _ in range(4):
        lease = frontier.lease()
        if lease:
            crawler.answer(lease)
    assert frontier.lease() is None
    frontier.release(first, None)
    assert crawler.next_page().kind == "page"
