"""`rdfspider crawl`: seeds and settings enter, a crawl in a folder leaves; progress is on stderr, or as JSON on stdout."""

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from rdfspider.api import Crawl
from rdfspider.commands import options
from rdfspider.commands.serve import SiteBeside, make_options
from rdfspider.commands.terminal import EXIT_CODES, LineTimer, can_display, say, show, show_log
from rdfspider.crawl.budgets import EndReason
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.settings import Asked, find_name, load_config
from rdfspider.crawl.status import Status, encode_status
from rdfspider.crawl.summary import warn_of_index, warn_of_nothing, write_line, write_place, write_summary
from rdfspider.errors import UsageError

if TYPE_CHECKING:
    from rdfspider.commands.display import Display
    from rdfspider.serve.site import SiteOptions

# The exit code of a crawl that has ended by itself, and has not fetched a single page in all its runs, or has not indexed all.
_INCOMPLETE_EXIT = 1


def crawl(
    seeds: options.Seeds = None,
    *,
    folder: Annotated[Path, options.folder_option("The folder of the crawl. A crawl that is there goes on.")],
    seeds_file: options.SeedsFile = None,
    pages: options.Pages = None,
    time_limit: options.Time = None,
    depth: options.Depth = None,
    scope: options.Scope = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    ontologies: options.Ontologies = None,
    delay: options.Delay = None,
    shards: options.Shards = None,
    allow_private: options.AllowPrivate = None,
    resolve: options.Resolve = None,
    contact: options.Contact = None,
    archive: options.Archive = None,
    index: options.Index = None,
    store: options.Store = None,
    places: options.Places = None,
    backup: options.Backup = None,
    other: options.Settings = None,
    site: options.Serve = False,
    port: options.SitePort = None,
    query_timeout: options.QueryTimeout = None,
    query_rows: options.QueryRows = None,
    cors: options.Cors = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print progress as JSON on stdout, a line a second.")] = False,
) -> None:
    """Crawl from seeds, and keep the structured data of every page.

    All of it is in WARC files. The same command goes on with a crawl that was stopped or killed. Settings are kept in
    DIR/crawl.toml, so that `rdfspider crawl --dir DIR` goes on as well. Ctrl-C stops within ten seconds; a second one stops at
    once. Nothing is lost either way.
    """
    _check_site_flags(site, port=port, query_timeout=query_timeout, query_rows=query_rows, cors=cors)
    site_options = make_options(query_timeout, query_rows, cors) if site else None
    given = {
        "crawl.pages": pages,
        "crawl.time_s": time_limit,
        "crawl.depth": depth,
        "crawl.scope": scope,
        "crawl.include": include,
        "crawl.exclude": exclude,
        "crawl.ways": None if ontologies is None else _choose_ways(folder, ontologies),
        "crawl.shards": shards,
        "frontier.delay_s": delay,
        "fetch.allow_private": allow_private,
        "fetch.resolve": resolve,
        "fetch.contact": contact,
        "archive.keep": archive,
        "index.enabled": index,
        "index.stores": store,
        "run.places": places,
        "backup.url": backup,
    }
    asked: dict[str, Any] = options.name_flags(given) | _split_settings(other)
    found = Crawl.create(folder, seeds or (), seeds_file=seeds_file, **asked)
    raise typer.Exit(_run(found, as_json, site_options, port))


def _run(found: Crawl, as_json: bool, site_options: "SiteOptions | None", port: int | None) -> int:
    """Run a crawl, with its site beside it if there are options for one, and return the exit code."""
    if site_options is None:
        return run_crawl(found, as_json=as_json)
    with SiteBeside(found.folder, port, site_options) as beside:
        beside.start()
        code = run_crawl(found, as_json=as_json)
        # After a stop from the site or by a command, the site stays up; a signal means that the user wants to leave.
        if not code:
            beside.wait()
    return code


def run_crawl(found: Crawl, *, as_json: bool = False) -> int:
    """Run a crawl, report its progress and its end, and return the exit code."""
    if not found.config.fetch.contact:
        say("without --contact nobody can reach you when your crawl troubles a site; give a URL or an e-mail address")
    progress = _CrawlProgress(found.folder, as_json)
    with progress, show_log():
        status = found.run(progress.show)
    if status.state == RunState.STOPPED:
        say("stopped; run the same command to go on")
    code = EXIT_CODES.get(status.reason, 0)
    if warning := warn_of_nothing(status):
        say(warning)
        code = code or _INCOMPLETE_EXIT
    if warning := warn_of_index(status, found.folder):
        say(warning)
        code = code or _INCOMPLETE_EXIT
    return 128 + signal.SIGPIPE if progress.is_unread else code


class _CrawlProgress:
    """Shows the progress of a crawl while its context lasts: with a display if stderr is a terminal, otherwise by lines."""

    def __init__(self, folder: Path, as_json: bool) -> None:
        self._folder = folder
        self._as_json = as_json
        self._display = _make_display(folder) if not as_json and can_display(os.environ) else None
        self._context = ExitStack()
        self._lines = LineTimer()
        self._state = RunState.RUNNING
        self.is_unread = False
        """Whether nobody reads the JSON any more, as in `| head`; that ends the crawl."""

    def __enter__(self) -> Self:
        if self._display is not None:
            self._context.enter_context(self._display)
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def show(self, status: Status) -> None:
        """Print one JSON line per status; or for people update the display, or print a line at intervals and on changes, and
        a summary at the end."""
        if status.reason == EndReason.INTERRUPTED and self._state not in (RunState.STOPPING, RunState.STOPPED):
            say("stopping within ten seconds; Ctrl-C once more stops at once, and loses nothing either")
        has_changed = status.state != self._state
        self._state = status.state
        if self._as_json:
            self._write_json(status)
        elif status.is_over:
            self._context.close()
            for line in (*write_summary(status), *write_place(status, self._folder)):
                show(line)
        elif self._display is not None:
            self._display.show(status)
        elif self._lines.is_due(has_changed):
            show(write_line(status))

    def _write_json(self, status: Status) -> None:
        if self.is_unread:
            return
        try:
            sys.stdout.buffer.write(encode_status(status) + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            self.is_unread = True
            # Discard what Python would still write at its exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not status.is_over:
                signal.raise_signal(signal.SIGTERM)


def _make_display(folder: Path) -> "Display":
    # Imported here, because only a terminal needs its library.
    from rdfspider.commands.display import Display

    return Display(folder)


def _choose_ways(folder: Path, ontologies: bool) -> list[str]:
    """The crawl's ways of discovery, with or without ontologies."""
    others = [way for way in load_config(folder).crawl.ways if way != "ontologies"]
    return [*others, "ontologies"] if ontologies else others


def _check_site_flags(has_site: bool, **values: object) -> None:
    """Refuse flags of the site for a crawl without one, where they would do nothing."""
    given = [f"--{name.replace('_', '-')}" for name, value in values.items() if value is not None]
    if given and not has_site:
        raise UsageError(f"{', '.join(given)}: only for a crawl that shows its site, by --serve")


def _split_settings(texts: Iterable[str] | None) -> dict[str, Asked]:
    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set {text}: not allowed; it may be SETTING=VALUE, such as crawl.pages_per_host=100")
        found[find_name(name.strip())] = Asked(value.strip(), f"--set {name.strip()}")
    return found
