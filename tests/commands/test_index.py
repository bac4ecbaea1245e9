"""`rdfspider index`, as a person types it: up to date, again, with files from elsewhere, and beside one that runs."""

import contextlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import RecordMaker
from tests.index.graph_store import GraphStore, serve_graphs
from tests.index.holdings import read_cards, read_quads
from tests.index.logs import ShardLog

from rdfspider import Crawl
from rdfspider.cli import run_command
from rdfspider.index.indexer import hold_index
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import is_indexed, read_index_status
from rdfspider.index.stores import view
from waiting import wait_until


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A crawl of one shard that has three pages, and was not indexed."""
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    path = tmp_path / "crawl"
    Crawl.create(path, ["http://a.test/"], shards=1)
    ShardLog(path).write("http://a.test/1", "http://a.test/2", "http://b.test/3")
    return path


def count_pages(folder: Path) -> int:
    status = read_index_status(IndexPaths(folder))
    # One that has just begun has said nothing yet.
    return status.pages if status else 0


def test_it_indexes_and_says_what(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["index", "--dir", str(folder)]) == 0
    assert capsys.readouterr().err == "indexed     3 pages, 6 quads, 3 entities\n"
    assert Crawl.open(folder).status().index is not None
    assert run_command(["status", "--dir", str(folder)]) == 0
    assert len(read_cards(folder)) == 6


def test_files_from_elsewhere_make_a_folder(
    tmp_path: Path, make_record: RecordMaker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    archives = tmp_path / "archives"
    archives.mkdir()
    page = b'<p vocab="http://schema.org/" typeof="Book"><b property="name">Momo</b></p>'
    (archives / "one.warc").write_bytes(make_record("http://c.test/momo", page))
    folder = tmp_path / "new"
    assert run_command(["index", str(archives), "--dir", str(folder)]) == 0
    assert "indexed     1 pages" in capsys.readouterr().err
    assert any("Momo" in quad for quad in read_quads(folder))
    # They stay part of it, and are not read twice.
    (archives / "two.warc").write_bytes(make_record("http://c.test/two", page))
    assert run_command(["index", str(archives / "*.warc"), "--dir", str(folder)]) == 0
    assert count_pages(folder) == 2
    assert run_command(["index", "--rebuild", "--dir", str(folder)]) == 0
    assert count_pages(folder) == 2
    (archives / "two.warc").unlink()
    assert run_command(["index", "--dir", str(folder)]) == 0
    told = capsys.readouterr().err
    assert f"rdfspider: {archives / 'two.warc'}: No such file or directory; it is indexed when it is back" in told
    assert f"missing     {archives / 'two.warc'}: No such file" in told


def test_what_could_not_be_indexed_is_no_success(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", str(10**15))
    assert run_command(["index", "--dir", str(folder)]) == 1
    told = capsys.readouterr().err
    assert "are to be kept free" in told
    assert "not everything is indexed" in told


def test_pages_that_a_store_refuses_are_told_and_no_failure(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "FIRST_WAIT_S", 0.01)
    held = GraphStore()
    held.refuse = "the thing of http://b.test/3"
    with serve_graphs(held) as base:
        assert run_command(["index", "--store", f"{base}/store", "--dir", str(folder)]) == 0
        assert f"{base}/store does not take 1 page" in capsys.readouterr().err


def test_a_rebuild_gives_the_same(folder: Path) -> None:
    run_command(["index", "--dir", str(folder)])
    quads, cards = read_quads(folder), read_cards(folder)
    # What is left of one that was killed, in whatever state.
    shutil.copytree(folder / "index", folder / "index.new")
    (folder / "index.old").mkdir()
    assert run_command(["index", "--rebuild", "--dir", str(folder)]) == 0
    assert (read_quads(folder), read_cards(folder)) == (quads, cards)
    assert sorted(path.name for path in folder.glob("index*")) == ["index"]
    # Killed between its last two steps.
    shutil.copytree(folder / "index", folder / "index.new")
    (folder / "index").rename(folder / "index.old")
    assert run_command(["index", "--dir", str(folder)]) == 0
    assert (read_quads(folder), read_cards(folder)) == (quads, cards)


def test_a_rebuild_mends_an_index_that_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["index", "--dir", str(folder)])
    quads = read_quads(folder)
    paths = IndexPaths(folder)
    paths.version.write_text("0\n")
    capsys.readouterr()
    assert run_command(["index", "--dir", str(folder)]) == 2
    assert "make it again with `rdfspider index --rebuild" in capsys.readouterr().err
    for path in paths.quads.iterdir():
        path.write_bytes(b"rubbish")
    paths.ledger.write_bytes(b"rubbish" * 1000)
    assert run_command(["index", "--rebuild", "--dir", str(folder)]) == 0
    assert read_quads(folder) == quads


def test_one_that_runs_is_told(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["index", "--dir", str(folder)])
    other = tmp_path / "other"
    ShardLog(other).write("http://d.test/")
    (facts,) = other.glob("shards/000/warc/*-facts-*.warc.gz")
    capsys.readouterr()
    with hold_index(IndexPaths(folder)):
        assert run_command(["index", "--dir", str(folder)]) == 0
        assert "is being indexed already" in capsys.readouterr().err
        assert run_command(["index", str(facts), "--dir", str(folder)]) == 0
        assert "it takes the WARC files, too" in capsys.readouterr().err
        assert run_command(["index", "--rebuild", "--dir", str(folder)]) == 2
    assert run_command(["index", "--dir", str(folder)]) == 0
    assert count_pages(folder) == 4


@contextlib.contextmanager
def follow(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-m", "rdfspider", "index", "--follow", "--dir", str(folder)])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_it_follows_until_it_is_interrupted(folder: Path) -> None:
    with follow(folder) as process:
        wait_until(lambda: is_indexed(IndexPaths(folder)) and count_pages(folder) == 3)
        ShardLog(folder / "x").write("http://d.test/")
        (facts,) = folder.glob("x/shards/000/warc/*-facts-*.warc.gz")
        assert run_command(["index", str(facts), "--dir", str(folder)]) == 0
        wait_until(lambda: count_pages(folder) == 4)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert not is_indexed(IndexPaths(folder))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--dir", "nowhere"], "nowhere: there is no such folder"),
        (["nothing.warc", "--dir", "D"], "nothing.warc: no WARC file is there"),
        (["--rebuild", "--follow", "--dir", "crawl"], "--rebuild and --follow: choose one"),
        (["--store", "ftp://x", "--dir", "crawl"], "--store ftp://x: the store must be given by an http"),
    ],
)
def test_what_was_typed_wrong_gets_one_line(
    folder: Path,
    arguments: list[str],
    complaint: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder.parent)
    assert run_command(["index", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"rdfspider: {complaint}")
    assert not (folder.parent / "D").exists()
