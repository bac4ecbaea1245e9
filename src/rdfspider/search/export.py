"""Export: the statements of pages enter; one document leaves, as N-Quads, TriG, Parquet or JSON with one entity per line.

It is written page by page: only a page, or a row group of Parquet, is in memory.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Store

from rdfspider.batch.output import COMPRESSED
from rdfspider.errors import UsageError
from rdfspider.formats import COLUMNS, FRAMES, TABLES, ExportFormat, find_format, open_parquet, page_fragment, to_arrow
from rdfspider.index.quads.described import find_time
from rdfspider.index.quads.selection import PageQuads, Selection, read_pages
from rdfspider.search.canonical_names import CanonicalNames
from rdfspider.search.documents import open_document, split_endings
from rdfspider.search.syntax_filter import SyntaxFilter
from rdfspider.search.tables import check_xlsx, open_table
from rdfspider.search.things import Row
from rdfspider.vocabulary.labels import RDF_TYPE
from rdfspider.vocabulary.prefixes import XSD

FindTime = Callable[[str], float]
"""Returns when a page was fetched, in seconds since 1970; 0 if unknown."""
Record = dict[str, Any]

_XSD_STRING = f"{XSD}string"
# JSON parsers limit nesting; hand-written data is rarely deeper than five.
_DEPTH = 20


@dataclass(slots=True)
class Exported:
    """How much has been written."""

    pages: int = 0
    quads: int = 0
    pages_expected: int | None = None
    """About how many there will be; None if unknown."""
    rows: int | None = None
    """Rows of a table with one row a thing, which counts no pages and quads; None for other exports."""


def write_export(
    pages: Iterable[PageQuads],
    file_format: str,
    stream: BinaryIO,
    find_time: FindTime,
    on_page: Callable[[Exported], None] = lambda exported: None,
    pages_expected: int | None = None,
) -> Exported:
    """Write all pages; call `on_page` after each."""
    exported = Exported(pages_expected=pages_expected)
    with _open_writer(file_format, stream, find_time) as write:
        for page in pages:
            write(page)
            exported.pages += 1
            exported.quads += page.nquads.count(b"\n")
            on_page(exported)
    return exported


@contextmanager
def _open_writer(file_format: str, stream: BinaryIO, find_time: FindTime) -> Iterator[Callable[[PageQuads], object]]:
    if file_format == ExportFormat.PARQUET:
        with _open_parquet(stream, find_time) as write:
            yield write
    elif file_format == ExportFormat.JSONL:
        yield lambda page: stream.write(_write_things(page, find_time(page.graph)))
    elif file_format == ExportFormat.TRIG:
        stream.write(FRAMES[file_format].start.encode())
        yield lambda page: stream.write(page_fragment({"": page.nquads.decode()}, file_format))
    else:
        yield lambda page: stream.write(page.nquads)


def _write_things(page: PageQuads, fetched: float) -> bytes:
    head = {"page": page.graph, "fetched": _write_time(fetched)}
    lines = []
    for thing in group_things(page.nquads, page.things):
        properties = thing.pop("properties")
        lines.append(msgspec.json.encode({**thing, **head, "properties": properties}))
    return b"".join(line + b"\n" for line in lines)


def _write_time(fetched: float) -> str | None:
    return datetime.fromtimestamp(fetched, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if fetched else None


@contextmanager
def _open_parquet(stream: BinaryIO, find_time: FindTime) -> Iterator[Callable[[PageQuads], object]]:
    import pyarrow

    time_type = pyarrow.timestamp("us", tz="UTC")
    names = [name for name in COLUMNS if name != "syntax"]
    schema = pyarrow.schema([*((name, pyarrow.string()) for name in names), ("fetched", time_type)])
    with open_parquet(stream, schema) as write_table:

        def write(page: PageQuads) -> None:
            table = to_arrow({"": page.nquads.decode()}).select(names)
            fetched = find_time(page.graph)
            moment = pyarrow.scalar(int(fetched * 1e6) if fetched else None, time_type)
            write_table(table.append_column("fetched", pyarrow.repeat(moment, table.num_rows)), len(page.nquads))

        yield write


def group_things(nquads: bytes, chosen: Collection[str] = ()) -> Iterator[Record]:
    """Yield records {"id", "types", "properties": {IRI: [value, …]}}; those in `chosen` are never nested in others."""
    subjects: dict[str, list[tuple[str, Any]]] = {}
    mentions: Counter[str] = Counter()
    for quad in pyoxigraph.parse(nquads, RdfFormat.N_QUADS):
        subjects.setdefault(str(quad.subject), []).append((quad.predicate.value, quad.object))
        if isinstance(quad.object, BlankNode):
            mentions[str(quad.object)] += 1
    apart = [node for node in subjects if node[0] != "_" or mentions[node] != 1 or node in chosen]
    written: set[str] = set(apart)
    for node in apart:
        yield _make_record(node, subjects, written, _DEPTH)
    # The rest was nested too deeply, or belongs to a cycle.
    for node in subjects:
        if node not in written:
            written.add(node)
            yield _make_record(node, subjects, written, _DEPTH)


def _make_record(node: str, subjects: dict[str, list[tuple[str, Any]]], written: set[str], depth: int) -> Record:
    types: list[str] = []
    properties: dict[str, list[Record]] = {}
    for predicate, value in subjects[node]:
        if predicate == RDF_TYPE and isinstance(value, NamedNode):
            types.append(value.value)
        else:
            properties.setdefault(predicate, []).append(_make_value(value, subjects, written, depth - 1))
    return {"id": _write_id(node), "types": types, "properties": properties}


def _make_value(value: Any, subjects: dict[str, list[tuple[str, Any]]], written: set[str], depth: int) -> Record:
    if isinstance(value, Literal):
        if value.language:
            return {"value": value.value, "language": value.language}
        if value.datatype.value != _XSD_STRING:
            return {"value": value.value, "datatype": value.datatype.value}
        return {"value": value.value}
    node = str(value)
    if node not in subjects or node in written or not isinstance(value, BlankNode) or depth <= 0:
        return {"id": _write_id(node)}
    written.add(node)
    return _make_record(node, subjects, written, depth)


def _write_id(node: str) -> str:
    return node[1:-1] if node[0] == "<" else node


def choose_format(path: Path | None, asked: str | None, *, tables: bool = False) -> str:
    """Return the requested format, or the one of the file's suffix; N-Quads for stdout, CSV for `tables`."""
    ending, inner = split_endings(path)
    named = find_format(inner, ExportFormat)
    if asked is not None and asked not in list(ExportFormat):
        raise UsageError(f"--format: {asked!r} is not one of {', '.join(ExportFormat)}")
    if asked is None and path is not None and named is None:
        raise UsageError(f"{path}: its ending tells no format; name one with --format: {', '.join(ExportFormat)}")
    file_format = asked or named or (ExportFormat.CSV if tables else ExportFormat.NQUADS)
    if file_format in (ExportFormat.PARQUET, ExportFormat.XLSX) and ending in COMPRESSED:
        raise UsageError(f"{path}: {file_format} is compressed inside; leave {ending} out")
    if tables and file_format not in (*TABLES, ExportFormat.PARQUET):
        raise UsageError(f"{file_format} has no rows: a table is csv, xlsx or parquet")
    if not tables and file_format in TABLES:
        raise UsageError(f"{file_format} has one row a thing: name columns, or a class with --type")
    if file_format == ExportFormat.XLSX:
        check_xlsx()
    return file_format


def has_things(path: Path | None, asked: str | None) -> bool:
    """Return whether the format always has one row a thing."""
    return (asked or find_format(split_endings(path)[1], ExportFormat)) in TABLES


def export_pages(
    store: Store,
    selection: Selection,
    path: Path | None,
    file_format: str,
    on_page: Callable[[Exported], None] = lambda exported: None,
    pages_expected: int | None = None,
    syntaxes: SyntaxFilter | None = None,
    names: CanonicalNames | None = None,
) -> Exported:
    """Write the selected quads to a file that appears when it is complete; without a path, to stdout."""
    pages = read_pages(store, selection)
    if syntaxes is not None:
        pages = (kept for page in pages if (kept := syntaxes.keep(page)).nquads)
    if names is not None:
        pages = map(names.rewrite, pages)
    with open_document(path) as stream:
        return write_export(pages, file_format, stream, partial(find_time, store), on_page, pages_expected)


def export_table(
    rows: Iterator[Row], path: Path | None, file_format: str, on_page: Callable[[Exported], None]
) -> Exported:
    """Write a table, whose first row has the names of its columns, in the same way."""
    exported = Exported(rows=0)
    heads = next(rows)
    with open_document(path) as stream, open_table(file_format, stream, [head or "" for head in heads]) as write:
        for row in rows:
            write(row)
            exported.rows = (exported.rows or 0) + 1
            on_page(exported)
    return exported
