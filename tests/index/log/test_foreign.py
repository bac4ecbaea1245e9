"""WARC files of other tools become outcomes as if their pages had been crawled."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.warc_file import Damage
from rdfspider.archive.writer import ArchiveWriter
from rdfspider.config import ArchiveConfig, ExtractConfig
from rdfspider.errors import UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log.foreign import add_sources, list_sources, read_foreign, read_sources
from rdfspider.records import Capture, Extraction, Finished, Lease, Page, Verdict

URL = "http://example.org/tea"
DATE = "2024-05-01T10:00:00Z"
NOON = 1_714_557_600.0
HTML = (
    b'<html lang="en"><title>Tea</title><a href="/cup">cup</a>'
    b'<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Assam"}</script>'
    b"<p>Black tea from the valley of a river, strong and dark, for the morning."
)
CONFIG = ExtractConfig()


class Warc:
    """A file that records are appended to."""

    def __init__(self, path: Path, *, is_compressed: bool = True) -> None:
        self.path = path
        self._is_compressed = is_compressed
        path.write_bytes(b"")

    def add(
        self,
        body: bytes = HTML,
        status: str = "200 OK",
        url: str = URL,
        kind: str = "response",
        headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html"), ("ETag", '"5"')),
        date: str = DATE,
    ) -> int:
        """Append a record; where it begins."""
        content_type = "text/plain"
        if kind in ("response", "revisit"):
            content_type = "application/http; msgtype=response"
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
            body = f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body
        head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"
        head += f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        record = head.encode() + body + b"\r\n\r\n"
        offset = self.path.stat().st_size
        with self.path.open("ab") as file:
            file.write(gzip.compress(record) if self._is_compressed else record)
        return offset


@pytest.fixture
def warc(tmp_path: Path) -> Warc:
    return Warc(tmp_path / "other.warc.gz")


def read(path: Path, start: int = 0) -> list[Outcome]:
    found = list(read_foreign(path, start, CONFIG))
    assert all(isinstance(item, Outcome) for item in found)
    return [item for item in found if isinstance(item, Outcome)]


def test_a_page_is_extracted(warc: Warc) -> None:
    warc.add(b"software: other", kind="warcinfo")
    offset = warc.add(url="HTTP://Example.org/./tea#top")
    warc.add(b"", url=URL, kind="request")
    (found,) = read(warc.path)
    assert (found.url, found.time, found.source, found.effect) == (URL, NOON, str(warc.path), "replace")
    assert '"Assam"' in found.statements["jsonld"]
    assert "Black tea" in found.text
    assert (found.title, found.language, found.media_type, found.etag) == ("Tea", "en", "text/html", '"5"')
    assert found.outlinks == ("http://example.org/cup",)
    assert (found.body_bytes, found.payload) == (len(HTML), (str(warc.path), offset))
    assert found.digest.startswith("sha1:")
    assert (found.offset, found.end) == (offset, warc.path.stat().st_size)


LINKS = b"""<title>Tea</title><link rel=alternate href=/feed title=Feed type=text/turtle>
<a href=/cup rel=nofollow>Bad cup</a> <a href=/cup>A  <b>cup</b></a> <a href=/pot rel="ugc nofollow">pot</a>
<a href=/leaf><img src=x.png alt="A leaf"></a> <a href=/empty></a> <iframe src=/frame></iframe>
<p>Black tea from the valley of a river, strong and dark, for the morning."""


def test_links_are_read_as_if_they_were_crawled(warc: Warc) -> None:
    warc.add(LINKS)
    warc.add(LINKS, url="http://example.org/hidden", headers=(("X-Robots-Tag", "noindex"),))
    shown, hidden = read(warc.path)
    site = "http://example.org"
    assert set(shown.outlinks) == {f"{site}/{name}" for name in ("feed", "cup", "pot", "leaf", "empty", "frame")}
    assert shown.relations == {f"{site}/pot": "ugc nofollow", f"{site}/feed": "alternate", f"{site}/frame": "iframe"}
    assert shown.anchors == {f"{site}/cup": "A cup", f"{site}/pot": "pot", f"{site}/leaf": "A leaf"}
    assert set(hidden.outlinks) == set(shown.outlinks)
    assert hidden.anchors == {}


@pytest.mark.parametrize(
    ("effect", "reason", "record"),
    [
        ("remove", "status-404", {"status": "404 Not Found"}),
        ("remove", "gone", {"status": "410 Gone"}),
        ("remove", "redirect", {"status": "301 Moved", "headers": (("Location", "/new"),)}),
        ("touch", "status-503", {"status": "503 Busy"}),
        ("touch", "unchanged", {"status": "304 Not Modified"}),
        ("touch", "unchanged", {"kind": "revisit", "body": b""}),
        ("remove", "status-404", {"kind": "revisit", "body": b"", "status": "404 Not Found"}),
        ("remove", "noindex", {"headers": (("Content-Type", "text/html"), ("x-robots-tag", "NOINDEX"))}),
        ("replace", "imported", {"headers": (("Content-Type", "text/html"), ("X-Robots-Tag", "otherbot: noindex"))}),
        ("remove", "noindex", {"headers": (("X-Robots-Tag", "unavailable_after: 2024-06-01"),)}),
        ("replace", "imported", {"headers": (("X-Robots-Tag", "unavailable_after: 2124-06-01"),)}),
        ("remove", "noindex", {"body": b'<meta name="robots" content="none">' + HTML}),
        ("remove", "soft-404", {"body": b"<title>Page not found</title><p>Page not found"}),
    ],
)
def test_what_a_capture_does(warc: Warc, effect: str, reason: str, record: dict[str, object]) -> None:
    warc.add(**record)  # type: ignore[arg-type]
    (found,) = read(warc.path)
    assert (found.effect, found.reason) == (effect, reason)
    assert bool(found.statements) == bool(found.text) == bool(found.title) == (effect == "replace")
    assert bool(found.due) == ("2124" in str(record))


def test_a_capture_without_a_date_is_older_than_all_others_however_often_it_is_read(warc: Warc) -> None:
    warc.add(date="last summer")
    (first,), (again,) = read(warc.path), read(warc.path)
    assert first.time == again.time == 0.0


def test_what_is_no_page_is_passed_over(warc: Warc) -> None:
    warc.add(b"example.org. 60 IN A 192.0.2.7", url="dns:example.org", kind="resource")
    warc.add(b"User-agent: *", url="http://example.org/robots.txt")
    warc.add(b"{}", url="urn:pageinfo:http://example.org/", kind="resource")
    warc.add(b"via: http://example.org/", kind="metadata")
    warc.add(b"Tea is read here.", url="http://example.org/about/robots.txt", headers=(("Content-Type", "text/plain"),))
    assert [found.url for found in read(warc.path)] == ["http://example.org/about/robots.txt"]


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_reading_can_go_on_after_every_outcome(tmp_path: Path, name: str) -> None:
    warc = Warc(tmp_path / name, is_compressed=name.endswith(".gz"))
    for number in range(4):
        warc.add(url=f"{URL}/{number}")
        warc.add(b"", kind="request", url=f"{URL}/{number}")
    found = read(warc.path)
    assert [item.url for item in found] == [f"{URL}/{number}" for number in range(4)]
    for number, item in enumerate(found):
        assert read(warc.path, item.end) == found[number + 1 :]
    stopped = list(read_foreign(warc.path, 0, CONFIG, found[2].offset))
    assert stopped == found[:2]


def test_a_file_that_is_one_compressed_member_is_read(tmp_path: Path) -> None:
    warc = Warc(tmp_path / "a.warc", is_compressed=False)
    for number in range(3):
        warc.add(url=f"{URL}/{number}")
    packed = tmp_path / "b.warc.gz"
    packed.write_bytes(gzip.compress(warc.path.read_bytes()))
    found = read(packed)
    assert [item.url for item in found] == [f"{URL}/{number}" for number in range(3)]
    assert found[-1].end == packed.stat().st_size


def test_damage_costs_what_it_hits(warc: Warc) -> None:
    offsets = [warc.add(url=f"{URL}/{number}") for number in range(3)]
    data = bytearray(warc.path.read_bytes())
    data[offsets[1] + 60 : offsets[1] + 80] = bytes(20)
    warc.path.write_bytes(data)
    found = list(read_foreign(warc.path, 0, CONFIG))
    assert [item.offset for item in found if isinstance(item, Damage)] == [offsets[1]]
    assert [item.url for item in found if isinstance(item, Outcome)] == [f"{URL}/0", f"{URL}/2"]


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("name", ["cut.warc", "cut.warc.gz"])
def test_a_file_that_was_cut_says_so_wherever(tmp_path: Path, name: str, share: float) -> None:
    warc = Warc(tmp_path / name)
    offsets = [warc.add(url=f"{URL}/{number}") for number in range(3)]
    data = warc.path.read_bytes()
    warc.path.write_bytes(data[: offsets[2] + int((len(data) - offsets[2]) * share)])
    found = list(read_foreign(warc.path, 0, CONFIG))
    assert [item.offset for item in found if isinstance(item, Damage)] == [offsets[2]]
    assert [item.url for item in found if isinstance(item, Outcome)] == [f"{URL}/0", f"{URL}/1"]


@pytest.mark.parametrize("name", ["grown.warc", "grown.warc.gz"])
def test_a_file_that_was_cut_and_is_whole_later_is_read_again(tmp_path: Path, name: str) -> None:
    warc = Warc(tmp_path / name)
    offsets = [warc.add(url=f"{URL}/{number}") for number in range(3)]
    urls = [f"{URL}/{number}" for number in range(3)]
    assert [item.url for item in read(warc.path, offsets[2] + 100)] == urls
    assert [item.url for item in read(warc.path, offsets[2])] == urls[2:]


def test_a_file_that_holds_no_record_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"this is no archive")
    assert [type(item) for item in read_foreign(path, 0, CONFIG)] == [Damage]


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Path]:
    """The archive of another crawl: one page, with a statement that is not in its body."""
    writer = ArchiveWriter(tmp_path / "warc", ArchiveConfig(keep="all"), prefix="x", info={"a": "b"}, committed=None)
    capture = Capture(
        Page(URL, HTML), 200, "OK", "1.1", (("Content-Type", "text/html"),), (), "192.0.2.7", NOON, 0.1, 9
    )
    extraction = Extraction(URL, "text/html", statements={"transform": f"<{URL}> <{URL}> <{URL}> <{URL}> .\n"})
    lease = Lease("page", "example.org", 1, URL)
    writer.write_outcome(Finished(lease, Verdict("done", "fetched", 200), capture, extraction))
    writer.flush()
    writer.sync()
    writer.publish()
    yield tmp_path / "warc"
    writer.close()


def test_facts_of_another_crawl_are_taken_as_they_are(crawl: Path, tmp_path: Path) -> None:
    path = crawl / "x-facts-000001.warc.gz"
    renamed = tmp_path / "renamed.warc.gz"
    renamed.write_bytes(path.read_bytes())
    for file in (path, renamed):
        (found,) = read(file)
        assert (list(found.statements), found.source) == (["transform"], str(file))


def test_pages_of_another_crawl_are_extracted(crawl: Path) -> None:
    (found,) = read(crawl / "x-pages-000001.warc.gz")
    assert "jsonld" in found.statements
    assert found.time == NOON


def test_the_list_of_files(tmp_path: Path, warc: Warc, monkeypatch: pytest.MonkeyPatch) -> None:
    warc.add()
    monkeypatch.chdir(tmp_path)
    paths = IndexPaths(tmp_path)
    assert read_sources(paths) == []
    gone = tmp_path / "gone.warc"
    assert add_sources(paths, [Path("other.warc.gz"), gone]) == 2
    assert add_sources(paths, [warc.path]) == 0
    assert read_sources(paths) == [warc.path, gone]
    found, missing = list_sources(paths)
    assert found == {str(warc.path): (warc.path, warc.path.stat().st_size)}
    assert [(item.path, item.reason) for item in missing] == [(str(gone), "No such file or directory")]


def test_a_segment_of_a_crawl_that_runs_is_listed_as_far_as_it_is_committed(crawl: Path, tmp_path: Path) -> None:
    path = crawl / "x-facts-000001.warc.gz"
    length = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"half a record")
    paths = IndexPaths(tmp_path)
    add_sources(paths, [path])
    assert list_sources(paths)[0][str(path)].length == length


def test_a_name_that_no_list_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rename it"):
        add_sources(IndexPaths(tmp_path), [tmp_path / "a\nb.warc"])


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        list(read_foreign(tmp_path / "gone.warc", 0, CONFIG))
