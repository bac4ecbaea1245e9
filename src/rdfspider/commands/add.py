"""`rdfspider add`: more seeds for a crawl, at any time."""

from pathlib import Path
from typing import Annotated

import typer

from rdfspider.run.crawl import Crawl


def add(
    seeds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL", help="URLs to start from, too; without a scheme they are https.", show_default=False
        ),
    ] = None,
    *,
    folder: Annotated[Path, typer.Option("--dir", metavar="DIR", help="The folder of the crawl.", show_default=False)],
    seeds_file: Annotated[
        Path | None,
        typer.Option("--seeds", metavar="FILE", help="A file of seeds, one a line, # begins a comment; - is stdin."),
    ] = None,
) -> None:
    """Add seeds to a crawl. One that runs takes them at once; one that does not, when it runs next."""
    count = Crawl.open(folder).add_seeds(seeds or (), seeds_file=seeds_file)
    typer.echo(f"{count:,} new seed{'s' * (count != 1)}")
