"""Joins things: the claims of all pages in the ledger enter; which things are one leaves, and why.

Claims connect things and keys. From what has changed, everything that is connected is explored, within limits. Then things are
joined two by two, the surest evidence first (a union-find), and only if nothing speaks against it: the kinds of all members
have something in common, no two members have different identifiers of the same sort, the labels agree, nobody has split
them. So what contradicts is not joined by its weakest evidence. The result depends on the claims alone, not on their order.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from rdfspider.index.entities.contributions import URN, Contribution
from rdfspider.index.identity.evidence import SINGLE, Reason
from rdfspider.index.identity.likeness import find_kind, measure_likeness, share_script, share_word, split_words
from rdfspider.vocabulary.labels import TITLE_RANK

MAX_MEMBERS = 200
"""Things that are joined to one."""
MAX_CLAIMANTS = 300
"""A key that more things claim joins nothing."""
_MAX_EXPLORED = 3_000
"""If more things are connected, none of them is joined."""
_HUB_LABELS = 4
"""A key that things with more different labels claim joins nothing."""
_MAX_KEYS = 200
"""Of one thing, on all pages together."""
_HALF, _SOME_WORDS = 0.5, 0.3
"""The share of all words that two labels must have in common."""
_MOST_WORDS = 0.67
"""On one site, whose things share accounts and addresses: one more word may make another thing of it."""
_MANY_KEYS = 3
_HUB = "claimed by many different things"
_MENTIONS_READ = 4
_MAX_LABELS = 12

_KEYS = (
    "WITH RECURSIVE k(key) AS (SELECT min(key) FROM claims WHERE entity = ?1 UNION ALL"
    " SELECT (SELECT min(key) FROM claims WHERE entity = ?1 AND key > k.key) FROM k WHERE key IS NOT NULL LIMIT ?2)"
    " SELECT key, (SELECT min(reason) FROM claims WHERE entity = ?1 AND key = k.key) FROM k WHERE key IS NOT NULL"
)
_CLAIMANTS = (
    "WITH RECURSIVE e(entity) AS (SELECT min(entity) FROM claims WHERE key = ?1 UNION ALL"
    " SELECT (SELECT min(entity) FROM claims WHERE key = ?1 AND entity > e.entity) FROM e WHERE entity IS NOT NULL LIMIT ?2)"
    " SELECT entity FROM e WHERE entity IS NOT NULL"
)
_MENTIONS = (
    "SELECT p.site, substr(c.data, m.start, m.size) FROM mentions m CROSS JOIN pages p ON p.id = m.page"
    " CROSS JOIN contributions c ON c.page = m.page WHERE m.entity = ? ORDER BY m.rank LIMIT ?"
)


class Edge(NamedTuple):
    """Evidence that two things are one. One of them may be the key itself: the target of the other's `sameAs`."""

    reason: Reason
    key: bytes
    one: bytes
    other: bytes
    refusal: str = ""
    """Why it joins nothing nevertheless; empty if it does."""


@dataclass(slots=True)
class Thing:
    """What is known of a thing for joining it."""

    id: str
    kind: int
    labels: tuple[frozenset[str], ...]
    """The words of each."""
    sites: frozenset[str]
    keys: Mapping[bytes, Reason]


@dataclass(slots=True)
class _Group:
    members: set[bytes]
    kind: int
    keys: dict[Reason, set[bytes]]
    edges: list[Edge] = field(default_factory=list)


class Component(NamedTuple):
    """Things that are one."""

    members: tuple[str, ...]
    """Their IDs, the canonical one first."""
    entities: tuple[bytes, ...]
    edges: tuple[Edge, ...]
    """The evidence that joins them."""
    refused: tuple[Edge, ...]
    """The evidence that would join them with other things."""


class _Web(NamedTuple):
    """Things that claims connect, and the keys that connect them."""

    things: dict[bytes, Mapping[bytes, Reason]]
    """What each described thing claims."""
    claimants: dict[bytes, list[bytes]]
    """By node; one more than the limit if it is a hub."""
    is_cut: bool


def list_iris(members: Sequence[str]) -> tuple[str, ...]:
    """The IRIs of things that are one, without the canonical one and without those that only blank nodes describe."""
    return tuple(sorted((each for each in members[1:] if not each.startswith(URN)), key=_rank_id))


def list_followers(db: sqlite3.Connection, entities: Iterable[bytes]) -> set[bytes]:
    """Those of some things that are one which claim to be another of them that does not say so of them. Whoever makes such a
    claim neither gives the thing its name nor decides what is shown of it."""
    return _find_followers({each: {key for key, _ in db.execute(_KEYS, (each, _MAX_KEYS))} for each in entities})


def _find_followers(keys: Mapping[bytes, Collection[bytes]]) -> set[bytes]:
    return {one for one, claimed in keys.items() if any(other in keys and one not in keys[other] for other in claimed)}


def _sort_members(things: Mapping[bytes, "Thing"], members: Iterable[bytes]) -> list[bytes]:
    """The canonical one first: IRIs before things without one, those that others claim to be before those others, the
    shortest, by alphabet."""
    followers = _find_followers({each: things[each].keys for each in members})
    return sorted(
        members, key=lambda each: (things[each].id.startswith(URN), each in followers, *_rank_id(things[each].id))
    )


def _rank_id(name: str) -> tuple[int, str]:
    return len(name), name


def join_things(
    db: sqlite3.Connection, starts: Mapping[bytes, int], splits: "Splits", *, is_merging: bool
) -> dict[bytes, bytes]:
    """The canonical thing of each described thing that is connected with any of these; empty if claims have nothing to do
    with it any more, or too many things are connected with it. `starts` are things and keys, with how many claims of each
    have changed."""
    found: dict[bytes, bytes] = {}
    seen: set[bytes] = set()
    crowd: set[bytes] = set()
    hubs: dict[bytes, list[bytes]] = {}
    rest = list(starts)
    for start in rest:
        if start in seen:
            continue
        web = _explore(db, start, crowd, hubs)
        nodes = web.claimants.keys() - hubs.keys()
        seen |= nodes
        seen.add(start)
        if web.is_cut:
            crowd |= nodes
        claimants = web.claimants.get(start, ())
        if len(claimants) > MAX_CLAIMANTS and len(claimants) <= MAX_CLAIMANTS + starts.get(start, 0):
            # It has just become a hub: what it joined before is judged again.
            rest += claimants
        if not web.things:
            if _is_described(db, start):
                found[start] = b""
            continue
        if not is_merging or len(web.things) == 1:
            found.update((entity, entity) for entity in web.things)
            continue
        if web.is_cut:
            found.update(dict.fromkeys(web.things, b""))
            continue
        things, groups, _ = _join(db, web, splits)
        for group in groups:
            found.update(dict.fromkeys(group.members, _sort_members(things, group.members)[0]))
    return found


def explain_thing(db: sqlite3.Connection, entity: bytes, splits: "Splits", *, is_merging: bool) -> Component | None:
    """Which things are one with this, and why; None if claims have nothing to do with it."""
    web = _explore(db, entity, set(), {})
    if entity not in web.things or web.is_cut or not is_merging:
        return None
    things, groups, refused = _join(db, web, splits)
    group = next(group for group in groups if entity in group.members)
    members = _sort_members(things, group.members)
    return Component(
        tuple(things[each].id for each in members),
        tuple(members),
        tuple(sorted(group.edges)),
        tuple(sorted(edge for edge in refused if (edge.one in group.members) != (edge.other in group.members))),
    )


class Splits:
    """Which things are kept apart."""

    def __init__(self, rows: Iterable[tuple[bytes, bytes]] = ()) -> None:
        """Pairs of things, or a thing and nothing: then it is joined with nothing at all."""
        pairs = list(rows)
        self._alone = {one for one, other in pairs if not other}
        self._pairs = [(one, other) for one, other in pairs if other]

    def part(self, one: set[bytes], other: set[bytes]) -> bool:
        """Whether any of these must not be joined with any of those."""
        if self._alone and not (self._alone.isdisjoint(one) and self._alone.isdisjoint(other)):
            return True
        return any((a in one and b in other) or (a in other and b in one) for a, b in self._pairs)


def _explore(db: sqlite3.Connection, start: bytes, crowd: set[bytes], hubs: dict[bytes, list[bytes]]) -> _Web:
    """What claims connect with a node. `crowd` are nodes that are known to be connected with too many things; hubs are noted with
    some of their claimants. If there are too many things, only those that may still be joined are found beyond the limit."""
    web = _Web({}, {}, False)
    waiting, seen = [start], {start}
    while waiting:
        node = waiting.pop()
        claimants = hubs.get(node) or [row[0] for row in db.execute(_CLAIMANTS, (node, MAX_CLAIMANTS + 1))]
        row = db.execute("SELECT canonical FROM entities WHERE id = ?", (node,)).fetchone()
        if web.is_cut and row and not row[0]:
            # It is new, or was connected with too many before, and what is behind it too.
            continue
        web.claimants[node] = claimants
        if is_hub := len(claimants) > MAX_CLAIMANTS:
            hubs[node] = claimants
        # Most nodes are mere keys, which claim nothing.
        keys = {key: Reason(reason) for key, reason in db.execute(_KEYS, (node, _MAX_KEYS))} if row else {}
        if keys or (row and claimants and not is_hub):
            web.things[node] = keys
        others = [*keys, *(() if is_hub else claimants)]
        if len(web.things) > _MAX_EXPLORED or not crowd.isdisjoint(others):
            web = web._replace(is_cut=True)
        new = [other for other in dict.fromkeys(others) if other not in seen and other not in crowd]
        seen.update(new)
        waiting += new
    return web


def _is_described(db: sqlite3.Connection, entity: bytes) -> bool:
    return db.execute("SELECT 1 FROM entities WHERE id = ?", (entity,)).fetchone() is not None


def _read_thing(db: sqlite3.Connection, entity: bytes, keys: Mapping[bytes, Reason]) -> Thing:
    rows = db.execute(_MENTIONS, (entity, _MENTIONS_READ)).fetchall()
    contributions = [msgspec.msgpack.decode(data, type=Contribution) for _, data in rows]
    labels = sorted({label for each in contributions for label in each.labels if label[0] < TITLE_RANK})
    words = dict.fromkeys(split_words(text) for _, _, text in labels[:_MAX_LABELS])
    return Thing(
        id=contributions[0].id if contributions else URN + entity.hex(),
        kind=find_kind(iri for each in contributions for iri in each.types),
        labels=tuple(each for each in words if each),
        sites=frozenset(site for site, _ in rows),
        keys=keys,
    )


def _join(db: sqlite3.Connection, web: _Web, splits: Splits) -> tuple[dict[bytes, Thing], list[_Group], list[Edge]]:
    """Join the things of a web; also return the evidence that was refused."""
    things = {entity: _read_thing(db, entity, keys) for entity, keys in web.things.items()}
    groups = {entity: _Group({entity}, thing.kind, _list_single(thing)) for entity, thing in things.items()}
    refused: list[Edge] = []
    edges = sorted(edge for key, claimants in web.claimants.items() for edge in _list_edges(things, key, claimants))
    for edge in edges:
        one, other = groups[edge.one], groups[edge.other]
        if one is other and not edge.refusal:
            one.edges.append(edge)
            continue
        refusal = edge.refusal or _refuse(one, other, splits)
        if refusal:
            refused.append(edge._replace(refusal=refusal))
            continue
        if len(one.members) < len(other.members):
            one, other = other, one
        one.members |= other.members
        one.kind &= other.kind
        one.edges += [*other.edges, edge]
        for reason, keys in other.keys.items():
            one.keys.setdefault(reason, set()).update(keys)
        groups.update(dict.fromkeys(other.members, one))
    return things, list({id(group): group for group in groups.values()}.values()), refused


def _list_single(thing: Thing) -> dict[Reason, set[bytes]]:
    found: dict[Reason, set[bytes]] = {}
    for key, reason in thing.keys.items():
        if reason in SINGLE:
            found.setdefault(reason, set()).add(key)
    return found


def _refuse(one: _Group, other: _Group, splits: Splits) -> str:
    """Why two groups cannot be one; empty if they can."""
    if not one.kind & other.kind:
        return "different kinds"
    for reason, keys in one.keys.items():
        if reason in other.keys and keys.isdisjoint(other.keys[reason]):
            return f"different {NAMES[reason]}"
    if splits.part(one.members, other.members):
        return "split"
    if len(one.members) + len(other.members) > MAX_MEMBERS:
        return "too many"
    return ""


def _list_edges(things: Mapping[bytes, Thing], key: bytes, claimants: list[bytes]) -> Iterator[Edge]:
    """The evidence of one key: between its target and each thing that claims it, and between those that agree."""
    if len(claimants) > MAX_CLAIMANTS:
        return
    alike: list[bytes] = []
    crowded: list[bytes] = []
    sites = _find_crowded_sites(things, claimants) if len(claimants) > _HUB_LABELS else set()
    for entity in claimants:
        reason = things[entity].keys[key]
        if key in things:
            yield Edge(reason, key, entity, key, _object(reason, things, entity, key, is_target=True))
        if reason in SINGLE and sum(reason is each for each in things[entity].keys.values()) > 1:
            # Of two identifiers of one sort at least one is not its own.
            continue
        # A site with too many claimants cannot undo what other sites agree on.
        (crowded if sites and things[entity].sites <= sites else alike).append(entity)
    yield from _pair_claimants(things, key, alike)
    yield from (edge._replace(refusal=edge.refusal or _HUB) for edge in _pair_claimants(things, key, crowded))


def _pair_claimants(things: Mapping[bytes, Thing], key: bytes, claimants: list[bytes]) -> list[Edge]:
    """The evidence between things that claim the same key: each with the first that it agrees with."""
    firsts: list[bytes] = []
    edges: list[Edge] = []
    for entity in claimants:
        reason = things[entity].keys[key]
        objection = ""
        for first in firsts:
            weaker = max(reason, things[first].keys[key])
            # Of a hub nothing more needs to be known.
            objection = _HUB if len(firsts) > _HUB_LABELS else _object(weaker, things, entity, first)
            if not objection or first == firsts[-1] or objection is _HUB:
                edges.append(Edge(weaker, key, first, entity, objection))
                break
        if (objection and objection is not _HUB) or not firsts:
            firsts.append(entity)
    if len(firsts) > _HUB_LABELS:
        edges = [edge._replace(refusal=edge.refusal or _HUB) for edge in edges]
    return edges


def _find_crowded_sites(things: Mapping[bytes, Thing], claimants: Iterable[bytes]) -> set[str]:
    """The sites that give one key to things with too many different labels."""
    labels: dict[str, set[frozenset[str]]] = {}
    for entity in claimants:
        thing = things[entity]
        if thing.labels:
            for site in thing.sites:
                labels.setdefault(site, set()).add(thing.labels[0])
    return {site for site, found in labels.items() if len(found) > _HUB_LABELS}


def _object(
    reason: Reason, things: Mapping[bytes, Thing], first: bytes, second: bytes, *, is_target: bool = False
) -> str:
    """What kinds and labels have against two things being one; empty if nothing. `is_target`: the first claims the second."""
    one, other = things[first], things[second]
    if not one.kind & other.kind:
        return "different kinds"
    is_one_site = one.sites == other.sites and len(one.sites) == 1
    if reason is Reason.HOME_PAGE or (second in one.keys and first in other.keys):
        # The name is a part of the key; or each says that it is the other.
        return ""
    if is_one_site and (reason is Reason.OWL_SAME_AS or not (one.labels and other.labels)):
        return ""
    if not other.labels and is_target:
        return ""
    if not (one.labels and other.labels):
        return "no label to compare"
    if reason in SINGLE and reason is not Reason.WIKIDATA:
        agree = any(share_word(label, another) for label in one.labels for another in other.labels)
        # Titles are translated; a stolen number is most often that of a product.
        agree = agree or (
            reason is not Reason.GTIN
            and not any(share_script(label, another) for label in one.labels for another in other.labels)
        )
    else:
        has_many = is_one_site and len(one.keys.keys() & other.keys.keys()) >= _MANY_KEYS
        least = _SOME_WORDS if has_many else _MOST_WORDS if is_one_site else _HALF
        likeness = max(measure_likeness(label, another) for label in one.labels for another in other.labels)
        agree = likeness >= least
    return "" if agree else "different labels"


NAMES = {
    Reason.ORCID: "ORCID",
    Reason.DOI: "DOI",
    Reason.GTIN: "GTIN or ISBN",
    Reason.WIKIDATA: "Wikidata item",
    Reason.OWL_SAME_AS: "owl:sameAs",
    Reason.SAME_AS: "schema:sameAs",
    Reason.MAILBOX: "e-mail address",
    Reason.HOME_PAGE: "home page and name",
}
"""The reasons in words."""
