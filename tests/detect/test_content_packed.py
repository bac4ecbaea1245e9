"""What is in gzip files, in members of any number and size, and what none may cost."""

import gzip
import os
import time

import pytest

from rdfspider.detect.content import detect_content, unpack
from rdfspider.records import Page

EMPTY = gzip.compress(b"")
LIST = b"<urlset>" + b"<url><loc>http://example.org/1</loc></url>" * 5000
NOISE = os.urandom(200_000)


@pytest.mark.parametrize("content", [b"hi", LIST, NOISE, b"a" * 65_536, b"a" * 131_072], ids=len)
def test_all_that_is_packed_comes_out(content: bytes) -> None:
    packed = gzip.compress(content)
    assert unpack(packed, 1_000_000) == (content, False)
    assert unpack(packed + b"padding", 1_000_000) == (content, False)
    assert unpack(packed + EMPTY + packed, 1_000_000) == (2 * content, False)
    assert unpack(packed, len(content)) == (content, False)
    assert unpack(packed + packed, len(content) + 1) == (content + content[:1], True)


def test_what_is_cut_or_broken_gives_its_beginning() -> None:
    packed = gzip.compress(NOISE)
    for damaged in (packed[:-9], packed[:100_000], packed[:-8] + bytes(8), gzip.compress(NOISE[:70_000]) + packed[:9]):
        found, is_cut = unpack(damaged, 1_000_000)
        assert NOISE.startswith(found)
        assert not is_cut
    assert len(unpack(packed[:100_000], 1_000_000)[0]) > 90_000


def test_blocks_of_any_number_that_is_made_in_earnest() -> None:
    assert unpack(gzip.compress(b"0123456789") * 5000, 1_000_000) == (b"0123456789" * 5000, False)


@pytest.mark.parametrize("member", [EMPTY, gzip.compress(b"x")], ids=["empty", "small"])
def test_members_without_end_are_cut_soon(member: bytes) -> None:
    before = time.process_time()
    found, is_cut = unpack(gzip.compress(LIST) + member * 80_000, 16_000_000)
    unpack(member * 80_000, 65_536)
    assert time.process_time() - before < 1
    assert found.startswith(LIST)
    assert is_cut


def test_a_list_that_is_cut_is_told() -> None:
    page = Page("http://example.org/sitemap.xml.gz", gzip.compress(LIST) + EMPTY * 20_000)
    found = detect_content(page, 16_000_000)
    assert found.kind == "sitemap"
    assert [problem.code for problem in found.problems] == ["body-cut"]
