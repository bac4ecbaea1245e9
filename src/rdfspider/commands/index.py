"""`rdfspider index`, `forget` and `import`: bring an index up to date, remove a site from it, and import WARC files."""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from rdfspider.api import Crawl
from rdfspider.archive.reader import find_archives
from rdfspider.commands import options
from rdfspider.commands.options import Folder
from rdfspider.commands.terminal import EXIT_CODES, LineTimer, say, show, show_log
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.status import Status
from rdfspider.crawl.summary import write_counts, write_index
from rdfspider.errors import InUseError, UnindexedError, UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import IndexStatus, read_index_status
from rdfspider.processes.module_process import calm_collector
from rdfspider.run.imports import ImportReport
from rdfspider.urls import MAX_URL_CHARS, is_valid_iri

_DAMAGES_SHOWN = 5


def index(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WARC",
            help="WARC files from elsewhere to index as well, patterns, or folders with such files.",
            show_default=False,
        ),
    ] = None,
    *,
    folder: Annotated[Path, options.folder_option("The folder of the crawl; made where WARC files are given.")],
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the index again, from all that is archived.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on until Ctrl-C, and take what comes meanwhile.")
    ] = False,
    store: options.Store = None,
) -> None:
    """Bring the index of a crawl up to date.

    A crawl is indexed while it runs, unless --no-index was given; this does it later, or again. With --rebuild the old index
    answers until the new one is complete. Whatever ends it, the same command goes on where it was.
    """
    if rebuild and follow:
        raise UsageError("--rebuild and --follow: choose one; follow when it is rebuilt")
    if files:
        # Before a folder is created for them.
        find_archives(files)
    crawl = Crawl.create_for_import(folder) if files else Crawl.open(folder)
    progress = _IndexProgress()
    calm_collector()
    try:
        with show_log():
            status = crawl.index(
                files or (), rebuild=rebuild, follow=follow, stores=store or (), on_progress=progress.show
            )
    except InUseError as error:
        if rebuild or store:
            raise
        _tell_running(folder, error, has_files=bool(files))
        return
    if not _tell_end(status):
        say("not everything is indexed: the same command goes on when that is mended")
        raise typer.Exit(1)


def index_imported(crawl: Crawl) -> bool:
    """Bring the index up to date after an import; if another process indexes the crawl, leave it to that one. Returns whether it
    will be up to date."""
    try:
        with show_log():
            status = crawl.index(on_progress=_IndexProgress().show)
    except InUseError as error:
        _tell_running(crawl.folder, error, has_files=False)
        return True
    if not _tell_end(status):
        say(f"not everything is indexed: `rdfspider index --dir {crawl.folder}` goes on when that is mended")
        return False
    return True


class _IndexProgress:
    """Prints a line at intervals."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._lines = LineTimer()

    def show(self, status: IndexStatus) -> None:
        """Report a status."""
        if self._lines.is_due():
            # The number of pages is unknown before they are read.
            rest = f"  {status.behind_bytes / 1e6:,.1f} MB to go" if status.behind_bytes else ""
            show(f"{time.monotonic() - self._started:.0f} s  {write_index(status)}{rest}")


def _tell_running(folder: Path, error: InUseError, *, has_files: bool) -> None:
    status = read_index_status(IndexPaths(folder))
    say(f"{error}: {write_index(status) if status else 'it has just begun'}")
    if has_files:
        say("it takes the WARC files, too")


def _tell_end(status: IndexStatus) -> bool:
    """Report what was indexed, and return whether it is complete. Pages that an external store refuses do not count."""
    show(f"indexed     {status.pages:,} pages, {status.quads:,} quads, {status.entities:,} entities")
    for view in status.views:
        if view.problem:
            show(f"{view.name:<11} {view.problem}")
    for problem in status.problems:
        show(f"missing     {problem}")
    return not status.incomplete and not status.behind_bytes


def forget(
    target: Annotated[
        str, typer.Argument(metavar="URL|SITE", help="A page, with http:// or https://, or a host or domain.")
    ],
    *,
    folder: Folder,
    ahead: Annotated[bool, typer.Option("--ahead", help="Also if nothing of it is indexed yet.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take it back: the index gets it again from the archive.")
    ] = False,
) -> None:
    """Remove a page or a whole site from the index, and keep it out.

    Returns when it is done. WARC files are left as they are; a rebuild passes over what was forgotten. To keep a crawl from
    fetching it, there is `rdfspider filter`.
    """
    if ahead and undo:
        raise UsageError("--ahead and --undo: choose one")
    with show_log():
        removal = Crawl.open(folder).forget(target, ahead=ahead, undo=undo)
    if undo:
        say(f"no longer forgotten: {removal.what}; {_count_pages(removal.pages)} indexed")
        if removal.waiting:
            say(f"not all of it is back in {', '.join(removal.waiting)}: it comes as indexing goes on")
            raise typer.Exit(1)
        return
    say(f"forgotten: {removal.what}; {removal.pages:,} {'page was' if removal.pages == 1 else 'pages were'} indexed")
    if removal.waiting:
        say(f"not yet done in {', '.join(removal.waiting)}: it is done as soon as that goes on")
    if removal.left:
        say(
            f"still in {', '.join(removal.left)}: remove it there; a store that is no part of the crawl any more does so "
            f"after `rdfspider index --dir {folder} --store URL`"
        )
    if removal.waiting or removal.left:
        raise typer.Exit(1)


def split(
    iri: Annotated[
        str, typer.Argument(metavar="IRI", help="The IRI of a thing, or its id as `rdfspider search` prints it.")
    ],
    other: Annotated[
        str | None,
        typer.Argument(metavar="[IRI]", help="What it is not; without it, it is joined with nothing at all."),
    ] = None,
    *,
    folder: Folder,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
) -> None:
    """Keep apart what was found to be one thing.

    Returns when the index shows it; rebuilds obey it too. `rdfspider entity IRI --why` tells why things are one.
    """
    crawl = Crawl.open(folder)
    if not undo:
        with suppress(UnindexedError):
            for name in filter(is_valid_iri, (iri, other or "")):
                # Complains if no page says anything of it.
                crawl.entity(name)
    with show_log():
        is_done = crawl.split(iri, other, undo=undo)
    what = f"{iri} and {other}" if other else iri
    say(f"{'joined again, where pages give evidence' if undo else 'kept apart'}: {what}")
    if not is_done:
        say("not yet shown: it is as soon as the indexer goes on")
        raise typer.Exit(1)


def import_archives(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="WARC", help="WARC files, patterns, or folders with such files.", show_default=False),
    ],
    *,
    folder: Annotated[Path, options.folder_option("The folder of the crawl; made where it is missing.")],
    shards: options.Shards = None,
    archive: Annotated[
        str | None,
        typer.Option(metavar="structured|all|none", help="Which pages to keep as they are, besides what they state."),
    ] = None,
    index: options.Index = None,
) -> None:
    """Take pages of WARC files into a crawl as if it had fetched them.

    The files may be Common Crawl's, or your own. Nothing is fetched, and links are kept but not followed. What was cut off
    goes on where it was when the same command is run again; pages that the crawl has already, as new or newer, are passed
    over, and so are answers other than 2xx; both are counted. What was imported is indexed then.
    """
    asked = options.name_flags({"crawl.shards": shards, "archive.keep": archive, "index.enabled": index})
    # Before a folder is created for them.
    find_archives(sources)
    progress = _ImportProgress()
    crawl = Crawl.create_for_import(folder, **asked)
    with show_log():
        status, reports = crawl.import_archives(sources, progress.show)
    for line in write_import(status, reports):
        show(line)
    if status.state == RunState.STOPPED:
        say("stopped; run the same command to go on")
    elif crawl.config.index.enabled and not index_imported(crawl):
        raise typer.Exit(1)
    raise typer.Exit(EXIT_CODES.get(status.reason, 0))


class _ImportProgress:
    """Prints a line at intervals."""

    def __init__(self) -> None:
        self._lines = LineTimer()

    def show(self, status: Status, reports: Sequence[ImportReport]) -> None:
        """Report a status."""
        if self._lines.is_due():
            pages = sum(report.imported for report in reports)
            read_bytes = min((report.read_bytes for report in reports), default=0)
            speed = pages / max(status.run_s, 1)
            show(f"{status.run_s:.0f} s  {pages:,} pages  {speed:.0f} pages/s  {read_bytes / 1e6:,.0f} MB read")


def write_import(status: Status, reports: Sequence[ImportReport]) -> list[str]:
    """Summarise an import in a few lines."""
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
    # Every shard reads all files, so each finds all damage.
    worst = max(reports, key=lambda report: report.damage_count, default=None)
    if worst:
        lines += worst.damages[:_DAMAGES_SHOWN]
        if worst.damage_count > _DAMAGES_SHOWN:
            lines.append(f"… and {worst.damage_count - _DAMAGES_SHOWN:,} more records that could not be read")
    return lines


def _count_pages(number: int) -> str:
    return f"{number:,} page{'' if number == 1 else 's'}"
