"""`Indexes`, the one handle to the indexes of a crawl for `Crawl`, the commands and the site: a folder enters, answers leave.

Each index is opened when first needed, and again when the indexer has committed or replaced it. So one handle serves for the
life of a process, also while a crawl runs. Nothing here writes.
"""

import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import pyoxigraph
from pyoxigraph import NamedNode, Quad, RdfFormat, Store

from rdfspider.config import ExtractConfig
from rdfspider.errors import UnansweredError, UnindexedError, UnreadableError, UsageError
from rdfspider.index.layout import IndexPaths, check_index
from rdfspider.index.ledger.reader import LedgerReader, open_ledger
from rdfspider.index.log.foreign import read_sources
from rdfspider.index.log.indexed_sources import Forgotten
from rdfspider.index.quads.counting import MergeCounts, count_merge
from rdfspider.index.quads.selection import MERGE, Selection, read_quads, restore_blank_nodes, walk_statements
from rdfspider.index.quads.snapshots import SnapshotReader, tell_damage
from rdfspider.index.quads.sparql.engine import Sparql
from rdfspider.index.text.fields import FACETS
from rdfspider.index.text.query_language import parse_question
from rdfspider.index.text.searcher import Filter, TextIndex
from rdfspider.results import (
    Graphs,
    Hit,
    HitKind,
    NameCount,
    NameKind,
    QueryAnswer,
    QueryLimits,
    Rank,
    Results,
    Suggestion,
)
from rdfspider.search.attributions import ReadStatements
from rdfspider.search.canonical_names import CanonicalNames
from rdfspider.search.entity import NODES_MERGED, Entity
from rdfspider.search.entity_lookup import EntityLookup
from rdfspider.search.example_queries import ExampleQuery, list_examples
from rdfspider.search.export import Exported, choose_format, export_pages, export_table
from rdfspider.search.link_overview import LinkOverview, LinkOverviews
from rdfspider.search.link_signals import LinkSignals
from rdfspider.search.links import Links
from rdfspider.search.name_lookup import Choice, check_filter_names, make_selection
from rdfspider.search.page_order import PageOrder
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
from rdfspider.search.rows import Rows, Statements, read_answer
from rdfspider.search.site_neighbours import SiteNeighbours, read_neighbours
from rdfspider.search.statistics import CachedStatistics, Statistics, read_statistics
from rdfspider.search.syntax_filter import SyntaxFilter
from rdfspider.search.things import JOINED, Row, Several, find_entry, make_columns, read_things
from rdfspider.urls import is_valid_iri, normalise_url
from rdfspider.vocabulary.terms import make_graph_iri, replace_surrogates

# A SPARQL query waits no longer than this for the text index: it occupies a process that others could use.
_WORDS_TIMEOUT_S = 10.0
# What is read of a page to know its syntaxes: far more than any page states.
_PAGE_BYTES = 1 << 30
# SPARQL gets only the first blank nodes of an entity.
_MAX_NODES = 100

FACET_TITLES = {name: field.facet for name, field in FACETS.items()}
"""The fields by which results can be filtered, with the titles of their facets."""


def name_value(field: str, value: str) -> str:
    """Return the display name of a facet's value."""
    return FACETS[field].show(value)


def find_asked_kind(words: str) -> str:
    """Return the kind of results that a query names by `kind:`; empty if it names none."""
    clauses = (clause for group in parse_question(words).groups for clause in group)
    return next((clause.text.lower() for clause in clauses if clause.field == "kind" and not clause.is_excluded), "")


class Indexes:
    """All indexes of one crawl's folder; thread-safe.

    Every method raises UnindexedError if nothing is indexed yet, and UnreadableError if an index is damaged or of another
    version; later calls try again.
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
        """Open a crawl's folder.

        With `keeps_quads` the newest snapshot of the quads stays open between calls, until `release_idle`: that is faster for
        many calls, but keeps replaced files on disk. The other arguments are those of `Sparql`."""
        self._folder = folder
        self._paths = IndexPaths(folder)
        self._keeps_quads = keeps_quads
        self._snapshots = SnapshotReader(self._paths.snapshots)
        self._statistics = CachedStatistics(self._paths)
        # Not a bound method: a handle that nobody has any more must end its processes at once, not when cycles are collected.
        find = partial(_find_iris, weakref.ref(self))
        self._open_sparql = partial(
            Sparql, folder, find, workers=workers, has_spare=has_spare, most_by_client=most_by_client
        )
        self._lock = threading.Lock()
        self._finding = threading.Lock()
        self.links = Links(self._paths)
        """Who links to whom."""
        self._link_overviews = LinkOverviews(self._paths)
        self._text: TextIndex | None = None
        self._sparql: Sparql | None = None
        self._is_ended = False

    def __enter__(self) -> "Indexes":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self, *, for_good: bool = False) -> None:
        """Release all files and end the SPARQL processes. The next call opens them again; after `for_good`, a call that would
        start a process raises UnansweredError."""
        with self._lock:
            self._is_ended = for_good
            sparql, self._sparql, self._text = self._sparql, None, None
        if sparql:
            sparql.close()
        self._snapshots.close()
        self.links.close()
        self._link_overviews.forget()

    def release_idle(self) -> None:
        """Release the quads if they have not been used for some seconds; for handles with `keeps_quads`."""
        self._snapshots.rest()

    # The single indexes; only the methods below read them.

    def _get_text(self) -> TextIndex:
        """Return the text index."""
        with self._lock:
            if self._text is None:
                signals = LinkSignals(self._paths)
                self._text = TextIndex(
                    self._folder,
                    open_counter=self.links.open_counter,
                    find_rank=signals.find_rank,
                    find_called=signals.find_called,
                )
            return self._text

    def _get_sparql(self) -> Sparql:
        """Return the processes that answer SPARQL."""
        with self._lock:
            if self._is_ended:
                raise UnansweredError("the server is being ended")
            if self._sparql is None:
                check_index(self._paths)
                self._sparql = self._open_sparql()
            return self._sparql

    @contextmanager
    def _use_ledger(self) -> Iterator[LedgerReader]:
        """Open the ledger as of its last commit."""
        with open_ledger(self._paths) as ledger:
            yield ledger

    @contextmanager
    def _use_quads(self) -> Iterator[Store]:
        """Open the newest snapshot of the quads and keep its files until the end.

        Damage that is found only while reading also raises UnreadableError."""
        check_index(self._paths)
        try:
            with self._snapshots.use() as store:
                yield store
        except BrokenPipeError:
            # The reader of the output has gone.
            raise
        except (OSError, RuntimeError) as error:
            raise UnreadableError(tell_damage(self._paths.snapshots, error)) from error
        finally:
            if not self._keeps_quads:
                self._snapshots.close()

    # Methods of the text index.

    def search(
        self,
        words: str = "",
        *,
        limit: int = 10,
        offset: int = 0,
        facets: bool | int = False,
        exact: bool = False,
        explain: bool = False,
        **filters: Filter,
    ) -> Results:
        """Find pages and entities by words and by the fields of the query language; see `TextIndex.search`."""
        return self._get_text().search(
            words, limit=limit, offset=offset, facets=facets, exact=exact, explain=explain, **filters
        )

    def check_filter_names(self, filters: Mapping[str, Sequence[str] | None]) -> None:
        """Raise UsageError, with a suggestion, if a search filter has a name that neither a page nor a vocabulary uses."""
        with self._use_ledger() as ledger:
            check_filter_names(ledger, filters)

    def suggest(self, typed: str, limit: int = 8) -> list[Suggestion]:
        """Complete typed text."""
        return self._get_text().suggest(typed, limit)

    def page_rank(self, url: str) -> Rank | None:
        """Return the rank of a page; None if it has none."""
        return self.links.open_newest().read_rank(self.links.find(url) or url)

    def site_neighbours(self, site: str) -> SiteNeighbours:
        """Return the hosts around a site; none if there is no graph yet."""
        try:
            reader = self.links.open_newest()
        except UnindexedError:
            return SiteNeighbours()
        with self._use_ledger() as ledger:
            return read_neighbours(reader, ledger, site)

    def link_overview(self) -> LinkOverview:
        """Return what links lead to most, some time old at most: reading all links takes seconds."""
        return self._link_overviews.read(self.links.open_newest(), self._get_text().find_things_at)

    def find_iris(self, words: str, limit: int) -> list[tuple[str, float]]:
        """Find IRIs of the quad store by words, the best first, with scores; for SPARQL's text service.

        A page is the graph of its URL; an entity that only blank nodes describe is all of these nodes."""
        if not self._finding.acquire(timeout=_WORDS_TIMEOUT_S):
            raise UnansweredError("others are looking for words in the text index: try again in a moment")
        try:
            found: dict[str, float] = {}
            with open_ledger(self._paths) as ledger:
                for score, card in self._get_text().find_cards(words, limit):
                    for iri in _list_nodes(ledger, card.kind, card.id, _MAX_NODES):
                        found.setdefault(iri, score)
            return list(found.items())
        finally:
            self._finding.release()

    # Methods of the quads.

    def ask(
        self,
        query: str,
        *,
        formats: Sequence[str] = ("json", "turtle"),
        limits: QueryLimits | None = None,
        graphs: Graphs | None = None,
        base: str = "",
        cancel: threading.Event | None = None,
        client: str = "",
    ) -> QueryAnswer:
        """Answer a SPARQL query with a document; see `Sparql.ask`, which says what it raises."""
        return self._get_sparql().ask(
            query, formats=formats, limits=limits, graphs=graphs, base=base, cancel=cancel, client=client
        )

    def query(self, query: str, limits: QueryLimits | None = None) -> Rows | Statements | bool:
        """Answer a SPARQL query with Python objects; it raises what `ask` raises."""
        return read_answer(self.ask(query, formats=("json", "ntriples"), limits=limits))

    def examples(self) -> list[ExampleQuery]:
        """List example queries that have an answer; general ones if nothing is indexed yet."""
        try:
            with self._use_ledger() as ledger, self._use_quads() as store:
                return list_examples(ledger, store)
        except UnindexedError:
            return list_examples(None)

    def select(self, choice: Choice) -> tuple[Selection, int | None]:
        """Turn typed names into a selection; also return about how many pages it has, None if unknown before reading."""
        with self._use_ledger() as ledger:
            selection = make_selection(ledger, choice)
            return selection, ledger.read_totals().pages if selection == Selection() else None

    def stream_quads(self, selection: Selection) -> Iterator[Quad]:
        """Yield the selected quads; their snapshot is held until the end."""
        with self._use_quads() as store:
            yield from read_quads(store, selection)

    def export(
        self,
        path: Path | None,
        format_name: str | None,
        choice: Choice,
        on_page: Callable[[Exported], None] = lambda exported: None,
        *,
        canonical: bool = False,
    ) -> Exported:
        """Write the selected quads to a file that appears when it is complete; without a path, to stdout. `canonical` writes
        the canonical IRIs of things that were found to be one."""
        file_format = choose_format(path, format_name)
        selection, expected = self.select(choice)
        with self._use_ledger() as ledger, self._use_quads() as store:
            syntaxes = self._filter_syntaxes(choice, ledger, store)
            names = CanonicalNames(ledger.find_canonical_iri) if canonical else None
            return export_pages(store, selection, path, file_format, on_page, expected, syntaxes, names)

    def export_things(
        self,
        path: Path | None,
        format_name: str | None,
        choice: Choice,
        columns: Sequence[str] = (),
        several: Several = JOINED,
        on_page: Callable[[Exported], None] = lambda exported: None,
    ) -> Exported:
        """Write a table with one row a thing, as `export` does."""
        file_format = choose_format(path, format_name, tables=True)
        with closing(self.read_things(choice, columns, several)) as rows:
            return export_table(rows, path, file_format, on_page)

    def read_things(
        self, choice: Choice, columns: Sequence[str] = (), several: Several = JOINED
    ) -> Generator[Row, None, None]:
        """Yield the names of the columns, then a row for each selected thing; their snapshot is held until the end."""
        if not choice.type and not choice.ontology:
            raise UsageError("things of which class? Name one: --type Product")
        with self._use_ledger() as ledger, self._use_quads() as store:
            syntaxes = self._filter_syntaxes(choice, ledger, store)
            selection = make_selection(ledger, choice)
            found = make_columns(store, ledger, selection, columns)
            yield tuple(column.name for column in found)
            order = PageOrder(partial(self._read_archived, ledger, store))
            yield from read_things(
                store, ledger, selection, found, several, order, syntaxes.takes if syntaxes else None
            )

    def _filter_syntaxes(self, choice: Choice, ledger: LedgerReader, store: Store) -> SyntaxFilter | None:
        chosen, without = choice.list_syntaxes()
        read_statements = partial(self._read_statements, ledger, store)
        return SyntaxFilter(read_statements, chosen, without) if chosen or without else None

    def _read_statements(self, ledger: LedgerReader, store: Store, graph: str) -> tuple[str, Mapping[str, str]]:
        """The URL of a page and what the archive has of it, by syntax, given the IRI of its graph."""
        entry = find_entry(store, ledger, graph)
        record = read_page(self._folder, entry.url, max_bytes=_PAGE_BYTES) if entry else None
        return (record.url, record.statements) if record else (graph, {})

    def _read_archived(self, ledger: LedgerReader, store: Store, graph: str) -> tuple[str, Mapping[str, str]]:
        """The same without what would have to be extracted again, or is very long."""
        entry = find_entry(store, ledger, graph)
        record = self.page(entry.url, None) if entry else None
        return (record.url, record.statements) if record and not record.is_cut else (graph, {})

    def dump_hits(self, hits: Iterable[Hit], most: int) -> bytes:
        """Return up to `most` statements per hit as N-Quads: of a page, or about an entity in the merge of all pages."""
        with self._use_ledger() as ledger, self._use_quads() as store:
            quads = dict.fromkeys(quad for hit in hits for quad in islice(_read_hit(store, ledger, hit), most))
            return restore_blank_nodes(pyoxigraph.serialize(quads, format=RdfFormat.N_QUADS) or b"")

    def count_merge(self, most: int) -> MergeCounts | None:
        """Count distinct triples, classes and properties; None if there are more than `most` triples."""
        with self._use_quads() as store:
            return count_merge(store, most)

    # Methods about one entity or page.

    def entity(self, name: str, *, same: bool = False) -> Entity:
        """Return everything that pages state about an entity; raise UsageError if there is nothing."""
        if not isinstance(name, str):
            raise UsageError(f"a thing is called by a text, not {name!r:.100}")
        with self.use_entities() as entities:
            if found := entities.find(name, same=same):
                return found
        shown = name if len(name) <= 200 else f"{name[:200]}…"
        raise UsageError(f"no page says anything of {shown!r}: find how it is called with `rdfspider search`")

    @contextmanager
    def use_entities(self) -> Iterator[EntityLookup]:
        """Look up entities in the newest snapshot of the quads, which is kept until the end."""
        with self._use_quads() as store:
            yield EntityLookup(store, self._use_ledger)

    def page(self, url: str, config: ExtractConfig | None) -> PageRecord | None:
        """Return what the archive has of a page; see `read_page`."""
        return read_page(self._folder, url, config=config)

    def list_indexed(self, urls: Iterable[str]) -> list[str]:
        """List those of some URLs that were indexed as pages, in this spelling or the normalised one."""
        with self._use_ledger() as ledger:
            return [
                url
                for url in urls
                if any(ledger.find_page(each) for each in (replace_surrogates(url), normalise_url(url)) if each)
            ]

    def is_forgotten(self, url: str) -> bool:
        """Return whether a page must not be in the indexes; they may take a while to remove it."""
        return Forgotten.load(self._paths).matches(url)

    def list_foreign_files(self) -> list[Path]:
        """List the imported WARC files that are indexed too."""
        return read_sources(self._paths)

    # Methods of counts.

    def statistics(self, top: int) -> Statistics:
        """Return the `top` most used names of each kind, with counts."""
        if top < 1:
            raise UsageError(f"top is {top}, and must be at least 1")
        with self._use_ledger() as ledger:
            return read_statistics(ledger, top)

    def recent_statistics(self) -> Statistics | None:
        """Return the totals and the most used names, some seconds old at most; None if nothing is indexed yet."""
        return self._statistics.read()

    def names(self, kind: NameKind, limit: int, offset: int = 0) -> list[NameCount]:
        """List names of a kind, the most used first."""
        with self._use_ledger() as ledger:
            return ledger.read_names(kind, limit, offset)

    def find_sites(self, hosts: Iterable[str]) -> dict[str, str]:
        """Find the sites of hosts; hosts of sites without indexed pages are left out."""
        with self._use_ledger() as ledger:
            counts = {host: find_count(ledger, NameKind.SITE, host) for host in dict.fromkeys(hosts)}
        return {host: count.name for host, count in counts.items() if count}

    def find_names(self, kind: NameKind, text: str, limit: int) -> list[NameCount]:
        """Find names of a kind that contain a text."""
        with self._use_ledger() as ledger:
            return ledger.search_names(kind, text, limit)

    def class_profile(self, name: str) -> ClassProfile | None:
        """Describe a class; None if nothing is known about it."""
        with self._use_ledger() as ledger, self._use_quads() as store:
            return describe_class(self._get_text(), ledger, store, name)

    def property_profile(self, name: str) -> PropertyProfile | None:
        """Describe a property: which entities have it, and which values; None if no page uses it."""
        with self._use_ledger() as ledger, self._use_quads() as store:
            return describe_property(self._get_text(), ledger, store, name)

    def ontology_profile(self, name: str) -> OntologyProfile | None:
        """Describe an ontology: which of its classes and properties are used; None if none is."""
        with self._use_ledger() as ledger:
            return describe_ontology(self._get_text(), ledger, name)

    def site_profile(self, name: str) -> SiteProfile | None:
        """Describe the data of a site; None if none of its pages is indexed."""
        with self._use_ledger() as ledger:
            return describe_site(self._get_text(), ledger, name)

    def quality(self, name: str, read_statements: ReadStatements = lambda url: None) -> Report | None:
        """Report on the quality of a site's structured data; None if none of its pages is indexed."""
        with self._use_ledger() as ledger, self._use_quads() as store:
            count = find_count(ledger, NameKind.SITE, name)
            return inspect_site(store, ledger, count.name, read_statements=read_statements) if count else None


def _list_nodes(ledger: LedgerReader, kind: str, name: str, most: int) -> list[str]:
    """List the IRIs of a result in the quad store."""
    if kind == HitKind.PAGE:
        return [make_graph_iri(name)]
    return ledger.list_nodes(name, most)


def _read_hit(store: Store, ledger: LedgerReader, hit: Hit) -> Iterator[Quad]:
    nodes = _list_nodes(ledger, hit.kind, hit.id, NODES_MERGED)
    if hit.kind == HitKind.PAGE:
        return store.quads_for_pattern(None, None, None, NamedNode(nodes[0]))
    return walk_statements(store, filter(is_valid_iri, nodes), MERGE)


def _find_iris(handle: "weakref.ref[Indexes]", words: str, limit: int) -> list[tuple[str, float]]:
    indexes = handle()
    if indexes is None:
        raise UnansweredError("the indexes are closed")
    return indexes.find_iris(words, limit)
