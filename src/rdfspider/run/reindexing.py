"""Maintenance of a crawl's index in this process: update it, rebuild it beside the old one, and remove pages from it.

If another process already indexes the crawl, for example while the crawl runs, that process removes pages and this one waits.
"""

import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rdfspider.archive.reader import find_archives
from rdfspider.config import Config
from rdfspider.crawl.folder import DOCUMENTS
from rdfspider.disk import rename_durably
from rdfspider.errors import InUseError, RdfspiderError, UsageError
from rdfspider.index.identity.splits import SplitRules, add_split, remove_split
from rdfspider.index.indexer import Indexer, lock_index
from rdfspider.index.layout import IndexPaths, check_index, has_index
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.log.foreign import add_sources
from rdfspider.index.log.indexed_sources import Forgotten, add_rule, undo_rule
from rdfspider.index.quads.snapshots import LOOK_S
from rdfspider.index.status import IndexState, IndexStatus, is_indexed, read_index_status
from rdfspider.index.stores.graph_servers import check_store_url
from rdfspider.index.stores.view import carry_ledgers, list_holders
from rdfspider.linked_documents import KeptDocuments
from rdfspider.urls import host_of

Progress = Callable[[IndexStatus], None]

_NEW = "index.new"
# How long to wait until a running indexer, or an external store, has forgotten pages.
_FORGET_S = 60.0
# How long a view of our own may wait, as for room on the disk, before that is told instead.
_SUSPENDED_S = 3.0
_POLL_S = 0.2
_NAMES_COMPARED = 5_000


def check_stores(config: Config) -> None:
    """Raise UsageError if the URL of an external store is invalid."""
    for url in config.index.stores:
        check_store_url(url)


def add_archives(folder: Path, sources: Sequence[str]) -> int:
    """Add WARC files (paths, patterns or folders) to the index's sources, also for rebuilds; returns how many are new."""
    return add_sources(IndexPaths(folder), find_archives(sources)) if sources else 0


def make_indexer(paths: IndexPaths, config: Config) -> Indexer:
    """Make an indexer that uses the contexts that the crawl has fetched."""
    check_stores(config)
    kept = KeptDocuments(paths.folder / DOCUMENTS, config.extract.documents)
    return Indexer(paths, replace(config, extract=replace(config.extract, documents=kept)))


def update_index(
    folder: Path, config: Config, *, is_following: bool = False, on_progress: Progress | None = None
) -> IndexStatus:
    """Bring the index up to date, and with `is_following` follow the crawl until interrupted; returns the final status.
    InUseError if another process indexes the crawl."""
    indexer = make_indexer(IndexPaths(folder), config)
    if not is_following:
        indexer.finish()
    return indexer.run(on_progress)


def rebuild_index(
    folder: Path,
    config: Config,
    on_progress: Progress | None = None,
    *,
    set_aside: Callable[[Path], None] | None = None,
) -> IndexStatus:
    """Rebuild the index beside the old one, which stays in use until it is replaced. An interrupted rebuild is resumed. The old
    one is removed, or given to `set_aside`."""
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
        rename_durably(paths.index, paths.replaced)
        rename_durably(new.index, paths.index)
        (set_aside or partial(shutil.rmtree, ignore_errors=True))(paths.replaced)
    return status


class Removal(NamedTuple):
    """The result of forgetting pages."""

    what: str
    """What was forgotten, in words."""
    pages: int
    """The number of indexed pages that match."""
    waiting: tuple[str, ...] = ()
    """Views that have not removed them yet."""
    left: tuple[str, ...] = ()
    """Stores that still have some of these pages: they refuse to remove them, or no longer belong to the crawl."""


def forget_pages(folder: Path, config: Config, text: str, *, ahead: bool = False) -> Removal:
    """Exclude a page or a site from the index from now on; returns when it is removed, or after a time limit. Raise UsageError
    if nothing of it is indexed, unless it is forgotten `ahead`."""
    paths = IndexPaths(folder)
    pages = _count_matching(paths, text)
    if not pages and not ahead and has_index(paths) and not Forgotten.load(paths).has_rule(text):
        check_index(paths)
        raise UsageError(
            f"nothing of {text} is indexed: {_suggest_known(paths, text)}--ahead keeps it out all the same"
        )
    what = add_rule(paths, text)
    if not has_index(paths):
        return Removal(what, 0)
    waiting = _await_views(paths, config)
    # By then all readers have looked for the snapshot without the pages.
    time.sleep(LOOK_S)
    holders = list_holders(paths, Forgotten([text]).matches)
    return Removal(what, pages, waiting, tuple(name for name in holders if name not in waiting))


def restore_pages(folder: Path, config: Config, text: str) -> Removal:
    """Undo `forget_pages`: the index gets the pages back from the archive; returns when it has, or after a time limit if another
    process indexes. Raise UsageError if they were not forgotten."""
    paths = IndexPaths(folder)
    asked_at = time.time()
    what = undo_rule(paths, text)
    if not has_index(paths):
        return Removal(what, 0)
    end = time.monotonic() + _FORGET_S
    waiting: tuple[str, ...] = ("index",)
    while waiting and time.monotonic() < end:
        if not is_indexed(paths):
            with suppress(InUseError):
                waiting = _list_waiting(update_index(folder, config), paths, is_complete=True)
                break
        time.sleep(_POLL_S)
        status = read_index_status(paths)
        if status is not None and status.updated >= asked_at:
            waiting = _list_waiting(status, paths, is_complete=True)
    return Removal(what, _count_matching(paths, text), waiting)


def split_things(folder: Path, config: Config, names: Sequence[str], *, undo: bool = False) -> bool:
    """Keep two things apart, or join one with nothing at all, from now on; `undo` takes that back. Returns whether the index
    shows it already; otherwise it will as soon as the indexer goes on."""
    paths = IndexPaths(folder)
    (remove_split if undo else add_split)(paths.splits, list(names))
    if not has_index(paths):
        return True
    end = time.monotonic() + _FORGET_S
    while not _has_split(paths) and time.monotonic() < end:
        if not is_indexed(paths):
            with suppress(InUseError):
                _index_until(paths, config, lambda status: _has_split(paths), end)
                break
        time.sleep(_POLL_S)
    return _has_split(paths)


def _index_until(paths: IndexPaths, config: Config, is_done: Callable[[IndexStatus], bool], end: float) -> IndexStatus:
    """Run an indexer until something is done; other new data may be left for later. It leaves at `end`, and when a view has
    waited for some seconds, as for room on the disk."""
    indexer = make_indexer(paths, config)
    worked_at = time.monotonic()

    def look(status: IndexStatus) -> None:
        nonlocal worked_at
        now = time.monotonic()
        if status.state != IndexState.SUSPENDED:
            worked_at = now
        if is_done(status) or now > min(end, worked_at + _SUSPENDED_S):
            indexer.stop()

    return indexer.run(look)


def _has_split(paths: IndexPaths) -> bool:
    """Whether the index obeys the current rules."""
    wanted = set(SplitRules(paths.splits).load())
    with suppress(UsageError, sqlite3.Error), closing(LedgerReader(paths)) as reader:
        return reader.list_splits() == wanted and not reader.is_behind()
    return False


def _await_views(paths: IndexPaths, config: Config) -> tuple[str, ...]:
    """Wait until every view has removed the forgotten pages; returns the views that have not done so within the time limit."""
    # An older status may have the same mark from before a rule was withdrawn and added again.
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
            status = _index_until(paths, config, lambda status: not _list_waiting(status, paths), end)
            return _list_waiting(status, paths)
    return waiting


def _list_waiting(status: IndexStatus, paths: IndexPaths, *, is_complete: bool = False) -> tuple[str, ...]:
    """Return the views that have not applied the current rules, which another command may have extended; with `is_complete`
    also those that have not read the log to its end."""
    mark = Forgotten.load(paths).mark
    return tuple(
        view.name for view in status.views if view.forgotten != mark or (is_complete and view.behind_bytes > 0)
    )


def _suggest_known(paths: IndexPaths, text: str) -> str:
    """Which indexed page or site may be meant, for an error message."""
    is_page = "://" in text
    names: dict[str, None] = {}
    with suppress(UsageError, sqlite3.Error), closing(LedgerReader(paths)) as reader:
        for page in reader.list_pages():
            if not is_page or host_of(page.url) == host_of(text):
                names[page.url if is_page else host_of(page.url)] = None
            if len(names) >= _NAMES_COMPARED:
                break
    near = get_close_matches(text.strip().lower() if not is_page else text.strip(), names, n=2, cutoff=0.6)
    return f"did you mean {' or '.join(near)}? " if near else ""


def _count_matching(paths: IndexPaths, text: str) -> int:
    matches = Forgotten([text]).matches
    try:
        with closing(LedgerReader(paths)) as reader:
            return sum(matches(page.url) for page in reader.list_pages())
    except (UsageError, sqlite3.Error):
        return 0
