"""`Link` headers, as RFC 8288 has them and as servers write them."""

import time

import pytest

from rdfspider.discover.link_headers import read_link_headers
from rdfspider.records import Link

BASE = "http://example.org/dir/page"


def read(*values: str) -> list[Link]:
    return read_link_headers([("LINK", value) for value in values], BASE)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<x>; rel=next", ("http://example.org/dir/x", "next", "")),
        ('</x>; rel="next archives"; title="a, <b>; \\"c\\""', ("http://example.org/x", "next archives", "")),
        (
            '<//o.org/x> ; REL = "alternate" ; TYPE = "Text/Turtle; charset=utf-8"',
            ("http://o.org/x", "alternate", "text/turtle"),
        ),
        ("<x>; title*=UTF-8''%e2%82%ac; rel=next; rel=prev", ("http://example.org/dir/x", "next", "")),
        ("<x>;;rel=next;", ("http://example.org/dir/x", "next", "")),
        ("junk, <x>; rel=next", ("http://example.org/dir/x", "next", "")),
    ],
)
def test_a_link_has_a_target_a_relation_and_a_type(value: str, expected: tuple[str, str, str]) -> None:
    assert [(link.target, link.relation, link.media_type) for link in read(value)] == [expected]


def test_several_links_in_several_headers() -> None:
    found = read('<1>; rel=next; title="a,b", <2,3>; rel=alternate', "<4>; rel=prev,<5>;rel=canonical")
    assert [link.target.rpartition("/")[2] for link in found] == ["1", "2,3", "4", "5"]


@pytest.mark.parametrize(
    "value",
    [
        "</a.css>; rel=preload; as=style",
        "<http://cdn.org>; rel=preconnect",
        "<x>",
        "<x>; rel",
        '<x>; rel="next nofollow"',
        "<mailto:a@b.org>; rel=next",
        "<x>; rel=next; anchor='#other'",
        '<x>; rel=alternate; type="application/json+oembed"',
        "x; rel=next",
    ],
)
def test_what_is_not_followed(value: str) -> None:
    assert read(value) == []


def test_headers_without_end_are_cut_in_time() -> None:
    started = time.process_time()
    assert len(read(*["<x>; rel=next"] * 100_000)) == 1000
    for hostile in ("<" * 1_000_000, "<x>" + ";" * 1_000_000, '<x>; rel="' + "\\" * 1_000_000, "<x>; a=b " * 100_000):
        read(hostile)
    assert time.process_time() - started < 10
