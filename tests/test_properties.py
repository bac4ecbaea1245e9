"""What holds for every page, tried on mutations of real ones: no exception, valid N-Quads, the same answer twice."""

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

import rdfspider

URL = "http://example.org/dir/page?q=1"

# Pieces that are likely to hit a seam of some syntax.
PIECES = [
    b"<", b">", b'"', b"'", b"&", b"&#x0;", b"\0", b"\xff", b"\xed\xa0\x80", b"<!--", b"-->", b"<![CDATA[", b"</script>",
    b"<template>", b"<base href='http://[::1'>", b" itemscope ", b" itemref='a b' ", b" itemprop='name http://a b' ",
    b" property='og:title a:b _:c [d]' ", b" vocab='x y' ", b" prefix='a: http://a.example/ b:' ", b" typeof ",
    b" rel='a:b license' ",
    b" resource='[_:x]' ", b" datatype='xsd:date' ", b" inlist ", b" about='http://a b/{}%' ", b" lang='x y' ",
    b" class='h-card p-name u-url dt-start e-content vcard hentry' ", b"<script type=application/ld+json>", b'{"@context":"http://schema.org",',
    b'"@id":"_:b"', b'"@type":["a",null,1]', b"\\ud800", b"<?xml version='1.0'?>", b"<svg>", b"<math>", b"<time datetime=2024>",
]  # fmt: skip
TYPES = (
    "text/html application/xhtml+xml application/xml application/ld+json text/turtle text/n3 application/rdf+xml "
    "application/rss+xml application/n-quads image/svg+xml application/trig"
).split()


def check(body: bytes, content_type: str | None) -> None:
    first = rdfspider.extract(body, URL, content_type, about_page=True)
    second = rdfspider.extract(body, URL, content_type, about_page=True)
    assert first == second
    assert "internal-error" not in {problem.code for problem in first.problems}, first.problems
    nquads = first.to_nquads()
    quads = list(pyoxigraph.parse(nquads.encode(), RdfFormat.N_QUADS))
    assert len(quads) == nquads.count("\n")
    assert all(quad.graph_name == pyoxigraph.NamedNode(URL) for quad in quads)


@given(
    st.lists(st.sampled_from(PIECES) | st.binary(max_size=6), max_size=40).map(b"".join),
    st.sampled_from([None, *TYPES]),
)
@settings(max_examples=400)
def test_made_up_pages(body: bytes, content_type: str | None) -> None:
    check(body, content_type)


@pytest.fixture(scope="session")
def small_pages(corpus: Path) -> list[bytes]:
    entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
    chosen = sorted((entry for entry in entries if len(entry["has"]) >= 3), key=lambda entry: entry["bytes"])[:40]
    return [gzip.decompress((corpus / entry["file"]).read_bytes()) for entry in chosen]


@given(st.integers(0, 2**32))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_mutated_real_pages(small_pages: list[bytes], seed: int) -> None:
    chance = random.Random(seed)
    body = bytearray(chance.choice(small_pages))
    for _ in range(chance.randint(1, 30)):
        place = chance.randrange(len(body))
        action = chance.randrange(4)
        if action == 0:
            body[place:place] = chance.choice(PIECES)
        elif action == 1:
            del body[place : place + chance.randint(1, 200)]
        elif action == 2:
            body[place] = chance.randrange(256)
        else:
            end = min(len(body), place + chance.randint(1, 500))
            body[place:place] = body[place:end]
    check(bytes(body), chance.choice([None, "text/html", "application/xhtml+xml"]))


def test_the_answer_does_not_hang_on_the_process(small_pages: list[bytes], tmp_path: Path) -> None:
    """Sets and dicts of strings differ in order from process to process; what leaves must not."""
    for number, body in enumerate(small_pages[:20]):
        (tmp_path / f"{number:02}.html").write_bytes(body)
    code = (
        "import pathlib, sys, rdfspider\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
        f"    found = rdfspider.extract(path.read_bytes(), {URL!r}, about_page=True)\n"
        "    print(found.to_nquads(), found.links, found.problems)\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code, tmp_path],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


def test_every_real_page_gives_valid_nquads(corpus: Path) -> None:
    with_data = 0
    for line in (corpus / "index.jsonl").read_text().splitlines():
        entry = json.loads(line)
        found = rdfspider.extract(
            gzip.decompress((corpus / entry["file"]).read_bytes()), entry["url"] or "http://example.org/", "text/html"
        )
        nquads = found.to_nquads()
        assert sum(1 for _ in pyoxigraph.parse(nquads.encode(), RdfFormat.N_QUADS)) == nquads.count("\n")
        assert "internal-error" not in {problem.code for problem in found.problems}, (entry["file"], found.problems)
        with_data += bool(nquads)
    assert with_data >= 516, "pages whose index says that they hold structured data"
