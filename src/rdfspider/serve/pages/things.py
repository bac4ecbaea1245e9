"""The things of a class as a file to keep: CSV, Excel or Parquet with one row each, as `rdfspider export` writes them."""

import io
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import islice

from rdfspider.errors import UsageError
from rdfspider.search.name_lookup import Choice
from rdfspider.search.tables import has_xlsx, open_table
from rdfspider.serve.rendering import make_address
from rdfspider.serve.replies import PageReply, PageRequest, Parameter, SitePage
from rdfspider.vocabulary.names import find_short_name

MAX_ROWS = 10_000
"""More are for `rdfspider export`, which needs no memory for them."""
_MAX_COLUMNS_CHARS = 4_000


def show_things(request: PageRequest) -> PageReply:
    """Offer the things of a class as a table; a browser that asks for a page gets the page of the class."""
    name = request.get("type")
    if not name:
        raise UsageError("say which class: type=schema:Person, or a whole IRI")
    if request.format == "html":
        return PageReply("", redirect=make_address("/class", iri=name))
    file_name = "".join(sign for sign in find_short_name(name) if sign.isascii() and sign.isalnum()) or "things"
    return PageReply(
        "",
        documents={kind: partial(_write_table, request, name, kind) for kind in ("csv", "xlsx", "parquet")},
        headers={"Content-Disposition": f'attachment; filename="{file_name}.{request.format}"'},
    )


def list_downloads(name: str, site: str = "") -> list[tuple[str, str]]:
    """The formats of such a table and their addresses; without Excel where its library is not installed."""
    formats: dict[str, Callable[[], bool]] = {"csv": lambda: True, "xlsx": has_xlsx, "parquet": lambda: True}
    titles = {"csv": "CSV", "xlsx": "Excel", "parquet": "Parquet"}
    return [
        (titles[kind], make_address(f"/things.{kind}", type=name, site=site)) for kind, has in formats.items() if has()
    ]


def _write_table(request: PageRequest, name: str, file_format: str) -> bytes:
    columns = request.get("columns")[:_MAX_COLUMNS_CHARS].split(",") if request.get("columns") else []
    choice = Choice(type=name, site=request.get("site") or None)
    out = io.BytesIO()
    with closing(request.site.indexes.read_things(choice, columns)) as rows:
        heads = next(rows)
        with open_table(file_format, out, [head or "" for head in heads]) as write:
            for row in islice(rows, MAX_ROWS):
                if request.cancel.is_set():
                    break
                write(row)
    return out.getvalue()


PAGES = (
    SitePage(
        "/things",
        show_things,
        f"The things of a class as a table, one row each, at most {MAX_ROWS:,}.",
        (
            Parameter("type", "A class: an IRI, or a name such as schema:Person.", is_required=True),
            Parameter("columns", "Properties or paths of them, with commas between: name,offers.price."),
            Parameter("site", "Only what pages of this site state."),
        ),
        formats=("html", "csv", "xlsx", "parquet"),
        is_heavy=True,
    ),
)
