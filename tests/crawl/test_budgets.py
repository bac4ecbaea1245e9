"""What a crawl may use as a whole, and what it has used."""

import pytest

from rdfspider.config import CrawlConfig
from rdfspider.crawl.budgets import Used, estimate_rest, explain_reached, find_reached, list_limits
from rdfspider.crawl.status import Status, Totals


def test_limits_that_are_set_are_listed() -> None:
    assert list_limits(CrawlConfig()) == {}
    assert list_limits(CrawlConfig(pages=7, depth=2, time_s=1.5)) == {"pages": 7.0, "depth": 2.0, "time_s": 1.5}


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (CrawlConfig(), None),
        (CrawlConfig(pages=11, bytes=1001, time_s=61), None),
        (CrawlConfig(pages=10), "pages"),
        (CrawlConfig(bytes=900), "bytes"),
        (CrawlConfig(time_s=60, pages=11), "time"),
    ],
)
def test_a_limit_is_reached_by_as_much_as_it_says(config: CrawlConfig, reason: str | None) -> None:
    reached = find_reached(config, Used(10, 1000, 60.0))
    assert (reached.reason if reached else None) == reason


def test_a_crawl_that_ended_by_a_limit_has_reached_it_unless_it_was_raised() -> None:
    totals = Totals(pages=99, body_bytes=1000)
    status = Status(state="ended", reason="bytes", limits={"bytes": 1001.0}, totals=totals)
    assert explain_reached(CrawlConfig(bytes=1001), status) == "the crawl has all its 1,001 bytes (crawl.bytes)"
    assert explain_reached(CrawlConfig(bytes=2000), status) == ""
    assert explain_reached(CrawlConfig(pages=1), status) == "the crawl has all its 1 page (crawl.pages)"
    assert explain_reached(CrawlConfig(), status) == ""


@pytest.mark.parametrize(
    ("limits", "pages_s", "rest"),
    [
        ({}, 2.0, None),
        ({"depth": 3.0}, 2.0, None),
        ({"pages": 200.0}, 2.0, ("pages", 50.0)),
        ({"pages": 200.0}, 0.0, None),
        ({"time_s": 90.0}, 0.0, ("time", 30.0)),
        ({"time_s": 90.0, "pages": 120.0}, 2.0, ("pages", 10.0)),
        # A page has had ten bytes, so far.
        ({"bytes": 1600.0, "pages": 200.0}, 2.0, ("bytes", 30.0)),
        ({"pages": 50.0}, 2.0, ("pages", 0.0)),
    ],
)
def test_the_nearest_limit_says_how_long_it_takes(
    limits: dict[str, float], pages_s: float, rest: tuple[str, float] | None
) -> None:
    totals = Totals(pages=100, body_bytes=1000)
    status = Status(state="running", elapsed_s=60.0, pages_s=pages_s, limits=limits, totals=totals)
    assert estimate_rest(status) == rest
