"""The text index as a view of the log: outcomes enter; documents in tantivy and rows in the ledger leave.

Two stores cannot commit atomically, so a commit has three steps: the ledger, with the ids of all documents that are outdated
in tantivy (`dirty`, `gone`); tantivy, with the cursors in a document of the same commit; the ledger again, without those ids.
Reading continues at tantivy's cursors. If the process is killed

- before the ledger's commit: both are unchanged, and the outcomes are read again;
- between the two commits: the ledger is ahead. Dirty entities are built on start. The outcomes are read again: the ledger
  recognises them by time and digest and does not count them twice, but their pages' documents are written once more. Forgotten
  pages have no outcome to read again: their documents are in `gone`, and are deleted on start;
- after tantivy's commit: entities still noted as dirty are built again, with the same result.

An entity with many sources is rebuilt when their number has changed by a tenth, and one of which new pages say only what others
have said, as the pages of a site do of its owner, when they are four times as many. Until then it is deferred, or until there is
nothing else to do, so that a page costs the same however many others describe the same entity.

No content of a page stops the view: what cannot be indexed is logged and left out.
"""

import logging
import os
import re
import sqlite3
import struct
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import tantivy
from isal import isal_zlib
from msgspec.structs import replace

from rdfspider.archive.outcomes import Effect, Outcome, make_stamp
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import UnreadableError, UsageError, is_shortage
from rdfspider.index.analysis import register_tokenizers
from rdfspider.index.entities.contributions import URN, PageReading, read_page
from rdfspider.index.identity.evidence import list_claims
from rdfspider.index.identity.splits import SplitRules
from rdfspider.index.layout import IndexPaths, advise_rebuild
from rdfspider.index.ledger.writer import MAX_MENTIONS, Ledger, Mention, Settled, SplitText
from rdfspider.index.text.documents import (
    build_cursor,
    build_entity,
    build_page,
    encode,
    is_copy,
    is_found_alone,
    make_entity_id,
    make_page_id,
    split_page_text,
)
from rdfspider.index.text.fields import CURSOR_ID, build_schema
from rdfspider.index.text.own_site import prefer_own
from rdfspider.index.view import Cursors
from rdfspider.urls import host_of
from rdfspider.vocabulary.terms import replace_surrogates

_log = logging.getLogger(__name__)

_HEAP_BYTES = 64_000_000
_REST_S = 1.0
"""Time spent on deferred entities per commit: new outcomes must not wait."""
_DEFERRED_A_STEP = 100
_GROWTH = 10
"""An entity with many sources is rebuilt when their number has changed by one in so many."""
_REPEATED_GROWTH = 4
"""An entity of which new pages say nothing new is rebuilt when it has so many times as many sources."""
_MAX_SAID = 50_000
"""Entities for which it is remembered what the last page said."""
_read_said = attrgetter("role", "types", "labels", "description", "image", "url", "values", "parts", "links", "date")
_MAX_LANGUAGE = 40
"""Longer texts are not language tags."""
_SEGMENT_FILE = re.compile(r"[0-9a-f]{32}(\.\d+)?\.[a-z]+")
_FOOTER_END, _FOOTER_MAGIC = struct.Struct("<II"), 1337
_CHUNK_BYTES = 1 << 20
_REFUSALS = ("The field", "The provided string is not valid JSON")
"""How tantivy's errors about a refused document begin; other errors come from the disk."""
_MAX_WAITING, _MAX_WAITING_CHARS = 256, 2_000_000
"""Documents handed to tantivy together, and their characters."""
_MAX_FRESH, _MAX_FRESH_CHARS = 5_000, 20_000_000
"""Contributions held in memory until the next commit, because most entities have only one, and the characters of their pages."""


class TextState(msgspec.Struct, frozen=True):
    """The content of the cursor document."""

    ledger: str
    """The identity of the ledger that the index belongs to."""
    cursors: dict[str, int]


class TextView:
    """The writer of the text index and of its ledger."""

    name = "text"
    problem = ""
    removes_forgotten = False

    def __init__(self, paths: IndexPaths, *, is_merging: bool = True) -> None:
        """`is_merging`: whether things that pages say are one become one document."""
        suffixes = paths.folder / "suffixes.dat"
        self._domains = Domains(suffixes.read_bytes() if suffixes.exists() else bundled_suffix_list(), shards=1)
        self._ledger = Ledger(paths.ledger)
        self._is_merging = is_merging
        self._splits = SplitRules(paths.splits)
        try:
            self._index = _open_index(paths)
            with _passing_errors():
                self._writer: tantivy.IndexWriter | None = self._index.writer(_HEAP_BYTES, 1)
                # A commit that failed, or was killed, may have left files with the very names that the next one chooses.
                self._writer.garbage_collect_files()
            state = _load_state(self._index)
        except BaseException as error:
            self._ledger.close()
            if not isinstance(error, ValueError):
                raise
            if is_shortage(error):
                raise _pass_error(error) from error
            raise UnreadableError(f"{paths.text} is damaged: {error}; {advise_rebuild(paths.folder)}") from error
        self._fresh: dict[bytes, Mention | None] = {}
        self._fresh_pages: set[str] = set()
        self._fresh_chars = 0
        self._said: dict[bytes, int] = {}
        """The hash of what the last page said of an entity."""
        self._changed: set[bytes] = set()
        """Entities of which a page has said something new since the last commit."""
        self._has_lost = False
        """Whether a page was removed or replaced since then."""
        self._waiting: list[tuple[str, str]] = []
        """Pending changes: the id of a document to delete, or a document to add."""
        self._waiting_chars = 0
        self.failed = 0
        """How many pages and entities could not be indexed, or only partly; each is logged."""
        self._has_applied = False
        self._cursors = self._recover(state)

    @property
    def has_deferred(self) -> bool:
        """Whether entities are deferred or pages are due for removal: a commit without new outcomes does some of this work."""
        return bool(
            self._ledger.load_deferred(1) or self._ledger.list_due(time.time(), 1) or self._splits.has_changed()
        )

    def load_cursors(self) -> dict[str, int]:
        """Return where reading continues: everything before is in the ledger and, except for dirty entities, in the index."""
        return dict(self._cursors)

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        """Apply outcomes in the order of the log; the next commit makes them durable."""
        self._has_applied = True
        for outcome in outcomes:
            if outcome.effect == Effect.TOUCH and not outcome.due:
                continue
            try:
                self._apply(_clean_outcome(outcome))
            except (OSError, sqlite3.Error):
                raise
            except Exception as error:
                self.failed += 1
                _log.warning("%s is not in the text index", outcome.url, exc_info=error)

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Remove all pages whose URL is forgotten."""
        self._has_applied = self._has_lost = True
        for url in self._ledger.forget_pages(is_forgotten):
            self._delete_page(url)

    def commit(self, cursors: Cursors) -> None:
        """Make everything applied durable, together with the cursors, and visible to readers."""
        self._remove_due()
        self._has_applied |= self._ledger.set_merging(self._is_merging, self._splits.load())
        is_resting = not self._has_applied
        settled = self._ledger.settle_sources()
        now = {each.entity: each.sources for each in settled if not self._can_wait(each)}
        # An entity that was never built has no old document to delete.
        new = {each.entity for each in settled if not each.built}.difference(self._dirty)
        alone = self._join(settled, now)
        waiting = (each for each in settled if each.entity not in now)
        self._ledger.note_dirty(
            now, {name for each in waiting for name in (each.entity, each.canonical or each.entity)}
        )
        if is_resting and dict(cursors) == self._cursors and not self.has_deferred and not self._dirty:
            return
        self._ledger.commit()
        built = dict(self._build(self._dirty | now, new, alone))
        if is_resting:
            built |= self._build_deferred()
        state = encode(build_cursor(msgspec.json.encode(TextState(self._ledger.identity, dict(cursors)))))
        self._write(CURSOR_ID, state)
        self._hand_over()
        with _passing_errors():
            self._use_writer().commit()
        self._ledger.note_built(built.items())
        self._cursors = dict(cursors)
        self._dirty.clear()
        self._fresh.clear()
        self._fresh_pages.clear()
        self._fresh_chars = 0
        self._changed.clear()
        self._has_applied = self._has_lost = False

    def close(self) -> None:
        """Close; outcomes that were not committed are read again later."""
        self._writer = None
        self._ledger.close()

    def _recover(self, state: TextState | None) -> dict[str, int]:
        """Return where reading continues, and redo what may have reached only the ledger."""
        self._dirty = {entity: self._ledger.count_sources(entity) for entity in self._ledger.load_dirty()}
        if state is None or state.ledger != self._ledger.identity:
            # One of the two was lost: all documents are rebuilt from the log and the ledger.
            with _passing_errors():
                self._use_writer().delete_all_documents()
            self._ledger.note_all_dirty()
            return {}
        for document in self._ledger.load_gone():
            self._delete(document)
        return state.cursors

    def _apply(self, outcome: Outcome) -> None:
        known = self._ledger.find_page(outcome.url)
        stamp = make_stamp(outcome)
        if known is not None and stamp < known.stamp:
            return
        if outcome.effect == Effect.TOUCH:
            if known is not None and known.is_live:
                self._ledger.note_due(known.id, min(outcome.due, known.due or outcome.due))
            return
        is_new = known is None or stamp != known.stamp
        host = host_of(outcome.url)
        site = self._domains.domain(host)
        if outcome.effect == Effect.REPLACE:
            text = split_page_text(outcome.text)
            reading, document = self._read(outcome, host, site, text)
            if is_new:
                self._drop_fresh(outcome.url)
                reading.facts.claims = list_claims(reading.contributions, self._domains.domain)
                self._ledger.put_page(outcome, stamp.content, host, site, reading, known)
                self._has_lost |= known is not None
                self._compare(reading, site, text)
                self._keep_fresh(outcome, host, site, reading, text)
            self._write(make_page_id(outcome.url), document, is_new=known is None)
        else:
            if is_new:
                self._has_lost |= known is not None
                self._ledger.remove_page(outcome, host, site, known)
            self._delete_page(outcome.url)

    def _remove_due(self) -> None:
        """Remove pages whose time to be removed has come (`unavailable_after`)."""
        while urls := self._ledger.list_due(time.time(), _DEFERRED_A_STEP):
            self._has_applied = self._has_lost = True
            for url in urls:
                if (known := self._ledger.find_page(url)) is not None:
                    outcome = Outcome(url, known.time, "", 0, 0, Effect.REMOVE, digest=known.digest)
                    self._ledger.remove_page(outcome, host_of(url), known.site, known)
                self._delete_page(url)

    def _read(self, outcome: Outcome, host: str, site: str, text: SplitText) -> tuple[PageReading, str]:
        """Read a page and build its document, without its statements if they cannot be read."""
        try:
            reading = read_page(
                outcome.url,
                site,
                outcome.statements,
                title=outcome.title,
                canonical=outcome.canonical,
                is_copy=is_copy(outcome),
            )
            return reading, encode(build_page(outcome, host, site, reading, text))
        except Exception as error:
            self.failed += 1
            _log.warning("%s is in the text index without its statements", outcome.url, exc_info=error)
        reading = read_page(outcome.url, site, {})
        return reading, encode(build_page(outcome, host, site, reading, text))

    def _keep_fresh(self, outcome: Outcome, host: str, site: str, reading: PageReading, text: SplitText) -> None:
        """Keep a page's contributions in memory: an entity without other sources is then built without reading the ledger."""
        self._fresh_pages.add(outcome.url)
        for entity, contribution in reading.contributions.items():
            about = text if entity == reading.main else None
            self._fresh_chars += len(text.shown) if about else 0
            if entity in self._fresh or len(self._fresh) >= _MAX_FRESH or self._fresh_chars > _MAX_FRESH_CHARS:
                self._fresh[entity] = None
            else:
                page = (outcome.url, host, site, outcome.language, outcome.time)
                self._fresh[entity] = Mention(*page, contribution, split=about)

    def _compare(self, reading: PageReading, site: str, text: SplitText) -> None:
        """Note of which entities a page says something else than the last page that named them, or is of another site."""
        if len(self._said) > _MAX_SAID:
            self._said.clear()
        for entity, one in reading.contributions.items():
            # The document of a page's main thing has its text, too.
            said = hash((_read_said(one), site, text.shown if entity == reading.main else ""))
            if self._said.get(entity) != said:
                self._said[entity] = said
                self._changed.add(entity)

    def _can_wait(self, each: Settled) -> bool:
        """Whether an entity need not be rebuilt at once: it had and has many sources, and few are new; or they only repeat what
        others said."""
        if min(each.sources, each.built) > MAX_MENTIONS and abs(each.sources - each.built) * _GROWTH < each.built:
            return True
        is_repeated = each.entity not in self._changed and not self._has_lost
        return is_repeated and each.built <= each.sources < each.built * _REPEATED_GROWTH

    def _drop_fresh(self, url: str) -> None:
        """Read everything from the ledger until the next commit, if a page whose contributions are in memory is replaced."""
        if url in self._fresh_pages:
            self._fresh = dict.fromkeys(self._fresh)

    def _join(self, settled: Sequence[Settled], now: dict[bytes, int]) -> set[bytes]:
        """Decide which entities are one, and add to `now` those whose documents change thereby; the document of an entity that
        another stands for is deleted. Return the entities that certainly stand for themselves alone."""
        changed: dict[bytes, None] = dict.fromkeys(
            each.canonical for each in settled if each.canonical and each.entity in now
        )
        judged = self._ledger.join_entities(settled)
        for entity, before, after in judged:
            if before != after:
                changed.update(dict.fromkeys((entity, before, after)))
            elif entity in now:
                changed[after] = None
        for entity in changed:
            if entity not in now:
                now[entity] = self._ledger.count_sources(entity)
        return {each.entity for each in settled}.difference(each.entity for each in judged)

    def _build(
        self, entities: dict[bytes, int], new: Container[bytes] = (), alone: Container[bytes] = ()
    ) -> Iterator[tuple[bytes, int]]:
        """Write the documents of entities with their numbers of sources, and yield these; `new` ones have no document yet, and
        those `alone` are joined with no other."""
        for entity, sources in entities.items():
            document = self._describe(entity, sources, is_alone=entity in alone) if sources > 0 else ""
            if document:
                self._write(make_entity_id(entity), document, is_new=entity in new)
            elif entity not in new:
                self._delete(make_entity_id(entity))
            yield entity, sources

    def _describe(self, entity: bytes, sources: int, *, is_alone: bool) -> str:
        """Return the document of an entity; empty if it cannot be built, or if another entity or its whole stands for it."""
        whole = [entity] if is_alone else self._ledger.find_whole(entity)
        if whole[0] != entity:
            return ""
        names: list[str] = []
        if len(whole) > 1:
            mentions, sites = self._ledger.list_mentions(*whole)
            sources, names = self._ledger.count_pages(whole), self._ledger.list_ids(whole)
        elif sources == 1 and (mention := self._fresh.get(entity)) is not None:
            mentions, sites = [mention], [mention.site]
        else:
            mentions, sites = self._ledger.list_mentions(entity)
        try:
            if not is_found_alone(mention.contribution for mention in mentions):
                return ""
            if len(sites) > 1:
                mentions = prefer_own(mentions, self._find_own_sites(whole, names or [mentions[0].contribution.id]))
            return encode(build_entity(entity, mentions, sites, sources, names))
        except Exception as error:
            self.failed += 1
            _log.warning("%s is not in the text index", make_entity_id(entity), exc_info=error)
            return ""

    def _find_own_sites(self, whole: Sequence[bytes], names: Sequence[str]) -> set[str]:
        """Return the sites on which the IRIs of an entity are; of several that are one, not those of IRIs that only claim it."""
        followers = self._ledger.list_followers(whole) if len(whole) > 1 else ()
        own = [name for each, name in zip(whole, names, strict=True) if each not in followers] or names
        hosts = {host_of(name.partition("#")[0].partition("?")[0]).lower() for name in own if not name.startswith(URN)}
        return {self._domains.domain(host) for host in hosts if host}

    def _build_deferred(self) -> dict[bytes, int]:
        """Build deferred entities for `_REST_S` seconds."""
        built: dict[bytes, int] = {}
        end = time.monotonic() + _REST_S
        last = b""
        while time.monotonic() < end and (some := self._ledger.load_deferred(_DEFERRED_A_STEP, last)):
            last = some[-1]
            built.update(self._build({entity: self._ledger.count_sources(entity) for entity in some}))
        return built

    def _write(self, name: str, document: str, *, is_new: bool = False) -> None:
        """Add a document, and unless it is new, delete the old one with its id."""
        if not is_new:
            self._delete(name)
        self._waiting.append(("", document))
        self._waiting_chars += len(document)
        if len(self._waiting) >= _MAX_WAITING or self._waiting_chars >= _MAX_WAITING_CHARS:
            self._hand_over()

    def _delete(self, name: str) -> None:
        self._waiting.append((name, ""))

    def _hand_over(self) -> None:
        """Pass pending changes to tantivy all at once: its thread sleeps between single ones, and is slow to wake."""
        writer = self._use_writer()
        waiting, self._waiting, self._waiting_chars = self._waiting, [], 0
        for name, document in waiting:
            try:
                if name:
                    writer.delete_documents_by_term("id", name)
                else:
                    writer.add_json(document)
            except ValueError as error:
                if name or not str(error).startswith(_REFUSALS):
                    raise _pass_error(error) from error
                self.failed += 1
                _log.warning("a document was refused by the text index: %s", str(error)[:200])

    def _delete_page(self, url: str) -> None:
        self._drop_fresh(url)
        document = make_page_id(url)
        self._ledger.note_gone(document)
        self._delete(document)

    def _use_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise OSError("the text index is closed")
        return self._writer


def _open_index(paths: IndexPaths) -> tantivy.Index:
    paths.text.mkdir(parents=True, exist_ok=True)
    try:
        index = tantivy.Index(build_schema(), path=str(paths.text))
    except ValueError as error:
        if is_shortage(error):
            raise _pass_error(error) from error
        raise UsageError(f"{paths.text} cannot be opened: {error}; {advise_rebuild(paths.folder)}") from error
    register_tokenizers(index)
    return index


def read_text_cursors(paths: IndexPaths) -> dict[str, int]:
    """The cursors of a text index; raise ValueError or a panic of tantivy if it is damaged."""
    state = _load_state(tantivy.Index.open(str(paths.text)))
    return state.cursors if state else {}


def find_damaged_files(paths: IndexPaths) -> list[str]:
    """The files of a text index whose content has another checksum than tantivy has written at their ends. Only committed ones
    count: a full disk or a killed writer leaves others."""
    committed = {segment.segment_id.replace("-", "") for segment in _read_description(paths).segments}
    files = (file for file in sorted(paths.text.iterdir()) if _SEGMENT_FILE.fullmatch(file.name))
    return [file.name for file in files if file.name.partition(".")[0] in committed and not _has_checksum(file)]


def _read_description(paths: IndexPaths) -> "_Description":
    return msgspec.json.decode((paths.text / "meta.json").read_bytes(), type=_Description)


class _Segment(msgspec.Struct):
    """A part of the index."""

    segment_id: str


class _Description(msgspec.Struct):
    """What tantivy writes at a commit."""

    segments: list[_Segment]


def _has_checksum(path: Path) -> bool:
    """Whether a file ends as tantivy's do: content, a footer in JSON with the checksum of the content, its length, a number."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _FOOTER_END.size, 0))
        ending = file.read()
        if len(ending) < _FOOTER_END.size:
            return False
        length, magic = _FOOTER_END.unpack(ending)
        start = size - _FOOTER_END.size - length
        if magic != _FOOTER_MAGIC or start < 0:
            return False
        file.seek(start)
        try:
            expected = msgspec.json.decode(file.read(length), type=_Footer).crc
        except ValueError:
            return False
        file.seek(0)
        found, left = 0, start
        while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
            found = isal_zlib.crc32(chunk, found)
            left -= len(chunk)
    return found == expected


class _Footer(msgspec.Struct):
    """The footer of a file."""

    crc: int


def _load_state(index: tantivy.Index) -> TextState | None:
    """Load the state of the last commit; None for a new index."""
    searcher = index.searcher()
    found = searcher.search(tantivy.Query.term_query(index.schema, "id", CURSOR_ID), 1).hits
    if not found:
        return None
    return msgspec.json.decode(searcher.doc(found[0][1])["card"][0], type=TextState)


def _clean_outcome(outcome: Outcome) -> Outcome:
    """Return an outcome that can be written: without lone surrogates and invalid language tags."""
    texts = {name: getattr(outcome, name) for name in ("url", "language", "title", "text", "digest", "duplicate_of")}
    changed: dict[str, Any] = {
        name: clean for name, text in texts.items() if (clean := replace_surrogates(text)) != text
    }
    if len(outcome.language) > _MAX_LANGUAGE:
        changed["language"] = ""
    elif "_" in outcome.language:
        # Locale names of operating systems have underscores.
        changed["language"] = replace_surrogates(outcome.language).replace("_", "-")
    statements = {syntax: replace_surrogates(nquads) for syntax, nquads in outcome.statements.items()}
    if changed or statements != outcome.statements:
        return replace(outcome, **changed, statements=statements)
    return outcome


@contextmanager
def _passing_errors() -> Iterator[None]:
    """Turn the ValueError that tantivy raises for a full disk or an unwritable file into an OSError, so that callers retry."""
    try:
        yield
    except ValueError as error:
        raise _pass_error(error) from error


def _pass_error(error: ValueError) -> OSError:
    return OSError(f"the text index cannot be written: {error}")
