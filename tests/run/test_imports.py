"""Archives of others become part of a crawl, once each, whatever happens meanwhile."""

import asyncio
import gzip
import importlib
import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from disks import mount_disk
from rdfspider import UsageError
from rdfspider.api import Crawl
from rdfspider.archive.warc import make_id, make_record
from rdfspider.archive.writer import ArchiveWriter
from rdfspider.cli import run_command
from rdfspider.config import ExtractConfig
from rdfspider.crawl.folder import load_domains
from rdfspider.crawl.status import Status
from rdfspider.records import Finished
from rdfspider.run import imports
from rdfspider.run.imports import Importer, ImportOrder
from rdfspider.urls import MAX_URL_CHARS
from web import Web, check_archives, make_chain, pages_of, read_outcomes, read_responses, read_visits

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
    status: str = "HTTP/1.1 200 OK",
) -> Path:
    """An archive as Common Crawl makes them: a gzip member a record."""
    head = f"{status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
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


def import_archives(folder: Path, *sources: Path, shards: int = 1) -> int:
    return run_command(["import", *map(str, sources), "--dir", str(folder), "--shards", str(shards)])


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
    assert import_archives(folder, first, second, shards=2) == 0
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


def test_a_page_with_a_url_that_no_crawl_takes_is_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {f"https://a.example/{'x' * 9_000}": make_page("long"), "https://a.example/": make_page("A")}
    folder = tmp_path / "crawl"
    assert import_archives(folder, write_warc(tmp_path / "a.warc.gz", pages)) == 0
    told = capsys.readouterr().err
    assert "imported    1 page in" in told
    assert f"passed over 1 page with a URL of more than {MAX_URL_CHARS:,} characters" in told
    assert read_responses(folder) == Counter(["https://a.example/"])


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
    assert found.answer == f"imported: {found.quads} statements, captured 2024-01-02"
    assert (found.found_as, found.depth) == ("import", None)
    assert found.quads > 0


def test_answers_other_than_2xx_are_counted_and_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", make_pages(3))
    others = {f"https://site{number}.example/other": b"nothing" for number in range(4)}
    write_warc(archive, others, status="HTTP/1.1 404 Not Found")
    write_warc(archive, {"https://a.example/moved": b""}, status="HTTP/1.1 301 Moved", headers=(("Location", "/"),))
    write_warc(archive, {"https://a.example/broken": b"?"}, status="nothing that is HTTP")
    folder = tmp_path / "crawl"
    assert import_archives(folder, archive) == 0
    told = capsys.readouterr().err
    assert "imported    3 pages in" in told
    assert "passed over 6 answers other than 2xx: 404 4, 301 1, protocol 1\n" in told
    totals = Crawl.open(folder).status().totals
    assert (totals.statuses, totals.errors) == ({"200": 3, "404": 4, "301": 1}, {"protocol": 1})
    assert (totals.pages, totals.known) == (3, 3)
    # The next import counts its own.
    assert import_archives(folder, write_warc(tmp_path / "b.warc.gz", make_pages(4))) == 0
    assert Crawl.open(folder).status().totals.statuses == {"200": 1}
    assert "other than 2xx" not in capsys.readouterr().err


def test_a_page_that_asks_not_to_be_indexed_leaves_neither_data_nor_body(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    headers = (*HTML, ("X-Robots-Tag", "noindex"), ("ETag", '"1"'))
    assert import_archives(folder, write_warc(tmp_path / "a.warc.gz", make_pages(1), headers=headers)) == 0
    (outcome,) = read_outcomes(folder)
    assert outcome.get("reason") == "noindex"
    assert not read_responses(folder)
    assert Crawl.open(folder).status().totals.quads == 0
    found = Crawl.open(folder).why(next(iter(make_pages(1))))
    assert found.answer == "imported, but nothing of it is kept: it asks for noindex (X-Robots-Tag)"
    # A crawl that asks for it later must not be told that it has not changed since.
    assert found.digest == ""


def test_an_import_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    pages = make_pages(1500)
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
    folder = tmp_path / "crawl"
    command = [sys.executable, "-m", "rdfspider", "import", str(archive), "--dir", str(folder), "--shards", "1"]
    environment = os.environ | {"RDFSPIDER_RUN_MIN_FREE_BYTES": "900TB"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "make room and run the same command again" in done.stderr
    assert done.stderr.endswith("rdfspider: the import has ended early; what was imported is kept\n")
    assert "Traceback" not in done.stderr
    assert import_archives(folder, archive) == 0
    assert sum(read_responses(folder).values()) == 10


def test_the_disk_of_the_frontier_counts_too(tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", make_pages(10))
    volume = tmp_path / "volume"
    volume.mkdir()
    with mount_disk(tmp_path / "small", 50_000_000) as small:
        folder = small / "crawl"
        command = [sys.executable, "-m", "rdfspider", "import", str(archive), "--dir", str(folder), "--shards", "1"]
        settings = {"RDFSPIDER_RUN_MIN_FREE_BYTES": "60MB", "RDFSPIDER_ARCHIVE_VOLUMES": str(volume)}
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, done.stderr
        assert f"less than 60 MB are free on the disk of {folder / 'shards/000'}; make room" in done.stderr
        assert not read_outcomes(folder)


def test_files_in_the_current_folder_are_not_run(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit(3)")
    archive = write_warc(tmp_path / "a.warc.gz", make_pages(5))
    script = Path(sys.executable).with_name("rdfspider")
    done = subprocess.run(
        [script, "import", archive, "--dir", "crawl"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert sum(read_responses(tmp_path / "crawl").values()) == 5


def test_a_file_with_the_name_and_the_size_of_another_is_another(tmp_path: Path) -> None:
    """As those of two crawls are."""
    folder = tmp_path / "crawl"
    first, second = (tmp_path / name / "shard-000-pages-000.warc.gz" for name in ("a", "b"))
    for path, url in ((first, "https://a.example/"), (second, "https://b.example/")):
        path.parent.mkdir()
        write_warc(path, {url: make_page("one")})
    while second.stat().st_size != first.stat().st_size:
        # Identifiers of records differ, and so do lengths.
        second.unlink()
        write_warc(second, {"https://b.example/": make_page("two")})
    assert import_archives(folder, first) == 0
    assert import_archives(folder, second) == 0
    assert read_responses(folder) == Counter(["https://a.example/", "https://b.example/"])


def test_no_new_frontier_is_made_where_a_disk_is_missing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "crawl"
    assert import_archives(folder, write_warc(tmp_path / "a.warc.gz", make_pages(10)), shards=2) == 0
    frontier = folder / "shards/001/frontier"
    frontier.rename(tmp_path / "elsewhere")
    more = write_warc(tmp_path / "b.warc.gz", make_pages(20))
    assert import_archives(folder, more, shards=2) == 1
    told = capfd.readouterr().err
    assert f"its frontier is missing: mount its disk, or `rdfspider doctor --dir {folder}` mends" in told
    assert str(frontier) in told
    assert not frontier.exists()
    (tmp_path / "elsewhere").rename(frontier)
    assert import_archives(folder, more, shards=2) == 0
    assert sum(read_responses(folder).values()) == 20


@pytest.mark.parametrize(
    "limit", [{"pages": 2}, {"pages_per_host": 2}, {"pages_per_domain": 2}, {"bytes": 10_000, "pages": 2}]
)
def test_what_was_imported_uses_up_no_limit(limit: dict[str, int], tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    imported = {f"http://a.test/old-{number}": make_page("old") + bytes(3000) for number in range(5)}
    assert import_archives(folder, write_warc(tmp_path / "a.warc.gz", imported)) == 0
    with Web(make_chain("a.test", 10)) as web:
        resolve = [f"a.test=127.0.0.1:{web.ports['127.0.0.1']}"]
        crawl = Crawl.create(folder, ["http://a.test/"], resolve=resolve, delay_s=0, time_s=600, **limit)
        totals = crawl.run().totals
        why = crawl.why("http://a.test/never-seen")
    assert sum(exchange.status == 200 for exchange in pages_of(web.log)) == 2
    assert (totals.pages, totals.imported_pages, totals.sites) == (7, 5, 1)
    assert "2 pages" in why.answer or "all its pages: 2" in why.answer


def test_the_time_of_an_import_is_not_the_crawls(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    assert import_archives(folder, write_warc(tmp_path / "a.warc.gz", make_pages(10))) == 0
    status = Crawl.open(folder).status()
    assert status.run_s > 0
    assert status.elapsed_s == 0
    assert not Crawl.open(folder).why("https://site0.example/other").answer.endswith("(crawl.time_s)")


async def run_importer(folder: Path, *paths: Path) -> Importer:
    """One shard's import, in this process."""
    crawl = Crawl.create_for_import(folder, shards=1)
    running = Importer(ImportOrder(0, folder, crawl.config, paths), load_domains(folder, 1))
    await running.run()
    return running


def test_a_group_ends_where_its_pages_say_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace = f"http://example.org/{'long' * 200}/"
    turtle = f"@prefix n: <{namespace}> .\n".encode() + b"".join(b"n:s n:p n:o%d .\n" % number for number in range(500))
    pages = {f"https://a.example/{number}": turtle for number in range(4)}
    archive = write_warc(tmp_path / "a.warc.gz", pages, headers=[("Content-Type", "text/turtle")])
    assert len(turtle) * 4 < 100_000
    monkeypatch.setattr(imports, "_GROUP_BYTES", 100_000)
    groups: list[int] = []
    commit = Importer._commit

    async def watch(self: Importer, mark: str, position: int) -> None:
        groups.append(len(self._group))
        await commit(self, mark, position)

    monkeypatch.setattr(Importer, "_commit", watch)
    asyncio.run(run_importer(tmp_path / "crawl", archive))
    assert groups == [1, 1, 1, 1, 0]
    assert len(read_outcomes(tmp_path / "crawl")) == 4


def test_a_page_that_cannot_be_written_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write_payload = ArchiveWriter._write_payload

    def fail_at_one(self: ArchiveWriter, finished: Finished, *rest: Any) -> Any:
        if finished.lease.url.endswith("/3"):
            raise ValueError("a fault of ours")
        return write_payload(self, finished, *rest)

    monkeypatch.setattr(ArchiveWriter, "_write_payload", fail_at_one)
    asyncio.run(run_importer(tmp_path / "crawl", write_warc(tmp_path / "a.warc.gz", make_pages(5))))
    assert len(read_outcomes(tmp_path / "crawl")) == 5
    assert sum(read_responses(tmp_path / "crawl").values()) == 4
    assert "the records of https://site3.example/3 could not be written" in caplog.text


@pytest.fixture
def deadly_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExtractConfig]:
    """A page that asks for a context kills the importer that reads it, and no helper."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/deadly_documents.py").write_text(
        "import os, sys\n\ndef give(url):\n    if 'rdfspider.run.imports' in sys.orig_argv:\n        os._exit(9)\n"
        '    return b\'{"@context": {"@vocab": "http://example.org/v/"}}\'\n'
    )
    monkeypatch.syspath_prepend(tmp_path / "modules")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"), prepend=os.pathsep)
    yield ExtractConfig(documents=importlib.import_module("deadly_documents").give)
    sys.modules.pop("deadly_documents")


def test_what_kills_the_importer_is_read_by_the_helper_in_its_next_life(
    tmp_path: Path, deadly_documents: ExtractConfig, caplog: pytest.LogCaptureFixture
) -> None:
    asking = b'{"@context": "http://example.org/context", "@id": "http://example.org/a", "name": "A"}'
    pages = {f"https://a.example/{number}": asking for number in range(2)}
    archive = write_warc(tmp_path / "a.warc.gz", pages, headers=[("Content-Type", "application/ld+json")])
    folder = tmp_path / "crawl"
    crawl = Crawl.create_for_import(folder, shards=1)
    with caplog.at_level(logging.WARNING):
        status, _ = Crawl(folder, replace(crawl.config, extract=deadly_documents)).import_archives([str(archive)])
    assert caplog.text.count("has ended with code 9") == 2
    assert (status.totals.pages, status.totals.quads) == (2, 2)


def test_archives_can_be_imported_from_any_thread(tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", make_pages(10))
    crawl = Crawl.create_for_import(tmp_path / "crawl", shards=1)
    with ThreadPoolExecutor(1) as thread:
        status, (report,) = thread.submit(crawl.import_archives, [str(archive)]).result()
    assert (status.state, report.imported) == ("ended", 10)


def test_archives_can_be_imported_where_a_loop_runs_and_interrupted_there(tmp_path: Path) -> None:
    """As in a notebook."""
    archive = write_warc(tmp_path / "a.warc.gz", make_pages(3000))
    crawl = Crawl.create_for_import(tmp_path / "crawl", shards=1)

    def interrupt(_status: Status, _reports: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    async def run(*watch: Any) -> str:
        return crawl.import_archives([str(archive)], *watch)[0].reason

    # Unlike `asyncio.run`, and like a notebook, this leaves Python's own handler in its place.
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(run(interrupt)) == "interrupted"
    assert loop.run_until_complete(run()) == "finished"
    loop.close()
    assert sum(read_responses(tmp_path / "crawl").values()) == 3000


def test_who_wants_the_folder_of_an_import_is_told_so_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    crawl = Crawl.create_for_import(folder, shards=1)
    # As a crawl that was killed leaves it.
    (folder / "control").write_text("ipc:///nowhere/coordinator\n")
    told: list[str] = []

    def ask(_status: Status, _reports: object) -> None:
        if told:
            return
        for command in (Crawl.open(folder).stop, lambda: Crawl.open(folder).add_seeds(["https://a.example/"])):
            with pytest.raises(UsageError) as complaint:
                command()
            told.append(str(complaint.value))

    crawl.import_archives([str(write_warc(tmp_path / "a.warc.gz", make_pages(10)))], ask)
    user = f"an import runs there (process {os.getpid()}); wait for it, or end it with Ctrl-C"
    assert told == [f"{folder} is in use: {user}"] * 2
    assert not (folder / "control").exists()
    assert Crawl.open(folder).add_seeds(["https://a.example/"]) == 1
