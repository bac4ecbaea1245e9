"""Profiles of a class, property, ontology or site: counts, what it occurs with, who uses it, examples.

The ledger has the counts. Co-occurrence and values are sampled from a bounded part of the quads, so a profile takes
milliseconds however large the index is. The text index counts the entities of a site, and of a class with its subclasses.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Store

from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.quads.counting import count_classes, count_properties
from rdfspider.index.quads.selection import MERGE
from rdfspider.index.text.searcher import TextIndex
from rdfspider.results import Facet, Hit, HitKind, NameCount, NameKind
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.classes import find_superclasses, fold_class, list_subclasses
from rdfspider.vocabulary.labels import LABELS, RDF_TYPE, SUBCLASS_OF, clean_label, is_visible
from rdfspider.vocabulary.names import expand_name, list_prefixes, shorten_iri
from rdfspider.vocabulary.prefixes import XSD_NUMBERS
from rdfspider.vocabulary.spellings import fold_class_name, fold_name, fold_namespace
from rdfspider.vocabulary.terms import GENID

_EXAMPLES = 6
_NAMES = 30
_SITES = 15
_PAGES = 15
_RELATIVES = 60
_VALUES_READ = 5_000
_VALUES_SHOWN = 12
# Subjects of a class or a property; the store counts them in a tenth of a second.
_SUBJECTS = 20_000
_TEXT_CHARS = 300
_LABEL_STATEMENTS = 50
TEXT, NUMBER, IRI, BLANK = "text", "number", "IRI", "blank node"
"""Kinds of values."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many entities have a class or property."""

    name: str
    things: int
    share: float
    """Of all entities considered, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class PageCount:
    """How many pages use a name."""

    name: str
    pages: int


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page of a site."""

    url: str
    title: str
    time: float
    """When it was fetched, in seconds since 1970."""
    statements: int


@dataclass(frozen=True, slots=True)
class ClassProfile:
    """The profile of a class."""

    iri: str
    count: NameCount
    """All 0 if only subclasses are used."""
    things: int
    """Named entities of the class and its subclasses, each once, however many pages describe it."""
    subjects: int
    """Subjects of exactly this class, including nameless parts of others, as SPARQL counts them; at most those sampled."""
    superclasses: tuple[str, ...]
    """All of schema.org's, the nearest first; then those that pages state."""
    subclasses: tuple[NameCount, ...]
    """Direct subclasses, the most used first."""
    properties: tuple[Share, ...]
    """Shares of these subjects; if there are none, of the entities."""
    sites: tuple[PageCount, ...]
    """Those with the most pages that use it."""
    examples: tuple[Hit, ...]
    is_approximate: bool
    """Whether shares are estimated from a sample."""


@dataclass(frozen=True, slots=True)
class ValueExample:
    """A value, and an entity that has it."""

    value: str
    value_label: str
    """If the value is an entity: its label or its class."""
    kind: str
    uses: int
    """How often it occurs in the sample."""
    language: str
    datatype: str
    thing: str
    thing_label: str


@dataclass(frozen=True, slots=True)
class ValueSample:
    """A sample of a property's values."""

    read: int
    is_all: bool
    kinds: dict[str, int]
    languages: dict[str, int]
    datatypes: dict[str, int]
    examples: tuple[ValueExample, ...]


@dataclass(frozen=True, slots=True)
class PropertyProfile:
    """The profile of a property."""

    iri: str
    count: NameCount
    things: int
    """Named entities that have it themselves, each once."""
    subjects: int
    """All subjects that have it, including nameless parts of others, as SPARQL counts them; at most those sampled."""
    classes: tuple[Share, ...]
    """Shares of these subjects."""
    sites: tuple[PageCount, ...]
    values: ValueSample
    is_approximate: bool


@dataclass(frozen=True, slots=True)
class OntologyProfile:
    """The profile of an ontology: a namespace of classes and properties."""

    iri: str
    prefixes: tuple[str, ...]
    count: NameCount
    classes: tuple[NameCount, ...]
    properties: tuple[NameCount, ...]
    sites: tuple[PageCount, ...]
    page: str
    """The URL where the crawl has fetched it; empty if it has not."""
    examples: tuple[Hit, ...]
    """Entities that are described with it."""


@dataclass(frozen=True, slots=True)
class SiteProfile:
    """The profile of a site: a registrable domain."""

    name: str
    count: NameCount
    things: int
    syntaxes: tuple[PageCount, ...]
    languages: tuple[PageCount, ...]
    classes: tuple[Share, ...]
    properties: tuple[Share, ...]
    pages: tuple[FoundPage, ...]
    """The newest."""
    examples: tuple[Hit, ...]
    is_approximate: bool


def describe_class(text: TextIndex, ledger: LedgerReader, store: Store, name: str) -> ClassProfile | None:
    """Describe a class; None if it has no entities, and neither schema.org nor a page states a super- or subclass."""
    count = find_count(ledger, NameKind.CLASS, name)
    iri = count.name if count else fold_class(next(_list_readings(name), ""))
    found = text.search(type=iri, kind=HitKind.ENTITY, limit=_EXAMPLES, facets=_NAMES)
    superclasses, subclasses = _find_relatives(ledger, store, iri)
    if not (count or found.total or superclasses or subclasses):
        return None
    properties = _find_facet(found.facets, "property")
    shares = _make_shares(((one.value, one.count) for one in properties.counts if one.value != RDF_TYPE), found.total)
    subjects, counts = count_properties(store, iri, _SUBJECTS) if is_valid_iri(iri) else (0, [])
    return ClassProfile(
        iri=iri,
        count=count or NameCount(iri, 0, 0, 0),
        things=found.total,
        subjects=subjects,
        superclasses=superclasses,
        subclasses=subclasses,
        properties=_make_shares(counts[:_NAMES], subjects) if subjects else shares,
        sites=_count_pages(ledger.list_name_sites(NameKind.CLASS, iri, _SITES)),
        examples=found.hits,
        is_approximate=subjects == _SUBJECTS if subjects else properties.is_approximate,
    )


def describe_property(text: TextIndex, ledger: LedgerReader, store: Store, name: str) -> PropertyProfile | None:
    """Describe a property; None if no page uses it."""
    count = find_count(ledger, NameKind.PROPERTY, name)
    if count is None:
        return None
    found = text.search(property=count.name, kind=HitKind.ENTITY, limit=1)
    subjects, counts = count_classes(store, count.name, _SUBJECTS) if is_valid_iri(count.name) else (0, [])
    return PropertyProfile(
        iri=count.name,
        count=count,
        things=found.total,
        subjects=subjects,
        classes=_make_shares(counts[:_NAMES], subjects),
        sites=_count_pages(ledger.list_name_sites(NameKind.PROPERTY, count.name, _SITES)),
        values=_sample_values(store, count.name),
        is_approximate=subjects == _SUBJECTS,
    )


def describe_ontology(text: TextIndex, ledger: LedgerReader, name: str) -> OntologyProfile | None:
    """Describe an ontology; None if no page uses it."""
    count = find_count(ledger, NameKind.ONTOLOGY, name)
    if count is None:
        return None
    return OntologyProfile(
        iri=count.name,
        prefixes=list_prefixes(count.name),
        count=count,
        classes=tuple(ledger.list_ontology_names(NameKind.CLASS, count.name)),
        properties=tuple(ledger.list_ontology_names(NameKind.PROPERTY, count.name)),
        sites=_count_pages(ledger.list_name_sites(NameKind.ONTOLOGY, count.name, _SITES)),
        page=_find_page(ledger, count.name),
        examples=text.search(ontology=count.name, kind=HitKind.ENTITY, limit=_EXAMPLES).hits,
    )


def describe_site(text: TextIndex, ledger: LedgerReader, name: str) -> SiteProfile | None:
    """Describe a site; None if none of its pages is indexed."""
    count = find_count(ledger, NameKind.SITE, name)
    if count is None:
        return None
    site = count.name
    found = text.search(site=site, kind=HitKind.ENTITY, limit=_EXAMPLES, facets=_SITES)
    classes, properties = _find_facet(found.facets, "type"), _find_facet(found.facets, "property")
    return SiteProfile(
        name=site,
        count=count,
        things=found.total,
        syntaxes=_count_pages(ledger.list_site_names(NameKind.SYNTAX, site)),
        languages=_count_pages(ledger.list_site_names(NameKind.LANGUAGE, site)),
        classes=_make_shares(((one.value, one.count) for one in classes.counts), found.total),
        properties=_make_shares(
            ((one.value, one.count) for one in properties.counts if one.value != RDF_TYPE), found.total
        ),
        pages=tuple(
            FoundPage(page.url, page.title, page.time, page.quads)
            for page in ledger.list_site_pages(site, _PAGES, newest_first=True)
        ),
        examples=found.hits,
        is_approximate=classes.is_approximate or properties.is_approximate,
    )


def find_count(ledger: LedgerReader, kind: NameKind, name: str) -> NameCount | None:
    """Find the count of a typed name: an IRI, `schema:Person`, a prefix; for a site also one of its hosts."""
    readings = _list_hosts(name) if kind == NameKind.SITE else _list_readings(name)
    return next((count for each in readings if (count := ledger.find_name(kind, each)) is not None), None)


def _list_readings(name: str) -> Iterator[str]:
    """Yield the IRIs that a name may mean, the likeliest first."""
    text = name.strip().removeprefix("<").removesuffix(">")
    # A prefix alone means its namespace.
    yield from expand_name(text if ":" in text else f"{text}:")
    yield fold_namespace(fold_name(text))
    yield fold_class_name(text)


def _list_hosts(name: str) -> Iterator[str]:
    host = name.strip().lower().rstrip(".")
    yield host
    labels = host.split(".")
    # Hosts hardly have more labels than this below their registrable domain.
    for start in range(1, min(len(labels) - 1, 10)):
        yield ".".join(labels[start:])


def _find_relatives(ledger: LedgerReader, store: Store, iri: str) -> tuple[tuple[str, ...], tuple[NameCount, ...]]:
    """Return the superclasses, and the direct subclasses with counts, by schema.org and as pages state."""
    above, below = dict.fromkeys(find_superclasses(iri)), dict.fromkeys(list_subclasses(iri))
    if is_valid_iri(iri):
        node, relation = NamedNode(iri), NamedNode(SUBCLASS_OF)
        stated = (quad.object for quad in islice(store.quads_for_pattern(node, relation, None, MERGE), _RELATIVES))
        above.update((each.value, None) for each in stated if isinstance(each, NamedNode))
        stating = (quad.subject for quad in islice(store.quads_for_pattern(None, relation, node, MERGE), _RELATIVES))
        below.update((each.value, None) for each in stating if isinstance(each, NamedNode))
    counts = (
        ledger.find_name(NameKind.CLASS, each) or NameCount(each, 0, 0, 0) for each in below if _is_named(each, iri)
    )
    ranked = sorted(counts, key=lambda count: (-count.uses, count.name))
    return tuple(each for each in above if _is_named(each, iri))[:_RELATIVES], tuple(ranked[:_RELATIVES])


def _is_named(iri: str, other: str) -> bool:
    return iri != other and not iri.startswith(GENID)


def _find_facet(facets: Iterable[Facet], field: str) -> Facet:
    return next((facet for facet in facets if facet.field == field), Facet(field, ()))


def _make_shares(counts: Iterable[tuple[str, int]], total: int) -> tuple[Share, ...]:
    return tuple(Share(name, min(count, total), min(1.0, count / total)) for name, count in counts if total)


def _count_pages(counts: Iterable[tuple[str, int]]) -> tuple[PageCount, ...]:
    return tuple(PageCount(name, pages) for name, pages in counts)


class _Read(NamedTuple):
    """The parts of a value that are compared."""

    kind: str
    text: str
    language: str
    datatype: str


def _sample_values(store: Store, iri: str) -> ValueSample:
    uses: Counter[_Read] = Counter()
    things: dict[_Read, str] = {}
    quads = store.quads_for_pattern(None, NamedNode(iri), None, MERGE) if is_valid_iri(iri) else ()
    read = 0
    for read, quad in enumerate(islice(quads, _VALUES_READ + 1), 1):
        if read <= _VALUES_READ and isinstance(quad.object, (Literal, NamedNode)):
            value = _read_value(quad.object)
            uses[value] += 1
            if value not in things:
                things[value] = quad.subject.value if isinstance(quad.subject, NamedNode) else ""
    kinds: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    datatypes: Counter[str] = Counter()
    for value, number in uses.items():
        kinds[value.kind] += number
        languages[value.language] += number
        datatypes[value.datatype] += number
    del languages[""], datatypes[""]
    # Blank nodes say the least, and no two are the same.
    chosen = sorted(uses, key=lambda value: (value.kind == BLANK, -uses[value]))[:_VALUES_SHOWN]
    return ValueSample(
        min(read, _VALUES_READ),
        read <= _VALUES_READ,
        dict(kinds.most_common()),
        dict(languages.most_common(_VALUES_SHOWN)),
        dict(datatypes.most_common(_VALUES_SHOWN)),
        tuple(_make_example(store, value, uses[value], things[value]) for value in chosen),
    )


def _read_value(value: Literal | NamedNode) -> _Read:
    if isinstance(value, NamedNode):
        # IRIs are not cut: a part would mean something else.
        return _Read(BLANK if value.value.startswith(GENID) else IRI, value.value, "", "")
    text = value.value[:_TEXT_CHARS]
    if value.language:
        return _Read(TEXT, text, value.language, "")
    datatype = value.datatype.value
    return _Read(NUMBER if datatype in XSD_NUMBERS else TEXT, text, "", datatype)


def _make_example(store: Store, value: _Read, uses: int, thing: str) -> ValueExample:
    label = _find_label(store, value.text) if value.kind in (IRI, BLANK) else ""
    thing_label = _find_label(store, thing)
    return ValueExample(value.text, label, value.kind, uses, value.language, value.datatype, thing, thing_label)


def _find_label(store: Store, node: str) -> str:
    """Return the label of an entity; for a blank node without one its class, because its IRI says nothing."""
    if not node:
        return ""
    named: list[tuple[int, str]] = []
    classes: list[str] = []
    for quad in islice(store.quads_for_pattern(NamedNode(node), None, None, MERGE), _LABEL_STATEMENTS):
        name, value = quad.predicate.value, quad.object
        if name in LABELS and isinstance(value, Literal) and is_visible(value.value[:_TEXT_CHARS]):
            named.append((LABELS[name], clean_label(value.value[:_TEXT_CHARS])))
        elif name == RDF_TYPE and isinstance(value, NamedNode):
            classes.append(shorten_iri(value.value))
    if named:
        return min(named)[1]
    return min(classes, default="")[:_TEXT_CHARS] if node.startswith(GENID) else ""


def _find_page(ledger: LedgerReader, ontology: str) -> str:
    """Return the page at an ontology's namespace if the crawl has it, else an empty text."""
    bare = ontology.rstrip("#")
    addresses = [bare, bare.rstrip("/"), f"{bare}/"]
    addresses += [f"https{each.removeprefix('http')}" for each in addresses if each.startswith("http:")]
    return next((each for each in dict.fromkeys(addresses) if ledger.find_page(each)), "")
