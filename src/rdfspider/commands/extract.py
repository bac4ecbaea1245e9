"""`rdfspider extract`: pages from files and archives enter, their statements leave."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from rdfspider.archive.warc_file import Damage
from rdfspider.batch.counts import BatchStatistics
from rdfspider.batch.output import Write, open_output
from rdfspider.batch.sources import plan_parts
from rdfspider.batch.workers import PageResult, PartEnd, Work, run_parts
from rdfspider.commands import options
from rdfspider.commands.fetching import PageSource
from rdfspider.config import DocumentSource, ExtractConfig
from rdfspider.crawl.settings import count_cores
from rdfspider.errors import UsageError
from rdfspider.extract.installed_transforms import installed_transforms
from rdfspider.extract.transforms import load_transforms
from rdfspider.extract.xslt import load_stylesheets
from rdfspider.formats import ExtractFormat, find_format
from rdfspider.linked_documents import FolderDocuments, KeptDocuments
from rdfspider.pipeline import check_syntaxes
from rdfspider.urls import is_valid_iri

_COMPRESSED = frozenset({".gz", ".zst", ".bz2", ".xz", ".zip"})
_BASE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://[^/]|file:///|urn:.")
_TOP_NAMES = 10


def extract(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Files, folders (all that is in them but hidden files), patterns, WARC archives (.warc, .warc.gz, "
            ".warc.zst; their successful responses and resources), URLs of pages to fetch now, or - for a page on stdin.",
            show_default=False,
        ),
    ],
    file_format: Annotated[
        ExtractFormat | None,
        typer.Option("--format", help="What to write; by default what --output's name ends in, else nquads."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="The file to write; by default stdout.")] = None,
    syntax: Annotated[
        list[str] | None,
        typer.Option(help="Read these syntaxes only; may be repeated, or be a list with commas."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The URL of the file; the paths of several, from the folder that all are in, are relative to it. "
            "By default file: URLs. Not for archives, which have their own.",
        ),
    ] = None,
    content_type: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="The Content-Type of files, as a server would send it; by default detected."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Processes; by default one a core."),
    ] = None,
    stats: Annotated[
        bool,
        typer.Option(
            "--stats",
            help="Print a table of pages, quads, problems, types and properties. A quad that is stated in two syntaxes "
            "counts in both. Without --format and --output the table is all that is printed; else it goes to stderr "
            "where data goes to stdout.",
        ),
    ] = False,
    problems: Annotated[
        bool, typer.Option("--problems", help="List on stderr what was repaired, dropped or cut short in pages.")
    ] = False,
    keep_graphs: Annotated[
        bool, typer.Option("--keep-graphs", help="Keep the graph names that sources themselves give.")
    ] = False,
    about_page: Annotated[
        bool, typer.Option("--about-page", help="Also state pages' titles, languages, images and links as RDF.")
    ] = False,
    expand_vocabularies: Annotated[
        bool,
        typer.Option("--expand-vocabularies", help="Expand RDFa vocabularies; they come from --documents."),
    ] = False,
    processor_graph: Annotated[
        bool, typer.Option("--processor-graph", help="Also write RDFa's processor graph: its warnings and errors.")
    ] = False,
    grddl: Annotated[
        bool,
        typer.Option("--grddl", help="Apply the GRDDL transformations that pages name; they come from --documents."),
    ] = False,
    documents: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder of the contexts, vocabularies and transformations that pages refer to, as DIR/host/path, "
            "or the folder in which a crawl keeps them, CRAWL/documents.",
        ),
    ] = None,
    stylesheets: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of XSLT stylesheets for XML of your own."),
    ] = None,
    transforms: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file that names programs or functions for other media types."),
    ] = None,
    allow_private: options.AllowPrivate = None,
    resolve: options.Resolve = None,
    contact: options.Contact = None,
) -> None:
    """Write every statement that pages make, as RDF quads.

    They come in the order of the sources.
    """
    check_base(base)
    output = check_output(output, sources)
    if documents is not None and not documents.is_dir():
        raise UsageError(f"--documents {documents}: no such folder")
    config = ExtractConfig(
        syntaxes=check_syntaxes(_split_names(syntax)) if syntax else None,
        keep_graphs=keep_graphs,
        about_page=about_page,
        vocabulary_expansion=expand_vocabularies,
        processor_graph=processor_graph,
        grddl=grddl,
        documents=_open_documents(documents.absolute()) if documents else None,
        stylesheets=load_stylesheets(stylesheets) if stylesheets else (),
        transforms=(load_transforms(transforms) if transforms else ()) + installed_transforms(),
    )
    written = None if stats and file_format is None and output is None else _choose_format(file_format, output)
    fetching = PageSource(allow_private=allow_private, resolve=resolve, contact=contact)
    parts = plan_parts(sources, base=base, content_type=content_type, limit=config.max_body_bytes, fetch=fetching.fetch)
    work = Work(config, written, counts=stats)
    statistics = BatchStatistics()
    items = run_parts(parts, work, jobs or count_cores())
    with (
        open_output(output, written) if written else nullcontext(_discard) as write,
        _show_progress(
            sum(part.part_bytes for part in parts), data_on_stdout=written is not None and output is None
        ) as progress,
    ):
        skipped = _consume(items, write, statistics, progress, list_problems=problems)
    if skipped:
        typer.echo(f"rdfspider: {skipped} {'record' if skipped == 1 else 'records'} skipped", err=True)
    if stats:
        _print_statistics(statistics, stderr=written is not None and output is None)


def _consume(
    items: Iterable[PageResult | Damage | PartEnd],
    write: Write,
    statistics: BatchStatistics,
    progress: Progress,
    *,
    list_problems: bool,
) -> int:
    """Write results, count them and report problems; return the number of unreadable records."""
    skipped = 0
    for item in items:
        match item:
            case PageResult():
                write(item.fragment)
                statistics.add_page(item.quads, item.problems, item.counts)
                if list_problems:
                    for problem in item.problems:
                        fields = (item.url, problem.syntax or "page", problem.code, str(problem.count), problem.message)
                        _say(progress, "\t".join(fields))
            case Damage():
                skipped += 1
                _say(progress, f"rdfspider: {item.path}: skipped at byte {item.offset}: {item.reason}")
            case PartEnd():
                for task in progress.task_ids:
                    progress.update(
                        task, advance=item.part_bytes, pages=statistics.pages, quads=statistics.quads.total()
                    )
    return skipped


def _say(progress: Progress, line: str) -> None:
    """Print one line on stderr, above the progress bar if there is one, without control characters from the web."""
    shown = "".join(character if character.isprintable() or character == "\t" else " " for character in line)
    if progress.disable:
        typer.echo(shown, err=True)
    else:
        progress.console.print(shown, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _show_progress(total_bytes: int, *, data_on_stdout: bool) -> Iterator[Progress]:
    """A progress bar if stderr is a terminal, unless the data goes to the same terminal."""
    hidden = not sys.stderr.isatty() or (data_on_stdout and sys.stdout.isatty())
    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[pages]:,} pages  {task.fields[quads]:,} quads"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=hidden, transient=True) as progress:
        progress.add_task("", total=total_bytes, pages=0, quads=0)
        yield progress


def _print_statistics(statistics: BatchStatistics, *, stderr: bool) -> None:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = 120
    syntaxes = Table("syntax", box=None, pad_edge=False)
    for heading in ("pages", "quads", "problems"):
        syntaxes.add_column(heading, justify="right")
    for name in sorted(statistics.quads.keys() | statistics.problems.keys()):
        counts = statistics.pages_by_syntax[name], statistics.quads[name], statistics.problems[name]
        syntaxes.add_row(name, *(f"{count:,}" for count in counts))
    totals = statistics.pages, statistics.quads.total(), statistics.problems.total()
    syntaxes.add_row("all", *(f"{count:,}" for count in totals))
    console.print(syntaxes)
    for heading, names in (("type", statistics.types), ("property", statistics.properties)):
        table = Table(box=None, pad_edge=False)
        table.add_column(heading, overflow="fold")
        table.add_column("uses", justify="right")
        # Sort equal counts by name, so that the table does not depend on the order of pages.
        for name, count in sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))[:_TOP_NAMES]:
            table.add_row(name, f"{count:,}")
        if names:
            console.print()
            console.print(table)


def _split_names(values: Iterable[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _open_documents(folder: Path) -> DocumentSource:
    """The documents in a folder, made by a person or by a crawl."""
    return KeptDocuments(folder, FolderDocuments(folder))


def check_base(base: str | None) -> None:
    """Refuse a base that is no absolute URL."""
    if base is not None and not (is_valid_iri(base) and _BASE.match(base)):
        raise UsageError(f"--base {base}: not an absolute URL, such as https://example.org/")


def check_output(output: Path | None, sources: Iterable[str]) -> Path | None:
    """The file to write, if that is allowed; `-` is stdout, as it is stdin among the sources."""
    if output is None or str(output) == "-":
        return None
    if output.suffix.lower() in _COMPRESSED:
        raise UsageError(f"--output {output}: output is not compressed; leave {output.suffix} out, or write parquet")
    if output.is_file() and any(Path(source).exists() and output.samefile(source) for source in sources):
        raise UsageError(f"--output {output}: it is one of the sources")
    return output


def _choose_format(wanted: ExtractFormat | None, output: Path | None) -> ExtractFormat:
    suffix = output.suffix.lower() if output else ""
    named = find_format(suffix, ExtractFormat)
    if suffix and not wanted and not named:
        raise UsageError(
            f"--output {output}: its ending tells no format; name one with --format: {', '.join(ExtractFormat)}"
        )
    return wanted or named or ExtractFormat.NQUADS


def _discard(fragment: bytes) -> None:
    """Discard the output when only the statistics are wanted."""
