"""`rdfspider export`: what the pages of a crawl say, or a part of it, as one file."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from rdfspider.api import Crawl
from rdfspider.commands.options import Folder
from rdfspider.commands.terminal import say
from rdfspider.errors import UsageError

if TYPE_CHECKING:
    from rdfspider.search.export import Exported


class ExportFormat(StrEnum):
    """The formats that can be written."""

    nquads = "nquads"
    trig = "trig"
    parquet = "parquet"
    jsonl = "jsonl"


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
    """Write what the pages of a crawl say, or a part of it, to a file."""
    crawl = Crawl.open(folder)
    path = None if output == "-" else Path(output)
    if path is None and file_format is ExportFormat.parquet and sys.stdout.isatty():
        raise UsageError("parquet is not for a terminal: name a file with --output, or redirect stdout")
    with _show_progress() as on_page:
        exported = crawl.export(
            path,
            format=file_format.value if file_format else None,
            type=types or (),
            site=site,
            ontology=ontologies or (),
            on_page=on_page,
        )
    if path is not None:
        say(f"{path}: {exported.quads:,} quads of {exported.pages:,} pages")
    elif not exported.pages:
        say("no page says anything like that")


@contextmanager
def _show_progress() -> "Iterator[Callable[[Exported], None]]":
    """A bar on stderr where that is a terminal; pages are told by whoever writes them."""
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
                description=f"{exported.pages:,} pages, {exported.quads:,} quads",
            )

        yield show
