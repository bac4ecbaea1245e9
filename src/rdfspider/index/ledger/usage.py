"""Counts how many statements, pages and sites use each class, property, ontology, site, language and syntax.

Pages add to the counts and subtract from them; sums stay in memory until a commit, because consecutive pages share names.
"""

import sqlite3

CLASS, PROPERTY, ONTOLOGY, SITE, LANGUAGE, SYNTAX = "class", "property", "ontology", "site", "language", "syntax"
KINDS = (CLASS, PROPERTY, ONTOLOGY, SITE, LANGUAGE, SYNTAX)
_SCHEMA = """
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


class UsageCounts:
    """The counts of one ledger."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._more: dict[tuple[str, str], list[int]] = {}
        self._pages: dict[tuple[str, str, str], int] = {}
        db.executescript(_SCHEMA)

    def add(self, kind: str, uses: dict[str, int], site: str, sign: int) -> None:
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
                (kind, name, uses, pages),
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
