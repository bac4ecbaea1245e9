"""Which kind of connection hosts get by their last answer, and that shares bind only while there are others."""

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture, kill

from rdfspider.codes import Lane, Reason, VerdictState
from rdfspider.frontier.entries import RobotsAnswer
from rdfspider.frontier.hosts.hosts import FAST, SLOW, TAKEN_BACK, UNASKED, Host, HostRecord
from rdfspider.frontier.hosts.lanes import Lanes
from rdfspider.records import Capture, Discovered, Failure, RobotsState, Verdict

NOW = 100.0


def host(tempo: int) -> Host:
    return Host(1, HostRecord("a.org", tempo=tempo), 0.0)


def fill(lanes: Lanes, tempo: int, limit: int = 1000) -> list[Lane]:
    """Let requests of such hosts enter until one has to wait."""
    entered: list[Lane] = []
    while len(entered) < limit and (lane := lanes.choose(host(tempo), NOW)) is not None:
        lanes.enter(lane)
        entered.append(lane)
    return entered


def make_lanes(*, has_others: bool = True) -> Lanes:
    lanes = Lanes(64)
    lanes.has_others = has_others
    return lanes


def test_slow_hosts_have_an_eighth_and_what_is_spare() -> None:
    assert fill(make_lanes(), SLOW) == [Lane.SLOW] * 8 + [Lane.SPARE] * 24


def test_slow_hosts_have_their_eighth_only_while_half_of_all_is_in_use() -> None:
    lanes = make_lanes()
    fill(lanes, FAST, 40)
    assert fill(lanes, SLOW) == [Lane.SLOW] * 8


def test_what_was_taken_back_is_not_risked_again() -> None:
    assert fill(make_lanes(), TAKEN_BACK) == [Lane.SLOW] * 8


def test_new_and_slow_hosts_together_leave_a_quarter_to_those_that_answer_fast() -> None:
    lanes = make_lanes()
    fill(lanes, SLOW, 20)
    assert fill(lanes, UNASKED) == [Lane.NEW] * 28
    assert fill(lanes, FAST, 16) == [Lane.OPEN] * 16


def test_a_new_host_that_waits_is_demand_for_a_moment() -> None:
    lanes = make_lanes()
    assert not lanes.has_demand(NOW)
    fill(lanes, UNASKED)
    assert lanes.has_demand(NOW + 0.5)
    assert not lanes.has_demand(NOW + 2.0)


def test_without_others_all_connections_are_used() -> None:
    assert fill(make_lanes(has_others=False), TAKEN_BACK) == [Lane.SLOW] * 64


def test_a_request_that_ends_makes_room() -> None:
    lanes = make_lanes()
    fill(lanes, TAKEN_BACK)
    lanes.leave(Lane.SLOW)
    assert fill(lanes, TAKEN_BACK) == [Lane.SLOW]


@pytest.mark.parametrize(
    ("answer", "lane"),
    [
        (capture("http://a.org/0", duration_s=0.5), Lane.OPEN),
        (capture("http://a.org/0", duration_s=9.0), Lane.SLOW),
        (Failure("http://a.org/0", "first-byte-timeout"), Lane.SLOW),
        (Failure("http://a.org/0", "taken-back", duration_s=2.5), Lane.SLOW),
        (Failure("http://a.org/0", "refused"), Lane.OPEN),
    ],
)
def test_the_last_answer_decides_on_the_lane(
    open_frontier: OpenFrontier, clock: HandClock, answer: Capture | Failure, lane: Lane
) -> None:
    frontier = open_frontier()
    frontier.add([Discovered(f"http://a.org/{number}", found_as="seed") for number in range(2)])
    crawler = Crawler(frontier, clock)
    first = crawler.next_page()
    frontier.finish(first, frontier.release(first, answer))
    assert crawler.next_page().lane == lane


def test_a_host_stays_slow_over_a_restart_and_until_it_answers_fast(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    frontier.add([Discovered(f"http://a.org/{number}", found_as="seed") for number in range(3)])
    crawler = Crawler(frontier, clock)
    crawler.answers["http://a.org/0"] = Failure("http://a.org/0", "taken-back", duration_s=2.5)
    crawler.run(1)
    kill(frontier)
    crawler = Crawler(open_frontier(), clock)
    lease = crawler.next_page()
    assert lease.lane == Lane.SLOW
    crawler.answer(lease)
    assert crawler.next_page().lane == Lane.OPEN


def test_a_page_that_was_taken_back_is_tried_again_and_no_attempt(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    url = "http://a.org/0"
    frontier.add([Discovered(url, found_as="seed")])
    crawler = Crawler(frontier, clock)
    crawler.answers[url] = Failure(url, "taken-back", duration_s=2.5)
    crawler.run(1)
    entry = frontier.find(url)
    assert entry is not None
    assert (entry.state, entry.reason, entry.attempts) == ("scheduled", "taken-back", 0)
    del crawler.answers[url]
    crawler.run()
    entry = frontier.find(url)
    assert entry is not None
    assert (entry.state, entry.reason) == ("done", "fetched")


def test_a_robots_txt_that_was_taken_back_is_asked_for_again_in_the_slow_lane(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    frontier.add([Discovered("http://a.org/", found_as="seed")])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    name = frontier.lease()
    assert name is not None
    crawler.answer(name)
    lanes = []
    for _ in range(2):
        while (robots := frontier.lease()) is None:
            crawler.wait()
        lanes.append((robots.kind, robots.lane))
        now = clock.now()
        state = RobotsState("unreachable", now, now + 3600.0, errors=1)
        frontier.release(robots, RobotsAnswer(state, Failure(robots.url, "taken-back", duration_s=2.5)))
    assert lanes == [("robots", Lane.NEW), ("robots", Lane.SLOW)]


def test_slow_hosts_that_wait_for_their_lane_make_room_in_memory(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1})
    hosts = [f"h{number}.org" for number in range(40)]
    frontier.add([Discovered(f"http://{name}/{page}", found_as="seed") for name in hosts for page in range(2)])
    crawler = Crawler(frontier, clock)
    for name in hosts[:30]:
        url = f"http://{name}/0"
        crawler.answers[url] = Failure(url, "taken-back", duration_s=2.5)
    crawler.run(60)
    crawler.answers.clear()
    crawler.run()
    assert frontier.counts.done == 80


def test_many_slow_hosts_are_not_all_tried_again_at_once(
    open_frontier: OpenFrontier, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = open_frontier(fetch={"connections": 8})
    slow = [f"http://slow{number}.org/" for number in range(600)]
    frontier.add([Discovered(url, found_as="seed") for url in slow])
    crawler = Crawler(frontier, clock)
    crawler.answers.update({url: Failure(url, "taken-back", duration_s=2.5) for url in slow})
    while len(set(crawler.fetched)) < len(slow):
        crawler.run(len(crawler.fetched) + 1)
    assert crawler.next_page().lane == Lane.SLOW, "the only connection of that lane"
    hosts = [f"http://h{number}.org/" for number in range(100)]
    frontier.add([Discovered(f"{host}{page}", found_as="seed") for host in hosts for page in range(100)])
    frontier.commit()
    tried = [0]
    choose = Lanes.choose

    def count(lanes: Lanes, host: Host, now: float) -> Lane | None:
        tried[-1] += host.record.tempo == TAKEN_BACK
        return choose(lanes, host, now)

    monkeypatch.setattr(Lanes, "choose", count)
    for _ in range(70):
        while (lease := frontier.lease()) is not None:
            crawler.answer(lease)
            tried.append(0)
        tried.append(0)
        frontier.commit()
        clock.advance(1.0)
    assert max(tried) <= 256, "in one call"
    assert len(slow) <= sum(tried) < 3 * len(slow), "in a bit more than a minute, eight a second"


def test_hosts_whose_pages_take_long_have_two_under_way_until_they_are_recorded(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    hosts = [f"h{number}.org" for number in range(4)]
    frontier.add([Discovered(f"http://{name}/{page}", found_as="seed") for name in hosts for page in range(2)])
    crawler = Crawler(frontier, clock)
    for _ in hosts:
        lease = crawler.next_page()
        frontier.charge(lease, 5.0)
        crawler.answer(lease)
    clock.advance(10.0)
    leases = [crawler.next_page() for _ in range(2)]
    assert [lease.lane for lease in leases] == [Lane.HEAVY] * 2
    assert frontier.lease() is None
    verdict = frontier.release(leases[0], capture(leases[0].url))
    clock.advance(10.0)
    assert frontier.lease() is None, "its page is not extracted yet"
    frontier.charge(leases[0], 0.001)
    frontier.finish(leases[0], verdict)
    clock.advance(1.0)
    assert crawler.next_page().lane == Lane.HEAVY


def test_a_page_for_which_there_was_no_room_knows_how_often(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add([Discovered("http://a.org/", found_as="seed")])
    crawler = Crawler(frontier, clock)
    times = []
    for _ in range(4):
        lease = crawler.next_page()
        times.append(lease.heavy)
        frontier.release(lease, capture(lease.url))
        frontier.finish(lease, Verdict(VerdictState.RETRY, Reason.HEAVY))
        frontier.commit()
    assert times == [0, 1, 2, 3]


def test_a_busy_host_does_not_get_its_heavy_pages_in(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add([Discovered("http://a.org/", found_as="seed")])
    crawler = Crawler(frontier, clock)
    for _ in range(4):
        lease = crawler.next_page()
        frontier.finish(lease, frontier.release(lease, capture(lease.url, 503)))
        frontier.commit()
    assert crawler.next_page().heavy == 0
