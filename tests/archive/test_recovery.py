"""Segments after a crash or damage: what was committed is whole, what was not is gone, what is missing is told."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.cli import main as warcio

from rdfspider.archive.recovery import find_sound_length, has_sound_end
from rdfspider.archive.segments import Position, read_committed
from rdfspider.archive.writer import ArchiveWriter, Written
from rdfspider.config import ArchiveConfig
from rdfspider.errors import UsageError
from rdfspider.records import Capture, Extraction, Finished, Lease, Page, Verdict

PAGES, FACTS = "x-000-pages-000001.warc.gz", "x-000-facts-000001.warc.gz"


def open_archive(
    folder: Path, committed: dict[str, int] | None = None, segment_bytes: int = 1_000_000
) -> ArchiveWriter:
    config = ArchiveConfig(keep="all", segment_bytes=segment_bytes)
    return ArchiveWriter(folder, config, prefix="x-000", info={"software": "test"}, committed=committed)


def write_page(archive: ArchiveWriter, number: int) -> Written:
    url = f"http://example.org/{number}"
    body = f"<title>{number}</title>".encode() + random.Random(number).randbytes(1000)
    capture = Capture(Page(url, body), 200, "OK", "1.1", (), (), "127.0.0.1", 1.7e9 + number, 0.1, len(body))
    extraction = Extraction(url, "text/html", statements={"meta": f"<{url}> <a:b> <c:d> .\n"}, text=f"page {number}")
    lease = Lease("page", "example.org", 1, url)
    return archive.write_outcome(Finished(lease, Verdict("done", "fetched", 200), capture, extraction))


def commit(archive: ArchiveWriter) -> dict[str, int]:
    archive.flush()
    archive.sync()
    archive.publish()
    return archive.positions()


def read_numbers(folder: Path, pattern: str, kind: WarcRecordType) -> list[int]:
    """The pages' numbers in records of a kind, with each record read to its end and its digests verified."""
    numbers = []
    is_response = kind == WarcRecordType.response
    for path in sorted(folder.glob(pattern)):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, record_types=kind, parse_http=is_response):
                assert record.verify_payload_digest() if is_response else record.verify_block_digest()
                numbers.append(int(record.headers["WARC-Target-URI"].rpartition("/")[2]))
    return numbers


def check_sound(folder: Path, numbers: list[int]) -> None:
    """The files hold these pages, in this order, and are as the standard asks."""
    paths = sorted(map(str, folder.glob("*.warc.gz")))
    with pytest.raises(SystemExit) as ended:
        warcio(["check", *paths])
    assert ended.value.code in (0, None)
    assert read_numbers(folder, "*-facts-*", WarcRecordType.metadata) == numbers
    assert read_numbers(folder, "*-facts-*", WarcRecordType.conversion) == [
        n for number in numbers for n in [number] * 2
    ]
    assert read_numbers(folder, "*-pages-*", WarcRecordType.response) == numbers
    assert read_numbers(folder, "*-pages-*", WarcRecordType.request) == numbers


def make_damaged(folder: Path) -> tuple[list[Written], dict[str, int]]:
    """An archive of six pages that were committed in two groups."""
    archive = open_archive(folder)
    written = [write_page(archive, number) for number in range(3)]
    commit(archive)
    written += [write_page(archive, number) for number in range(3, 6)]
    committed = commit(archive)
    archive.close()
    return written, committed


def cut(path: Path, length: int) -> None:
    with path.open("r+b") as file:
        file.truncate(length)


def test_nothing_is_lost_without_damage(tmp_path: Path) -> None:
    _, committed = make_damaged(tmp_path)
    archive = open_archive(tmp_path, committed)
    write_page(archive, 6)
    assert archive.lost == []
    assert set(commit(archive)) == {PAGES, FACTS}
    archive.close()
    check_sound(tmp_path, list(range(7)))


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"\x1f\x8b\x08", b"garbage", None])
def test_what_is_longer_than_committed_is_cut(tmp_path: Path, tail: bytes | None) -> None:
    _, committed = make_damaged(tmp_path)
    for name in committed:
        with (tmp_path / name).open("r+b") as file:
            start = file.read(700)
            file.seek(0, os.SEEK_END)
            file.write(start if tail is None else tail)
    archive = open_archive(tmp_path, committed)
    archive.close()
    assert archive.lost == []
    assert archive.positions() == committed == read_committed(tmp_path)
    check_sound(tmp_path, list(range(6)))


def test_segments_that_are_not_committed_are_deleted(tmp_path: Path) -> None:
    _, committed = make_damaged(tmp_path)
    for name in ("x-000-pages-000002.warc.gz", "x-000-facts-000007.warc.gz"):
        (tmp_path / name).write_bytes(b"garbage")
    (tmp_path / "y-001-pages-000001.warc.gz").write_bytes(b"another shard's")
    open_archive(tmp_path, committed).close()
    assert {path.name for path in tmp_path.iterdir()} == {PAGES, FACTS, "y-001-pages-000001.warc.gz", "committed"}


@pytest.mark.parametrize("missing_bytes", [1, 8, 300, 1000])
def test_facts_that_are_shorter_than_committed_are_cut_back_and_told(tmp_path: Path, missing_bytes: int) -> None:
    written, committed = make_damaged(tmp_path)
    left = committed[FACTS] - missing_bytes
    cut(tmp_path / FACTS, left)
    archive = open_archive(tmp_path, committed)
    ((segment, offset),) = archive.lost
    assert segment == FACTS
    assert left - 1000 < offset <= left
    assert archive.positions() == {PAGES: committed[PAGES], FACTS: offset} == read_committed(tmp_path)
    whole = sum(page.position.offset < offset for page in written)
    assert read_numbers(tmp_path, "*-facts-*", WarcRecordType.metadata) == list(range(whole))
    archive.close()


def test_pages_that_are_shorter_than_committed_are_told_by_their_facts(tmp_path: Path) -> None:
    written, committed = make_damaged(tmp_path)
    cut(tmp_path / PAGES, committed[PAGES] - 1)
    archive = open_archive(tmp_path, committed)
    archive.close()
    # Only the last page's request is gone, but not its response: there is nothing to fetch again.
    assert [segment for segment, _ in archive.lost] == [PAGES]
    cut(tmp_path / PAGES, committed[PAGES] * 2 // 3)
    archive = open_archive(tmp_path, committed)
    archive.close()
    left = read_numbers(tmp_path, "*-pages-*", WarcRecordType.response)
    assert 0 < len(left) < 6
    assert written[len(left)].position in archive.lost
    assert archive.lost[0] == Position(PAGES, archive.positions()[PAGES])


def test_a_segment_that_was_cut_back_does_not_grow_again(tmp_path: Path) -> None:
    """Else it could be as long as committed after another crash, and be taken for whole."""
    _, committed = make_damaged(tmp_path)
    cut(tmp_path / FACTS, committed[FACTS] - 100)
    archive = open_archive(tmp_path, committed)
    lost = archive.lost
    assert write_page(archive, 9).position.segment == "x-000-facts-000002.warc.gz"
    archive.flush()
    archive.close()
    again = open_archive(tmp_path, committed)
    assert again.lost == lost
    for number in range(9, 12):
        write_page(again, number)
    committed = commit(again)
    again.close()
    after = open_archive(tmp_path, committed)
    assert after.lost == []
    after.close()
    assert read_numbers(tmp_path, "*-facts-*", WarcRecordType.metadata)[-3:] == [9, 10, 11]


@pytest.mark.parametrize("name", [PAGES, FACTS])
def test_a_segment_that_is_missing_is_told(tmp_path: Path, name: str) -> None:
    written, committed = make_damaged(tmp_path)
    (tmp_path / name).unlink()
    archive = open_archive(tmp_path, committed)
    assert archive.lost[0] == Position(name, 0)
    assert archive.lost[1:] == ([written[0].position] if name == PAGES else [])
    assert name not in archive.positions()
    write_page(archive, 7)
    assert name.replace("1.warc", "2.warc") in commit(archive)
    archive.close()


@pytest.mark.parametrize("name", [PAGES, FACTS])
def test_a_segment_of_garbage_is_as_good_as_missing(tmp_path: Path, name: str) -> None:
    _, committed = make_damaged(tmp_path)
    (tmp_path / name).write_bytes(random.Random(1).randbytes(committed[name]))
    archive = open_archive(tmp_path, committed)
    archive.close()
    assert archive.lost[0] == Position(name, 0)
    assert not (tmp_path / name).exists()


def test_a_committed_end_that_cannot_be_read_is_cut_back(tmp_path: Path) -> None:
    """As a disk leaves it that said it was done when it was not."""
    written, committed = make_damaged(tmp_path)
    with (tmp_path / FACTS).open("r+b") as file:
        file.seek(committed[FACTS] - 400)
        file.write(b"\0" * 400)
    archive = open_archive(tmp_path, committed)
    archive.close()
    ((segment, offset),) = archive.lost
    assert segment == FACTS
    assert written[4].position.offset < offset < committed[FACTS] - 400
    assert has_sound_end(tmp_path / FACTS, offset)


def test_every_length_has_its_sound_beginning(tmp_path: Path) -> None:
    written, committed = make_damaged(tmp_path)
    path = tmp_path / FACTS
    ends = {find_sound_length(path, length) for length in range(1, committed[FACTS] + 1, 7)}
    assert {page.position.offset for page in written} <= ends
    assert [has_sound_end(path, end) for end in sorted(ends)] == [False] + [True] * (len(ends) - 1)
    assert not any(has_sound_end(path, end - 1) for end in ends if end)


def test_pages_that_the_frontier_does_not_know_are_not_deleted(tmp_path: Path) -> None:
    make_damaged(tmp_path)
    with pytest.raises(UsageError, match="does not know"):
        open_archive(tmp_path, None)
    (tmp_path / "committed").write_bytes(b"")
    open_archive(tmp_path, None).close()
    assert [path.name for path in tmp_path.iterdir()] == ["committed"]


CRAWL = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_recovery import commit, open_archive, write_page
folder = Path(sys.argv[1])
ledger = folder / "ledger"
number, committed = json.loads(ledger.read_text()) if ledger.exists() else (0, None)
archive = open_archive(folder / "warc", committed, segment_bytes=20_000)
assert archive.lost == []
while True:
    for _ in range(4):
        write_page(archive, number)
        number += 1
    archive.flush()
    archive.sync()
    # The frontier's part: a durable, atomic commit.
    with (folder / "new").open("w") as file:
        json.dump([number, archive.positions()], file)
        file.flush()
        os.fsync(file.fileno())
    (folder / "new").replace(ledger)
    archive.publish()
    print(number, flush=True)
"""


def test_a_process_killed_while_it_writes_leaves_all_that_it_committed(tmp_path: Path) -> None:
    instant = random.Random(7)
    script = CRAWL.format(tests=str(Path(__file__).parent))
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        for _ in range(instant.randrange(1, 8)):
            assert process.stdout.readline()
        time.sleep(instant.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        number, committed = json.loads((tmp_path / "ledger").read_text())
        published = read_committed(tmp_path / "warc")
        assert all(published[name] <= committed[name] for name in published)
        archive = open_archive(tmp_path / "warc", committed, segment_bytes=20_000)
        archive.close()
        assert archive.lost == []
        check_sound(tmp_path / "warc", list(range(number)))
    assert len(committed) > 4


def test_a_segment_of_which_nothing_is_left_is_lost_and_no_reason_to_stop(tmp_path: Path) -> None:
    archive = open_archive(tmp_path)
    write_page(archive, 1)
    committed = commit(archive)
    archive.close()
    (tmp_path / FACTS).write_bytes(b"")
    archive = open_archive(tmp_path, committed)
    assert archive.lost == [Position(FACTS, 0)]
    archive.close()
