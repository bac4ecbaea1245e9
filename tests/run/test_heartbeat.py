import os
import time

import pytest

from rdfspider.records import Capture, Failure, Lease, Page, RobotsState, Verdict
from rdfspider.run.heartbeat import Meter


def test_the_load_is_that_of_the_time_since_it_was_last_measured() -> None:
    meter = Meter()
    monotonic, used_s = time.monotonic() + 10, time.process_time() + 5
    meter.measure_load(monotonic, used_s)
    assert meter.measure_load(monotonic + 1, used_s + 0.25) == pytest.approx(25)
    # Two beats may be close together.
    assert meter.measure_load(monotonic + 1, used_s + 0.26) == pytest.approx(25)
    assert meter.measure_load(monotonic + 1.001, used_s + 0.5) == pytest.approx(25)
    assert meter.measure_load(monotonic + 2, used_s + 1.0) == pytest.approx(75)


def test_the_load_is_not_above_that_of_all_cores() -> None:
    meter = Meter()
    monotonic, used_s = meter._load_from
    assert meter.measure_load(monotonic, used_s) == 0.0
    assert meter.measure_load(monotonic + 1, used_s + 1e6) == 100 * (os.cpu_count() or 1)


def test_urls_that_failed_for_good_are_counted_by_their_reason() -> None:
    meter = Meter()
    for verdict in (
        Verdict("retry", "timeout", error="timeout"),
        Verdict("failed", "timeout", error="timeout"),
        Verdict("failed", "status-500", 500),
        Verdict("failed", "disallowed"),
        Verdict("done", "status-404", 404),
    ):
        meter.count("a.test", verdict, None)
    assert meter.failures == {"timeout": 1, "500": 1}


def test_what_serves_the_crawl_itself_is_counted_apart() -> None:
    meter = Meter()
    for reason, status in (("fetched", 200), ("sitemap", 200), ("no-sitemap", 404), ("no-sitemap", 404)):
        capture = Capture(Page("http://a.test/", b""), status, "", "1.1", (), (), "", 0.0, 0.1, 0)
        meter.count("a.test", Verdict("done", reason, status), capture)
    assert (meter.statuses, meter.prerequisites) == ({"200": 1}, {"sitemap": 1, "no-sitemap": 2})


def answer(meter: Meter, host: str, duration_s: float) -> None:
    meter.count(host, Verdict("retry", "timeout"), Failure(f"http://{host}/", "timeout", duration_s=duration_s))


def test_the_slowest_hosts_come_first() -> None:
    meter = Meter()
    for host, duration_s in (("a.test", 0.5), ("b.test", 3.0), ("c.test", 1.0), ("b.test", 2.0)):
        answer(meter, host, duration_s)
    # The last time counts for a fifth of the mean.
    assert list(meter.find_slowest().items()) == [("b.test", 2.8), ("c.test", 1.0), ("a.test", 0.5)]


def test_hosts_that_were_not_asked_for_long_are_forgotten() -> None:
    meter = Meter()
    answer(meter, "slow.test", 60.0)
    answer(meter, "slower.test", 90.0)
    for number in range(99):
        answer(meter, f"{number}.test", 1.0)
        answer(meter, "slower.test", 90.0)
    slowest = meter.find_slowest()
    assert len(slowest) == 5
    assert next(iter(slowest)) == "slower.test"
    assert "slow.test" not in slowest


def test_the_requests_that_began_first_are_told() -> None:
    meter = Meter()
    leases = [Lease("page", "a.test", 1, f"http://a.test/{number}") for number in range(20)]
    before = time.time()
    for lease in leases:
        meter.begin_fetch(lease)
    meter.end_fetch(leases[0])
    told = meter.list_fetching(3)
    assert [request.url for request in told] == [f"http://a.test/{number}" for number in range(1, 9)]
    assert {request.shard for request in told} == {3}
    assert all(before <= request.since <= time.time() for request in told)
    for lease in leases:
        # An end may be told twice: of the request, and of the visit.
        meter.end_fetch(lease)
    assert meter.list_fetching(3) == ()


def test_what_became_of_a_robots_txt_is_counted() -> None:
    meter = Meter()
    for rule in ("rules", "allow", "allow", "unreachable"):
        meter.count_robots(RobotsState(rule, 0.0, 0.0))
    assert meter.robots == {"rules": 1, "absent": 2, "unreachable": 1}
