"""The link graph as a view of the log: outcomes enter, generations of rows and a manifest that names them leave.

Links gather in memory until there are a million, or for half a minute while pages keep coming, and become a generation. Until
then a commit keeps the older cursors: after a crash what was only in memory comes again. When nothing more comes for some
commits, they become a generation, unless that would take more than a twentieth of the time. Eight generations of a size are
merged into one by a thread of their own; its result is taken at a commit. All that is durable and visible is what the manifest
says (`manifest.py`).
"""

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from pathlib import Path

import numpy as np

from rdfspider.archive.outcomes import Outcome
from rdfspider.errors import UnreadableError
from rdfspider.index.graph.dues import Dues
from rdfspider.index.graph.gathering import Gathered
from rdfspider.index.graph.generation import SUFFIX, Generation, hash_key, read_stamp
from rdfspider.index.graph.keys import read_key
from rdfspider.index.graph.manifest import (
    Manifest,
    Part,
    load_manifest,
    open_parts,
    remove_leftovers,
    save_manifest,
)
from rdfspider.index.graph.merging import CancelledError, Merge
from rdfspider.index.graph.page_links import read_page_links
from rdfspider.index.graph.rating import remove_ratings
from rdfspider.index.graph.varints import Numbers
from rdfspider.index.layout import IndexPaths, advise_rebuild
from rdfspider.index.view import Cursors

_log = logging.getLogger(__name__)

FAN_OUT = 8
"""So many generations of a size are merged into one: each link is written once for each eightfold growth."""
FLUSH_S = 30.0
"""While pages keep coming, readers see their links after this time at the latest."""
_DUTY = 0.05
_REST_S = 2.0
"""When nothing more comes, what is in memory becomes a generation as soon as small ones take no more than this share of the
time, or after this time."""
_QUIET = 3
"""After so many commits without new pages nothing more comes: between two pages of a crawl there is often a second."""
_SMALLEST = 4_096
"""Generations of fewer links and rows count as of one size."""
_WAIT_S = 0.5
"""How long a commit waits for a merge when there is nothing else to do."""
_MIN_DEAD_ROWS = 1_000
_KEYS_A_STEP = 16_384


class GraphView:
    """The writer of the link graph; for one thread."""

    name = "graph"
    problem = ""
    removes_forgotten = False

    def __init__(self, paths: IndexPaths) -> None:
        self._folder = paths.graph
        self._folder.mkdir(parents=True, exist_ok=True)
        manifest = load_manifest(self._folder) or Manifest()
        self._number = remove_leftovers(self._folder, manifest)
        # There is always one from now on, so that readers can tell a lost one from a graph that is being begun.
        if not manifest.generations:
            save_manifest(self._folder, manifest.cursors, (), manifest.dues)
        try:
            self._parts = open_parts(self._folder, manifest)
        except FileNotFoundError as error:
            told = f"{error.filename} is missing; {advise_rebuild(paths.folder)}"
            raise UnreadableError(told) from error
        self._durable = dict(manifest.cursors)
        self._cursors = dict(manifest.cursors)
        self._dues = Dues(manifest.dues)
        self._durable_dues = manifest.dues
        self._gathered = Gathered()
        self._has_forgotten = False
        self._quiet = 0
        self._flushed_at = -math.inf
        self._flush_s = 0.0
        self._merger = ThreadPoolExecutor(1, "graph")
        self._merging: tuple[Future[Generation], Merge] | None = None
        self._is_closing = threading.Event()
        self.failed = 0
        """How many pages could not be read; each is logged."""
        self.cut = 0
        """How many pages had more links than are taken."""

    @property
    def has_deferred(self) -> bool:
        """Whether links are in memory only, pages are due for removal, or generations are being merged."""
        is_behind = bool(self._gathered) or self._cursors != self._durable
        return is_behind or self._merging is not None or self._dues.is_due(time.time())

    def load_cursors(self) -> dict[str, int]:
        """Where reading resumes: everything before is in the generations."""
        return dict(self._durable)

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes; for each page the newest counts."""
        self._quiet = 0
        for outcome in outcomes:
            try:
                page = read_page_links(outcome)
            except Exception as error:
                self.failed += 1
                _log.warning("%s is not in the graph", outcome.url, exc_info=error)
                continue
            self._dues.add(outcome)
            if page is not None:
                self.cut += page.is_cut
                self._gathered.add(page)
        if self._gathered.is_full:
            self._flush()

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Remove the rows of all pages whose URL is forgotten. What others link to stays as their target."""
        remove_ratings(self._folder)
        self._gathered.drop_forgotten(is_forgotten)
        self._dues.forget(is_forgotten)
        parts = []
        for part in self._parts:
            dead = _find_forgotten(part, is_forgotten)
            parts.append(_bury(part, dead, is_stale=True) if len(dead) else part)
        self._parts = parts
        self._has_forgotten = True

    def commit(self, cursors: Cursors) -> None:
        """Make a generation of what was applied, if it is time for one, and note the cursors; see above."""
        self._cursors = dict(cursors)
        is_at_rest = self._quiet >= _QUIET
        self._quiet += 1
        for page in self._dues.take(time.time()):
            self._gathered.add(page)
        self._finish_merge(_WAIT_S if is_at_rest and not self._gathered else 0.0)
        waited_s = time.monotonic() - self._flushed_at
        is_due = waited_s >= (min(self._flush_s / _DUTY, _REST_S) if is_at_rest else FLUSH_S)
        if self._has_forgotten or (is_due and (self._gathered or self._cursors != self._durable)):
            self._flush()
        self._start_merge()

    def close(self) -> None:
        """Make a last generation for readers, give up a merge, and release the files."""
        self._is_closing.set()
        if self._gathered:
            # If that fails, all comes again.
            with contextlib.suppress(OSError, UnreadableError):
                self._flush()
        self._merger.shutdown()
        self._merging = None
        self._parts = []

    def _flush(self) -> None:
        """Make a generation of what is in memory, and commit it with the newest cursors that it has passed."""
        started = time.monotonic()
        cursors, dues = self._cursors, self._dues.list_all()
        parts = self._resolve(self._parts)
        if self._gathered:
            path = self._name_next()
            self._gathered.write(path)
            parts = [*parts, Part(Generation(path), np.empty(0, np.int64))]
        # If this fails, it is unknown whether the manifest names the new file: the next view removes it if not.
        save_manifest(self._folder, cursors, parts, dues)
        if self._has_forgotten:
            # Of a state before it, which has been rated meanwhile.
            remove_ratings(self._folder)
        self._parts = parts
        self._durable, self._durable_dues = dict(cursors), dues
        self._gathered.clear()
        self._has_forgotten = False
        self._flushed_at = time.monotonic()
        self._flush_s = self._flushed_at - started

    def _resolve(self, parts: Sequence[Part]) -> list[Part]:
        """Settle which row of a page counts: drop those in memory that are older than those of generations, and return the parts
        without the rows that are older."""
        pages = self._gathered.list_pages()
        hashes = np.array([hash_key(key) for key, _, _ in pages], np.uint32)
        older: list[str] = []
        resolved = []
        for part in parts:
            known = part.generation.load_hashes()
            places = np.minimum(np.searchsorted(known, hashes), max(len(known) - 1, 0))
            found = np.flatnonzero(known[places] == hashes).tolist() if len(known) and len(hashes) else []
            stamps = part.generation.load_stamps() if found else None
            dead = []
            for place in found:
                key, url, stamp = pages[place]
                number = part.generation.dictionary.find(key)
                row = None if number is None else part.find_row(number)
                if number is None or row is None or stamps is None:
                    continue
                if read_stamp(stamps, row) >= stamp:
                    older.append(url)
                else:
                    dead.append(number)
            resolved.append(_bury(part, np.array(dead, np.int64)) if dead else part)
        self._gathered.drop(older)
        return resolved

    def _start_merge(self) -> None:
        """Let generations be merged if there are too many of a size, or one has many rows that do not count."""
        chosen = _choose_parts(self._parts)
        if self._merging is None and chosen:
            merge = Merge(chosen, self._name_next(), self._is_closing.is_set)
            self._merging = (self._merger.submit(merge.run), merge)

    def _finish_merge(self, patience_s: float) -> None:
        """Take a merged generation in place of its parts, if it is ready."""
        if self._merging is None:
            return
        future, merge = self._merging
        if patience_s:
            wait_for([future], patience_s)
        if not future.done():
            return
        self._merging = None
        try:
            generation = future.result()
        except CancelledError:
            return
        finally:
            # The future refers to the error, and the error to this frame.
            del future
        now = {part.generation.name: part for part in self._parts}
        dead = [np.empty(0, np.int64)]
        is_stale = False
        for number, before in enumerate(merge.parts):
            current = now.pop(before.generation.name)
            dead.append(merge.translate(number, current.dead))
            is_stale |= current.is_stale and (not before.is_stale or len(dead[-1]) > 0)
        parts = list(now.values())
        if generation.rows or generation.keys:
            parts.append(Part(generation, np.sort(np.concatenate(dead)), is_stale))
        save_manifest(self._folder, self._durable, parts, self._durable_dues)
        self._parts = parts
        for before in merge.parts:
            before.generation.file.path.unlink(missing_ok=True)
        if not (generation.rows or generation.keys):
            generation.file.path.unlink(missing_ok=True)

    def _name_next(self) -> Path:
        self._number += 1
        return self._folder / f"{self._number:06}{SUFFIX}"


def read_graph_cursors(paths: IndexPaths) -> dict[str, int]:
    """The cursors of a graph that nobody writes. Raise UnreadableError if it is damaged."""
    manifest = load_manifest(paths.graph)
    return dict(manifest.cursors) if manifest else {}


def _choose_parts(parts: Sequence[Part]) -> list[Part]:
    """The generations to merge next; none if there is nothing to do."""
    for part in parts:
        size = part.generation.rows
        if part.is_stale or (len(part.dead) > _MIN_DEAD_ROWS and 2 * len(part.dead) > size):
            return [part]
    sizes: dict[int, list[Part]] = {}
    for part in parts:
        size = max(part.generation.links + part.generation.rows, _SMALLEST)
        sizes.setdefault(int(math.log(size / _SMALLEST, FAN_OUT)), []).append(part)
    for size, alike in sorted(sizes.items()):
        if len(alike) >= FAN_OUT:
            # Those that are smaller cost little more.
            return [part for other, some in sizes.items() if other <= size for part in some]
    return []


def _find_forgotten(part: Part, is_forgotten: Callable[[str], bool]) -> Numbers:
    """The numbers of the URLs of a part that have a row and are forgotten. Rows that no longer count are found, too."""
    sources = part.generation.list_sources()
    found: list[int] = []
    for start in range(0, len(sources), _KEYS_A_STEP):
        numbers = sources[start : start + _KEYS_A_STEP].tolist()
        keys = part.generation.dictionary.read_all(numbers)
        found += [number for number, key in zip(numbers, keys, strict=True) if is_forgotten(read_key(key))]
    return np.array(found, np.int64)


def _bury(part: Part, dead: Numbers, *, is_stale: bool = False) -> Part:
    """A part of which more rows do not count."""
    return Part(part.generation, np.union1d(part.dead, dead), is_stale or part.is_stale)
