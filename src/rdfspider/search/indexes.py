"""The one handle to the indexes of a crawl: its folder enters, answers leave. `Crawl`, the commands and the site all ask
`Indexes`.

Everything is opened when it is first needed, and opened again when the indexer has written something newer or has put a rebuilt
index in place; so one handle serves for as long as a process lives, also while a crawl runs. Nothing here writes.
"""

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import pyoxigraph
from pyoxigraph import NamedNode, Quad, RdfFormat, Store

from rdfspider.config import ExtractConfig
from rdfspider.errors import UnansweredError, UnreadableError, UsageError
from rdfspider.index.entities.contributions import URN
from rdfspider.index.layout import IndexPaths, check_index
from rdfspider.index.ledger.reader import LedgerReader, NameCount, Totals, open_ledger
from rdfspider.index.ledger.usage import SITE
from rdfspider.index.log.foreign import read_sources
from rdfspider.index.log.sources import Forgotten
from rdfspider.index.quads.counting import MergeCounts, count_merge
from rdfspider.index.quads.selection import MERGE, Selection, read_quads, restore_blank_nodes, walk_statements
from rdfspider.index.quads.snapshots import SnapshotReader, tell_damage
from rdfspider.index.quads.sparql.engine import Answer, Limits, Sparql
from rdfspider.index.quads.sparql.messages import Graphs
from rdfspider.index.quads.sparql.rows import Rows, Statements
from rdfspider.index.text.fields import PAGE
from rdfspider.index.text.results import Card, Hit, Results
from rdfspider.index.text.searcher import Filter, TextIndex
from rdfspider.index.text.suggestions import Suggestion
from rdfspider.search.attributions import ReadStatements
from rdfspider.search.entity import NODES_MERGED, Entity, read_entity
from rdfspider.search.export import Exported, choose_format, export_pages
from rdfspider.search.name_lookup import Names, list_readings, make_selection
from rdfspider.search.page_record import PageRecord, read_page
from rdfspider.search.profiles import (
    ClassProfile,
    OntologyProfile,
    PropertyProfile,
    SiteProfile,
    describe_class,
    describe_ontology,
    describe_property,
    describe_site,
    find_count,
)
from rdfspider.search.quality.report import Report, inspect_site
from rdfspider.search.statistics import CachedStatistics, Statistics, read_statistics
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.terms import make_graph_iri

# A SPARQL query waits for its words no longer than this: it holds a process that others could use.
_WORDS_TIMEOUT_S = 10.0
# Of an entity that very many pages describe by blank nodes, SPARQL gets the first nodes.
_MAX_NODES = 100


class Indexes:
    """All indexes of one crawl's folder, for any number of threads.

    Where nothing is indexed yet every question raises UnindexedError, and where an index is damaged or of another version
    UnreadableError; later questions try again.
    """

    def __init__(
        self,
        folder: Path,
        *,
        keeps_quads: bool = False,
        workers: int | None = None,
        has_spare: bool = True,
        most_by_client: int | None = None,
    ) -> None:
        """With `keeps_quads` the newest quads stay open between questions, until `release_idle`: that is quicker for many
        questions, and keeps files on the disk that the indexer has replaced. The other arguments are those of `Sparql`."""
        self.folder = folder
        self.paths = IndexPaths(folder)
        self._keeps_quads = keeps_quads
        self._snapshots = SnapshotReader(self.paths.snapshots)
        self._statistics = CachedStatistics(self.paths)
        # Not a bound method: a handle that nobody has any more must end its processes at once, not when cycles are collected.
        find = partial(_find_iris, weakref.ref(self))
        self._open_sparql = partial(
            Sparql, folder, find, workers=workers, has_spare=has_spare, most_by_client=most_by_client
        )
        self._lock = threading.Lock()
        self._finding = threading.Lock()
        self._text: TextIndex | None = None
        self._sparql: Sparql | None = None
        self._is_ended = False

    def __enter__(self) -> "Indexes":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self, *, for_good: bool = False) -> None:
        """Release all files and end the processes that answer SPARQL. The next question opens them again; after `for_good` it is
        an UnansweredError where it would start a process."""
        with self._lock:
            self._is_ended = for_good
            sparql, self._sparql, self._text = self._sparql, None, None
        if sparql:
            sparql.close()
        self._snapshots.close()

    def release_idle(self) -> None:
        """Release the quads where nobody has asked for them for some seconds. For those who keep them open."""
        self._snapshots.rest()

    # What is opened. Questions that join several of these are below.

    @property
    def text(self) -> TextIndex:
        """The text index."""
        with self._lock:
            if self._text is None:
                self._text = TextIndex(self.folder)
            return self._text

    @property
    def sparql(self) -> Sparql:
        """The processes that answer SPARQL."""
        with self._lock:
            if self._is_ended:
                raise UnansweredError("the server is being ended")
            if self._sparql is None:
                check_index(self.paths)
                self._sparql = self._open_sparql()
            return self._sparql

    @contextmanager
    def use_ledger(self) -> Iterator[LedgerReader]:
        """The ledger as of its last commit."""
        with open_ledger(self.paths) as ledger:
            yield ledger

    @contextmanager
    def use_quads(self) -> Iterator[Store]:
        """The newest snapshot of the quads, whose files stay until the end. Reading may find damage that opening does not: that
        is an UnreadableError, too."""
        check_index(self.paths)
        try:
            with self._snapshots.use() as store:
                yield store
        except BrokenPipeError:
            # Whoever reads the output has gone.
            raise
        except (OSError, RuntimeError) as error:
            raise UnreadableError(tell_damage(self.paths.snapshots, error)) from error
        finally:
            if not self._keeps_quads:
                self._snapshots.close()

    # Questions of the text index.

    def search(
        self, words: str = "", *, limit: int = 10, offset: int = 0, facets: bool | int = False, **filters: Filter
    ) -> Results:
        """Pages and entities by words and by the fields of the query language; see `TextIndex.search`."""
        return self.text.search(words, limit=limit, offset=offset, facets=facets, **filters)

    def suggest(self, typed: str, limit: int = 8) -> list[Suggestion]:
        """How what somebody has typed so far may go on."""
        return self.text.suggest(typed, limit)

    def find_in_links(self, url: str, limit: int = 20, offset: int = 0) -> tuple[int, list[Card]]:
        """How many pages link to a page, and some of them."""
        return self.text.find_in_links(url, limit, offset)

    def find_iris(self, words: str, limit: int) -> list[tuple[str, float]]:
        """What the text service of SPARQL gives: IRIs of the quad store for words, the best first, each with its score. A page is
        the graph of its URL; an entity that only blank nodes describe is all of these nodes."""
        if not self._finding.acquire(timeout=_WORDS_TIMEOUT_S):
            raise UnansweredError("others are looking for words in the text index: try again in a moment")
        try:
            found: dict[str, float] = {}
            with open_ledger(self.paths) as ledger:
                for score, card in self.text.find_cards(words, limit):
                    for iri in _list_nodes(ledger, card.kind, card.id, _MAX_NODES):
                        found.setdefault(iri, score)
            return list(found.items())
        finally:
            self._finding.release()

    # Questions of the quads.

    def ask(
        self,
        query: str,
        *,
        formats: Sequence[str] = ("json", "turtle"),
        limits: Limits | None = None,
        graphs: Graphs | None = None,
        base: str = "",
        cancel: threading.Event | None = None,
        client: str = "",
    ) -> Answer:
        """The answer to a SPARQL query as a document; see `Sparql.ask`."""
        check_index(self.paths)
        return self.sparql.ask(
            query, formats=formats, limits=limits, graphs=graphs, base=base, cancel=cancel, client=client
        )

    def query(self, query: str, limits: Limits | None = None) -> Rows | Statements | bool:
        """The answer to a SPARQL query as Python objects; see `Sparql.query`."""
        return self.sparql.query(query, limits)

    def select(
        self, *, site: str | None = None, type: Names = None, ontology: Names = None, page: str | None = None
    ) -> tuple[Selection, int | None]:
        """What is meant by names that people type, and about how many pages that is; None where that is known only after
        reading."""
        with self.use_ledger() as ledger:
            selection = make_selection(ledger, site=site, type=type, ontology=ontology, page=page)
            return selection, ledger.read_totals().pages if selection == Selection() else None

    def stream_quads(self, selection: Selection) -> Iterator[Quad]:
        """The selected quads; their snapshot is held until the last of them."""
        with self.use_quads() as store:
            yield from read_quads(store, selection)

    def export(
        self,
        path: Path | None,
        format_name: str | None = None,
        *,
        site: str | None = None,
        type: Names = None,
        ontology: Names = None,
        on_page: Callable[[Exported], None] = lambda exported: None,
    ) -> Exported:
        """Write the selected quads to a file that appears when it is complete; without a path, to stdout."""
        file_format = choose_format(path, format_name)
        selection, expected = self.select(site=site, type=type, ontology=ontology)
        with self.use_quads() as store:
            return export_pages(store, selection, path, file_format, on_page, expected)

    def dump_hits(self, hits: Iterable[Hit], most: int) -> bytes:
        """What pages state of search results, as N-Quads, so many of each: of entities in the merge of all pages, of pages
        all."""
        with self.use_ledger() as ledger, self.use_quads() as store:
            quads = dict.fromkeys(quad for hit in hits for quad in islice(_read_hit(store, ledger, hit), most))
            return restore_blank_nodes(pyoxigraph.serialize(quads, format=RdfFormat.N_QUADS) or b"")

    def count_merge(self, most: int) -> MergeCounts | None:
        """How many distinct triples, classes and properties there are; None where there are more triples than `most`."""
        with self.use_quads() as store:
            return count_merge(store, most)

    # Questions of one entity or page.

    def entity(self, name: str, *, same: bool = False) -> Entity:
        """Everything that pages state of an entity; UsageError where none does."""
        if not isinstance(name, str):
            raise UsageError(f"a thing is called by a text, not {name!r:.100}")
        with self.use_quads() as store:
            if found := self.look_up_entity(store, name, same=same):
                return found
        shown = name if len(name) <= 200 else f"{name[:200]}…"
        raise UsageError(f"no page says anything of {shown!r}: find how it is called with `rdfspider search`")

    def look_up_entity(
        self, store: Store, name: str, *, same: bool = False, start: int = 0, via: str = ""
    ) -> Entity | None:
        """The same from quads that are in use, for those who read more of them; None where no page states anything. `start` and
        `via` are those of `read_entity`."""
        if name.strip().startswith(URN):
            iri = name.strip()
            with self.use_ledger() as ledger:
                nodes = dict.fromkeys(node for _, node in ledger.find_members(iri, NODES_MERGED + 1))
            if nodes and (found := read_entity(store, iri, nodes, same=same, start=start, via=via)):
                return found
        for iri in list_readings(name):
            if found := read_entity(store, iri, [iri], same=same, start=start, via=via):
                return found
        return None

    def page(self, url: str, config: ExtractConfig | None) -> PageRecord | None:
        """What the archive has of a page; see `read_page`."""
        return read_page(self.folder, url, config=config)

    def is_forgotten(self, url: str) -> bool:
        """Whether a page is to be kept out of the indexes; they may take a while to remove it."""
        return Forgotten.load(self.paths).matches(url)

    def list_foreign_files(self) -> list[Path]:
        """The WARC files from elsewhere that are indexed too."""
        return read_sources(self.paths)

    # Questions of counts.

    def statistics(self, top: int) -> Statistics:
        """Which names pages use, so many of each kind, and how often."""
        if top < 1:
            raise UsageError(f"top is {top}, and must be at least 1")
        with self.use_ledger() as ledger:
            return read_statistics(ledger, top)

    def recent_statistics(self) -> Statistics | None:
        """The totals and the most used names, some seconds old at most; None where nothing is indexed yet."""
        return self._statistics.read()

    def totals(self) -> Totals:
        """The size of all that is indexed."""
        with self.use_ledger() as ledger:
            return ledger.read_totals()

    def names(self, kind: str, limit: int, offset: int = 0) -> list[NameCount]:
        """Names of a kind, the most used first."""
        with self.use_ledger() as ledger:
            return ledger.read_names(kind, limit, offset)

    def find_names(self, kind: str, text: str, limit: int) -> list[NameCount]:
        """Names of a kind that contain a text."""
        with self.use_ledger() as ledger:
            return ledger.search_names(kind, text, limit)

    def class_profile(self, name: str) -> ClassProfile | None:
        """What the entities of a class are like; None where there are none."""
        with self.use_ledger() as ledger, self.use_quads() as store:
            return describe_class(self.text, ledger, store, name)

    def property_profile(self, name: str) -> PropertyProfile | None:
        """Which entities have a property, and which values; None where no page uses it."""
        with self.use_ledger() as ledger, self.use_quads() as store:
            return describe_property(self.text, ledger, store, name)

    def ontology_profile(self, name: str) -> OntologyProfile | None:
        """Which classes and properties of an ontology are used; None where none is."""
        with self.use_ledger() as ledger:
            return describe_ontology(self.text, ledger, name)

    def site_profile(self, name: str) -> SiteProfile | None:
        """What the pages of a site are made of; None where none is indexed."""
        with self.use_ledger() as ledger:
            return describe_site(self.text, ledger, name)

    def quality(self, name: str, read_statements: ReadStatements = lambda url: None) -> Report | None:
        """The report on a site's structured data; None where none of its pages is indexed."""
        with self.use_ledger() as ledger, self.use_quads() as store:
            count = find_count(ledger, SITE, name)
            return inspect_site(store, ledger, count.name, read_statements=read_statements) if count else None


def _list_nodes(ledger: LedgerReader, kind: str, name: str, most: int) -> list[str]:
    """The IRIs by which the quad store knows a result."""
    if kind == PAGE:
        return [make_graph_iri(name)]
    return [node for _, node in ledger.find_members(name, most)] if name.startswith(URN) else [name]


def _read_hit(store: Store, ledger: LedgerReader, hit: Hit) -> Iterator[Quad]:
    nodes = _list_nodes(ledger, hit.kind, hit.id, NODES_MERGED)
    if hit.kind == PAGE:
        return store.quads_for_pattern(None, None, None, NamedNode(nodes[0]))
    return walk_statements(store, filter(is_valid_iri, nodes), MERGE)


def _find_iris(handle: "weakref.ref[Indexes]", words: str, limit: int) -> list[tuple[str, float]]:
    indexes = handle()
    if indexes is None:
        raise UnansweredError("the indexes are closed")
    return indexes.find_iris(words, limit)
