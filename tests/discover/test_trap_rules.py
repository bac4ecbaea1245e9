"""Addresses without end, by their structure."""

import time
from datetime import UTC, datetime

import pytest

from rdfspider.discover import trap_rules
from rdfspider.discover.trap_rules import find_trap

SITE = "https://example.org"
FAR = datetime.now(UTC).year + trap_rules.YEARS_AHEAD + 1


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/" + "x" * 2000, "trap: URL length (2,020 characters)"),
        ("/" + "/".join(map(str, range(25))), "trap: path depth (25 segments)"),
        ("/a/b/a/c/a/d/a", "trap: repeated segment (/a)"),
        ("/a/a/a/a", "trap: repeated segment (/a)"),
        ("/x/a/b/a/b/a/b", "trap: repeated segments (/a/b)"),
        ("/a/b/c/a/b/c/a/b/c/", "trap: repeated segments (/a/b/c)"),
        ("/?" + "&".join(f"p{number}=1" for number in range(13)), "trap: parameters (13 of them)"),
        ("/?tag=a&x=1&tag=b&tag=c", "trap: repeated parameter (tag)"),
        ("/login?to=/login?to=/login?to=/login?to=/", "trap: nested queries (3 of them)"),
        ("/login?to=%2Flogin%3Fto%3D%252Flogin%253Fto%253D%25252Flogin%25253Fto", "trap: nested queries (3 of them)"),
        (f"/calendar/{FAR}/05", f"trap: calendar (the year {FAR})"),
        (f"/events/{FAR}-05-01", f"trap: calendar (the year {FAR})"),
        (f"/plan?month={FAR}-05", f"trap: calendar (the year {FAR})"),
        (f"/plan?view=1&startDate={FAR}0501", f"trap: calendar (the year {FAR})"),
        (f"/cal?year={FAR}&month=1", f"trap: calendar (the year {FAR})"),
        ("/kalender/1845/05", "trap: calendar (the year 1845)"),
        ("/calendar/3024/05", "trap: calendar (the year 3024)"),
        ("/calendar/0999/05", "trap: calendar (the year 999)"),
        ("/events/9999-05-01", "trap: calendar (the year 9999)"),
        (f"/calendar/{FAR}", f"trap: calendar (the year {FAR})"),
        (f"/Calendar/{FAR}/", f"trap: calendar (the year {FAR})"),
        (f"/calendar?m=5&y={FAR}", f"trap: calendar (the year {FAR})"),
        (f"/calendar?month=05-{FAR}", f"trap: calendar (the year {FAR})"),
        (f"/calendar?month=5%2F{FAR}", f"trap: calendar (the year {FAR})"),
        (f"/kal?date=01.05.{FAR}", f"trap: calendar (the year {FAR})"),
        (f"/calendar/{FAR}-W05", f"trap: calendar (the year {FAR})"),
        (f"/calendar/may-{FAR}", f"trap: calendar (the year {FAR})"),
        (f"/events/{FAR}/may", f"trap: calendar (the year {FAR})"),
        ("/list?year=1848&month=5", "trap: calendar (the year 1848)"),
        ("/?a=1;a=2;a=3", "trap: repeated parameter (a)"),
    ],
)
def test_each_rule(path: str, trap: str) -> None:
    assert find_trap(SITE + path) == trap


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/" + "x" * 1900,
        "/" + "/".join(map(str, range(24))),
        "/tiles/0/0/0.png",
        "/a/a/a",
        "/a/b/a/b",
        "/2024/05/05/05/title",
        "//a//b//c//d//e",
        "/?" + "&".join(f"p{number}=1" for number in range(12)),
        "/?tag=a&tag=b",
        "/login?to=%2Flist%3Fpage%3D2",
        f"/calendar/{FAR - 1}/05",
        "/calendar/2019/05",
        "/archive/1845/05/a-newspaper",
        "/products/4711/",
        "/events/4711-a-title",
        "/events/4711/",
        "/calendar/4711",
        f"/in-the-year-{FAR}",
        "/events/1848-revolution",
        "/events/march-1848-revolution",
        "/events/4711-10-years-of-tea",
        "/events/4711/2",
        "/calendar/1848",
        "/works?year=1848",
        f"/events/tea-in-{FAR}",
        "/events?date=1700000000",
        "/calendar/event-12345",
        "/calendar?id=2345",
        "/list?ids=1;2;3;4;5;6;7;8;9;10;11;12;13;14",
        "/item?id=5000",
        "/item?id=%3F3F3F3F",
    ],
)
def test_what_is_honest_passes(path: str) -> None:
    assert find_trap(SITE + path) == ""


@pytest.mark.parametrize(
    "part", ["/cal", "calendar", "1", "1/1/", "2099", "-2099-0", "may-", "date", "year", "%2f", ";a"]
)
def test_no_url_takes_long(part: str) -> None:
    urls = [f"{SITE}/calendar?date={part * (1900 // len(part))}{end}" for end in range(50)]
    started = time.thread_time()
    for url in urls:
        find_trap(url)
    assert time.thread_time() - started < 0.5
