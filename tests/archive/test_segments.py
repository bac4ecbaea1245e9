import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from rdfspider.archive.reader import Mark, read_archive, split_archive
from rdfspider.archive.segments import (
    COMMITTED_NAME,
    CommittedList,
    Position,
    SegmentKind,
    SegmentName,
    Series,
    find_committed_length,
    find_newest,
    parse_name,
    read_committed,
    write_committed,
)
from rdfspider.archive.volumes import Volumes
from rdfspider.batch.sources import plan_parts
from rdfspider.errors import UsageError
from rdfspider.records import Page

FIRST = SegmentName("x-000", SegmentKind.PAGES, 1)


def open_series(folder: Path, segment_bytes: int = 1_000_000, lengths: dict[str, int] | None = None) -> Series:
    return Series(Volumes(folder), FIRST, lengths or {}, segment_bytes, lambda name: f"[{name}]".encode())


def test_names_say_what_a_segment_is() -> None:
    assert str(FIRST) == "x-000-pages-000001.warc.gz"
    assert parse_name("a-pages-b-facts-1234567.warc.gz") == SegmentName("a-pages-b", SegmentKind.FACTS, 1_234_567)
    assert parse_name("CC-MAIN-2024-00001.warc.gz") is None
    assert find_newest(["x-pages-999999.warc.gz", "x-pages-1000000.warc.gz", "x-facts-2000000.warc.gz"], "pages") == (
        "x",
        "pages",
        1_000_000,
    )


def test_positions_are_where_the_bytes_are(tmp_path: Path) -> None:
    series = open_series(tmp_path)
    positions = series.append([b"one", b"three"]) + series.append([b"x"])
    series.flush()
    series.sync()
    written = (tmp_path / str(FIRST)).read_bytes()
    assert written == b"[x-000-pages-000001.warc.gz]onethreex"
    assert [written[position.offset :][:3] for position in positions] == [b"one", b"thr", b"x"]
    assert series.lengths() == {str(FIRST): len(written)}
    series.close()


def test_nothing_is_written_before_it_is_flushed(tmp_path: Path) -> None:
    series = open_series(tmp_path)
    series.append([b"one"])
    assert series.lengths() == {}
    assert list(tmp_path.iterdir()) == []


def test_a_full_segment_is_followed_by_another_and_keeps_what_belongs_together(tmp_path: Path) -> None:
    series = open_series(tmp_path, segment_bytes=40)
    positions = [series.append([b"a" * 10, b"b" * 10])[0] for _ in range(3)]
    series.flush()
    assert [segment for segment, _ in positions] == [
        str(FIRST),
        "x-000-pages-000002.warc.gz",
        "x-000-pages-000003.warc.gz",
    ]
    assert set(series.lengths().values()) == {48}
    series.sync()
    series.append([b"c"])
    series.flush()
    assert len(series.lengths()) == 4
    series.close()


def test_full_segments_are_closed_only_when_they_are_safe(tmp_path: Path) -> None:
    before = psutil.Process().num_fds()
    series = open_series(tmp_path, segment_bytes=1)
    for _ in range(5):
        series.append([b"a"])
        series.flush()
    assert psutil.Process().num_fds() == before + 5
    series.sync()
    series.flush()
    assert psutil.Process().num_fds() == before + 1
    assert len(series.lengths()) == 5
    series.close()


def test_a_series_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / str(FIRST)).write_bytes(b"before")
    series = open_series(tmp_path, lengths={str(FIRST): 6})
    assert series.append([b"after"]) == [Position(str(FIRST), 6)]
    series.flush()
    series.close()
    assert (tmp_path / str(FIRST)).read_bytes() == b"beforeafter"


def test_a_flush_that_failed_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    series = open_series(tmp_path)
    series.append([b"x" * 100])
    write = os.pwrite

    def write_half(descriptor: int, data: memoryview, offset: int) -> int:
        if len(data) > 100:
            return write(descriptor, data[:50], offset)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "pwrite", write_half)
        series.flush()
    assert series.lengths() == {}
    series.append([b"y"])
    series.flush()
    series.close()
    assert (tmp_path / str(FIRST)).read_bytes() == b"[x-000-pages-000001.warc.gz]" + b"x" * 100 + b"y"


def test_a_sync_in_a_thread_does_not_disturb_what_is_appended(tmp_path: Path) -> None:
    series = open_series(tmp_path, segment_bytes=1000)
    expected = 0
    for number in range(50):
        series.append([b"z" * 99])
        series.flush()
        thread = threading.Thread(target=series.sync)
        thread.start()
        series.append([b"w" * number])
        thread.join()
        expected += 99 + number
    series.flush()
    heads = len(series.lengths()) * len(f"[{FIRST}]")
    assert sum(series.lengths().values()) == expected + heads
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == series.lengths()
    series.close()


def test_what_is_committed_is_told_and_read(tmp_path: Path) -> None:
    assert read_committed(tmp_path) == {}
    write_committed(tmp_path, {str(FIRST): 17})
    write_committed(tmp_path, {str(FIRST): 18})
    assert read_committed(tmp_path) == {str(FIRST): 18}
    assert [path.name for path in tmp_path.iterdir()] == ["committed"]


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 60, b'{"version": 1, "segm', b'{"version": 1, "segments": {"a": "b"}}']
)
def test_a_damaged_list_promises_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "committed").write_bytes(content)
    with pytest.raises(UsageError, match="run the crawl again"):
        read_committed(tmp_path)


def test_only_segments_have_a_committed_length(tmp_path: Path) -> None:
    segment, other = tmp_path / str(FIRST), tmp_path / "other.warc.gz"
    assert find_committed_length(segment) is None
    write_committed(tmp_path, {str(FIRST): 5})
    assert find_committed_length(segment) == 5
    assert find_committed_length(tmp_path / str(FIRST._replace(number=2))) == 0
    assert find_committed_length(other) is None


def test_a_link_leads_no_further_than_the_segment_is_committed(tmp_path: Path) -> None:
    """Neither a link to a segment, nor one that stands for a segment which was moved to another disk."""
    warc, disk = tmp_path / "warc", tmp_path / "disk"
    warc.mkdir()
    disk.mkdir()
    (disk / str(FIRST)).write_bytes(b"x" * 9)
    (warc / str(FIRST)).symlink_to(Path("../disk", str(FIRST)))
    write_committed(warc, {str(FIRST): 5})
    (tmp_path / "link.warc.gz").symlink_to(Path("warc", str(FIRST)))
    (tmp_path / "folder").symlink_to(warc)
    (tmp_path / "other.warc.gz").symlink_to(disk / str(FIRST))
    assert find_committed_length(tmp_path / "link.warc.gz") == 5
    assert find_committed_length(tmp_path / "folder" / str(FIRST)) == 5
    assert find_committed_length(tmp_path / "other.warc.gz") is None, "nothing there says of which crawl it is"
    (tmp_path / "circle.warc.gz").symlink_to("circle.warc.gz")
    assert find_committed_length(tmp_path / "circle.warc.gz") is None


def test_readers_stop_at_the_committed_length(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    members = [gzip.compress(make_record(f"http://example.org/{number}", b"<p>" * 9)) for number in range(3)]
    path = tmp_path / str(FIRST)
    path.write_bytes(b"".join(members) + members[0][:70])
    length = len(members[0]) + len(members[1])
    write_committed(tmp_path, {str(FIRST): length})
    assert split_archive(path, 10_000_000) == [(0, length)]
    found = [item.url for item in read_archive(path) if isinstance(item, Page)]
    assert found == ["http://example.org/0", "http://example.org/1"]
    assert [item.position for item in read_archive(path) if not isinstance(item, Page)] == [0, length]


def test_readers_do_not_follow_a_segment_that_grows(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    member = gzip.compress(make_record("http://example.org/", b"<p>" * 9))
    path = tmp_path / str(FIRST)
    path.write_bytes(member)
    write_committed(tmp_path, {str(FIRST): len(member)})
    pages = read_archive(path)
    next(pages)
    with path.open("ab") as file:
        file.write(member * 5)
    assert [type(item) for item in pages] == [Page, Mark]


def test_a_folder_of_segments_is_read_without_its_list_and_without_what_is_not_committed(
    tmp_path: Path, make_record: Callable[..., bytes]
) -> None:
    member = gzip.compress(make_record("http://example.org/", b"<p>"))
    for number in (1, 2):
        (tmp_path / str(FIRST._replace(number=number))).write_bytes(member)
    write_committed(tmp_path, {str(FIRST): len(member)})
    (part,) = plan_parts([str(tmp_path)], limit=1000)
    assert getattr(part, "path", "") == str(tmp_path / str(FIRST))
    assert plan_parts([str(tmp_path / str(FIRST._replace(number=2)))], limit=1000) == []


def test_what_a_running_shard_publishes_is_what_others_publish(tmp_path: Path) -> None:
    published = CommittedList(tmp_path)
    closed: tuple[dict[str, int], dict[str, int]] = ({}, {})
    growing: dict[str, int] = {}
    for number in range(4):
        published.write(closed, growing)
        assert read_committed(tmp_path) == closed[0] | closed[1] | growing
        body = (tmp_path / COMMITTED_NAME).read_bytes()
        write_committed(tmp_path, closed[0] | closed[1] | growing)
        assert body == (tmp_path / COMMITTED_NAME).read_bytes()
        if growing:
            closed[number % 2].update(growing)
        growing = {str(FIRST._replace(number=number)): number} if number < 3 else {}
