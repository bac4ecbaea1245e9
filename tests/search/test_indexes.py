"""The handle to all indexes: what it says of files that are damaged or cannot be written, and how many may ask at once."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store
from tests.disks import mount_read_only

from indexed import index_pages
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.ledger.writer import Ledger
from rdfspider.index.quads.snapshots import take_snapshot
from rdfspider.search import indexes as indexes_module
from rdfspider.search.indexes import Indexes
from rdfspider.search.name_lookup import Choice

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
    indexes = Indexes(paths.folder)
    selection, _ = indexes.select(Choice())
    assert len(list(indexes.stream_quads(selection))) == 1
    spoiled = [spoil(file) for file in (paths.snapshots / "000001").glob(files)]
    assert spoiled
    with pytest.raises(UsageError, match=r"snapshots cannot be read \(Corruption.*index --rebuild"):
        indexes.entity(THING)
    with pytest.raises(UsageError, match="index --rebuild"):
        list(indexes.stream_quads(selection))


def test_a_damaged_ledger_is_one_line(paths: IndexPaths) -> None:
    spoil(paths.ledger)
    with pytest.raises(UsageError, match=r"ledger.sqlite cannot be read \(.*index --rebuild"):
        Indexes(paths.folder).statistics(10)
    with pytest.raises(UsageError, match="index --rebuild"):
        Indexes(paths.folder).select(Choice())


def test_a_ledger_that_nobody_can_write_is_read_or_said_to_be(paths: IndexPaths) -> None:
    with mount_read_only(paths.folder) as folder:
        assert Indexes(folder).statistics(10).totals.pages == 0
    # What a writer that was killed has left can only be read together with a file that is made for it.
    writer = sqlite3.connect(paths.ledger)
    writer.execute("CREATE TABLE more (name TEXT)")
    shutil.copytree(paths.folder, left := paths.folder.with_name("left"), ignore=shutil.ignore_patterns("*-shm"))
    writer.close()
    with mount_read_only(left) as folder, pytest.raises(UsageError, match="in a folder that is read-only for you"):
        Indexes(folder).statistics(10)


def test_who_does_not_come_to_look_for_words_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tea = {"@context": "https://schema.org", "@id": "#tea", "@type": "Product", "name": "Green tea"}
    crawl = index_pages(tmp_path / "c", {"https://tea.example/": tea})
    indexes = Indexes(crawl.folder)
    assert [iri for iri, _ in indexes.find_iris("kind:entity tea", 10)] == ["https://tea.example/#tea"]
    monkeypatch.setattr(indexes_module, "_WORDS_TIMEOUT_S", 0.05)
    with indexes._finding, pytest.raises(UnansweredError, match="others are looking for words"):
        indexes.find_iris("tea", 10)
    assert indexes.find_iris("tea", 10)


def test_quads_are_released_after_each_question_unless_they_are_kept(paths: IndexPaths) -> None:
    for keeps_quads in (False, True):
        with Indexes(paths.folder, keeps_quads=keeps_quads) as indexes:
            for _ in range(2):
                with indexes._use_quads() as store, indexes._use_quads() as same:
                    assert len(store) == len(same) == 1
                assert (indexes._snapshots._opened is not None) == keeps_quads
        assert indexes._snapshots._opened is None
