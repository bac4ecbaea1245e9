"""`rdfspider status`, `pause`, `resume` and `stop`: what can be asked of a crawl from another terminal."""

import time
from typing import Annotated

import typer

from rdfspider.api import Crawl
from rdfspider.commands import options
from rdfspider.commands.options import Folder
from rdfspider.crawl.status import encode_status
from rdfspider.crawl.summary import write_place, write_shards, write_summary


def status(
    *,
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as one line of JSON.")] = False,
) -> None:
    """Tell how a crawl goes, or how it ended."""
    found = Crawl.open(folder).status()
    if as_json:
        typer.echo(encode_status(found))
    else:
        place = () if found.state == "new" else write_place(found, folder)
        for line in (*write_summary(found), *write_shards(found, time.time()), *place):
            typer.echo(line)


def pause(*, folder: Folder) -> None:
    """Let a running crawl finish what is under way, and wait.

    Returns when nothing is under way any more.
    """
    Crawl.open(folder).pause()


def resume(*, folder: Folder) -> None:
    """Let a paused crawl go on."""
    Crawl.open(folder).resume()


def stop(*, folder: Folder) -> None:
    """End a running crawl when what is under way is finished.

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
    folder: options.Folder,
    seeds_file: options.SeedsFile = None,
) -> None:
    """Add seeds to a crawl. One that runs takes them at once; one that does not, when it runs next."""
    count = Crawl.open(folder).add_seeds(seeds or (), seeds_file=seeds_file)
    typer.echo(f"{count:,} new seed{'s' * (count != 1)}")
