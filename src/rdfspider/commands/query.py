"""`rdfspider query` and `export`: SPARQL over the crawled data, as a table or in other formats; and all data as one file."""

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from rdfspider.api import Crawl
from rdfspider.commands.options import Folder
from rdfspider.commands.terminal import say
from rdfspider.crawl.summary import clean_text
from rdfspider.errors import UsageError
from rdfspider.formats import RDF_FORMATS, RESULT_FORMATS, ExportFormat, SeveralValues
from rdfspider.vocabulary.names import shorten_iri

if TYPE_CHECKING:
    from rdfspider.results import QueryAnswer
    from rdfspider.search.export import Exported
    from rdfspider.search.rows import Rows

TABLE = "table"
_GAP = "  "
# The first rows, this many, determine the column widths.
_MEASURED_ROWS = 1_000
_NARROWEST = 8
# The widest column; a terminal may narrow it further.
_WIDEST = 200
# Values of --graph that no URL can match: formats of the link graph.
_GRAPH_FORMATS = frozenset({"bv", "edges", "parquet", "hosts"})
_LOCAL_NAME = re.compile(r"[\w\-.]+")


def query(
    text: Annotated[
        str | None, typer.Argument(metavar="SPARQL", help="SELECT, ASK, CONSTRUCT or DESCRIBE.", show_default=False)
    ] = None,
    *,
    folder: Folder,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="table|json|xml|csv|tsv|turtle|ntriples|rdfxml|jsonld",
            help="By default a table on a terminal, else csv; turtle for CONSTRUCT and DESCRIBE.",
        ),
    ] = None,
    timeout_s: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.1, help="Give it up after so many seconds.")
    ] = 30.0,
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="Print at most so many rows or triples.")] = 100_000,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the query from a file; - is stdin.", show_default=False)
    ] = None,
) -> None:
    """Ask in SPARQL what was found; the usual prefixes are declared."""
    # Not at the top: they import the indexes, which other commands do not need.
    from rdfspider.results import QueryLimits
    from rdfspider.search.indexes import Indexes

    asked = _read_query(text, file)
    file_format = file_format or (TABLE if sys.stdout.isatty() else "")
    formats = _choose_formats(file_format)
    crawl = Crawl.open(folder)
    with Indexes(crawl.folder, workers=1, has_spare=False) as indexes:
        answer = indexes.ask(asked, formats=formats, limits=QueryLimits(timeout_s=timeout_s, rows=rows))
    _print_answer(answer, file_format == TABLE)
    if answer.is_truncated:
        say(f"there is more than is printed here: --rows {rows} was reached, or the limit of bytes")


def write_table(rows: "Rows", width: int | None) -> Iterator[str]:
    """The lines of a table, fitted to the width of a terminal if there is one."""
    lines = ([_show_value(value) for value in row] for row in rows)
    head = [clean_text(name) for name in rows.variables]
    measured = [line for _, line in zip(range(_MEASURED_ROWS), lines, strict=False)]
    widths = [min(_WIDEST, max(map(cell_len, column))) for column in zip(head, *measured, strict=True)]
    while width and sum(widths) + len(_GAP) * (len(widths) - 1) > width and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    yield _join_cells(head, widths)
    yield _join_cells(["─" * size for size in widths], widths)
    for line in measured:
        yield _join_cells(line, widths)
    for line in lines:
        yield _join_cells(line, widths)


def _read_query(text: str | None, file: Path | None) -> str:
    if (text is None) == (file is None):
        raise UsageError("give either a query or --file FILE")
    if text is not None or file is None:
        return text or ""
    try:
        return sys.stdin.buffer.read().decode() if str(file) == "-" else file.read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not text in UTF-8") from None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error


def _choose_formats(file_format: str) -> tuple[str, ...]:
    """The formats to request: the one for rows before the one for triples."""
    if not file_format:
        return ("csv", "turtle")
    if file_format == TABLE:
        return ("json", "turtle")
    known = (*RESULT_FORMATS, *RDF_FORMATS)
    if file_format not in known:
        raise UsageError(f"there is no format {file_format!r}: choose {TABLE}, {', '.join(known)}")
    return (file_format,)


def _print_answer(answer: "QueryAnswer", is_table: bool) -> None:
    from rdfspider.results import AnswerKind
    from rdfspider.search.rows import read_rows

    if is_table and answer.kind == AnswerKind.BOOLEAN:
        typer.echo("true" if b"true" in answer.body else "false")
    elif is_table and answer.kind == AnswerKind.ROWS:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        for line in write_table(read_rows(answer.body), width):
            typer.echo(line)
    else:
        body = _clean_document(answer.body) if sys.stdout.isatty() else answer.body
        sys.stdout.buffer.write(body)
        if not body.endswith(b"\n"):
            sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


def _clean_document(body: bytes) -> bytes:
    """Remove characters that a terminal must not receive; lines and columns stay."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n")
    return "\n".join("\t".join(map(clean_text, line.split("\t"))) for line in text.split("\n")).encode()


def _show_value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return clean_text(_shorten_iri(str(value)))


def _shorten_iri(text: str) -> str:
    """Write `schema:Person` if SPARQL reads that as the same IRI."""
    name = shorten_iri(text) if text.startswith("http") else text
    return name if _LOCAL_NAME.fullmatch(name.partition(":")[2]) else text


def _join_cells(cells: list[str], widths: list[int]) -> str:
    shown = (
        set_cell_size(cell, size) if cell_len(cell) <= size else f"{set_cell_size(cell, size - 1)}…"
        for cell, size in zip(cells, widths, strict=True)
    )
    return _GAP.join(shown).rstrip()


def export(
    *,
    folder: Folder,
    file_format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="By default what the file's name ends with, or nquads.", show_default=False),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="CLASS",
            help="Only things of a class or one below it: Person, schema:Person or an IRI; may be repeated.",
        ),
    ] = None,
    site: Annotated[
        str | None, typer.Option(metavar="HOST", help="Only pages of a host, or of a domain and the hosts below it.")
    ] = None,
    ontologies: Annotated[
        list[str] | None,
        typer.Option(
            "--ontology",
            metavar="PREFIX|IRI",
            help="Only things that use classes or properties of an ontology; may be repeated.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,…",
            help="One row a thing, with these columns: properties or paths of them, such as name,offers.price, and id, type, "
            "page. By default, for csv and xlsx, what things of the class usually have.",
        ),
    ] = None,
    several: Annotated[
        SeveralValues,
        typer.Option(help="Several values of a column: joined in one cell, or in several rows.", show_default=False),
    ] = SeveralValues.JOIN,
    separator: Annotated[str, typer.Option(metavar="TEXT", help="What is between joined values.")] = " | ",
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME", help="Only statements with a property; may be repeated."),
    ] = None,
    without_properties: Annotated[
        list[str] | None,
        typer.Option("--without-property", metavar="NAME", help="No statements with a property; may be repeated."),
    ] = None,
    syntaxes: Annotated[
        list[str] | None,
        typer.Option("--syntax", metavar="NAME", help="Only statements in a syntax: jsonld, rdfa, …; may be repeated."),
    ] = None,
    without_syntaxes: Annotated[
        list[str] | None,
        typer.Option("--without-syntax", metavar="NAME", help="No statements that only such a syntax has."),
    ] = None,
    graphs: Annotated[
        list[str] | None,
        typer.Option(
            "--graph",
            metavar="PATTERN|bv|edges|parquet|hosts",
            help="Only pages whose URL matches, * is anything; may be repeated. Or, instead of what pages say, the graph "
            "of their links: in WebGraph's format, as lines, as a table, or of hosts.",
        ),
    ] = None,
    without_graphs: Annotated[
        list[str] | None,
        typer.Option("--without-graph", metavar="PATTERN", help="No pages whose URL matches; may be repeated."),
    ] = None,
    canonical: Annotated[
        bool, typer.Option("--canonical", help="Write one IRI for things that were found to be one.")
    ] = False,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to; - is stdout. Compressed where its name ends with .gz, .bz2, .xz or .zst.",
        ),
    ] = "-",
) -> None:
    """Write what pages say to a file: quads, or a table of things."""
    crawl = Crawl.open(folder)
    path = None if output == "-" else Path(output)
    if graphs and (names := _GRAPH_FORMATS.intersection(graphs)):
        filters = (file_format, types, site, ontologies, columns, properties, without_properties, syntaxes)
        if len(graphs) > 1 or any(filters) or without_syntaxes or without_graphs or canonical:
            raise UsageError(f"--graph {min(names)} writes the whole graph of links: leave out all flags but --output")
        _export_graph(crawl, graphs[0], path)
        return
    if path is None and file_format in (ExportFormat.PARQUET, ExportFormat.XLSX) and sys.stdout.isatty():
        raise UsageError(f"{file_format} is not for a terminal: name a file with --output, or redirect stdout")
    with _show_progress() as on_page:
        exported = crawl.export(
            path,
            format=file_format.value if file_format else None,
            type=types or (),
            site=site,
            ontology=ontologies or (),
            columns=None if columns is None else [name for part in columns for name in part.split(",")],
            several=several.value,
            separator=separator,
            property=properties,
            without_property=without_properties,
            syntax=syntaxes,
            without_syntax=without_syntaxes,
            graph=graphs,
            without_graph=without_graphs,
            canonical=canonical,
            on_page=on_page,
        )
    if path is not None:
        say(f"{path}: {_count_exported(exported)}")
    elif not (exported.pages or exported.rows):
        say("no page says anything like that")


def _export_graph(crawl: Crawl, name: str, path: Path | None) -> None:
    if path is None and name == "parquet" and sys.stdout.isatty():
        raise UsageError("parquet is not for a terminal: name a file with --output, or redirect stdout")
    exported = crawl.graph().export(path, name)
    if exported.files:
        nodes = "hosts" if name == "hosts" else "pages"
        written = ", ".join(map(str, exported.files))
        say(f"{written}: {exported.links:,} links of {exported.nodes:,} {nodes}")


def _count_exported(exported: "Exported") -> str:
    if exported.rows is not None:
        return f"{exported.rows:,} rows"
    return f"{exported.quads:,} quads of {exported.pages:,} pages"


@contextmanager
def _show_progress() -> "Iterator[Callable[[Exported], None]]":
    """A progress bar if stderr is a terminal; the export reports its pages to it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda exported: None
        return
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)

        def show(exported: "Exported") -> None:
            progress.update(
                task,
                completed=exported.pages,
                total=exported.pages_expected,
                description=_count_exported(exported),
            )

        yield show
