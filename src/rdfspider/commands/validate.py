"""`rdfspider validate`: pages from files, archives, URLs or a crawl enter; what is wrong with their structured data leaves."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from io import TextIOWrapper
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rdfspider import __version__
from rdfspider.api import Crawl
from rdfspider.archive.warc_file import Damage
from rdfspider.batch.output import open_stream
from rdfspider.batch.sources import plan_parts
from rdfspider.batch.workers import PageResult, Work, run_parts
from rdfspider.commands import options
from rdfspider.commands.console import clean, open_console, show_table, show_text
from rdfspider.commands.extract import check_base, check_output
from rdfspider.commands.fetching import PageSource
from rdfspider.commands.terminal import say
from rdfspider.config import ExtractConfig
from rdfspider.crawl.settings import count_cores
from rdfspider.detect.content import detect_content
from rdfspider.errors import UsageError
from rdfspider.search.page_record import read_copy, read_pages
from rdfspider.validate.checks import Checks, check_page, open_checks
from rdfspider.validate.findings import Finding, Severity, group_alike
from rdfspider.validate.lines import add_lines
from rdfspider.validate.output import WRITERS, write_document
from rdfspider.validate.totals import Total, Totals

_ALIKE_SHOWN = 3
"""How many findings of one rule and path are shown of a page; the others are counted."""
_SHACL = "shacl"
"""The profile of SHACL shapes alone."""
_SHAPES_ENDS = frozenset((".ttl", ".nt", ".n3", ".trig", ".nq", ".rdf", ".jsonld"))
"""How the names of files with shapes end."""
_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "dim"}

Checked = tuple[str, list[Finding]]
"""A page's URL and its findings."""


class FindingFormat(StrEnum):
    """What findings are written as."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    CSV = "csv"


class FailOn(StrEnum):
    """From which severity on a finding makes the command fail."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"
    NEVER = "never"


def validate(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Files, folders, patterns, WARC archives, URLs of pages to fetch now, or - for a page on stdin.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None, options.folder_option("Instead of sources: the folder of a crawl, whose pages are checked.")
    ] = None,
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="The rules: schema (the vocabulary alone), google (and what rich results need), usual (and what is usual), "
            "a TOML file of your own, or shacl: the shapes in the first SOURCE alone.",
        ),
    ] = "google",
    shapes: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Also check by these SHACL shapes; may be repeated. Needs rdfspider[shacl]."),
    ] = None,
    file_format: Annotated[
        FindingFormat | None,
        typer.Option("--format", help="What to write; by default what --output's name ends in, else text."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="The file to write; by default stdout.")] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="End with exit code 1 if there are findings of this severity, or worse.")
    ] = FailOn.ERROR,
    totals: Annotated[
        bool | None,
        typer.Option(
            "--totals/--findings",
            help="In text, add up findings by site and class, with examples, or list each; by default a crawl's are added up.",
        ),
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="URL", help="The URL of the file, or of the folder that all files are in.")
    ] = None,
    content_type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="The Content-Type of files; by default detected.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Processes; by default one a core.")] = None,
    allow_private: options.AllowPrivate = None,
    resolve: options.Resolve = None,
    contact: options.Contact = None,
) -> None:
    """Tell what is wrong with the structured data of pages.

    Unknown classes and properties, values of the wrong form, missing properties, contradictions, dangling references and broken
    markup, each with its place. Exit code 1 means that there are findings, 2 that the command could not be run.
    """
    profile, shapes, sources = _find_shapes(profile, list(shapes or ()), list(sources or ()))
    if bool(sources) == (folder is not None):
        raise UsageError("name pages to check, or a crawl by --dir" + (", not both" if sources else ""))
    check_base(base)
    output = check_output(output, sources)
    file_format = file_format or _choose_format(output)
    checks = Checks(profile, tuple(shapes))
    validator, _ = open_checks(checks)
    if folder is not None:
        pages = _check_crawl(folder, checks, with_lines=file_format != FindingFormat.TEXT or totals is False)
    else:
        fetching = PageSource(allow_private=allow_private, resolve=resolve, contact=contact)
        config = ExtractConfig()
        parts = plan_parts(
            sources, base=base, content_type=content_type, limit=config.max_body_bytes, fetch=fetching.fetch
        )
        pages = _check_parts(run_parts(parts, Work(config, None, checks=checks), jobs or count_cores()))
    found = Totals()
    if file_format == FindingFormat.TEXT:
        _write_text(pages, found, output, adds_up=folder is not None if totals is None else totals)
    else:
        writer = WRITERS[file_format](validator.profile, __version__)
        with open_stream(output) as stream:
            for piece in write_document(writer, pages, found):
                stream.write(piece.encode("utf-8", "replace"))
    if not found.pages:
        raise UsageError(
            "no page was checked: there is none that can be read in " + (str(folder) if folder else "the sources")
        )
    if fail_on != FailOn.NEVER and found.count_at_least(Severity(fail_on)):
        raise typer.Exit(1)


def _check_parts(items: Iterable[object]) -> Iterator[Checked]:
    for item in items:
        if isinstance(item, PageResult):
            yield item.url, list(item.findings)
        elif isinstance(item, Damage):
            say(f"{item.path}: skipped at byte {item.offset}: {item.reason}")


def _check_crawl(folder: Path, checks: Checks, *, with_lines: bool) -> Iterator[Checked]:
    limit = ExtractConfig().max_body_bytes
    for record in read_pages(Crawl.open(folder).folder):
        found = check_page(checks, record.url, record.statements, record.problems)
        if found and with_lines and record.payload and (copy := read_copy(record.payload, limit)):
            found = add_lines(found, detect_content(copy.page, limit).text)
        yield record.url, found


def _find_shapes(profile: str, shapes: list[str], sources: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the profile, the files of SHACL shapes, and the sources.

    `--profile shacl FILE` and `--profile FILE.ttl` name shapes.
    """
    if Path(profile).suffix.lower() in _SHAPES_ENDS:
        return _SHACL, [profile, *shapes], sources
    if profile == _SHACL and not shapes:
        if not sources:
            raise UsageError(
                "--profile shacl: name the file of the shapes first, as in --profile shacl shapes.ttl page.html"
            )
        return profile, sources[:1], sources[1:]
    return profile, shapes, sources


def _choose_format(output: Path | None) -> FindingFormat:
    suffix = output.suffix.lower() if output else ""
    if suffix in ("", ".txt", ".log"):
        return FindingFormat.TEXT
    if suffix[1:] not in list(FindingFormat):
        raise UsageError(
            f"--output {output}: its ending tells no format; name one with --format: {', '.join(FindingFormat)}"
        )
    return FindingFormat(suffix[1:])


def _write_text(pages: Iterator[Checked], totals: Totals, output: Path | None, *, adds_up: bool) -> None:
    if output is not None:
        with open_stream(output) as stream, TextIOWrapper(stream, "utf-8", "replace") as file:
            _show(Console(file=file, width=160, markup=False, highlight=False, emoji=False), pages, totals, adds_up)
    else:
        _show(open_console(), pages, totals, adds_up)


def _show(console: Console, pages: Iterator[Checked], totals: Totals, adds_up: bool) -> None:
    for url, findings in pages:
        totals.add(url, findings)
        if findings and not adds_up:
            _show_page(console, url, findings)
    if adds_up:
        _show_totals(console, totals)
    counts = ", ".join(f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in totals.severities.items())
    pages_word = "page" if totals.pages == 1 else "pages"
    show_text(console, f"{counts} on {totals.pages_with_findings:,} of {totals.pages:,} {pages_word}")


def _show_page(console: Console, url: str, findings: list[Finding]) -> None:
    show_text(console, url, "bold")
    for alike in group_alike(findings):
        first = alike[0]
        if first.rule == "missing-recommended":
            names = ", ".join(found.path.removeprefix(f"{first.type}.") for found in alike)
            _show_finding(console, first, first.type, f"recommended and missing: {names}")
            continue
        for found in alike[:_ALIKE_SHOWN]:
            times = f" ({found.count:,} times)" if found.count > 1 else ""
            _show_finding(console, found, found.path, f"{found.message}{times}")
        if len(alike) > _ALIKE_SHOWN:
            show_text(console, f"          and {len(alike) - _ALIKE_SHOWN:,} more like this", "dim")
    console.print()


def _show_finding(console: Console, found: Finding, path: str, message: str) -> None:
    where = " ".join(filter(None, (found.syntax, f"line {found.line}" if found.line else "", found.rule)))
    line = clean(f"  {found.severity:<8}", _STYLES[found.severity])
    line.append_text(clean(f"{path}: {message}" if path else message))
    line.append_text(clean(f"  [{where}]", "dim"))
    console.print(line, soft_wrap=True)


def _show_totals(console: Console, totals: Totals) -> None:
    sites = 0
    for site, rows in groupby(totals.list_rows(), key=lambda row: row.site):
        _show_rows(console, site or "other sites", rows)
        sites += 1
    if sites > 1:
        _show_rows(console, f"all {sites:,} sites with findings", totals.list_overall())


def _show_rows(console: Console, title: str, rows: Iterable[Total]) -> None:
    show_text(console, title, "bold")
    show_table(
        console,
        ("severity", "class", "property", "rule", "such as", "times", "pages"),
        [
            (
                row.severity,
                row.type,
                row.path,
                row.rule,
                f"{row.message} {row.examples[0]}",
                f"{row.count:,}",
                f"{row.pages:,}",
            )
            for row in rows
        ],
        numbers=2,
    )
    console.print()
