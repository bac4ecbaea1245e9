"""What the indexes answer with: search results, values with their sources, counts of names, answers to SPARQL queries.

`index/` makes these records, `search/` joins them, and the site, the commands and Python programs read them without knowing
the indexes. Results of a search also have a form in HTML, for notebooks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from itertools import pairwise
from typing import NamedTuple, overload

import msgspec

from rdfspider.vocabulary.dates import write_date, write_day
from rdfspider.vocabulary.names import shorten_iri

MAX_RESULTS = 10_000
"""Nobody pages further than this, and each page of results costs more than the one before."""
MAX_TYPES = 16
"""Types of an entity that search knows; an entity with this many may have more."""


class HitKind(StrEnum):
    """What a search finds."""

    PAGE = "page"
    ENTITY = "entity"

    __repr__ = str.__repr__


class Role(StrEnum):
    """The place of a document among the results, the most prominent first."""

    MAIN = "main"
    """A thing that a page is about; it stands for the page."""
    THING = "thing"
    """A thing that pages name."""
    PAGE = "page"
    """A page without a main thing."""
    PART = "part"
    """A part of a thing or of a page: a step, a rating, an image. A result only where its type or role is asked for."""
    COVERED = "covered"
    """A page whose main thing stands for it, or a duplicate with what only duplicates describe. A result only of `kind:page`."""

    __repr__ = str.__repr__


RESULTS = frozenset((Role.MAIN, Role.THING, Role.PAGE))
"""The roles of what is a result without being asked for."""


class NameKind(StrEnum):
    """The kinds of names whose uses are counted."""

    CLASS = "class"
    PROPERTY = "property"
    ONTOLOGY = "ontology"
    SITE = "site"
    LANGUAGE = "language"
    SYNTAX = "syntax"

    __repr__ = str.__repr__


class ValueKind(StrEnum):
    """What a value is in RDF."""

    LITERAL = "literal"
    IRI = "iri"
    BLANK = "blank"

    __repr__ = str.__repr__


class AnswerKind(StrEnum):
    """The kinds of answers to SPARQL queries."""

    ROWS = "rows"
    """Of SELECT."""
    BOOLEAN = "boolean"
    """Of ASK."""
    TRIPLES = "triples"
    """Of CONSTRUCT and DESCRIBE."""

    __repr__ = str.__repr__


class SourcePage(msgspec.Struct, frozen=True):
    """A page that describes an entity, or the page itself."""

    url: str
    time: float


class Card(msgspec.Struct, frozen=True, omit_defaults=True):
    """The parts of a document that a result shows; stored as JSON in the field `card`."""

    id: str
    """An entity's IRI, or `urn:rdfspider:entity:HASH` if only blank nodes describe it; a page's URL."""
    kind: HitKind
    label: str
    description: str = ""
    types: tuple[str, ...] = ()
    """IRIs, the most frequent first."""
    url: str = ""
    """A web address of the entity itself, if known."""
    image: str = ""
    sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    syntaxes: tuple[str, ...] = ()
    sources: int = 1
    """How many pages describe it."""
    pages: tuple[SourcePage, ...] = ()
    """Some of them."""
    date: float = 0.0
    """The field `date`, in seconds since 1970; 0 if unknown."""
    duplicate_of: str = ""
    """The page of which this page is a duplicate."""
    facts: tuple[tuple[str, str], ...] = ()
    """Up to three informative properties, each with its value as text (`index/text/highlights.py`)."""
    site_count: int = 1
    """How many sites describe it; if more than 2,000 pages do, how many sites 2,000 of them are on."""
    same: tuple[str, ...] = ()
    """Other IRIs under which pages describe it, if several things were found to be one."""
    role: Role = Role.THING
    whole_id: str = ""
    """The ID of the thing that it is a part of, or the URL of the page; empty if it is no part, or of several things."""
    whole_label: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text and the places (start, end) in it that match the query."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def split(self) -> Iterator[tuple[str, bool]]:
        """Yield its parts in order, each with whether it is marked."""
        ends = [0, *(end for mark in self.marks for end in mark), len(self.text)]
        for number, (start, end) in enumerate(pairwise(ends)):
            if start < end:
                yield self.text[start:end], bool(number % 2)

    def to_html(self) -> str:
        """Return escaped HTML with `<mark>` around matches."""
        return "".join(
            f"<mark>{escape(part)}</mark>" if is_marked else escape(part) for part, is_marked in self.split()
        )


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A part of a result's score."""

    sign: str
    """How it goes into the score: empty for the first part, × or +."""
    value: float
    reason: str
    """What it stands for, in plain words."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An entity or a page that was found."""

    id: str
    """An entity's IRI, or `urn:rdfspider:entity:…` if no page gives it one; a page's URL."""
    kind: HitKind
    label: str
    types: tuple[str, ...]
    """IRIs."""
    description: str
    snippet: Marked
    score: float
    sources: int
    """How many pages describe it."""
    in_links: int
    """How many pages link to it."""
    pages: tuple[SourcePage, ...]
    """Some of the pages that describe it."""
    sites: tuple[str, ...]
    languages: tuple[str, ...]
    syntaxes: tuple[str, ...]
    url: str
    image: str
    date: float
    """In seconds since 1970; 0 if unknown."""
    duplicate_of: str
    marked_label: Marked
    facts: tuple[tuple[str, str], ...] = ()
    """Up to three informative properties (IRIs), with their values as text."""
    site_count: int = 1
    """How many sites describe it; at least so many if more than 2,000 pages do."""
    same: tuple[str, ...] = ()
    """Some of the other IRIs under which pages describe it: all of them are one thing (docs/entities.md)."""
    explanation: tuple[ScorePart, ...] = ()
    """The parts of its score, in the order in which they are multiplied and added; empty unless asked for."""
    role: Role = Role.THING
    """Its place among the results: the main thing of a page, another thing, a page, or a part of one of them."""
    whole_id: str = ""
    """The ID of the thing that it is a part of, or the URL of the page; empty if it is no part, or of several things."""
    whole_label: str = ""

    @property
    def fact_names(self) -> tuple[tuple[str, str], ...]:
        """The facts, with prefixed names of properties: schema:author."""
        return tuple((shorten_iri(iri), text) for iri, text in self.facts)

    @property
    def type_names(self) -> tuple[str, ...]:
        """The prefixed names of its types: schema:Person."""
        return tuple(map(shorten_iri, self.types))

    @property
    def day(self) -> str:
        """The date as 2024-05-01, as 2024 if possibly only the year is known, or as 1700 or earlier; empty if unknown."""
        return write_date(self.date)

    @property
    def fetched_day(self) -> str:
        """When the newest page that describes it was fetched, as 2024-05-01."""
        return write_day(max((page.time for page in self.pages), default=0.0))

    def _repr_html_(self) -> str:
        link = self.url or (self.pages[0].url if self.pages else self.id)
        label = self.marked_label.to_html() or escape(self.id)
        # Only web addresses are links: others might run code.
        if link.startswith(("http://", "https://")):
            label = f'<a href="{escape(link)}" rel="noreferrer">{label}</a>'
        facts = " · ".join(map(escape, list_facts(self)))
        return f"<div><b>{label}</b> <small>{facts}</small><br>{self.snippet.to_html()}</div>"


@dataclass(frozen=True, slots=True)
class FacetCount:
    """How many results have one value."""

    value: str
    name: str
    """The value's display name."""
    count: int
    parent: str = ""
    """The nearest superclass of a type among these values; empty if none."""


@dataclass(frozen=True, slots=True)
class Facet:
    """The most frequent values of one field among all results."""

    field: str
    """type, ontology, property, site, lang, syntax or year: the name in the query language."""
    counts: tuple[FacetCount, ...]
    is_approximate: bool = False
    """Whether the counts are estimated from a sample of the results."""


@dataclass(frozen=True, slots=True)
class Results(Sequence[Hit]):
    """A page of results, the best first."""

    query: str
    hits: tuple[Hit, ...]
    total: int
    """How many results there are in all."""
    offset: int = 0
    """How many come before these."""
    seconds: float = 0.0
    note: str = ""
    """Parts of the query that were not understood as typed."""
    suggestion: str = ""
    """The query with misspelt words corrected ("did you mean")."""
    corrected: str = ""
    """The query whose results these are, if words of the given one are unknown here and were corrected."""
    with_some_words: int = 0
    """How many of all results have only some words of the query; they come last."""
    facets: tuple[Facet, ...] = field(default=())
    kind_counts: dict[str, int] = field(default_factory=dict)
    """How many entities and how many pages match the query without its `kind:`."""

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, at: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[at]

    def __len__(self) -> int:
        return len(self.hits)

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(line)}</p>" for line in list_remarks(self)]
        if self.corrected:
            parts.insert(0, f"<p>showing results for <b>{escape(self.corrected)}</b>, not for {escape(self.query)}</p>")
        parts += [hit._repr_html_() for hit in self.hits]
        for facet in self.facets:
            counts = ", ".join(f"{escape(one.name)} ({one.count:,})" for one in facet.counts)
            parts.append(f"<p><b>{escape(facet.field)}</b>{' (about)' if facet.is_approximate else ''}: {counts}</p>")
        return f"<div>{''.join(parts)}</div>"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One completion."""

    text: str
    """Replaces what was typed."""
    kind: str
    """entity, page, type for the name of a class, or the field whose value it is."""
    about: str
    """A short description: the type of an entity, the site of a page, the IRI of a name."""


@dataclass(frozen=True, slots=True)
class Source:
    """A page that states something."""

    page: str
    fetched: float = 0.0
    """In seconds since 1970; 0 if unknown."""
    syntaxes: tuple[str, ...] = ()
    """The syntaxes in which the page states anything, or exactly those in which it states this."""
    is_exact: bool = False
    """Whether they are exact: the index knows that only for pages with a single syntax."""


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value of a property, and the pages that state it."""

    text: str
    """The text of a literal, an IRI, or `genid:…` for a blank node."""
    kind: ValueKind = ValueKind.LITERAL
    language: str = ""
    datatype: str = ""
    label: str = ""
    """The label of an IRI or a blank node."""
    inside: Mapping[str, tuple["StatedValue", ...]] = field(default_factory=dict)
    """The statements about a blank node, or about the coordinates of a place, by property."""
    items: tuple["StatedValue", ...] = ()
    """The items of an RDF list, which is a blank node, in order, as far as they were read."""
    rest: str = ""
    """The node with which a longer list continues."""
    sources: tuple[Source, ...] = ()
    """Some of them, the newest first."""
    source_count: int = 0
    has_more_sources: bool = False
    """Whether there are more than were counted."""


@dataclass(frozen=True, slots=True)
class MergeReason:
    """Evidence that two things are one."""

    one: str
    """The IRI of a thing, or its ID if it has none."""
    other: str
    reason: str
    """In words: `schema:sameAs`, `GTIN or ISBN` and so on."""
    value: str
    """What both have in common: an identifier, or the target of `sameAs`."""
    pages: tuple[str, ...]
    """A page for each of the two that says so; one page if one of them is itself the target."""
    refusal: str = ""
    """Why they are kept apart nevertheless; empty if it joins them."""


class NameCount(NamedTuple):
    """How many statements, pages and sites use a name."""

    name: str
    uses: int
    pages: int
    sites: int


class LedgerTotals(NamedTuple):
    """The size of everything that is indexed."""

    pages: int
    quads: int
    """Statements of all pages, counted in each syntax."""
    entities: int
    sites: int
    classes: int
    properties: int
    ontologies: int


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of a page or a host among all of one state of the graph."""

    value: float
    """Of a page: its PageRank as a multiple of the mean. Of a host: its harmonic centrality, the sum of 1 / distance from all
    others."""
    place: int
    """1 for the first; equals have the same place."""
    total: int
    """How many pages or hosts have one."""

    @property
    def percentile(self) -> float:
        """How many of a hundred have no higher rank; 100 for the first."""
        return 100 * (self.total - self.place + 1) / self.total


class Graphs(msgspec.Struct, frozen=True):
    """The graphs of a query, which replace those that it names."""

    default: tuple[str, ...] = ()
    """IRIs of the graphs that are merged into the default graph; with none it is empty."""
    named: tuple[str, ...] = ()
    """IRIs of the graphs that `GRAPH` can use."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a query may cost."""

    timeout_s: float = 30.0
    rows: int = 100_000
    """Rows of the answer, or triples of CONSTRUCT and DESCRIBE; more are left out, and the answer says so."""
    memory_bytes: int = 2 << 30
    """On top of what an idle worker has."""
    output_bytes: int = 256 << 20
    """Size of the answer; more is left out, and the answer says so. It may be slightly exceeded, because rows stay whole."""


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """A result document, and its description."""

    kind: AnswerKind
    format: str
    """json, xml, csv, tsv, turtle, ntriples, rdfxml or jsonld."""
    body: bytes
    is_truncated: bool
    """Whether rows were left out."""
    seconds: float


def list_facts(hit: Hit) -> list[str]:
    """List short facts to show beside a hit's label."""
    facts = [", ".join(hit.type_names[:3]) or hit.kind, f"in: {hit.whole_label}" if hit.whole_label else ""]
    facts.append(", ".join(hit.sites[:3]))
    facts.append(f"{hit.sources:,} sources" if hit.sources > 1 else "")
    facts.append(f"{hit.in_links:,} links to it" if hit.in_links > 1 else "")
    facts.append(hit.day or (f"fetched {hit.fetched_day}" if hit.fetched_day else ""))
    facts.append(f"the same as {hit.duplicate_of}" if hit.duplicate_of else "")
    return [fact for fact in facts if fact]


def list_remarks(results: Results) -> list[str]:
    """List remarks about the results as a whole: how many, how fast, and what else may be meant."""
    count = f"{results.total:,} {'result' if results.total == 1 else 'results'}" if results.total else "nothing found"
    if results.total and not results.hits:
        count = f"no more results, of {count}"
    elif results.total > len(results.hits):
        count = f"{results.offset + 1:,} to {results.offset + len(results.hits):,} of {count}"
    if 0 < results.with_some_words < results.total:
        count += f", {results.total - results.with_some_words:,} with all words"
    elif results.with_some_words:
        count += ", none with all words"
    remarks = [f"{count} in {1000 * results.seconds:.0f} ms"]
    if results.note:
        remarks.append(results.note)
    if results.suggestion:
        remarks.append(f"did you mean: {results.suggestion}")
    return remarks
