"""HTML for notebooks: texts, tables and statements of the web enter, escaped HTML leaves.

What answers questions has a method `_repr_html_` that draws with this. Everything is bounded: a cell is read by people.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from rdfspider.vocabulary.labels import LABELS, RDF_TYPE
from rdfspider.vocabulary.names import shorten_iri
from rdfspider.vocabulary.spellings import fold_name

_TEXT_CHARS = 300
_THINGS_DRAWN = 20
_VALUES_DRAWN = 10
_PROPERTIES_DRAWN = 40
_DEPTH = 4

_Subject = NamedNode | BlankNode | Triple
_Things = Mapping[_Subject, Mapping[str, Sequence[object]]]


def draw_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Draw a table; cells are HTML already."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def draw_link(iri: str) -> str:
    """Draw an IRI as a link if it is a web address, else as text: no other scheme may be clicked."""
    shown = escape(cut_text(shorten_iri(iri)))
    if iri.startswith(("http://", "https://")):
        return f'<a href="{escape(iri)}" rel="noopener noreferrer nofollow">{shown}</a>'
    return shown


def draw_name(iri: str) -> str:
    """Draw the name of a class or property, with its IRI in a tooltip."""
    return f'<span title="{escape(cut_text(iri))}">{escape(cut_text(shorten_iri(iri)))}</span>'


def draw_things(quads: Iterable[Quad]) -> str:
    """Draw statements as cards, one for each thing; blank nodes are inside the thing that refers to them."""
    things: dict[_Subject, dict[str, list[object]]] = {}
    inner: set[object] = set()
    for quad in quads:
        values = things.setdefault(quad.subject, {}).setdefault(quad.predicate.value, [])
        if quad.object not in values[:_VALUES_DRAWN]:
            values.append(quad.object)
        if isinstance(quad.object, BlankNode) and quad.object != quad.subject:
            inner.add(quad.object)
    outer = [subject for subject in things if subject not in inner] or list(things)[:1]
    drawn: set[object] = set()
    cards = [_draw_card(subject, things, drawn) for subject in outer[:_THINGS_DRAWN]]
    if len(outer) > _THINGS_DRAWN:
        cards.append(f"<p>and {len(outer) - _THINGS_DRAWN:,} more things</p>")
    return "".join(cards)


def write_floor(number: int, is_floor: bool) -> str:
    """Write a number, or "at least" and the number."""
    return f"at least {number:,}" if is_floor else f"{number:,}"


def cut_text(text: str, most_chars: int = _TEXT_CHARS) -> str:
    """Cut a text, with an ellipsis if there is more."""
    return text if len(text) <= most_chars else f"{text[:most_chars]}…"


def _draw_card(subject: _Subject, things: _Things, drawn: set[object]) -> str:
    properties = things[subject]
    labels = [
        (LABELS[fold_name(iri)], value.value)
        for iri, values in properties.items()
        for value in values
        if fold_name(iri) in LABELS and isinstance(value, Literal)
    ]
    types = ", ".join(draw_name(iri) for iri in _list_types(properties))
    name = draw_link(subject.value) if isinstance(subject, NamedNode) else ""
    head = f"<b>{escape(cut_text(min(labels)[1]))}</b> " if labels else ""
    return f"<div><p>{head}{types} <small>{name}</small></p>{_draw_properties(subject, things, drawn, _DEPTH)}</div>"


def _list_types(properties: Mapping[str, Sequence[object]]) -> list[str]:
    found = properties.get(RDF_TYPE, ())
    return [value.value for value in found if isinstance(value, NamedNode)][:_VALUES_DRAWN]


def _draw_properties(subject: _Subject, things: _Things, drawn: set[object], depth: int) -> str:
    properties = {iri: values for iri, values in things[subject].items() if iri != RDF_TYPE}
    rows = [
        (
            draw_name(iri),
            "<br>".join(_draw_value(value, things, drawn, depth) for value in values[:_VALUES_DRAWN]) + _more(values),
        )
        for iri, values in list(properties.items())[:_PROPERTIES_DRAWN]
    ]
    if len(properties) > _PROPERTIES_DRAWN:
        rows.append((f"and {len(properties) - _PROPERTIES_DRAWN:,} more properties", ""))
    return draw_table(("property", "value"), rows) if rows else ""


def _more(values: Sequence[object]) -> str:
    return f"<br>… {len(values):,} values in all" if len(values) > _VALUES_DRAWN else ""


def _draw_value(value: object, things: _Things, drawn: set[object], depth: int) -> str:
    if isinstance(value, Literal):
        language = f" <small>@{escape(value.language)}</small>" if value.language else ""
        return escape(cut_text(value.value)) + language
    if isinstance(value, NamedNode):
        return draw_link(value.value)
    # Each is drawn once, because nodes may refer to each other in ever more ways.
    if isinstance(value, BlankNode) and value in things and value not in drawn and depth > 1:
        drawn.add(value)
        types = ", ".join(draw_name(iri) for iri in _list_types(things[value]))
        return types + _draw_properties(value, things, drawn, depth - 1)
    return "…"
