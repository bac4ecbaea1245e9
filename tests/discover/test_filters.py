"""Filters of the user's."""

import random
import time

import pytest

from rdfspider.discover.filters import Filters, compile_pattern, find_fault

URL = "https://www.example.org/en/tea/1"
_PATHS = ("", "x", "y", "xy", "yy", "?x", "^http", "b|a")


@pytest.mark.parametrize(
    "pattern",
    [
        r"^https?://a\.test/",
        r"^https*://a",
        r"^http?://a",
        r"^http{0,1}s://a",
        r"^http{0}s?",
        r"^http://a\.test/x?y",
        r"^https://a\.test/x{0}y",
        r"^https://b|a\.test",
        r"^(?i)HTTPS?://A\.TEST/",
        r"^http(?i)S://A",
        r"^https?://a.test/",
        r"^https?://a\.test/(x|y)y",
        r"\^http",
        r"^https?:\/\/a\.test\/\?x",
    ],
)
def test_what_a_url_begins_with_decides_nothing_that_the_expression_would_not(pattern: str) -> None:
    urls = [f"{scheme}://{host}.test/{path}" for scheme in ("http", "https") for host in "ab" for path in _PATHS]
    search = compile_pattern(pattern).search
    taken = [url for url in urls if not Filters([pattern], []).find_refusal(url)]
    assert taken == [url for url in urls if search(url.encode())]


def test_include_and_exclude_look_anywhere_in_the_url() -> None:
    filters = Filters(("/tea", "/cups"), (r"\?print=",))
    assert filters.find_refusal(URL) == ""
    assert filters.find_refusal("https://www.example.org/coffee") == "filter: no --include matches"
    assert filters.find_refusal(f"{URL}?print=1") == r"filter: --exclude \?print="


def test_patterns_do_not_share_their_groups_and_flags() -> None:
    filters = Filters((r"/(?P<word>tea)", r"(?i)/(?P<word>[CD])x"), ())
    assert not filters.find_refusal("https://www.example.org/tea")
    assert not filters.find_refusal("https://www.example.org/cX")
    assert filters.find_refusal("https://www.example.org/TEA")


@pytest.mark.parametrize(
    "patterns",
    [
        ["(a+)+$"],
        ["(a|aa)+$"],
        ["(.*)*x"],
        ["(a?){400}c"],
        ["(.{0,20}){0,9}c"],
        ["(.*a){15}"],
        ["[0-9a-f]{32}"],
        [f"/word{number}/" for number in range(100)],
        [
            r"/\d{4}/\d{2}/",
            r"(?i)[?&](print|utm_\w+)=",
            r"^https?://(www\.)?example\.(org|com)/[^/]+/[a-z0-9-]+$",
            r"\.pdf$",
        ],
    ],
)
def test_no_filter_that_is_allowed_stalls_a_crawl(patterns: list[str]) -> None:
    """A tenth of the links that a page may have, each of the greatest length."""
    assert find_fault(patterns) is None
    filters = Filters((), patterns)
    chance = random.Random(1)
    parts = ("a", "ax", "abc", "a1f0", "ab/1-", "/word1/2024/05?print=1&")
    urls = [f"https://example.org/{''.join(chance.choices(part, k=1975))}{end}" for end in range(167) for part in parts]
    started = time.thread_time()
    for url in urls:
        filters.find_refusal(url)
    assert time.thread_time() - started < 1


@pytest.mark.parametrize(
    "pattern",
    [
        "[ab].{200}c$",
        r"\d.{100}c$",
        "/(de|fr)/.{0,50}print",
        "(a|b)*a(a|b){20}",
        r"^https://example\.com/(a|b)*a(a|b){20}",
        "[ab][abc]" + "[abc]" * 30 + "$",
    ],
)
def test_a_filter_that_would_be_slow_is_refused(pattern: str) -> None:
    fault = find_fault(["/tea/", pattern])
    assert fault is not None
    assert fault[0] == pattern
    assert fault[1].startswith("it is too slow")


def test_there_is_a_limit_to_all_filters_together() -> None:
    many = find_fault([f"/{number}/" for number in range(101)])
    assert many == ("/100/", "it is one of 101, and 100 are allowed")
    large = find_fault([f"{letter}{{150}}" for letter in "abcdefghijklmnopq"])
    assert large is not None
    assert "too large" in large[1]
    slow = find_fault([f"{letter}.{{{number}}}c$" for letter in "abcd" for number in range(1, 9)])
    assert slow is not None
    assert "all together are too slow" in slow[1]


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("(", "missing )"),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("a(?=b)", "invalid perl operator: (?="),
        ("(?<!a)b", "invalid perl operator: (?<!"),
        ("(.{500}){2}", "it is too large|repetition size"),
        ("(.*a){900}", "it is too large"),
    ],
)
def test_what_cannot_be_searched_for_is_told(pattern: str, complaint: str) -> None:
    with pytest.raises(ValueError) as told:
        compile_pattern(pattern)
    assert any(part in str(told.value) for part in complaint.split("|"))
