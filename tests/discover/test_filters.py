"""Filters of the user's."""

import time

import pytest

from rdfspider.discover.filters import Filters, compile_pattern

URL = "https://www.example.org/en/tea/1"


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


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "(a?){400}c", "(.{0,20}){0,9}c"])
def test_no_pattern_stalls_a_crawl(pattern: str) -> None:
    url = "https://example.org/" + "a" * 1900 + "!"
    filters = Filters((), (pattern,))
    started = time.perf_counter()
    for _ in range(10):
        filters.find_refusal(url)
    assert time.perf_counter() - started < 2


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
