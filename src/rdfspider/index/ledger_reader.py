"""The ledger from outside, while the indexer writes it: totals, names by use, pages, and who speaks of an entity.

Every answer is of the last commit. No read lasts long, because the ledger's log could not be cut back meanwhile.
"""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from rdfspider.errors import UsageError
from rdfspider.index.counts import SITE
from rdfspider.index.entities import Contribution, find_entity
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger import rank_page
from rdfspider.index.nodes import PageFacts

_PAGES_A_STEP = 500
_MAX_SUBCLASSES = 10_000
_MAX_PARENTS = 50_000


class Totals(NamedTuple):
    """The size of all that is indexed."""

    pages: int
    quads: int
    """Statements of all pages, those of each syntax counted."""
    entities: int
    sites: int
    classes: int
    properties: int
    ontologies: int


class NameCount(NamedTuple):
    """How often a name is used: statements, pages and sites."""

    name: str
    uses: int
    pages: int
    sites: int


class PageEntry(NamedTuple):
    """A page that is indexed."""

    url: str
    time: float
    title: str
    language: str
    digest: str
    site: str
    quads: int
    facts: PageFacts
    """The classes, properties, ontologies and syntaxes that it uses, and how often."""


class LedgerReader:
    """The reader's side; any number of processes."""

    def __init__(self, paths: IndexPaths) -> None:
        if not paths.ledger.exists():
            raise UsageError(
                f"{paths.folder} has no index yet: make it with `rdfspider index --dir {paths.folder}`, "
                "or wait some seconds where a crawl has just begun"
            )
        address = f"file:{quote(str(paths.ledger.absolute()))}?mode=ro"
        self._db = _connect(address)
        try:
            self._db.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except sqlite3.DatabaseError as error:
            self._db.close()
            # To read beside a writer takes a file, for which a full disk has no room; without the writer's log there is none.
            log = paths.ledger.with_name(f"{paths.ledger.name}-wal")
            if not isinstance(error, sqlite3.OperationalError) or (log.exists() and log.stat().st_size):
                raise
            self._db = _connect(f"{address}&immutable=1")

    def read_totals(self) -> Totals:
        """All sums."""
        by_kind = dict(self._db.execute("SELECT kind, count(*) FROM names GROUP BY kind"))
        pages, quads = self._db.execute(
            "SELECT coalesce(sum(pages), 0), coalesce(sum(uses), 0) FROM names WHERE kind = ?", (SITE,)
        ).fetchone()
        (entities,) = self._db.execute("SELECT count(*) FROM entities").fetchone()
        names = (by_kind.get(kind, 0) for kind in ("site", "class", "property", "ontology"))
        return Totals(pages, quads, entities, *names)

    def read_names(self, kind: str, limit: int = 100, offset: int = 0) -> list[NameCount]:
        """Names of a kind (`counts.KINDS`), the most used first, then by the alphabet."""
        rows = self._db.execute(
            "SELECT name, uses, pages, sites FROM names WHERE kind = ? ORDER BY uses DESC, name LIMIT ? OFFSET ?",
            (kind, limit, offset),
        )
        return [NameCount(*row) for row in rows]

    def find_page(self, url: str) -> PageEntry | None:
        """What is known of a page; None where it is not indexed."""
        row = self._db.execute(
            f"SELECT id, {_COLUMNS} FROM pages WHERE rank = ? AND url = ? AND is_live", (rank_page(url), url)
        ).fetchone()
        return _read_entry(row) if row else None

    def has_host(self, site: str, host: str) -> bool:
        """Whether a page of a site is of a host, or of one below it."""
        row = self._db.execute(
            "SELECT 1 FROM pages WHERE site = ?1 AND is_live AND (host = ?2 OR substr(host, -length(?2) - 1) = '.' || ?2)"
            " LIMIT 1",
            (site, host),
        ).fetchone()
        return row is not None

    def list_pages(self) -> Iterator[PageEntry]:
        """All pages."""
        last = 0
        while rows := self._db.execute(
            f"SELECT id, {_COLUMNS} FROM pages WHERE id > ? AND is_live ORDER BY id LIMIT ?", (last, _PAGES_A_STEP)
        ).fetchall():
            last = rows[-1][0]
            yield from map(_read_entry, rows)

    def find_members(self, entity_id: str, limit: int = 1000) -> list[tuple[str, str]]:
        """Page and node, for each node that speaks of an entity; those of its first pages."""
        entity = find_entity(entity_id)
        rows = self._db.execute(
            "SELECT p.url, substr(c.data, m.start, m.size) FROM mentions m CROSS JOIN pages p ON p.id = m.page"
            " CROSS JOIN contributions c ON c.page = m.page WHERE m.entity = ? ORDER BY m.rank LIMIT ?",
            (entity, limit),
        )
        decode = msgspec.msgpack.Decoder(Contribution).decode
        return [(url, node) for url, data in rows for node in decode(data).nodes]

    def find_subclasses(self, iri: str) -> list[str]:
        """The classes that pages state to be below a class, also those below these; schema.org's own are not among them."""
        rows = self._db.execute(
            "WITH RECURSIVE below(iri) AS (SELECT child FROM subclasses WHERE parent = ? UNION"
            " SELECT s.child FROM subclasses s JOIN below ON s.parent = below.iri LIMIT ?) SELECT iri FROM below",
            (iri, _MAX_SUBCLASSES),
        )
        return sorted(row[0] for row in rows if row[0] != iri)

    def list_parents(self) -> list[str]:
        """The classes that pages state others to be below."""
        # From one to the next by the index: how often each is stated does not matter.
        rows = self._db.execute(
            "WITH RECURSIVE parents(iri) AS (SELECT min(parent) FROM subclasses UNION ALL"
            " SELECT (SELECT min(parent) FROM subclasses WHERE parent > iri) FROM parents WHERE iri IS NOT NULL LIMIT ?)"
            " SELECT iri FROM parents WHERE iri IS NOT NULL",
            (_MAX_PARENTS,),
        )
        return [row[0] for row in rows]

    def close(self) -> None:
        """Leave."""
        self._db.close()


_COLUMNS = "url, time, title, language, digest, site, quads, facts"
_decode_facts = msgspec.msgpack.Decoder(PageFacts).decode


def _connect(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None, timeout=10)


def _read_entry(row: tuple[int, str, float, str, str, str, str, int, bytes]) -> PageEntry:
    return PageEntry(*row[1:8], _decode_facts(row[8]))
