"""`rdfspider search`, `entity` and `stats`: search by words, everything said about one entity, and statistics."""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from rdfspider.api import Crawl
from rdfspider.commands.console import clean, open_console, show_table, show_text
from rdfspider.commands.options import AsJson, Folder
from rdfspider.crawl.summary import clean_text, shorten_name
from rdfspider.drawing import cut_text, write_floor
from rdfspider.results import Marked, MergeReason, Results, StatedValue, ValueKind, list_facts, list_remarks
from rdfspider.vocabulary.dates import write_day
from rdfspider.vocabulary.labels import RDF_TYPE

if TYPE_CHECKING:
    from rdfspider.search.entity import Entity, EntityProperty, RelatedEntity
    from rdfspider.search.statistics import Statistics

Names = list[str] | None
# Limits for printing; the rest is counted, and JSON has more.
_VALUES_SHOWN = 10
_SOURCES_SHOWN = 2
_THINGS_SHOWN = 20


class StatsFormat(StrEnum):
    """How statistics can be printed."""

    text = "text"
    json = "json"
    turtle = "turtle"


def _filter(flag: str, metavar: str, what: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=f"Only {what}.")


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
    types: Annotated[Names, _filter("--type", "TYPE", "things of a type, such as Person")] = None,
    ontologies: Annotated[Names, _filter("--ontology", "NAME|IRI", "what uses an ontology, such as foaf")] = None,
    properties: Annotated[Names, _filter("--property", "NAME|IRI", "what has a property, such as isbn")] = None,
    sites: Annotated[Names, _filter("--site", "HOST", "what a site says")] = None,
    languages: Annotated[Names, _filter("--lang", "TAG", "what is in a language, such as en")] = None,
    syntaxes: Annotated[Names, _filter("--syntax", "NAME", "what a syntax states, such as jsonld")] = None,
    years: Annotated[Names, _filter("--year", "YEAR", "what is dated in a year")] = None,
    kinds: Annotated[Names, _filter("--kind", "KIND", "entity or only page")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many results to print.")] = 10,
    page: Annotated[int, typer.Option(metavar="N", min=1, help="Which page of results.")] = 1,
    facets: Annotated[
        bool, typer.Option("--facets", help="Also count types, ontologies, properties, sites and more.")
    ] = False,
    exact: Annotated[bool, typer.Option("--exact", help="Search for the words as typed, unknown ones too.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Also print the parts of each result's score.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search what was found. Flags that sift may be repeated, and mean any of their values."""
    # Not at the top: it imports the indexes, which other commands do not need.
    from rdfspider.search.name_lookup import check_filter_values

    crawl = Crawl.open(folder)
    filters: dict[str, Any] = {
        "type": types,
        "ontology": ontologies,
        "property": properties,
        "site": sites,
        "lang": languages,
        "syntax": syntaxes,
        "year": years,
        "kind": kinds,
    }
    check_filter_values(filters)
    found = crawl.search(
        " ".join(words or ()),
        **filters,
        limit=limit,
        offset=(page - 1) * limit,
        facets=facets,
        exact=exact,
        explain=explain,
    )
    if not found.total and any(filters.values()):
        crawl.indexes.check_filter_names(filters)
    if as_json:
        typer.echo(msgspec.json.encode(found))
    else:
        _print_results(found)


def _print_results(results: Results) -> None:
    if results.corrected:
        typer.echo(clean_text(f"showing results for {results.corrected} (search for {results.query} with --exact)"))
        typer.echo()
    for number, hit in enumerate(results, results.offset + 1):
        _print_line(f"{number}. ", hit.marked_label)
        typer.echo(clean_text(f"   {' · '.join(list_facts(hit))}"))
        typer.echo(clean_text(f"   {hit.id}"))
        if hit.same:
            typer.echo(clean_text(f"   also {', '.join(hit.same)}"))
        if hit.snippet.text:
            _print_line("   ", hit.snippet)
        if hit.explanation:
            typer.echo(f"   score {hit.score:,.2f}")
        for part in hit.explanation:
            typer.echo(clean_text(f"   {part.sign:>3} {part.value:8,.2f}  {part.reason}"))
        typer.echo()
    for facet in results.facets:
        counts = ", ".join(f"{one.name} {one.count:,}" for one in facet.counts)
        typer.echo(clean_text(f"{facet.field}{' (about)' if facet.is_approximate else ''}: {counts or 'none'}"))
    if results.facets:
        typer.echo()
    for remark in list_remarks(results):
        typer.echo(clean_text(remark))


def _print_line(start: str, marked: Marked) -> None:
    """Print a line with the search terms in bold; typer omits the style if stdout is not a terminal."""
    parts = (typer.style(clean_text(part), bold=is_marked or None) for part, is_marked in marked.split())
    typer.echo(start + "".join(parts))


def entity(
    iri: Annotated[
        str,
        typer.Argument(
            metavar="IRI", help="What it is about: an IRI, the URL of a page, or an id that `rdfspider search` prints."
        ),
    ],
    *,
    folder: Folder,
    same: Annotated[
        bool, typer.Option("--same", help="Merge it with what pages say is the same (owl:sameAs, schema:sameAs).")
    ] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Only tell why several names are one thing, and why others are not.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
) -> None:
    """Tell what pages say of a thing, by whom, and what points at it."""
    found = Crawl.open(folder).entity(iri, same=same)
    if as_json:
        typer.echo(msgspec.json.encode(found))
        return
    console = open_console()
    _show_head(console, found)
    if why:
        _show_reasons(console, found)
        return
    if found.properties:
        console.print()
        show_table(console, ("property", "value", "said by"), list(_draw_properties(found)))
    if found.references:
        shown = found.references[:_THINGS_SHOWN]
        _show_count(console, "pointed at by", len(shown), found.reference_count, found.has_more_references)
        show_table(console, ("property", "thing", "on"), [_draw_reference(thing) for thing in shown])
    if found.things:
        shown = found.things[:_THINGS_SHOWN]
        _show_count(console, "this page speaks of", len(shown), len(found.things))
        show_table(console, ("type", "thing"), [(_draw_types(thing), _draw_thing(thing)) for thing in shown])


def _show_head(console: Console, found: "Entity") -> None:
    show_text(console, found.label or found.iri, "bold")
    if found.label:
        show_text(console, found.iri)
    if found.types:
        show_text(console, ", ".join(map(shorten_name, found.types)), "green")
    if found.members:
        more = ", …" if len(found.members) > _VALUES_SHOWN else ""
        names = ", ".join(found.members[:_VALUES_SHOWN])
        show_text(console, f"one thing under {len(found.members):,} names (--why): {names}{more}", "dim")
    elif len(found.nodes) > 1:
        more = ", …" if len(found.nodes) > _VALUES_SHOWN else ""
        show_text(console, f"merged from {len(found.nodes):,}: {', '.join(found.nodes[:_VALUES_SHOWN])}{more}", "dim")
    if others := [other for other in found.same if other not in found.nodes and not found.members]:
        show_text(console, f"the same, as pages say (--same merges): {', '.join(others[:_VALUES_SHOWN])}", "dim")
    if found.is_cut:
        show_text(console, "so much is said of it that only a part was read", "yellow")


def _show_reasons(console: Console, found: "Entity") -> None:
    """Print the evidence that joins names, and the evidence that does not."""
    console.print()
    if not found.reasons and not found.apart:
        show_text(console, "no page says that it is the same as another thing: it is joined with nothing")
    if found.reasons:
        show_text(console, "why these are one", "bold")
        rows = [_draw_reason(each) for each in found.reasons[:_THINGS_SHOWN]]
        show_table(console, ("reason", "thing", "is", "because", "on"), rows)
    if found.apart:
        console.print()
        show_text(console, "kept apart", "bold")
        refused = [(each.refusal, *_draw_reason(each)) for each in found.apart[:_THINGS_SHOWN]]
        show_table(console, ("objection", "reason", "thing", "is not", "in spite of", "on"), refused)


def _draw_reason(each: MergeReason) -> tuple[str, Text, Text, Text, Text]:
    pages = Text("\n").join(clean(page, "dim") for page in each.pages)
    return each.reason, clean(each.one, "blue"), clean(each.other, "blue"), clean(each.value), pages


def _show_count(console: Console, what: str, shown: int, count: int, is_floor: bool = False) -> None:
    console.print()
    show_text(console, f"{what}{f' ({shown:,} of {write_floor(count, is_floor)})' if count > shown else ''}", "bold")


def _draw_properties(found: "Entity") -> Iterator[tuple[str | Text, str | Text, str | Text]]:
    for prop in found.properties.values():
        name = shorten_name(prop.iri)
        for value in prop.values[:_VALUES_SHOWN]:
            drawn = clean(shorten_name(value.text), "green") if prop.iri == RDF_TYPE else _draw_value(value)
            yield name, drawn, _draw_sources(value)
            name = ""
        if rest := _count_rest(prop):
            yield "", clean(f"and {rest:,} more", "dim"), ""


def _count_rest(prop: "EntityProperty") -> int:
    return prop.value_count - min(len(prop.values), _VALUES_SHOWN)


def _draw_value(value: StatedValue) -> Text:
    if value.kind == ValueKind.LITERAL:
        return Text.assemble(clean(cut_text(value.text)), clean(f" @{value.language}" if value.language else "", "dim"))
    if value.kind == ValueKind.IRI:
        return Text.assemble(
            clean(cut_text(value.text), "blue"), clean(f"  {cut_text(value.label)}" if value.label else "")
        )
    if value.inside or value.items:
        return Text("\n").join(_draw_inside(value, ""))
    return clean(value.text, "dim")


def _draw_inside(value: StatedValue, indent: str) -> Iterator[Text]:
    """The statements about a blank node, one per line, types first, nested nodes indented; for a list, its items."""
    for number, item in enumerate(value.items[:_VALUES_SHOWN], 1):
        head = clean(f"{indent}{number}. ", "dim")
        if item.inside or item.items:
            yield head
            yield from _draw_inside(item, indent + "  ")
        else:
            yield Text.assemble(head, _draw_value(item))
    if value.rest or len(value.items) > _VALUES_SHOWN:
        yield clean(f"{indent}and more", "dim")
    for name, values in sorted(value.inside.items(), key=lambda pair: pair[0] != RDF_TYPE):
        for each in values[:_VALUES_SHOWN]:
            head = clean(f"{indent}{shorten_name(name)}: ", "dim")
            if name == RDF_TYPE:
                yield clean(indent + shorten_name(each.text), "green")
            elif each.kind == ValueKind.BLANK and (each.inside or each.items):
                yield head
                yield from _draw_inside(each, indent + "  ")
            else:
                yield Text.assemble(head, _draw_value(each))


def _draw_sources(value: StatedValue) -> Text:
    shown = value.sources[:_SOURCES_SHOWN]
    lines = [clean(f"{source.page} {write_day(source.fetched)}".rstrip(), "dim") for source in shown]
    if rest := value.source_count - len(lines):
        lines.append(clean(f"and {write_floor(rest, value.has_more_sources)} more pages", "dim"))
    return Text("\n").join(lines)


def _draw_reference(thing: "RelatedEntity") -> tuple[str, Text, Text]:
    page = clean(f"{thing.source.page} {write_day(thing.source.fetched)}".rstrip(), "dim") if thing.source else Text()
    return shorten_name(thing.property), _draw_thing(thing), page


def _draw_thing(thing: "RelatedEntity") -> Text:
    return Text.assemble(clean(cut_text(thing.label) + "  " if thing.label else ""), clean(thing.id, "blue"))


def _draw_types(thing: "RelatedEntity") -> str:
    return ", ".join(map(shorten_name, thing.types[:_VALUES_SHOWN]))


def stats(
    *,
    folder: Folder,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="How many of each kind to print.")] = 20,
    file_format: Annotated[
        StatsFormat, typer.Option("--format", help="Tables, one line of JSON, or a VoID description as Turtle.")
    ] = StatsFormat.text,
) -> None:
    """Count the classes, properties, ontologies and sites of pages."""
    found = Crawl.open(folder).stats(top)
    if file_format is StatsFormat.json:
        typer.echo(msgspec.json.encode(found.to_dict()))
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
