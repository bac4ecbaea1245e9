"""The fields of the text index, one row of `FIELDS` each: how tantivy stores it, what fills it, and how queries use it.

The schema, the documents, the query language, facets, suggestions and filters all follow from this table. A search field is
one row, or two if facets count other forms than queries use (`type` and `types`), plus a function if its values are computed.
A test checks that `docs/search.md` describes it. The schema of existing indexes is fixed: a new row needs a new `VERSION` in
`index/layout.py`.
"""

import base64
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from math import log2
from operator import attrgetter
from urllib.parse import urlsplit

import msgspec
from tantivy import Schema, SchemaBuilder

from rdfspider.index.analysis import BIGRAMS, WORDS, list_starts, list_stems
from rdfspider.results import Card, NameKind, Role
from rdfspider.vocabulary.dates import write_year
from rdfspider.vocabulary.names import expand_name, name_ontology, shorten_iri
from rdfspider.vocabulary.spellings import fold_name, fold_namespace

CURSOR_ID = "#cursor"
"""The id of the one document that is neither a page nor an entity: its card holds the cursors of the same commit."""
BUCKETS = 64
"""Documents are spread evenly over this many buckets by their ids, for sampling."""
BEFORE, AFTER, YEAR = "before", "after", "year"
_MAX_SOURCES = 1 << 20
_TIE_WEIGHT = 0.001
_MAX_STEMMED = 500
"""Characters of the values, and of a page's text, whose words are found in other forms, too."""
Column = Callable[[SchemaBuilder, str], object]
"""Adds a field with this name to tantivy's schema."""
KEYWORD = partial(SchemaBuilder.add_text_field, tokenizer_name="raw", index_option="basic")
"""Whole values, for look-ups."""
FACET = partial(KEYWORD, fast=True)
"""Whole values, for look-ups and facets."""
TEXT = partial(SchemaBuilder.add_text_field, stored=True, tokenizer_name=WORDS)
"""Words, with the text that results show."""
RUNS = partial(SchemaBuilder.add_text_field, tokenizer_name=BIGRAMS)
"""Runs of scripts without spaces."""
STEMS = partial(SchemaBuilder.add_text_field, tokenizer_name="raw", index_option="basic")
"""Stems of words that differ from the words themselves, each once."""
NUMBER = partial(SchemaBuilder.add_unsigned_field, fast=True)
BLOB = partial(SchemaBuilder.add_bytes_field, stored=True)
FindSubclasses = Callable[[str], Iterable[str]]
"""Returns the stated subclasses of a class, by its IRI or short name in lower case."""
LookUp = Callable[[str, FindSubclasses], list[str]]
"""Turns typed text, in lower case, into values of which a result must have one."""


class Terms(msgspec.Struct, frozen=True, gc=False):
    """The classes, properties and ontologies of a document, in the forms that facets count and queries use."""

    classes: Sequence[str]
    class_names: Sequence[str]
    properties: Sequence[str]
    property_names: Sequence[str]
    part_names: Sequence[str]
    ontologies: Sequence[str]
    ontology_names: Sequence[str]


class Texts(msgspec.Struct, frozen=True, gc=False):
    """The texts of a document; runs of scripts without spaces are separate."""

    labels: Sequence[str]
    values: str
    text: str | None
    """The text of a page; for an entity, that of the pages that are about it, or None."""
    label_runs: Sequence[str]
    runs: Sequence[str]
    shown: dict[str, Sequence[str]]
    """The original labels, values and text where the indexed form differs."""


class Subject(msgspec.Struct, frozen=True, gc=False):
    """A page or an entity, with everything that its document needs."""

    digest: bytes
    """The XXH3-128 of a page's URL or an entity's key."""
    card: Card
    texts: Texts
    terms: Terms
    properties: dict[str, list[str]]
    """Values by the name of their property."""
    sites: Sequence[str]
    """Registrable domains."""
    hosts: Iterable[str]
    languages: tuple[str, ...]
    weight: float
    """1, or less for a duplicate and for an entity that is only part of another (images, ratings, list items)."""
    is_suggested: bool
    """Whether its label is offered as a completion."""
    addresses: Sequence[str] = ()
    """The IRIs of an entity, and the URLs of the pages that are about it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A row of the table."""

    name: str
    """The name in tantivy."""
    column: Column
    fill: Callable[[Subject], object]
    """Returns the value, or the list of values, of a page or an entity; None if it has none."""
    facet: str = ""
    """The heading of its facet; empty if it has none."""
    show: Callable[[str], str] = str
    """Returns the display name of a facet's value."""
    asked_as: tuple[str, ...] = ()
    """Its names before a colon in queries; also the names of search filters."""
    look_up: LookUp = lambda text, _: [text]
    """How the text after the colon is looked up."""
    suggests_names: NameKind | None = None
    """The kind of names in the ledger that complete the text after the colon."""
    suggests_values: str = ""
    """The field with a facet whose values complete it; empty for none."""
    is_spelled: bool = False
    """Whether an unknown name after the colon gets a spelling correction."""


def _look_up_classes(text: str, find_subclasses: FindSubclasses) -> list[str]:
    names = list_names(text)
    below = (iri.lower() for name in names for iri in find_subclasses(name))
    return list(dict.fromkeys([*names, *below]))


def _look_up_ontology(text: str, _: FindSubclasses) -> list[str]:
    # The colon of `schema:` is not part of the prefix.
    names = [text, *(text.rstrip(":") + end for end in ("", "/", "#"))]
    return list(dict.fromkeys(map(fold_namespace, names)))


def _look_up_site(text: str, _: FindSubclasses) -> list[str]:
    try:
        host = urlsplit(text if "//" in text else f"//{text}").hostname or text
    except ValueError:
        return [text]
    host = host.removeprefix("*.").strip(".")
    try:
        return [host if host.isascii() else host.encode("idna").decode()]
    except UnicodeError:
        return [host]


def _look_up_syntax(text: str, _: FindSubclasses) -> list[str]:
    # People write JSON-LD and rdf/xml.
    return [text, re.sub(r"\W", "", text)]


def _list_site_names(subject: Subject) -> list[str]:
    """List hosts and their parent domains up to the registrable ones."""
    names = dict.fromkeys(subject.sites)
    for host in sorted(subject.hosts):
        domains = []
        while host and host not in names:
            domains.append(host)
            host = host.partition(".")[2]
        names.update(dict.fromkeys(domains if host else domains[:1]))
    return list(names)


@lru_cache(maxsize=1024)
def _list_primary_tags(languages: tuple[str, ...]) -> list[str]:
    return sorted({tag.lower().partition("-")[0] for tag in languages})


@lru_cache(maxsize=1024)
def _list_tags(languages: tuple[str, ...]) -> list[str]:
    return sorted({*(tag.lower() for tag in languages), *_list_primary_tags(languages)})


def _write_date(subject: Subject) -> str | None:
    """Return the date, or None if unknown: the time of fetching is no substitute."""
    return datetime.fromtimestamp(int(subject.card.date), UTC).isoformat() if subject.card.date else None


def _find_year(subject: Subject) -> int | None:
    return datetime.fromtimestamp(int(subject.card.date), UTC).year if subject.card.date else None


def _list_stems(subject: Subject, texts: Iterable[str]) -> list[str] | None:
    return list_stems(texts, subject.languages[0] if subject.languages else "") or None


def _list_stems_of_texts(subject: Subject) -> list[str] | None:
    return _list_stems(subject, (subject.texts.values[:_MAX_STEMMED], (subject.texts.text or "")[:_MAX_STEMMED]))


def rank_document(sources: int, digest: bytes) -> int:
    """Combine the number of sources with the digest's beginning: a total order, the same in every index."""
    return min(sources, _MAX_SOURCES) << 40 | int.from_bytes(digest[:5])


def weigh_document(weight: float, sources: int, digest: bytes) -> float:
    """Return the weight, raised so little by sources and digest that these only break ties."""
    return weight * (1 + _TIE_WEIGHT * (log2(max(1, sources)) + int.from_bytes(digest[:5]) / (1 << 40)))


def _pack(value: object) -> str:
    return base64.b64encode(msgspec.json.encode(value)).decode()


def _show_year(value: str) -> str:
    return write_year(int(value)) if value.isascii() and value.isdigit() and len(value) == 4 else value


def _make_names_field(name: str, terms: str, asked_as: str, look_up: LookUp, kind: NameKind) -> Field:
    """Make a field of names that queries use, completed and corrected by the names in the ledger."""
    fill = attrgetter(f"terms.{terms}")
    return Field(name, KEYWORD, fill, asked_as=(asked_as,), look_up=look_up, suggests_names=kind, is_spelled=True)


FIELDS = (
    # "e:" or "p:", then the digest in hexadecimal.
    Field("id", partial(KEYWORD, stored=True), lambda one: make_id(one.card.kind, one.digest)),
    Field("kind", FACET, attrgetter("card.kind"), asked_as=("kind",)),
    # Its place among the results (`results.Role`): queries leave parts and covered documents out, unless they ask for them.
    Field("role", KEYWORD, attrgetter("card.role"), asked_as=("role",)),
    # The IRIs of an entity, and the URLs of the pages that are about it.
    Field("addresses", KEYWORD, lambda one: one.addresses or None),
    Field("label", TEXT, attrgetter("texts.labels")),
    # Literal values of an entity, one per line.
    Field("values", TEXT, attrgetter("texts.values")),
    # The main text of a page, also with what the page is about.
    Field("text", TEXT, attrgetter("texts.text")),
    # Runs of scripts without spaces in labels, and in values and text; the fields above leave them out.
    Field("label_bigrams", RUNS, lambda one: one.texts.label_runs or None),
    Field("bigrams", RUNS, lambda one: one.texts.runs or None),
    # Stems of words in labels, and in values and the beginning of the text, by the language of the document; not of parts,
    # whose words are found with their whole.
    Field("label_stems", STEMS, lambda one: _list_stems(one, one.texts.labels) if one.card.role != Role.PART else None),
    Field("stems", STEMS, lambda one: _list_stems_of_texts(one) if one.card.role != Role.PART else None),
    # Beginnings of the label.
    Field("start", KEYWORD, lambda one: list_starts(one.card.label) if one.is_suggested else []),
    # IRIs of classes and their superclasses except Thing.
    Field("type", FACET, attrgetter("terms.classes"), facet="Type", show=shorten_iri),
    # Namespaces.
    Field("ontology", FACET, attrgetter("terms.ontologies"), facet="Ontology", show=name_ontology),
    # IRIs of an entity's own properties, or of all properties on a page.
    Field("property", FACET, attrgetter("terms.properties"), facet="Property", show=shorten_iri),
    Field("site", FACET, attrgetter("sites"), facet="Site"),
    Field("lang", FACET, lambda one: _list_primary_tags(one.languages), facet="Language"),
    Field(
        "syntax",
        FACET,
        attrgetter("card.syntaxes"),
        facet="Syntax",
        asked_as=("syntax",),
        look_up=_look_up_syntax,
        suggests_values="syntax",
    ),
    # From here to `langs`, values are in lower case. IRIs and short names of classes and their superclasses.
    _make_names_field("types", "class_names", "type", _look_up_classes, NameKind.CLASS),
    # Namespaces and their prefixes.
    _make_names_field("ontologies", "ontology_names", "ontology", _look_up_ontology, NameKind.ONTOLOGY),
    # IRIs and short names of properties.
    _make_names_field(
        "property_names", "property_names", "property", lambda text, _: list_names(text), NameKind.PROPERTY
    ),
    # The same for nameless parts: their values are among the entity's words, but their properties are not its own.
    Field("part_names", KEYWORD, attrgetter("terms.part_names")),
    Field("sites", KEYWORD, _list_site_names, asked_as=("site",), look_up=_look_up_site, suggests_names=NameKind.SITE),
    # Whole and primary language tags.
    Field(
        "langs",
        KEYWORD,
        lambda one: _list_tags(one.languages),
        asked_as=("lang",),
        look_up=lambda text, _: [text.replace("_", "-")],
        suggests_values="lang",
    ),
    # Values by the short name of their property, in lower case (only letters, digits and _): `properties.author`.
    Field("properties", partial(SchemaBuilder.add_json_field, tokenizer_name=WORDS), attrgetter("properties")),
    # Facets count the year; queries use the date.
    Field(
        "date",
        partial(SchemaBuilder.add_date_field, indexed=True, fast=True),
        _write_date,
        asked_as=(BEFORE, AFTER, YEAR),
        suggests_values="year",
    ),
    Field("year", NUMBER, _find_year, facet="Year", show=_show_year),
    Field("order", NUMBER, lambda one: rank_document(one.card.sources, one.digest)),
    Field(
        "weight",
        partial(SchemaBuilder.add_float_field, fast=True),
        lambda one: weigh_document(one.weight, one.card.sources, one.digest),
    ),
    Field("bucket", partial(NUMBER, indexed=True), lambda one: int.from_bytes(one.digest) % BUCKETS),
    Field("card", BLOB, lambda one: _pack(one.card)),
    # The original label, values and text, as JSON, where the indexed form differs.
    Field("shown", BLOB, lambda one: _pack(one.texts.shown) if one.texts.shown else None),
)
"""In the order of the schema."""

ASKED = {name: field for field in FIELDS for name in field.asked_as}
"""Fields by their names in queries."""
FACETS = {field.name: field for field in FIELDS if field.facet}
"""Fields with a facet."""
WORD_FIELDS = tuple(field.name for field in FIELDS if field.column is TEXT)
RUN_FIELDS = tuple(field.name for field in FIELDS if field.column is RUNS)
STEM_FIELDS = tuple(field.name for field in FIELDS if field.column is STEMS)
"""The fields in which words, runs of scripts without spaces, and stems are searched."""
_FILLS = tuple((field.name, field.fill) for field in FIELDS)


def build_schema() -> Schema:
    """Build tantivy's schema of all fields."""
    builder = SchemaBuilder()
    for field in FIELDS:
        field.column(builder, field.name)
    return builder.build()


def fill_fields(subject: Subject) -> dict[str, object]:
    """Return the document of a page or an entity."""
    return {name: value for name, fill in _FILLS if (value := fill(subject)) is not None}


def make_id(kind: str, digest: bytes) -> str:
    """Return the id of a document."""
    return f"{kind[0]}:{digest.hex()}"


def list_names(text: str) -> list[str]:
    """List the indexed names of a class or property given by short name, prefixed name or IRI."""
    name = text.lower()
    return [iri.lower() for iri in expand_name(name)] or [fold_name(name).lower()]
