"""`rdfspider add`: more seeds for a crawl, at any time."""

from typing import Annotated

import typer

from rdfspider.commands import options
from rdfspider.run.crawl import Crawl


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
