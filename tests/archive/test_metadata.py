import re
from pathlib import Path

import pytest
from msgspec.structs import fields

from rdfspider.archive.metadata import FIELD_NAMES, read_metadata, read_payload_position, write_metadata
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.archive.segments import Position
from rdfspider.records import Link, Problem

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "archive.md"


def test_every_field_is_documented() -> None:
    section = DOCUMENT.read_text().partition("## Fields of a metadata record")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`([\w-]+)`", row.split("|")[1])} | {"via-id"}
    assert documented == set(FIELD_NAMES)


FULL = Outcome(
    url="http://a.example/" + "x" * 13_000,
    time=1.0,
    source="",
    offset=0,
    end=0,
    effect=Effect.TOUCH,
    verdict="failed",
    reason="timeout",
    rule="Disallow: /",
    status=301,
    error="timeout",
    error_message="too slow",
    depth=0,
    found_as="link",
    via="http://a.example/",
    via_id=5,
    redirected_from=("http://b.example/", "http://c.example/"),
    attempts=2,
    fetch_ms=0,
    http_version="2",
    content_type="text/html",
    etag='"5"',
    last_modified="yesterday",
    x_robots_tag="noindex: of all",
    link='<http://f.example/>; rel="next"',
    body_bytes=0,
    wire_bytes=7,
    truncated="length",
    digest="sha1:A",
    unchanged="server-not-modified",
    payload=Position("x-pages-000001.warc.gz", 12),
    target="http://d.example/",
    directives="noindex (X-Robots-Tag), nofollow (meta robots)",
    duplicate="near",
    duplicate_of="http://e.example/",
    media_type="text/html",
    charset="utf-8",
    language="en",
    title="Tea",
    canonical="http://f.example/",
    problems=(Problem("json-repaired", "a comma was missing", "jsonld", 2), Problem("charset", "it lies")),
    outlinks=("http://d.example/", "http://g.example/", "http://h.example/"),
    relations={"http://h.example/": "nofollow"},
    anchors={"http://g.example/": "Green tea"},
)
NOT_IN_RECORD = {"time", "source", "offset", "end", "effect", "statements", "text", "due", "content"}


def test_what_is_written_is_read_back() -> None:
    block = write_metadata(FULL, [Link("http://g.example/", text="Green tea"), Link("http://h.example/", "nofollow")])
    attributes = {field.name for field in fields(Outcome)} - NOT_IN_RECORD
    assert read_metadata(block) == {name: getattr(FULL, name) for name in attributes}


def test_what_is_not_known_is_not_written() -> None:
    bare = Outcome("http://a.example/", 1.0, "", 0, 0, Effect.TOUCH, reason="disallowed")
    assert write_metadata(bare, ()) == b"verdict: done\r\nreason: disallowed\r\n"


@pytest.mark.parametrize(
    ("block", "position"),
    [
        (
            b"verdict: done\r\npayload-at: x-pages-000001.warc.gz 12\r\ntitle: a\r\n",
            Position("x-pages-000001.warc.gz", 12),
        ),
        (b"verdict: done\r\ntitle: payload-at: x 12\r\n", None),
        (b"verdict: done\r\npayload-at: x\r\n", None),
        (b"", None),
    ],
)
def test_the_position_of_a_body_is_read_back(block: bytes, position: Position | None) -> None:
    assert read_payload_position(block) == position
