"""An Entity enters, a picture of its incoming and outgoing links leaves, as SVG without scripts or fixed colours.

Incoming links are on the left, outgoing ones on the right, so labels never overlap; each label is in a box that clips it. The
page also gives all of it as text.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from rdfspider.results import StatedValue, ValueKind
from rdfspider.search.entity import Entity
from rdfspider.serve.rendering import clean_text, make_address
from rdfspider.vocabulary.class_kinds import ClassKind, find_kind
from rdfspider.vocabulary.labels import ADDRESSES, IMAGES, RDF_TYPE, is_visible
from rdfspider.vocabulary.names import find_readable_name, shorten_iri

_MAX_NODES, _MAX_A_SIDE = 16, 11
# The most neighbours by one property: in the first round, and in total.
_FIRST_A_PROPERTY, _MAX_A_PROPERTY = 2, 6
_BOX, _MIDDLE, _SPACE, _HEIGHT, _ROW = 166, 128, 40, 34, 42
_PIXELS = 1.3
_TITLE_CHARS = 300
_BOX_CHARS = 20


@dataclass(slots=True)
class _Neighbour:
    id: str
    label: str
    properties: list[str]


def draw_neighbourhood(entity: Entity) -> Markup:
    """Draw the picture; empty if the entity has no links."""
    outward, inward = list(_list_outward(entity)), list(_list_inward(entity))
    room = max(_MAX_NODES // 2, _MAX_NODES - len(outward)), max(_MAX_NODES // 2, _MAX_NODES - len(inward))
    left, right = inward[: min(room[0], _MAX_A_SIDE)], outward[: min(room[1], _MAX_A_SIDE)]
    if not (left or right):
        return Markup("")
    rows = max(len(left), len(right))
    height = max(rows * _ROW, 2 * _ROW)
    start = -(_BOX + _SPACE) if left else -8
    width = _MIDDLE + (_BOX + _SPACE if left else 8) + (_BOX + _SPACE if right else 8)
    parts = [
        *_draw_side(left, -(_BOX + _SPACE), height, is_left=True),
        *_draw_side(right, _MIDDLE + _SPACE, height, is_left=False),
        _draw_middle(entity, height),
    ]
    return Markup(
        '<svg class="neighbourhood{}" role="group" aria-label="What it points at and what points at it" '
        'viewBox="{} 0 {} {}" width="{:.0f}" height="{:.0f}">'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="head" d="M0 0L8 4L0 8z"/></marker></defs>{}</svg>'
    ).format(
        " both" if left and right else "",
        *(start, width, height, width * _PIXELS, height * _PIXELS),
        Markup("").join(parts),
    )


def _list_outward(entity: Entity) -> Iterator[_Neighbour]:
    """Neighbours by outgoing links: a few of each property come before more of the same, and labelled ones come first."""
    found: list[tuple[int, bool, int, str, _Neighbour]] = []
    for predicate, each in entity.properties.items():
        if predicate == RDF_TYPE or predicate in IMAGES or predicate in ADDRESSES:
            continue
        values = [
            value
            for value in each.values
            if value.kind == ValueKind.IRI or (value.kind == ValueKind.BLANK and value.label and not _is_part(value))
        ]
        for at, value in enumerate(values[:_MAX_A_PROPERTY]):
            label = _keep_visible(value.label)
            neighbour = _Neighbour(value.text, label or _name_iri(value.text), [predicate])
            found.append((at // _FIRST_A_PROPERTY, not label, -value.source_count, value.text, neighbour))
    found.sort(key=lambda item: item[:4])
    return _merge((item[4] for item in found), entity)


def _is_part(value: StatedValue) -> bool:
    """Whether a blank node is a mere part, such as a step, whose place is in the list of values."""
    types = [each.text for each in value.inside.get(RDF_TYPE, ())]
    return bool(types) and all(find_kind(iri) == ClassKind.PART for iri in types)


def _list_inward(entity: Entity) -> Iterator[_Neighbour]:
    seen: dict[str, int] = {}
    found = []
    for thing in entity.references:
        at = seen[thing.property] = seen.get(thing.property, -1) + 1
        name = _keep_visible(thing.label)
        label = name or (f"a {_name_iri(thing.types[0])}" if thing.types else _name_iri(thing.id))
        found.append((at // _FIRST_A_PROPERTY, not name, thing.id, _Neighbour(thing.id, label, [thing.property])))
    found.sort(key=lambda item: item[:3])
    return _merge((item[3] for item in found), entity)


def _merge(neighbours: Iterable[_Neighbour], entity: Entity) -> Iterator[_Neighbour]:
    """Merge duplicates, and collect the properties of each neighbour."""
    merged: dict[str, _Neighbour] = {}
    for one in neighbours:
        if one.id in entity.nodes:
            continue
        if one.id in merged:
            merged[one.id].properties += one.properties
        else:
            merged[one.id] = one
    return iter(merged.values())


def _draw_side(neighbours: list[_Neighbour], x: float, height: float, *, is_left: bool) -> Iterator[Markup]:
    top = (height - len(neighbours) * _ROW) / 2 + (_ROW - _HEIGHT) / 2
    middle = height / 2
    for at, one in enumerate(neighbours):
        y = top + at * _ROW
        begin, end = (
            ((x + _BOX, y + _HEIGHT / 2), (0.0, middle))
            if is_left
            else ((float(_MIDDLE), middle), (x, y + _HEIGHT / 2))
        )
        bend = _SPACE * 0.6
        names = ", ".join(dict.fromkeys(map(find_readable_name, one.properties)))
        whole = ", ".join(dict.fromkeys(map(shorten_iri, one.properties)))
        yield Markup(
            '<path class="edge" marker-end="url(#arrow)" d="M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}"/>'
            '<a href="{}"><title>{}</title><svg x="{:.1f}" y="{:.1f}" width="{}" height="{}">'
            '<rect class="box" x="0.5" y="0.5" width="{}" height="{}" rx="6"/>'
            '<text class="by" x="8" y="13">{}</text><text class="name" x="8" y="27">{}</text></svg></a>'
        ).format(
            *(*begin, begin[0] + bend, begin[1], end[0] - bend, end[1], *end),
            make_address("/entity", iri=one.id),
            clean_text(f"{one.label} ({whole})")[:_TITLE_CHARS],
            *(x, y, _BOX, _HEIGHT, _BOX - 1, _HEIGHT - 1),
            _fit(names, 9.5, _BOX - 16),
            _fit(one.label, 12, _BOX - 16),
        )


def _draw_middle(entity: Entity, height: float) -> Markup:
    # Bold text is wider.
    lines = _wrap(entity.label or _name_iri(entity.iri), 12.8, _MIDDLE - 16, 3)
    tall = 16 * len(lines) + 14
    y = (height - tall) / 2
    texts = Markup("").join(
        Markup('<text class="name" x="{}" y="{}">{}</text>').format(_MIDDLE / 2, 19 + 16 * at, line)
        for at, line in enumerate(lines)
    )
    return Markup(
        '<svg class="self" x="0" y="{:.1f}" width="{}" height="{}"><rect class="box" x="1" y="1" width="{}" height="{}" rx="8"/>'
        "{}</svg>"
    ).format(y, _MIDDLE, tall, _MIDDLE - 2, tall - 2, texts)


def _keep_visible(label: str) -> str:
    """The label; empty if no visible character would fit into its box."""
    return label if is_visible(label[:_BOX_CHARS]) else ""


def _name_iri(iri: str) -> str:
    """The display name of an IRI without a label: shortened, or a URL without its scheme and `www.`."""
    short = shorten_iri(iri)
    return short if short != iri else iri.partition("://")[2].removeprefix("www.") or iri


def _wrap(text: str, size: float, width: float, most: int) -> list[str]:
    """Wrap words into at most `most` lines; the last one is cut."""
    lines: list[str] = []
    words = clean_text(text[:_TITLE_CHARS]).split() or ["?"]
    while words and len(lines) < most:
        line = words.pop(0)
        while words and _measure(f"{line} {words[0]}", size) <= width:
            line += f" {words.pop(0)}"
        if len(lines) == most - 1 and words:
            line = " ".join((line, *words))
        lines.append(_fit(line, size, width))
    return lines


def _fit(text: str, size: float, width: float) -> str:
    """Cut a text to the available width."""
    clean = " ".join(clean_text(text[:_TITLE_CHARS]).split())
    if _measure(clean, size) <= width:
        return clean
    while clean and _measure(f"{clean}…", size) > width:
        clean = clean[:-1]
    return f"{clean.rstrip()}…"


def _measure(text: str, size: float) -> float:
    """Estimate the width of a text: fonts differ, and the box clips what is wider."""
    return size * sum(_measure_sign(sign) for sign in text)


def _measure_sign(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.05
    if sign in "iIjl.,:;'|!ftr ()[]":
        return 0.36
    return 0.76 if sign.isupper() or sign in "mwMW@" else 0.61
