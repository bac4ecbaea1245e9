"""Statistics of a crawl: its ledger enters; counts of classes, properties, ontologies and sites leave, also as VoID.

The indexer updates the counts with every page, so nothing is counted here.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple

from rdfspider.drawing import draw_link, draw_table
from rdfspider.errors import UnindexedError, UnreadableError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger.reader import LedgerReader, open_ledger
from rdfspider.index.quads.counting import MergeCounts
from rdfspider.index.quads.selection import RDF_TYPE_NODE
from rdfspider.results import LedgerTotals, NameCount, NameKind
from rdfspider.search.rows import import_library
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.prefixes import DCTERMS, VOID, XSD
from rdfspider.vocabulary.terms import VOCABULARY

_XSD_INTEGER = NamedNode(f"{XSD}integer")
_DATASET = NamedNode("urn:rdfspider:dataset")
_USES = NamedNode(f"{VOCABULARY}uses")
_ROWS_DRAWN = 20
# Per kind.
_NAMES_CACHED = 40
# A running crawl commits about every second; nobody notices the difference.
_CACHED_S = 2.0

_State = tuple[tuple[int, int, int], ...]


class NameCounts(tuple[NameCount, ...]):
    """The most used names of a kind, the most used first."""

    __slots__ = ()

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`."""
        return import_library("pandas").DataFrame(list(self), columns=NameCount._fields)

    def _repr_html_(self) -> str:
        return draw_table(NameCount._fields, map(_draw_count, self[:_ROWS_DRAWN]))


@dataclass(frozen=True, slots=True)
class Statistics:
    """The totals of a crawl, and its most used names of each kind."""

    totals: LedgerTotals
    classes: NameCounts
    properties: NameCounts
    ontologies: NameCounts
    sites: NameCounts
    languages: NameCounts
    syntaxes: NameCounts

    def to_void(self) -> str:
        """Describe the dataset in VoID, as Turtle; uses, which count repetitions, have a property of our own."""
        prefixes = {"void": VOID, "dcterms": DCTERMS, "xsd": XSD, "rdfspider": VOCABULARY}
        return (pyoxigraph.serialize(self.describe(), format=RdfFormat.TURTLE, prefixes=prefixes) or b"").decode()

    def describe(self, dataset: NamedNode = _DATASET, merge: MergeCounts | None = None) -> Iterator[Triple]:
        """Yield the VoID description as triples, for a dataset of this name, with counts of distinct triples if given."""
        return _describe(self, dataset, merge)

    def to_ntriples(self) -> bytes:
        """Return the VoID description as N-Triples."""
        return pyoxigraph.serialize(self.describe(), format=RdfFormat.N_TRIPLES) or b""

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as dictionaries and lists, for JSON."""
        kinds = ("classes", "properties", "ontologies", "sites", "languages", "syntaxes")
        counts = {kind: [count._asdict() for count in getattr(self, kind)] for kind in kinds}
        return {"totals": self.totals._asdict(), **counts}

    def _repr_html_(self) -> str:
        head = f"<p>{self.totals.quads:,} quads of {self.totals.pages:,} pages, {self.totals.entities:,} entities</p>"
        kinds = ("classes", "properties", "ontologies", "sites")
        return head + "".join(f"<h4>{kind}</h4>{getattr(self, kind)._repr_html_()}" for kind in kinds)


def read_statistics(ledger: LedgerReader, top: int = 1000) -> Statistics:
    """Read the totals, and the `top` names of each kind."""
    kinds = (NameKind.CLASS, NameKind.PROPERTY, NameKind.ONTOLOGY, NameKind.SITE, NameKind.LANGUAGE, NameKind.SYNTAX)
    return Statistics(ledger.read_totals(), *(NameCounts(ledger.read_names(kind, top)) for kind in kinds))


class CachedStatistics:
    """The statistics of one crawl, read again when the ledger has changed; thread-safe."""

    def __init__(self, paths: IndexPaths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._state: _State | None = None
        self._cached: Statistics | None = None

    def read(self) -> Statistics | None:
        """Return the statistics; None if nothing is indexed yet. Raise UnreadableError if the ledger is damaged."""
        with self._lock:
            now = time.monotonic()
            if now < self._read_at + _CACHED_S and self._cached is not None:
                return self._cached
            state = _look(self._paths)
            if state != self._state or self._cached is None:
                try:
                    with open_ledger(self._paths) as ledger:
                        self._cached = read_statistics(ledger, _NAMES_CACHED)
                except UnreadableError:
                    self._cached = None
                    raise
                except UnindexedError:
                    self._cached = None
            self._read_at, self._state = now, state
            return self._cached


def _look(paths: IndexPaths) -> _State:
    """Return what changes with the ledger: the state of the index's version, the ledger, and SQLite's write-ahead log."""
    found = []
    for path in (paths.version, paths.ledger, paths.ledger.with_name(f"{paths.ledger.name}-wal")):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        found.append((stat.st_ino, stat.st_mtime_ns, stat.st_size))
    return tuple(found)


def _draw_count(count: NameCount) -> Sequence[str]:
    name = draw_link(count.name) if ":" in count.name else escape(count.name)
    return name, f"{count.uses:,}", f"{count.pages:,}", f"{count.sites:,}"


def _describe(statistics: Statistics, dataset: NamedNode, merge: MergeCounts | None) -> Iterator[Triple]:
    totals = statistics.totals
    classes, properties = (merge.classes, merge.properties) if merge else ({}, {})
    if merge:
        yield _count(dataset, _void("triples"), merge.triples)
    yield from _describe_dataset(dataset, totals.quads, totals.pages)
    yield _count(dataset, _void("entities"), totals.entities)
    yield _count(dataset, _void("classes"), totals.classes)
    yield _count(dataset, _void("properties"), totals.properties)
    for ontology in _keep_iris(statistics.ontologies):
        yield Triple(dataset, _void("vocabulary"), NamedNode(ontology.name))
    for at, count in enumerate(_keep_iris(statistics.classes)):
        yield from _describe_part(dataset, BlankNode(f"c{at}"), "class", count)
        if count.name in classes:
            yield _count(BlankNode(f"c{at}"), _void("entities"), classes[count.name])
    for at, count in enumerate(_keep_iris(statistics.properties)):
        yield from _describe_part(dataset, BlankNode(f"p{at}"), "property", count)
        if count.name in properties:
            yield _count(BlankNode(f"p{at}"), _void("triples"), properties[count.name])
    for at, count in enumerate(statistics.sites):
        site = BlankNode(f"s{at}")
        yield Triple(dataset, _void("subset"), site)
        yield Triple(site, NamedNode(f"{DCTERMS}title"), Literal(count.name))
        yield from _describe_dataset(site, count.uses, count.pages)


def _describe_dataset(node: NamedNode | BlankNode, uses: int, documents: int) -> Iterator[Triple]:
    yield Triple(node, RDF_TYPE_NODE, _void("Dataset"))
    yield _count(node, _USES, uses)
    yield _count(node, _void("documents"), documents)


def _describe_part(dataset: NamedNode, node: BlankNode, kind: str, count: NameCount) -> Iterator[Triple]:
    yield Triple(dataset, _void(f"{kind}Partition"), node)
    yield Triple(node, _void(kind), NamedNode(count.name))
    yield _count(node, _USES, count.uses)
    yield _count(node, _void("documents"), count.pages)


def _count(node: NamedNode | BlankNode, unit: NamedNode, number: int) -> Triple:
    return Triple(node, unit, Literal(str(number), datatype=_XSD_INTEGER))


def _void(name: str) -> NamedNode:
    return NamedNode(VOID + name)


def _keep_iris(counts: Iterable[NameCount]) -> Iterator[NameCount]:
    return (count for count in counts if is_valid_iri(count.name))
