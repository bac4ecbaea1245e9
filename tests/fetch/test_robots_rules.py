"""Which rule matches a path, and which of several decides."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfspider.fetch.robots_rules import Ruleset, read_target


def allowed(url: str, *lines: str) -> bool:
    pairs = [line.split(" ", 1) for line in lines]
    rules = Ruleset((kind == "allow", value.encode()) for kind, value in pairs)
    rule = rules.find_rule(read_target(url))
    return rule is None or rule.allows


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        # RFC 9309, 2.2.2: the table of paths that are equal.
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ"),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A"),
        # 2.2.3: the special characters, and how they are meant verbatim.
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/file-with-a-%2a.html", "/path/file-with-a-%2A.html"),
        ("/path/foo-%24", "/path/foo-$"),
        ("/path/foo-%24", "/path/foo-%24bar"),
        ("/price-$5", "/price-$5.html"),
        ("/this/path/exactly$", "/this/path/exactly"),
        ("/this/*/exactly", "/this/a/b/exactly?c"),
        ("/a%24$", "/a$"),
        # What no URL can hold is the same as its escape.
        ("/a b|c", "/a%20b%7Cc"),
        ("/a%20b", "/a b"),
        # A wildcard that reaches into a query finds both spellings there.
        ("/*%2Fadmin", "/?next=%2Fadmin"),
        ("/*/admin", "/?next=%2Fadmin"),
        ("/*?*next=/", "/login?next=%2Fhome"),
        # What owners write, though the grammar wants a slash.
        ("private/", "/private/x"),
        ("https://example.org/private", "/private"),
        ("*.gif$", "/a/b.gif"),
        ("*", "/"),
        ("**$", "/anything"),
    ],
)
def test_a_rule_matches_all_spellings(pattern: str, path: str) -> None:
    assert not allowed(f"https://example.org{path}", f"disallow {pattern}")
    assert not allowed(path, f"disallow {pattern}")


@pytest.mark.parametrize("pattern", ["a", "private/a", "https://example.org/private/a", "*a", "*", "%2Fprivate/a"])
def test_only_a_path_allows_what_is_disallowed(pattern: str) -> None:
    assert not allowed("/private/a", "disallow /private", f"allow {pattern}")
    assert not allowed("/a", "disallow /", f"allow {pattern}")
    assert allowed("/private/a", "disallow /private", "allow /private/a")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/a%2Fb", "/a/b"),
        ("/a/b", "/a%2Fb"),
        ("/a%3Fb", "/a?b"),
        ("/a?b%26c", "/a?b&c"),
        ("/a?b%3Dc", "/a?b=c"),
        ("/this/path/exactly$", "/this/path/exactly/not"),
        ("/this/path/exactly$", "/this/path/exactly?not"),
        ("/a*b$", "/ab/"),
        ("/ab*bc$", "/abc"),
        ("/a%24", "/a"),
        ("/a%2A", "/ab"),
        ("/Case", "/case"),
        ("/fish", "/catfish"),
        ("*.gif$", "/a.gif.html"),
        ("/*a*b*c", "/abbac"[::-1]),
    ],
)
def test_a_rule_does_not_match_other_paths(pattern: str, path: str) -> None:
    assert allowed(f"https://example.org{path}", f"disallow {pattern}")


def test_the_longest_rule_decides_and_allow_wins_a_tie() -> None:
    assert not allowed("/example/page/no.gif", "allow /example/page/", "disallow /example/page/no.gif")
    assert allowed("/page", "disallow /page", "allow /page")
    assert allowed("/page", "allow /page", "disallow /page")
    assert allowed("/x/", "disallow /*/", "allow /x/")
    assert not allowed("/x/", "disallow /*/*", "allow /x/")
    assert not allowed("/page", "allow /page", "disallow /page$")
    assert allowed("/page", "disallow /page", "allow /page*")


def test_octets_are_counted_in_the_form_that_is_compared() -> None:
    # Three characters, but nine octets once they are escaped.
    assert not allowed("/ツabcdef", "allow /*abcde", "disallow /ツ")
    assert allowed("/%61%62%63", "disallow /%61%62%63", "allow /abc")


def test_a_file_that_is_not_utf8_matches_both_spellings() -> None:
    rules = Ruleset([(False, b"/caf\xe9")])
    assert rules.find_rule(read_target("/café")) is not None
    assert rules.find_rule(read_target("/caf%E9")) is not None
    assert rules.find_rule(read_target("/cafe")) is None


def test_broken_escapes_and_lone_surrogates_are_plain_text() -> None:
    assert not allowed("/%a%a/index.html", "disallow /%a%a")
    assert not allowed("/100%", "disallow /100%$")
    assert read_target("/\ud800") == "/%ED%A0%80"
    assert read_target("") == "/"
    assert read_target("http://example.org") == "/"
    assert read_target("http://example.org?a=b#c") == "/?a=b"


@pytest.mark.parametrize(
    "pattern", ["/" + "*a" * 100_000 + "*b$", "/" + "a*" * 100_000 + "b", "/" + "*" * 200_000 + "b"]
)
def test_hostile_patterns_take_no_longer_than_their_length(pattern: str) -> None:
    rules = Ruleset([(False, pattern.encode())])
    started = time.process_time()
    assert rules.find_rule("/" + "a" * 5_000) is None
    assert time.process_time() - started < 2


def test_thousands_of_hostile_patterns_disallow_what_would_take_too_long() -> None:
    rules = Ruleset((True, f"/*a*b{number}".encode()) for number in range(30_000))
    started = time.process_time()
    for number in range(20):
        found = rules.find_rule("/" + "a" * 8_000 + str(number))
        assert found is not None
        assert not found.allows
    assert time.process_time() - started < 2
    assert rules.find_rule("/usual") is None


@given(st.lists(st.tuples(st.booleans(), st.text("/ab*$", max_size=7)), max_size=6), st.text("/ab$*", max_size=9))
def test_verdicts_are_those_of_regular_expressions(lines: list[tuple[bool, str]], path: str) -> None:
    lines = [(allows, f"/{pattern}") for allows, pattern in lines]
    found = Ruleset((allows, pattern.encode()) for allows, pattern in lines).find_rule(read_target(f"/{path}"))
    matching = [(octets(pattern), allows) for allows, pattern in lines if to_regex(pattern).match(f"/{path}")]
    assert (found and (found.octets, found.allows)) == max(matching, default=None)


def to_regex(pattern: str) -> re.Pattern[str]:
    start, end = (pattern[:-1], r"\Z") if pattern.endswith("$") else (pattern, "")
    return re.compile(".*".join(map(re.escape, start.split("*"))) + end, re.DOTALL)


def octets(pattern: str) -> int:
    """A dollar sign that is not at the end means itself, and is written as three octets."""
    return len(pattern) + 2 * pattern[:-1].count("$")
