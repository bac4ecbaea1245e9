"""What a client likes in, the media types to answer with out, the best first.

The header Accept is read as RFC 9110 has it: the most exact range counts for each type, then its weight, then the order in which
types were named. A parameter `format` or a suffix is for whoever cannot set headers, and takes their place.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from starlette.requests import Request

from rdfspider.errors import UsageError

HTML = "text/html"
RESULTS = {
    "application/sparql-results+json": "json",
    "application/sparql-results+xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/plain": "tsv",
}
"""Formats of `search/documents.py` for SELECT and ASK, by media type; what is preferred here comes first."""
TRIPLES = {
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "application/ld+json": "jsonld",
    "application/rdf+xml": "rdfxml",
    "application/turtle": "turtle",
    "application/x-turtle": "turtle",
    "text/n3": "turtle",
    "text/rdf+n3": "turtle",
    # What has one graph alone is the same in both.
    "application/trig": "turtle",
    "application/n-quads": "ntriples",
    "application/json": "jsonld",
    "application/xml": "rdfxml",
    "text/xml": "rdfxml",
    "text/plain": "ntriples",
}
"""The same for CONSTRUCT and DESCRIBE."""
_BROWSERS = ("application/xml", "text/xml", "text/plain")
DESCRIPTIONS = {name: form for name, form in TRIPLES.items() if name not in _BROWSERS}
"""The same for descriptions, which browsers get too, and should not get as XML because they name that."""
FORMATS: Mapping[str, tuple[str, ...]] = {
    "json": ("application/sparql-results+json", "application/ld+json"),
    "xml": ("application/sparql-results+xml", "application/rdf+xml"),
    "csv": ("text/csv",),
    "tsv": ("text/tab-separated-values",),
    "ttl": ("text/turtle",),
    "nt": ("application/n-triples",),
    "nq": ("application/n-quads",),
    "jsonld": ("application/ld+json",),
    "rdf": ("application/rdf+xml",),
}
"""What a suffix of the path, or the parameter `format`, stands for."""
_OTHER_NAMES = {
    "turtle": "ttl", "n3": "ttl", "ntriples": "nt", "n-triples": "nt", "nquads": "nq", "json-ld": "jsonld",
    "rdfxml": "rdf", "rdf+xml": "rdf", "rdf/xml": "rdf",
}  # fmt: skip


class Offer(NamedTuple):
    """How an answer can be sent."""

    media_type: str
    format: str


def get_accept(request: Request) -> str:
    """The header Accept, which may come in several lines."""
    return ", ".join(request.headers.getlist("accept"))


def read_accept(accept: str) -> list[tuple[str, float]]:
    """The media types of a header Accept, and how much each is liked."""
    found = []
    for part in accept[:2000].split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        try:
            found.append((name, max(0.0, min(float(quality), 1.0))))
        except ValueError:
            found.append((name, 0.0))
    return found


def rank_offers(accept: str, known: Mapping[str, str]) -> list[Offer]:
    """The media types that a header Accept allows, the most wanted first; empty where it allows none."""
    ranges = read_accept(accept) if accept.strip() else [("*/*", 1.0)]
    ranked = []
    for place, (media_type, form) in enumerate(known.items()):
        fitting = [
            (vague, at, quality)
            for at, (name, quality) in enumerate(ranges)
            if (vague := _find_vagueness(name, media_type)) is not None
        ]
        if fitting:
            vague, at, quality = min(fitting)
            if quality > 0:
                ranked.append((-quality, vague, at, place, Offer(media_type, form)))
    return [offer for *_, offer in sorted(ranked)]


def find_offers(name: str, accept: str, known: Mapping[str, str]) -> list[Offer]:
    """The same for whoever may have named a format, and then gets no other; UsageError for a format that nobody knows."""
    if not name:
        return rank_offers(accept, known)
    plain = name.strip().lower()
    known_name = _OTHER_NAMES.get(plain, plain)
    types = FORMATS.get(known_name) or ((plain,) if plain in RESULTS or plain in TRIPLES else None)
    if types is None:
        raise UsageError(f"there is no format {name[:40]!r}: choose {', '.join(FORMATS)}")
    return [Offer(each, known[each]) for each in types if each in known]


def prefers_html(accept: str) -> bool:
    """Whether a person asks, by a browser: HTML is named, and liked best."""
    ranked = rank_offers(accept, {**RESULTS, **TRIPLES, HTML: "html"})
    return bool(ranked) and ranked[0].media_type == HTML


def write_content_type(media_type: str) -> str:
    """A media type as it is sent."""
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type


def list_formats(offers: Sequence[Offer]) -> tuple[str, ...]:
    """The formats of some offers, each once."""
    return tuple(dict.fromkeys(offer.format for offer in offers))


def _find_vagueness(name: str, media_type: str) -> int | None:
    """0 for a range of Accept that is the media type, 1 for its family, 2 for everything, None for another."""
    if name == media_type:
        return 0
    if name == f"{media_type.partition('/')[0]}/*":
        return 1
    return 2 if name in ("*/*", "*") else None
