import json
from pathlib import Path

import msgspec
import pytest

from crawl.beats import make_beat, make_status
from rdfspider.crawl.folder import hold_folder
from rdfspider.crawl.messages import Fetching, Find
from rdfspider.crawl.status import (
    Speed,
    Totals,
    encode_status,
    end_shards,
    forget_run,
    read_status,
    sum_beats,
    write_status,
)
from rdfspider.crawl.summary import write_summary
from rdfspider.frontier.entries import HostEntry


def find(time: float) -> Find:
    return Find(time, f"http://a.test/{time:g}", "A title", ("http://schema.org/Thing",), 7)


def wait(host: str, wait_s: float) -> HostEntry:
    return HostEntry(host, 3, 2, 10, 0, 7, wait_s, "its last answer took 4.0 s")


BEATS = (
    make_beat(
        0,
        connections=3,
        pages=10,
        counts={"known": 100, "pages": 10, "structured": 8, "scheduled": 80, "hosts": 2, "quads": 50},
        queued={"0": 1, "3": 79},
        visits={"page": 2},
        fetching=(Fetching(0, 5.0, "http://a.test/slow"), Fetching(0, 7.0, "http://a.test/next")),
        waiting_hosts=(wait("a.test", 9.5), wait("b.test", 1.0)),
        robots={"allowed": 12, "rules": 1},
        archive_bytes=300,
        quads={"jsonld": 40, "rdfa": 10},
        problems={"iri-repaired": 2},
        types={"http://schema.org/Thing": 5, "http://schema.org/Place": 2},
        properties={"http://schema.org/name": 7},
        statuses={"200": 10, "404": 1, "timeout": 2, "disallowed": 4},
        cpu_s={"extract": 1.5},
        wire_bytes=100,
        memory_used_bytes=120_000_000,
        cpu_percent=93.4,
        slowest_hosts={"a.test": 2.0, "b.test": 0.5},
    ),
    make_beat(
        1,
        connections=1,
        counts={"known": 11, "pages": 1, "future_count": 3},
        queued={"3": 4},
        visits={"page": 1, "robots": 1},
        fetching=(Fetching(1, 6.0, "http://c.test/robots.txt"),),
        waiting_hosts=(wait("c.test", 40.0),),
        robots={"disallowed": 2},
        archive_bytes=33,
        quads={"rdfa": 5},
        problems={"iri-repaired": 1, "literal-cut": 1},
        types={"http://schema.org/Place": 4},
        statuses={"200": 1},
        slowest_hosts={"c.test": 1.0},
    ),
)
STATUS = make_status(*BEATS)


def test_totals_are_the_sums_of_the_shards() -> None:
    totals = STATUS.totals
    assert (totals.known, totals.pages, totals.connections, totals.wire_bytes) == (111, 11, 4, 100)
    assert (totals.structured, totals.archive_bytes) == (8, 333)
    assert totals.statuses == {"200": 11, "404": 1}
    assert totals.errors == {"timeout": 2}
    assert totals.quads_by_syntax == {"jsonld": 40, "rdfa": 15}
    assert totals.problems == {"iri-repaired": 3, "literal-cut": 1}
    assert totals.cpu_s == {"extract": 1.5}


def test_what_is_under_way_and_what_waits_is_told_of_all_shards() -> None:
    totals = STATUS.totals
    assert totals.queued == {"0": 1, "3": 83}
    assert totals.visits == {"page": 3, "robots": 1}
    assert totals.robots == {"allowed": 12, "rules": 1, "disallowed": 2}
    # What has taken longest comes first.
    assert [request.since for request in totals.fetching] == [5.0, 6.0, 7.0]
    plain = json.loads(encode_status(STATUS))
    assert plain["totals"]["fetching"][1] == {"shard": 1, "since": 6.0, "url": "http://c.test/robots.txt"}
    assert "fetching" not in plain["shards"][0]
    assert [host.host for host in totals.waiting_hosts] == ["c.test", "a.test", "b.test"]
    assert plain["totals"]["waiting_hosts"][0]["wait_s"] == 40.0
    assert "waiting_hosts" not in plain["shards"][0]
    assert end_shards(STATUS).totals.waiting_hosts == ()
    many = sum_beats(
        make_beat(shard, fetching=tuple(Fetching(shard, at, "") for at in range(8))) for shard in range(64)
    )
    assert len(many.fetching) == 40


def test_the_most_frequent_and_the_slowest_of_all_shards_come_first() -> None:
    totals = STATUS.totals
    assert list(totals.types.items()) == [("http://schema.org/Place", 6), ("http://schema.org/Thing", 5)]
    assert list(totals.slowest_hosts.items()) == [("a.test", 2.0), ("c.test", 1.0), ("b.test", 0.5)]
    many = sum_beats([make_beat(0, types={f"http://a.test/{number}": number for number in range(100)})])
    assert (len(many.types), min(many.types.values())) == (50, 50)


def test_the_latest_finds_of_all_shards() -> None:
    shards = [
        make_beat(0, finds=tuple(map(find, range(0, 12, 2)))),
        make_beat(1, finds=tuple(map(find, range(1, 12, 2)))),
    ]
    assert [found.time for found in sum_beats(shards).finds] == list(range(2, 12))


def test_a_status_can_be_read_by_others(tmp_path: Path) -> None:
    write_status(tmp_path, STATUS)
    with hold_folder(tmp_path):
        found = read_status(tmp_path)
    assert (found.totals, found.limits) == (STATUS.totals, STATUS.limits)
    plain = json.loads(encode_status(STATUS))
    assert plain["totals"]["pages"] == 11
    assert plain["totals"]["types"]["http://schema.org/Thing"] == 5
    assert plain["shards"][0]["memory_used_bytes"] == 120_000_000
    assert "type" not in plain["shards"][0]
    # What may be long is there once.
    assert "types" not in plain["shards"][0]


def test_a_crawl_whose_process_is_gone_has_died(tmp_path: Path) -> None:
    write_status(tmp_path, STATUS)
    assert (read_status(tmp_path).state, read_status(tmp_path).reason) == ("died", "gone")
    assert [(beat.state, beat.connections, beat.cpu_percent) for beat in read_status(tmp_path).shards] == [
        ("died", 0, 0.0)
    ] * 2
    assert read_status(tmp_path).totals.connections == 0
    write_status(tmp_path, msgspec.structs.replace(STATUS, state="ended", reason="finished"))
    assert (read_status(tmp_path).state, read_status(tmp_path).totals) == ("ended", STATUS.totals)


def test_before_the_first_run(tmp_path: Path) -> None:
    assert read_status(tmp_path).state == "new"
    with hold_folder(tmp_path):
        assert read_status(tmp_path).state == "running"


@pytest.mark.parametrize("content", [b"{", b"", b'{"state": "\xff"}', b"\xff\xfe"])
def test_a_damaged_status_is_not_that_of_a_new_crawl(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "status.json").write_bytes(content)
    status = read_status(tmp_path)
    assert (status.state, status.is_over) == ("unknown", True)
    assert f"status.json is damaged; `rdfspider doctor --dir {tmp_path}` mends" in status.reason
    assert write_summary(status) == [f"unknown: {status.reason}"]


def test_a_missing_status_is_not_that_of_a_new_crawl_if_there_are_frontiers(tmp_path: Path) -> None:
    (tmp_path / "shards/000/frontier").mkdir(parents=True)
    assert "status.json is missing" in read_status(tmp_path).reason


def test_a_new_run_knows_what_the_crawl_has_and_not_what_the_last_run_did() -> None:
    totals = sum_beats(map(forget_run, BEATS))
    assert (totals.pages, totals.quads_by_syntax, totals.problems["literal-cut"]) == (11, {"jsonld": 40, "rdfa": 15}, 1)
    assert (totals.statuses, totals.wire_bytes, totals.slowest_hosts, totals.connections) == ({}, 0, {}, 0)


def test_a_crawl_that_is_over_has_no_connections_and_no_load() -> None:
    stopping = tuple(msgspec.structs.replace(one, state="stopping") for one in BEATS)
    ended = end_shards(msgspec.structs.replace(STATUS, state="ended", shards=stopping))
    plain = json.loads(encode_status(ended))
    assert {shard["state"] for shard in plain["shards"]} == {"ended"}
    assert {shard["connections"] for shard in plain["shards"]} == {plain["totals"]["connections"]} == {0}
    assert {shard["cpu_percent"] for shard in plain["shards"]} == {0.0}
    assert (ended.totals.visits, ended.totals.fetching, ended.totals.queued) == ({}, (), {"0": 1, "3": 83})


def test_speed_is_that_of_the_last_seconds_of_this_run() -> None:
    speed = Speed()
    assert speed.measure(100.0, Totals(pages=5000)) == (0.0, 0.0)
    assert speed.measure(102.0, Totals(pages=5010, statuses={"200": 9, "206": 1, "404": 7}, wire_bytes=20)) == (
        5.0,
        10.0,
    )
    for second in range(103, 200):
        pages_s, bytes_s = speed.measure(float(second), Totals(statuses={"200": 60 + second}, wire_bytes=20))
    assert pages_s == pytest.approx(1.0) and bytes_s == 0.0
