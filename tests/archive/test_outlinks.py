"""Links and their texts are read as they were written, whatever a page wrote, and as other tools wrote them."""

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdfspider import extract
from rdfspider.archive.metadata import read_metadata
from rdfspider.archive.outlinks import MAX_ANCHOR_CHARS, PageLinks, describe_links, separate_links, write_links
from rdfspider.records import Link
from rdfspider.ways import is_unfollowed

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


def test_links_are_written_once_and_with_what_is_known_of_them() -> None:
    links = [
        Link(A, text="one"),
        Link(A, text="two"),
        Link(A, "nofollow  noopener"),
        Link(B, "frame"),
        Link(B, "x" * 5000),
        Link(C, text="three"),
    ]
    assert write_links(links).decode().splitlines() == [
        f"outlink: {A} L a/@href",
        f"outlink: {C} L a/@href",
        f"outlink: {A} L */@href rel=nofollow  noopener",
        f"outlink: {B} E frame/@src",
        f"outlink: {B} L */@href rel={'x' * 100}",
        "anchors: one\tthree\t",
    ]
    assert write_links([]) == b""


def test_links_are_read_as_they_were_written() -> None:
    links = [Link(A, text="one"), Link(B, "nofollow", "two", nofollow=True), Link(C), Link(A), Link(C, "iframe")]
    assert describe_links(links) == PageLinks((A, C, B), {B: "nofollow"}, {A: "one", B: "two"}, "")
    assert describe_links([Link(B, "iframe")]) == PageLinks((B,), {B: "iframe"}, {}, "")
    assert describe_links([]) == PageLinks((), {}, {}, "")


@pytest.mark.parametrize(
    ("links", "text"),
    [
        ([Link(A), Link(A, text="x"), Link(A, text="y")], "x"),
        # An icon is no text.
        ([Link(A, text="\ue313"), Link(A, text="\u200b"), Link(A, text="x")], "x"),
        ([Link(A, "nofollow", "x"), Link(A, "nofollow", "y")], "x"),
        ([Link(A), Link(A, "nofollow", "x")], "x"),
        # The title of a `link` element is not on the page.
        ([Link(A, "alternate", "x", is_title=True)], ""),
        ([Link(A, "alternate", "x", is_title=True), Link(A, "alternate", "y")], "y"),
        ([Link(A, "alternate", "x\0", is_title=True), Link(B, text="y\0")], ""),
        ([Link(A, text="a" * 200)], "a" * 80),
        ([Link(A, text="a" * 79 + " " + "b" * 20)], "a" * 79),
        ([Link(A, text="ä" * 79 + "\0 b")], "ä" * 79),
        ([Link(A, text="  two\t\twords\r\nof \u2028 tea ")], "two words of tea"),
        # Joiners are parts of words and of emoji.
        ([Link(A, text="می\u200cخواهم")], "می\u200cخواهم"),
        ([Link(A, text="👩\u200d👩")], "👩\u200d👩"),
    ],
)
def test_the_first_text_of_a_target_counts(links: list[Link], text: str) -> None:
    assert describe_links(links).anchors.get(A, "") == text


@pytest.mark.parametrize(
    ("relations", "merged"),
    [
        (["nofollow"], "nofollow"),
        (["nofollow", "ugc nofollow"], "nofollow ugc"),
        (["NoFollow", ""], ""),
        (["", "sponsored"], ""),
        (["", "noopener"], "noopener"),
        (["nofollow", "noopener"], "noopener"),
        (["noopener", "nofollow", "ugc"], "noopener"),
        (["next", "canonical", "next"], "next canonical"),
        (["iframe", ""], ""),
        (["frame", "next"], "next"),
        (["nofollow", "iframe"], "iframe"),
        (["iframe", "frame"], "iframe"),
        (["x" * 60, "y" * 60, "z"], f"{'x' * 60} z"),
        (["x" * 200 + " NoFollow ugc ugc"], f"nofollow ugc {'x' * 87}"),
    ],
)
def test_a_target_is_not_followed_if_none_of_its_links_is(relations: list[str], merged: str) -> None:
    found = describe_links([Link(B), *(Link(A, relation, "tea") for relation in relations), Link(C, "nofollow")])
    assert found.relations == ({A: merged} if merged else {}) | {C: "nofollow"}
    assert found.anchors == {A: "tea"}
    assert set(found.outlinks) == {A, B, C}


ENDS = ["\n", "\r", "\r\n", "\u2028", "\x85", "\x0b", "\x1c", "\0", "\ud800"]


@pytest.mark.parametrize("end", ENDS)
def test_no_link_makes_lines_of_its_own(end: str) -> None:
    links = [
        Link(A, text=f"x{end}title: y"),
        Link(f"http://b.example/{end}verdict: done"),
        Link(C, f"x{end}y: z", f"a{end}{end}outlink: http://evil.example/ L a/@href"),
    ]
    block = write_links(links)
    lines = block.decode().splitlines()
    assert block.count(b"\r\n") == len(lines) == 4
    assert [line.partition(":")[0] for line in lines] == ["outlink"] * 3 + ["anchors"]
    assert not read_metadata(block).keys() - {"outlinks", "relations", "anchors"}


HOSTILE = [
    "a\tb",
    "\t",
    "\r\nanchors: evil",
    "\r\noutlink: http://evil.example/ R Location:",
    "\ud800\udfff",
    "\u202eevil\u2066\u061c",
    "\x00\x1b[31m\x7f",
    "\x85\u2028\u2029",
    "x" * 10_000_000,
    " \t\r\n" * 1000,
    "\u200d" * 500,
    "🫖" * 500,
    "anchors: ",
]


def test_hostile_texts_stay_with_their_links() -> None:
    links = [Link(f"http://{number}.example/", "ugc" * (number % 2), text) for number, text in enumerate(HOSTILE)]
    links += [Link(A, text="last")]
    found = separate_links(write_links(links))
    assert found[0] == [""]
    assert set(found[1].outlinks) == {link.target for link in links}
    assert found[1].target == ""
    assert found[1].anchors[A] == "last"
    assert found[1].anchors["http://0.example/"] == "a b"
    assert found[1].anchors["http://5.example/"] == "evil"
    assert found[1].anchors["http://6.example/"] == "[31m"
    for text in found[1].anchors.values():
        assert 0 < len(text) <= MAX_ANCHOR_CHARS
        assert text == " ".join(text.split())
        assert not re.search("[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def test_many_links_are_bounded() -> None:
    links = [Link(f"http://a.example/{number}", "nofollow" * (number % 3 == 0), "x" * 500) for number in range(100_000)]
    # A target has no more relations for being linked often.
    links += [Link(A, f"relation{number}", "\0") for number in range(100_000)]
    block = write_links(links)
    assert len(block) < 100_000 * (80 + 1 + 60) + 100_000 * 60
    found = separate_links(block)[1]
    assert len(found.outlinks) == 100_001
    assert len(found.anchors) == 100_000
    assert {len(text) for text in found.anchors.values()} == {MAX_ANCHOR_CHARS}
    assert len(found.relations[A]) <= 100


def test_records_without_texts_are_read() -> None:
    block = f"verdict: done\r\noutlink: {A} L a/@href\r\noutlink: {B} L a/@href\r\noutlink: {C} L */@href rel=next\r\n"
    found = read_metadata(block.encode())
    assert found == {"verdict": "done", "outlinks": (A, B, C), "relations": {C: "next"}}


def test_records_of_heritrix_are_read() -> None:
    block = (
        f"via: {A}\r\nhopsFromSeed: L\r\nfetchTimeMs: 5\r\noutlink: {A}style.css E link/@href\r\noutlink: {B} L a/@href\r\n"
        f"outlink: {A}x.js X =JS_MISC\r\noutlink: {C} L a/@href\r\noutlink: {C}b R Location:\r\nseed: 1\r\n"
        f"outlink: {C}f E iframe/@src\r\n"
    )
    found = read_metadata(block.encode())
    assert (found["via"], found["fetch_ms"], found["target"]) == (A, 5, f"{C}b")
    assert set(found["outlinks"]) == {f"{A}style.css", f"{A}x.js", B, C, f"{C}b", f"{C}f"}
    assert found["relations"] == {f"{C}f": "iframe"}
    assert "anchors" not in found


def test_a_redirect_is_no_link_with_a_text() -> None:
    block = f"outlink: {A} R Location:\r\nrobots: none\r\n".encode() + write_links(
        [Link(B, text="b"), Link(A, text="a")]
    )
    found = read_metadata(block)
    assert (found["target"], found["outlinks"]) == (A, (A, B))
    assert (found["directives"], found["anchors"]) == ("none", {A: "a", B: "b"})


def test_a_relation_makes_no_redirect() -> None:
    block = write_links([Link(A, "x R Location:")]) + b"other: field\r\n"
    assert read_metadata(block) == {"outlinks": (A,), "relations": {A: "x R Location:"}}


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 15])
def test_texts_that_are_not_whole_are_left_out(cut: int) -> None:
    block = write_links([Link(A, text="one"), Link(B, text="two")])
    assert separate_links(block[:-cut])[1] == PageLinks((A, B), {}, {}, "")


def test_texts_are_left_out_where_links_are_missing() -> None:
    block = write_links([Link(A, text="one"), Link(B, text="two"), Link(C, text="three")])
    lost = block.replace(f"outlink: {B} L a/@href\r\n".encode(), b"")
    assert separate_links(lost)[1] == PageLinks((A, C), {}, {}, "")


def test_texts_of_other_tools_are_cut() -> None:
    block = f"outlink: {A} L a/@href\r\nanchors: {'x' * 1000}\r\nother: field\r\n".encode()
    lines, found = separate_links(block)
    assert found.anchors == {A: "x" * MAX_ANCHOR_CHARS}
    assert "other: field" in lines


WORDS = st.text(st.sampled_from("ab \t\r\n:\0\x85\u2028\u202e\ue313\u200dé🫖")) | st.text(max_size=100)
RELATIONS = st.sampled_from(["", "nofollow", "UGC x", "next", "iframe", "frame"]) | WORDS
LINKS = st.builds(
    Link, st.sampled_from([A, B, C, f"{A}?x=1"]), RELATIONS, WORDS.map(lambda text: " ".join(text.split()))
)


@settings(deadline=None)
@given(st.lists(LINKS, max_size=12))
def test_any_links_are_read_as_they_were_extracted(links: list[Link]) -> None:
    found = read_metadata(b"verdict: done\r\n" + write_links(links))
    assert not found.keys() - {"verdict", "outlinks", "relations", "anchors"}
    assert set(found.get("outlinks", ())) == {link.target for link in links}
    assert found.get("anchors", {}) == read_one_by_one(links)
    for target in found.get("outlinks", ()):
        is_followed = any(not is_unfollowed(link.relation) for link in links if link.target == target)
        assert is_unfollowed(found.get("relations", {}).get(target, "")) != is_followed


def test_texts_of_real_pages_are_read_as_they_were_extracted(corpus: Path) -> None:
    texts = 0
    for entry in [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()][::7]:
        links = extract(gzip.decompress((corpus / entry["file"]).read_bytes()), entry["url"] or A).links
        found = describe_links(links)
        assert set(found.outlinks) == {link.target for link in links}
        assert found.anchors == read_one_by_one(links)
        texts += len(found.anchors)
    assert texts > 5000


def read_one_by_one(links: Sequence[Link]) -> dict[str, str]:
    found: dict[str, str] = {}
    for link in sorted(links, key=lambda link: link.relation != ""):
        text = re.sub(
            "[\ud800-\udfff\u202a-\u202e\u061c\xad\u200b\u200e\u200f\u2060-\u206f\ufeff\ue000-\uf8ff]", "", link.text
        )
        text = "".join(letter for letter in text if letter.isspace() or not re.match("[\0-\x1f\x7f-\x9f]", letter))
        text = " ".join(text.split())[:80].rstrip()
        if text and not link.is_title:
            found.setdefault(link.target, text)
    return found


def test_the_document_tells_how_to_read_them() -> None:
    document = Path(__file__).resolve().parents[2] / "docs" / "archive.md"
    code = document.read_text().partition("`anchors` has a text")[2].partition("```python\n")[2].partition("```")[0]
    block = f"outlink: {A} R Location:\r\n".encode() + write_links([Link(A, text="a"), Link(B), Link(C, "next", "c d")])
    found: dict[str, Any] = {"block": block}
    exec(code, found)
    assert found["texts"] == {A: "a", B: "", C: "c d"}
