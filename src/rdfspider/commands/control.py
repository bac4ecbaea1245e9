"""`rdfspider status`, `pause`, `resume`, `stop`, `add`, `filter`, `why` and `hosts`: control a crawl from another terminal."""

import time
from typing import Annotated

import msgspec
import typer

from rdfspider.api import Crawl
from rdfspider.commands.options import AsJson, Exclude, Folder, Include, SeedsFile
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.status import encode_status
from rdfspider.crawl.summary import warn_of_unheard, write_links, write_place, write_places, write_shards, write_summary
from rdfspider.errors import UsageError

filter_app = typer.Typer(
    name="filter",
    help="Change or show which links a crawl follows, also while it runs.",
    add_completion=False,
    rich_markup_mode=None,
)


def status(*, folder: Folder, as_json: AsJson = False) -> None:
    """Tell how a crawl goes, or how it ended."""
    found = Crawl.open(folder).status()
    if as_json:
        typer.echo(encode_status(found))
    else:
        is_empty = found.state in (RunState.NEW, RunState.UNKNOWN)
        place = () if is_empty else write_place(found, folder)
        for line in (
            *write_summary(found),
            *write_links(found),
            *write_shards(found, time.time()),
            *warn_of_unheard(found, time.time()),
            *write_places(found),
            *place,
        ):
            typer.echo(line)
    if found.state == RunState.UNKNOWN:
        raise typer.Exit(1)


def pause(*, folder: Folder) -> None:
    """Let a running crawl finish what is under way, and wait.

    Returns when nothing is under way any more.
    """
    Crawl.open(folder).pause()


def resume(*, folder: Folder) -> None:
    """Let a paused crawl go on."""
    Crawl.open(folder).resume()


def stop(*, folder: Folder) -> None:
    """End a running crawl within ten seconds; nothing is lost.

    Returns when it has ended.
    """
    Crawl.open(folder).stop()


def add(
    seeds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL", help="URLs to start from, too; without a scheme they are https.", show_default=False
        ),
    ] = None,
    *,
    folder: Folder,
    seeds_file: SeedsFile = None,
) -> None:
    """Add seeds to a crawl. One that runs takes them at once; one that does not, when it runs next."""
    count = Crawl.open(folder).add_seeds(seeds or (), seeds_file=seeds_file)
    typer.echo(f"{count:,} new seed{'s' * (count != 1)}")


@filter_app.command("add")
def add_filters(*, folder: Folder, include: Include = None, exclude: Exclude = None) -> None:
    """Add filters. They hold at once, also for what is already queued, and are kept in DIR/crawl.toml."""
    _check_any(include, exclude)
    count = Crawl.open(folder).add_filter(include=include or (), exclude=exclude or ())
    typer.echo(_count(count, "added") if count else "nothing to add: all of them are there already")


@filter_app.command("remove")
def remove_filters(*, folder: Folder, include: Include = None, exclude: Exclude = None) -> None:
    """Remove filters. Queued URLs that only they turned away come back."""
    _check_any(include, exclude)
    count = Crawl.open(folder).remove_filter(include=include or (), exclude=exclude or ())
    typer.echo(_count(count, "removed"))


@filter_app.command("list")
def list_filters(
    *,
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as one line of JSON.")] = False,
) -> None:
    """Show the filters, a line each."""
    filters = Crawl.open(folder).filters
    if as_json:
        typer.echo(msgspec.json.encode(filters))
        return
    for kind, patterns in filters.items():
        for pattern in patterns:
            typer.echo(f"--{kind} {pattern}")


def why(
    url: Annotated[str, typer.Argument(metavar="URL", help="What to tell of; without a scheme it is https.")],
    *,
    folder: Folder,
    as_json: AsJson = False,
) -> None:
    """Tell why a URL was fetched or not, or what would become of it."""
    # Not at the top: it imports the frontier, which other commands do not need.
    from rdfspider.crawl.reports.explanations import write_explanation

    found = Crawl.open(folder).why(url)
    if as_json:
        typer.echo(msgspec.json.encode(found))
    else:
        for line in write_explanation(found, time.time()):
            typer.echo(line)


def hosts(
    *,
    folder: Folder,
    sort: Annotated[
        str,
        typer.Option(metavar="pages|quads|errors|queue|wait", help="Which hosts come first: those with most of this."),
    ] = "pages",
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many hosts to print.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each host.")] = False,
) -> None:
    """Tell what was found on each host, and what it waits for."""
    # Not at the top: it imports the frontier, which other commands do not need.
    from rdfspider.crawl.reports.frontiers import write_hosts

    found = Crawl.open(folder).hosts(sort, limit)
    for line in map(msgspec.json.encode, found) if as_json else write_hosts(found):
        typer.echo(line)


def _check_any(include: list[str] | None, exclude: list[str] | None) -> None:
    if not any((*(include or ()), *(exclude or ()))):
        raise UsageError("name at least one filter: --include REGEX or --exclude REGEX")


def _count(count: int, what: str) -> str:
    return f"{count} filter{'s' * (count != 1)} {what}"
