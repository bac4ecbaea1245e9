"""`rdfspider forget`: gone from every answer when it returns, whoever indexes, and not brought back by a rebuild."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.index.graph_store import GraphStore, serve_graphs
from tests.index.holdings import check_merge, read_cards, read_quads
from tests.index.logs import ShardLog

from rdfspider import Crawl
from rdfspider.cli import run_command
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import is_indexed
from waiting import PATIENCE_S, wait_until


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A crawl that is indexed."""
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    path = tmp_path / "crawl"
    Crawl.create(path, ["http://a.test/"], shards=1)
    ShardLog(path).write("http://a.test/1", "http://a.test/2", "http://b.test/3", "http://www.b.test/4")
    assert run_command(["index", "--dir", str(path)]) == 0
    return path


def is_found(folder: Path, url: str) -> bool:
    """Whether anything of a page is in any snapshot, or in the text index."""
    in_cards = any(url.encode() in card for card in read_cards(folder))
    snapshots = [path for path in IndexPaths(folder).snapshots.iterdir() if path.name.isdecimal()]
    assert snapshots
    return in_cards or any(f"<{url}" in str(quad) for path in snapshots for quad in Store.read_only(str(path)))


def test_a_page_and_a_site(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert is_found(folder, "http://a.test/1")
    assert run_command(["forget", "http://a.test/1", "--dir", str(folder)]) == 0
    assert "forgotten: the page http://a.test/1; 1 page was indexed" in capsys.readouterr().err
    assert not is_found(folder, "http://a.test/1")
    assert run_command(["forget", "b.test", "--dir", str(folder)]) == 0
    assert "all pages of b.test and of all hosts below it; 2 pages were indexed" in capsys.readouterr().err
    assert not is_found(folder, "http://b.test/3")
    assert not is_found(folder, "http://www.b.test/4")
    assert is_found(folder, "http://a.test/2")
    check_merge(folder)
    quads, cards = read_quads(folder), read_cards(folder)
    assert run_command(["index", "--rebuild", "--dir", str(folder)]) == 0
    assert (read_quads(folder), read_cards(folder)) == (quads, cards)


def test_it_can_be_undone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quads, cards = read_quads(folder), read_cards(folder)
    assert run_command(["forget", "b.test", "--dir", str(folder)]) == 0
    assert run_command(["forget", "http://a.test/1", "--dir", str(folder)]) == 0
    capsys.readouterr()
    assert run_command(["forget", "--undo", "B.test.", "--dir", str(folder)]) == 0
    assert (
        "no longer forgotten: all pages of b.test and of all hosts below it; 2 pages indexed" in capsys.readouterr().err
    )
    assert is_found(folder, "http://b.test/3") and is_found(folder, "http://www.b.test/4")
    # What else was forgotten stays out, also after a rebuild.
    assert not is_found(folder, "http://a.test/1")
    assert run_command(["index", "--rebuild", "--dir", str(folder)]) == 0
    assert is_found(folder, "http://b.test/3") and not is_found(folder, "http://a.test/1")
    assert run_command(["forget", "--undo", "http://a.test/1", "--dir", str(folder)]) == 0
    assert (read_quads(folder), read_cards(folder)) == (quads, cards)
    check_merge(folder)
    # It can be forgotten again, and undone again.
    assert run_command(["forget", "b.test", "--dir", str(folder)]) == 0
    assert not is_found(folder, "http://b.test/3")
    assert run_command(["forget", "--undo", "b.test", "--dir", str(folder)]) == 0
    assert (read_quads(folder), read_cards(folder)) == (quads, cards)


def test_what_was_not_forgotten_cannot_be_undone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["forget", "b.test", "--dir", str(folder)]) == 0
    for target, hint in (("zz.example", "forgotten.txt lists what is"), ("www.b.test", "forgotten are b.test")):
        capsys.readouterr()
        assert run_command(["forget", "--undo", target, "--dir", str(folder)]) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"rdfspider: {target} was not forgotten; ") and hint in told


def test_the_indexer_that_runs_undoes_it(folder: Path) -> None:
    assert run_command(["forget", "a.test", "--dir", str(folder)]) == 0
    process = subprocess.Popen([sys.executable, "-m", "rdfspider", "index", "--follow", "--dir", str(folder)])
    try:
        wait_until(lambda: is_indexed(IndexPaths(folder)))
        found = Crawl.open(folder).forget("a.test", undo=True)
        assert (found.pages, found.waiting) == (2, ())
        wait_until(lambda: is_found(folder, "http://a.test/1"))
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def test_what_is_not_there_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for target, hint in (
        ("b.tset", "did you mean b.test"),
        ("http://a.test/11", "did you mean http://a.test/1"),
        ("nothing.example", "--ahead keeps it out all the same"),
    ):
        capsys.readouterr()
        assert run_command(["forget", target, "--dir", str(folder)]) == 2
        told = capsys.readouterr().err
        assert f"nothing of {target} is indexed" in told and hint in told
        assert not IndexPaths(folder).forgotten.exists()
    assert run_command(["forget", "--ahead", "c.test", "--dir", str(folder)]) == 0
    # What is forgotten already may be forgotten again.
    assert run_command(["forget", "http://www.c.test/1", "--dir", str(folder)]) == 0
    assert IndexPaths(folder).forgotten.read_text() == "c.test\nhttp://www.c.test/1\n"


def test_a_rule_that_was_deleted_makes_no_other_one_done(folder: Path) -> None:
    assert run_command(["forget", "http://a.test/1", "--dir", str(folder)]) == 0
    IndexPaths(folder).forgotten.write_text("")
    assert run_command(["forget", "http://a.test/2", "--dir", str(folder)]) == 0
    assert not is_found(folder, "http://a.test/2")


def test_what_an_outside_store_has_goes_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = GraphStore()
    with serve_graphs(held) as base:
        assert run_command(["index", "--store", f"{base}/store", "--dir", str(folder)]) == 0
        assert "<http://a.test/1>" in held.dump()
        # The crawl has kept the store.
        assert run_command(["forget", "http://a.test/1", "--dir", str(folder)]) == 0
        assert "<http://a.test/1>" not in held.dump()
        (folder / "forgotten.txt").write_text("http://a.test/1\nhttp://a.test/2\n")
        assert run_command(["index", "--rebuild", "--dir", str(folder)]) == 0
        assert "<http://a.test/2>" not in held.dump()
        assert "<http://b.test/3>" in held.dump()
        # The ledger is lost, so that only the log tells what the server may have.
        shutil.rmtree(folder / "index")
        (folder / "forgotten.txt").write_text("b.test\n")
        assert run_command(["index", "--dir", str(folder)]) == 0
        assert "<http://b.test/3>" not in held.dump()
        assert "<http://a.test/1>" in held.dump()
        # It is no store of the crawl any more.
        settings = folder / "crawl.toml"
        settings.write_text(settings.read_text().replace(f'"{base}/store"', ""))
        capsys.readouterr()
        assert run_command(["forget", "http://a.test/1", "--dir", str(folder)]) == 1
        assert f"still in {base}/store: remove it there" in capsys.readouterr().err
        assert run_command(["index", "--store", f"{base}/store", "--dir", str(folder)]) == 0
        assert "<http://a.test/1>" not in held.dump()


def test_a_rebuild_removes_from_a_store_what_no_archive_tells_of_any_more(folder: Path, tmp_path: Path) -> None:
    held = GraphStore()
    ShardLog(tmp_path / "other").write("http://d.test/")
    (facts,) = tmp_path.glob("other/shards/000/warc/*-facts-*.warc.gz")
    with serve_graphs(held) as base:
        assert run_command(["index", str(facts), "--store", f"{base}/store", "--dir", str(folder)]) == 0
        assert "<http://d.test/>" in held.dump()
        IndexPaths(folder).sources.unlink()
        IndexPaths(folder).forgotten.write_text("d.test\n")
        assert run_command(["index", "--rebuild", "--dir", str(folder)]) == 0
        assert "<http://d.test/>" not in held.dump()


def test_the_indexer_that_runs_does_it(folder: Path) -> None:
    process = subprocess.Popen([sys.executable, "-m", "rdfspider", "index", "--follow", "--dir", str(folder)])
    try:
        wait_until(lambda: is_indexed(IndexPaths(folder)))
        removal = Crawl.open(folder).forget("a.test")
        assert (removal.pages, removal.waiting) == (2, ())
        assert not is_found(folder, "http://a.test/1")
        assert is_found(folder, "http://b.test/3")
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def test_what_is_not_indexed_yet_is_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    folder = tmp_path / "crawl"
    Crawl.create(folder, ["http://a.test/"], shards=1)
    assert Crawl.open(folder).forget("http://a.test/1") == ("the page http://a.test/1", 0, (), ())
    ShardLog(folder).write("http://a.test/1", "http://a.test/2")
    assert run_command(["index", "--dir", str(folder)]) == 0
    assert not is_found(folder, "http://a.test/1")
    assert is_found(folder, "http://a.test/2")


def test_what_is_neither_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run_command(["forget", "a.test/1", "--dir", str(folder)]) == 2
    assert "is neither a page nor a site" in capsys.readouterr().err
    assert not IndexPaths(folder).forgotten.exists()
