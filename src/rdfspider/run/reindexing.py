"""The index of a crawl, in this process: brought up to date, made again beside the old one, and told to forget.

Where another process indexes the crawl already, as while it runs, that one does the work, and this one waits for it.
"""

import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rdfspider.archive.reader import find_archives
from rdfspider.config import Config
from rdfspider.crawl.folder import DOCUMENTS
from rdfspider.documents import KeptDocuments
from rdfspider.errors import InUseError, RdfspiderError, UsageError
from rdfspider.index.indexer import Indexer, lock_index
from rdfspider.index.layout import IndexPaths, check_index, has_index
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.log.foreign import add_sources
from rdfspider.index.log.sources import Forgotten, add_rule
from rdfspider.index.status import IndexStatus, is_indexed, read_index_status
from rdfspider.index.stores.graph_servers import check_store_url
from rdfspider.index.stores.view import carry_ledgers, list_holders

Progress = Callable[[IndexStatus], None]

_NEW = "index.new"
# What a running indexer, or an outside store, may take to forget before nobody waits for it any more.
_FORGET_S = 60.0
_POLL_S = 0.2


def check_before_crawl(folder: Path, config: Config) -> None:
    """UsageError where a crawl cannot be indexed while it runs, and what can be done about it."""
    paths = IndexPaths(folder)
    check_stores(config)
    if has_index(paths):
        try:
            check_index(paths)
        except UsageError as error:
            raise UsageError(f"{error}, or crawl with --no-index") from error


def check_stores(config: Config) -> None:
    """UsageError where an outside store has no address."""
    for url in config.index.stores:
        check_store_url(url)


def add_archives(folder: Path, sources: Sequence[str]) -> int:
    """Have WARC files (paths, patterns or folders) indexed, too, now and whenever the index is made again; how many are new."""
    return add_sources(IndexPaths(folder), find_archives(sources)) if sources else 0


def make_indexer(paths: IndexPaths, config: Config) -> Indexer:
    """An indexer that knows the contexts which the crawl has fetched."""
    check_stores(config)
    kept = KeptDocuments(paths.folder / DOCUMENTS, config.extract.documents)
    return Indexer(paths, replace(config, extract=replace(config.extract, documents=kept)))


def update_index(
    folder: Path, config: Config, *, is_following: bool = False, on_progress: Progress | None = None
) -> IndexStatus:
    """Bring the index up to date, and follow the crawl then, until interrupted, if that is asked; how far it is at the end.
    InUseError where another process does so."""
    indexer = make_indexer(IndexPaths(folder), config)
    if not is_following:
        indexer.finish()
    return indexer.run(on_progress)


def rebuild_index(folder: Path, config: Config, on_progress: Progress | None = None) -> IndexStatus:
    """Make the index again, beside the old one, which answers until the new one takes its place. What was cut off goes on."""
    paths, new = IndexPaths(folder), IndexPaths(folder, _NEW)
    with lock_index(paths):
        if has_index(new):
            try:
                check_index(new)
            except UsageError:
                shutil.rmtree(new.index)
        carry_ledgers(paths, new)
        indexer = make_indexer(new, config)
        indexer.finish()
        status = indexer.run(on_progress)
        if problem := next((view.problem for view in status.views if view.problem), ""):
            raise RdfspiderError(f"{folder} is not indexed to its end: {problem}; run the same command to go on")
        shutil.rmtree(paths.replaced, ignore_errors=True)
        paths.index.rename(paths.replaced)
        new.index.rename(paths.index)
        shutil.rmtree(paths.replaced, ignore_errors=True)
    return status


class Removal(NamedTuple):
    """What was forgotten."""

    what: str
    """In words."""
    pages: int
    """Pages that were indexed and are not any more."""
    waiting: tuple[str, ...] = ()
    """Indexes that have not done it yet."""
    left: tuple[str, ...] = ()
    """Stores that still have some of these pages: they refuse to remove them, or are no part of the crawl any more."""


def forget_pages(folder: Path, config: Config, text: str) -> Removal:
    """Keep a page or a site out of the index from now on; returns when that is done, or takes too long."""
    paths = IndexPaths(folder)
    pages = _count_matching(paths, text)
    what = add_rule(paths, text)
    if not has_index(paths):
        return Removal(what, 0)
    waiting = _await_views(paths, config)
    holders = list_holders(paths, Forgotten([text]).matches)
    return Removal(what, pages, waiting, tuple(name for name in holders if name not in waiting))


def _await_views(paths: IndexPaths, config: Config) -> tuple[str, ...]:
    """Wait until every view has forgotten what it should; those that have not when it takes too long."""
    # A status that is older may tell of the same rules before some of them were taken back for a while.
    asked_at = time.time()
    end = time.monotonic() + _FORGET_S
    waiting: tuple[str, ...] = ()
    while time.monotonic() < end:
        if is_indexed(paths):
            status = read_index_status(paths)
            is_told = status is not None and status.is_running and status.updated >= asked_at
            waiting = _list_waiting(status, paths) if status and is_told else ("index",)
            if not waiting:
                return ()
            time.sleep(_POLL_S)
            continue
        with suppress(InUseError):
            return _forget_here(paths, config, end)
    return waiting


def _forget_here(paths: IndexPaths, config: Config, end: float) -> tuple[str, ...]:
    """Have all views forget, and leave; what else is new is indexed another time."""
    indexer = make_indexer(paths, config)

    def look(status: IndexStatus) -> None:
        if not _list_waiting(status, paths) or time.monotonic() > end:
            indexer.stop()

    return _list_waiting(indexer.run(look), paths)


def _list_waiting(status: IndexStatus, paths: IndexPaths) -> tuple[str, ...]:
    """The views that have not taken the rules as they are now: another command may have added some."""
    mark = Forgotten.load(paths).mark
    return tuple(view.name for view in status.views if view.forgotten != mark)


def _count_matching(paths: IndexPaths, text: str) -> int:
    matches = Forgotten([text]).matches
    try:
        with closing(LedgerReader(paths)) as reader:
            return sum(matches(page.url) for page in reader.list_pages())
    except (UsageError, sqlite3.Error):
        return 0
