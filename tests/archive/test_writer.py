"""The records of each outcome, as FastWARC and warcio read them."""

import base64
import dataclasses
import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from msgspec.structs import replace
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from warcio.cli import main as warcio

import rdfspider
from rdfspider import extract
from rdfspider.archive.reader import read_archive
from rdfspider.archive.segments import read_committed
from rdfspider.archive.warc import compute_digest
from rdfspider.archive.warc_file import Damage
from rdfspider.archive.writer import ArchiveWriter, Written
from rdfspider.config import ArchiveConfig
from rdfspider.records import (
    Capture,
    Extraction,
    Failure,
    Finished,
    Judgement,
    Lease,
    Link,
    Page,
    Problem,
    Robots,
    Verdict,
)

URL = "http://example.org/tea?cup=1"
BODY = b"<title>Tea</title>" + b"<p>leaf</p>" * 50
NQUADS = f'<{URL}> <http://purl.org/dc/terms/title> "Tea" <{URL}> .\n'
EXTRACTION = Extraction(
    URL,
    "text/html",
    "utf-8",
    {"rdfa": NQUADS, "meta": NQUADS + NQUADS.replace("Tea", "Té"), "jsonld": ""},
    (Link("http://example.org/a"), Link("http://example.org/a"), Link("http://example.org/b", "nofollow", "B", True)),
    "Tea\u2028time\nWARC-Type: response",
    "en",
    "Leaves, té",
    Robots(noindex=True),
    "http://example.org/tea",
    (Problem("json-repaired", "a comma\r\nwas missing", "jsonld", 2),),
)
DONE = Verdict("done", "fetched", 200)


class Found(NamedTuple):
    """A record that was read back."""

    kind: str
    headers: dict[str, str]
    block: bytes

    @property
    def fields(self) -> list[tuple[str, str]]:
        lines = self.block.decode().removesuffix("\r\n").split("\r\n")
        return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]

    @property
    def http(self) -> tuple[str, list[str], bytes]:
        head, _, body = self.block.partition(b"\r\n\r\n")
        first, *headers = head.decode("latin-1").split("\r\n")
        return first, headers, body


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shards" / "warc"


def make_lease(**values: object) -> Lease:
    return Lease(**{"kind": "page", "host": "example.org", "host_number": 1, "url": URL, "depth": 2, **values})


def make_capture(body: bytes = BODY, status: int = 200, **values: object) -> Capture:
    facts = {
        "page": Page(URL, body, "text/html"),
        "status": status,
        "reason": "OK",
        "http_version": "1.1",
        "headers": (("Content-Type", "text/html"), ("ETag", '"5"')),
        "request_headers": (("User-Agent", "rdfspider"), ("Accept", "text/html")),
        "address": "192.0.2.7",
        "started": 1_700_000_000.123456,
        "duration_s": 0.25,
        "wire_bytes": 99,
    }
    return Capture(**facts | values)


def open_archive(folder: Path, keep: str = "structured", committed: dict[str, int] | None = None) -> ArchiveWriter:
    return ArchiveWriter(
        folder,
        ArchiveConfig(keep=keep),
        prefix="x-000",
        info={"software": "test/1", "operator": "me"},
        committed=committed,
    )


def write(
    folder: Path,
    exchange: Capture | Failure | None,
    extraction: Extraction | None = None,
    lease: Lease | None = None,
    verdict: Verdict = DONE,
    keep: str = "structured",
    via: str = "",
    judgement: Judgement | None = None,
) -> Written:
    """Write one outcome into an archive of its own."""
    archive = open_archive(folder, keep)
    written = archive.write_outcome(
        Finished(lease or make_lease(), verdict, exchange, extraction, judgement=judgement or Judgement()), via
    )
    archive.flush()
    archive.sync()
    archive.publish()
    archive.close()
    check_with_warcio(folder)
    return written


def check_with_warcio(folder: Path) -> None:
    paths = sorted(map(str, folder.glob("*.warc.gz")))
    with pytest.raises(SystemExit) as ended:
        warcio(["check", *paths])
    assert ended.value.code in (0, None)


def assert_digest(record: Found) -> None:
    """A response has the digest of its body, any other record that of its block."""
    is_response = record.kind == "response"
    digested = record.block.partition(b"\r\n\r\n")[2] if is_response else record.block
    name = "WARC-Payload-Digest" if is_response else "WARC-Block-Digest"
    assert record.headers[name] == "sha1:" + base64.b32encode(hashlib.sha1(digested).digest()).decode()


def read_records(folder: Path, kind: str) -> list[Found]:
    """All records of the segments of a kind, their digests verified."""
    found = []
    for path in sorted(folder.glob(f"*-{kind}-*")):
        for record in ArchiveIterator(io.BytesIO(path.read_bytes()), parse_http=False):
            headers = dict(record.headers)
            found.append(Found(headers["WARC-Type"], headers, record.reader.read()))
            assert_digest(found[-1])
            assert len(found[-1].block) == int(headers["Content-Length"])
    return found


def read_facts(folder: Path) -> dict[str, str]:
    """The fields of the only metadata record."""
    (metadata,) = (record for record in read_records(folder, "facts") if record.kind == "metadata")
    return dict(metadata.fields)


def test_a_page_has_all_its_records(folder: Path) -> None:
    written = write(folder, make_capture(), EXTRACTION)
    info, response, request = read_records(folder, "pages")
    facts_info, metadata, rdfa, meta, text = read_records(folder, "facts")
    assert [record.kind for record in (info, response, request)] == ["warcinfo", "response", "request"]
    assert [record.kind for record in (metadata, rdfa, meta, text)] == ["metadata", *["conversion"] * 3]
    assert info.headers["WARC-Filename"] == "x-000-pages-000001.warc.gz"
    assert (
        dict(info.fields).items() >= {"software": "test/1", "operator": "me", "format": "WARC File Format 1.1"}.items()
    )
    assert facts_info.headers["WARC-Filename"] == written.position.segment
    for record in (response, request, metadata, rdfa, meta, text):
        assert record.headers["WARC-Target-URI"] == URL
        assert record.headers["WARC-Date"] == "2023-11-14T22:13:20.123456Z"
    assert (
        len({record.headers["WARC-Record-ID"] for record in (info, facts_info, response, request, metadata, rdfa)}) == 6
    )


def test_the_exchange_is_kept_as_it_was(folder: Path) -> None:
    written = write(folder, make_capture(), EXTRACTION)
    _, response, request = read_records(folder, "pages")
    assert request.http == (
        "GET /tea?cup=1 HTTP/1.1",
        ["Host: example.org", "User-Agent: rdfspider", "Accept: text/html"],
        b"",
    )
    assert response.http == (
        "HTTP/1.1 200 OK",
        ["Content-Type: text/html", 'ETag: "5"', f"Content-Length: {len(BODY)}"],
        BODY,
    )
    assert request.headers["WARC-Concurrent-To"] == response.headers["WARC-Record-ID"]
    assert request.headers["WARC-IP-Address"] == response.headers["WARC-IP-Address"] == "192.0.2.7"
    assert response.headers["WARC-Identified-Payload-Type"] == "text/html"
    assert response.headers["WARC-Payload-Digest"] == compute_digest(BODY) == written.digest
    assert written.captured == 1_700_000_000.123456


def test_what_was_extracted_is_kept(folder: Path) -> None:
    write(folder, make_capture(), EXTRACTION)
    response = read_records(folder, "pages")[1]
    _, metadata, rdfa, meta, text = read_records(folder, "facts")
    assert metadata.headers["WARC-Concurrent-To"] == response.headers["WARC-Record-ID"]
    assert [record.headers["WARC-Refers-To"] for record in (rdfa, meta, text)] == [
        response.headers["WARC-Record-ID"]
    ] * 3
    assert [record.headers.get("X-Crawler-Syntax") for record in (rdfa, meta, text)] == ["rdfa", "meta", None]
    assert rdfa.headers["Content-Type"] == "application/n-quads"
    assert (rdfa.block.decode(), meta.block.decode()) == (NQUADS, EXTRACTION.statements["meta"])
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert text.block.decode() == "Leaves, té"


def test_the_metadata_tell_all_that_is_known(folder: Path) -> None:
    lease = make_lease(via=7, found_as="redirect", attempts=1, chain=("http://a.example/", "http://b.example/"))
    written = write(folder, make_capture(truncated="length"), EXTRACTION, lease, via="http://example.org/from")
    metadata = next(record for record in read_records(folder, "facts") if record.kind == "metadata")
    assert metadata.fields == [
        ("verdict", "done"),
        ("reason", "fetched"),
        ("status", "200"),
        ("depth", "2"),
        ("found-as", "redirect"),
        ("via", "http://example.org/from"),
        ("redirected-from", "http://a.example/"),
        ("redirected-from", "http://b.example/"),
        ("attempts", "1"),
        ("fetchTimeMs", "250"),
        ("http-version", "1.1"),
        ("content-type", "text/html"),
        ("etag", '"5"'),
        ("body-bytes", str(len(BODY))),
        ("wire-bytes", "99"),
        ("truncated", "length"),
        ("payload-digest", written.digest),
        ("payload-at", f"x-000-pages-000001.warc.gz {find_offset(folder, 'response')}"),
        ("media-type", "text/html"),
        ("charset", "utf-8"),
        ("language", "en"),
        ("title", "Tea time WARC-Type: response"),
        ("canonical", "http://example.org/tea"),
        ("quads", "rdfa 1"),
        ("quads", "meta 2"),
        ("problem", "json-repaired 2 jsonld a comma was missing"),
        ("outlink", "http://example.org/a L a/@href"),
        ("outlink", "http://example.org/b L */@href rel=nofollow"),
        ("anchors", "\tB"),
    ]


def test_the_metadata_tell_what_decided_and_what_a_page_repeats(folder: Path) -> None:
    judgement = Judgement(
        directives=("noarchive (meta robots)",), duplicate="canonical", original="http://example.org/tea"
    )
    rule = "unavailable_after 2010-06-25T23:00:00Z (meta robots)"
    write(folder, make_capture(), EXTRACTION, verdict=replace(DONE, reason="noindex", rule=rule), judgement=judgement)
    (fields,) = (dict(record.fields) for record in read_records(folder, "facts") if record.kind == "metadata")
    assert (fields["reason"], fields["rule"]) == ("noindex", rule)
    assert (fields["robots"], fields["duplicate"]) == ("noarchive (meta robots)", "canonical")
    assert fields["duplicate-of"] == "http://example.org/tea"


@pytest.mark.parametrize("robots", [Robots(noarchive=True), Robots(noindex=True)])
@pytest.mark.parametrize("keep", ["all", "structured"])
def test_a_body_that_is_not_to_be_kept_is_not(folder: Path, keep: str, robots: Robots) -> None:
    written = write(folder, make_capture(), EXTRACTION, keep=keep, judgement=Judgement(robots=robots))
    assert [record.kind for record in read_records(folder, "facts")][1:3] == ["metadata", "conversion"]
    assert (written.captured, list(folder.glob("*-pages-*"))) == (0.0, [])


def test_a_page_that_asks_for_no_copy_only_now_is_told_anew(folder: Path) -> None:
    """So that the newest that tells what it says leads to no copy; from then on nothing has changed."""
    lease = make_lease(digest=compute_digest(BODY), captured=1_700_000_000.0)
    judgement = Judgement(robots=Robots(noarchive=True))
    written = write(folder / "now", make_capture(), EXTRACTION, lease, judgement=judgement)
    facts = read_facts(folder / "now")
    assert (written.captured, "unchanged" in facts, "payload-at" in facts) == (0.0, False, False)
    assert [record.kind for record in read_records(folder / "now", "facts")][2:] == ["conversion"] * 3
    lease = make_lease(digest=written.digest, captured=written.captured)
    write(folder / "later", make_capture(), EXTRACTION, lease, judgement=judgement)
    assert read_facts(folder / "later")["unchanged"] == "identical-payload-digest"


def find_offset(folder: Path, kind: str) -> int:
    """Where the first record of a kind begins among the pages."""
    with (folder / "x-000-pages-000001.warc.gz").open("rb") as file:
        records = WarcioIterator(file)
        return next(records.get_record_offset() for record in records if record.rec_type == kind)


def test_the_position_is_that_of_the_metadata(folder: Path) -> None:
    archive = open_archive(folder)
    written = [archive.write_outcome(Finished(make_lease(), DONE, make_capture(), EXTRACTION)) for _ in range(3)]
    archive.flush()
    archive.close()
    for segment, offset in (page.position for page in written):
        record = next(iter(ArchiveIterator(io.BytesIO((folder / segment).read_bytes()[offset:]))))
        assert record.record_type == WarcRecordType.metadata


@pytest.mark.parametrize(
    ("keep", "has_quads", "is_kept"),
    [
        ("structured", True, True),
        ("structured", False, False),
        ("all", True, True),
        ("all", False, True),
        ("none", True, False),
    ],
)
def test_only_bodies_that_are_wanted_are_kept(folder: Path, keep: str, has_quads: bool, is_kept: bool) -> None:
    extraction = EXTRACTION if has_quads else Extraction(URL, "text/html", statements={"rdfa": ""}, text="Leaves")
    written = write(folder, make_capture(), extraction, keep=keep)
    assert len(read_records(folder, "pages")) == (3 if is_kept else 0)
    assert bool(written.captured) == is_kept
    assert written.digest == compute_digest(BODY)
    metadata, *conversions = read_records(folder, "facts")[1:]
    assert len(conversions) == (3 if has_quads else 1)
    assert ("WARC-Concurrent-To" in metadata.headers) == is_kept
    if not is_kept:
        assert {record.headers["WARC-Refers-To"] for record in conversions} == {metadata.headers["WARC-Record-ID"]}


def test_a_page_of_roles_alone_is_not_kept_as_structured_but_its_statements_are(folder: Path) -> None:
    extraction = rdfspider.extract(b'<nav role="navigation">Menu</nav>', url=URL)
    assert not write(folder, make_capture(), extraction).captured
    assert any(b"vocab#role" in record.block for record in read_records(folder, "facts"))


def test_an_equal_payload_is_a_revisit(folder: Path) -> None:
    first = write(folder / "1", make_capture(), EXTRACTION)
    lease = make_lease(digest=first.digest, captured=first.captured)
    again = write(folder / "2", make_capture(started=1_800_000_000.5), EXTRACTION, lease)
    _, revisit, request = read_records(folder / "2", "pages")
    assert (revisit.kind, request.kind) == ("revisit", "request")
    assert (
        revisit.headers.items()
        >= {
            "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            "WARC-Refers-To-Target-URI": URL,
            "WARC-Refers-To-Date": "2023-11-14T22:13:20.123456Z",
            "WARC-Date": "2027-01-15T08:00:00.500000Z",
            "WARC-Payload-Digest": first.digest,
            "WARC-Truncated": "length",
        }.items()
    )
    assert revisit.http[0::2] == ("HTTP/1.1 200 OK", b"")
    assert again[1:] == first[1:]
    assert read_facts(folder / "2")["unchanged"] == "identical-payload-digest"
    assert [record.kind for record in read_records(folder / "2", "facts")] == ["warcinfo", "metadata"]


def test_not_modified_is_a_revisit(folder: Path) -> None:
    lease = make_lease(digest=compute_digest(BODY), captured=1_700_000_000.0, etag='"5"')
    capture = make_capture(b"", 304, reason="Not Modified", headers=(("ETag", '"5"'), ("Content-Length", "568")))
    written = write(folder, capture, None, lease, Verdict("done", "unchanged", 304))
    revisit = read_records(folder, "pages")[1]
    assert revisit.headers["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert revisit.headers["WARC-Refers-To-Date"] == "2023-11-14T22:13:20.000000Z"
    assert revisit.http == ("HTTP/1.1 304 Not Modified", ['ETag: "5"', "X-Crawler-Content-Length: 568"], b"")
    assert written[1:] == (lease.digest, lease.captured)
    assert read_facts(folder)["unchanged"] == "server-not-modified"


@pytest.mark.parametrize("keep", ["structured", "all", "none"])
def test_there_is_no_revisit_of_what_was_not_kept(folder: Path, keep: str) -> None:
    lease = make_lease(digest=compute_digest(BODY))
    write(folder / "304", make_capture(b"", 304), None, lease, keep=keep)
    assert read_records(folder / "304", "pages") == []
    write(folder / "same", make_capture(), EXTRACTION, lease, keep=keep)
    kinds = [record.kind for record in read_records(folder / "same", "pages")]
    assert kinds == ([] if keep == "none" else ["warcinfo", "response", "request"])
    conversions = [record.kind for record in read_records(folder / "same", "facts")][2:]
    assert len(conversions) == (0 if keep == "none" else 3)


@pytest.mark.parametrize(("status", "is_noindex"), [(200, True), (404, False)])
def test_what_takes_a_page_away_is_nothing_that_it_is_unchanged_from(
    folder: Path, status: int, is_noindex: bool
) -> None:
    without_data = dataclasses.replace(EXTRACTION, statements={})
    judgement = Judgement(robots=Robots(noindex=is_noindex))
    gone = write(folder / "gone", make_capture(status=status), without_data, judgement=judgement)
    lease = make_lease(digest=gone.digest, captured=gone.captured)
    write(folder / "back", make_capture(), without_data, lease)
    assert "unchanged" not in read_facts(folder / "back")
    assert [record.kind for record in read_records(folder / "back", "facts")][2:] == ["conversion"]


def test_a_changed_payload_is_a_response(folder: Path) -> None:
    write(folder, make_capture(), EXTRACTION, make_lease(digest=compute_digest(b"other"), captured=1.0))
    assert read_records(folder, "pages")[1].kind == "response"
    assert "unchanged" not in read_facts(folder)


def test_a_failure_is_on_record(folder: Path) -> None:
    failure = Failure(URL, "tls", "certificate\r\nexpired: yes", 1.5, 1_700_000_000.0, "2001:db8::1")
    written = write(folder, failure, None, None, Verdict("failed", "tls", 0, "tls"))
    metadata = read_records(folder, "facts")[1]
    assert dict(metadata.fields) == {
        "verdict": "failed",
        "reason": "tls",
        "error": "tls",
        "error-message": "certificate expired: yes",
        "fetchTimeMs": "1500",
        "depth": "2",
    }
    assert metadata.headers["WARC-IP-Address"] == "2001:db8::1"
    assert metadata.headers["WARC-Date"] == "2023-11-14T22:13:20.000000Z"
    assert written[1:] == ("", 0.0)


def test_a_url_that_was_never_asked_for_is_on_record(folder: Path) -> None:
    write(folder, None, None, make_lease(via=9), Verdict("failed", "disallowed"))
    metadata = read_records(folder, "facts")[1]
    assert metadata.fields == [("verdict", "failed"), ("reason", "disallowed"), ("depth", "2"), ("via-id", "9")]
    assert "WARC-IP-Address" not in metadata.headers


def test_a_redirect_tells_where_it_leads(folder: Path) -> None:
    capture = make_capture(b"", 301, headers=(("Location", "../x y#z"),))
    write(folder, capture, None, None, Verdict("done", "redirect", 301), keep="all")
    assert read_facts(folder)["outlink"] == "http://example.org/x%20y R Location:"
    assert read_records(folder, "pages")[1].headers["WARC-Payload-Digest"] == compute_digest(b"")


@pytest.mark.parametrize(("truncated", "word"), [("time", "time"), ("unwanted", "unspecified")])
def test_a_body_that_is_not_whole_is_no_measure_for_later_ones(folder: Path, truncated: str, word: str) -> None:
    body = b"" if truncated == "unwanted" else b"ab"
    assert write(folder, make_capture(body, truncated=truncated), None, keep="all").digest == ""
    assert read_records(folder, "pages")[1].headers["WARC-Truncated"] == word


def test_what_a_page_embeds_is_told_apart_from_links(folder: Path) -> None:
    write(folder, make_capture(), dataclasses.replace(EXTRACTION, links=(Link("http://z.example/", "iframe"),)))
    outlinks = [value for name, value in read_records(folder, "facts")[1].fields if name == "outlink"]
    assert outlinks == ["http://z.example/ E iframe/@src"]


HOSTILE = "x\r\n\r\nWARC/1.1\r\nWARC-Type: warcinfo\0\x85\u2028\ud800\x1b\n"


def test_hostile_values_stay_on_their_lines(folder: Path) -> None:
    lease = make_lease(url=f"http://example.org/{HOSTILE}", chain=(HOSTILE,), found_as=HOSTILE)
    capture = make_capture(
        headers=((f"X-{HOSTILE}", HOSTILE), ("", "nameless"), ("Content-Type", HOSTILE), ("etag", HOSTILE)),
        reason=HOSTILE,
        request_headers=((HOSTILE, HOSTILE),),
    )
    extraction = Extraction(
        HOSTILE,
        HOSTILE,
        HOSTILE,
        {"rdfa": NQUADS},
        (Link(HOSTILE), Link("http://a.example/", HOSTILE)),
        HOSTILE,
        HOSTILE,
        HOSTILE,
        canonical=HOSTILE,
        problems=(Problem("a", HOSTILE),),
    )
    write(folder, capture, extraction, lease, Verdict("done", HOSTILE, 200, HOSTILE), via=HOSTILE)
    pages, facts = read_records(folder, "pages"), read_records(folder, "facts")
    assert [record.kind for record in pages + facts] == [
        *("warcinfo", "response", "request"),
        *("warcinfo", "metadata", "conversion", "conversion"),
    ]
    assert pages[1].http[2] == BODY
    assert pages[2].http[2] == b""
    assert all(name and not name.startswith("WARC") for name, _ in facts[1].fields)


def test_a_long_url_fits_into_a_header_that_readers_take(folder: Path) -> None:
    url = "http://example.org/" + "a" * 100_000
    lease = make_lease(url=url, digest=compute_digest(BODY), captured=1.0)
    write(folder, make_capture(page=Page(url, BODY)), EXTRACTION, lease)
    assert [record.kind for record in read_records(folder, "pages")] == ["warcinfo", "revisit", "request"]
    assert read_facts(folder)["url"] == url


def test_only_what_is_synced_is_published(folder: Path) -> None:
    archive = open_archive(folder)
    archive.write_outcome(Finished(make_lease(), DONE, make_capture(), EXTRACTION))
    archive.flush()
    assert sum(archive.positions().values()) > 0
    archive.publish()
    assert read_committed(folder) == {}
    archive.sync()
    first = archive.positions()
    archive.write_outcome(Finished(make_lease(), DONE, make_capture(), EXTRACTION))
    archive.flush()
    archive.publish()
    assert read_committed(folder) == first != archive.positions()
    archive.close()


def test_real_pages_are_read_back_as_they_were(folder: Path, corpus: Path) -> None:
    entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()][:20]
    archive = open_archive(folder, "all")
    expected = []
    for number, entry in enumerate(entries):
        page = Page(f"http://example.org/{number}", gzip.decompress((corpus / entry["file"]).read_bytes()), "text/html")
        capture = make_capture(
            page=page,
            headers=(("Content-Type", "text/html"), ("Content-Encoding", "br"), ("Transfer-Encoding", "chunked")),
        )
        archive.write_outcome(Finished(make_lease(url=page.url), DONE, capture, extract(page.body, page.url)))
        expected.append(page)
    archive.flush()
    archive.sync()
    archive.publish()
    archive.close()
    check_with_warcio(folder)
    items = list(read_archive(folder / "x-000-pages-000001.warc.gz"))
    assert [item for item in items if isinstance(item, Page)] == expected
    assert not any(isinstance(item, Damage) for item in items)
