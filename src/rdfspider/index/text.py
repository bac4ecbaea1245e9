"""The text index as a view of the log: outcomes in, documents of pages and entities in tantivy out, with the ledger beside it.

Two stores cannot commit as one, so the order of a commit is: the ledger, with the ids of all documents that follow from it and
are not in tantivy yet (`dirty`, `gone`); tantivy, with the cursors in a document of the same commit; the ledger again, without
those ids. Reading goes on at tantivy's cursors. So, if the process is killed

- before the ledger's commit: both are as they were, and the outcomes are read again;
- between the two commits: the ledger is ahead. Entities that are dirty are built on start. The outcomes are read again: the
  ledger knows them by time and digest and does not count them twice, but the documents of their pages are written once more.
  Pages that were forgotten have no outcome that is read again: their documents are among those gone, and deleted on start;
- after tantivy's commit: what is still noted as dirty is built again, and is the same.

An entity of many sources is built again when their number has changed by a tenth. Until then it is put off (`deferred`), or until
there is nothing else to do: so a page costs the same however many others speak of the same thing.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import msgspec
import tantivy

from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import UsageError
from rdfspider.index.documents import (
    Fields,
    build_cursor,
    build_entity,
    build_page,
    encode,
    make_entity_id,
    make_page_id,
)
from rdfspider.index.entities import PageReading, read_page
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger import MAX_MENTIONS, Ledger, Mention
from rdfspider.index.outcomes import REPLACE, TOUCH, Outcome
from rdfspider.index.schema import CURSOR_ID, build_schema, register_tokenizers
from rdfspider.index.views import Cursors
from rdfspider.urls import host_of

_HEAP_BYTES = 64_000_000
_REST_S = 1.0
"""So long at a time is spent on entities that were put off: new outcomes must not wait."""
_DEFERRED_A_STEP = 100
_GROWTH = 10
"""An entity of many sources is built again when their number has changed by one in so many."""
_MAX_LANGUAGE = 40
"""What is longer is no language tag."""
_MAX_FRESH = 5_000
"""Sayings that are held in memory until the next commit, because most are all that is said of their entity."""


class State(msgspec.Struct, frozen=True):
    """What the document of the cursors holds."""

    ledger: str
    """The ledger that the index belongs to."""
    cursors: dict[str, int]


class TextView:
    """The writer of the text index and of its ledger."""

    name = "text"

    def __init__(self, paths: IndexPaths) -> None:
        suffixes = paths.folder / "suffixes.dat"
        self._domains = Domains(suffixes.read_bytes() if suffixes.exists() else bundled_suffix_list(), shards=1)
        self._ledger = Ledger(paths.ledger)
        self._index = _open_index(paths)
        with _passing_errors():
            self._writer: tantivy.IndexWriter | None = self._index.writer(_HEAP_BYTES, 1)
        self._fresh: dict[bytes, Mention | None] = {}
        self._has_applied = False
        self._cursors = self._recover()

    @property
    def has_deferred(self) -> bool:
        """Whether entities are put off: a commit without new outcomes builds some."""
        return bool(self._ledger.load_deferred(1))

    def load_cursors(self) -> dict[str, int]:
        """Where reading goes on: what was read before is in the ledger and, except for what is dirty, in the index."""
        return dict(self._cursors)

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes, in the order of the log; durable with the next commit."""
        self._has_applied = True
        with _passing_errors():
            for outcome in outcomes:
                if outcome.effect != TOUCH:
                    self._apply(outcome)

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Remove all pages whose URL is forgotten."""
        self._has_applied = True
        with _passing_errors():
            for url in self._ledger.forget_pages(is_forgotten):
                self._delete_page(url)

    def commit(self, cursors: Cursors) -> None:
        """Make all that was applied durable, together with the cursors, and let readers see it."""
        is_resting = not self._has_applied
        settled = self._ledger.settle_sources()
        now = {entity: sources for entity, sources, built in settled if not _can_wait(sources, built)}
        self._ledger.note_dirty(now, [each[0] for each in settled if each[0] not in now])
        if is_resting and dict(cursors) == self._cursors and not self.has_deferred and not self._dirty:
            return
        self._ledger.commit()
        with _passing_errors():
            built = dict(self._build(self._dirty | now))
            if is_resting:
                built |= self._build_deferred()
            writer = self._use_writer()
            self._write(build_cursor(msgspec.json.encode(State(self._ledger.identity, dict(cursors)))))
            writer.commit()
        self._ledger.note_built(built.items())
        self._cursors = dict(cursors)
        self._dirty.clear()
        self._fresh.clear()
        self._has_applied = False

    def close(self) -> None:
        """Leave; what was not committed is taken again."""
        self._writer = None
        self._ledger.close()

    def _recover(self) -> dict[str, int]:
        """Find out where reading goes on, and do again what may have been done in the ledger alone."""
        state = _load_state(self._index)
        self._dirty = {entity: self._ledger.count_sources(entity) for entity in self._ledger.load_dirty()}
        with _passing_errors():
            if state is None or state.ledger != self._ledger.identity:
                # One of the two was lost: all documents are made anew from the log and what the ledger has.
                self._use_writer().delete_all_documents()
                self._ledger.note_all_dirty()
                return {}
            for document in self._ledger.load_gone():
                self._delete(document)
        return state.cursors

    def _apply(self, outcome: Outcome) -> None:
        if len(outcome.language) > _MAX_LANGUAGE:
            outcome = replace(outcome, language="")
        known = self._ledger.find_page(outcome.url)
        version = (outcome.time, outcome.digest)
        if known is not None and version < (known.time, known.digest):
            return
        is_new = known is None or version != (known.time, known.digest)
        host = host_of(outcome.url)
        site = self._domains.domain(host)
        if outcome.effect == REPLACE:
            reading = read_page(outcome.url, site, outcome.statements)
            if is_new:
                self._ledger.put_page(outcome, host, site, reading, known)
                self._keep_fresh(outcome, host, site, reading)
            self._write(build_page(outcome, host, site, reading))
        else:
            if is_new:
                self._ledger.remove_page(outcome, host, site, known)
            self._delete_page(outcome.url)

    def _keep_fresh(self, outcome: Outcome, host: str, site: str, reading: PageReading) -> None:
        """Hold what a page says of its entities: where nobody else says anything, nothing need be read to build them."""
        for entity, contribution in reading.contributions.items():
            if entity in self._fresh or len(self._fresh) >= _MAX_FRESH:
                self._fresh[entity] = None
            else:
                self._fresh[entity] = Mention(outcome.url, host, site, outcome.language, outcome.time, contribution)

    def _build(self, entities: dict[bytes, int]) -> Iterator[tuple[bytes, int]]:
        """Write the documents of entities with so many sources each; gives what was written."""
        for entity, sources in entities.items():
            if sources <= 0:
                self._delete(make_entity_id(entity))
            elif sources == 1 and (mention := self._fresh.get(entity)) is not None:
                self._write(build_entity(entity, [mention], [mention.site], 1))
            else:
                mentions, sites = self._ledger.list_mentions(entity)
                self._write(build_entity(entity, mentions, sites, sources))
            yield entity, sources

    def _build_deferred(self) -> dict[bytes, int]:
        """Build entities that were put off, for a while."""
        built: dict[bytes, int] = {}
        end = time.monotonic() + _REST_S
        last = b""
        while time.monotonic() < end and (some := self._ledger.load_deferred(_DEFERRED_A_STEP, last)):
            last = some[-1]
            built.update(self._build({entity: self._ledger.count_sources(entity) for entity in some}))
        return built

    def _write(self, fields: Fields) -> None:
        """Put a document in the place of the one that has its id."""
        self._delete(str(fields["id"]))
        self._use_writer().add_json(encode(fields))

    def _delete(self, document: str) -> None:
        self._use_writer().delete_documents_by_term("id", document)

    def _delete_page(self, url: str) -> None:
        document = make_page_id(url)
        self._ledger.note_gone(document)
        self._delete(document)

    def _use_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise OSError("the text index is closed")
        return self._writer


def _can_wait(sources: int, built: int) -> bool:
    """Whether an entity is said of by so many pages, now and when it was built, that it need not be built at once."""
    return min(sources, built) > MAX_MENTIONS and abs(sources - built) * _GROWTH < built


def _open_index(paths: IndexPaths) -> tantivy.Index:
    paths.text.mkdir(parents=True, exist_ok=True)
    try:
        index = tantivy.Index(build_schema(), path=str(paths.text))
    except ValueError as error:
        raise UsageError(
            f"{paths.text} cannot be opened: {error}; make it again with `rdfspider index --rebuild --dir {paths.folder}`"
        ) from error
    register_tokenizers(index)
    return index


def _load_state(index: tantivy.Index) -> State | None:
    """What the last commit says of itself; None for a new index."""
    searcher = index.searcher()
    found = searcher.search(tantivy.Query.term_query(index.schema, "id", CURSOR_ID), 1).hits
    if not found:
        return None
    return msgspec.json.decode(searcher.doc(found[0][1])["card"][0], type=State)


@contextmanager
def _passing_errors() -> Iterator[None]:
    """tantivy says ValueError where a disk is full or a file cannot be written: the caller may try again later."""
    try:
        yield
    except ValueError as error:
        raise OSError(f"the text index cannot be written: {error}") from error
