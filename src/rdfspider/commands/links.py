"""`rdfspider links` and `path`: which pages link to a page, where it leads, with the words of links; the way to another."""

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from rdfspider.api import Crawl
from rdfspider.commands.console import clean, open_console, show_table, show_text
from rdfspider.commands.options import AsJson, Folder
from rdfspider.crawl.summary import shorten_name
from rdfspider.drawing import cut_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rdfspider.search.found_links import FoundLink, FoundLinks

_ANCHORS_SHOWN = 20
_TITLE_CHARS = 60


def links(
    url: Annotated[str, typer.Argument(metavar="URL", help="The page.")],
    *,
    folder: Folder,
    is_in: Annotated[bool, typer.Option("--in", help="Only the links of other pages to it.")] = False,
    is_out: Annotated[bool, typer.Option("--out", help="Only its links to other pages.")] = False,
    anchors: Annotated[
        bool, typer.Option("--anchors", help="Also the words that pages use for it, the commonest first.")
    ] = False,
    nofollow: Annotated[
        bool, typer.Option("--nofollow", help="Also links that are not followed: nofollow, ugc, sponsored.")
    ] = False,
    limit: Annotated[int, typer.Option(metavar="N", help="How many links to print.")] = 10,
    page: Annotated[int, typer.Option(metavar="N", min=1, help="Which page of links.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Tell which pages link to a page, and where it leads."""
    from rdfspider.search.found_links import Direction, tell_links

    crawl = Crawl.open(folder)
    wanted = [direction for direction, is_asked in ((Direction.IN, is_in), (Direction.OUT, is_out)) if is_asked]
    offset = (page - 1) * limit
    found = {
        direction.value: crawl.links(url, direction, limit=limit, offset=offset, nofollow=nofollow)
        for direction in wanted or Direction
    }
    words = crawl.indexes.links.read_anchors(url) if anchors else None
    if as_json:
        told: dict[str, Any] = {"url": next(iter(found.values())).url, **found}
        if words:
            told["anchors"] = {
                "others": [{"text": text, "sites": count} for text, count in words.others],
                "own": [{"text": text, "links": count} for text, count in words.own],
            }
        typer.echo(msgspec.json.encode(told))
        return
    console = open_console()
    for number, each in enumerate(found.values()):
        if number:
            console.print()
        show_text(console, tell_links(each), "bold")
        _show_links(console, each)
    if words:
        console.print()
        show_text(console, "what other sites call it" if words.others else "no other site has words for it", "bold")
        _show_words(console, "sites", words.others)
        if words.own:
            console.print()
            show_text(console, "what its own site calls it", "bold")
            _show_words(console, "links", words.own)


def path(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The page where it begins.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The page where it ends.")],
    *,
    folder: Folder,
    max_steps: Annotated[int, typer.Option(metavar="N", help="Look for no longer path.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Tell the shortest way from one page to another by links."""
    from rdfspider.search.found_links import tell_path

    found = Crawl.open(folder).path(source, target, max_steps=max_steps)
    if as_json:
        typer.echo(msgspec.json.encode(found))
    else:
        console = open_console()
        show_text(console, tell_path(found), "bold" if found.is_found else "")
        if found.links:
            show_text(console, found.source)
            show_table(console, ("", "page", "words", "kind"), [("→", *row) for row in _draw_links(found.links)])
    if not found.is_found:
        raise typer.Exit(1)


def _show_links(console: Console, found: "FoundLinks") -> None:
    if found.links:
        show_table(console, ("page", "words", "kind"), _draw_links(found.links))


def _draw_links(found: "Sequence[FoundLink]") -> list[tuple[Text, Text, Text]]:
    return [
        (
            Text.assemble(
                clean(link.url, "blue"), clean(f"  {cut_text(link.title, _TITLE_CHARS)}" if link.title else "")
            ),
            clean(link.anchor),
            clean(_tell_kind(link), "" if link.is_followed else "yellow"),
        )
        for link in found
    ]


def _tell_kind(link: "FoundLink") -> str:
    predicate = f" ({shorten_name(link.predicate)})" if link.predicate else ""
    return " ".join(link.kinds) + predicate


def _show_words(console: Console, unit: str, words: "Sequence[tuple[str, int]]") -> None:
    if words:
        rows = [(clean(text), f"{count:,}") for text, count in words[:_ANCHORS_SHOWN]]
        show_table(console, ("words", unit), rows, numbers=1)
