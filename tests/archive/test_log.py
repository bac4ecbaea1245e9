"""What a crawl has put on record becomes outcomes, wherever reading begins and whatever is damaged."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

from rdfspider.archive.log import list_segments, read_fetch, read_outcome, read_outcomes
from rdfspider.archive.metadata import list_fields
from rdfspider.archive.outcomes import Outcome, decide_effect
from rdfspider.archive.segments import read_committed, write_committed
from rdfspider.archive.warc_file import Damage
from rdfspider.archive.writer import ArchiveWriter
from rdfspider.config import ArchiveConfig
from rdfspider.errors import UsageError
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

URL = "http://example.org/tea"
STARTED = 1_700_000_000.25
NQUADS = f'<{URL}> <http://purl.org/dc/terms/title> "Té" <{URL}> .\n'
DONE = Verdict("done", "fetched", 200)
EXTRACTION = Extraction(
    URL,
    "text/html",
    "utf-8",
    {"rdfa": NQUADS, "jsonld": NQUADS * 2},
    (Link("http://example.org/a"), Link("http://example.org/b", "nofollow"), Link("http://example.org/c")),
    "Tea",
    "en",
    "Leaves, té\n\nand water\n",
    canonical="http://example.org/",
    problems=(Problem("json-repaired", "a comma was missing", "jsonld", 2), Problem("charset", "it lies")),
)


class Log:
    """A shard's archive that outcomes are written to."""

    def __init__(self, folder: Path, segment_bytes: int = 1_000_000, shard: int = 0) -> None:
        self.folder = folder
        self.warc = folder / "shards" / f"{shard:03}" / "warc"
        config = ArchiveConfig(keep="structured", segment_bytes=segment_bytes)
        self._writer = ArchiveWriter(self.warc, config, prefix=f"shard-{shard:03}", info={"a": "b"}, committed=None)
        self._started = STARTED

    def write(
        self,
        verdict: Verdict = DONE,
        extraction: Extraction | None = EXTRACTION,
        url: str = URL,
        *,
        body: bytes = b"<p>tea",
        headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; x=y"), ("ETag", '"5"')),
        judgement: Judgement | None = None,
        failure: str = "",
        is_asked: bool = True,
        **lease: object,
    ) -> None:
        """Append one outcome, a second after the one before."""
        exchange: Capture | Failure | None = None
        if failure:
            exchange = Failure(url, failure, "no", started=self._started)
        elif is_asked:
            page = Page(url, body, "text/html")
            exchange = Capture(
                page, verdict.status, "OK", "1.1", headers, (), "192.0.2.7", self._started, 0.1, len(body)
            )
        self._started += 1
        asked = Lease("page", "example.org", 1, url, **lease)  # type: ignore[arg-type]
        self._writer.write_outcome(Finished(asked, verdict, exchange, extraction, (), judgement or Judgement()))

    def publish(self) -> None:
        """Let readers have it."""
        self._writer.flush()
        self._writer.sync()
        self._writer.publish()

    def flush(self) -> None:
        """Write it to the files, behind what is committed."""
        self._writer.flush()


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "crawl")


def read_all(folder: Path, start: int = 0) -> Iterator[Outcome | Damage]:
    for source, (path, length) in list_segments(folder).items():
        yield from read_outcomes(path, source, start, length)


def read_one(log: Log) -> Outcome:
    log.publish()
    (found,) = read_all(log.folder)
    assert isinstance(found, Outcome)
    return found


def write_several(log: Log, count: int = 6) -> None:
    for number in range(count):
        log.write(extraction=replace(EXTRACTION, text=f"page {number}"), url=f"{URL}/{number}")
    log.publish()


def damage(path: Path, offset: int, count: int = 24) -> None:
    data = bytearray(path.read_bytes())
    data[offset : offset + count] = b"\0" * count
    path.write_bytes(data)


def test_a_page_with_all_that_it_says(log: Log) -> None:
    judgement = Judgement(duplicate="canonical", original="http://example.org/")
    log.write(judgement=judgement, chain=("http://example.org/old", "http://example.org/older"))
    found = read_one(log)
    source = "000/shard-000-facts-000001.warc.gz"
    assert (found.url, found.time, found.source, found.effect) == (URL, STARTED, source, "replace")
    assert (found.verdict, found.reason, found.status, found.error) == ("done", "fetched", 200, "")
    assert found.statements == {"rdfa": NQUADS, "jsonld": NQUADS * 2}
    assert found.text == EXTRACTION.text
    assert (found.title, found.language, found.charset, found.media_type) == ("Tea", "en", "utf-8", "text/html")
    assert (found.content_type, found.etag, found.canonical) == ("text/html; x=y", '"5"', "http://example.org/")
    assert set(found.outlinks) == {f"http://example.org/{name}" for name in "abc"}
    assert found.problems == EXTRACTION.problems
    assert found.redirected_from == ("http://example.org/old", "http://example.org/older")
    assert (found.duplicate, found.duplicate_of) == ("canonical", "http://example.org/")
    assert found.body_bytes == 6
    assert found.digest.startswith("sha1:")
    assert found.payload is not None
    assert found.payload.segment == "shard-000-pages-000001.warc.gz"
    assert found.payload.offset > 0
    assert 0 < found.offset < found.end == list_segments(log.folder)[source].length


def test_the_same_bytes_leave_the_page_as_it_is(log: Log) -> None:
    log.write()
    digest = read_one(log).digest
    log.write(digest=digest, captured=STARTED)
    log.write(Verdict("done", "unchanged", 304), None, body=b"", digest=digest, captured=STARTED)
    log.publish()
    first, *others = read_all(log.folder)
    assert [(found.effect, found.statements, found.text) for found in others] == [("touch", {}, "")] * 2
    assert [found.time for found in (first, *others)] == [STARTED, STARTED + 1, STARTED + 2]
    assert {found.digest for found in (first, *others)} == {digest}


def test_a_redirect_removes_and_tells_where_it_leads(log: Log) -> None:
    headers = (("Location", "/new"), ("X-Robots-Tag", "noarchive"))
    judgement = Judgement(directives=("noarchive (X-Robots-Tag)",), duplicate="exact")
    log.write(Verdict("done", "redirect", 301), None, headers=headers, judgement=judgement)
    found = read_one(log)
    assert (found.effect, found.outlinks, found.duplicate) == ("remove", ("http://example.org/new",), "exact")


def test_a_page_that_asks_not_to_be_indexed_has_nothing_to_say(log: Log) -> None:
    # The crawl drops what such a page says; if it had not, it would not be read.
    log.write(Verdict("done", "noindex", 200), judgement=Judgement(robots=Robots(noindex=True)))
    found = read_one(log)
    assert (found.effect, found.statements, found.text, found.title) == ("remove", {}, "", "")


LINKED = replace(
    EXTRACTION, links=(Link("http://example.org/a", text="A"), Link("http://example.org/b", "nofollow", "B", True))
)


def test_the_texts_of_links_are_read(log: Log) -> None:
    log.write(extraction=LINKED)
    found = read_one(log)
    assert found.anchors == {"http://example.org/a": "A", "http://example.org/b": "B"}
    assert (found.relations, len(found.outlinks)) == ({"http://example.org/b": "nofollow"}, 2)
    first = read_fetch(log.warc / "shard-000-facts-000001.warc.gz", found.offset)
    assert first is not None and first.anchors == found.anchors


@pytest.mark.parametrize("verdict", [Verdict("done", "noindex", 200), Verdict("done", "soft-404", 200)])
def test_a_page_that_is_gone_calls_nothing_by_a_name(log: Log, verdict: Verdict) -> None:
    log.write(verdict, LINKED)
    found = read_one(log)
    assert (found.effect, found.anchors, len(found.outlinks)) == ("remove", {}, 2)


def test_the_beginning_of_many_links_is_read_without_texts(log: Log) -> None:
    links = tuple(Link(f"http://example.org/{number}", text=f"text {number}") for number in range(5000))
    log.write(extraction=replace(EXTRACTION, links=links))
    found = read_one(log)
    assert len(found.anchors) == 5000
    first = read_fetch(log.warc / "shard-000-facts-000001.warc.gz", found.offset)
    assert first is not None and first.anchors == {}
    assert 1000 < len(first.outlinks) < 5000


@pytest.mark.parametrize(("now", "effect"), [(STARTED, "replace"), (STARTED + 1e6, "remove")])
def test_a_page_may_ask_to_be_forgotten_later(log: Log, now: float, effect: str) -> None:
    directives = ("nofollow (meta robots)", "unavailable_after 2023-11-20T00:00:00Z (X-Robots-Tag)", "noarchive (x)")
    log.write(judgement=Judgement(directives=directives))
    log.publish()
    ((source, (path, length)),) = list_segments(log.folder).items()
    (found,) = read_outcomes(path, source, 0, length, now=now)
    assert isinstance(found, Outcome)
    assert (found.effect, bool(found.statements)) == (effect, effect == "replace")
    assert found.due == (datetime(2023, 11, 20, tzinfo=UTC).timestamp() if effect == "replace" else 0)


@pytest.mark.parametrize("code", ["timeout", "nxdomain", "tls"])
def test_a_failure_may_pass(log: Log, code: str) -> None:
    log.write(Verdict("failed", code, error=code), None, failure=code)
    found = read_one(log)
    assert (found.verdict, found.error, found.effect, found.time) == ("failed", code, "touch", STARTED)


def test_nobody_was_asked(log: Log) -> None:
    log.write(Verdict("failed", "disallowed", rule="Disallow: /"), None, is_asked=False)
    found = read_one(log)
    assert (found.effect, found.status, found.digest, found.payload) == ("touch", 0, "", None)


def test_a_url_that_is_too_long_for_a_header(log: Log) -> None:
    urls = [URL + "/" + "x" * 13_000 + end for end in "ab"]
    for url in urls:
        log.write(url=url)
    log.publish()
    found = list(read_all(log.folder))
    assert [item.url for item in found] == urls
    assert all(item.statements for item in found)


def test_prerequisites_are_no_pages_and_reading_goes_past_them(log: Log) -> None:
    for reason, url in [
        ("sitemap", "/s.xml"),
        ("fetched", "/1"),
        ("context", "/c"),
        ("no-sitemap", "/s"),
        ("fetched", "/2"),
    ]:
        log.write(Verdict("done", reason, 200), url=URL + url)
    log.write(Verdict("done", "no-context", 200), url=f"{URL}/c")
    log.publish()
    ((_, (_, length)),) = list_segments(log.folder).items()
    one, two = read_all(log.folder)
    assert (one.url, two.url) == (f"{URL}/1", f"{URL}/2")
    assert one.end == two.offset
    assert two.end == length
    assert list(read_all(log.folder, two.end)) == []


def test_reading_can_go_on_after_every_outcome(log: Log) -> None:
    write_several(log)
    found = list(read_all(log.folder))
    assert [item.text for item in found] == [f"page {number}" for number in range(6)]
    for number, item in enumerate(found):
        assert list(read_all(log.folder, item.end)) == found[number + 1 :]


def test_a_range_ends_before_the_record_that_begins_there(log: Log) -> None:
    write_several(log)
    found = list(read_all(log.folder))
    ((source, (path, _)),) = list_segments(log.folder).items()
    assert list(read_outcomes(path, source, found[1].offset, found[3].offset)) == found[1:3]


def test_segments_are_listed_by_their_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    assert list_segments(folder) == {}
    logs = [Log(folder, segment_bytes=1, shard=shard) for shard in (10, 2)]
    for log in logs:
        write_several(log, 2)
    (folder / "shards" / "003").mkdir()
    names = list(list_segments(folder))
    assert names == [
        f"{shard:03}/shard-{shard:03}-facts-00000{number}.warc.gz" for shard in (2, 10) for number in (1, 2)
    ]
    found = list(read_all(folder))
    assert [item.url for item in found] == [f"{URL}/0", f"{URL}/1"] * 2
    assert [item.source for item in found] == names


def test_what_is_not_committed_is_not_read(log: Log) -> None:
    log.write()
    log.publish()
    log.write(url=f"{URL}/later")
    log.flush()
    ((_, (path, length)),) = list_segments(log.folder).items()
    assert path.stat().st_size > length
    assert [item.url for item in read_all(log.folder)] == [URL]
    # Whoever asks for more is not given it either.
    assert [item.url for item in read_outcomes(path, "x", 0, path.stat().st_size)] == [URL]


def test_segments_may_be_on_another_disk(log: Log, tmp_path: Path) -> None:
    log.write()
    log.publish()
    ((_, (path, _)),) = list_segments(log.folder).items()
    moved = tmp_path / path.name
    shutil.move(path, moved)
    path.symlink_to(moved)
    assert [item.url for item in read_all(log.folder)] == [URL]
    moved.unlink()
    assert list_segments(log.folder) == {}


def test_a_list_that_cannot_be_read_costs_its_shard_alone(tmp_path: Path) -> None:
    logs = [Log(tmp_path, shard=shard) for shard in (0, 1)]
    for log in logs:
        write_several(log, 1)
    (logs[0].warc / "committed").write_bytes(b"")
    assert list(list_segments(tmp_path)) == ["001/shard-001-facts-000001.warc.gz"]


def test_a_segment_that_was_cut_is_as_long_as_it_is(log: Log) -> None:
    write_several(log)
    found = list(read_all(log.folder))
    ((source, (path, _)),) = list_segments(log.folder).items()
    with path.open("r+b") as file:
        file.truncate(found[4].offset)
    assert list_segments(log.folder)[source].length == found[4].offset
    assert list(read_all(log.folder)) == found[:4]
    assert list(read_all(log.folder, found[5].offset)) == []


def test_conversions_that_were_cut_off_are_missing(log: Log) -> None:
    write_several(log, 2)
    whole = list(read_all(log.folder))
    ((_, (path, length)),) = list_segments(log.folder).items()
    for stop in range(whole[1].offset + 1, length, 37):
        with path.open("r+b") as file:
            file.truncate(stop)
        outcomes = [item for item in read_all(log.folder) if isinstance(item, Outcome)]
        assert outcomes[0] == whole[0] or outcomes[0] == structs.replace(whole[0], end=outcomes[0].end)
        assert all(item.statements.items() <= whole[1].statements.items() for item in outcomes[1:])
        path.write_bytes(path.read_bytes() + b"\0" * (length - stop))


def test_damage_costs_what_it_hits(log: Log) -> None:
    write_several(log)
    whole = list(read_all(log.folder))
    ((_, (path, _)),) = list_segments(log.folder).items()
    damage(path, whole[2].offset + 40)
    found = list(read_all(log.folder))
    assert [item.offset for item in found if isinstance(item, Damage)] == [whole[2].offset]
    outcomes = [item for item in found if isinstance(item, Outcome)]
    # Nothing that the damaged page says is taken for another's.
    assert [item.text for item in outcomes] == [f"page {number}" for number in (0, 1, 3, 4, 5)]
    assert outcomes[1].statements == whole[1].statements
    assert outcomes[1].end == whole[3].offset


def test_damage_at_every_place_raises_nothing(log: Log) -> None:
    write_several(log, 3)
    whole = [item.text for item in read_all(log.folder)]
    ((_, (path, length)),) = list_segments(log.folder).items()
    sound = path.read_bytes()
    for offset in range(0, length, 61):
        damage(path, offset)
        outcomes = [item for item in read_all(log.folder) if isinstance(item, Outcome)]
        assert len(outcomes) >= 2
        assert {item.text for item in outcomes} <= {*whole, ""}
        assert all(one.end <= two.offset for one, two in pairwise(outcomes))
        path.write_bytes(sound)


def test_one_outcome_is_read_at_its_place(log: Log) -> None:
    write_several(log)
    (found,) = list_segments(log.folder).items()
    source, (path, _) = found
    for outcome in list(read_all(log.folder)):
        assert isinstance(outcome, Outcome)
        record = read_outcome(path, source, outcome.offset, 1_000_000)
        assert record == outcome
        assert list_fields(outcome)["status"] == "200" and "quads" not in list_fields(outcome)
    assert read_outcome(path, source, path.stat().st_size, 1_000_000) is None
    record = read_outcome(path, source, outcome.offset, 10)
    assert isinstance(record, Outcome) and record.statements["jsonld"] == NQUADS[:10]
    assert not isinstance(read_outcome(path, source, outcome.offset + 1, 10), Outcome)


def test_a_file_that_is_gone_is_said(log: Log) -> None:
    write_several(log, 1)
    ((source, (path, length)),) = list_segments(log.folder).items()
    path.unlink()
    with pytest.raises(UsageError, match="No such file"):
        list(read_outcomes(path, source, 0, length))


def test_more_than_committed_is_never_promised(log: Log) -> None:
    write_several(log, 1)
    lengths = read_committed(log.warc)
    write_committed(log.warc, {name: length * 2 for name, length in lengths.items()})
    ((_, (path, length)),) = list_segments(log.folder).items()
    assert length == path.stat().st_size


@pytest.mark.parametrize(
    ("effect", "reason", "statuses"),
    [
        ("replace", "fetched", [200, 203, 204, 206]),
        ("replace", "imported", [200]),
        ("touch", "unchanged", [304]),
        ("remove", "redirect", [301, 302, 303, 307, 308]),
        ("remove", "too-many-redirects", [302]),
        ("remove", "status-300", [300]),
        ("remove", "gone", [410]),
        ("remove", "status-404", [400, 401, 403, 404, 405, 406, 451]),
        ("touch", "status-429", [408, 421, 425, 429]),
        ("touch", "status-500", [500, 502, 503, 504, 999]),
        ("touch", "timeout", [0]),
        ("touch", "disallowed", [0]),
        ("touch", "filtered", [0]),
        ("remove", "noindex", [200]),
        ("remove", "soft-404", [200]),
    ],
)
def test_what_an_outcome_does(effect: str, reason: str, statuses: list[int]) -> None:
    assert {decide_effect(reason, status) for status in statuses} == {effect}


@pytest.mark.parametrize(
    ("effect", "reason", "status"),
    [("touch", "fetched", 200), ("remove", "noindex", 200), ("remove", "soft-404", 200), ("remove", "status-404", 404)],
)
def test_the_same_bytes_change_nothing_about_what_is_not_there(effect: str, reason: str, status: int) -> None:
    assert decide_effect(reason, status, "identical-payload-digest") == effect
