"""`rdfspider crawl`: seeds and settings in, a crawl in a folder out; progress on stderr, or as JSON lines on stdout."""

import logging
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from rdfspider.errors import UsageError
from rdfspider.run.crawl import Crawl
from rdfspider.run.folder.settings import Asked, find_name
from rdfspider.run.folder.status import Status, encode_status, warn_of_nothing, write_line, write_summary

FLAGS = {
    "crawl.pages": "--pages",
    "crawl.time_s": "--time",
    "crawl.depth": "--depth",
    "crawl.scope": "--scope",
    "crawl.include": "--include",
    "crawl.exclude": "--exclude",
    "crawl.shards": "--shards",
    "frontier.delay_s": "--delay",
    "fetch.allow_private": "--allow-private",
    "fetch.resolve": "--resolve",
    "fetch.contact": "--contact",
    "archive.keep": "--archive",
}
"""The settings that have a flag of their own, so that a complaint names what was typed."""
_LINE_EVERY_S = 5.0
# How a crawl that a person ended leaves, as shells expect it; all other ends are a success.
_EXIT_CODES = {"interrupted": 128 + signal.SIGINT, "terminated": 128 + signal.SIGTERM}


def crawl(
    seeds: Annotated[
        list[str] | None,
        typer.Argument(metavar="SEED", help="URLs to start from; without a scheme they are https.", show_default=False),
    ] = None,
    *,
    folder: Annotated[
        Path,
        typer.Option(
            "--dir", metavar="DIR", help="The folder of the crawl. A crawl that is there goes on.", show_default=False
        ),
    ],
    seeds_file: Annotated[
        Path | None,
        typer.Option("--seeds", metavar="FILE", help="A file of seeds, one a line, # begins a comment; - is stdin."),
    ] = None,
    pages: Annotated[
        str | None, typer.Option(metavar="N", help="Stop after so many pages, over all runs; 0 is no limit.")
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option("--time", metavar="T", help="Stop after so long, over all runs: 90, 10m, 2h; 0 is no limit."),
    ] = None,
    depth: Annotated[
        str | None, typer.Option(metavar="N", help="Follow at most so many links from a seed; 0 is no limit.")
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="host|domain|prefix|any",
            help="How far to go from the seeds and from what they redirect to; by default their registrable domains.",
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="REGEX", help="Follow only links that match, somewhere; may be repeated."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="REGEX", help="Do not follow links that match; may be repeated.")
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Seconds between two requests to a host, at least; 1 by default. 0 turns every pace off, "
            "for servers of your own.",
        ),
    ] = None,
    shards: Annotated[
        str | None, typer.Option(metavar="N", help="Processes; by default one a core. Fixed when a crawl is created.")
    ] = None,
    allow_private: Annotated[
        bool | None,
        typer.Option("--allow-private/--no-allow-private", help="Also fetch from private and loopback addresses."),
    ] = None,
    resolve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN=ADDRESS[:PORT]",
            help="The address of hosts, instead of asking DNS: '*.test=127.0.0.1:8085'; may be repeated.",
        ),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            metavar="URL|EMAIL", help="Where the owner of a site can reach you; it is part of the user agent."
        ),
    ] = None,
    archive: Annotated[
        str | None,
        typer.Option(
            metavar="structured|all|none",
            help="Which pages to keep as they came; by default those with structured data. "
            "What was extracted is always kept.",
        ),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SETTING=VALUE",
            help="Another setting, such as crawl.pages_per_host=100; may be repeated.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print progress as JSON on stdout, a line a second.")] = False,
) -> None:
    """Crawl from seeds, take the structured data out of every page, and keep it in WARC files.

    The same command goes on with a crawl that was stopped or killed. Settings are kept in DIR/crawl.toml, so that
    `rdfspider crawl --dir DIR` goes on as well. Ctrl-C finishes what is under way; a second one stops at once. Nothing is
    lost either way.
    """
    given = {
        "crawl.pages": pages,
        "crawl.time_s": time_limit,
        "crawl.depth": depth,
        "crawl.scope": scope,
        "crawl.include": include,
        "crawl.exclude": exclude,
        "crawl.shards": shards,
        "frontier.delay_s": delay,
        "fetch.allow_private": allow_private,
        "fetch.resolve": resolve,
        "fetch.contact": contact,
        "archive.keep": archive,
    }
    asked: dict[str, Any] = {name: Asked(value, FLAGS[name]) for name, value in given.items() if value is not None}
    found = Crawl.create(folder, seeds or (), seeds_file=seeds_file, **(asked | _split_settings(other or ())))
    if not found.config.fetch.contact:
        _say("without --contact nobody can reach you when your crawl troubles a site; give a URL or an e-mail address")
    progress = _Progress(as_json)
    with _show_log():
        status = found.run(progress.show)
    code = 128 + signal.SIGPIPE if progress.is_unread else _EXIT_CODES.get(status.reason, 0)
    if status.state == "stopped":
        _say("stopped; run the same command to go on")
    if warning := warn_of_nothing(status):
        _say(warning)
    raise typer.Exit(code)


class _Progress:
    """Shows how a crawl goes."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._next = time.monotonic() + _LINE_EVERY_S
        self._state = "running"
        self.is_unread = False
        """Whether nobody reads the JSON any more, as in `| head`; that ends the crawl."""

    def show(self, status: Status) -> None:
        """A line of JSON each time; for people now and then, when something changes, and some lines at the end."""
        if status.reason == "interrupted" and self._state not in ("stopping", "stopped"):
            _say("finishing what is under way; Ctrl-C once more stops at once, and loses nothing either")
        has_changed = status.state != self._state
        self._state = status.state
        if self._as_json:
            self._write_json(status)
        elif status.is_over:
            for line in write_summary(status):
                _show(line)
        elif has_changed or time.monotonic() >= self._next:
            self._next = time.monotonic() + _LINE_EVERY_S
            _show(write_line(status))

    def _write_json(self, status: Status) -> None:
        if self.is_unread:
            return
        try:
            sys.stdout.buffer.write(encode_status(status) + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            self.is_unread = True
            # What Python would still write at its exit goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not status.is_over:
                signal.raise_signal(signal.SIGTERM)


@contextmanager
def _show_log() -> Iterator[None]:
    """What the crawler has to say while it runs, such as that a shard died, on stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("rdfspider: %(message)s"))
    logger = logging.getLogger("rdfspider.run")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _split_settings(texts: Iterable[str]) -> dict[str, Asked]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set {text}: not allowed; it may be SETTING=VALUE, such as crawl.pages_per_host=100")
        found[find_name(name.strip())] = Asked(value.strip(), f"--set {name.strip()}")
    return found


def _say(line: str) -> None:
    _show(f"rdfspider: {line}")


def _show(line: str) -> None:
    """A line on stderr; a crawl goes on when nobody reads it any more, as after a terminal was closed."""
    try:
        typer.echo(line, err=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
