"""`rdfspider stats`: which classes, properties, ontologies and sites the pages of a crawl have, and how often."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from rdfspider.api import Crawl
from rdfspider.commands.options import Folder
from rdfspider.commands.terminal import open_console, show_table, show_text
from rdfspider.crawl.summary import shorten_name

if TYPE_CHECKING:
    from rdfspider.search.statistics import Statistics


class StatsFormat(StrEnum):
    """How statistics can be printed."""

    text = "text"
    json = "json"
    turtle = "turtle"


def stats(
    *,
    folder: Folder,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="How many of each kind to print.")] = 20,
    file_format: Annotated[
        StatsFormat, typer.Option("--format", help="Tables, one line of JSON, or a VoID description as Turtle.")
    ] = StatsFormat.text,
) -> None:
    """Count the classes, properties, ontologies and sites of the pages."""
    found = Crawl.open(folder).stats(top)
    if file_format is StatsFormat.json:
        typer.echo(msgspec.json.encode(found.to_dict()).decode())
    elif file_format is StatsFormat.turtle:
        typer.echo(found.to_void(), nl=False)
    else:
        _show(found)


def _show(found: "Statistics") -> None:
    console = open_console()
    totals = found.totals
    counts = {"pages": totals.pages, "sites": totals.sites, "quads": totals.quads, "entities": totals.entities}
    show_text(console, "  ".join(f"{name} {number:,}" for name, number in counts.items()), "bold")
    tables = (
        ("classes", totals.classes, found.classes),
        ("properties", totals.properties, found.properties),
        ("ontologies", totals.ontologies, found.ontologies),
        ("sites", totals.sites, found.sites),
        ("languages", 0, found.languages),
        ("syntaxes", 0, found.syntaxes),
    )
    for title, known, names in tables:
        if not names:
            continue
        console.print()
        more = f" ({len(names):,} of {known:,})" if known > len(names) else ""
        rows = [(shorten_name(each.name), f"{each.uses:,}", f"{each.pages:,}", f"{each.sites:,}") for each in names]
        show_table(console, (f"{title}{more}", "uses", "pages", "sites"), rows, numbers=3)
