"""All views together: one process has them, they say how far they are, and what ends them costs nothing."""

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.index.holdings import check_merge, read_cards, read_quads
from tests.index.logs import ShardLog

from disks import mount_disk
from rdfspider.config import Config, IndexConfig, RunConfig
from rdfspider.errors import InUseError, UsageError
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.view import GraphView
from rdfspider.index.indexer import Indexer, hold_index
from rdfspider.index.layout import IndexPaths, check_index
from rdfspider.index.quads.view import QuadView
from rdfspider.index.status import IndexStatus, is_indexed, read_index_status
from rdfspider.index.text.view import TextView
from waiting import PATIENCE_S, wait_until

CONFIG = replace(Config(), run=RunConfig(min_free_bytes=0))


def index_all(folder: Path) -> IndexStatus:
    indexer = Indexer(IndexPaths(folder), CONFIG)
    indexer.finish()
    return indexer.run()


def test_pages_are_found_by_both_and_counted(tmp_path: Path) -> None:
    log = ShardLog(tmp_path)
    log.write(*(f"http://a.test/{number}" for number in range(20)))
    log.write("http://a.test/3", status=410)
    status = index_all(tmp_path)
    assert (status.state, status.pages, status.quads, status.entities) == ("ended", 19, 38, 19)
    assert [view.name for view in status.views] == ["quads", "text", "graph"]
    assert read_index_status(IndexPaths(tmp_path)) == status
    quads = read_quads(tmp_path)
    assert any("the thing of http://a.test/2" in quad for quad in quads)
    assert not any("the thing of http://a.test/3" in quad for quad in quads)
    check_merge(tmp_path)
    # A page and a thing each.
    assert len(read_cards(tmp_path)) == 38
    check_index(IndexPaths(tmp_path))


@pytest.mark.parametrize("mechanics", [False, True])
def test_page_mechanics_are_in_no_view_unless_wanted(tmp_path: Path, mechanics: bool) -> None:
    url = "http://a.test/1"
    role = f"<{url}> <http://www.w3.org/1999/xhtml/vocab#role> <http://www.w3.org/1999/xhtml/vocab#main> <{url}> .\n"
    ShardLog(tmp_path).write(url, rdfa=role)
    indexer = Indexer(IndexPaths(tmp_path), replace(CONFIG, index=IndexConfig(mechanics=mechanics)))
    indexer.finish()
    assert indexer.run().quads == 2 + mechanics
    assert any("vocab#role" in quad for quad in read_quads(tmp_path)) == mechanics


def test_another_time_takes_what_is_new_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ShardLog(tmp_path)
    log.write("http://a.test/1")
    index_all(tmp_path)
    before = read_quads(tmp_path)
    log.write("http://a.test/2")
    assert index_all(tmp_path).pages == 2
    assert read_quads(tmp_path) > before
    taken: list[object] = []
    for view in (QuadView, TextView, GraphView):
        monkeypatch.setattr(view, "apply", lambda _, outcomes: taken.extend(outcomes))
    assert index_all(tmp_path).pages == 2
    assert not taken


def test_an_index_without_a_graph_gets_one_by_itself(tmp_path: Path) -> None:
    ShardLog(tmp_path).write(
        "http://a.test/1", rdfa="<http://a.test/1> <http://schema.org/about> <http://b.test/> <http://a.test/1> .\n"
    )
    index_all(tmp_path)
    shutil.rmtree(IndexPaths(tmp_path).graph)
    assert index_all(tmp_path).pages == 1
    with contextlib.closing(GraphReader(IndexPaths(tmp_path))) as reader:
        assert reader.list_targets("http://a.test/1") == ["http://b.test/"]


def test_one_process_has_the_index(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    assert not is_indexed(paths)
    with hold_index(paths):
        assert is_indexed(paths)
        with pytest.raises(InUseError, match=f"is being indexed already \\(process {os.getpid()}\\)"):
            index_all(tmp_path)
    assert not is_indexed(paths)


def test_an_index_of_another_version_is_refused(tmp_path: Path) -> None:
    ShardLog(tmp_path).write("http://a.test/1")
    index_all(tmp_path)
    IndexPaths(tmp_path).version.write_text("0\n")
    with pytest.raises(
        UsageError, match="its layout is '0', this one reads 5; make it again with `rdfspider index --rebuild"
    ):
        index_all(tmp_path)


def test_a_full_disk_suspends_it_until_there_is_room(tmp_path: Path) -> None:
    with mount_disk(tmp_path / "disk", 24_000_000) as disk:
        log = ShardLog(disk)
        log.write("http://a.test/first")
        indexer = Indexer(IndexPaths(disk), CONFIG)
        told: list[IndexStatus] = []
        thread = threading.Thread(target=indexer.run, args=[told.append])
        thread.start()
        try:
            wait_until(lambda: bool(told) and told[-1].state == "idle")
            log.write(*(f"http://a.test/{number}" for number in range(300)))
            filler = disk / "filler"
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
            wait_until(lambda: told[-1].state == "suspended")
            filler.unlink()
            wait_until(lambda: told[-1].state == "idle" and told[-1].pages == 301)
        finally:
            indexer.stop()
            thread.join(PATIENCE_S)
        assert sum("the thing of http://a.test/" in quad for quad in read_quads(disk)) == 2 * 301
        check_merge(disk)


@pytest.mark.parametrize("has_quads", [True, False])
def test_a_version_that_is_empty_is_none(tmp_path: Path, has_quads: bool) -> None:
    ShardLog(tmp_path).write("http://a.test/1")
    index_all(tmp_path)
    paths = IndexPaths(tmp_path)
    paths.version.write_bytes(b"")
    if has_quads:
        with pytest.raises(UsageError, match=f"make it again with `rdfspider index --rebuild --dir {tmp_path}`"):
            index_all(tmp_path)
        return
    shutil.rmtree(paths.quads)
    index_all(tmp_path)
    check_index(paths)


def test_a_store_that_has_lost_a_file_is_damaged(tmp_path: Path) -> None:
    ShardLog(tmp_path).write("http://a.test/1")
    index_all(tmp_path)
    for path in IndexPaths(tmp_path).quads.glob("MANIFEST*"):
        path.unlink()
    with pytest.raises(UsageError, match=f"is damaged .*rdfspider index --rebuild --dir {tmp_path}"):
        index_all(tmp_path)


@pytest.mark.parametrize("part", ["quads/CURRENT", "ledger.sqlite", "text/meta.json", "graph/manifest"])
def test_an_index_that_is_damaged_is_told_so_with_what_to_do(tmp_path: Path, part: str) -> None:
    ShardLog(tmp_path).write("http://a.test/1")
    index_all(tmp_path)
    (tmp_path / "index" / part).write_bytes(b"rubbish" * 100)
    with pytest.raises(UsageError, match=f"rdfspider index --rebuild --dir {tmp_path}"):
        index_all(tmp_path)


def test_it_says_how_far_it_is_and_that_it_is_gone(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    log = ShardLog(tmp_path)
    log.write("http://a.test/1")
    indexer = Indexer(paths, CONFIG)
    told: list[IndexStatus] = []
    thread = threading.Thread(target=indexer.run, args=[told.append])
    thread.start()
    try:
        wait_until(lambda: told and told[-1].state == "idle")
        found = read_index_status(paths)
        assert found is not None
        assert (found.state, found.pid, found.is_running) == ("idle", os.getpid(), True)
    finally:
        indexer.stop()
        thread.join(PATIENCE_S)
    found = read_index_status(paths)
    assert found is not None
    assert (found.state, found.pages, found.lag_s) == ("ended", 1, 0)


def test_a_fault_of_ours_ends_all_and_is_told(tmp_path: Path) -> None:
    class Broken:
        name = "broken"
        problem = ""

        def load_cursors(self) -> dict[str, int]:
            raise ZeroDivisionError("a fault")

        def close(self) -> None: ...

    indexer = Indexer(IndexPaths(tmp_path), CONFIG, lambda paths, config: {"broken": Broken})  # type: ignore[dict-item]
    with pytest.raises(ZeroDivisionError, match="a fault"):
        indexer.run()


PROGRAM = """
import sys, time
from pathlib import Path
from rdfspider.config import Config
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.view import GraphView
from rdfspider.index.indexer import Indexer
from rdfspider.index.layout import IndexPaths
indexer = Indexer(IndexPaths(Path(sys.argv[1])), Config())
indexer.finish()
print("begins", flush=True)
indexer.run()
time.sleep(600)
"""


def test_killed_at_any_instant_it_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    crawl, other = tmp_path / "crawl", tmp_path / "other"
    log = ShardLog(crawl)
    for visit in range(3):
        for number in range(150):
            url = f"http://{'abc'[number % 3]}.test/{number}"
            fetched = 1_700_000_000.0 + visit * 1000 + number
            status = 410 if (number + visit) % 7 == 0 else 200
            log.write(url, name=f"thing {(number + visit * 31) % 50}", status=status, fetched=fetched)
    shutil.copytree(crawl / "shards", other / "shards")
    for delay_s in (0.03, 0.1, 0.17, 0.24, 0.31, 0.38):
        with subprocess.Popen([sys.executable, "-c", PROGRAM, str(crawl)], stdout=subprocess.PIPE) as process:
            assert process.stdout and process.stdout.readline() == b"begins\n"
            time.sleep(delay_s)
            process.kill()
    assert index_all(crawl).pages == index_all(other).pages
    assert read_quads(crawl) == read_quads(other)
    assert read_cards(crawl) == read_cards(other)
    check_merge(crawl)
