"""Writes the ledger of the text index, in SQLite: pages, what each states about which entity, and how often each name is used.

The only writer is `index/text/view.py`. Everything is a function of the newest outcome of each URL: replacing a page subtracts
what it added before. Other processes read at the same time (`reader.py`), and see the last commit.
"""

import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
from isal import isal_zlib
from xxhash import xxh3_64_intdigest

from rdfspider.archive.outcomes import Effect, Outcome, OutcomeStamp, round_time
from rdfspider.index.entities.contributions import URN, Contribution, PageReading
from rdfspider.index.entities.nodes import PageSummary
from rdfspider.index.identity.components import MAX_MEMBERS, Splits, join_things, list_followers
from rdfspider.index.identity.evidence import Claim
from rdfspider.results import NameKind, Role

_CACHE_KIB = 65_536
_JOURNAL_BYTES = 16_000_000
"""The disk space that SQLite's log keeps after a large commit."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pages(
  id INTEGER PRIMARY KEY, rank INTEGER NOT NULL, url TEXT NOT NULL, host TEXT NOT NULL, site TEXT NOT NULL, time REAL NOT NULL,
  digest TEXT NOT NULL, is_live INTEGER NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL, quads INTEGER NOT NULL,
  facts BLOB, says TEXT NOT NULL, due REAL NOT NULL, source TEXT NOT NULL, place INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS pages_by_due ON pages(due) WHERE due > 0;
CREATE INDEX IF NOT EXISTS pages_by_rank ON pages(rank);
CREATE INDEX IF NOT EXISTS pages_by_site ON pages(site, id);
CREATE TABLE IF NOT EXISTS contributions(page INTEGER PRIMARY KEY, data BLOB NOT NULL, text BLOB);
CREATE TABLE IF NOT EXISTS mentions(
  entity BLOB NOT NULL, rank INTEGER NOT NULL, page INTEGER NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL,
  PRIMARY KEY (entity, rank, page)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entities(
  id BLOB PRIMARY KEY, sources INTEGER NOT NULL, built INTEGER NOT NULL, canonical BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entities_by_canonical ON entities(canonical) WHERE canonical <> x'' AND canonical <> id;
CREATE TABLE IF NOT EXISTS claims(
  entity BLOB NOT NULL, key BLOB NOT NULL, reason INTEGER NOT NULL, rank INTEGER NOT NULL, page INTEGER NOT NULL,
  PRIMARY KEY (entity, key, reason, rank, page)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS claims_by_key ON claims(key, entity);
CREATE TABLE IF NOT EXISTS same(
  entity BLOB PRIMARY KEY, number INTEGER NOT NULL, iri TEXT NOT NULL, canonical TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS same_by_number ON same(number);
CREATE TABLE IF NOT EXISTS splits(one BLOB NOT NULL, other BLOB NOT NULL, PRIMARY KEY (one, other)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dirty(id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS deferred(id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS gone(document TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subclasses(
  child TEXT NOT NULL, parent TEXT NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (parent, child, page)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS subclasses_by_page ON subclasses(page);
CREATE TABLE IF NOT EXISTS names(
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, uses INTEGER NOT NULL, pages INTEGER NOT NULL,
  sites INTEGER NOT NULL, UNIQUE (kind, name));
CREATE INDEX IF NOT EXISTS names_by_uses ON names(kind, uses);
CREATE TABLE IF NOT EXISTS name_sites(
  name INTEGER NOT NULL, site TEXT NOT NULL, pages INTEGER NOT NULL, PRIMARY KEY (name, site)) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS site_added AFTER INSERT ON name_sites
  BEGIN UPDATE names SET sites = sites + 1 WHERE id = new.name; END;
CREATE TRIGGER IF NOT EXISTS site_removed AFTER DELETE ON name_sites
  BEGIN UPDATE names SET sites = sites - 1 WHERE id = old.name; END;
"""
_MENTIONS = (
    "SELECT p.url, p.host, p.site, p.language, p.time, substr(c.data, m.start, m.size), c.text"
    " FROM mentions m CROSS JOIN pages p ON p.id = m.page CROSS JOIN contributions c ON c.page = m.page"
)
_PLACES = (
    "SELECT p.site, m.rank, m.page FROM mentions m CROSS JOIN pages p ON p.id = m.page"
    " WHERE m.entity = ? ORDER BY m.rank LIMIT ?"
)
MAX_MENTIONS = 48
"""An entity is merged from what at most this many pages state about it."""
MAX_TEXT = 100_000
"""Characters of a page's text that are indexed."""
_LEVEL = 1
"""Of compression: texts are written once and seldom read."""
_MAX_PLACES = 2_000
"""How many pages of an entity are considered to find pages of different sites."""
_PAGES_A_STEP = 1000


class PageRow(NamedTuple):
    """A page's row in the ledger."""

    id: int
    time: float
    digest: str
    is_live: bool
    """False for a removed page, which is remembered so that an older outcome does not bring it back."""
    site: str
    language: str
    facts: bytes | None
    says: str
    """The content digest of the outcome's stamp."""
    due: float
    """When it is due for removal, in seconds since 1970; 0 for never."""

    @property
    def stamp(self) -> OutcomeStamp:
        """The stamp of the outcome that the row comes from."""
        return OutcomeStamp(
            round_time(self.time), self.digest, Effect.REPLACE if self.is_live else Effect.REMOVE, self.says
        )


class Settled(NamedTuple):
    """The sources of an entity."""

    entity: bytes
    sources: int
    built: int
    """How many there were when its document was built."""
    canonical: bytes
    """The entity that stands for all that are one with it; empty if no claims concern it, or they connect too many."""


class Joined(NamedTuple):
    """The canonical entity of an entity, before and now: itself if it stands for itself."""

    entity: bytes
    before: bytes
    now: bytes


class SplitText(NamedTuple):
    """A page's text as the text index has it."""

    shown: str
    """With character references decoded."""
    words: str
    """The words of scripts with spaces."""
    runs: list[str]
    """Runs of scripts without spaces."""


class Mention(NamedTuple):
    """What a page states about an entity."""

    url: str
    host: str
    site: str
    language: str
    time: float
    contribution: Contribution
    text: str = ""
    """The page's text, if the page is about the entity."""
    split: SplitText | None = None
    """The same as the text index has it, if it was made before."""


def rank_page(url: str) -> int:
    """An arbitrary but fixed order of pages: by hash, so that the same pages come first in whatever order they were read."""
    return xxh3_64_intdigest(url.encode("utf-8", "replace")) >> 1


class Ledger:
    """The writing side of the ledger."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        # Even after a power failure, no commit of the text index may be on disk without the ledger's commit before it.
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        self._db.execute(f"PRAGMA journal_size_limit={_JOURNAL_BYTES}")
        self._db.executescript(_SCHEMA)
        self._counts = _UsageCounts(self._db)
        self._sources: dict[bytes, int] = {}
        self._claimed: dict[bytes, int] = {}
        """Things and keys whose claims have changed since the last commit, and how many."""
        self._db.execute("BEGIN")
        self._db.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (secrets.token_hex(16),))
        self.identity: str = self._db.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()[0]
        """Distinguishes this ledger from a rebuilt one."""
        self._is_merging, self._splits = load_merging(self._db)

    def find_page(self, url: str) -> PageRow | None:
        """The row of a URL; None if it is unknown."""
        row = self._db.execute(
            "SELECT id, time, digest, is_live, site, language, facts, says, due FROM pages WHERE rank = ? AND url = ?",
            (rank_page(url), url),
        ).fetchone()
        return PageRow(*row) if row else None

    def put_page(
        self, outcome: Outcome, says: str, host: str, site: str, reading: PageReading, known: PageRow | None
    ) -> None:
        """Replace what a page states; `says` is the digest in the outcome's stamp."""
        # Encode first, so that an encoding error leaves the database unchanged.
        encoded = [(entity, msgspec.msgpack.encode(each)) for entity, each in reading.contributions.items()]
        url, facts, rank = outcome.url, reading.facts, rank_page(outcome.url)
        encoded_facts = msgspec.msgpack.encode(facts)
        if known is not None:
            self._take_back(known)
        row = (rank, url, host, site, outcome.time, outcome.digest, 1, outcome.title[:500], outcome.language)
        page = self._write_row(
            known, (*row, facts.quads, encoded_facts, says, outcome.due, outcome.source, outcome.offset)
        )
        data = bytearray()
        mentions = []
        for entity, contribution in encoded:
            # SQLite's substr() counts from one.
            mentions.append((entity, rank, page, len(data) + 1, len(contribution)))
            data += contribution
            self._sources[entity] = self._sources.get(entity, 0) + 1
        if mentions:
            # The text of a page is found with its main thing, which other pages may describe too.
            text = isal_zlib.compress(outcome.text[:MAX_TEXT].encode(), _LEVEL) if reading.main else None
            self._db.execute("INSERT INTO contributions VALUES (?, ?, ?)", (page, data, text))
            self._db.executemany("INSERT INTO mentions VALUES (?, ?, ?, ?, ?)", mentions)
        if facts.claims:
            self._note_claims(facts.claims)
            self._db.executemany(
                "INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?, ?)", [(*claim, rank, page) for claim in facts.claims]
            )
        if reading.subclasses:
            rows = [(child, parent, page) for child, parent in reading.subclasses]
            self._db.executemany("INSERT OR IGNORE INTO subclasses VALUES (?, ?, ?)", rows)
        self._count(facts, site, outcome.language, 1)

    def remove_page(self, outcome: Outcome, host: str, site: str, known: PageRow | None) -> None:
        """Remove what a page states; outcomes older than this one do not bring it back."""
        if known is not None:
            self._take_back(known)
        url = outcome.url
        row = (rank_page(url), url, host, site, outcome.time, outcome.digest, 0, "", "", 0, None, "", 0.0, "", 0)
        self._write_row(known, row)

    def note_due(self, page: int, due: float) -> None:
        """Set when a page is due for removal."""
        self._db.execute("UPDATE pages SET due = ? WHERE id = ?", (due, page))

    def list_due(self, now: float, limit: int) -> list[str]:
        """The URLs of some pages that are due for removal."""
        rows = self._db.execute("SELECT url FROM pages WHERE due > 0 AND due <= ? LIMIT ?", (now, limit))
        return [row[0] for row in rows]

    def forget_pages(self, is_forgotten: Callable[[str], bool]) -> Iterator[str]:
        """Delete these pages without a trace; yields the URLs of those that existed."""
        last = 0
        while rows := self._db.execute(
            "SELECT id, url FROM pages WHERE id > ? ORDER BY id LIMIT ?", (last, _PAGES_A_STEP)
        ).fetchall():
            last = rows[-1][0]
            for page, url in rows:
                if is_forgotten(url) and (known := self.find_page(url)) is not None:
                    self._take_back(known)
                    self._db.execute("DELETE FROM pages WHERE id = ?", (page,))
                    yield url

    def note_gone(self, document: str) -> None:
        """Record that a document must be deleted, until the deletion is durable."""
        self._db.execute("INSERT OR IGNORE INTO gone VALUES (?)", (document,))

    def load_gone(self) -> list[str]:
        """The documents that may still have to be deleted."""
        return [row[0] for row in self._db.execute("SELECT document FROM gone")]

    def settle_sources(self) -> list[Settled]:
        """Write the source counts of all entities changed since the last call."""
        settled = []
        for entity, more in self._sources.items():
            row = self._db.execute(
                "INSERT INTO entities VALUES (?, ?, 0, x'') ON CONFLICT DO UPDATE SET sources = sources + excluded.sources"
                " RETURNING sources, built, canonical",
                (entity, more),
            ).fetchone()
            settled.append(Settled(entity, *row))
        self._db.executemany(
            "DELETE FROM entities WHERE id = ?", [(each.entity,) for each in settled if each.sources <= 0]
        )
        self._sources.clear()
        return settled

    def join_entities(self, settled: Sequence[Settled]) -> list[Joined]:
        """Decide which entities are one, as far as claims or these entities have changed; return all that were judged."""
        starts = self._claimed
        for each in settled:
            # An entity without claims of its own may be what others claim to be.
            is_new_or_gone = not each.built or each.sources <= 0
            if each.canonical or (is_new_or_gone and self._is_claimed(each.entity)):
                starts.setdefault(each.entity, 0)
        if not starts:
            return []
        judged: list[Joined] = []
        for entity, canonical in join_things(self._db, starts, self._splits, is_merging=self._is_merging).items():
            row = self._db.execute("SELECT canonical FROM entities WHERE id = ?", (entity,)).fetchone()
            if row is not None:
                judged.append(Joined(entity, row[0] or entity, canonical or entity))
                if row[0] != canonical:
                    self._db.execute("UPDATE entities SET canonical = ? WHERE id = ?", (canonical, entity))
        self._claimed = {}
        self._note_same(judged, settled)
        return judged

    def _note_same(self, judged: Iterable[Joined], settled: Iterable[Settled]) -> None:
        """Number the changes of canonical IRIs, so that others can follow them. An empty one says that there is none any more;
        things that only blank nodes describe have no IRI."""
        gone = [each.entity for each in settled if each.sources <= 0 and each.canonical]
        changed = [(each.entity, each.now) for each in judged if each.before != each.now]
        if not gone and not changed:
            return
        number = self._db.execute("SELECT coalesce(max(number), 0) + 1 FROM same").fetchone()[0]
        self._db.executemany("UPDATE same SET canonical = '', number = ? WHERE entity = ?", [(number, e) for e in gone])
        for entity, canonical in changed:
            iri, name = list_ids(self._db, (entity, canonical))
            if not iri.startswith(URN):
                name = "" if entity == canonical or name.startswith(URN) else name
                self._db.execute("INSERT OR REPLACE INTO same VALUES (?, ?, ?, ?)", (entity, number, iri, name))

    def set_merging(self, is_merging: bool, pairs: Iterable[tuple[bytes, bytes]]) -> bool:
        """Set whether entities are joined at all, and which are kept apart; return whether that has changed. The next call of
        `join_entities` does what follows from it."""
        now = set(pairs)
        before = set(self._db.execute("SELECT one, other FROM splits"))
        if is_merging == self._is_merging and now == before:
            return False
        if is_merging != self._is_merging:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('merging', ?)", (str(int(is_merging)),))
            touched = [row[0] for row in self._db.execute("SELECT id FROM entities WHERE canonical <> x''")]
        else:
            touched = [each for pair in now ^ before for each in pair if each]
        for each in touched:
            self._claimed.setdefault(each, 0)
        self._db.execute("DELETE FROM splits")
        self._db.executemany("INSERT INTO splits VALUES (?, ?)", now)
        self._is_merging, self._splits = load_merging(self._db)
        return True

    def find_whole(self, entity: bytes) -> list[bytes]:
        """All entities that are one with this, the canonical one first; itself alone if it is joined with no other."""
        row = self._db.execute("SELECT canonical FROM entities WHERE id = ?", (entity,)).fetchone()
        canonical = (row[0] if row else b"") or entity
        return [canonical, *list_joined(self._db, canonical)]

    def count_pages(self, entities: Sequence[bytes]) -> int:
        """How many pages describe any of these entities that are one; if they are very many, those of each are added up."""
        total = sum(map(self.count_sources, entities))
        if total > _MAX_PLACES:
            return total
        find = "SELECT page FROM mentions WHERE entity = ?"
        return len({page for entity in entities for (page,) in self._db.execute(find, (entity,))})

    def list_followers(self, entities: Sequence[bytes]) -> set[bytes]:
        """Those of some entities that are one which only claim to be another of them."""
        return list_followers(self._db, entities)

    def list_ids(self, entities: Sequence[bytes]) -> list[str]:
        """The IDs of entities, in the same order."""
        return list_ids(self._db, entities)

    def _is_claimed(self, entity: bytes) -> bool:
        return self._db.execute("SELECT 1 FROM claims WHERE key = ? LIMIT 1", (entity,)).fetchone() is not None

    def _note_claims(self, claims: Iterable[Claim]) -> None:
        for entity, key, _ in claims:
            self._claimed[entity] = self._claimed.get(entity, 0) + 1
            self._claimed[key] = self._claimed.get(key, 0) + 1

    def note_dirty(self, now: Iterable[bytes], later: Iterable[bytes]) -> None:
        """Record which entities have outdated documents: those to build now, and those to build later."""
        self._db.executemany("INSERT OR IGNORE INTO dirty VALUES (?)", [(entity,) for entity in now])
        self._db.executemany("INSERT OR IGNORE INTO deferred VALUES (?)", [(entity,) for entity in later])

    def note_all_dirty(self) -> None:
        """Record that all entities have to be built."""
        self._db.execute("INSERT OR IGNORE INTO deferred SELECT id FROM entities")

    def load_dirty(self) -> list[bytes]:
        """Entities that were to be built at the last commit."""
        return [row[0] for row in self._db.execute("SELECT id FROM dirty")]

    def load_deferred(self, limit: int, last: bytes = b"") -> list[bytes]:
        """Some deferred entities after a given one, in the order of their hashes."""
        rows = self._db.execute("SELECT id FROM deferred WHERE id > ? ORDER BY id LIMIT ?", (last, limit))
        return [row[0] for row in rows]

    def count_sources(self, entity: bytes) -> int:
        """How many pages describe an entity."""
        row = self._db.execute("SELECT sources FROM entities WHERE id = ?", (entity,)).fetchone()
        return row[0] if row else 0

    def note_built(self, built: Iterable[tuple[bytes, int]]) -> None:
        """Record that the documents of these entities, with their source counts, are durable, and nothing is dirty or gone."""
        built = list(built)
        self._db.execute("DELETE FROM dirty")
        self._db.execute("DELETE FROM gone")
        self._db.executemany("DELETE FROM deferred WHERE id = ?", [(entity,) for entity, _ in built])
        self._db.executemany(
            "UPDATE entities SET built = ? WHERE id = ? AND built <> ?", [(n, entity, n) for entity, n in built]
        )
        self.commit()

    def list_mentions(self, *entities: bytes) -> tuple[list[Mention], list[str]]:
        """What pages state about an entity, or about several that are one, and their sites; of many pages only some, chosen
        by their URLs alone."""
        most = MAX_MENTIONS + 1
        rows = [
            row
            for entity in entities
            for row in self._db.execute(f"{_MENTIONS} WHERE m.entity = ? ORDER BY m.rank LIMIT ?", (entity, most))
        ]
        if len(rows) <= MAX_MENTIONS:
            return [_read_mention(row) for row in rows], sorted({row[2] for row in rows})
        places = sorted(
            (rank, page, site, entity)
            for entity in entities
            for site, rank, page in self._db.execute(_PLACES, (entity, _MAX_PLACES // len(entities)))
        )
        # The first page of each site comes before the second of any.
        firsts = {site: (rank, page, entity) for rank, page, site, entity in reversed(places)}
        chosen = sorted(firsts.values())[:MAX_MENTIONS]
        taken = set(chosen)
        rest = ((rank, page, entity) for rank, page, _, entity in places if (rank, page, entity) not in taken)
        chosen += islice(rest, MAX_MENTIONS - len(chosen))
        rows = [
            self._db.execute(
                f"{_MENTIONS} WHERE m.entity = ? AND m.rank = ? AND m.page = ?", (entity, rank, page)
            ).fetchone()
            for rank, page, entity in sorted(chosen)
        ]
        return [_read_mention(row) for row in rows], sorted(firsts)

    def _write_row(self, known: PageRow | None, values: tuple[object, ...]) -> int:
        cursor = self._db.execute(
            f"INSERT OR REPLACE INTO pages VALUES ({', '.join('?' * 16)})", (known.id if known else None, *values)
        )
        return cursor.lastrowid or 0

    def _take_back(self, known: PageRow) -> None:
        """Subtract what a page has added."""
        if known.facts is None:
            return
        facts = msgspec.msgpack.decode(known.facts, type=PageSummary)
        self._count(facts, known.site, known.language, -1)
        for entity in facts.entities:
            self._sources[entity] = self._sources.get(entity, 0) - 1
        rank = self._db.execute("SELECT rank FROM pages WHERE id = ?", (known.id,)).fetchone()[0]
        self._db.executemany(
            "DELETE FROM mentions WHERE entity = ? AND rank = ? AND page = ?",
            [(entity, rank, known.id) for entity in facts.entities],
        )
        self._db.execute("DELETE FROM contributions WHERE page = ?", (known.id,))
        if facts.claims:
            self._note_claims(facts.claims)
            self._db.executemany(
                "DELETE FROM claims WHERE entity = ? AND key = ? AND reason = ? AND rank = ? AND page = ?",
                [(*claim, rank, known.id) for claim in facts.claims],
            )
        if facts.subclasses:
            self._db.execute("DELETE FROM subclasses WHERE page = ?", (known.id,))

    def _count(self, facts: PageSummary, site: str, language: str, sign: int) -> None:
        add = self._counts.add
        add(NameKind.CLASS, facts.classes, site, sign)
        add(NameKind.PROPERTY, facts.properties, site, sign)
        add(NameKind.ONTOLOGY, facts.ontologies, site, sign)
        add(NameKind.SYNTAX, facts.syntaxes, site, sign)
        add(NameKind.SITE, {site: facts.quads}, site, sign)
        if language:
            add(NameKind.LANGUAGE, {language.lower(): facts.quads}, site, sign)

    def commit(self) -> None:
        """Make everything durable."""
        self._counts.flush()
        self._db.execute("COMMIT")
        self._db.execute("BEGIN")

    def close(self) -> None:
        """Close the database; uncommitted changes are lost."""
        with suppress(sqlite3.Error):
            # Readers that are still open would keep SQLite from removing its journal.
            self._db.execute("ROLLBACK")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()


def load_merging(db: sqlite3.Connection) -> tuple[bool, Splits]:
    """Whether entities are joined, and which are kept apart."""
    row = db.execute("SELECT value FROM meta WHERE key = 'merging'").fetchone()
    return row is None or row[0] == "1", Splits(db.execute("SELECT one, other FROM splits"))


def list_ids(db: sqlite3.Connection, entities: Iterable[bytes]) -> list[str]:
    """The IDs of entities that pages describe, in the same order."""
    find = (
        "SELECT substr(c.data, m.start, m.size) FROM mentions m CROSS JOIN contributions c ON c.page = m.page"
        " WHERE m.entity = ? ORDER BY m.rank LIMIT 1"
    )
    rows = (db.execute(find, (entity,)).fetchone() for entity in entities)
    return [msgspec.msgpack.decode(row[0], type=ContributionNames).id for row in rows if row]


def list_joined(db: sqlite3.Connection, canonical: bytes) -> list[bytes]:
    """The entities that a canonical one stands for, besides itself."""
    rows = db.execute(
        "SELECT id FROM entities WHERE canonical = ? AND canonical <> x'' AND canonical <> id ORDER BY id LIMIT ?",
        (canonical, MAX_MEMBERS),
    )
    return [row[0] for row in rows]


class ContributionNames(msgspec.Struct, array_like=True):
    """The first fields of a Contribution, for those who need no more."""

    id: str
    nodes: tuple[str, ...]


class _UsageCounts:
    """How many statements, pages and sites use each name of a kind (`results.NameKind`).

    Pages add to the counts and subtract from them; sums stay in memory until a commit, because consecutive pages share names.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._more: dict[tuple[str, str], list[int]] = {}
        self._pages: dict[tuple[str, str, str], int] = {}

    def add(self, kind: NameKind, uses: dict[str, int], site: str, sign: int) -> None:
        """Add what one page of a site uses, or subtract it (sign -1)."""
        for name, number in uses.items():
            sums = self._more.get((kind, name))
            if sums is None:
                sums = self._more[kind, name] = [0, 0]
            sums[0] += sign * number
            sums[1] += sign
            key = (kind, name, site)
            self._pages[key] = self._pages.get(key, 0) + sign

    def flush(self) -> None:
        """Write the sums to the database."""
        numbers = {}
        for (kind, name), (uses, pages) in self._more.items():
            numbers[kind, name] = self._db.execute(
                "INSERT INTO names(kind, name, uses, pages, sites) VALUES (?, ?, ?, ?, 0) ON CONFLICT DO UPDATE"
                " SET uses = uses + excluded.uses, pages = pages + excluded.pages RETURNING id",
                # SQLite takes plain text faster than members of an enum.
                (str(kind), name, uses, pages),
            ).fetchone()[0]
        rows = [(numbers[kind, name], site, pages) for (kind, name, site), pages in self._pages.items() if pages]
        self._db.executemany(
            "INSERT INTO name_sites VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET pages = pages + excluded.pages", rows
        )
        fewer = [(name, site) for name, site, pages in rows if pages < 0]
        self._db.executemany("DELETE FROM name_sites WHERE name = ? AND site = ? AND pages = 0", fewer)
        self._db.executemany("DELETE FROM names WHERE id = ? AND pages = 0", [(each,) for each in numbers.values()])
        self._more.clear()
        self._pages.clear()


def _read_mention(row: tuple[str, str, str, str, float, bytes, bytes | None]) -> Mention:
    contribution = msgspec.msgpack.decode(row[5], type=Contribution)
    text = isal_zlib.decompress(row[6]).decode() if row[6] and contribution.role == Role.MAIN else ""
    return Mention(*row[:5], contribution, text)
