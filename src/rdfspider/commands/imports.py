"""`rdfspider import`: WARC files made elsewhere enter, their pages become part of a crawl."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rdfspider.api import Crawl
from rdfspider.archive.reader import find_archives
from rdfspider.commands import options
from rdfspider.commands.index import index_imported
from rdfspider.commands.terminal import EXIT_CODES, say, show, show_log
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.settings import Asked
from rdfspider.crawl.status import Status
from rdfspider.crawl.summary import write_counts
from rdfspider.run.importer import ImportReport
from rdfspider.urls import MAX_URL_CHARS

_LINE_EVERY_S = 5.0
_DAMAGES_SHOWN = 5


def import_archives(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="WARC", help="WARC files, patterns, or folders with such files.", show_default=False),
    ],
    *,
    folder: Annotated[
        Path,
        typer.Option(
            "--dir", metavar="DIR", help="The folder of the crawl; made where it is missing.", show_default=False
        ),
    ],
    shards: options.Shards = None,
    archive: Annotated[
        str | None,
        typer.Option(metavar="structured|all|none", help="Which pages to keep as they are, besides what they state."),
    ] = None,
    index: options.Index = None,
) -> None:
    """Take pages of WARC files into a crawl, as if it had fetched them.

    The files may be Common Crawl's, or your own. Nothing is fetched, and links are kept but not followed. What was cut off
    goes on where it was when the same command is run again; pages that the crawl has already, as new or newer, are passed
    over, and so are answers other than 2xx; both are counted. What was imported is indexed then.
    """
    given = {"crawl.shards": shards, "archive.keep": archive, "index.enabled": index}
    flags = {"crawl.shards": "--shards", "archive.keep": "--archive", "index.enabled": "--index"}
    asked = {name: Asked(value, flags[name]) for name, value in given.items() if value is not None}
    # Before a folder is made for them.
    find_archives(sources)
    progress = _ImportProgress()
    crawl = Crawl.create_for_import(folder, **asked)
    with show_log():
        status, reports = crawl.import_archives(sources, progress.show)
    for line in write_import(status, reports):
        show(line)
    if status.state == RunState.STOPPED:
        say("stopped; run the same command to go on")
    elif crawl.config.index.enabled:
        index_imported(crawl)
    raise typer.Exit(EXIT_CODES.get(status.reason, 0))


class _ImportProgress:
    """A line now and then."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _LINE_EVERY_S

    def show(self, status: Status, reports: Sequence[ImportReport]) -> None:
        """Take how it goes."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _LINE_EVERY_S
            pages = sum(report.imported for report in reports)
            read_bytes = min((report.read_bytes for report in reports), default=0)
            speed = pages / max(status.run_s, 1)
            show(f"{status.run_s:.0f} s  {pages:,} pages  {speed:.0f} pages/s  {read_bytes / 1e6:,.0f} MB read")


def write_import(status: Status, reports: Sequence[ImportReport]) -> list[str]:
    """What was imported, in a few lines."""
    pages = sum(report.imported for report in reports)
    known = sum(report.known for report in reports)
    speed = pages / max(status.run_s, 0.001)
    lines = [f"imported    {_count_pages(pages)} in {status.run_s:.1f} s ({speed:.0f} pages/s)"]
    if known:
        was = "was" if known == 1 else "were"
        lines.append(f"passed over {_count_pages(known)} that {was} there, as new or newer")
    too_long = sum(report.too_long for report in reports)
    if too_long:
        lines.append(f"passed over {_count_pages(too_long)} with a URL of more than {MAX_URL_CHARS:,} characters")
    totals = status.totals
    others = {code: count for code, count in (totals.statuses | totals.errors).items() if not code.startswith("2")}
    if others:
        count = sum(others.values())
        lines.append(f"passed over {count:,} answer{'s' * (count != 1)} other than 2xx: {write_counts(others)}")
    lines.append(f"in all      {_count_pages(totals.pages)}, {totals.structured:,} with data, {totals.quads:,} quads")
    # Every shard reads all files, and so finds all damage.
    worst = max(reports, key=lambda report: report.damage_count, default=None)
    if worst:
        lines += worst.damages[:_DAMAGES_SHOWN]
        if worst.damage_count > _DAMAGES_SHOWN:
            lines.append(f"… and {worst.damage_count - _DAMAGES_SHOWN:,} more records that could not be read")
    return lines


def _count_pages(number: int) -> str:
    return f"{number:,} page{'' if number == 1 else 's'}"
