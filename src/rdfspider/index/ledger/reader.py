"""Reads the ledger while the indexer writes it: totals, names by use, pages, and which pages describe an entity.

Every answer is of the last commit. No read lasts long, because SQLite's log cannot be truncated meanwhile.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from rdfspider.errors import UnindexedError, UnreadableError
from rdfspider.index.entities.contributions import URN, Contribution, find_entity
from rdfspider.index.entities.nodes import PageSummary
from rdfspider.index.identity.components import NAMES, Edge, explain_thing
from rdfspider.index.identity.evidence import list_evidence, list_keys
from rdfspider.index.layout import IndexPaths, advise_rebuild, check_index, tell_unindexed
from rdfspider.index.ledger.writer import (
    ContributionNames,
    list_ids,
    list_joined,
    load_merging,
    rank_page,
)
from rdfspider.results import LedgerTotals, MergeReason, NameCount, NameKind
from rdfspider.vocabulary.names import expand_name, find_ontology, find_short_name
from rdfspider.vocabulary.terms import replace_surrogates

_PAGES_A_STEP = 500
_MAX_SUBCLASSES = 10_000
_MAX_PARENTS = 50_000
_MAX_PAIRS = 10_000
_MAX_ASKED = 200
_NAMES_COMPARED = 1_000
_REASONS_SHOWN = 50
_CLAIMANTS_ASKED = 20
# A user is typing or waiting for a page, so only this many are searched.
_NAMES_SEARCHED = 50_000
_SITES_SORTED = 10_000
# Steps from one parent to the next by the index, so the number of rows per parent does not matter.
_PARENTS = (
    "WITH RECURSIVE parents(iri) AS (SELECT min(parent) FROM subclasses UNION ALL"
    " SELECT (SELECT min(parent) FROM subclasses WHERE parent > iri) FROM parents WHERE iri IS NOT NULL LIMIT ?)"
)
_COLUMNS = "url, time, title, language, digest, site, quads, facts, source, place"
_decode_facts = msgspec.msgpack.Decoder(PageSummary).decode


class PageEntry(NamedTuple):
    """An indexed page."""

    url: str
    time: float
    title: str
    language: str
    digest: str
    site: str
    quads: int
    facts: PageSummary
    """The classes, properties, ontologies and syntaxes that it uses, and how often."""
    source: str
    """The file of the log that has its outcome: a key of `index.view.Cursors`."""
    offset: int
    """Where the outcome begins in that file."""


class LedgerReader:
    """The reading side of the ledger, for any number of processes."""

    def __init__(self, paths: IndexPaths) -> None:
        if not paths.ledger.exists():
            raise UnindexedError(tell_unindexed(paths.folder))
        address = f"file:{quote(str(paths.ledger.absolute()))}?mode=ro"
        self._db = _connect(address)
        try:
            self._db.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except sqlite3.DatabaseError as error:
            self._db.close()
            # Reading beside a writer creates a file, which a full disk prevents; without the writer's log none is needed.
            log = paths.ledger.with_name(f"{paths.ledger.name}-wal")
            if not isinstance(error, sqlite3.OperationalError) or (log.exists() and log.stat().st_size):
                raise
            self._db = _connect(f"{address}&immutable=1")

    def read_totals(self) -> LedgerTotals:
        """All totals."""
        by_kind = dict(self._db.execute("SELECT kind, count(*) FROM names GROUP BY kind"))
        pages, quads = self._db.execute(
            "SELECT coalesce(sum(pages), 0), coalesce(sum(uses), 0) FROM names WHERE kind = ?", (NameKind.SITE,)
        ).fetchone()
        (entities,) = self._db.execute(
            "SELECT (SELECT count(*) FROM entities) - (SELECT count(*) FROM entities WHERE canonical <> x'' AND canonical <> id)"
        ).fetchone()
        names = (by_kind.get(kind, 0) for kind in (NameKind.SITE, NameKind.CLASS, NameKind.PROPERTY, NameKind.ONTOLOGY))
        return LedgerTotals(pages, quads, entities, *names)

    def read_names(self, kind: NameKind, limit: int = 100, offset: int = 0) -> list[NameCount]:
        """Names of a kind (`results.NameKind`), the most used first, then in alphabetical order."""
        rows = self._db.execute(
            "SELECT name, uses, pages, sites FROM names WHERE kind = ? ORDER BY uses DESC, name LIMIT ? OFFSET ?",
            (kind, limit, offset),
        )
        return [NameCount(*row) for row in rows]

    def find_name(self, kind: NameKind, name: str) -> NameCount | None:
        """How often a name of a kind is used; None if no page uses it."""
        row = self._db.execute(
            "SELECT name, uses, pages, sites FROM names WHERE kind = ? AND name = ?", (kind, replace_surrogates(name))
        ).fetchone()
        return NameCount(*row) if row else None

    def search_names(self, kind: NameKind, text: str, limit: int = 20) -> list[NameCount]:
        """Names of a kind that contain a text, ignoring case: first those whose short name begins with it, then those whose
        short name contains it, then the rest, each group by use. A known prefix stands for its namespace: `schema:per`. Only
        the fifty thousand most used names are searched."""
        asked = replace_surrogates(text).strip().strip("<>").lower()[:_MAX_ASKED]
        expanded = expand_name(asked)
        found: dict[str, NameCount] = {}
        for wanted in map(str.lower, expanded or [asked]):
            rows = self._db.execute(
                "SELECT name, uses, pages, sites FROM (SELECT * FROM names WHERE kind = ? ORDER BY uses DESC LIMIT ?)"
                " WHERE instr(lower(name), ?) ORDER BY uses DESC, name LIMIT ?",
                (kind, _NAMES_SEARCHED, wanted, _NAMES_COMPARED),
            )
            found.update((row[0], NameCount(*row)) for row in rows)
        word = asked.partition(":")[2] if expanded else asked
        return sorted(found.values(), key=lambda count: (_rank_match(count.name, word), -count.uses, count.name))[
            :limit
        ]

    def list_ontology_names(self, kind: NameKind, ontology: str, limit: int = 100) -> list[NameCount]:
        """The classes or properties (a kind) of an ontology, the most used first."""
        start = replace_surrogates(ontology)
        rows = self._db.execute(
            "SELECT name, uses, pages, sites FROM names WHERE kind = ? AND name >= ? AND name < ? ORDER BY uses DESC, name"
            " LIMIT ?",
            (kind, start, f"{start}\U0010ffff", _NAMES_COMPARED),
        )
        # The names of longer namespaces begin with the same text.
        return [NameCount(*row) for row in rows if find_ontology(row[0]) == start][:limit]

    def list_name_sites(self, kind: NameKind, name: str, limit: int = 20) -> list[tuple[str, int]]:
        """The sites where most pages use a name, and how many; of very many sites, those with most statements are compared."""
        row = self._db.execute(
            "SELECT id, sites FROM names WHERE kind = ? AND name = ?", (kind, replace_surrogates(name))
        ).fetchone()
        if row is None:
            return []
        number, sites = row
        order = "ORDER BY s.pages DESC, s.site LIMIT ?"
        if sites <= _SITES_SORTED:
            rows = self._db.execute(
                f"SELECT s.site, s.pages FROM name_sites s WHERE s.name = ? {order}", (number, limit)
            )
        else:
            rows = self._db.execute(
                "SELECT s.site, s.pages FROM (SELECT name FROM names WHERE kind = ? ORDER BY uses DESC LIMIT ?) n"
                f" CROSS JOIN name_sites s ON s.name = ? AND s.site = n.name {order}",
                (NameKind.SITE, _SITES_SORTED, number, limit),
            )
        return [(site, pages) for site, pages in rows]

    def list_site_names(self, kind: NameKind, site: str, limit: int = 20) -> list[tuple[str, int]]:
        """The names of a kind that most pages of a site use, and how many; only the thousand most used names are considered."""
        rows = self._db.execute(
            "SELECT n.name, s.pages FROM (SELECT id, name FROM names WHERE kind = ? ORDER BY uses DESC LIMIT ?) n"
            " JOIN name_sites s ON s.name = n.id AND s.site = ? ORDER BY s.pages DESC, n.name LIMIT ?",
            (kind, _NAMES_COMPARED, replace_surrogates(site), limit),
        )
        return [(name, pages) for name, pages in rows]

    def list_site_pages(
        self, site: str, limit: int = 50, offset: int = 0, *, newest_first: bool = False
    ) -> list[PageEntry]:
        """The pages of a site (a registrable domain), in the order in which they were first indexed, or in reverse."""
        order = "DESC" if newest_first else "ASC"
        rows = self._db.execute(
            f"SELECT id, {_COLUMNS} FROM pages WHERE site = ? AND is_live ORDER BY id {order} LIMIT ? OFFSET ?",
            (replace_surrogates(site), limit, offset),
        )
        return [_read_entry(row) for row in rows]

    def list_page_entities(self, page: PageEntry, limit: int = 500) -> list[tuple[str, tuple[str, ...]]]:
        """The first entities that a page describes, and the page's nodes for each: its IRI, or blank nodes as `genid:` IRIs."""
        rank = rank_page(page.url)
        row = self._db.execute(
            "SELECT p.id, c.data FROM pages p JOIN contributions c ON c.page = p.id WHERE p.rank = ? AND p.url = ?",
            (rank, page.url),
        ).fetchone()
        if row is None:
            return []
        number, data = row
        find = "SELECT start, size FROM mentions WHERE entity = ? AND rank = ? AND page = ?"
        places = (self._db.execute(find, (entity, rank, number)).fetchone() for entity in page.facts.entities[:limit])
        names = (_decode_names(data[place[0] - 1 : place[0] - 1 + place[1]]) for place in places if place)
        return [(each.id, each.nodes) for each in names]

    def find_page(self, url: str) -> PageEntry | None:
        """The entry of a page; None if it is not indexed."""
        row = self._db.execute(
            f"SELECT id, {_COLUMNS} FROM pages WHERE rank = ? AND url = ? AND is_live", (rank_page(url), url)
        ).fetchone()
        return _read_entry(row) if row else None

    def has_host(self, site: str, host: str) -> bool:
        """Whether any page of a site is on a host, or on one below it."""
        row = self._db.execute(
            "SELECT 1 FROM pages WHERE site = ?1 AND is_live AND (host = ?2 OR substr(host, -length(?2) - 1) = '.' || ?2)"
            " LIMIT 1",
            (site, host),
        ).fetchone()
        return row is not None

    def check(self) -> str:
        """What is wrong with the database itself; empty if nothing is."""
        found = [row[0] for row in self._db.execute("PRAGMA integrity_check(5)")]
        return "" if found == ["ok"] else "; ".join(found)

    def find_time(self, url: str) -> float:
        """When the outcome was fetched that a page's row comes from, live or removed; 0 if it has none."""
        row = self._db.execute("SELECT time FROM pages WHERE rank = ? AND url = ?", (rank_page(url), url)).fetchone()
        return row[0] if row else 0.0

    def list_pages(self) -> Iterator[PageEntry]:
        """All pages."""
        last = 0
        while rows := self._db.execute(
            f"SELECT id, {_COLUMNS} FROM pages WHERE id > ? AND is_live ORDER BY id LIMIT ?", (last, _PAGES_A_STEP)
        ).fetchall():
            last = rows[-1][0]
            yield from map(_read_entry, rows)

    def find_members(self, entity_id: str, limit: int = 1000) -> list[tuple[str, str]]:
        """Page and node, for each node that describes an entity, on the first pages by rank."""
        entity = find_entity(entity_id)
        rows = self._db.execute(
            "SELECT p.url, substr(c.data, m.start, m.size) FROM mentions m CROSS JOIN pages p ON p.id = m.page"
            " CROSS JOIN contributions c ON c.page = m.page WHERE m.entity = ? ORDER BY m.rank LIMIT ?",
            (entity, limit),
        )
        return [(url, node) for url, data in rows for node in _decode_names(data).nodes]

    def find_whole(self, entity_id: str) -> list[str]:
        """The IDs of all entities that are one with this, the canonical one first; empty if no page describes it."""
        entity = find_entity(entity_id)
        row = self._db.execute("SELECT canonical FROM entities WHERE id = ?", (entity,)).fetchone()
        if entity is None or row is None:
            return []
        joined = list_joined(self._db, row[0]) if row[0] else []
        return list_ids(self._db, [row[0], *joined]) if joined else [entity_id]

    def list_splits(self) -> set[tuple[bytes, bytes]]:
        """Pairs of entities that are kept apart; the second is empty if an entity is joined with nothing."""
        return set(self._db.execute("SELECT one, other FROM splits"))

    def is_behind(self) -> bool:
        """Whether the documents of some entities are older than what is written here."""
        return self._db.execute("SELECT 1 FROM dirty LIMIT 1").fetchone() is not None

    def list_same(self, after: str) -> tuple[str, list[tuple[str, str]]]:
        """What has changed in the canonical IRIs of things after a mark that this returned before: IRI, and canonical IRI or
        nothing; with the mark now. All of them if the mark is of another ledger."""
        identity = self._db.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()[0]
        start, _, number = after.partition(" ")
        last = int(number) if start == identity else 0
        rows = self._db.execute("SELECT iri, canonical, number FROM same WHERE number > ? ORDER BY number", (last,))
        found = rows.fetchall()
        if not found and not after:
            return "", []
        return f"{identity} {found[-1][2] if found else last}", [(iri, canonical) for iri, canonical, _ in found]

    def find_canonical_iri(self, iri: str) -> str:
        """The canonical IRI of a thing that was found to be one with others; empty if it is its own."""
        row = self._db.execute("SELECT canonical FROM same WHERE entity = ?", (find_entity(iri),)).fetchone()
        return row[0] if row else ""

    def find_claimed(self, iri: str) -> str:
        """The ID of the one entity that is said to be this IRI, which no page describes; empty if there is none or several."""
        found = {
            canonical
            for key in list_keys(iri)
            for (canonical,) in self._db.execute(
                "SELECT DISTINCT coalesce(nullif(e.canonical, x''), e.id)"
                " FROM (SELECT DISTINCT entity FROM claims WHERE key = ? LIMIT ?) c"
                " JOIN entities e ON e.id = c.entity",
                (key, _CLAIMANTS_ASKED),
            )
        }
        ids = list_ids(self._db, found)
        return ids[0] if len(ids) == 1 else ""

    def list_nodes(self, entity_id: str, limit: int) -> list[str]:
        """The nodes of an entity in the quad store, and of all that are one with it: IRIs, and blank nodes as `genid:` IRIs.

        Its own IRIs come first; the documents that tell of it on its pages belong to it, as on its card."""
        whole = self.find_whole(entity_id)
        found = dict.fromkeys([each for each in whole or [entity_id] if not each.startswith(URN)][:limit])
        for each in whole:
            if len(found) >= limit:
                break
            found.update(dict.fromkeys(node for _, node in self.find_members(each, limit)))
        return list(found)[:limit]

    def explain_whole(self, entity_id: str) -> tuple[list[MergeReason], list[MergeReason]]:
        """Why entities are one with this, and why others are not although pages give evidence for it; some of each."""
        is_merging, splits = load_merging(self._db)
        entity = find_entity(entity_id)
        found = explain_thing(self._db, entity, splits, is_merging=is_merging) if entity else None
        if found is None:
            return [], []
        return [self._tell_edge(each) for each in found.edges[:_REASONS_SHOWN]], [
            self._tell_edge(each) for each in found.refused[:_REASONS_SHOWN]
        ]

    def _tell_edge(self, edge: Edge) -> MergeReason:
        ends = [end for end in (edge.one, edge.other) if end != edge.key]
        claims = [claim for end in ends if (claim := self._find_claim(end, edge.key))]
        one, other = list_ids(self._db, (edge.one, edge.other))
        pages = tuple(dict.fromkeys(page for page, _ in claims))
        value = claims[0][1] if claims else ""
        return MergeReason(one, other, NAMES[edge.reason], value, pages, edge.refusal)

    def _find_claim(self, entity: bytes, key: bytes) -> tuple[str, str] | None:
        """The first page that makes a claim, and what it states."""
        row = self._db.execute(
            "SELECT p.url, substr(c.data, m.start, m.size) FROM claims l CROSS JOIN pages p ON p.id = l.page"
            " CROSS JOIN mentions m ON m.entity = l.entity AND m.rank = l.rank AND m.page = l.page"
            " CROSS JOIN contributions c ON c.page = l.page"
            " WHERE l.entity = ? AND l.key = ? ORDER BY l.reason, l.rank LIMIT 1",
            (entity, key),
        ).fetchone()
        if row is None:
            return None
        contribution = msgspec.msgpack.decode(row[1], type=Contribution)
        evidence = list_evidence(entity, contribution, lambda host: host)
        return row[0], next((each.value for each in evidence if each.key == key), "")

    def find_canonical(self, entity: bytes) -> bytes:
        """The entity that stands for this one and those that are the same; itself if it is joined with no other."""
        row = self._db.execute("SELECT canonical FROM entities WHERE id = ?", (entity,)).fetchone()
        return (row[0] if row else b"") or entity

    def find_subclasses(self, iri: str) -> list[str]:
        """The direct and indirect subclasses of a class that pages state; schema.org's own are not included."""
        rows = self._db.execute(
            "WITH RECURSIVE below(iri) AS (SELECT child FROM subclasses WHERE parent = ? UNION"
            " SELECT s.child FROM subclasses s JOIN below ON s.parent = below.iri LIMIT ?) SELECT iri FROM below",
            (iri, _MAX_SUBCLASSES),
        )
        return sorted(row[0] for row in rows if row[0] != iri)

    def list_parents(self) -> list[str]:
        """The classes that have subclasses according to pages."""
        rows = self._db.execute(f"{_PARENTS} SELECT iri FROM parents WHERE iri IS NOT NULL", (_MAX_PARENTS,))
        return [row[0] for row in rows]

    def list_subclasses(self) -> list[tuple[str, str]]:
        """Pairs of a class and a direct superclass that pages state; of very many, each superclass gets one pair first."""
        rows = self._db.execute(
            f"{_PARENTS}, pairs(above, below) AS ("
            "SELECT iri, (SELECT min(child) FROM subclasses WHERE parent = iri) FROM parents WHERE iri IS NOT NULL UNION ALL"
            " SELECT above, (SELECT min(child) FROM subclasses WHERE parent = above AND child > below) FROM pairs"
            " WHERE below IS NOT NULL LIMIT ?) SELECT below, above FROM pairs WHERE below IS NOT NULL",
            (_MAX_PAIRS, _MAX_PAIRS),
        )
        return [(child, parent) for child, parent in rows]

    def close(self) -> None:
        """Close the database."""
        self._db.close()


_decode_names = msgspec.msgpack.Decoder(ContributionNames).decode


def _rank_match(iri: str, text: str) -> int:
    name = find_short_name(iri)
    return 0 if name.startswith(text) else 1 if text in name else 2


def read_same(paths: IndexPaths, after: str) -> tuple[str, list[tuple[str, str]]]:
    """`LedgerReader.list_same` of a ledger that may not be there yet: then nothing has changed."""
    try:
        with closing(LedgerReader(paths)) as ledger:
            return ledger.list_same(after)
    except (UnindexedError, sqlite3.Error, TypeError):
        # It is being made.
        return after, []


@contextmanager
def open_ledger(paths: IndexPaths) -> Iterator[LedgerReader]:
    """A reader for one request. Raise UnindexedError if there is no index, UnreadableError if the ledger cannot be read, even
    if that shows only after opening."""
    check_index(paths)
    try:
        with closing(LedgerReader(paths)) as ledger:
            yield ledger
    except (sqlite3.DatabaseError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        where = "" if os.access(paths.index, os.W_OK) else ", in a folder that is read-only for you"
        raise UnreadableError(
            f"{paths.ledger} cannot be read ({error}{where}); if that stays so, {advise_rebuild(paths.folder)}"
        ) from error


def _connect(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None, timeout=10)


def _read_entry(row: tuple[int, str, float, str, str, str, str, int, bytes, str, int]) -> PageEntry:
    return PageEntry(*row[1:8], _decode_facts(row[8]), *row[9:])
