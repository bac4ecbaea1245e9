"""`rdfspider hosts`: the hosts of a crawl, and what they wait for."""

from typing import Annotated

import msgspec
import typer

from rdfspider.commands.options import Folder
from rdfspider.run.crawl import Crawl


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
    from rdfspider.run.reports.hosts import write_hosts

    found = Crawl.open(folder).hosts(sort, limit)
    for line in map(_encode, found) if as_json else write_hosts(found):
        typer.echo(line)


def _encode(host: object) -> str:
    return msgspec.json.encode(host).decode()
