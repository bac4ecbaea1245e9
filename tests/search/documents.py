"""A small text index, written by tantivy with the schema that writers and readers share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import tantivy
from xxhash import xxh3_128_hexdigest

from rdfspider.index.analysis import list_stems, normalise_text, register_tokenizers
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.text.fields import BUCKETS, CURSOR_ID, build_schema, rank_document, weigh_document
from rdfspider.results import Card, HitKind, Role, SourcePage
from rdfspider.vocabulary.names import find_field_name, find_ontology, find_short_name, list_prefixes

SCHEMA = "http://schema.org/"


@dataclass(frozen=True, slots=True)
class Thing:
    """What a test puts into the index."""

    label: str
    values: dict[str, str] = field(default_factory=dict)
    """By the names of properties of schema.org."""
    types: Sequence[str] = ()
    text: str = ""
    """Of a page; others are entities."""
    bigrams: str = ""
    site: str = "example.org"
    lang: str = "en"
    syntax: str = "jsonld"
    date: str = "2024-05-01"
    sources: int = 1
    weight: float = 1.0
    url: str = ""
    description: str = ""
    other_labels: Sequence[str] = ()
    role: str = ""


def write_index(folder: Path, things: Iterable[Thing], is_committed: bool = True) -> Path:
    """Add to the index of a crawl's folder, or make it."""
    paths = IndexPaths(folder)
    paths.text.mkdir(parents=True, exist_ok=True)
    if not paths.version.exists():
        paths.version.write_text(f"{VERSION}\n")
    index = tantivy.Index(build_schema(), str(paths.text))
    register_tokenizers(index)
    writer = index.writer(15_000_000, 1)
    for thing in things:
        writer.add_document(_make_document(thing))
    if is_committed:
        writer.delete_documents_by_term("id", CURSOR_ID)
        cursor = tantivy.Document()
        cursor.add_text("id", CURSOR_ID)
        cursor.add_bytes("card", b"{}")
        writer.add_document(cursor)
    writer.commit()
    writer.wait_merging_threads()
    return folder


def _make_document(thing: Thing) -> tantivy.Document:
    is_page = bool(thing.text)
    url = thing.url or f"https://{thing.site}/{thing.label.replace(' ', '-')}"
    digest = xxh3_128_hexdigest(f"{url} {thing}".encode())
    date = datetime.fromisoformat(thing.date).replace(tzinfo=UTC)
    document = tantivy.Document()
    document.add_text("id", ("p:" if is_page else "e:") + digest)
    document.add_text("kind", HitKind.PAGE if is_page else HitKind.ENTITY)
    role = Role(thing.role or (Role.PAGE if is_page else Role.THING))
    document.add_text("role", role)
    for label in (thing.label, *thing.other_labels):
        document.add_text("label", label)
    document.add_text("text" if is_page else "values", thing.text or "\n".join(thing.values.values()))
    document.add_text("bigrams", thing.bigrams)
    for name, texts in {
        "label_stems": (thing.label, *thing.other_labels),
        "stems": (thing.text, *thing.values.values()),
    }.items():
        for stem in list_stems(map(normalise_text, texts), thing.lang):
            document.add_text(name, stem)
    iris = [SCHEMA + name for name in thing.values]
    for iri in thing.types:
        document.add_text("type", iri)
        for name in (iri.lower(), find_short_name(iri)):
            document.add_text("types", name)
    for namespace in {find_ontology(iri) for iri in (*thing.types, *iris)}:
        document.add_text("ontology", namespace)
        for name in (namespace, *list_prefixes(namespace)):
            document.add_text("ontologies", name)
    for iri in iris:
        document.add_text("property", iri)
        for name in (iri.lower(), find_short_name(iri)):
            document.add_text("property_names", name)
    document.add_json("properties", {find_field_name(SCHEMA + name): value for name, value in thing.values.items()})
    for name, value in {"site": thing.site, "sites": thing.site, "lang": thing.lang, "langs": thing.lang}.items():
        document.add_text(name, value)
    document.add_text("syntax", thing.syntax)
    document.add_date("date", date)
    document.add_unsigned("year", int(thing.date[:4]))
    document.add_unsigned("order", rank_document(thing.sources, bytes.fromhex(digest)))
    document.add_float("weight", weigh_document(thing.weight, thing.sources, bytes.fromhex(digest)))
    document.add_unsigned("bucket", int(digest, 16) % BUCKETS)
    card = Card(
        id=url,
        kind=HitKind.PAGE if is_page else HitKind.ENTITY,
        label=thing.label,
        description=thing.description,
        types=tuple(thing.types),
        sites=(thing.site,),
        languages=(thing.lang,),
        syntaxes=(thing.syntax,),
        sources=thing.sources,
        pages=(SourcePage(url, date.timestamp()),),
        date=date.timestamp(),
        role=role,
    )
    document.add_bytes("card", msgspec.json.encode(card))
    return document
