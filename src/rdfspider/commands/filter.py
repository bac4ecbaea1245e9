"""`rdfspider filter add`, `remove` and `list`: which links a crawl follows, changed at any time."""

from typing import Annotated

import msgspec
import typer

from rdfspider.api import Crawl
from rdfspider.commands.options import Exclude, Folder, Include
from rdfspider.errors import UsageError

app = typer.Typer(
    name="filter",
    help="Change or show which links a crawl follows, also while it runs.",
    add_completion=False,
    rich_markup_mode=None,
)


@app.command()
def add(*, folder: Folder, include: Include = None, exclude: Exclude = None) -> None:
    """Add filters. They hold at once, also for what is already queued, and are kept in DIR/crawl.toml."""
    _check_any(include, exclude)
    count = Crawl.open(folder).add_filter(include=include or (), exclude=exclude or ())
    typer.echo(_count(count, "added") if count else "nothing to add: all of them are there already")


@app.command()
def remove(*, folder: Folder, include: Include = None, exclude: Exclude = None) -> None:
    """Remove filters. Queued URLs that only they turned away come back."""
    _check_any(include, exclude)
    count = Crawl.open(folder).remove_filter(include=include or (), exclude=exclude or ())
    typer.echo(_count(count, "removed"))


@app.command(name="list")
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


def _check_any(include: list[str] | None, exclude: list[str] | None) -> None:
    if not any((*(include or ()), *(exclude or ()))):
        raise UsageError("name at least one filter: --include REGEX or --exclude REGEX")


def _count(count: int, what: str) -> str:
    return f"{count} filter{'s' * (count != 1)} {what}"
