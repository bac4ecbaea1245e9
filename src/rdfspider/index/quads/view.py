"""Outcomes enter, quads in Oxigraph leave: one named graph per page, their merge in the default graph, and facts of each fetch.

Outcomes are collected until there are enough, or until a commit, because the store writes many pages at once far faster. A
thread writes them while the next ones are read. `merge.py` explains how, and why it can be killed at any instant.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import quote, unquote

from pyoxigraph import Literal, NamedNode, Quad, Store

from rdfspider.archive.outcomes import Outcome
from rdfspider.errors import InUseError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.quads.merge import NOT_PAGES, News, find_next_due, merge_pages, remove_due, remove_pages
from rdfspider.index.quads.provenance import URL, VISITED
from rdfspider.index.quads.snapshots import can_read_newest, is_behind, note_change, remove_old, take_snapshot
from rdfspider.index.view import Cursors
from rdfspider.vocabulary.prefixes import OWL
from rdfspider.vocabulary.terms import CURSORS_GRAPH, FETCHES_GRAPH, SAME_GRAPH, VOCABULARY, make_graph_iri

SNAPSHOT_S = 5.0
"""How often readers get a new snapshot while there are changes; many quads bring it sooner."""
SNAPSHOT_QUADS = 100_000
"""Without snapshots the data pending in memory grows to gigabytes."""

_FETCHES = NamedNode(FETCHES_GRAPH)
_CURSORS = NamedNode(CURSORS_GRAPH)
_SAME, _SAME_AS, _MARK = NamedNode(SAME_GRAPH), NamedNode(f"{OWL}sameAs"), NamedNode(f"{VOCABULARY}mark")
ReadSame = Callable[[str], tuple[str, Sequence[tuple[str, str]]]]
"""Takes a mark and returns what has changed since in the canonical IRIs of things, and a new mark."""
_OFFSET = NamedNode(f"{VOCABULARY}offset")
_CURSOR_PREFIX = "urn:rdfspider:cursor:"
# Pages that are written together, and how much text they may have: each load costs about 70 ms, however small.
_BATCH_PAGES = 2048
_BATCH_CHARS = 32_000_000
# A larger batch is written before the next one is read: a page may take a hundred megabytes, and several times that while it is
# written.
_MAX_ASIDE_CHARS = 48_000_000
_LOGS_KEPT = 2


class QuadView:
    """The quad store that follows the log; for one thread."""

    name = "quads"
    problem = ""
    removes_forgotten = False

    def __init__(self, paths: IndexPaths, read_same: ReadSame = lambda mark: (mark, [])) -> None:
        """`read_same` tells which things were found to be one."""
        self._paths = paths
        self._read_same = read_same
        self._same_mark = ""
        self._store: Store | None = None
        self._cursors: dict[str, int] = {}
        self._next_due = math.inf
        self._waiting: dict[str, News] = {}
        self._waiting_chars = 0
        self._writer = ThreadPoolExecutor(1, "quads")
        self._writing: tuple[Future[None], dict[str, News]] | None = None
        self._new_quads = 0
        self._is_at_rest = True
        self._is_checked = False
        """Whether the newest snapshot is known to be readable."""
        self._last_snapshot = time.monotonic()
        with self._use():
            pass

    @property
    def has_deferred(self) -> bool:
        """Whether pages are due for removal, or things were found to be one: a commit without new outcomes does what follows."""
        return self._next_due <= time.time() or self._read_same(self._same_mark)[0] != self._same_mark

    def load_cursors(self) -> dict[str, int]:
        """Where reading resumes, as of the last commit."""
        return dict(self._cursors)

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes; for each page the newest counts, separately for its content and for its visit."""
        for outcome in outcomes:
            self._take(make_graph_iri(outcome.url), outcome)
            self._next_due = min(self._next_due, outcome.due or math.inf)
            self._waiting_chars += sum(map(len, outcome.statements.values()))
            if len(self._waiting) >= _BATCH_PAGES or self._waiting_chars >= _BATCH_CHARS:
                self._start_writing()
        self._is_at_rest = False

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Remove the quads and the facts of all pages whose URL is forgotten."""
        self._finish_writing()
        with self._change() as store:
            urls = {graph.value: graph.value for graph in store.named_graphs() if isinstance(graph, NamedNode)}
            for predicate in (VISITED, URL):
                for fact in store.quads_for_pattern(None, NamedNode(predicate), None, _FETCHES):
                    if isinstance(fact.subject, NamedNode) and isinstance(fact.object, Literal):
                        urls[fact.subject.value] = fact.object.value if predicate == URL else fact.subject.value
            forgotten = [graph for graph, url in urls.items() if graph not in NOT_PAGES and is_forgotten(url)]
            for start in range(0, len(forgotten), _BATCH_PAGES):
                graphs = forgotten[start : start + _BATCH_PAGES]
                self._new_quads += remove_pages(store, graphs)
                for graph in graphs:
                    store.remove_graph(NamedNode(graph))
        # From now on no reader may find them, so no older snapshot is kept, even if a previous run was killed here.
        self._take_snapshot()
        remove_old(self._paths.snapshots)
        self._is_at_rest = False

    def commit(self, cursors: Cursors) -> None:
        """Write pending outcomes, then the cursors: the store never claims what it lacks, and after a crash the rest comes again.

        Readers get a snapshot when one is due, or at once if nothing has come since the last commit.
        """
        self._finish_writing()
        if self._next_due <= time.time():
            self._remove_due()
        self._write_same()
        if update := _write_cursors(self._cursors, cursors):
            with self._use() as store:
                store.update(update)
            self._cursors.update(cursors)
        self._snapshot_if_due(is_at_rest=self._is_at_rest)
        self._is_at_rest = True

    def close(self) -> None:
        """Take a last snapshot for readers, and release the store."""
        self._writer.shutdown()
        if self._store is not None and (self._new_quads or is_behind(self._paths.snapshots)):
            with contextlib.suppress(OSError):
                self._take_snapshot()
        self._store = None

    def _take(self, graph: str, outcome: Outcome) -> None:
        self._waiting.setdefault(graph, News(outcome)).add(outcome)

    def _write_same(self) -> None:
        """Write the changes of canonical IRIs, then the mark up to which they are written."""
        mark, changes = self._read_same(self._same_mark)
        if mark == self._same_mark:
            return
        with self._change() as store:
            if mark.partition(" ")[0] != self._same_mark.partition(" ")[0]:
                store.clear_graph(_SAME)
            for iri, canonical in changes:
                for quad in list(store.quads_for_pattern(NamedNode(iri), _SAME_AS, None, _SAME)):
                    store.remove(quad)
                if canonical:
                    store.add(Quad(NamedNode(iri), _SAME_AS, NamedNode(canonical), _SAME))
            for quad in list(store.quads_for_pattern(_SAME, _MARK, None, _CURSORS)):
                store.remove(quad)
            store.add(Quad(_SAME, _MARK, Literal(mark), _CURSORS))
        self._same_mark = mark
        self._new_quads += len(changes)

    def _remove_due(self) -> None:
        now = time.time()
        with self._change() as store:
            while changed := remove_due(store, now, _BATCH_PAGES):
                self._new_quads += changed
            self._next_due = find_next_due(store)

    def _start_writing(self) -> None:
        """Hand the pending pages to the writer, after it has written the previous ones."""
        for news in self._waiting.values():
            news.fold()
        self._await_writer()
        pages, self._waiting = self._waiting, {}
        chars, self._waiting_chars = self._waiting_chars, 0
        self._writing = (self._writer.submit(self._write, pages), pages)
        if chars > _MAX_ASIDE_CHARS:
            self._await_writer()

    def _finish_writing(self) -> None:
        if self._waiting:
            self._start_writing()
        self._await_writer()

    def _await_writer(self) -> None:
        if self._writing is None:
            return
        (future, pages), self._writing = self._writing, None
        try:
            future.result()
        except OSError:
            # The write may be tried again when there is space; outcomes that have come since may be newer.
            for graph, news in pages.items():
                for outcome in (news.visit, news.content):
                    if outcome:
                        self._take(graph, outcome)
                self._waiting[graph].dues += news.dues
            raise
        finally:
            # The future refers to the error, and the error to this frame: together they would keep the store open.
            del future

    def _write(self, pages: dict[str, News]) -> None:
        with self._change() as store:
            self._new_quads += merge_pages(store, pages)
        self._snapshot_if_due()

    def _snapshot_if_due(self, *, is_at_rest: bool = False) -> None:
        if self._new_quads:
            waited_s = time.monotonic() - self._last_snapshot
            is_due = is_at_rest or waited_s >= SNAPSHOT_S or self._new_quads >= SNAPSHOT_QUADS
        else:
            # An earlier writer may have ended before its snapshot, or that may be damaged.
            is_due = is_at_rest and not self._can_serve()
            self._is_checked = self._is_checked or is_at_rest
        if is_due:
            self._take_snapshot()

    def _can_serve(self) -> bool:
        """Whether readers find everything in the newest snapshot."""
        return not is_behind(self._paths.snapshots) and (self._is_checked or can_read_newest(self._paths.snapshots))

    def _take_snapshot(self) -> None:
        with self._use() as store:
            take_snapshot(store, self._paths.snapshots)
        remove_old(self._paths.snapshots)
        self._new_quads = 0
        self._last_snapshot = time.monotonic()

    @contextlib.contextmanager
    def _change(self) -> Iterator[Store]:
        """The store, to change what readers will find in the next snapshot."""
        with self._use() as store:
            note_change(self._paths.snapshots)
            yield store

    @contextlib.contextmanager
    def _use(self) -> Iterator[Store]:
        """The store. After a disk error it is reopened, because Oxigraph accepts no more writes until then."""
        try:
            if self._store is None:
                self._store = _open_store(self._paths)
                self._cursors = _read_cursors(self._store)
                marks = self._store.quads_for_pattern(_SAME, _MARK, None, _CURSORS)
                self._same_mark = next((quad.object.value for quad in marks if isinstance(quad.object, Literal)), "")
                self._next_due = min(self._next_due, find_next_due(self._store))
            yield self._store
        except OSError:
            self._store = None
            raise


def read_quads_cursors(paths: IndexPaths) -> dict[str, int]:
    """The cursors of a quad store that nobody writes; raise OSError or RuntimeError if it is damaged."""
    return _read_cursors(Store.read_only(str(paths.quads)))


def _open_store(paths: IndexPaths) -> Store:
    paths.quads.mkdir(parents=True, exist_ok=True)
    # RocksDB keeps a log of its work for each of the last thousand times that it was opened.
    for log in sorted(paths.quads.glob("LOG.old.*"))[:-_LOGS_KEPT]:
        log.unlink(missing_ok=True)
    try:
        return Store(str(paths.quads))
    except OSError as error:
        if "lock" in str(error).lower():
            raise InUseError(f"{paths.quads} is in use: another process writes this index") from error
        raise


def _read_cursors(store: Store) -> dict[str, int]:
    cursors: dict[str, int] = {}
    for quad in store.quads_for_pattern(None, _OFFSET, None, _CURSORS):
        if isinstance(quad.subject, NamedNode) and isinstance(quad.object, Literal):
            source = unquote(quad.subject.value[len(_CURSOR_PREFIX) :], errors="surrogatepass")
            cursors[source] = int(quad.object.value)
    return cursors


def _write_cursors(old: Cursors, new: Cursors) -> str:
    """The update that changes the old cursors to the new ones; empty if none has changed."""
    changed = [source for source, offset in new.items() if old.get(source) != offset]
    parts = [
        (f"<{_CURSOR_PREFIX}{quote(source, safe='/', errors='surrogatepass')}> {_OFFSET}", source) for source in changed
    ]
    gone = " . ".join(f"{start} {old[source]}" for start, source in parts if source in old)
    come = " . ".join(f"{start} {new[source]}" for start, source in parts)
    delete = f"DELETE DATA {{ GRAPH {_CURSORS} {{ {gone} }} }} ; " if gone else ""
    return f"{delete}INSERT DATA {{ GRAPH {_CURSORS} {{ {come} }} }}" if come else ""
