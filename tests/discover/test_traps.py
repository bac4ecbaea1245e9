"""Addresses without end, by their structure."""

from datetime import UTC, datetime

import pytest

from rdfspider.discover import traps
from rdfspider.discover.traps import find_trap

SITE = "https://example.org"
FAR = datetime.now(UTC).year + traps.YEARS_AHEAD + 1


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
        "/item?id=5000",
        "/item?id=%3F3F3F3F",
    ],
)
def test_what_is_honest_passes(path: str) -> None:
    assert find_trap(SITE + path) == ""
