"""The fields of the text index, one row of `FIELDS` each: how tantivy keeps it, what fills it, and how people ask for it.

The schema, the documents, the query language, the facets, the suggestions and the filters of a search all follow from this table.
A search field is one row, or two where values are counted in another form than they are asked for in (`type` and `types`), and a
function where its values have to be computed; `docs/search.md` describes it, which a test checks. The schema of existing indexes
is fixed: a new row needs a new `VERSION` in `index/layout.py`.
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

from rdfspider.index.entities.contributions import Contribution
from rdfspider.index.ledger.usage import CLASS, ONTOLOGY, PROPERTY, SITE
from rdfspider.index.text.analysis import BIGRAMS, WORDS, list_starts
from rdfspider.index.text.results import Card
from rdfspider.vocabulary.dates import write_year
from rdfspider.vocabulary.names import find_namespaces, list_prefixes, shorten_iri
from rdfspider.vocabulary.terms import fold_iri

CURSOR_ID = "#cursor"
"""The id of the one document that is neither a page nor an entity: its card holds the cursors, as of the same commit."""
PAGE, ENTITY = "page", "entity"
"""The kinds of documents."""
BUCKETS = 64
"""Documents are spread evenly over so many buckets by their ids, so that a part of them can stand for all."""
BEFORE, AFTER, YEAR = "before", "after", "year"
_MAX_SOURCES = 1 << 20
_TIE_WEIGHT = 0.001


class Terms(msgspec.Struct, frozen=True, gc=False):
    """The classes, properties and ontologies of a document, in the forms in which they are counted and asked for."""

    classes: Sequence[str]
    class_names: Sequence[str]
    properties: Sequence[str]
    property_names: Sequence[str]
    part_names: Sequence[str]
    ontologies: Sequence[str]
    ontology_names: Sequence[str]


class Texts(msgspec.Struct, frozen=True, gc=False):
    """The texts of a document, without what is written in scripts that have no spaces; these runs are apart."""

    labels: Sequence[str]
    values: str
    text: str | None
    """None for an entity."""
    label_runs: Sequence[str]
    runs: Sequence[str]
    shown: dict[str, Sequence[str]]
    """Labels, values and text as pages have them, where that is otherwise."""


class Subject(msgspec.Struct, frozen=True, gc=False):
    """A page or an entity, with all that its document is made of."""

    digest: bytes
    """The XXH3-128 of a page's URL or an entity's key."""
    card: Card
    claims: Sequence[Contribution]
    """What pages state of it."""
    texts: Texts
    terms: Terms
    properties: dict[str, list[str]]
    """Values by the name of their property."""
    sites: Sequence[str]
    """Registrable domains."""
    hosts: Iterable[str]
    languages: tuple[str, ...]
    weight: float
    """1 for what stands for itself, less for what is only a part of another entity (images, ratings, list items) or a
    repetition."""
    is_suggested: bool
    """Whether its label is suggested to people who type."""
    outlinks: Sequence[int] = ()
    """XXH3-64 of each URL that a page links to."""


Column = Callable[[SchemaBuilder, str], object]
"""Adds a field of a name to tantivy's schema."""
KEYWORD = partial(SchemaBuilder.add_text_field, tokenizer_name="raw", index_option="basic")
"""Whole values that are looked up."""
FACET = partial(KEYWORD, fast=True)
"""Whole values that are counted, too."""
TEXT = partial(SchemaBuilder.add_text_field, stored=True, tokenizer_name=WORDS)
"""Words, whose text is shown in results."""
RUNS = partial(SchemaBuilder.add_text_field, tokenizer_name=BIGRAMS)
"""What is written in scripts without spaces."""
NUMBER = partial(SchemaBuilder.add_unsigned_field, fast=True)
BLOB = partial(SchemaBuilder.add_bytes_field, stored=True)

FindSubclasses = Callable[[str], Iterable[str]]
"""The classes that pages call subclasses of a class, by its IRI or short name in lower case."""
LookUp = Callable[[str, FindSubclasses], list[str]]
"""What was typed, in lower case, to the values of which a result must have one."""


@dataclass(frozen=True, slots=True)
class Field:
    """A row of the table."""

    name: str
    """In tantivy."""
    column: Column
    fill: Callable[[Subject], object]
    """The value, or the list of values, of a page or an entity; None where it has none."""
    boost: float = 0.0
    """What a word that is found here counts; 0 where words are not looked for here."""
    facet: str = ""
    """The heading of its facet; empty where it has none."""
    show: Callable[[str], str] = str
    """A value of its facet, as people write it."""
    asked_as: tuple[str, ...] = ()
    """What people write before the colon to ask for its values; also the names of the filters of a search."""
    look_up: LookUp = lambda text, _: [text]
    """How what they write behind the colon is looked up."""
    suggests_names: str = ""
    """The kind of names in the ledger that are suggested behind the colon; empty for none."""
    suggests_values: str = ""
    """The field with a facet whose values are suggested there; empty for none."""
    is_spelled: bool = False
    """Whether a name behind the colon that no document has is taken for a misspelt one."""


def _look_up_names(text: str, _: FindSubclasses) -> list[str]:
    return list_names(text)


def _look_up_classes(text: str, find_subclasses: FindSubclasses) -> list[str]:
    names = list_names(text)
    below = (iri.lower() for name in names for iri in find_subclasses(name))
    return list(dict.fromkeys([*names, *below]))


def _look_up_ontology(text: str, _: FindSubclasses) -> list[str]:
    # The colon of schema: is no part of the prefix.
    names = [text, *(text.rstrip(":") + end for end in ("", "/", "#"))]
    return list(dict.fromkeys(map(fold_iri, names)))


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


def _look_up_language(text: str, _: FindSubclasses) -> list[str]:
    return [text.replace("_", "-")]


def _look_up_syntax(text: str, _: FindSubclasses) -> list[str]:
    # JSON-LD and rdf/xml are how people write it.
    return [text, re.sub(r"\W", "", text)]


def _list_site_names(subject: Subject) -> list[str]:
    """Hosts, and the domains above them down to the registrable ones."""
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
    """None where no date is known: when a page was fetched dates nothing."""
    return datetime.fromtimestamp(int(subject.card.date), UTC).isoformat() if subject.card.date else None


def _find_year(subject: Subject) -> int | None:
    return datetime.fromtimestamp(int(subject.card.date), UTC).year if subject.card.date else None


def rank_document(sources: int, digest: bytes) -> int:
    """The number of sources, and the beginning of the digest: all documents are in one order, the same in every index."""
    return min(sources, _MAX_SOURCES) << 40 | int.from_bytes(digest[:5])


def weigh_document(weight: float, sources: int, digest: bytes) -> float:
    """The weight, and so little more by the order that it decides between equals only."""
    return weight * (1 + _TIE_WEIGHT * (log2(max(1, sources)) + int.from_bytes(digest[:5]) / (1 << 40)))


def _pack(value: object) -> str:
    return base64.b64encode(msgspec.json.encode(value)).decode()


def _show_ontology(iri: str) -> str:
    return next(iter(list_prefixes(iri)), iri)


def _show_year(value: str) -> str:
    return write_year(int(value)) if value.isascii() and value.isdigit() and len(value) == 4 else value


FIELDS = (
    # "e:" or "p:" and the digest in hexadecimal digits.
    Field("id", partial(KEYWORD, stored=True), lambda one: make_id(one.card.kind, one.digest)),
    Field("kind", FACET, attrgetter("card.kind"), asked_as=("kind",)),
    Field("label", TEXT, attrgetter("texts.labels"), boost=4.0),
    # Literal values of an entity, a line each.
    Field("values", TEXT, attrgetter("texts.values"), boost=1.5),
    # The main text of a page.
    Field("text", TEXT, attrgetter("texts.text"), boost=1.0),
    # What of the label, and of values and text, is written in scripts without spaces; the fields above do not have it.
    Field("label_bigrams", RUNS, lambda one: one.texts.label_runs or None, boost=4.0),
    Field("bigrams", RUNS, lambda one: one.texts.runs or None, boost=1.0),
    # How the label begins.
    Field("start", KEYWORD, lambda one: list_starts(one.card.label) if one.is_suggested else []),
    # IRIs of classes and their superclasses but for Thing.
    Field("type", FACET, attrgetter("terms.classes"), facet="Type", show=shorten_iri),
    # Namespaces.
    Field("ontology", FACET, attrgetter("terms.ontologies"), facet="Ontology", show=_show_ontology),
    # IRIs of properties: of an entity its own, of a page all on it.
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
    # From here to `langs` in lower case. IRIs and short names of classes and their superclasses.
    Field(
        "types",
        KEYWORD,
        attrgetter("terms.class_names"),
        asked_as=("type",),
        look_up=_look_up_classes,
        suggests_names=CLASS,
        is_spelled=True,
    ),
    # Namespaces and their prefixes.
    Field(
        "ontologies",
        KEYWORD,
        attrgetter("terms.ontology_names"),
        asked_as=("ontology",),
        look_up=_look_up_ontology,
        suggests_names=ONTOLOGY,
        is_spelled=True,
    ),
    # IRIs and short names of properties.
    Field(
        "property_names",
        KEYWORD,
        attrgetter("terms.property_names"),
        asked_as=("property",),
        look_up=_look_up_names,
        suggests_names=PROPERTY,
        is_spelled=True,
    ),
    # The same of nameless parts: what they state is found among the entity's words, and is not its own.
    Field("part_names", KEYWORD, attrgetter("terms.part_names")),
    Field("sites", KEYWORD, _list_site_names, asked_as=("site",), look_up=_look_up_site, suggests_names=SITE),
    # Whole and primary language tags.
    Field(
        "langs",
        KEYWORD,
        lambda one: _list_tags(one.languages),
        asked_as=("lang",),
        look_up=_look_up_language,
        suggests_values="lang",
    ),
    # Values by the short name of their property in lower case (letters, digits and _ only): `properties.author`.
    Field("properties", partial(SchemaBuilder.add_json_field, tokenizer_name=WORDS), attrgetter("properties")),
    # Years are counted, and asked for by the date.
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
    Field("outlinks", partial(SchemaBuilder.add_unsigned_field, indexed=True), lambda one: one.outlinks or None),
    Field("bucket", partial(NUMBER, indexed=True), lambda one: int.from_bytes(one.digest) % BUCKETS),
    Field("card", BLOB, lambda one: _pack(one.card)),
    # Label, values and text as pages have them, where these fields have them otherwise; JSON.
    Field("shown", BLOB, lambda one: _pack(one.texts.shown) if one.texts.shown else None),
)
"""In the order of the schema."""

ASKED = {name: field for field in FIELDS for name in field.asked_as}
"""The fields by what people write before the colon."""
FACETS = {field.name: field for field in FIELDS if field.facet}
"""The fields whose values are counted."""
WORD_BOOSTS = {field.name: field.boost for field in FIELDS if field.column is TEXT}
RUN_BOOSTS = {field.name: field.boost for field in FIELDS if field.column is RUNS}
"""What words, and runs of scripts without spaces, count by the field where they are."""
_FILLS = tuple((field.name, field.fill) for field in FIELDS)


def build_schema() -> Schema:
    """The schema of all fields."""
    builder = SchemaBuilder()
    for field in FIELDS:
        field.column(builder, field.name)
    return builder.build()


def fill_fields(subject: Subject) -> dict[str, object]:
    """The document of a page or an entity."""
    return {name: value for name, fill in _FILLS if (value := fill(subject)) is not None}


def make_id(kind: str, digest: bytes) -> str:
    """The id of a document."""
    return f"{kind[0]}:{digest.hex()}"


def list_names(text: str) -> list[str]:
    """What the index may call a class or property that was asked for by short name, prefixed name or IRI."""
    folded = fold_iri(text.lower())
    prefix, colon, name = folded.partition(":")
    namespaces = find_namespaces(prefix) if colon and not name.startswith("//") else ()
    return [(namespace + name).lower() for namespace in namespaces] or [folded]
