"""All that is on record of one page, from the log of a crawl and from files of others."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from archive.test_log import EXTRACTION, NQUADS, URL, Log, damage, write_several
from index.log.test_foreign import HTML, Warc
from index.log.test_foreign import URL as FOREIGN
from rdfspider import Crawl
from rdfspider.errors import UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log.foreign import add_sources
from rdfspider.records import Judgement, Link, Robots, Verdict
from rdfspider.search.page_record import Payload, read_copy, read_page

LINKS = (Link("http://example.org/cup"), Link(URL))


def make_crawl(folder: Path) -> Crawl:
    return Crawl.create(folder, ["https://example.org/"], contact="me@example.org")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A crawl with some pages, one of which was fetched twice and then not changed."""
    folder = tmp_path_factory.mktemp("pages") / "c"
    crawl = make_crawl(folder)
    log = Log(folder)
    log.write(extraction=replace(EXTRACTION, title="Old"), body=b"<p>old")
    log.write(redirects := Verdict("done", "fetched", 200), chain=("http://example.org/old",))
    log.write(Verdict("done", "unchanged", 304), extraction=None, digest="sha1:x", captured=1.0)
    write_several(log)
    secret = Judgement(directives=("noarchive (meta robots)",), robots=Robots(noarchive=True))
    log.write(url=f"{URL}/secret", judgement=secret)
    log.write(url=f"{URL}/links", extraction=replace(EXTRACTION, links=LINKS))
    log.write(url=f"{URL}/long", extraction=replace(EXTRACTION, statements={"jsonld": NQUADS * 1000}, text="é" * 1000))
    log.publish()
    assert redirects.status == 200
    crawl.index()
    yield folder


def test_a_page_with_all_that_is_on_record(crawl: Path) -> None:
    page = read_page(crawl, URL)
    assert page is not None
    assert (page.url, page.title, page.text) == (URL, "Tea", EXTRACTION.text)
    assert page.statements == EXTRACTION.statements and not page.is_cut
    assert page.problems == EXTRACTION.problems
    assert page.outlinks == ("http://example.org/a", "http://example.org/c", "http://example.org/b")
    outcome = page.outcome
    assert (outcome.status, outcome.media_type, outcome.charset, outcome.etag) == (200, "text/html", "utf-8", '"5"')
    assert (outcome.verdict, outcome.reason, outcome.body_bytes) == ("done", "fetched", 6)
    assert outcome.redirected_from == ("http://example.org/old",)
    assert page.fields["fetchTimeMs"] == "100" and page.fields["http-version"] == "1.1"
    assert not {"", "quads", "problem", "outlink"} & page.fields.keys()
    assert page.entry.digest == outcome.digest and page.entry.time == outcome.time


def test_the_copy_is_the_one_that_says_this(crawl: Path) -> None:
    page = read_page(crawl, URL)
    assert page is not None and page.payload is not None
    copy = read_copy(page.payload)
    assert copy is not None
    assert (copy.page.url, copy.page.body, copy.status) == (URL, b"<p>tea", 200)
    assert copy.header("etag") == '"5"'
    assert len((read_copy(page.payload, 2) or copy).page.body) == 3, "one byte more tells that there is more"


def test_every_page_of_a_crawl_is_found(crawl: Path) -> None:
    for number in range(6):
        page = read_page(crawl, f"{URL}/{number}")
        assert page is not None and page.text == f"page {number}"


def test_of_a_page_that_asks_for_none_there_is_no_copy(crawl: Path) -> None:
    page = read_page(crawl, f"{URL}/secret")
    assert page is not None
    assert (page.payload, page.fields["robots"]) == (None, "noarchive (meta robots)")


def test_statements_and_text_are_bounded_by_whole_lines_and_characters(crawl: Path) -> None:
    page = read_page(crawl, f"{URL}/long", max_bytes=999)
    assert page is not None and page.is_cut
    assert page.statements["jsonld"] == NQUADS * (999 // len(NQUADS.encode()))
    assert page.text == "é" * 499
    whole = read_page(crawl, f"{URL}/long")
    assert whole is not None and not whole.is_cut and len(whole.text) == 1000


def test_an_address_is_made_normal_and_one_that_is_not_indexed_is_none(crawl: Path) -> None:
    page = read_page(crawl, " HTTP://EXAMPLE.org:80/tea ")
    assert page is not None and page.url == URL
    for url in ("http://example.org/nothing", "", "no address", "\udcff", "a" * 100_000):
        assert read_page(crawl, url) is None


def test_in_links_are_the_pages_that_link_to_it(crawl: Path) -> None:
    links = Crawl.open(crawl).indexes.links
    found = links.list_in(URL)
    assert (found.total, [link.url for link in found]) == (1, [f"{URL}/links"])
    found = links.list_in("http://example.org/a#part", limit=3)
    assert found.total == 9 and len(found) == 3
    assert len(links.list_in("http://example.org/a", limit=20, offset=3)) == 6
    assert links.count_in("http://nowhere.test/") == links.count_in("") == 0


def test_a_log_that_is_damaged_or_gone_is_said(tmp_path: Path) -> None:
    crawl, log = make_crawl(tmp_path / "c"), Log(tmp_path / "c")
    write_several(log)
    crawl.index()
    last = read_page(crawl.folder, f"{URL}/5")
    assert last is not None and last.payload is not None
    (facts,) = log.warc.glob("*-facts-*")
    whole = facts.read_bytes()
    damage(facts, last.outcome.offset)
    with pytest.raises(UsageError, match=rf"{facts} at {last.outcome.offset} cannot be read"):
        read_page(crawl.folder, f"{URL}/5")
    assert read_page(crawl.folder, f"{URL}/1") is not None
    facts.write_bytes(whole[: last.outcome.offset])
    with pytest.raises(UsageError, match=rf"does not have {URL}/5 at {last.outcome.offset} any more: make it again"):
        read_page(crawl.folder, f"{URL}/5")
    facts.unlink()
    with pytest.raises(UsageError, match=f"{facts}: No such file"):
        read_page(crawl.folder, f"{URL}/5")
    damage(last.payload.path, last.payload.offset)
    with pytest.raises(UsageError, match="cannot be read"):
        read_copy(last.payload)
    with pytest.raises(UsageError, match="ends before"):
        read_copy(last.payload._replace(offset=10**9))


def test_what_is_not_committed_is_not_read(tmp_path: Path) -> None:
    crawl, log = make_crawl(tmp_path / "c"), Log(tmp_path / "c")
    write_several(log)
    crawl.index()
    page = read_page(crawl.folder, f"{URL}/5")
    assert page is not None
    path = log.warc / "committed"
    path.write_text(path.read_text().replace(str(page.outcome.end), str(page.outcome.offset)))
    with pytest.raises(UsageError, match="any more"):
        read_page(crawl.folder, f"{URL}/5")


def index_file(folder: Path, path: Path) -> Path:
    crawl = make_crawl(folder)
    add_sources(IndexPaths(folder), [path])
    crawl.index()
    return folder


def test_a_page_of_a_file_from_elsewhere_is_read_again(tmp_path: Path) -> None:
    warc = Warc(tmp_path / "other.warc.gz")
    warc.add(url="http://example.org/other")
    offset = warc.add()
    warc.add(url="http://example.org/secret", headers=(("Content-Type", "text/html"), ("X-Robots-Tag", "noarchive")))
    folder = index_file(tmp_path / "c", warc.path)
    page = read_page(folder, FOREIGN)
    assert page is not None
    assert (page.title, page.outcome.status, page.entry.offset) == ("Tea", 200, offset)
    assert "Assam" in page.statements["jsonld"]
    assert page.payload == Payload(warc.path, offset)
    copy = read_copy(page.payload)
    assert copy is not None and copy.page.body == HTML
    secret = read_page(folder, "http://example.org/secret")
    assert secret is not None and (secret.payload, secret.fields["robots"]) == (None, "noarchive (X-Robots-Tag)")
    assert "payload-at" not in page.fields and "depth" not in page.fields
    warc.path.unlink()
    with pytest.raises(UsageError, match="No such file"):
        read_page(folder, FOREIGN)


def test_records_that_share_a_compressed_member_are_told_apart(tmp_path: Path) -> None:
    plain = Warc(tmp_path / "plain.warc", is_compressed=False)
    for name in ("a", "tea", "b"):
        plain.add(HTML.replace(b"Tea", name.encode()), url=f"http://example.org/{name}")
    packed = tmp_path / "packed.warc.gz"
    packed.write_bytes(gzip.compress(plain.path.read_bytes()))
    folder = index_file(tmp_path / "c", packed)
    for name in ("a", "tea", "b"):
        page = read_page(folder, f"http://example.org/{name}")
        assert page is not None and page.title == name


def test_the_facts_of_another_crawl_are_read_as_they_are(crawl: Path, tmp_path: Path) -> None:
    (facts,) = crawl.glob("shards/000/warc/*-facts-*")
    page = read_page(index_file(tmp_path / "c", facts), URL)
    own = read_page(crawl, URL)
    assert page is not None and own is not None
    assert (page.statements, page.problems, page.payload) == (own.statements, own.problems, own.payload)
