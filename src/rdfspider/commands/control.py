"""`rdfspider status`, `pause`, `resume` and `stop`: what can be asked of a crawl from another terminal."""

import time
from typing import Annotated

import typer

from rdfspider.commands.options import Folder
from rdfspider.run.crawl import Crawl
from rdfspider.run.folder.status import encode_status
from rdfspider.run.folder.summary import write_place, write_shards, write_summary


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
