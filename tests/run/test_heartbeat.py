import os
import time

import pytest

from rdfspider.records import Verdict
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
    assert meter.measure_load(time.monotonic(), time.process_time()) == 0.0
    assert meter.measure_load(time.monotonic() + 1, time.process_time() + 1e6) == 100 * (os.cpu_count() or 1)


def test_urls_that_failed_for_good_are_counted_by_their_reason() -> None:
    meter = Meter()
    for verdict in (
        Verdict("retry", "timeout", error="timeout"),
        Verdict("failed", "timeout", error="timeout"),
        Verdict("failed", "status-500", 500),
        Verdict("failed", "disallowed"),
        Verdict("done", "status-404", 404),
    ):
        meter.count(verdict, None, None)
    assert meter.failures == {"timeout": 1, "500": 1}
