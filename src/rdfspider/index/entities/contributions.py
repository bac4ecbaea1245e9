"""The statements of one page enter, its contributions leave: what it states about each entity. Entities are merged from them.

An IRI identifies an entity. A blank node is identified within its site by class and label, and by its URL, `sameAs` or product
identifier if it has one; without a label it is only a part, whose values are kept, separately, with the entity it belongs to. The
nodes of a page's main thing are one contribution (`main_thing.py`). Everything is bounded, because pages may be hostile.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace
from xxhash import xxh3_128_digest

from rdfspider.index.entities.main_thing import MAX_NODES, find_kind_of, find_main_nodes, fold_addresses
from rdfspider.index.entities.nodes import MAX_IRI, MAX_LABEL, Date, Graph, Node, PageSummary, Text, is_web, read_graph
from rdfspider.index.entities.parts import PartWalk, find_parts
from rdfspider.results import MAX_TYPES, Role
from rdfspider.vocabulary.class_kinds import H_CARD, ClassKind, find_kind, sort_types
from rdfspider.vocabulary.labels import (
    IDENTIFIERS,
    IMAGE_ADDRESSES,
    NO_LABEL_RANK,
    SAME_AS,
    TITLE_RANK,
    clean_label,
    is_visible,
    normalise_label,
)
from rdfspider.vocabulary.names import put_known_first, split_iri
from rdfspider.vocabulary.prefixes import SCHEMA
from rdfspider.vocabulary.terms import GENID, make_graph_iri

MAX_ENTITIES = 5_000
"""Per page."""
_MAX_PAGE_CHARS = 4_000_000
"""All values of one page's contributions together."""
_MAX_VALUES, _MAX_CHARS = 200, 20_000
"""Per contribution."""
_MAX_CLIMB = 8
"""Steps from a part to the entity it belongs to."""
_MAX_LABELS, _MAX_LANGUAGES = 8, 8
_BEHIND = 5
"""Added to the ranks of labels of documents about a thing, because they often end with the name of the site."""
_NAMED_PART_WEIGHT, _NESTED_WEIGHT, PART_WEIGHT = 0.8, 0.5, 0.2
URN = "urn:rdfspider:entity:"
"""The prefix of the IDs of entities that only blank nodes describe."""
_BLANK = f"<{GENID}"
_SEPARATOR = "\0"
"""Separates the parts of a blank node's key. No accepted IRI contains it, so no page can name another site's blank nodes."""
_BY_LABEL = f"{_SEPARATOR}label{_SEPARATOR}"
_ALSO = {H_CARD: SCHEMA + "Person"}
"""Classes that mean the same as others on one page."""
_Values = tuple[tuple[str, tuple[str, ...]], ...]


class Contribution(msgspec.Struct, frozen=True, array_like=True):
    """What one page states about one entity."""

    id: str
    """Its IRI, or `urn:rdfspider:entity:` and a hash."""
    nodes: tuple[str, ...]
    """The page's nodes for it: its IRI, or blank nodes as `genid:` IRIs."""
    types: tuple[str, ...]
    labels: tuple[Text, ...]
    description: Text | None
    image: str
    url: str
    values: tuple[tuple[str, tuple[str, ...]], ...]
    """Texts by property: literals, and the labels of the nodes that it points to."""
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    """Texts of its unnamed parts by path: the property that leads to the part, a space, and the part's own property. For parts
    without texts the path is the property alone, with an empty text."""
    links: tuple[tuple[str, tuple[str, ...]], ...]
    """IRIs by property."""
    languages: tuple[str, ...]
    syntaxes: tuple[str, ...]
    date: Date | None
    """When it was published, or takes place."""
    weight: float
    role: Role = Role.THING
    """Its place on this page."""
    whole: tuple[str, str] = ("", "")
    """ID and label of the entity that it is a part of, or URL and title of the page."""


@dataclass(slots=True)
class PageReading:
    """Everything that the text index takes from a page's statements."""

    facts: PageSummary
    contributions: dict[bytes, Contribution]
    """By the hash of the entity's key."""
    own: Contribution | None
    """What the page states about itself without a class: this belongs to the page's document and is no separate entity."""
    subclasses: list[tuple[str, str]]
    date: Date | None
    """When the page's main entities were published."""
    main: bytes | None = None
    """The hash of the entity that the page is about; None if it is about itself."""


@dataclass(slots=True)
class _Page:
    """A page whose contributions are made."""

    url: str
    label: str
    """Its title, or else its URL."""
    graph: Graph
    keys: dict[str, str]
    main: list[str]
    """The nodes of the main thing."""
    parts: set[str]
    """The nodes that are only parts of others."""
    walk: PartWalk


def hash_entity(key: str) -> bytes:
    """The 16 bytes that identify an entity."""
    return xxh3_128_digest(key.encode("utf-8", "replace"))


def find_entity(entity_id: str) -> bytes | None:
    """The hash of an entity's ID: an IRI, or `urn:rdfspider:entity:HASH`. None if HASH is invalid."""
    if not entity_id.startswith(URN):
        return hash_entity(entity_id)
    try:
        digest = bytes.fromhex(entity_id.removeprefix(URN))
    except ValueError:
        return None
    return digest if len(digest) == 16 else None


def read_page(
    url: str, site: str, statements: Mapping[str, str], *, title: str = "", canonical: str = "", is_copy: bool = False
) -> PageReading:
    """Turn a page's statements into contributions. What a copy of another page states makes no results of its own."""
    graph = read_graph(url, statements)
    own_name = f"<{make_graph_iri(url)}>"
    title = clean_label(title[:MAX_LABEL])
    _prefer_title(graph, title)
    keys = _find_keys(graph, site)
    urls = (own_name[1:-1], canonical)
    main = [name for name in find_main_nodes(graph, urls, title) if name in keys]
    if main:
        keys = dict.fromkeys(main, keys[main[0]]) | {name: key for name, key in keys.items() if name not in main}
    parts = find_parts(graph, keys, main, fold_addresses(urls))
    page = _Page(url, title or url, graph, keys, main, parts, PartWalk(graph, parts))
    own: Contribution | None = None
    if own_name in keys and (not graph.nodes[own_name].types or (not main and own_name in page.parts)):
        own = _contribute(own_name, url, page)
    contributions = _make_contributions(page, own_name, own, title)
    if is_copy:
        contributions = {entity: replace(each, role=Role.COVERED) for entity, each in contributions.items()}
    graph.facts.entities = list(contributions)
    graph.facts.subclasses = len(graph.subclasses)
    found = hash_entity(keys[main[0]]) if main else None
    foremost = [contributions[found]] if found else [each for each in contributions.values() if each.weight == 1]
    dates = [each.date for each in foremost if each.date]
    if own is not None and own.date:
        dates.append(own.date)
    return PageReading(graph.facts, contributions, own, graph.subclasses, min(dates, default=None), found)


def _make_contributions(page: _Page, own_name: str, own: Contribution | None, title: str) -> dict[bytes, Contribution]:
    """The contributions by the hashes of their entities, the main thing first."""
    contributions: dict[bytes, Contribution] = {}
    chars = 0
    for name, key in page.keys.items():
        if name == own_name and not page.graph.nodes[name].types:
            # It belongs to the main thing if there is one, and to the page's document in any case.
            continue
        entity = hash_entity(key)
        known = contributions.get(entity)
        is_full = len(contributions) == MAX_ENTITIES or chars > _MAX_PAGE_CHARS
        if is_full if known is None else len(known.nodes) == MAX_NODES:
            continue
        entity_id = URN + entity.hex() if _SEPARATOR in key else key
        contribution = _contribute(name, entity_id, page)
        contributions[entity] = contribution if known is None else _join(known, contribution)
        chars += sum(
            len(text) for each in (contribution.values, contribution.parts) for _, texts in each for text in texts
        )
    if page.main:
        entity = hash_entity(page.keys[page.main[0]])
        joined = contributions[entity] if own is None else _join(contributions[entity], _put_behind(own))
        if is_visible(title):
            joined = replace(joined, labels=_choose_labels((*joined.labels, (TITLE_RANK, "", title))))
        contributions[entity] = joined
    return contributions


def _prefer_title(graph: Graph, title: str) -> None:
    """Let each node that has several labels of the best rank have the one that is the page's title: others may be those of
    things beside it."""
    wanted = normalise_label(title)
    for node in graph.nodes.values():
        best = min(node.labels)[0] if len(node.labels) > 1 else 0
        for at, (rank, language, text) in enumerate(node.labels if len(node.labels) > 1 else ()):
            if rank == best and normalise_label(text) == wanted:
                node.labels[at] = (rank - 1, language, text)
                node.label = text
                break


def _find_keys(graph: Graph, site: str) -> dict[str, str]:
    """The key of each subject that is an entity."""
    keys: dict[str, str] = {}
    surest: dict[tuple[str, str], set[str]] = {}
    for name, node in graph.nodes.items():
        label = normalise_label(node.label)
        if not name.startswith(_BLANK):
            if len(name) > MAX_IRI or _SEPARATOR in name or not (label or _stands_alone(node)):
                continue
            key = name[1:-1]
        elif label:
            key = f"{_find_blank_key(node, graph, site)}{_SEPARATOR}{label}"
        else:
            continue
        keys[name] = key
        if label and _BY_LABEL not in key:
            for each in node.types:
                surest.setdefault((_ALSO.get(each, each), label), set()).add(key)
    for name, key in keys.items():
        if _BY_LABEL in key:
            # A page often states the same in two syntaxes, and gives the IRI or the URL in only one of them.
            label = key.rpartition(_SEPARATOR)[2]
            types = graph.nodes[name].types
            known = set().union(*(surest.get((_ALSO.get(each, each), label), ()) for each in types))
            keys[name] = known.pop() if len(known) == 1 else key
    return keys


def _stands_alone(node: Node) -> bool:
    """Whether an IRI without a label is an entity that people may look for, and not a mere link or image."""
    return bool(node.types or node.texts) and find_kind_of(node) != ClassKind.PART


def _find_blank_key(node: Node, graph: Graph, site: str) -> str:
    """What, together with its label, distinguishes a blank node from others of its site and class.

    None of it suffices alone: all authors of a paper may give its page as their URL, or its account elsewhere as `sameAs`.
    """
    start = f"{site}\0{min(node.types, default='')}"
    url = _find_address(node)
    if url and not _is_home(url, site):
        return f"{start}\0url\0{url}"
    same = (target[1:-1] for predicate, target in node.links if predicate in SAME_AS)
    if other := min((iri for iri in same if not _is_home(iri, site)), default=""):
        return f"{start}\0same\0{other}"
    texts = dict(reversed(node.texts))
    for predicate in IDENTIFIERS:
        # An identifier without a digit only says that there is none.
        if (identifier := texts.get(predicate)) and any(map(str.isdigit, identifier)):
            brand = _find_brand(node, graph)
            return f"{start}\0id\0{normalise_label(identifier)}\0{brand}"
    return f"{start}\0label"


def _is_home(url: str, site: str) -> bool:
    """Whether it is a site's home page, which many entities give as their URL."""
    return url.startswith(("http://", "https://")) and (url.count("/") < 3 or url.endswith(f"{site}/"))


def _find_brand(node: Node, graph: Graph) -> str:
    brand = SCHEMA + "brand"
    for predicate, target in node.links:
        if predicate == brand and (other := graph.nodes.get(target)) is not None:
            return normalise_label(other.label)
    return next((normalise_label(text) for predicate, text in node.texts if predicate == brand), "")


def _find_address(node: Node) -> str:
    """The web address that an entity gives for itself."""
    return min(node.addresses)[1] if node.addresses else ""


def _find_image(node: Node, graph: Graph) -> str:
    if not node.images:
        return ""
    found: list[tuple[int, str]] = []
    for rank, target in node.images:
        if target[0] != "<":
            found.append((rank, target))
            continue
        found.append((rank, target[1:-1]))
        if (image := graph.nodes.get(target)) is not None:
            found += [(rank, end[1:-1]) for inner, end in image.links if inner in IMAGE_ADDRESSES]
            found += [(rank, text) for inner, text in image.texts if inner in IMAGE_ADDRESSES]
    return min((pair for pair in found if is_web(pair[1])), default=(0, ""))[1]


def _contribute(name: str, entity_id: str, page: _Page) -> Contribution:
    node = page.graph.nodes[name]
    is_blank = name.startswith(_BLANK)
    labels = _choose_labels(node.labels)
    if not labels:
        labels = ((NO_LABEL_RANK, "", _label_of_iri(name[1:-1])),)
    role, weight = Role.THING, 1.0
    if name in page.main:
        role = Role.MAIN
    elif name in page.parts:
        role, weight = Role.PART, PART_WEIGHT
    elif node.owners:
        weight = _NESTED_WEIGHT if is_blank else _NAMED_PART_WEIGHT
    values, parts, links = _list_values(name, page)
    contribution = Contribution(
        id=entity_id,
        nodes=(name[1:-1],),
        types=_choose_types(tuple(node.types)),
        labels=labels,
        description=min(node.descriptions, default=None),
        image=_find_image(node, page.graph),
        url=_find_address(node),
        values=values,
        parts=parts,
        links=links,
        languages=tuple(sorted(node.languages)[:_MAX_LANGUAGES]),
        syntaxes=tuple(node.syntaxes),
        date=node.date,
        weight=weight,
        role=role,
        whole=_find_whole(name, page) if role == Role.PART else ("", ""),
    )
    return _put_behind(contribution) if name in page.main[1:] else contribution


def _put_behind(contribution: Contribution) -> Contribution:
    """What a document tells of the thing that it is about: its labels and description come after the thing's own."""
    described = contribution.description
    return replace(
        contribution,
        labels=tuple(
            (min(rank + _BEHIND, TITLE_RANK), language, text)
            for rank, language, text in contribution.labels
            if rank < NO_LABEL_RANK
        ),
        description=(described[0] + _BEHIND, described[1], described[2]) if described else None,
    )


def _find_whole(name: str, page: _Page) -> tuple[str, str]:
    """ID and label of the entity that a part belongs to: the first one on the way up that is not a part itself."""
    graph, above = page.graph, name
    if any(find_kind(iri) == ClassKind.DOCUMENT for iri in graph.nodes[name].types):
        return "", ""
    for _ in range(_MAX_CLIMB):
        owners = graph.nodes[above].owners
        if not owners:
            break
        above = owners[0]
        if above in page.keys and above not in page.parts:
            return _identify(above, page)
    return _identify(page.main[0], page) if page.main else (page.url, page.label)


def _identify(name: str, page: _Page) -> tuple[str, str]:
    key = page.keys[name]
    label = page.graph.nodes[page.main[0] if name in page.main else name].label
    return (URN + hash_entity(key).hex() if _SEPARATOR in key else key), label or _label_of_iri(name[1:-1])


def _choose_labels(labels: Iterable[Text]) -> tuple[Text, ...]:
    return tuple(sorted(set(labels))[:_MAX_LABELS])


@lru_cache(maxsize=4096)
def _choose_types(types: tuple[str, ...]) -> tuple[str, ...]:
    found = {iri for iri in types if len(iri) <= MAX_IRI}
    return tuple(sort_types(put_known_first(sorted(found)))[:MAX_TYPES])


def _label_of_iri(iri: str) -> str:
    namespace, local = split_iri(iri)
    return (unquote(local.rstrip("/#")) or namespace or iri)[:MAX_LABEL]


def _list_values(name: str, page: _Page) -> tuple[_Values, _Values, _Values]:
    """The texts of each property with the labels of what it points to, the texts of parts, and the IRIs."""
    nodes = page.graph.nodes
    node = nodes[name]
    texts = list(node.texts)
    parts: list[tuple[str, str]] = []
    links: list[tuple[str, str]] = []
    seen = {name}
    for predicate, target in node.links:
        other = nodes.get(target)
        is_blank = target.startswith(_BLANK)
        if not is_blank:
            links.append((predicate, target[1:-1]))
        if other is not None and other.label and other is not node:
            texts.append((predicate, other.label))
        if other is None:
            if is_blank:
                parts.append((predicate, ""))
        elif is_blank or target in page.parts:
            parts += page.walk.read_texts(predicate, target, seen)
    return _bound(texts), _bound(parts), _bound(links)


def _bound(pairs: Sequence[tuple[str, str]]) -> _Values:
    """The distinct values of each property, up to a limit for all; a property whose values are all too long is left out."""
    if not pairs:
        return ()
    found: dict[str, dict[str, None]] = {}
    count, chars = _MAX_VALUES, _MAX_CHARS
    for predicate, value in pairs:
        known = found.get(predicate)
        if known is None:
            # Keep the position of the property even if only a later value is short enough.
            known = found[predicate] = {}
        if value in known or len(value) > chars or len(predicate) > MAX_IRI:
            continue
        known[value] = None
        chars -= len(value)
        count -= 1
        if not count:
            break
    return tuple([(predicate, tuple(values)) for predicate, values in found.items() if values])


def _join(one: Contribution, other: Contribution) -> Contribution:
    """Join what a page states about an entity under two names, or in two syntaxes."""
    return Contribution(
        id=one.id,
        nodes=(*one.nodes, *other.nodes),
        types=_choose_types((*one.types, *other.types)),
        labels=_choose_labels((*one.labels, *other.labels)),
        description=min((each for each in (one.description, other.description) if each), default=None),
        image=one.image or other.image,
        url=one.url or other.url,
        values=_join_values(one.values, other.values),
        parts=_join_values(one.parts, other.parts),
        links=_join_values(one.links, other.links),
        languages=tuple(sorted({*one.languages, *other.languages})[:_MAX_LANGUAGES]),
        syntaxes=tuple(sorted({*one.syntaxes, *other.syntaxes})),
        date=min((each for each in (one.date, other.date) if each), default=None),
        weight=max(one.weight, other.weight),
        role=min(one.role, other.role, key=list(Role).index),
        whole=one.whole if one.whole == other.whole else ("", ""),
    )


def _join_values(one: _Values, other: _Values) -> _Values:
    if not one or not other:
        return one or other
    return _bound([(predicate, value) for predicate, values in (*one, *other) for value in values])
