"""Convert N-Quads to other RDF formats, for an Extraction and the command line.

A document of many pages is the `page_fragment` of each, with the prefixes, brackets and commas of `FRAMES` around them. Names
of blank nodes derive from the page's URL, so those of different pages do not clash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar

import pyoxigraph
from pyoxigraph import QueryResultsFormat, RdfFormat

from rdfspider.errors import UsageError
from rdfspider.vocabulary.prefixes import RDF, TURTLE_PREFIXES, XSD
from rdfspider.vocabulary.terms import unescape

if TYPE_CHECKING:
    from pyoxigraph import Quad, Triple

COLUMNS = ("subject", "predicate", "object", "object_kind", "datatype", "language", "graph", "syntax")
"""The columns of a table of quads; `object_kind` is iri, blank or literal."""

RDF_FORMATS = {
    "turtle": RdfFormat.TURTLE,
    "ntriples": RdfFormat.N_TRIPLES,
    "rdfxml": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
}
"""The formats of documents without names of graphs."""
RESULT_FORMATS = {
    "json": QueryResultsFormat.JSON,
    "xml": QueryResultsFormat.XML,
    "csv": QueryResultsFormat.CSV,
    "tsv": QueryResultsFormat.TSV,
}
"""The formats of SPARQL results: rows, or a truth value."""


class ExtractFormat(StrEnum):
    """The formats that `rdfspider extract` writes."""

    NQUADS = "nquads"
    TURTLE = "turtle"
    TRIG = "trig"
    JSONLD = "jsonld"
    PARQUET = "parquet"


class ExportFormat(StrEnum):
    """The formats that `rdfspider export` writes."""

    NQUADS = "nquads"
    TRIG = "trig"
    PARQUET = "parquet"
    JSONL = "jsonl"
    CSV = "csv"
    XLSX = "xlsx"


class SeveralValues(StrEnum):
    """What becomes of several values of a thing's property in a table."""

    JOIN = "join"
    """They are joined in one cell."""
    ROWS = "rows"
    """The thing gets several rows: the second value is in the second row, and columns with a single value repeat it."""


TABLES = (ExportFormat.CSV, ExportFormat.XLSX)
"""The formats of exports that always have one row a thing."""
SUFFIXES: Mapping[str, tuple[str, ...]] = {
    ExtractFormat.NQUADS: (".nq", ".nquads"),
    ExtractFormat.TURTLE: (".ttl",),
    ExtractFormat.TRIG: (".trig",),
    ExtractFormat.JSONLD: (".jsonld",),
    ExtractFormat.PARQUET: (".parquet",),
    ExportFormat.JSONL: (".jsonl", ".ndjson"),
    ExportFormat.CSV: (".csv",),
    ExportFormat.XLSX: (".xlsx",),
}
"""The suffixes of files by their format."""
_Format = TypeVar("_Format", ExtractFormat, ExportFormat)
# Spreadsheets treat cells that begin with these as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
# Limits of a Parquet row group.
_GROUP_ROWS = 100_000
_GROUP_BYTES = 64 * 1024 * 1024
_XSD_STRING = f"{XSD}string"
_LANG_STRING = f"{RDF}langString"
_LINE = re.compile(
    r'(<[^>]*>|_:\S+) (<[^>]*>) (?:(<[^>]*>|_:\S+)|"([^"\\]*(?:\\.[^"\\]*)*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(<[^>]*>))?)'
    r"(?: (<[^>]*>|_:\S+))? \.\n"
)
# Oxigraph writes one line per prefix before everything else. Text that looks like a prefix does no harm.
_PREFIXES = re.compile(rb"(?:@prefix [^\n]*\n)+")
_PREFIX = re.compile(rb"@prefix ([^:]*): [^\n]*\n")
_USED_PREFIX = re.compile(rb"[\s(^]([a-z0-9]*+):(?!//)")


class Frame(NamedTuple):
    """The text before, between and after the pages of a document."""

    start: str = ""
    between: str = ""
    end: str = ""


_PREFIX_LINES = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in TURTLE_PREFIXES.items())
FRAMES: Mapping[str, Frame] = {
    ExtractFormat.NQUADS: Frame(),
    ExtractFormat.TURTLE: Frame(_PREFIX_LINES),
    ExtractFormat.TRIG: Frame(_PREFIX_LINES),
    ExtractFormat.JSONLD: Frame("[", ",\n", "]\n"),
}
"""The text formats, to which pages can be appended; `parquet` is the only other one."""


def disarm_formula(cell: object) -> object:
    """Return the cell of a table; text that spreadsheets would treat as a formula gets a leading apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def find_format(suffix: str, formats: type[_Format]) -> _Format | None:
    """Return the one of the formats whose files have that suffix, which is in lower case; None if none has."""
    return next((one for one in formats if suffix in SUFFIXES[one]), None)


def to_quads(nquads: str) -> list[Quad]:
    """Parse N-Quads."""
    return list(pyoxigraph.parse(nquads, RdfFormat.N_QUADS))


def merge_nquads(parts: Iterable[str]) -> str:
    """Merge N-Quads texts: every line once, in order of appearance."""
    texts = [part for part in parts if part]
    if len(texts) < 2:
        return texts[0] if texts else ""
    return "\n".join(dict.fromkeys("".join(texts).split("\n")))


def to_turtle(nquads: str) -> str:
    """Convert N-Quads to Turtle, without the names of graphs."""
    return FRAMES[ExtractFormat.TURTLE].start + _turtle_body(nquads)


def to_trig(nquads: str) -> str:
    """Convert N-Quads to TriG."""
    return FRAMES[ExtractFormat.TRIG].start + _trig_body(nquads)


def to_jsonld(nquads: str) -> str:
    """Convert N-Quads to expanded JSON-LD: an array with one object per graph."""
    return _serialize(to_quads(nquads), RdfFormat.JSON_LD)


def to_rdflib(nquads: str) -> Any:
    """Convert N-Quads to an `rdflib.Dataset` with the same blank node labels and literals."""
    try:
        import rdflib
        from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
    except ImportError as error:
        raise UsageError("rdflib is not installed: pip install 'rdfspider[rdflib]'") from error

    def term(node: Any) -> Any:
        if isinstance(node, pyoxigraph.NamedNode):
            return rdflib.URIRef(node.value)
        if isinstance(node, pyoxigraph.BlankNode):
            return rdflib.BNode(node.value)
        plain = node.language or node.datatype.value == _XSD_STRING
        datatype = None if plain else rdflib.URIRef(node.datatype.value)
        return rdflib.Literal(node.value, lang=node.language, datatype=datatype, normalize=False)

    dataset = rdflib.Dataset()
    for quad in to_quads(nquads):
        is_default = isinstance(quad.graph_name, pyoxigraph.DefaultGraph)
        graph = dataset.graph(DATASET_DEFAULT_GRAPH_ID if is_default else term(quad.graph_name))
        graph.add((term(quad.subject), term(quad.predicate), term(quad.object)))
    return dataset


def to_arrow(statements: Mapping[str, str]) -> Any:
    """Convert the N-Quads of each syntax to a `pyarrow.Table` with `COLUMNS`."""
    import pyarrow

    rows = [_make_row(match, syntax) for syntax, nquads in statements.items() for match in _LINE.findall(nquads)]
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    return pyarrow.table([pyarrow.array(column, pyarrow.string()) for column in columns], names=COLUMNS)


@contextmanager
def open_parquet(stream: BinaryIO, schema: Any) -> Iterator[Callable[[Any, int], None]]:
    """Open a Parquet file; yield a function that writes one `pyarrow.Table`, given its approximate size in bytes.
    Tables are joined to row groups that are large enough to compress well and small enough for memory."""
    import pyarrow
    from pyarrow import parquet

    waiting: list[Any] = []
    waiting_rows = waiting_bytes = 0

    def flush() -> None:
        nonlocal waiting_rows, waiting_bytes
        if waiting:
            writer.write_table(pyarrow.concat_tables(waiting), row_group_size=_GROUP_ROWS)
        waiting.clear()
        waiting_rows = waiting_bytes = 0

    def write(table: Any, table_bytes: int) -> None:
        nonlocal waiting_rows, waiting_bytes
        waiting.append(table)
        waiting_rows += table.num_rows
        waiting_bytes += table_bytes
        if waiting_bytes >= _GROUP_BYTES or waiting_rows >= _GROUP_ROWS:
            flush()

    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        yield write
        flush()


def page_fragment(statements: Mapping[str, str], file_format: str) -> bytes:
    """Return one page's part of a document; empty for a page without statements."""
    if not any(statements.values()):
        return b""
    if file_format == ExtractFormat.PARQUET:
        return _arrow_bytes(to_arrow(statements))
    nquads = merge_nquads(statements.values())
    if file_format == ExtractFormat.TURTLE:
        return _turtle_body(nquads).encode()
    if file_format == ExtractFormat.TRIG:
        return _trig_body(nquads).encode()
    if file_format == ExtractFormat.JSONLD:
        return to_jsonld(nquads).strip()[1:-1].encode()
    return nquads.encode()


def _turtle_body(nquads: str) -> str:
    triples = dict.fromkeys(quad.triple for quad in to_quads(nquads))
    return _without_prefixes(_serialize(triples, RdfFormat.TURTLE))


def _trig_body(nquads: str) -> str:
    return _without_prefixes(_serialize(to_quads(nquads), RdfFormat.TRIG))


def _serialize(statements: Iterable[Quad] | Iterable[Triple], rdf_format: RdfFormat) -> str:
    prefixes = TURTLE_PREFIXES if rdf_format != RdfFormat.JSON_LD else None
    return (pyoxigraph.serialize(statements, format=rdf_format, prefixes=prefixes) or b"").decode()


def _without_prefixes(text: str) -> str:
    """Remove the prefix lines, which a document has once, in its Frame; the result ends with a line break."""
    start = 0
    while text.startswith("@prefix ", start):
        start = text.index("\n", start) + 1
    return text[start:].rstrip("\n") + "\n" if len(text) > start else ""


def _make_row(match: tuple[str, ...], syntax: str) -> tuple[str | None, ...]:
    subject, predicate, resource, text, language, datatype, graph = (unescape(term) for term in match)
    if resource:
        kind = "iri" if resource[0] == "<" else "blank"
        end: tuple[str | None, ...] = (_bare(resource), kind, None, None)
    elif language:
        end = (text, "literal", _LANG_STRING, language)
    else:
        end = (text, "literal", datatype[1:-1] or _XSD_STRING, None)
    return (_bare(subject), predicate[1:-1], *end, _bare(graph) or None, syntax)


def _bare(term: str) -> str:
    """Return an IRI without its brackets; a blank node keeps its `_:`, which distinguishes it from an IRI."""
    return term[1:-1] if term[:1] == "<" else term


def _arrow_bytes(table: Any) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def drop_prefixes(turtle: bytes) -> bytes:
    """Remove declarations of unused prefixes from the beginning."""
    head = _PREFIXES.match(turtle)
    if head is None:
        return turtle
    used = set(_USED_PREFIX.findall(turtle, head.end() - 1))
    return b"".join(line[0] for line in _PREFIX.finditer(head[0]) if line[1] in used) + turtle[head.end() :]
