"""An Entity enters, a picture of its incoming and outgoing links leaves. The page also gives all of it as text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from rdfspider.results import StatedValue, ValueKind
from rdfspider.search.entity import Entity
from rdfspider.serve.neighbour_boxes import MAX_A_SIDE, Box, draw_boxes
from rdfspider.serve.rendering import make_address
from rdfspider.vocabulary.class_kinds import ClassKind, find_kind
from rdfspider.vocabulary.labels import ADDRESSES, IMAGES, RDF_TYPE, is_visible
from rdfspider.vocabulary.names import find_readable_name, shorten_iri

_MAX_NODES = 16
# The most neighbours by one property: in the first round, and in total.
_FIRST_A_PROPERTY, _MAX_A_PROPERTY = 2, 6
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
    left, right = inward[: min(room[0], MAX_A_SIDE)], outward[: min(room[1], MAX_A_SIDE)]
    about = "What it points at and what points at it"
    name = entity.label or _name_iri(entity.iri)
    return draw_boxes(name, list(map(_make_box, left)), list(map(_make_box, right)), about)


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


def _make_box(one: _Neighbour) -> Box:
    names = ", ".join(dict.fromkeys(map(find_readable_name, one.properties)))
    whole = ", ".join(dict.fromkeys(map(shorten_iri, one.properties)))
    return Box(make_address("/entity", iri=one.id), one.label, names, f"{one.label} ({whole})")


def _keep_visible(label: str) -> str:
    """The label; empty if no visible character would fit into its box."""
    return label if is_visible(label[:_BOX_CHARS]) else ""


def _name_iri(iri: str) -> str:
    """The display name of an IRI without a label: shortened, or a URL without its scheme and `www.`."""
    short = shorten_iri(iri)
    return short if short != iri else iri.partition("://")[2].removeprefix("www.") or iri
