"""Pages that are made to hurt: bounded time and memory, no exception, valid N-Quads."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import pyoxigraph
import pytest
from pyoxigraph import RdfFormat

import rdfspider
from rdfspider import Extraction

MEGABYTE = 1024 * 1024
SECONDS = 60
"""Far above what any of these takes on a quiet machine, far below what an unguarded one would take."""

ITEM = "<div itemscope itemtype=http://schema.org/Thing>"
LAUGHS = "".join(
    f'<!ENTITY l{n} "{"&l" + str(n - 1) + ";" if n else "lol"}{("&l" + str(n - 1) + ";") * 9 if n else ""}">'
    for n in range(12)
)
XHTML = '<html xmlns="http://www.w3.org/1999/xhtml">'
LTR = {"@vocab": "http://v.example/", "@direction": "ltr"}
RDF_ROOT = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.example/">'


def jsonld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


PAGES: dict[str, tuple[str, Callable[[], str | bytes]]] = {
    "100,000 nested elements": (
        "text/html",
        lambda: "<div property=p typeof=t itemscope itemprop=i class=h-card>" * 100_000,
    ),
    "100,000 nested formatting elements": ("text/html", lambda: "<b><i><u><p>" * 25_000),
    "100,000 nested XML elements": ("application/xml", lambda: "<a>" * 100_000 + "</a>" * 100_000),
    "100,000 nested XHTML elements": (
        "application/xhtml+xml",
        lambda: (
            '<html xmlns="http://www.w3.org/1999/xhtml">' + "<p property='p'>" * 99_999 + "</p>" * 99_999 + "</html>"
        ),
    ),
    "16 MB of text": ("text/html", lambda: "<p>" + "word " * (16 * MEGABYTE // 5)),
    "16 MB of elements": ("text/html", lambda: "<p class=x>word" * (MEGABYTE)),
    "16 MB of properties": ("text/html", lambda: ITEM + "<b itemprop=p>x" * (MEGABYTE)),
    "16 MB of RDFa": ("text/html", lambda: "<p vocab=http://v.example/ property=p>x</p>" * 400_000),
    "16 MB of links": ("text/html", lambda: "<a rel=license href=/a>x</a>" * 570_000),
    "32 MB": ("text/html", lambda: "<p>" * (32 * MEGABYTE // 3)),
    "a million attributes": ("text/html", lambda: "<p " + " ".join(f"a{n}=1" for n in range(1_000_000)) + ">"),
    "a million RDFa tokens": ("text/html", lambda: f'<p vocab=http://v.example/ property="{"a b " * 500_000}">x'),
    "a million class names": ("text/html", lambda: f'<p class="h-card {"p-name " * 1_000_000}">x'),
    "a million item types": ("text/html", lambda: f'<p itemscope itemtype="{"http://a.example/b " * 500_000}">x'),
    "a long prefix, used often": (
        "text/html",
        lambda: f'<p prefix="a: http://a.example/{"x" * 10_000}">' + "<b property=a:b>x</b>" * 100_000,
    ),
    "megabyte-long attributes": (
        "text/html",
        lambda: f"{ITEM}<a itemprop={'p' * MEGABYTE} property={'q' * MEGABYTE} href={'r' * MEGABYTE}>x",
    ),
    "nested texts": ("text/html", lambda: "<b property=http://p.example/>" * 500 + "word " * MEGABYTE),
    "nested items and texts": ("text/html", lambda: ITEM + "<b itemprop=p>" * 500 + "word " * MEGABYTE),
    "nested microformats": ("text/html", lambda: '<b class="h-card p-name e-note">' * 500 + "word " * MEGABYTE),
    "an itemref cycle": ("text/html", lambda: "<p itemscope itemref=a id=a itemprop=b>" * 1000),
    "items that share an id": (
        "text/html",
        lambda: "<p itemscope itemref=x></p>" * 100_000 + "<div id=x>" + "<b itemprop=a:b>v</b>" * 50_000 + "</div>",
    ),
    "an include cycle": (
        "text/html",
        lambda: (
            "<div class=vcard id=a><a class=include href=#b></a></div><p id=b class=vcard><a class=include href=#a></a></p>"
        ),
    ),
    "includes that multiply": (
        "text/html",
        lambda: (
            "".join(
                f"<p id=i{n}><a class=include href=#i{n + 1}></a><a class=include href=#i{n + 1}></a></p>"
                for n in range(60)
            )
            + "<div class=vcard><a class=include href=#i0></a></div>"
        ),
    ),
    "billion laughs in XML": ("application/xml", lambda: f"<!DOCTYPE r [{LAUGHS}]><r>&l11;</r>"),
    "billion laughs in XHTML": (
        "application/xhtml+xml",
        lambda: f"<!DOCTYPE html [{LAUGHS}]><html><p>&l11;</p></html>",
    ),
    "billion laughs in RDF/XML": (
        "application/rdf+xml",
        lambda: f"<!DOCTYPE r [{LAUGHS}]>{RDF_ROOT}<e:A><e:b>&l11;</e:b></e:A></rdf:RDF>",
    ),
    "billion laughs in a feed": (
        "application/rss+xml",
        lambda: f"<!DOCTYPE r [{LAUGHS}]><rss><channel><title>&l11;</title></channel></rss>",
    ),
    "one big entity, used often": (
        "application/rdf+xml",
        lambda: (
            f'<!DOCTYPE r [<!ENTITY a "{"x" * MEGABYTE}">]>{RDF_ROOT}<e:A><e:b>{"&a;" * 10_000}</e:b></e:A></rdf:RDF>'
        ),
    ),
    "nested RDF/XML": (
        "application/rdf+xml",
        lambda: RDF_ROOT + "<e:A><e:b>" * 50_000 + "</e:b></e:A>" * 50_000 + "</rdf:RDF>",
    ),
    "nested Turtle": ("text/turtle", lambda: "<a:s> <a:p> " + "[ <a:p> " * 100_000 + "1" + "]" * 100_000 + " ."),
    "nested Turtle lists": ("text/turtle", lambda: "<a:s> <a:p> " + "(" * 100_000 + ")" * 100_000 + " ."),
    "nested N3 formulas": ("text/n3", lambda: "{" * 100_000 + "}" * 100_000 + " => {} ."),
    "Turtle prefixes that multiply": (
        "text/turtle",
        lambda: f"@prefix a: <http://a.example/{'x' * 10_000}> .\n" + "a:a a:b a:c .\n" * 500_000,
    ),
    "nested JSON": ("text/html", lambda: jsonld('{"a":' * 100_000 + "1" + "}" * 100_000)),
    "nested JSON arrays": ("text/html", lambda: jsonld("[" * 100_000 + "]" * 100_000)),
    "nested JSON, never closed": ("text/html", lambda: jsonld('{"a":[' * 100_000)),
    "nested JSON document": ("application/ld+json", lambda: '{"@graph":' * 100_000 + "1" + "}" * 100_000),
    "nested JSON-LD lists": (
        "application/ld+json",
        lambda: '{"@context":{"@vocab":"http://v.example/"},"a":' + '{"@list":[' * 50_000 + "]}" * 50_000 + "}",
    ),
    "a wide JSON-LD document": (
        "application/ld+json",
        lambda: json.dumps({"@context": "https://schema.org", "@graph": [{"name": str(n)} for n in range(200_000)]}),
    ),
    "100,000 JSON-LD scripts": ("text/html", lambda: jsonld('{"@context":"http://schema.org","name":"x"}') * 100_000),
    "quotes without end": ("text/html", lambda: jsonld('{"a":"' + '"b' * 500_000)),
    "comments without end": ("text/html", lambda: jsonld("{/*" * 300_000)),
    "braces in a row": ("text/html", lambda: jsonld("{}" * 500_000)),
    "strange numbers": (
        "text/html",
        lambda: jsonld('{"@context":"http://schema.org","a":[1e999,-1e999,' + "9" * 100_000 + ",NaN]}"),
    ),
    "lone surrogates in JSON": (
        "text/html",
        lambda: jsonld(r'{"@context":"http://schema.org","name":"\ud800x\udc00"}'),
    ),
    "lone surrogates": ("text/html", lambda: f"{ITEM}<b itemprop=p>\ud800</b><a href='\udc00' rel=license>x"),
    "NUL bytes": ("text/html", lambda: b"<p\0 property\0=http://p.example/ content=a\0b>\0" * 1000),
    "NUL bytes in XML": ("application/xml", lambda: b"<a\0>\0</a>"),
    "NUL bytes in JSON": ("application/ld+json", lambda: b'{"@context":\0"http://schema.org"\0}'),
    "a wrong charset": ("text/html; charset=utf-16", lambda: "<p property=http://p.example/>é"),
    "bytes of no charset": ("text/html", lambda: bytes(range(256)) * 4000),
    "a random charset name": ("text/html; charset=../../etc/passwd", lambda: "<p>x"),
    "a feed of 200,000 items": (
        "application/rss+xml",
        lambda: "<rss><channel>" + "<item><title>x</title></item>" * 200_000 + "</channel></rss>",
    ),
    "nested feed items": ("application/rss+xml", lambda: "<rss><channel>" + "<item>" * 100_000),
    "megabytes of comments before the root": ("text/html", lambda: "<!-- x -->" * MEGABYTE + "<p>"),
    "comment openers": ("text/html", lambda: "<!--" * (4 * MEGABYTE)),
    "spaces in a doctype": ("application/xml", lambda: "<!DOCTYPE a [" + " " * (10 * MEGABYTE)),
    "N-Triples without line ends": ("application/n-triples", lambda: "<a:a> " * 2_000_000),
    "meta elements without end": ("text/html", lambda: "<meta name='" * MEGABYTE),
    "base after base": ("text/html", lambda: "<base href='/a/'>" * 100_000 + "<a href=x rel=license>x"),
    "statements that might be": ("text/turtle", lambda: '<x:a> <b> "' + '"_:' * 5000),
    "statements that might be, of no type": ("text/plain", lambda: '<x:a> <b> "' + '"_:' * 5000),
    "a long base": ("text/html", lambda: f"<base href=/{'b' * MEGABYTE}/>" + "<a href=p rel=license>x</a>" * 20_000),
    "a base as long as it may be": (
        "text/html",
        lambda: (
            f"<base href=/{'b' * 16_000}/>{ITEM}" + "".join(f"<a href=../{n} itemprop=p>x</a>" for n in range(20_000))
        ),
    ),
    "nested properties in XHTML": (
        "application/xhtml+xml",
        lambda: XHTML + "<b itemprop='p'>" * 50_000 + "</b>" * 50_000 + "</html>",
    ),
    "nested links in XHTML": (
        "application/xhtml+xml",
        lambda: XHTML + "<a href='p'>" * 100_000 + "</a>" * 100_000 + "</html>",
    ),
    "links within table cells": ("text/html", lambda: "<a href=p><table><td>" * 100_000),
    "scripts that need much": (
        "text/html",
        lambda: jsonld(json.dumps({"@context": LTR, "p": [str(n) for n in range(1400)]})) * 200,
    ),
    "300,000 names of one value": ("text/html", lambda: f"<meta name='{' og:t' * 300_000}' content={'x' * 100_000}>"),
    "items that share what they do not own": (
        "text/html",
        lambda: (
            "<div itemscope><div id=big><div itemscope>"
            + "<b itemprop=p>x</b>" * 20_000
            + "</div></div></div>"
            + "<div itemscope itemref=big></div>" * 20_000
        ),
    ),
    "a long namespace": (
        "application/rss+xml",
        lambda: f"<rss xmlns:z='http://z/{'z' * MEGABYTE}'><channel>" + "<z:a>x</z:a>" * 20_000 + "</channel></rss>",
    ),
    "dates that are blanks": (
        "text/html",
        lambda: f"<meta name=robots content='unavailable_after: x{' ' * 9900}1'>" * 100,
    ),
    "SVG within SVG": ("image/svg+xml", lambda: "<svg xmlns='http://www.w3.org/2000/svg'>" * 100_000),
}


@pytest.mark.parametrize("name", PAGES)
def test_time_and_memory_are_bounded(name: str) -> None:
    content_type, make = PAGES[name]
    body = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    found = rdfspider.extract(body, "http://example.org/page", content_type)
    seconds = time.process_time() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert seconds < SECONDS
    assert grown < 2 * MEGABYTE, "kilobytes"
    check_valid(found)
    assert "internal-error" not in {problem.code for problem in found.problems}, found.problems


def check_valid(found: Extraction) -> None:
    """Every line is N-Quads to a strict parser."""
    for nquads in found.statements.values():
        assert sum(1 for _ in pyoxigraph.parse(nquads.encode(), RdfFormat.N_QUADS)) == nquads.count("\n")


def test_entities_reach_no_file() -> None:
    page = "<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
    for content_type, body in (
        ("application/rdf+xml", f"{page}{RDF_ROOT}<e:A><e:b>&x;</e:b></e:A></rdf:RDF>"),
        (
            "application/xhtml+xml",
            f"{page}<html xmlns='http://www.w3.org/1999/xhtml'><p property='http://p.example/'>&x;</p></html>",
        ),
        ("application/rss+xml", f"{page}<rss><channel><title>&x;</title></channel></rss>"),
    ):
        found = rdfspider.extract(body, "http://example.org/", content_type)
        assert "root:" not in found.to_nquads()
        assert found.problems


def test_a_deep_document_does_not_end_the_process() -> None:
    """In a process of its own, since what this guards against is a crash of the interpreter."""
    code = (
        "import rdfspider\n"
        "for kind, body in (('application/ld+json', '{\"a\":' * 5000 + '1' + '}' * 5000), ('text/turtle', '(' * 100000)):\n"
        "    print(rdfspider.extract(body, 'http://example.org/', kind).problems[0].code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2
