"""A View in, a response out, in the format that was asked for by the suffix of the path or by Accept."""

import csv
import io
from collections.abc import Mapping, Sequence

import msgspec
import pyoxigraph
from pyoxigraph import RdfFormat, Triple
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from rdfspider.errors import UsageError
from rdfspider.formats import PREFIXES
from rdfspider.serve.offers import get_accept, rank_offers, read_accept
from rdfspider.serve.views import Ask, View

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "nq": "application/n-quads",
    "ttl": "text/turtle; charset=utf-8",
}
"""By the suffix of a path. HTML has none."""
MAX_OUTPUT_BYTES = 64 << 20
# Programs that open such files take these for formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def split_suffix(path: str) -> tuple[str, str]:
    """A path without its suffix, and the format that it stands for; empty where there is none."""
    head, dot, suffix = path.rpartition(".")
    return (head, suffix) if dot and suffix in MEDIA_TYPES and "/" not in suffix else (path, "")


def choose_format(accept: str, formats: Sequence[str]) -> str:
    """The format that a header Accept likes best; of equals the first that the page has. Empty where it likes none."""
    offers = rank_offers(accept, {MEDIA_TYPES[name].partition(";")[0]: name for name in formats})
    return offers[0].format if offers else ""


def make_response(ask: Ask, view: View) -> Response:
    """The View as it was asked for."""
    if view.redirect:
        response: Response = RedirectResponse(view.redirect, status_code=303)
    elif ask.format == "html":
        text = ask.site.render(view.template, {**view.context, "ask": ask})
        response = Response(text, view.status, media_type=MEDIA_TYPES["html"])
        if ask.csrf and ask.csrf in text:
            # Whoever sits there next has no use for what its forms carry.
            response.headers["Cache-Control"] = "private, no-store"
    else:
        response = Response(_write(ask.format, view), view.status, media_type=MEDIA_TYPES[ask.format])
    response.headers.update(view.headers)
    for name, value in view.cookies.items():
        if value is None:
            response.delete_cookie(name, secure=ask.is_secure, httponly=True, samesite="strict")
        else:
            response.set_cookie(
                name, value, secure=ask.is_secure, httponly=True, samesite="strict", max_age=30 * 86_400
            )
    return response


def make_refusal(request: Request, status: int, message: str) -> Response:
    """What is wrong in one sentence, where no page is shown: as JSON for whoever names that, else as plain text."""
    if any(name == "application/json" and quality > 0 for name, quality in read_accept(get_accept(request))):
        return JSONResponse({"error": message}, status)
    return PlainTextResponse(f"{message}\n", status)


def write_json(data: object) -> bytes:
    """Plain JSON of dictionaries, lists, dataclasses and Structs."""
    return msgspec.json.encode(data, enc_hook=_encode_other)


def write_csv(heads: Sequence[str], rows: object) -> bytes:
    """CSV as RFC 4180 has it; what spreadsheets would take for a formula begins with an apostrophe."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(heads)
    for row in rows:  # type: ignore[attr-defined]
        writer.writerow([_disarm(cell) for cell in row])
    return out.getvalue().encode("utf-8", "replace")


def write_turtle(nquads: bytes, prefixes: Mapping[str, str] = PREFIXES) -> bytes:
    """The triples of N-Quads as Turtle; in which graphs they are is left out, and each is there once."""
    quads = pyoxigraph.parse(nquads, RdfFormat.N_QUADS)
    triples = dict.fromkeys(Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
    return pyoxigraph.serialize(triples, format=RdfFormat.TURTLE, prefixes=dict(prefixes)) or b""


def _write(format_name: str, view: View) -> bytes:
    if format_name == "json" and view.data:
        body = write_json(view.data())
    elif format_name == "csv" and view.table:
        table = view.table()
        body = write_csv(table.heads, table.rows)
    elif format_name == "nq" and view.nquads:
        body = view.nquads()
    elif format_name == "ttl" and view.nquads:
        body = write_turtle(view.nquads())
    else:
        raise UsageError(f"this page is not there as {format_name}")
    if len(body) > MAX_OUTPUT_BYTES:
        raise UsageError(
            f"that would be {len(body):,} bytes, and {MAX_OUTPUT_BYTES:,} are sent: ask for less, or export it"
        )
    return body


def _disarm(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _encode_other(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(type(value))
