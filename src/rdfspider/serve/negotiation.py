"""Content negotiation: a PageReply enters, a response leaves, in the format that the path's suffix or Accept asks for."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import pyoxigraph
from pyoxigraph import RdfFormat, Triple
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from rdfspider.errors import UsageError
from rdfspider.formats import disarm_formula
from rdfspider.serve.replies import PageReply, PageRequest
from rdfspider.vocabulary.prefixes import TURTLE_PREFIXES

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "nq": "application/n-quads",
    "ttl": "text/turtle; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
"""By the suffix of a path. HTML has no suffix."""
MAX_OUTPUT_BYTES = 64 << 20
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
"""Formats of `index/quads/sparql/result_documents.py` for SELECT and ASK, by media type, in order of preference."""
TRIPLES = {
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "application/ld+json": "jsonld",
    "application/rdf+xml": "rdfxml",
    "application/turtle": "turtle",
    "application/x-turtle": "turtle",
    "text/n3": "turtle",
    "text/rdf+n3": "turtle",
    # For a single graph both formats are identical.
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
"""The same for descriptions, without the types that browsers list in Accept, so that browsers do not get XML."""
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
"""The media types for a suffix of the path or for the parameter `format`."""
_CSV_CELL = re.compile(rb'(\A|,|\r\n)(?:"((?:[^"]|"")*+)"|([^",\r\n]*+))')
_FORMULA_START = re.compile(rb'(?:\A|,|\r\n)"?[=+\-@\t\r\n]')
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_OTHER_NAMES = {
    "turtle": "ttl", "n3": "ttl", "ntriples": "nt", "n-triples": "nt", "nquads": "nq", "json-ld": "jsonld",
    "rdfxml": "rdf", "rdf+xml": "rdf", "rdf/xml": "rdf",
}  # fmt: skip


class Representation(NamedTuple):
    """A media type for an answer, and the format that writes it."""

    media_type: str
    format: str


def split_suffix(path: str) -> tuple[str, str]:
    """Split a path into its base and the format of its suffix; the format is empty if there is none."""
    head, dot, suffix = path.rpartition(".")
    return (head, suffix) if dot and suffix in MEDIA_TYPES and "/" not in suffix else (path, "")


def choose_format(accept: str, formats: Sequence[str]) -> str:
    """The format that an Accept header prefers; of equals, the page's first one. Empty if it accepts none."""
    offers = rank_representations(accept, {MEDIA_TYPES[name].partition(";")[0]: name for name in formats})
    return offers[0].format if offers else ""


def make_response(request: PageRequest, reply: PageReply) -> Response:
    """Write the PageReply in the requested format."""
    if reply.redirect:
        response: Response = RedirectResponse(reply.redirect, status_code=303)
    elif request.format == "html":
        text = request.site.render(reply.template, {**reply.context, "request": request})
        response = Response(text, reply.status, media_type=MEDIA_TYPES["html"])
        if request.csrf and request.csrf in text:
            # The next user of the browser must not find the CSRF token in its cache.
            response.headers["Cache-Control"] = "private, no-store"
    else:
        response = Response(_write(request.format, reply), reply.status, media_type=MEDIA_TYPES[request.format])
    response.headers.update(reply.headers)
    for name, value in reply.cookies.items():
        if value is None:
            response.delete_cookie(name, secure=request.is_secure, httponly=True, samesite="strict")
        else:
            response.set_cookie(
                name, value, secure=request.is_secure, httponly=True, samesite="strict", max_age=30 * 86_400
            )
    return response


def make_refusal(request: Request, status: int, message: str) -> Response:
    """An error message without a page: as JSON if Accept names that, otherwise as plain text."""
    if any(name == "application/json" and quality > 0 for name, quality in read_accept(get_accept(request))):
        return JSONResponse({"error": message}, status)
    return PlainTextResponse(f"{message}\n", status)


def write_json(data: object) -> bytes:
    """Encode dictionaries, lists, dataclasses and Structs as JSON."""
    return msgspec.json.encode(data, enc_hook=_encode_other)


def write_csv(heads: Sequence[str], rows: object) -> bytes:
    """Write CSV by RFC 4180; cells that spreadsheets would treat as a formula get a leading apostrophe."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(heads)
    for row in rows:  # type: ignore[attr-defined]
        writer.writerow([disarm_formula(cell) for cell in row])
    return out.getvalue().encode("utf-8", "replace")


def disarm_csv(body: bytes) -> bytes:
    """CSV for spreadsheets: a cell that they would treat as a formula gets a leading apostrophe, unless it is a number."""
    return _CSV_CELL.sub(_disarm_cell, body) if _FORMULA_START.search(body) else body


def _disarm_cell(match: re.Match[bytes]) -> bytes:
    separator, quoted, bare = match.groups()
    text = (bare if quoted is None else quoted).decode("utf-8", "replace")
    if _NUMBER.fullmatch(text) or disarm_formula(text) == text:
        return match[0]
    return separator + (b"'" + bare if quoted is None else b"\"'" + quoted + b'"')


def write_turtle(nquads: bytes, prefixes: Mapping[str, str] = TURTLE_PREFIXES) -> bytes:
    """Convert N-Quads to Turtle, without graph names and duplicates."""
    quads = pyoxigraph.parse(nquads, RdfFormat.N_QUADS)
    triples = dict.fromkeys(Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
    return pyoxigraph.serialize(triples, format=RdfFormat.TURTLE, prefixes=dict(prefixes)) or b""


def _write(format_name: str, reply: PageReply) -> bytes:
    if format_name in reply.documents:
        body = reply.documents[format_name]()
    elif format_name == "json" and reply.data:
        body = write_json(reply.data())
    elif format_name == "csv" and reply.table:
        table = reply.table()
        body = write_csv(table.heads, table.rows)
    elif format_name == "nq" and reply.nquads:
        body = reply.nquads()
    elif format_name == "ttl" and reply.nquads:
        body = write_turtle(reply.nquads())
    else:
        raise UsageError(f"this page is not there as {format_name}")
    if len(body) > MAX_OUTPUT_BYTES:
        raise UsageError(
            f"that would be {len(body):,} bytes, and {MAX_OUTPUT_BYTES:,} are sent: ask for less, or export it"
        )
    return body


def _encode_other(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(type(value))


def get_accept(request: Request) -> str:
    """The Accept header, which may span several lines."""
    return ", ".join(request.headers.getlist("accept"))


def read_accept(accept: str) -> list[tuple[str, float]]:
    """Parse an Accept header into media types with their quality."""
    found = []
    for part in accept[:2000].split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        try:
            found.append((name, max(0.0, min(float(quality), 1.0))))
        except ValueError:
            found.append((name, 0.0))
    return found


def rank_representations(accept: str, known: Mapping[str, str]) -> list[Representation]:
    """The media types that an Accept header allows, the most preferred first; empty if it allows none."""
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
                ranked.append((-quality, vague, at, place, Representation(media_type, form)))
    return [offer for *_, offer in sorted(ranked)]


def find_representations(name: str, accept: str, known: Mapping[str, str]) -> list[Representation]:
    """The same, but a named format takes precedence over Accept; raises UsageError for an unknown format."""
    if not name:
        return rank_representations(accept, known)
    plain = name.strip().lower()
    known_name = _OTHER_NAMES.get(plain, plain)
    types = FORMATS.get(known_name) or ((plain,) if plain in RESULTS or plain in TRIPLES else None)
    if types is None:
        raise UsageError(f"there is no format {name[:40]!r}: choose {', '.join(FORMATS)}")
    return [Representation(each, known[each]) for each in types if each in known]


def prefers_html(accept: str) -> bool:
    """Whether the client is a browser: it names HTML and prefers it."""
    ranked = rank_representations(accept, {**RESULTS, **TRIPLES, HTML: "html"})
    return bool(ranked) and ranked[0].media_type == HTML


def write_content_type(media_type: str) -> str:
    """The Content-Type header for a media type."""
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type


def list_formats(offers: Sequence[Representation]) -> tuple[str, ...]:
    """The formats of some representations, without duplicates."""
    return tuple(dict.fromkeys(offer.format for offer in offers))


def _find_vagueness(name: str, media_type: str) -> int | None:
    """0 if a range of Accept is the media type itself, 1 for `type/*`, 2 for `*/*`, None if it does not match."""
    if name == media_type:
        return 0
    if name == f"{media_type.partition('/')[0]}/*":
        return 1
    return 2 if name in ("*/*", "*") else None
