import re
from pathlib import Path

import pytest

from rdfspider.archive import outcomes
from rdfspider.archive.outcomes import read_payload_position, write_links
from rdfspider.archive.segments import Position
from rdfspider.records import Link

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "archive.md"


def test_every_field_is_documented() -> None:
    section = DOCUMENT.read_text().partition("## Fields of a metadata record")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`([\w-]+)`", row.split("|")[1])} | {"via-id"}
    source = Path(outcomes.__file__).read_text()
    written = set(re.findall(r'(?:yield|\[\()[\s(]*"([\w-]+)"', source)) | {"payload-at"}
    assert documented == written


def test_outlinks_are_told_once_and_with_what_is_known_of_them() -> None:
    links = [
        Link("http://a.example/", text="one"),
        Link("http://a.example/", text="two"),
        Link("http://a.example/", "nofollow  noopener"),
        Link("http://b.example/", "frame"),
        Link("http://b.example/", "x" * 5000),
    ]
    assert write_links(links).decode().splitlines() == [
        "outlink: http://a.example/ L a/@href",
        "outlink: http://a.example/ L */@href rel=nofollow  noopener",
        "outlink: http://b.example/ E frame/@src",
        f"outlink: http://b.example/ L */@href rel={'x' * 100}",
    ]
    assert write_links([]) == b""


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\u2028"])
def test_no_outlink_makes_lines_of_its_own(end: str) -> None:
    links = [
        Link("http://a.example/"),
        Link(f"http://b.example/{end}verdict: done"),
        Link("http://c.example/", f"x{end}y: z"),
    ]
    assert write_links(links).count(b"\r\n") == len(write_links(links).decode().splitlines()) == 3


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
