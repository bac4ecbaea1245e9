"""Shapes of URLs: what looks alike, and the patterns of many together."""

import pytest

from rdfspider.frontier.learning.url_patterns import find_pattern, widen_path, widen_query


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", "/"),
        ("/about", "/*"),
        ("/calendar/2024/05", "/calendar/0/0"),
        ("/calendar/2024-05-03/", "/calendar/0/"),
        ("/news/2024/05/03/a-long-title", "/news/0/0/0/**"),
        ("/products/blue-widget-12.html", "/products/*.html"),
        ("/news/12345.HTML", "/news/0.html"),
        ("/category/shoes/", "/category/*/"),
        ("/user/alice/posts/12", "/user/alice/*/0"),
        ("/x/5f3759df-aaaa-bbbb/1?a=1&a=2&b", "/x/*/0?a&b"),
        ("/calendar.php?year=2024&month=5", "/calendar.php?month&year"),
        ("/calendar?2024-05", "/calendar?0"),
        ("/?p=12", "/?p"),
        ("/a/b/c/d", "/a/b/*/*"),
        ("/a/b/c/d/e/f/g", "/a/b/*/*/**"),
        ("//x//y", "/*/x/*/*"),
    ],
)
def test_urls_that_look_alike_have_one_pattern(path: str, pattern: str) -> None:
    assert find_pattern("https://a.org" + path) == find_pattern("http://b.example:8080" + path) == pattern


def test_patterns_of_hostile_urls_are_short() -> None:
    query = "&".join(f"p{number}x=1" for number in range(2000))
    assert len(find_pattern("https://a.org/" + "a" * 4000 + "/" + "b/" * 1000 + "?" + query)) < 100
    assert find_pattern("https://a.org/x?" + "&".join("abcdefgh")) == "/x?a&b&c&d&e&f"


def test_wider_patterns() -> None:
    assert widen_path("/shop/*/0") == widen_path("/shop/0") == "/shop/…"
    assert widen_path("/about") == widen_path("/") == "…"
    assert widen_query("/shop?a&b") == widen_query("/shop?b&c&d") == "/shop?…"
    assert widen_query("/shop?a") == "/shop?a"
