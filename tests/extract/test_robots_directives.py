"""Lists of robots directives, in `meta` elements and headers."""

import time
from datetime import UTC, datetime

import pytest

from rdfspider.extract.robots_directives import read_directives
from rdfspider.records import Robots


@pytest.mark.parametrize(
    ("lists", "robots"),
    [
        ([], Robots()),
        (["all"], Robots()),
        (["index, follow"], Robots()),
        (["noindex, nofollow"], Robots(noindex=True, nofollow=True)),
        (["NOINDEX NoFollow"], Robots(noindex=True, nofollow=True)),
        (["none"], Robots(noindex=True, nofollow=True)),
        (["noarchive"], Robots(noarchive=True)),
        (["noindex", "nofollow"], Robots(noindex=True, nofollow=True)),
        (["noindex, index"], Robots(noindex=True)),
        # What is not known, and what only looks like a directive.
        (["max-snippet: -1, max-image-preview: none, noarchive"], Robots(noarchive=True)),
        (["max-snippet:-1 max-image-preview:none noarchive"], Robots(noarchive=True)),
        (["max-foo: 1, noindex"], Robots(noindex=True)),
        (["crawl-delay: 10; noindex, nofollow"], Robots(noindex=True, nofollow=True)),
        (["nosnippet, notranslate"], Robots()),
        (["unavailable_after: soon, nofollow"], Robots(nofollow=True)),
        (["noindex: yes"], Robots(noindex=True)),
        ([":,;: none-such"], Robots()),
    ],
)
def test_directives(lists: list[str], robots: Robots) -> None:
    assert read_directives(lists) == robots
    assert read_directives(lists, may_name=True) == robots


@pytest.mark.parametrize(
    ("lists", "robots"),
    [
        (["googlebot: nofollow"], Robots()),
        (["otherbot: noindex, nofollow"], Robots()),
        (["OtherBot/1.0 : NoIndex nofollow; noarchive"], Robots()),
        (["otherbot: max-snippet: -1, noindex"], Robots()),
        (["otherbot: noindex, crawl-delay: 10, nofollow"], Robots()),
        (["rdfspider: nofollow, googlebot: noindex"], Robots(nofollow=True)),
        (["googlebot: noindex, RDFspider: nofollow, noarchive"], Robots(nofollow=True, noarchive=True)),
        (["googlebot: noindex, rdfspider: gently, nofollow"], Robots(nofollow=True)),
        (["noindex googlebot: nofollow"], Robots(noindex=True)),
        (["googlebot: noindex", "nofollow"], Robots(nofollow=True)),
        (["*: noindex"], Robots(noindex=True)),
        (["rdfspider: max-image-preview: none"], Robots()),
        # These name nobody, so they are for all.
        (["all: noindex"], Robots(noindex=True)),
        (["cache: no-store, noindex"], Robots(noindex=True)),
        (["2: noindex"], Robots(noindex=True)),
    ],
)
def test_headers_may_name_whom_they_mean(lists: list[str], robots: Robots) -> None:
    assert read_directives(lists, may_name=True) == robots


def test_the_content_of_an_element_names_nobody() -> None:
    assert read_directives(["otherbot: noindex, nofollow"]) == Robots(noindex=True, nofollow=True)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("25 Jun 2026 15:00:00 PST", datetime(2026, 6, 25, 23, tzinfo=UTC)),
        ("Thursday, 25-Jun-26 15:00:00 EST", datetime(2026, 6, 25, 20, tzinfo=UTC)),
        ("Thu, 25 Jun 2026 15:00:00 GMT", datetime(2026, 6, 25, 15, tzinfo=UTC)),
        ("2026-06-25T15:00:00+02:00", datetime(2026, 6, 25, 13, tzinfo=UTC)),
        ("2026-06-25 15:00:00", datetime(2026, 6, 25, 15, tzinfo=UTC)),
        ("25 Jun 2026 15:00:00 CEST", datetime(2026, 6, 25, 15, tzinfo=UTC)),
        # A day is meant to its end.
        ("2026-06-25", datetime(2026, 6, 26, tzinfo=UTC)),
    ],
)
def test_the_dates_of_unavailable_after(text: str, moment: datetime) -> None:
    expected = Robots(nofollow=True, unavailable_after=moment.timestamp())
    assert read_directives([f"unavailable_after: {text}, nofollow"]) == expected
    assert read_directives([f"nofollow, unavailable_after: {text}"]) == expected
    assert read_directives([f"unavailable_after: {text}", "nofollow"], may_name=True) == expected
    assert read_directives([f"otherbot: unavailable_after: {text}"], may_name=True) == Robots()
    assert read_directives([f"rdfspider: unavailable_after: {text}", "nofollow"], may_name=True) == expected


def test_the_earliest_of_several_dates_counts() -> None:
    lists = ["unavailable_after: 2027-01-01", "unavailable_after: 2026-01-01, unavailable_after: 2028-01-01"]
    assert read_directives(lists).unavailable_after == datetime(2026, 1, 2, tzinfo=UTC).timestamp()
    assert read_directives(["unavailable_after: 1 Jan 1960"]).unavailable_after > 0


def test_lists_without_end_are_cut() -> None:
    assert read_directives(["x," * 10_000_000 + "noindex"]) == Robots()
    assert read_directives(["nofollow," * 500] * 10_000 + ["noindex"]) == Robots(nofollow=True)


@pytest.mark.parametrize(
    "text",
    [
        "unavailable_after: x" + " " * 9900 + "1",
        "unavailable_after:" * 600,
        "unavailable_after: 25 Jun 2026 15:00:00 x," * 300,
        "none " + " :" * 5000,
        "none " + "a:" * 5000,
    ],
)
def test_no_list_takes_long(text: str) -> None:
    before = time.process_time()
    read_directives([text] * 20, may_name=True)
    assert time.process_time() - before < 1
