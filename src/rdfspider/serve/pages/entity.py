"""The page of an entity: its IRI enters, everything that pages say about it leaves, with attributions and related entities.

With `says` the page shows one property, page by page, with the syntax of each statement.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from rdfspider.errors import UsageError
from rdfspider.results import Source, StatedValue, ValueKind
from rdfspider.search.attributions import (
    Attribution,
    add_attribution_syntaxes,
    add_entity_syntaxes,
)
from rdfspider.search.entity import REFERENCES_SHOWN, Entity, EntityProperty
from rdfspider.search.entity_lookup import EntityLookup
from rdfspider.search.name_lookup import list_readings
from rdfspider.serve.neighbourhood import draw_neighbourhood
from rdfspider.serve.readable_literals import draw_literal, draw_place, find_place, read_place
from rdfspider.serve.replies import CsvTable, NotFoundError, PageReply, PageRequest, Parameter, SitePage
from rdfspider.validate.conflict_rules import group_values
from rdfspider.vocabulary.labels import (
    ADDRESSES,
    DESCRIPTIONS,
    IMAGE_ADDRESSES,
    IMAGES,
    LABELS,
    RDF_TYPE,
    SAME_AS,
    decode_references,
)
from rdfspider.vocabulary.names import find_short_name, is_for_programs, shorten_iri
from rdfspider.vocabulary.prefixes import SCHEMA
from rdfspider.vocabulary.terms import GENID, fold_iri

PROPERTIES_SHOWN, VALUES_SHOWN, ATTRIBUTIONS_SHOWN = 50, 40, 50
"""Properties per page, values per property, attributions per page of one property."""
_MAX_START = 10_000
_MAX_ATTRIBUTIONS = 20_000
_SOURCES_LISTED, _SIDES, _WRITINGS = 5, 6, 4
# Values that are seen at once, the others are folded: of texts, of images, of nodes with properties of their own.
_TEXTS_SEEN, _IMAGES_SEEN, _NODES_SEEN = 12, 2, 2
_STEPS = frozenset(SCHEMA + name for name in ("HowToStep", "HowToDirection", "HowToTip"))
_STEP_FRAME = frozenset((RDF_TYPE, *(SCHEMA + name for name in ("name", "text", "url", "image", "position"))))
_NESTED_SHOWN = 1_000
_ALIASES_SHOWN = 20
_HEADS = ("property", "path", "node", "value", "kind", "language", "datatype", "page", "fetched", "syntaxes")
# Names and descriptions come first for the reader; what is for programs, other names and types come last.
_FIRST, _LAST = (LABELS, DESCRIPTIONS), (SAME_AS, (RDF_TYPE,))


@dataclass(frozen=True, slots=True)
class AttributionData:
    """A value, and one page that gives it, for JSON."""

    value: StatedValue
    page: str
    fetched: float
    syntaxes: tuple[str, ...]
    is_exact: bool


@dataclass(frozen=True, slots=True)
class AttributionsData:
    """Who says what of one property, for JSON."""

    iri: str
    property: str
    count: int
    has_more: bool
    attributions: list[AttributionData]


def show_entity(request: PageRequest) -> PageReply:
    """Show everything said about an entity, or about one of its properties."""
    name = request.get("iri")
    if not name:
        raise UsageError("say which thing: /entity?iri=")
    start, via, same = (
        request.get_number("from", 1, _MAX_START) - 1,
        fold_iri(request.get("via")),
        request.get("same") == "1",
    )
    with request.site.indexes.use_entities() as entities:
        found = entities.find(name, same=same, start=start, via=via)
        if found is None:
            return _show_missing(request, entities, name)
        if says := fold_iri(request.get("says")):
            return _show_attributions(request, entities, found, says)
        is_page = entities.is_page(found)
        uses = entities.find_uses([found.iri])
        others = _list_others(found, same)
        aliases = entities.read_aliases(found, others[:_ALIASES_SHOWN])
    found = add_entity_syntaxes(found, partial(read_statements, request))
    if request.format == "html":
        request.find_images(_list_images(found))
    return PageReply(
        "entity.html",
        {
            **_make_context(request, found),
            "is_page": is_page,
            "uses": uses,
            "start": start,
            "via": via,
            "is_same": same,
            "aliases": aliases,
            "aliases_left_out": len(others) - len(aliases),
            "picture": draw_neighbourhood(found),
            "query": f"SELECT ?thing ?property WHERE {{\n  ?thing ?property <{found.nodes[0]}>\n}} LIMIT 1000",
        },
        data=lambda: found,
        table=lambda: CsvTable(_HEADS, _make_rows(found)),
        nquads=lambda: _dump(request, found.nodes),
    )


def read_statements(request: PageRequest, url: str) -> Mapping[str, str] | None:
    """The statements of a page by syntax; None if they are not stored, or not completely."""
    try:
        # Extracting pages of foreign files again could take any time, and there may be twenty of them.
        record = request.site.indexes.page(url, None)
    except (UsageError, OSError):
        return None
    return None if record is None or record.is_cut else record.statements


def _show_attributions(request: PageRequest, entities: EntityLookup, found: Entity, predicate: str) -> PageReply:
    if predicate not in found.properties:
        raise NotFoundError(f"no page gives {predicate[:200]!r} of it")
    number = request.get_number("page", 1, _MAX_ATTRIBUTIONS // ATTRIBUTIONS_SHOWN)
    found_attributions = entities.read_attributions(
        found, predicate, (number - 1) * ATTRIBUTIONS_SHOWN, ATTRIBUTIONS_SHOWN
    )
    told = add_attribution_syntaxes(
        found_attributions.attributions, predicate, found.nodes, partial(read_statements, request)
    )
    rows = [_describe_attribution(each) for each in told]
    return PageReply(
        "entity_says.html",
        {
            **_make_context(request, found),
            "property": found.properties[predicate],
            "attributions": told,
            "count": found_attributions.count,
            "has_more": found_attributions.has_more,
            "page": number,
            "pages": -(-min(found_attributions.count, _MAX_ATTRIBUTIONS) // ATTRIBUTIONS_SHOWN),
        },
        data=lambda: AttributionsData(
            found.iri, predicate, found_attributions.count, found_attributions.has_more, rows
        ),
        table=lambda: CsvTable(
            _HEADS, (row for one in told for row in _make_value_rows(predicate, one.value, [one.source]))
        ),
        nquads=lambda: _dump(request, found.nodes, predicate),
    )


def _show_missing(request: PageRequest, entities: EntityLookup, name: str) -> PageReply:
    """Suggest what may be meant: the IRI may be mistyped, or belong to a page that is gone."""
    message = f"no page says anything of {name[:200]!r}"
    if request.format != "html":
        raise NotFoundError(message)
    uses = entities.find_uses(list_readings(name))
    return PageReply("entity_missing.html", {"name": name, "uses": uses, "message": message}, status=404)


def _make_context(request: PageRequest, found: Entity) -> dict[str, Any]:
    """The context for both pages of an entity."""
    rows = _sort_properties(found.properties.values())
    number = request.get_number("page", 1, _MAX_START)
    values = {name: each.values for name, each in found.properties.items()}
    place = find_place(values)
    return {
        "entity": found,
        "values": values,
        "rows": rows[(number - 1) * PROPERTIES_SHOWN : number * PROPERTIES_SHOWN],
        "page": number,
        "pages": -(-len(rows) // PROPERTIES_SHOWN),
        "lead": _make_lead(found),
        "place": draw_place(place) if place else "",
        "conflicts": [each for each in rows if each.conflict],
        "anchors": {each.iri: f"p-{at}" for at, each in enumerate(rows, 1)},
        "room": _Room(_NESTED_SHOWN),
        "type_iri": RDF_TYPE,
        "literal": draw_literal,
        "place_of": lambda inside: draw_place(at) if (at := read_place(inside)) else "",
        "sort_inside": _sort_inside,
        "split_sides": _split_sides,
        "is_image": _is_image,
        "fold": _fold,
        "step": _read_step,
        # Where one page alone speaks, it is named once, and not beside every value.
        "only_source": _find_only_source(found),
        "most": {
            "names": _ALIASES_SHOWN,
            "each": VALUES_SHOWN,
            "sources": _SOURCES_LISTED,
            "references": REFERENCES_SHOWN,
        },
    }


def _find_only_source(found: Entity) -> Source | None:
    """The page that makes all statements about an entity, with all syntaxes in which it does; None if there are several."""
    values = [value for each in found.properties.values() for value in each.values]
    sources = [source for value in values for source in value.sources]
    if len({source.page for source in sources}) != 1 or any(value.source_count > 1 for value in values):
        return None
    syntaxes = dict.fromkeys(syntax for source in sources for syntax in source.syntaxes)
    return replace(sources[0], syntaxes=tuple(syntaxes), is_exact=all(source.is_exact for source in sources))


class _Room:
    """Tracks how many nested values may still be shown, and which anchors are used: an id must be unique on a page."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._taken: set[str] = set()

    def take(self, count: int = 1) -> bool:
        """Use up some room; return whether there was enough."""
        self._left -= count
        return self._left >= 0

    def make_anchor(self, node: str) -> str:
        """The id of a nested node; empty if it is already on the page."""
        name = "node-" + "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in node[-60:])
        if name in self._taken:
            return ""
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Lead:
    """A summary of an entity."""

    description: str = ""
    language: str = ""
    image: str = ""
    url: str = ""


def _make_lead(found: Entity) -> _Lead:
    description = next(_rank_values(found, DESCRIPTIONS, ValueKind.LITERAL), None)
    urls = (value.text.strip() for value in _rank_values(found, ADDRESSES, ValueKind.LITERAL, ValueKind.IRI))
    return _Lead(
        decode_references(description.text) if description else "",
        description.language if description else "",
        next(_list_images(found), ""),
        next(filter(_is_address, urls), ""),
    )


def _list_images(found: Entity) -> Iterator[str]:
    """The URLs of its images, including images that are nodes of their own."""
    for value in _rank_values(found, IMAGES, ValueKind.LITERAL, ValueKind.IRI, ValueKind.BLANK):
        inner = next((value.inside[name][0] for name in IMAGE_ADDRESSES if name in value.inside), value)
        if _is_image(SCHEMA + "image", inner):
            yield inner.text.strip()


def _rank_values(found: Entity, ranks: Mapping[str, int], *kinds: ValueKind) -> Iterator[StatedValue]:
    """The values of some properties, in the order of the properties' ranks."""
    for iri in sorted(ranks.keys() & found.properties.keys(), key=lambda iri: (ranks[iri], iri)):
        yield from (value for value in found.properties[iri].values if value.kind in kinds and value.text.strip())


def _list_others(found: Entity, is_same: bool) -> list[str]:
    """The other names of an entity, except those of its members: those merged on request, then those that pages say are the
    same."""
    merged = (node for node in found.nodes if is_same and not node.startswith(GENID))
    return [name for name in dict.fromkeys((*merged, *found.same)) if name != found.iri and name not in found.members]


def _sort_properties(properties: Iterable[EntityProperty]) -> list[EntityProperty]:
    def rank(each: EntityProperty) -> tuple[int, int, str, str]:
        for at, ranks in enumerate(_FIRST):
            if each.iri in ranks:
                return at, ranks[each.iri], "", each.iri
        for at, group in enumerate(_LAST):
            if each.iri in group:
                return 9 + at, 0, "", each.iri
        return 5 + is_for_programs(each.iri), 0, find_short_name(each.iri), each.iri

    return sorted(properties, key=rank)


def _split_sides(found: EntityProperty) -> tuple[list[list[StatedValue]], list[StatedValue]]:
    """Split values into groups shown side by side, if they conflict, and the rest below; equivalent values share a group."""
    if not found.conflict:
        return [], list(found.values[:VALUES_SHOWN])
    groups = [group[:_WRITINGS] for group in group_values(found.iri, found.values)]
    below = [value for group in groups[_SIDES:] for value in group]
    return groups[:_SIDES], below[: VALUES_SHOWN - _SIDES]


def _fold(predicate: str, values: Sequence[StatedValue]) -> tuple[Sequence[StatedValue], Sequence[StatedValue]]:
    """Split values into those that are seen at once and those that are folded; a single value is never folded."""
    seen = _TEXTS_SEEN
    if any(_is_image(predicate, value) for value in values):
        seen = _IMAGES_SEEN
    elif any(value.inside and not _read_step(value) for value in values):
        seen = _NODES_SEEN
    return (values, ()) if len(values) <= seen + 1 else (values[:seen], values[seen:])


def _read_step(value: StatedValue) -> str:
    """The text of a step of a recipe or guide that has nothing else to show; otherwise empty."""
    inside = value.inside
    texts = inside.get(SCHEMA + "text", ()) or inside.get(SCHEMA + "name", ())
    is_step = any(each.text in _STEPS for each in inside.get(RDF_TYPE, ()))
    if not (is_step and len(texts) == 1 and inside.keys() <= _STEP_FRAME):
        return ""
    text = " ".join(decode_references(texts[0].text).split())
    name = " ".join(decode_references(next((each.text for each in inside.get(SCHEMA + "name", ())), "")).split())
    return text if not name or text.startswith(name.rstrip("….")) else f"{name}: {text}"


def _sort_inside(inside: Mapping[str, Sequence[StatedValue]]) -> list[tuple[str, Sequence[StatedValue]]]:
    """The properties of a nested node, its names first; its types are shown above."""
    pairs = [(name, values) for name, values in inside.items() if name != RDF_TYPE]
    return sorted(pairs, key=lambda pair: (LABELS.get(pair[0], 9), find_short_name(pair[0])))


def _is_image(predicate: str, value: StatedValue) -> bool:
    """Whether a value is the URL of an image."""
    is_picture = predicate in IMAGES or predicate in (SCHEMA + "contentUrl", SCHEMA + "thumbnail")
    # A URL with a fragment denotes an entity, not a file.
    return is_picture and value.kind != ValueKind.BLANK and _is_address(value.text) and "#" not in value.text


def _is_address(text: str) -> bool:
    return text.strip().startswith(("http://", "https://")) and len(text) < 2_000


def _dump(request: PageRequest, nodes: Sequence[str], predicate: str = "") -> bytes:
    with request.site.indexes.use_entities() as entities:
        return entities.dump(nodes, predicate)


def _make_rows(found: Entity) -> Iterator[Sequence[object]]:
    for each in found.properties.values():
        for value in each.values:
            yield from _make_value_rows(each.iri, value, value.sources)


def _make_value_rows(predicate: str, value: StatedValue, sources: Sequence[Source]) -> Iterator[Sequence[object]]:
    """One row per source; for a blank node one row per inner value, with the path to it."""
    for source in sources:
        for path, node, inner in _list_leaves(value, shorten_iri(predicate)):
            leaf = (inner.text, inner.kind, inner.language, inner.datatype)
            yield (predicate, path, node, *leaf, *_write_source(source))


def _list_leaves(value: StatedValue, path: str, node: str = "") -> Iterator[tuple[str, str, StatedValue]]:
    """The leaves of a value: the path of properties, the node that has the leaf, and the leaf itself."""
    if value.kind != ValueKind.BLANK or not (value.inside or value.items):
        yield path, node, value
    for item in value.items:
        yield from _list_leaves(item, path, value.text)
    for name, values in value.inside.items() if value.kind == ValueKind.BLANK else ():
        for each in values:
            yield from _list_leaves(each, f"{path}/{shorten_iri(name)}", value.text)


def _write_source(source: Source) -> tuple[str, str, str]:
    fetched = datetime.fromtimestamp(source.fetched, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if source.fetched else ""
    return source.page, fetched, " ".join(source.syntaxes)


def _describe_attribution(attribution: Attribution) -> AttributionData:
    source = attribution.source
    return AttributionData(attribution.value, source.page, source.fetched, source.syntaxes, source.is_exact)


PAGES = (
    SitePage(
        "/entity",
        show_entity,
        "Everything that pages say of a thing, by whom and when, and what points at it.",
        (
            Parameter("iri", "An IRI, the URL of a page, or an id that a search gave.", is_required=True),
            Parameter("same", "1 to merge it with what pages say is the same."),
            Parameter("page", "Which page of its properties, or of what is said of one, from 1 on.", kind="integer"),
            Parameter(
                "from", "With which of the statements that point at it the list begins, from 1 on.", kind="integer"
            ),
            Parameter("via", "The IRI of a property: only what points at it by that one."),
            Parameter("says", "The IRI of a property: who says so, page by page, and in which syntax."),
        ),
        answer=(Entity, AttributionsData),
    ),
)
