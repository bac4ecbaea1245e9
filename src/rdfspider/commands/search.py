"""`rdfspider search`: what a crawl has found, by words, types, ontologies, properties, sites."""

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from rdfspider.api import Crawl
from rdfspider.commands.options import Folder
from rdfspider.crawl.summary import clean_text

if TYPE_CHECKING:
    from rdfspider.index.text.results import Marked, Results

Names = list[str] | None


def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORDS...",
            help='Words, "phrases", beginnings (wor*), type:person, author:melville, after:2024 and more; a minus before any '
            "of them leaves it out (put -- before the first one then).",
            show_default=False,
        ),
    ] = None,
    *,
    folder: Folder,
    types: Annotated[
        Names, typer.Option("--type", metavar="TYPE", help="Only things of a type, such as Person.")
    ] = None,
    ontologies: Annotated[
        Names, typer.Option("--ontology", metavar="NAME|IRI", help="Only what uses an ontology, such as foaf.")
    ] = None,
    properties: Annotated[
        Names, typer.Option("--property", metavar="NAME|IRI", help="Only what has a property, such as isbn.")
    ] = None,
    sites: Annotated[Names, typer.Option("--site", metavar="HOST", help="Only what a site says.")] = None,
    languages: Annotated[
        Names, typer.Option("--lang", metavar="TAG", help="Only what is in a language, such as en.")
    ] = None,
    syntaxes: Annotated[
        Names, typer.Option("--syntax", metavar="NAME", help="Only what a syntax states, such as jsonld.")
    ] = None,
    years: Annotated[Names, typer.Option("--year", metavar="YEAR", help="Only what is dated in a year.")] = None,
    kinds: Annotated[Names, typer.Option("--kind", metavar="KIND", help="Only entity or only page.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many results to print.")] = 10,
    page: Annotated[int, typer.Option(metavar="N", min=1, help="Which page of results.")] = 1,
    facets: Annotated[
        bool, typer.Option("--facets", help="Also count types, ontologies, properties, sites and more.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as one line of JSON.")] = False,
) -> None:
    """Search what was found. Flags that sift may be repeated, and mean any of their values."""
    found = Crawl.open(folder).search(
        " ".join(words or ()),
        type=types,
        ontology=ontologies,
        property=properties,
        site=sites,
        lang=languages,
        syntax=syntaxes,
        year=years,
        kind=kinds,
        limit=limit,
        offset=(page - 1) * limit,
        facets=facets,
    )
    if as_json:
        typer.echo(msgspec.json.encode(found))
    else:
        _print_results(found)


def _print_results(results: "Results") -> None:
    from rdfspider.index.text.results import list_facts, list_remarks

    for number, hit in enumerate(results, results.offset + 1):
        _print_line(f"{number}. ", hit.marked_label)
        typer.echo(clean_text(f"   {' · '.join(list_facts(hit))}"))
        typer.echo(clean_text(f"   {hit.id}"))
        if hit.snippet.text:
            _print_line("   ", hit.snippet)
        typer.echo()
    for facet in results.facets:
        counts = ", ".join(f"{one.name} {one.count:,}" for one in facet.counts)
        typer.echo(clean_text(f"{facet.field}{' (about)' if facet.is_approximate else ''}: {counts or 'none'}"))
    if results.facets:
        typer.echo()
    for remark in list_remarks(results):
        typer.echo(clean_text(remark))


def _print_line(start: str, marked: "Marked") -> None:
    """What was searched for is bold on a terminal; typer leaves that out elsewhere."""
    parts = (typer.style(clean_text(part), bold=is_marked or None) for part, is_marked in marked.split())
    typer.echo(start + "".join(parts))
