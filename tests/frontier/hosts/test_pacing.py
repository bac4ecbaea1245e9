"""Hosts that the frontier has no record of, and that are asked all the same: they have a pace, too."""

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture

from rdfspider.config import FrontierConfig
from rdfspider.frontier.hosts import pacing
from rdfspider.frontier.hosts.pacing import ForeignHosts
from rdfspider.records import Capture, Discovered, Failure

NAME, URL = "parking.test", "http://parking.test/robots.txt"


def test_one_request_at_a_time_and_a_gap_after_it(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    assert frontier.side_requests.begin(NAME) == 0
    clock.advance(5)
    assert frontier.side_requests.begin(NAME) == pytest.approx(pacing._RECHECK_S), "it is being asked"
    assert frontier.side_requests.begin("other.test") == 0
    frontier.side_requests.end(NAME, capture(URL))
    assert frontier.side_requests.begin(NAME) == pytest.approx(1.0)
    clock.advance(1.001)
    assert frontier.side_requests.begin(NAME) == 0
    frontier.side_requests.end(NAME, capture(URL, duration_s=0.5))
    assert frontier.side_requests.begin(NAME) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("exchange", "waits_s"),
    [(Failure(URL, "refused"), [10, 20, 40]), (capture(URL, 429, Retry_After="600"), [600, 600, 600])],
)
def test_one_that_fails_is_left_alone(exchange: Capture | Failure, waits_s: list[float], clock: HandClock) -> None:
    known = ForeignHosts(FrontierConfig(), clock, 1)
    for wait_s in waits_s:
        assert known.begin(NAME) == 0
        known.end(NAME, exchange)
        assert known.begin(NAME) == pytest.approx(wait_s)
        clock.advance(wait_s + 0.001)
    known.begin(NAME)
    known.end(NAME, capture(URL))
    assert known.begin(NAME) == pytest.approx(1.0)


def test_with_no_delay_several_are_asked_at_once(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    assert [frontier.side_requests.begin(NAME) for _ in range(8)] == [0] * 8
    assert frontier.side_requests.begin(NAME)
    frontier.side_requests.end(NAME, capture(URL, duration_s=10.0))
    assert frontier.side_requests.begin(NAME) == 0


@pytest.mark.parametrize("is_over", [True, False])
def test_a_host_that_becomes_known_keeps_the_pace_it_had(
    is_over: bool, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    assert frontier.side_requests.begin(NAME) == 0
    if is_over:
        frontier.side_requests.end(NAME, capture(URL, duration_s=2.0))
    frontier.add([Discovered("http://parking.test/")])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    name = frontier.lease()
    assert name and name.kind == "name"
    crawler.answer(name)
    assert frontier.lease() is None
    if not is_over:
        frontier.side_requests.end(NAME, capture(URL, duration_s=2.0))
        clock.advance(pacing._RECHECK_S)
        assert frontier.lease() is None
    assert frontier.side_requests.begin(NAME) == pytest.approx(20.0, abs=0.2)
    crawler.run()
    assert crawler.fetched == ["http://parking.test/"]
    assert crawler.requests[0][0] == pytest.approx(1020.0, abs=0.2)


def test_few_are_kept_and_the_oldest_leave(clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "_MAX_FOREIGN", 3)
    known = ForeignHosts(FrontierConfig(), clock, 1)
    for name in ("over", "under-way", "waits"):
        assert known.begin(name) == 0
        if name != "under-way":
            known.end(name, capture(URL, duration_s=3.0 if name == "waits" else 0.0))
    clock.advance(2)
    assert known.begin("new") == 0, "one of them is over"
    assert known.begin("under-way") and known.begin("waits")
    assert known.begin("newer") == 0
    known.end("under-way", capture(URL))
    assert known.begin("under-way"), "it had left before it was over, and has a gap all the same"
