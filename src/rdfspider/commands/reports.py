"""`rdfspider why`: what became of a URL, and why."""

import time
from typing import Annotated

import msgspec
import typer

from rdfspider.api import Crawl
from rdfspider.commands.options import Folder


def why(
    url: Annotated[str, typer.Argument(metavar="URL", help="What to tell of; without a scheme it is https.")],
    *,
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as one line of JSON.")] = False,
) -> None:
    """Tell why a URL was fetched or not, or what would become of it."""
    # Not at the top: it brings the frontier, of which other commands have no use.
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
    # Not at the top: it brings the frontier, of which other commands have no use.
    from rdfspider.crawl.reports.hosts import write_hosts

    found = Crawl.open(folder).hosts(sort, limit)
    for line in map(_encode, found) if as_json else write_hosts(found):
        typer.echo(line)


def _encode(host: object) -> str:
    return msgspec.json.encode(host).decode()
