"""`rdfspider index`: a crawl, or WARC files from elsewhere, in; an index that answers questions out."""

import time
from pathlib import Path
from typing import Annotated

import typer

from rdfspider.api import Crawl
from rdfspider.archive.reader import find_archives
from rdfspider.commands import options
from rdfspider.commands.options import Folder
from rdfspider.commands.terminal import say, show, show_log
from rdfspider.crawl.summary import write_index
from rdfspider.errors import InUseError, UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import IndexStatus, read_index_status
from rdfspider.processes.module_process import calm_collector

_LINE_EVERY_S = 5.0


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
    folder: Annotated[
        Path,
        typer.Option(
            "--dir", metavar="DIR", help="The folder of the crawl; made where WARC files are given.", show_default=False
        ),
    ],
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
        # Before a folder is made for them.
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


def index_imported(crawl: Crawl) -> None:
    """Bring the index up to date with what was just imported; where another process indexes the crawl, it is left to that."""
    try:
        with show_log():
            status = crawl.index(on_progress=_IndexProgress().show)
    except InUseError as error:
        _tell_running(crawl.folder, error, has_files=False)
        return
    if not _tell_end(status):
        say(f"not everything is indexed: `rdfspider index --dir {crawl.folder}` goes on when that is mended")


class _IndexProgress:
    """A line now and then."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._next = self._started + _LINE_EVERY_S

    def show(self, status: IndexStatus) -> None:
        """Take how it goes."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _LINE_EVERY_S
            # How many pages that is nobody knows before they are read.
            rest = f"  {status.behind_bytes / 1e6:,.1f} MB to go" if status.behind_bytes else ""
            show(f"{now - self._started:.0f} s  {write_index(status)}{rest}")


def _tell_running(folder: Path, error: InUseError, *, has_files: bool) -> None:
    status = read_index_status(IndexPaths(folder))
    say(f"{error}: {write_index(status) if status else 'it has just begun'}")
    if has_files:
        say("it takes the WARC files, too")


def _tell_end(status: IndexStatus) -> bool:
    """Say what was indexed; whether that is all that there was. Pages that an outside store refuses are its own matter."""
    show(f"indexed     {status.pages:,} pages, {status.quads:,} quads, {status.entities:,} entities")
    for view in status.views:
        if view.problem:
            show(f"{view.name:<11} {view.problem}")
    for problem in status.problems:
        show(f"missing     {problem}")
    return not status.behind_bytes and not any(view.problem for view in status.views if not view.is_outside)


def forget(
    target: Annotated[
        str, typer.Argument(metavar="URL|SITE", help="A page, with http:// or https://, or a host or domain.")
    ],
    *,
    folder: Folder,
) -> None:
    """Remove a page or a whole site from the index, and keep it out.

    Returns when it is done. WARC files are left as they are; a rebuild passes over what was forgotten. To keep a crawl from
    fetching it, there is `rdfspider filter`.
    """
    with show_log():
        removal = Crawl.open(folder).forget(target)
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
