"""`rdfspider why`: what became of a URL, and why."""

import time
from typing import Annotated

import msgspec
import typer

from rdfspider.commands.options import Folder
from rdfspider.run.crawl import Crawl


def why(
    url: Annotated[str, typer.Argument(metavar="URL", help="What to tell of; without a scheme it is https.")],
    *,
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as one line of JSON.")] = False,
) -> None:
    """Tell why a URL was fetched or not, or what would become of it."""
    # Not at the top: it brings the frontier, of which other commands have no use.
    from rdfspider.run.reports.answers import write_explanation

    found = Crawl.open(folder).why(url)
    if as_json:
        typer.echo(msgspec.json.encode(found))
    else:
        for line in write_explanation(found, time.time()):
            typer.echo(line)
