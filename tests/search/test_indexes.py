"""What questions say of files that are damaged, or that nobody can write."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store
from tests.disks import mount_read_only

from rdfspider.errors import UsageError
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.ledger.writer import Ledger
from rdfspider.index.quads.snapshots import take_snapshot
from rdfspider.search.indexes import find_entity, find_statistics, select_statements, stream_quads

THING = "https://a.test/#tea"


@pytest.fixture
def paths(tmp_path: Path) -> IndexPaths:
    """An index of one statement."""
    paths = IndexPaths(tmp_path / "mycrawl")
    paths.index.mkdir(parents=True)
    paths.version.write_text(f"{VERSION}\n")
    store = Store(str(paths.quads))
    store.add(
        Quad(
            NamedNode(THING), NamedNode("http://schema.org/name"), Literal("Tea" * 1_000), NamedNode("https://a.test/")
        )
    )
    store.flush()
    take_snapshot(store, paths.snapshots)
    Ledger(paths.ledger).close()
    return paths


def spoil(file: Path) -> None:
    """Put zeros into the first half of a file."""
    content = file.read_bytes()
    # It may be the same file as the writer's.
    file.unlink()
    file.write_bytes(bytes(len(content) // 2) + content[len(content) // 2 :])


@pytest.mark.parametrize("files", ["MANIFEST-*", "*.sst"])
def test_damaged_snapshots_are_one_line(paths: IndexPaths, files: str) -> None:
    selection, _ = select_statements(paths.folder)
    assert len(list(stream_quads(paths.folder, selection))) == 1
    spoiled = [spoil(file) for file in (paths.snapshots / "000001").glob(files)]
    assert spoiled
    with pytest.raises(UsageError, match=r"snapshots cannot be read \(Corruption.*index --rebuild"):
        find_entity(paths.folder, THING)
    with pytest.raises(UsageError, match="index --rebuild"):
        list(stream_quads(paths.folder, selection))


def test_a_damaged_ledger_is_one_line(paths: IndexPaths) -> None:
    spoil(paths.ledger)
    with pytest.raises(UsageError, match=r"ledger.sqlite cannot be read \(.*index --rebuild"):
        find_statistics(paths.folder, 10)
    with pytest.raises(UsageError, match="index --rebuild"):
        select_statements(paths.folder)


def test_a_ledger_that_nobody_can_write_is_read_or_said_to_be(paths: IndexPaths) -> None:
    with mount_read_only(paths.folder) as folder:
        assert find_statistics(folder, 10).totals.pages == 0
    # What a writer that was killed has left can only be read together with a file that is made for it.
    writer = sqlite3.connect(paths.ledger)
    writer.execute("CREATE TABLE more (name TEXT)")
    shutil.copytree(paths.folder, left := paths.folder.with_name("left"), ignore=shutil.ignore_patterns("*-shm"))
    writer.close()
    with mount_read_only(left) as folder, pytest.raises(UsageError, match="in a folder that is read-only for you"):
        find_statistics(folder, 10)
