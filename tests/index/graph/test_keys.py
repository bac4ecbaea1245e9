"""Keys: every URL comes back as it was, and neighbours are near each other."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rdfspider.index.graph.keys import find_host, make_key, read_host, read_key, read_keys

PARTS = st.tuples(
    st.sampled_from(["http", "https", "ftp", "HTTP"]),
    st.sampled_from(["", "me@", "me:pw@", "@", "s@", "a)b,c@", "ü@"]),
    st.sampled_from(
        [
            "a.test",
            "www.a.test",
            "[::1]",
            "192.168.0.1",
            "localhost",
            "a..b",
            ".",
            "xn--x1",
            "a.b.",
            "A.test",
            "ä.test",
            "a,b",
            "1",
        ]
    ),
    st.sampled_from(["", ":80", ":8080", ":"]),
    st.text(max_size=8).map(lambda text: f"/{text}") | st.sampled_from(["", "?a", "/s/", "//", "/\0\x01", "/#x"]),
)


URLS = st.one_of(PARTS.map(lambda parts: f"{parts[0]}://{''.join(parts[1:])}"), st.text())


@given(URLS)
@example("http://a.test/")
@example("https://s/s")
@example("\0\x01\x02")
@example("http://a.test/\ud800")
def test_every_url_comes_back_exactly(url: str) -> None:
    key = make_key(url)
    assert read_key(key) == url
    assert b"\0" not in key


@given(st.lists(URLS, max_size=20), st.booleans())
@example(["http://a.test/", "", "http://a.test/"], False)
@example(["http://a.test/", "https://a.test/s", "http://a.test/\ud800", "https://a.test:80/", "https://a.test/"], False)
def test_urls_come_back_together_as_they_do_alone(urls: list[str], is_sorted: bool) -> None:
    urls = sorted(urls, key=make_key) if is_sorted else urls
    assert read_keys(list(map(make_key, urls))) == urls


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.org/a?b", b"org,example,www)/a?b"),
        ("https://www.example.org:8443/", b"org,example,www)s:8443/"),
        ("http://192.168.0.1/", b"192.168.0.1)/"),
        ("http://[2001:db8::1]/x", b"[2001:db8::1])/x"),
        ("https://me:pw@a.test/x", b"test,a)s@me:pw/x"),
        ("ftp://a.test/", b"!ftp://a.test/"),
    ],
)
def test_keys(url: str, key: bytes) -> None:
    assert make_key(url) == key


def test_a_host_is_one_range_and_a_domain_too() -> None:
    urls = [
        f"http{secure}://{user}{host}{port}/{path}"
        for secure in ("", "s")
        for user in ("", "me@")
        for host in ("a.test", "b.a.test", "a-b.test", "aa.test", "z.test")
        for port in ("", ":8080")
        for path in ("", "~", "!", "zz")
    ]
    keys = sorted(map(make_key, urls))
    hosts = [read_host(find_host(key)) for key in keys]
    runs = [host for before, host in zip(["", *hosts], hosts, strict=False) if host != before]
    assert len(runs) == len(set(runs)) == 5
    assert abs(runs.index("a.test") - runs.index("b.a.test")) == 1
