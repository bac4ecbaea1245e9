"""An entity enters, HTML for notebooks leaves. All text comes from the web and is escaped."""

from html import escape
from typing import TYPE_CHECKING

from rdfspider.drawing import cut_text, draw_link, draw_table, write_floor
from rdfspider.results import StatedValue, ValueKind
from rdfspider.vocabulary.dates import write_day
from rdfspider.vocabulary.names import shorten_iri

if TYPE_CHECKING:
    from rdfspider.search.entity import Entity, RelatedEntity

_VALUES_DRAWN = 10
_THINGS_DRAWN = 20


def draw_entity(entity: "Entity") -> str:
    """Draw an entity: its label, its types, a table of its values, and what refers to it."""
    types = ", ".join(escape(shorten_iri(iri)) for iri in entity.types)
    parts = [f"<h3>{escape(cut_text(entity.label or entity.iri))}</h3>", f"<p>{draw_link(entity.iri)} {types}</p>"]
    rows = []
    for found in entity.properties.values():
        for at, value in enumerate(found.values[:_VALUES_DRAWN]):
            name = f'<span title="{escape(found.iri)}">{escape(shorten_iri(found.iri))}</span>' if not at else ""
            rows.append((name, _draw_value(value), _draw_sources(value)))
        if found.value_count > _VALUES_DRAWN:
            rows.append(("", f"… {found.value_count:,} values in all", ""))
    parts.append(draw_table(("property", "value", "said by"), rows))
    if entity.same:
        parts.append(f"<p>the same, as pages say: {', '.join(map(draw_link, entity.same[:_THINGS_DRAWN]))}</p>")
    if entity.references:
        parts.append(f"<h4>pointed at {write_floor(entity.reference_count, entity.has_more_references)} times</h4>")
        parts.append(draw_table(("by", "as", "on"), map(_draw_reference, entity.references[:_THINGS_DRAWN])))
    if entity.things:
        drawn = (
            (
                escape(cut_text(thing.label)) or draw_link(thing.id),
                ", ".join(escape(shorten_iri(iri)) for iri in thing.types),
            )
            for thing in entity.things[:_THINGS_DRAWN]
        )
        parts.append("<h4>What this page speaks of</h4>" + draw_table(("thing", "types"), drawn))
    return "".join(parts)


def _draw_value(value: StatedValue) -> str:
    if value.kind == ValueKind.LITERAL:
        language = f" <small>@{escape(value.language)}</small>" if value.language else ""
        return escape(cut_text(value.text)) + language
    if value.kind == ValueKind.IRI:
        return draw_link(value.text) + (f" {escape(cut_text(value.label))}" if value.label else "")
    if value.items:
        more = "<li>…</li>" if value.rest or len(value.items) > _VALUES_DRAWN else ""
        return f"<ol>{''.join(f'<li>{_draw_value(item)}</li>' for item in value.items[:_VALUES_DRAWN])}{more}</ol>"
    rows = [
        (escape(shorten_iri(name)), "<br>".join(map(_draw_value, values[:_VALUES_DRAWN])))
        for name, values in value.inside.items()
    ]
    return draw_table((), rows) if rows else escape(value.text)


def _draw_sources(value: StatedValue) -> str:
    if not value.sources:
        return ""
    newest = value.sources[0]
    more = f" and {write_floor(value.source_count - 1, value.has_more_sources)} more" if value.source_count > 1 else ""
    return f"{draw_link(newest.page)} {write_day(newest.fetched)}{more}"


def _draw_reference(thing: "RelatedEntity") -> tuple[str, str, str]:
    name = escape(cut_text(thing.label)) or draw_link(thing.id)
    return name, escape(shorten_iri(thing.property)), draw_link(thing.source.page) if thing.source else ""
