import shlex
from pathlib import Path

import msgspec
import pytest

from crawl.beats import make_beat, make_status
from rdfspider.crawl.folder import add_seeds
from rdfspider.crawl.messages import Find, LinksTo
from rdfspider.crawl.status import Status, Totals, Unheard, encode_status, end_shards, sum_beats
from rdfspider.crawl.summary import (
    clean_text,
    shorten_name,
    warn_of_nothing,
    warn_of_unheard,
    write_index,
    write_line,
    write_links,
    write_names,
    write_place,
    write_places,
    write_shards,
    write_summary,
)
from rdfspider.index.status import IndexState, IndexStatus, ViewStatus
from rdfspider.linked_documents import KeptDocuments

BEATS = (
    make_beat(
        0,
        connections=3,
        pages=10,
        counts={
            "known": 100,
            "pages": 10,
            "structured": 8,
            "duplicates": 2,
            "scheduled": 80,
            "sites": 1,
            "hosts": 2,
            "body_bytes": 4_000_000,
            "quads": 55,
        },
        archive_bytes=1_260_000,
        statuses={"200": 10, "404": 1, "timeout": 2, "disallowed": 4},
        quads={"jsonld": 40, "rdfa": 15},
        problems={"iri-repaired": 3},
        types={"http://schema.org/Thing": 4, "https://schema.org/Thing": 1, "http://xmlns.com/foaf/0.1/Person": 2},
        properties={"http://schema.org/name": 6, "http://vocabulary.test/terms/size": 1},
        memory_used_bytes=120_000_000,
        memory_total_bytes=8_000_000_000,
        memory_free_bytes=4_000_000_000,
        cpu_percent=93.4,
    ),
    make_beat(1, connections=1, counts={"known": 11, "pages": 1}, statuses={"200": 1}),
)
STATUS = make_status(*BEATS)


def test_a_line_of_progress() -> None:
    assert write_line(STATUS) == (
        "1:05  11 pages  10.2 pages/s  1.50 MB/s  known 111  queue 80  hosts 2  errors 2 (timeout 2)"
    )
    paused = msgspec.structs.replace(STATUS, state="paused", reason="the disk is full")
    assert write_line(paused).endswith("errors 2 (timeout 2)  paused: the disk is full")


def test_a_line_tells_which_shard_is_held_up_and_why() -> None:
    held = make_beat(1, state="suspended", reason="less than 500 MB are free")
    line = write_line(msgspec.structs.replace(STATUS, shards=(BEATS[0], held)))
    assert line.endswith("  shard 1 suspended: less than 500 MB are free")


def test_a_summary() -> None:
    assert write_summary(msgspec.structs.replace(STATUS, state="ended", reason="pages")) == [
        "ended: the limit of pages is reached, after 1:01:05",
        "pages       11 (4.0 MB) of 1 site, 8 with structured data (73 %), 2 duplicates",
        "quads       55: jsonld 40, rdfa 15",
        "types       schema:Thing 5, foaf:Person 2",
        "properties  schema:name 6, http://vocabulary.test/terms/size 1",
        "problems    3: iri-repaired 3",
        "URLs        111 known: 0 done, 0 failed, 0 disallowed, 80 to fetch",
        "hosts       2",
        "limits      pages 1,000",
        "this run    1:05, 0.2 pages/s",
        "  answers   12: 200 11, 404 1",
        "  errors    2: timeout 2",
    ]


def test_what_was_answered_to_the_crawl_itself_is_told_apart() -> None:
    totals = Totals(statuses={"200": 3}, prerequisites={"sitemap": 2, "no-sitemap": 12, "context": 1})
    assert write_summary(Status(state="ended", totals=totals))[-1] == (
        "  answers   3: 200 3; for the crawl itself 15: no sitemap 12, sitemap 2, context 1"
    )


def test_a_summary_of_nothing() -> None:
    assert write_summary(Status(state="new")) == ["new: it has not run yet"]
    assert write_summary(Status(state="ended", reason="finished"))[1:3] == ["pages       0 (0.0 MB)", "quads       0"]


def test_many_kinds_are_cut_short() -> None:
    many = Status(state="ended", totals=Totals(statuses={str(200 + number): 100 - number for number in range(20)}))
    assert write_summary(many)[-1].endswith("206 94, 207 93, …")


@pytest.mark.parametrize(
    ("failed", "shown"),
    [(3, "3 failed (timeout 2, nxdomain 1),"), (9, "9 failed (in this run timeout 2, nxdomain 1),")],
)
def test_a_summary_tells_why_urls_failed(failed: int, shown: str) -> None:
    totals = sum_beats([make_beat(0, counts={"failed": failed}, failures={"nxdomain": 1, "timeout": 2})])
    assert any(shown in line for line in write_summary(Status(state="ended", totals=totals)))


def test_a_summary_tells_what_kept_urls_from_being_fetched() -> None:
    totals = msgspec.structs.replace(STATUS.totals, disallowed=1264, trapped=1171, filtered=3)
    lines = write_summary(msgspec.structs.replace(STATUS, totals=totals))
    shown = "1,264 disallowed (traps 1,171, robots.txt 90, scope and filters 3), "
    assert any(shown in line for line in lines)


def test_how_far_the_index_is() -> None:
    views = (ViewStatus("quads", lag_s=2.2), ViewStatus("text", lag_s=1.0), ViewStatus("http://store/", lag_s=900))
    index = IndexStatus("indexing", pages=1234, quads=56789, entities=2345, views=views)
    status = msgspec.structs.replace(STATUS, index=index)
    told = "1,234 pages · 56,789 quads, 2,345 entities · 2 s behind"
    assert f"index       {told}" in write_summary(status)
    assert f"  index {told}" in write_line(status)
    # Nobody indexes any more, and something is left to do.
    views = (ViewStatus("quads", behind_bytes=9000, behind_pages=3), ViewStatus("text"))
    index = msgspec.structs.replace(index, state=IndexState.ENDED, views=views)
    assert write_index(index).endswith(" · about 3 pages behind")
    index = msgspec.structs.replace(
        index, state=IndexState.SUSPENDED, views=(ViewStatus("text", problem="the disk is full"),)
    )
    assert write_index(index).endswith(" · suspended: text: the disk is full")


def test_a_crawl_that_is_indexed_can_be_searched(tmp_path: Path) -> None:
    find = Find(1.0, "http://a.test/", "A 12 Momo (book)")
    totals = msgspec.structs.replace(STATUS.totals, finds=(find,))
    status = msgspec.structs.replace(STATUS, totals=totals, index=IndexStatus("ended", pages=1))
    assert any(line.endswith(f"rdfspider search Momo --dir {tmp_path}") for line in write_place(status, tmp_path))


def test_the_place_and_the_commands_to_try_next(tmp_path: Path) -> None:
    folder = tmp_path / "my [first] crawl"
    (folder / "shards/000/warc").mkdir(parents=True)
    add_seeds(folder, ["http://seed.test/", "http://other.test/"])
    place, *commands = write_place(STATUS, folder)
    assert place == f"folder      {folder}, 1.3 MB in WARC files"
    assert [shlex.split(command.removeprefix("try next")) for command in commands] == [
        ["rdfspider", "status", "--dir", str(folder), "--json"],
        ["rdfspider", "hosts", "--dir", str(folder)],
        ["rdfspider", "why", "http://seed.test/", "--dir", str(folder)],
    ]
    # Where pages were kept they can be read again.
    (folder / "shards/000/warc/shard-000-pages-00001.warc.gz").touch()
    _, extract, _, _ = write_place(STATUS, folder)
    pattern = f"{tmp_path}/my [[]first] crawl/shards/*/warc/*-pages-*.warc.gz"
    assert shlex.split(extract)[2:] == ["rdfspider", "extract", pattern, "--output", "data.nq"]
    # So are the contexts that some of them need.
    KeptDocuments(folder / "documents").keep("http://seed.test/context", b"{}")
    _, extract, _, _ = write_place(STATUS, folder)
    contexts = ["--documents", str(folder / "documents")]
    assert shlex.split(extract)[2:] == ["rdfspider", "extract", pattern, *contexts, "--output", "data.nq"]


@pytest.mark.parametrize(
    ("seed", "shown"),
    [
        ("http://seed.test/", "http://seed.test/"),
        ("http://seed.test/" + "a" * 200, "http://a.test/?a=1&b='2'"),
    ],
)
def test_the_url_to_ask_for_fits_into_a_line(tmp_path: Path, seed: str, shown: str) -> None:
    add_seeds(tmp_path, [seed])
    found = sum_beats(
        [make_beat(0, finds=(Find(1.0, "http://a.test/?a=1&b='2'"), Find(2.0, "http://a.test/" + "b" * 150)))]
    )
    *_, why = write_place(msgspec.structs.replace(STATUS, totals=found), tmp_path)
    assert shlex.split(why)[2] == shown


def test_a_long_url_is_better_than_none(tmp_path: Path) -> None:
    add_seeds(tmp_path, ["http://seed.test/" + "a" * 200])
    *_, why = write_place(STATUS, tmp_path)
    assert shlex.split(why)[2] == "http://seed.test/" + "a" * 200


def test_without_seeds_and_finds_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    assert not any("why" in line for line in write_place(STATUS, tmp_path))


@pytest.mark.parametrize(
    ("iri", "name"),
    [
        ("http://schema.org/Product", "schema:Product"),
        ("https://schema.org/Product", "schema:Product"),
        ("http://www.w3.org/ns/dcat#Dataset", "dcat:Dataset"),
        ("http://schema.org/", "http://schema.org/"),
        ("http://a.test/terms#Thing", "http://a.test/terms#Thing"),
        ("urn:thing", "urn:thing"),
        ("http://schema.org/a\u202eb", "schema:a b"),
        (f"http://a.test/{'x' * 300}/end", f"http://a.test/{'x' * 16}…{'x' * 25}/end"),
    ],
)
def test_names_are_short(iri: str, name: str) -> None:
    assert shorten_name(iri) == name
    assert len(name) <= 60


def test_names_that_are_written_in_two_ways_are_one() -> None:
    assert write_names({"http://schema.org/a": 1, "http://b.test/": 2, "https://schema.org/a": 2}) == (
        "schema:a 3, http://b.test/ 2"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A title – ünd 日本", "A title – ünd 日本"),
        ("\x1b[31mred\x07\x9b2J", " [31mred  2J"),
        ("a\u202egnp.exe\u2066b\u200f", "a gnp.exe b "),
        ("one\ntwo\u2028three\ttabs", "one two three tabs"),
        ("\ud800", " "),
    ],
)
def test_a_terminal_is_shown_no_control_characters(text: str, shown: str) -> None:
    assert clean_text(text) == shown


def test_a_line_of_a_shard() -> None:
    assert write_shards(STATUS, 1001.2)[0] == (
        "shard 0     running, process 77, 120 MB of 8,000 MB (4,000 MB free), CPU 93 %, 3 connections, 10 pages, 1 s ago"
    )


def test_a_shard_that_says_nothing_is_silent_until_the_crawl_is_over() -> None:
    assert write_shards(STATUS, 1008.0)[0].startswith("shard 0     silent, process 77")
    ended = end_shards(msgspec.structs.replace(STATUS, state="ended"))
    assert write_shards(ended, 1008.0)[0] == (
        "shard 0     ended, process 77, 120 MB of 8,000 MB (4,000 MB free), 10 pages, 8 s ago"
    )


def test_a_shard_that_was_not_heard_since_its_start_is_a_warning_with_its_name() -> None:
    status = Status(state="running", unheard=(Unheard(1, 1000.0),))
    assert warn_of_unheard(status, 1075.0) == ["warning     shard 1 has not been heard since it was started, 75 s ago"]
    assert write_line(status).endswith("  shard 1 not heard yet")
    assert b'"unheard":[{"shard":1,"since":1000.0}]' in encode_status(status)
    assert warn_of_unheard(end_shards(status), 1075.0) == []


def test_a_line_of_a_place() -> None:
    """By the last beat of one of its shards; shards in the crawl's folder have none."""
    place = {"place": "127.0.0.2=/disk1", "disk_total_bytes": 500_000_000_000, "place_cores": 8, "pages": 30}
    beats = [
        make_beat(1, **place, disk_free_bytes=200_000_000_000, place_cpu_percent=12.4),
        make_beat(3, **place),
        make_beat(4),
    ]
    status = Status(state="running", shards=tuple(beats))
    assert write_places(status) == [
        "place       127.0.0.2=/disk1: shards 1, 3, 60 pages, CPU 12 % of 8 cores, 0.0 of 0.0 GB memory free, "
        "200.0 of 500.0 GB disk free"
    ]
    assert "CPU" not in write_places(end_shards(msgspec.structs.replace(status, state="ended")))[0]


def test_links_between_shards_that_wait_for_long_are_a_warning_with_a_name() -> None:
    status = make_status(
        make_beat(2, links=(LinksTo(5, 120, 100, 90, 75.3), LinksTo(1, 1000, 1000, 1000))),
        make_beat(5, links=(LinksTo(2, 7, 6, 6, 12.0),)),
    )
    assert write_links(status) == [
        "links       1,127 sent to other shards, 1,106 received, 1,096 durable",
        "  2 to 5    120 sent, 100 received, 90 durable, the oldest waits for 75 s",
        "  2 to 1    1,000 sent, 1,000 received, 1,000 durable",
        "  5 to 2    7 sent, 6 received, 6 durable, the oldest waits for 12 s",
        "warning     links of shard 2 for shard 5 have waited for 75 s",
    ]
    assert write_links(STATUS) == []


def test_of_many_pairs_of_shards_those_are_told_that_wait() -> None:
    calm = tuple(LinksTo(shard, 1, 1, 1) for shard in range(1, 20))
    status = make_status(make_beat(0, links=(*calm, LinksTo(20, 3, 2, 2, 4.0))))
    assert write_links(status) == [
        "links       22 sent to other shards, 21 received, 21 durable",
        "  0 to 20   3 sent, 2 received, 2 durable, the oldest waits for 4 s",
    ]


def test_when_a_crawl_is_over_no_count_of_durable_links_is_told() -> None:
    status = make_status(make_beat(0, links=(LinksTo(1, 2, 2, 0),)))
    assert write_links(msgspec.structs.replace(status, state="ended")) == [
        "links       2 sent to other shards, 2 received",
        "  0 to 1    2 sent, 2 received",
    ]


def test_a_crawl_without_a_single_page_warns() -> None:
    nothing = Totals(statuses={"404": 1}, errors={"nxdomain": 2}, disallowed=1)
    assert warn_of_nothing(Status(state="ended", totals=nothing)) == (
        "not a single page could be fetched from any seed (nxdomain 2, 404 1, disallowed 1)"
    )
    assert warn_of_nothing(Status(state="stopped", totals=nothing)) == ""
    assert warn_of_nothing(Status(state="ended", totals=Totals(pages=1))) == ""
