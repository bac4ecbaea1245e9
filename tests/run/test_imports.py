"""Archives of others become part of a crawl, once each, whatever happens meanwhile."""

import gzip
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rdfspider.archive.warc import make_id, make_record
from rdfspider.cli import run_command
from rdfspider.run.crawl import Crawl
from web import check_archives, read_outcomes, read_responses, read_visits

HTML = (("Content-Type", "text/html; charset=utf-8"),)


def make_page(name: str) -> bytes:
    return (
        f'<title>{name}</title><p itemscope itemtype="http://schema.org/Thing"><b itemprop="name">{name}</b>'.encode()
    )


def write_warc(
    path: Path,
    pages: Mapping[str, bytes],
    date: str = "2024-05-01T10:00:00Z",
    headers: Sequence[tuple[str, str]] = HTML,
) -> Path:
    """An archive as Common Crawl makes them: a gzip member a record."""
    head = "HTTP/1.1 200 OK\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
    with path.open("ab") as file:
        for url, body in pages.items():
            fields = [
                ("WARC-Record-ID", make_id()),
                ("WARC-Date", date),
                ("WARC-Target-URI", url),
                ("Content-Type", "application/http; msgtype=response"),
            ]
            file.write(make_record("response", fields, head.encode() + body))
    return path


def make_pages(count: int, sites: int = 7) -> dict[str, bytes]:
    return {f"https://site{n % sites}.example/{n}": make_page(f"Thing {n}") for n in range(count)}


def import_archives(folder: Path, *sources: Path) -> int:
    return run_command(["import", *map(str, sources), "--dir", str(folder), "--shards", "2"])


@pytest.fixture(autouse=True)
def small_disks_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")


def test_pages_of_archives_are_in_the_crawl_as_if_it_had_fetched_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = make_pages(40)
    urls = list(pages)
    first = write_warc(tmp_path / "a.warc.gz", {url: pages[url] for url in urls[:25]})
    second = write_warc(tmp_path / "b.warc.gz", {url: pages[url] for url in urls[25:]})
    folder = tmp_path / "crawl"
    assert import_archives(folder, first, second) == 0
    assert "imported    40 pages" in capsys.readouterr().err
    assert read_responses(folder) == Counter(list(pages))
    assert {outcome.get("reason") for outcome in read_outcomes(folder)} == {"imported"}
    check_archives(folder)
    (visit,) = read_visits(folder)[urls[0]]
    assert visit["WARC-Date"].startswith("2024-05-01T10:00:00")
    totals = Crawl.open(folder).status().totals
    assert (totals.pages, totals.structured, totals.known, totals.hosts) == (40, 40, 40, 7)
    assert totals.scheduled == 0
    shards = [len(list((folder / "shards" / number / "warc").glob("*-pages-*"))) for number in ("000", "001")]
    assert min(shards) > 0, "one shard has it all"


def test_what_was_imported_is_not_imported_again_and_newer_captures_are(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    old = write_warc(tmp_path / "old.warc.gz", make_pages(10))
    assert import_archives(folder, old) == 0
    copy = tmp_path / "copy.warc.gz"
    copy.write_bytes(old.read_bytes())
    assert import_archives(folder, copy) == 0
    assert len(read_outcomes(folder)) == 10
    changed = {url: make_page("changed") for url in list(make_pages(10))[:3]}
    newer = write_warc(tmp_path / "newer.warc.gz", changed, date="2025-05-01T10:00:00Z")
    assert import_archives(folder, newer) == 0
    assert sum(read_responses(folder).values()) == 13
    totals = Crawl.open(folder).status().totals
    assert (totals.known, totals.done) == (10, 10)


def test_every_capture_is_counted_as_imported_or_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = {"https://a.example/": make_page("A")}
    archive = write_warc(tmp_path / "a.warc.gz", page, date="2024-01-01T10:00:00Z")
    write_warc(archive, page, date="2024-01-02T10:00:00Z")
    folder = tmp_path / "crawl"
    assert import_archives(folder, archive) == 0
    told = capsys.readouterr().err
    assert "imported    1 page in" in told
    assert "passed over 1 page that was there, as new or newer\n" in told
    found = Crawl.open(folder).why("https://a.example/")
    assert found.answer == f"imported: {found.quads} quads, captured 2024-01-02"
    assert (found.found_as, found.depth) == ("import", None)
    assert found.quads > 0


def test_a_page_that_asks_not_to_be_indexed_leaves_neither_data_nor_body(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    headers = (*HTML, ("X-Robots-Tag", "noindex"))
    assert import_archives(folder, write_warc(tmp_path / "a.warc.gz", make_pages(1), headers=headers)) == 0
    (outcome,) = read_outcomes(folder)
    assert outcome.get("reason") == "noindex"
    assert not read_responses(folder)
    assert Crawl.open(folder).status().totals.quads == 0


def test_an_import_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    pages = make_pages(3000)
    archive = write_warc(tmp_path / "a.warc.gz", pages)
    command = [sys.executable, "-m", "rdfspider", "import", str(archive), "--dir", str(folder), "--shards", "2"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    facts = folder / "shards/000/warc/committed"
    while process.poll() is None and not (facts.exists() and b"pages" in facts.read_bytes()):
        time.sleep(0.01)
    was_running = process.poll() is None
    for pid in [process.pid, *_children(process.pid)]:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    assert was_running, "it was over before it could be killed"
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert read_responses(folder) == Counter(list(pages))
    assert Crawl.open(folder).status().totals.pages == len(pages)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_damage_is_told_and_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "crawl"
    archive = write_warc(tmp_path / "a.warc.gz", make_pages(20))
    body = bytearray(archive.read_bytes())
    second = body.index(b"\x1f\x8b\x08", 3)
    body[second + 30 : second + 60] = bytes(30)
    archive.write_bytes(body)
    assert import_archives(folder, archive) == 0
    told = capsys.readouterr().err
    assert "imported    19 pages" in told
    assert f"{archive}: the record at byte {second} was passed over" in told


@pytest.mark.parametrize(
    ("name", "body", "complaint"),
    [
        ("missing.warc.gz", None, "no WARC file is there"),
        ("page.warc.gz", gzip.compress(b"<p>no archive", mtime=0), "no WARC record in it"),
    ],
)
def test_what_is_no_archive_is_said_before_anything_is_made(
    name: str, body: bytes | None, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if body is not None:
        (tmp_path / name).write_bytes(body)
    assert import_archives(tmp_path / "crawl", tmp_path / name) == 2
    told = capsys.readouterr().err
    assert complaint in told
    assert told.count("\n") == 1
    assert not (tmp_path / "crawl").exists()


def test_a_full_disk_ends_an_import_and_says_so(tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", make_pages(10))
    command = [sys.executable, "-m", "rdfspider", "import", str(archive), "--dir", str(tmp_path / "crawl")]
    environment = os.environ | {"RDFSPIDER_RUN_MIN_FREE_BYTES": "900TB"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "make room and run the same command again" in done.stderr
    assert done.stderr.endswith("rdfspider: the import has ended early; what was imported is kept\n")
    assert "Traceback" not in done.stderr
    assert import_archives(tmp_path / "crawl", archive) == 0
    assert sum(read_responses(tmp_path / "crawl").values()) == 10


def test_files_in_the_current_folder_are_not_run(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit(3)")
    archive = write_warc(tmp_path / "a.warc.gz", make_pages(5))
    script = Path(sys.executable).with_name("rdfspider")
    done = subprocess.run(
        [script, "import", archive, "--dir", "crawl"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert sum(read_responses(tmp_path / "crawl").values()) == 5
