"""Checks of the indexes: whether each can be read, and is a view of the archive.

The quick checks open every store, and compare the cursors with the log. The deep ones read every file with its checksums, and
ask the indexes for every page: the ledger for each outcome of the log, and the quads, the text index and the link
graph for each page of the ledger.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from pyoxigraph import NamedNode, Store

from rdfspider.archive.log import list_segments, read_outcomes
from rdfspider.archive.outcomes import Effect
from rdfspider.archive.warc_file import Damage
from rdfspider.config import Config
from rdfspider.disk import read_lines
from rdfspider.errors import UnindexedError, UnreadableError, UsageError
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.view import read_graph_cursors
from rdfspider.index.layout import IndexPaths, check_index, has_index
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.log.indexed_sources import Forgotten, Sources
from rdfspider.index.quads.snapshots import find_changed_files, find_newest, is_behind
from rdfspider.index.quads.view import read_quads_cursors
from rdfspider.index.status import load_index_status
from rdfspider.index.text.documents import make_page_id
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.view import find_damaged_files, read_text_cursors
from rdfspider.repair.findings import Finding
from rdfspider.urls import MAX_URL_CHARS
from rdfspider.vocabulary.terms import make_graph_iri

_Result = TypeVar("_Result")

_UNMADE = ("Inserts are only possible on read-write instances", "Column family not found")
"""What Oxigraph says of a store whose making was ended before the first row."""


def check_indexes(folder: Path, config: Config, *, is_deep: bool) -> Iterator[Finding]:
    """Check the indexes of a crawl."""
    paths = IndexPaths(folder)
    try:
        is_there = has_index(paths)
    except UnreadableError as error:
        yield Finding("index", _name(paths, paths.version), str(error))
        return
    if not is_there:
        if config.index.enabled and (segments := list_segments(folder)):
            yield Finding("index-behind", _name(paths, paths.index), "there is none yet", len(segments))
        return
    empty = _list_empty(paths)
    damages = [*_check_stores(paths, empty), *(_read_stores(paths, empty) if is_deep else ())]
    yield from damages
    if paths.status.exists() and load_index_status(paths) is None:
        yield Finding("index-status", _name(paths, paths.status), "it is not a status of ours")
    if lines := read_lines(paths.unreadable):
        yield Finding("unread", _name(paths, paths.unreadable), f"the first is {lines[0]}", len(lines))
    if empty:
        told = ", ".join(path.name for path in empty)
        yield Finding("index-behind", _name(paths, paths.index), f"nothing was committed yet to: {told}")
    if damages or empty:
        return
    if is_behind(paths.snapshots):
        yield Finding("index-behind", _name(paths, paths.snapshots), "the newest one lacks what was indexed last")
        return
    cursors = {"quads": read_quads_cursors(paths), "graph": read_graph_cursors(paths)}
    if _can_open_text(paths):
        cursors["text"] = read_text_cursors(paths)
    look = Sources(paths, config.extract).look()
    rest = {name: look.measure_rest(passed) for name, passed in cursors.items()}
    if behind := {name: size for name, size in rest.items() if size}:
        told = ", ".join(f"{name} {size:,} bytes" for name, size in behind.items())
        yield Finding("index-behind", _name(paths, paths.index), f"not indexed yet: {told}")
    if is_deep and "text" in cursors:
        found: list[Finding] = []
        compare = chain(_compare_with_log(paths, cursors["text"]), _compare_with_ledger(paths, cursors))
        yield from _try(paths, paths.ledger, lambda: found.extend(compare))
        yield from found


def _check_stores(paths: IndexPaths, empty: Container[Path]) -> Iterator[Finding]:
    """Open each index that is not empty."""
    opened: dict[Path, Callable[[], object]] = {
        paths.version: lambda: check_index(paths),
        paths.ledger: lambda: _use_ledger(paths, lambda ledger: ledger.read_totals()),
        paths.quads: lambda: read_quads_cursors(paths),
        paths.snapshots: lambda: Store.read_only(str(_find_snapshot(paths))),
    }
    if paths.graph.exists():
        opened[paths.graph] = lambda: GraphReader(paths).close()
    if _can_open_text(paths):
        opened[paths.text] = lambda: (read_text_cursors(paths), TextIndex(paths.folder).load())
    for path, open_index in opened.items():
        if path not in empty:
            yield from _try(paths, path, open_index)


def _read_stores(paths: IndexPaths, empty: Container[Path]) -> Iterator[Finding]:
    """Read each index that is not empty as a whole."""
    read: dict[Path, Callable[[], object]] = {
        paths.quads: lambda: _check_quads(paths, paths.quads),
        paths.snapshots: lambda: _check_quads(paths, _find_snapshot(paths)),
        paths.ledger: lambda: _use_ledger(paths, _check_ledger),
        paths.text: lambda: _check_text(paths),
    }
    if paths.graph.exists():
        read[paths.graph] = lambda: _check_graph(paths)
    for path, read_index in read.items():
        if path not in empty:
            yield from _try(paths, path, read_index)


def _list_empty(paths: IndexPaths) -> list[Path]:
    """The stores to which nothing was ever committed, because a first indexer was ended before it: the next one begins there."""
    empty = []
    if find_newest(paths.snapshots) is None:
        # A store without a snapshot is new: the first is taken with the first pages.
        empty = [paths.snapshots, paths.quads] if _has_no_quads(paths) else [paths.snapshots]
    return [*empty, *_list_empty_text(paths)]


def _has_no_quads(paths: IndexPaths) -> bool:
    try:
        return not read_quads_cursors(paths)
    except (OSError, RuntimeError) as error:
        return not (paths.quads / "CURRENT").exists() or any(text in str(error) for text in _UNMADE)


def _list_empty_text(paths: IndexPaths) -> list[Path]:
    """The text index, if it has no commit, and the ledger, if it has none either: it comes first."""
    pages: list[object] = []
    cursors: list[object] = []

    def look() -> None:
        # There may be no ledger yet, or no table in it.
        with suppress(UnindexedError, sqlite3.OperationalError):
            pages.extend(_use_ledger(paths, lambda ledger: list(islice(ledger.list_pages(), 1))))
        if pages or (paths.text / "meta.json").exists():
            cursors.extend(read_text_cursors(paths))

    # What cannot be read is not empty but damaged.
    if any(_try(paths, paths.text, look)) or cursors:
        return []
    return [paths.text] if pages else [paths.text, paths.ledger]


def _check_quads(paths: IndexPaths, folder: Path) -> None:
    if damaged := find_changed_files(paths.snapshots, folder):
        raise ValueError(f"wrong checksums: {', '.join(damaged)}")
    for _ in Store.read_only(str(folder)).quads_for_pattern(None, None, None, None):
        pass


def _check_ledger(ledger: LedgerReader) -> None:
    if wrong := ledger.check():
        raise ValueError(wrong)


def _check_text(paths: IndexPaths) -> None:
    if damaged := find_damaged_files(paths):
        raise ValueError(f"wrong checksums: {', '.join(damaged)}")


def _check_graph(paths: IndexPaths) -> None:
    with closing(GraphReader(paths)) as reader:
        reader.check()


def _compare_with_log(paths: IndexPaths, cursors: Mapping[str, int]) -> Iterator[Finding]:
    """Ask the ledger for each outcome of the log that it should know."""
    forgotten = Forgotten.load(paths)
    missing, first = 0, ""
    with closing(LedgerReader(paths)) as ledger:
        for source, segment in list_segments(paths.folder).items():
            stop = min(segment.length, cursors.get(source, 0))
            for outcome in read_outcomes(segment.path, source, 0, stop):
                if isinstance(outcome, Damage) or outcome.effect == Effect.TOUCH or forgotten.matches(outcome.url):
                    continue
                if ledger.find_time(outcome.url) < outcome.time:
                    missing += 1
                    first = first or outcome.url
    if missing:
        yield Finding("index", _name(paths, paths.ledger), f"pages are missing; the first is {first}", missing)


def _compare_with_ledger(paths: IndexPaths, cursors: Mapping[str, Mapping[str, int]]) -> Iterator[Finding]:
    """Ask the quads, the text index and the graph for each page of the ledger that they have passed; it may be ahead of them."""
    counts: Counter[Path] = Counter()
    first: dict[Path, str] = {}
    store = Store.read_only(str(_find_snapshot(paths)))
    searcher = TextIndex(paths.folder).load().searcher
    with closing(LedgerReader(paths)) as ledger, _open_graph(paths) as has_links:
        for page in ledger.list_pages():
            has_quads = not page.quads or store.contains_named_graph(NamedNode(make_graph_iri(page.url)))
            has_text = bool(searcher.doc_freq("id", make_page_id(page.url)))
            is_linked = has_links(page.url)
            for name, path, is_there in (
                ("quads", paths.snapshots, has_quads),
                ("text", paths.text, has_text),
                ("graph", paths.graph, is_linked),
            ):
                if not is_there and page.offset < cursors[name].get(page.source, 0):
                    counts[path] += 1
                    first.setdefault(path, page.url)
    for path, count in counts.items():
        yield Finding("index", _name(paths, path), f"pages are missing; the first is {first[path]}", count)


@contextmanager
def _open_graph(paths: IndexPaths) -> Iterator[Callable[[str], bool]]:
    """A function that says whether the graph has a page, or is too long for it."""
    if not paths.graph.exists():
        # Its cursors are at the beginning.
        yield lambda url: False
        return
    with closing(GraphReader(paths)) as reader:
        yield lambda url: len(url) > MAX_URL_CHARS or reader.has_page(url)


def _can_open_text(paths: IndexPaths) -> bool:
    """Whether the text index can be opened: tantivy's readers keep a lock in its folder, which may be read-only."""
    return not paths.text.exists() or os.access(paths.text, os.W_OK)


def _use_ledger(paths: IndexPaths, use: Callable[[LedgerReader], _Result]) -> _Result:
    with closing(LedgerReader(paths)) as ledger:
        return use(ledger)


def _find_snapshot(paths: IndexPaths) -> Path:
    newest = find_newest(paths.snapshots)
    if newest is None:
        raise ValueError("there is no snapshot of the quads")
    return newest


def _try(paths: IndexPaths, path: Path, read: Callable[[], object]) -> Iterator[Finding]:
    try:
        read()
    except (OSError, RuntimeError, ValueError, UsageError, sqlite3.Error) as error:
        yield Finding("index", _name(paths, path), " ".join(str(error).split())[:300])
    except BaseException as error:
        # The class of Rust panics cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        yield Finding("index", _name(paths, path), f"its reader fails: {' '.join(str(error).split())[:200]}")


def _name(paths: IndexPaths, path: Path) -> str:
    return str(path.relative_to(paths.folder))
