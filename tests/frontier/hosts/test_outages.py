"""Hosts and origins that give no answer: when they are given up, and what brings them back."""

from collections.abc import Callable
from itertools import pairwise
from math import inf

import pytest
from tests.frontier.conftest import DAY_S, Crawler, HandClock, OpenFrontier, capture
from tests.frontier.test_model import check_tables

from rdfspider.config import FetchConfig, FrontierConfig
from rdfspider.fetch.robots import judge_robots
from rdfspider.frontier.entries import Refusal, RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Addresses, Capture, Discovered, Failure, Lease, Verdict

DEAD, WELL = "http://a.test:8080", "http://a.test"
UNANSWERED = (b"unanswered/", b"unanswered0")


class Troubled(Crawler):
    """A crawler in whose web some origins and names give no answer."""

    def __init__(self, frontier: Frontier, clock: HandClock) -> None:
        super().__init__(frontier, clock)
        self.robots: dict[str, Callable[[str], Capture | Failure]] = {}
        """By origin: what comes of asking for its robots.txt; a 404 where there is none."""
        self.names: dict[str, str] = {}
        """By host: why it has no address."""
        self.busy_s = 0.0
        """When a host may be asked that one of them leads to."""
        self.robots_times: list[float] = []
        """When the robots.txt of such origins was asked for, by the wall."""

    def answer(self, lease: Lease) -> Verdict | None:
        now = self.clock.now()
        if lease.kind == "name" and (failure := self.names.get(lease.host)):
            self.frontier.release(lease, Addresses((), now + 60, failure))
            return None
        make = self.robots.get(lease.url.removesuffix("/robots.txt"))
        if lease.kind == "robots" and make:
            self.robots_times.append(now)
            exchange = make(lease.url)
            state = judge_robots(lease.robots, exchange, now, FetchConfig(), FrontierConfig(), self.busy_s)
            self.frontier.release(lease, RobotsAnswer(state, exchange))
            return None
        return super().answer(lease)


def refuse(url: str) -> Failure:
    return Failure(url, "refused")


def fill(frontier: Frontier, *urls: str, found_as: str = "link") -> None:
    frontier.add(Discovered(url, found_as=found_as) for url in urls)
    frontier.commit()


@pytest.mark.parametrize("dead_urls", [1, 300])
def test_an_origin_that_is_given_up_rests_while_another_of_its_host_goes_on(
    dead_urls: int, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier, *(f"{DEAD}/{number}" for number in range(dead_urls)))
    fill(frontier, *(f"{WELL}/{number}" for number in range(2000)))
    crawler = Troubled(frontier, clock)
    crawler.robots[DEAD] = refuse
    crawler.run()
    assert crawler.fetched == [f"{WELL}/{number}" for number in range(2000)]
    assert len(crawler.robots_times) == 6
    assert (frontier.counts.pending, frontier.counts.scheduled_given_up) == (0, dead_urls)
    started = clock.now()
    # All along there are new pages where it is well.
    while clock.now() < started + 3 * DAY_S:
        fill(frontier, f"{WELL}/at-{clock.now()}")
        crawler.run()
        assert crawler.fetched[-1].startswith(f"{WELL}/at-")
        assert frontier.counts.pending == 0
        clock.advance(1800)
    assert len(crawler.robots_times) in (8, 9), "once a day"
    check_tables(frontier)
    crawler.robots.clear()
    clock.advance(DAY_S)
    crawler.run()
    assert frontier.counts.scheduled == 0


def test_that_an_origin_was_given_up_survives_a_restart(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    fill(frontier, f"{DEAD}/")
    crawler = Troubled(frontier, clock)
    crawler.robots[DEAD] = refuse
    crawler.run()
    frontier.close()
    clock.advance(2 * 3600)
    frontier = open_frontier()
    fill(frontier, *(f"{WELL}/{number}" for number in range(5)))
    again = Troubled(frontier, clock)
    again.robots[DEAD] = refuse
    again.run()
    assert (again.fetched, again.robots_times) == ([], []), (
        "nothing is known of the new origin, and the host is given up"
    )
    clock.advance(DAY_S)
    again.run()
    assert len(again.fetched) == 5


def test_a_host_that_was_given_up_for_one_origin_comes_back_for_links_to_another(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier, f"{WELL}/1")
    crawler = Troubled(frontier, clock)
    crawler.robots[DEAD] = refuse
    crawler.run()
    fill(frontier, f"{DEAD}/1")
    crawler.run()
    assert (len(crawler.robots_times), frontier.counts.given_up_hosts) == (6, 1)
    fill(frontier, f"{DEAD}/2")
    assert frontier.counts.given_up_hosts == 1
    fill(frontier, f"{WELL}/2")
    crawler.run()
    assert crawler.fetched == [f"{WELL}/1", f"{WELL}/2"]
    assert (len(crawler.robots_times), frontier.counts.given_up_hosts, frontier.counts.pending) == (6, 1, 0)
    check_tables(frontier)


def test_links_do_not_bring_a_host_back_that_fails_itself(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    fill(frontier, *(f"{WELL}/{number}" for number in range(9)))
    crawler = Troubled(frontier, clock)
    crawler.answers = {f"{WELL}/{number}": refuse("") for number in range(9)}
    crawler.run()
    fill(frontier, f"{WELL}/new")
    assert (frontier.lease(), frontier.counts.pending) == (None, 0)


def test_a_host_that_had_nothing_left_when_it_was_given_up_does_not_keep_a_crawl_alive(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier, f"{WELL}/1", f"{WELL}/2")
    crawler = Troubled(frontier, clock)
    crawler.answers = {f"{WELL}/1": refuse(""), f"{WELL}/2": refuse("")}
    crawler.run()
    assert (frontier.counts.failed, frontier.counts.scheduled, frontier.counts.given_up_hosts) == (2, 0, 0)
    fill(frontier, f"{WELL}/3")
    assert (frontier.next_lease_in_s(), frontier.counts.pending, frontier.counts.given_up_hosts) == (None, 0, 1)
    check_tables(frontier)
    clock.advance(DAY_S)
    crawler.run()
    assert crawler.fetched[-1] == f"{WELL}/3"


def test_a_host_whose_robots_txt_leads_to_one_that_must_wait_is_asked_again_when_that_is_free(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier, *(f"http://a.test/{number}" for number in range(9)))
    crawler = Troubled(frontier, clock)
    crawler.robots_delay_s = 3600.0
    crawler.run(1)
    fill(frontier, "http://www.a.test/1", "http://www.a.test/2")

    def lead_away(url: str) -> Capture | Failure:
        crawler.busy_s = frontier.side_requests.begin("a.test")
        if crawler.busy_s:
            return Failure(url, "busy")
        frontier.side_requests.end("a.test", capture("http://a.test/robots.txt"))
        return capture(url, 404)

    crawler.robots["http://www.a.test"] = lead_away
    crawler.run()
    assert frontier.counts.done == 11
    assert (frontier.counts.scheduled, frontier.counts.given_up_hosts) == (0, 0)
    assert 6 < len(crawler.robots_times) <= 10, "once an hour, or this tests nothing"
    times = [at for at, host, _ in crawler.requests if host == "a.test"]
    assert all(later - earlier >= 3600 for earlier, later in pairwise(times))


def test_a_host_that_was_given_up_is_not_waited_for_by_those_that_lead_to_it(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(frontier={"attempts": 100})
    fill(frontier, "http://a.test/")
    crawler = Troubled(frontier, clock)
    crawler.answers["http://a.test/"] = Failure("", "refused")
    crawler.run()
    assert frontier.counts.given_up_hosts == 1
    assert frontier.side_requests.begin("a.test") == inf
    clock.advance(DAY_S)
    assert frontier.side_requests.begin("a.test") == 0


@pytest.mark.parametrize("failure", ["nxdomain", "private"])
def test_seeds_without_an_address_are_tried_again_at_a_start(
    failure: str, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier, "http://a.test/", "http://b.test/", found_as="seed")
    fill(frontier, "http://a.test/link")
    crawler = Troubled(frontier, clock)
    crawler.names["a.test"] = failure
    crawler.run()
    assert (frontier.counts.done, frontier.counts.failed, frontier.counts.scheduled) == (1, 2, 0)
    frontier.close()
    frontier = open_frontier()
    assert frontier.restarts.retry_seeds(100) == 1
    frontier.commit()
    assert (frontier.counts.done, frontier.counts.failed, frontier.counts.scheduled) == (1, 1, 1)
    assert frontier.restarts.retry_seeds(100) == 0
    check_tables(frontier)
    crawler = Troubled(frontier, clock)
    crawler.run()
    assert crawler.fetched == ["http://a.test/"]
    assert (frontier.counts.done, frontier.counts.failed, frontier.counts.known) == (2, 1, 3)
    assert frontier._store.tables["meta"].scan(*UNANSWERED) == []


@pytest.mark.parametrize(
    ("answer", "retried"), [(Failure("", "timeout"), 1), (Failure("", "reset"), 1), (500, 0), (404, 0), (200, 0)]
)
def test_seeds_that_had_an_answer_are_not_tried_again(
    answer: int | Failure, retried: int, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier, "http://a.test/", found_as="seed")
    crawler = Troubled(frontier, clock)
    crawler.answers["http://a.test/"] = answer
    crawler.run()
    for _ in range(3):
        asked = len(crawler.fetched)
        frontier.restarts.retry_seeds(100)
        frontier.commit()
        assert (frontier.counts.pending, frontier.next_lease_in_s() is None) == (retried, not retried)
        crawler.run()
        assert (len(crawler.fetched) > asked) == retried, "each time"
        assert (frontier.counts.pending, frontier.counts.known) == (0, 1)


def test_there_may_be_many_such_seeds(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    hosts = [f"h{number}.test" for number in range(50)]
    fill(frontier, *(f"http://{host}/" for host in hosts), found_as="seed")
    crawler = Troubled(frontier, clock)
    crawler.names = dict.fromkeys(hosts, "nxdomain")
    crawler.run()
    assert frontier.counts.failed == 50
    taken = []
    while batch := frontier.restarts.retry_seeds(20):
        taken.append(batch)
        frontier.commit()
    assert taken == [20, 20, 10]
    assert (frontier.counts.failed, frontier.counts.scheduled) == (0, 50)


@pytest.mark.parametrize("trouble", ["robots", "name", "page"])
def test_a_host_of_seeds_that_was_given_up_in_silence_is_asked_once_at_a_start(
    trouble: str, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    settings = {"frontier": {"attempts": 100}}
    frontier = open_frontier(**settings)
    fill(frontier, "http://a.test/", found_as="seed")

    def start() -> Troubled:
        crawler = Troubled(frontier, clock)
        match trouble:
            case "robots":
                crawler.robots["http://a.test"] = refuse
            case "name":
                crawler.names["a.test"] = "dns"
            case _:
                crawler.answers["http://a.test/"] = refuse("")
        return crawler

    start().run()
    assert (frontier.counts.given_up_hosts, frontier.counts.pending) == (1, 0)
    for _ in range(2):
        frontier.close()
        clock.advance(60)
        frontier = open_frontier(**settings)
        assert frontier.restarts.retry_seeds(100) == 1
        frontier.commit()
        assert (frontier.counts.given_up_hosts, frontier.counts.pending) == (0, 1)
        crawler = start()
        before = clock.now()
        crawler.run()
        assert clock.now() - before < 1, "one more error, and it is given up again"
        assert len(crawler.requests) + len(crawler.robots_times) <= 1
        assert (frontier.counts.given_up_hosts, frontier.counts.pending) == (1, 0)
    clock.advance(60)
    assert frontier.restarts.retry_seeds(100) == 1
    frontier.commit()
    crawler = Troubled(frontier, clock)
    crawler.run()
    assert crawler.fetched == ["http://a.test/"]
    assert (frontier.counts.given_up_hosts, frontier.counts.scheduled) == (0, 0)
    check_tables(frontier)
    assert frontier.restarts.retry_seeds(100) == 0


@pytest.mark.parametrize("found_as", ["seed", "link"])
def test_a_host_that_said_not_now_or_has_no_seeds_is_left_alone_at_a_start(
    found_as: str, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    fill(frontier, "http://a.test/", found_as=found_as)
    crawler = Troubled(frontier, clock)
    crawler.robots["http://a.test"] = refuse if found_as == "link" else lambda url: capture(url, 503)
    crawler.run()
    assert frontier.counts.given_up_hosts == 1
    assert frontier.restarts.retry_seeds(100) == 0


def test_a_host_that_is_out_has_a_place_also_while_it_is_asked_for_others(open_frontier: OpenFrontier) -> None:
    """Or a crash in that moment would forget its new links."""
    frontier = open_frontier(frontier={"delay_s": 0.0, "give_up_errors": 1})
    frontier.add([Discovered("http://b.com/", found_as="seed")])
    frontier.commit()
    lease = frontier.lease()
    assert lease
    frontier.release(lease, Addresses((), frontier._clock.now() + DAY_S, "nxdomain"))
    frontier.commit()
    lease = frontier.lease()
    assert lease
    frontier.finish(lease, frontier.release(lease, Refusal("disallowed")))
    frontier.commit()
    assert (frontier.side_requests.begin("b.com"), frontier.side_requests.begin("b.com")) == (0, 0)
    frontier.side_requests.end("b.com", Failure("http://b.com/robots.txt", "reset"))
    frontier.commit()
    frontier.add([Discovered("http://b.com/new")])
    frontier.commit()
    record = frontier._hosts.get(1).record
    assert record.queued and record.front_key
