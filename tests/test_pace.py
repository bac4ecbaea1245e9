"""How long a server that failed is left alone."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfspider.config import FrontierConfig
from rdfspider.pace import backoff_gap_s, explain_backoff, explain_pace, pace_gap_s, read_retry_after
from rdfspider.records import Capture, Failure, Page

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


def answer(status: int, retry_after: str) -> Capture:
    headers = (("retry-after", retry_after),)
    return Capture(Page("https://a.org/", b""), status, "", "1.1", headers, (), "192.0.2.1", 0.0, 0.0, 0)


@pytest.fixture(params=["UTC", "Pacific/Auckland"])
def _zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_zone")
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60),
        ("Tue, 14 Nov 2023 22:14:20", 60),
        ("Tue, 14 Nov 2023 22:14:20 -0000", 60),
        ("Tue, 14 Nov 2000 22:14:20 GMT", 0),
        ("soon", 0),
        ("-5", 0),
        ("", 0),
        ("9" * 500, 999_999_999_999),
        ("Tue, 99 Nov 99999 22:14:20 GMT", 0),
        ("²", 0),
    ],
)
def test_retry_after_is_a_number_or_a_date_in_gmt(value: str, seconds: float) -> None:
    assert read_retry_after(answer(503, value), NOW) == pytest.approx(seconds)
    assert read_retry_after(answer(429, value), NOW) == pytest.approx(seconds)
    assert read_retry_after(answer(500, value), NOW) == pytest.approx(seconds)
    assert read_retry_after(answer(404, value), NOW) == 0
    assert read_retry_after(Failure("https://a.org/", "timeout"), NOW) == 0


@given(st.text())
def test_no_header_raises(value: str) -> None:
    assert read_retry_after(answer(503, value), NOW) >= 0


def test_backoff_doubles_within_bounds() -> None:
    config = FrontierConfig(backoff_s=10, max_backoff_s=100, max_wait_s=500)
    assert [backoff_gap_s(errors, 0, config) for errors in (1, 2, 3, 4, 5, 5000)] == [10, 20, 40, 80, 100, 100]
    assert backoff_gap_s(1, 300, config) == 300
    assert backoff_gap_s(1, 1e12, config) == 500


@pytest.mark.parametrize(
    ("crawl_delay_s", "duration_s", "reason"),
    [
        (0.0, 0.02, ""),
        (0.5, 0.02, ""),
        (10.0, 0.02, "Crawl-delay: 10 of robots.txt"),
        (10.0, 2.13, "its last answer took 2.1 s"),
        (1e9, 2.13, "Crawl-delay: 1e+09 of robots.txt"),
    ],
)
def test_a_gap_that_is_not_the_usual_one_has_a_reason(crawl_delay_s: float, duration_s: float, reason: str) -> None:
    config = FrontierConfig()
    gap_s = pace_gap_s(crawl_delay_s, duration_s, config)
    assert explain_pace(gap_s, crawl_delay_s, duration_s, config) == reason


def test_the_reason_of_a_wait_after_an_error_is_what_was_asked_for_or_our_own() -> None:
    config = FrontierConfig(backoff_s=10.0)
    assert explain_backoff(1, 60.0, answer(429, "60"), config) == "Retry-After: 60 s (429)"
    assert explain_backoff(4, 60.0, answer(503, "60"), config) == "backed off after 4 errors in a row (503)"
    assert explain_backoff(1, 0.0, Failure("", "timeout"), config) == "backed off after an error (timeout)"
    assert explain_backoff(2, 900.0, None, config) == "backed off after 2 errors in a row (dns)"
