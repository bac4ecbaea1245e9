import json
from pathlib import Path

import msgspec
import pytest

from rdfspider.run.folder.layout import hold_lock
from rdfspider.run.folder.status import (
    Speed,
    Status,
    Totals,
    encode_status,
    end_shards,
    read_status,
    sum_beats,
    warn_of_nothing,
    write_line,
    write_shards,
    write_status,
    write_summary,
)
from rdfspider.run.peers.messages import Beat


def beat(shard: int, **facts: object) -> Beat:
    return Beat(shard, 1, 1000.0, 77 + shard, (1, 2), False, **facts)  # type: ignore[arg-type]


BEATS = (
    beat(
        0,
        connections=3,
        pages=10,
        counts={"known": 100, "pages": 10, "scheduled": 80, "hosts": 2, "body_bytes": 4_000_000, "quads": 50},
        statuses={"200": 10, "404": 1, "timeout": 2, "disallowed": 4},
        quads={"jsonld": 40, "rdfa": 10},
        cpu_s={"extract": 1.5},
        wire_bytes=100,
        memory_used_bytes=120_000_000,
        memory_total_bytes=8_000_000_000,
        memory_free_bytes=4_000_000_000,
        cpu_percent=93.4,
    ),
    beat(1, connections=1, counts={"known": 11, "pages": 1, "future_count": 3}, statuses={"200": 1}, quads={"rdfa": 5}),
)
STATUS = Status(
    state="running",
    started=1.0,
    updated=2.0,
    run_s=65.0,
    elapsed_s=3665.0,
    pages_s=10.25,
    bytes_s=1_500_000.0,
    limits={"pages": 1000.0},
    totals=sum_beats(BEATS),
    shards=BEATS,
)


def test_totals_are_the_sums_of_the_shards() -> None:
    totals = STATUS.totals
    assert (totals.known, totals.pages, totals.connections, totals.wire_bytes) == (111, 11, 4, 100)
    assert totals.statuses == {"200": 11, "404": 1}
    assert totals.errors == {"timeout": 2}
    assert totals.quads_by_syntax == {"jsonld": 40, "rdfa": 15}
    assert totals.cpu_s == {"extract": 1.5}


def test_a_status_can_be_read_by_others(tmp_path: Path) -> None:
    write_status(tmp_path, STATUS)
    with hold_lock(tmp_path):
        assert read_status(tmp_path) == STATUS
    plain = json.loads(encode_status(STATUS))
    assert plain["totals"]["pages"] == 11
    assert plain["shards"][0]["memory_used_bytes"] == 120_000_000
    assert "type" not in plain["shards"][0]


def test_a_crawl_whose_process_is_gone_has_died(tmp_path: Path) -> None:
    write_status(tmp_path, STATUS)
    assert (read_status(tmp_path).state, read_status(tmp_path).reason) == ("died", "gone")
    assert [(beat.state, beat.connections, beat.cpu_percent) for beat in read_status(tmp_path).shards] == [
        ("died", 0, 0.0)
    ] * 2
    assert read_status(tmp_path).totals.connections == 0
    ended = msgspec.structs.replace(STATUS, state="ended", reason="finished")
    write_status(tmp_path, ended)
    assert read_status(tmp_path) == ended


def test_before_the_first_run(tmp_path: Path) -> None:
    assert read_status(tmp_path).state == "new"
    assert write_summary(read_status(tmp_path)) == ["new: it has not run yet"]
    (tmp_path / "status.json").write_text("{")
    assert read_status(tmp_path).state == "new"
    with hold_lock(tmp_path):
        assert read_status(tmp_path).state == "running"


def test_a_line_of_progress() -> None:
    assert write_line(STATUS) == (
        "1:05  11 pages  10.2 pages/s  1.50 MB/s  known 111  queue 80  hosts 2  errors 2 (timeout 2)"
    )
    paused = msgspec.structs.replace(STATUS, state="paused", reason="the disk is full")
    assert write_line(paused).endswith("errors 2 (timeout 2)  paused: the disk is full")


def test_a_summary() -> None:
    assert write_summary(msgspec.structs.replace(STATUS, state="ended", reason="pages")) == [
        "ended: the limit of pages is reached, after 1:01:05",
        "pages       11 (4.0 MB), 50 quads",
        "URLs        111 known: 0 done, 0 failed, 0 disallowed, 80 to fetch",
        "hosts       2",
        "limits      pages 1,000",
        "this run    1:05, 0.2 pages/s",
        "  answers   12: 200 11, 404 1",
        "  errors    2: timeout 2",
        "  quads     55: jsonld 40, rdfa 15",
    ]


def test_many_kinds_are_cut_short() -> None:
    many = Status(state="ended", totals=Totals(statuses={str(200 + number): 100 - number for number in range(20)}))
    assert write_summary(many)[-1].endswith("206 94, 207 93, …")


def test_a_line_of_a_shard() -> None:
    assert write_shards(STATUS, 1001.2)[0] == (
        "shard 0     running, process 77, 120 MB of 8,000 MB (4,000 MB free), CPU 93 %, 3 connections, 10 pages, 1 s ago"
    )


def test_a_shard_that_says_nothing_is_silent_until_the_crawl_is_over() -> None:
    assert write_shards(STATUS, 1008.0)[0].startswith("shard 0     silent, process 77")
    ended = end_shards(msgspec.structs.replace(STATUS, state="ended"))
    assert write_shards(ended, 1008.0)[0].startswith("shard 0     ended, process 77")


def test_a_crawl_that_is_over_has_no_connections_and_no_load() -> None:
    stopping = tuple(msgspec.structs.replace(one, state="stopping") for one in BEATS)
    ended = end_shards(msgspec.structs.replace(STATUS, state="ended", shards=stopping))
    assert write_shards(ended, 1001.2)[0] == (
        "shard 0     ended, process 77, 120 MB of 8,000 MB (4,000 MB free), 10 pages, 1 s ago"
    )
    plain = json.loads(encode_status(ended))
    assert {shard["state"] for shard in plain["shards"]} == {"ended"}
    assert {shard["connections"] for shard in plain["shards"]} == {plain["totals"]["connections"]} == {0}
    assert {shard["cpu_percent"] for shard in plain["shards"]} == {0.0}


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


def test_a_line_tells_which_shard_is_held_up_and_why() -> None:
    held = beat(1, state="suspended", reason="less than 500 MB are free")
    line = write_line(msgspec.structs.replace(STATUS, shards=(BEATS[0], held)))
    assert line.endswith("  shard 1 suspended: less than 500 MB are free")


@pytest.mark.parametrize(
    ("failed", "shown"),
    [(3, "3 failed (timeout 2, nxdomain 1),"), (9, "9 failed (in this run timeout 2, nxdomain 1),")],
)
def test_a_summary_tells_why_urls_failed(failed: int, shown: str) -> None:
    totals = sum_beats([beat(0, counts={"failed": failed}, failures={"nxdomain": 1, "timeout": 2})])
    assert shown in write_summary(Status(state="ended", totals=totals))[2]


def test_a_crawl_without_a_single_page_warns() -> None:
    nothing = Totals(statuses={"404": 1}, errors={"nxdomain": 2}, disallowed=1)
    assert warn_of_nothing(Status(state="ended", totals=nothing)) == (
        "not a single page could be fetched from any seed (nxdomain 2, 404 1, disallowed 1)"
    )
    assert warn_of_nothing(Status(state="stopped", totals=nothing)) == ""
    assert warn_of_nothing(Status(state="ended", totals=Totals(pages=1))) == ""
