"""Outcomes and documents for the tests of the text index: real pages, really extracted."""

import base64
import json
from pathlib import Path
from typing import Any

import tantivy

import rdfspider
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.index.analysis import register_tokenizers
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.fields import build_schema
from rdfspider.results import Card


def make_outcome(url: str, html: str = "", time: float = 1_700_000_000.0, digest: str = "d", **more: Any) -> Outcome:
    """What a crawl would have on record of a page."""
    found = rdfspider.extract(html.encode(), url=url)
    fields: dict[str, Any] = {
        "statements": dict(found.statements),
        "text": found.text,
        "title": found.title or "",
        "language": found.language or "",
        "outlinks": tuple(link.target for link in found.links),
    }
    return Outcome(url, time, "log", 0, 1, Effect.REPLACE, digest=digest, **(fields | more))


def make_removal(url: str, time: float) -> Outcome:
    """A page is gone."""
    return Outcome(url, time, "log", 0, 1, Effect.REMOVE, verdict="done", reason="gone", status=410)


def person(name: str, **more: str) -> str:
    """A page that speaks of somebody."""
    thing = {"@context": "https://schema.org", "@type": "Person", "name": name, **more}
    script = f'<script type="application/ld+json">{json.dumps(thing)}</script>'
    return f'<html lang="en"><title>{name}</title>{script}<p>All of {name}.</p>'


def dump_index(folder: Path) -> dict[str, dict[str, Any]]:
    """All documents by id: what is stored of them, and their cards; without the cursors."""
    index = tantivy.Index(build_schema(), path=str(IndexPaths(folder).text))
    register_tokenizers(index)
    searcher = index.searcher()
    found = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1))
    documents = {}
    for _, address in found.hits:
        document = searcher.doc(address).to_dict()
        (name,) = document["id"]
        assert name not in documents, f"{name} is there twice"
        documents[name] = document | {"card": json.loads(document["card"][0])}
    documents.pop("#cursor", None)
    return documents


def find_cards(folder: Path, query: str, fields: list[str] | None = None) -> list[Card]:
    """The cards of what a query of tantivy's finds."""
    import msgspec

    index = tantivy.Index(build_schema(), path=str(IndexPaths(folder).text))
    register_tokenizers(index)
    searcher = index.searcher()
    hits = searcher.search(index.parse_query(query, fields or ["label", "values", "text"]), 100).hits
    return [msgspec.json.decode(searcher.doc(address)["card"][0], type=Card) for _, address in hits]


def decode_card(fields: dict[str, object]) -> dict[str, Any]:
    """The card of a document that was not written yet."""
    card: dict[str, Any] = json.loads(base64.b64decode(str(fields["card"])))
    return card
