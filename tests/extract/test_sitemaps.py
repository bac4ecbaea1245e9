"""Sitemaps as they are found on the web, and those that mean harm."""

import gzip
import time

import pytest

import rdfspider
from rdfspider.extract.sitemaps import MAX_LISTED
from rdfspider.records import Extraction, Link

URL = "http://example.org/sitemap.xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def extract(body: bytes | str, content_type: str | None = "application/xml", url: str = URL) -> Extraction:
    return rdfspider.extract(body.encode() if isinstance(body, str) else body, url, content_type)


def test_a_list_of_pages_with_what_it_says_of_each() -> None:
    found = extract(
        f"""<?xml version="1.0" encoding="UTF-8"?>
        <urlset xmlns="{NAMESPACE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
          <!-- a comment -->
          <url><loc> http://example.org/1?a=1&amp;b=2 </loc><lastmod>1970-01-02T00:00:10+00:00</lastmod><priority>0.8</priority>
            <image:image><image:loc>http://example.org/image.png</image:loc></image:image><image:loc>http://no.org/</image:loc></url>
          <url><loc><![CDATA[http://example.org/2]]></loc><lastmod>1970-02</lastmod><priority>0.2</priority></url>
          <url><loc>/3</loc><lastmod>yesterday</lastmod><priority>NaN</priority></url>
          <url><lastmod>1970-01-02</lastmod></url>
        </urlset>"""
    )
    assert found.links == (
        Link("http://example.org/1?a=1&b=2", "listed", rank=-1, modified=86_410.0),
        Link("http://example.org/2", "listed", rank=1, modified=31 * 86_400.0),
        Link("http://example.org/3", "listed"),
    )
    assert not found.statements


@pytest.mark.parametrize(
    "text",
    [
        "<sitemapindex><sitemap><loc>http://example.org/1</loc></sitemap></sitemapindex>",
        f"<s:sitemapindex xmlns:s='{NAMESPACE}'><s:sitemap><s:loc>http://example.org/1</s:loc></s:sitemap></s:sitemapindex>",
        f"<sitemapindex xmlns='{NAMESPACE}'><sitemap><loc>http://example.org/1</loc></sitemap>",
    ],
)
def test_a_list_of_lists(text: str) -> None:
    assert extract(text).links == (Link("http://example.org/1", "sitemap"),)


def test_text_with_an_address_a_line() -> None:
    text = "\ufeffhttp://example.org/1\r\n\r\n  https://example.org/2  \nhttp://example.org/3"
    for content_type in ("text/plain", "application/octet-stream", None):
        found = extract(text, content_type, "http://example.org/list")
        assert [link.target[-1] for link in found.links] == ["1", "2", "3"]
    assert extract("http://example.org/1\nis a page", "text/plain").links == ()


@pytest.mark.parametrize(
    "content_type", ["application/gzip", "application/x-gzip", "application/octet-stream", "text/xml"]
)
def test_packed_lists(content_type: str) -> None:
    body = f"<urlset xmlns='{NAMESPACE}'><url><loc>http://example.org/1</loc></url></urlset>".encode()
    for packed in (gzip.compress(body), gzip.compress(body[:30]) + gzip.compress(body[30:]), gzip.compress(body)[:-9]):
        found = extract(packed, content_type, "http://example.org/sitemap.xml.gz")
        assert found.links == (Link("http://example.org/1", "listed"),)
    assert (
        len(extract(gzip.compress(b"http://example.org/1\n"), content_type, "http://example.org/1.txt.gz").links) == 1
    )
    assert extract(gzip.compress(b"<html><a href=/>x</a>"), content_type).links == ()
    assert extract(gzip.compress(gzip.compress(body)), content_type).links == ()
    assert extract(b"\x1f\x8bnot so", content_type).links == ()


def test_what_the_protocol_does_not_allow_is_cut() -> None:
    text = "<urlset>" + "".join(f"<url><loc>/{number}</loc></url>" for number in range(MAX_LISTED + 5)) + "</urlset>"
    found = extract(text)
    assert len(found.links) == MAX_LISTED
    assert [problem.code for problem in found.problems] == ["too-many-links"]
    lines = "".join(f"http://example.org/{number}\n" for number in range(MAX_LISTED + 5))
    assert len(extract(lines, "text/plain", "http://example.org/list.txt").links) == MAX_LISTED


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "' + b"&a;" * 1000 + b'"><!ENTITY c "' + b"&b;" * 1000 + b'">]>'
        b"<urlset><url><loc>http://example.org/&c;&c;</loc></url></urlset>",
        b"<urlset>" + b"<url>" * 1_000_000,
        b"<urlset>" + b"<url><loc>" * 100_000,
        gzip.compress(b"<urlset><url><loc>http://example.org/1</loc></url>" + bytes(300_000_000), 1),
        b"http://" + b"a" * 5_000_000,
        b"<urlset " + b"a='b' " * 500_000,
    ],
    ids=["entities", "deep", "deeper", "bomb", "long", "attributes"],
)
def test_hostile_lists_end_soon(body: bytes) -> None:
    started = time.process_time()
    extract(body, None)
    assert time.process_time() - started < 10


def test_a_feed_leads_to_its_items_and_pages() -> None:
    found = extract(
        """<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><link href="/"/><link rel="self" href="/feed"/>
        <link rel="next" href="?page=2"/><link rel="hub" href="http://hub.org/"/>
        <entry><id>urn:1</id><link href="http://other.org/1"/><updated>1970-01-02T00:00:00Z</updated>
          <link rel="enclosure" href="/1.mp3"/><link rel="replies" href="/1/replies"/></entry></feed>""",
        "application/atom+xml",
        "http://example.org/feed",
    )
    assert set(found.links) == {
        Link("http://example.org/"),
        Link("http://example.org/feed?page=2", "next"),
        Link("http://other.org/1", "item", modified=86_400.0),
    }


def test_an_rss_feed_leads_to_its_items() -> None:
    rss = "<rss><channel><link>http://example.org/</link><item><guid>http://example.org/1</guid></item></channel></rss>"
    found = extract(rss, "application/rss+xml")
    assert [(link.target, link.relation) for link in found.links] == [
        ("http://example.org/", ""),
        ("http://example.org/1", "item"),
    ]
