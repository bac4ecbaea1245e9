"""The view of an outside SPARQL server: outcomes enter, one graph per page leaves, with the same triples as in the quad store.

A page is sent, then recorded; after a crash it is sent again, which changes nothing. The view waits for an unavailable server
as long as it takes, and reports it in `problem`. If the server works but refuses one page, the view records that and goes on. A
rebuilt index starts with the list of what the server may have; otherwise pages that are gone by now would stay there.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from logging import getLogger
from pathlib import Path
from queue import LifoQueue
from threading import Event, Lock

from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.errors import RdfspiderError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.stores.graph_servers import (
    PROBE_GRAPH,
    GraphServer,
    StoreError,
    find_credentials,
    is_triple,
    read_address,
)
from rdfspider.index.view import Cursors
from rdfspider.vocabulary.terms import fold_statements, make_graph_iri

CONNECTIONS = 4
"""Pages are sent over this many connections at once, so that the latency of a distant server does not set the pace."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 60.0
"""The wait before the second try, which then doubles up to the longest."""
LONGEST_RETRY_AFTER_S = 3600.0
TRIES_ANSWERED, TRIES_CUT = 3, 8
"""How many refusals, or broken connections, a page may cause before the page itself is suspected."""

_PROBE = ("<urn:rdfspider:probe> <urn:rdfspider:probe> <urn:rdfspider:probe>",)
_NOTHING = b""
_FORGET_ROWS = 10_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (url TEXT PRIMARY KEY, time REAL NOT NULL, digest TEXT NOT NULL, content BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refused (url TEXT PRIMARY KEY, time REAL NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS store (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cursors (source TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
"""
_log = getLogger(__name__)


class StoreClosedError(RdfspiderError):
    """The view was closed while it worked; uncommitted outcomes are taken again at the next start."""


class StoreView:
    """One outside store that follows the log. Each method except `close` is called by one thread at a time."""

    has_deferred = False
    removes_forgotten = True
    """If its ledger was lost, only the log tells which forgotten pages the server may still have."""

    def __init__(self, paths: IndexPaths, url: str) -> None:
        address = read_address(url)
        self.name = address.name
        self.problem = ""
        """Why the store is not up to date, in words; empty if it is."""
        credentials = find_credentials(address.host, address.userinfo)
        self._servers = [GraphServer(address, credentials) for _ in range(CONNECTIONS)]
        # Last in, first out, so that few connections stay open when there is little to do.
        self._idle: LifoQueue[GraphServer] = LifoQueue()
        for server in self._servers:
            self._idle.put(server)
        self._senders = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="store")
        self._closing = Event()
        self._working = Lock()
        self._ledger = _Ledger(paths, address.key, address.name)
        self._refused, self._last_refused = 0, ""
        self._count_refused(is_start=True)

    def load_cursors(self) -> dict[str, int]:
        """Where reading resumes, as of the last commit."""
        with self._working:
            return self._ledger.load_cursors()

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        """Send what is new, and return when the server has everything. Raise StoreClosedError if the view is closed before."""
        with self._working:
            self._check_open()
            deliveries = [delivery for outcome in _take_newest(outcomes) if (delivery := self._prepare(outcome))]
            # Recorded before they are sent: after a crash nothing else would tell that the server may have these graphs.
            self._ledger.note_attempts([delivery.outcome.url for delivery in deliveries])
            for delivery, refusal in zip(deliveries, self._senders.map(self._deliver, deliveries), strict=True):
                self._note(delivery, refusal)
            self._count_refused()

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Remove the graphs of all forgotten pages from the server."""
        with self._working:
            self._check_open()
            for urls in self._ledger.list_urls():
                forgotten = [url for url in urls if is_forgotten(url)]
                are_gone = self._senders.map(self._drop, forgotten)
                self._ledger.delete_pages([url for url, is_gone in zip(forgotten, are_gone, strict=True) if is_gone])

    def commit(self, cursors: Cursors) -> None:
        """Make the records durable, together with the cursors."""
        with self._working:
            self._check_open()
            self._ledger.commit(cursors)

    def close(self) -> None:
        """Stop immediately, whatever is in flight; any thread may call it, and more than once."""
        self._closing.set()
        for server in self._servers:
            server.interrupt()
        self._senders.shutdown(wait=False, cancel_futures=True)
        # An interrupted request ends within a second; if it does not, its resources end with the process.
        if self._working.acquire(timeout=3.0):
            try:
                self._ledger.close()
                for server in self._servers:
                    server.close()
            finally:
                self._working.release()

    def _prepare(self, outcome: Outcome) -> "_Delivery | None":
        """What to send for an outcome; None if the server already has it or something newer."""
        known = self._ledger.find_page(outcome.url)
        if known and (outcome.time, outcome.digest) < (known.time, known.digest):
            return None
        delivery = _fold(outcome)
        if known is None:
            # An earlier ledger may have sent the page, so a removal is sent even for an unknown page.
            is_there = outcome.effect != Effect.REMOVE and delivery.content == _NOTHING
        elif known.content is None:
            is_there = False
        else:
            is_tie = (outcome.time, outcome.digest) == (known.time, known.digest)
            if is_tie and delivery.content < known.content:
                return None
            is_there = delivery.content == known.content
        if is_there:
            self._ledger.note_page(outcome, delivery.content)
            return None
        return delivery

    def _note(self, delivery: "_Delivery", refusal: str) -> None:
        self._ledger.note_page(delivery.outcome, None if refusal else delivery.content)
        if refusal:
            self._ledger.note_refusal(delivery.outcome, refusal)
            self._refused += 1

    def _deliver(self, delivery: "_Delivery") -> str:
        """Send one page, however long it takes; return the reason if the server refuses it."""
        graph = make_graph_iri(delivery.outcome.url)
        refusal = ""
        if delivery.triples:
            refusal = self._insist(lambda server: server.replace_graph(graph, delivery.triples))
        if refusal or not delivery.triples:
            # Not all servers roll back a request that they refuse; half a page could remain.
            refusal = self._insist(lambda server: server.drop_graph(graph)) or refusal
        return refusal

    def _drop(self, url: str) -> bool:
        """Whether the server has removed the page; if not, its record stays."""
        refusal = self._insist(lambda server: server.drop_graph(make_graph_iri(url)))
        if refusal:
            _log.warning("%s does not remove the graph of %s: %s", self.name, url, refusal)
        return not refusal

    def _insist(self, send: Callable[[GraphServer], None]) -> str:
        """Try until it succeeds, and return ""; or return the reason if the server takes other requests but not this one."""
        tries = refusals = cuts = 0
        while True:
            self._check_open()
            server = self._idle.get()
            try:
                send(server)
            except StoreError as error:
                self._check_open()
                tries += 1
                refusals += bool(error.status) and not error.is_busy
                cuts += not error.status
                is_suspect = refusals >= TRIES_ANSWERED or cuts >= TRIES_CUT
                if is_suspect and not error.is_busy and _takes_others(server):
                    return str(error)
                self.problem = f"{self.name} {error}; tried {tries} time{'s' if tries > 1 else ''}"
                wait_s = min(FIRST_WAIT_S * 2 ** min(tries - 1, 20), LONGEST_WAIT_S)
                # Some servers lock users out after too many wrong passwords.
                wait_s = max(wait_s, 20 * FIRST_WAIT_S if error.status in {401, 403} else 0.0)
                wait_s = max(wait_s, min(error.retry_after_s, LONGEST_RETRY_AFTER_S))
            else:
                self._clear_problem()
                return ""
            finally:
                self._idle.put(server)
            self._closing.wait(wait_s)

    def _count_refused(self, *, is_start: bool = False) -> None:
        if self._refused or is_start:
            self._refused, self._last_refused = self._ledger.count_refused()
            self._clear_problem()

    def _clear_problem(self) -> None:
        refused = f"{self._refused} page{'s' if self._refused > 1 else ''}"
        self.problem = f"{self.name} does not take {refused}; the last: {self._last_refused}" if self._refused else ""

    def _check_open(self) -> None:
        if self._closing.is_set():
            raise StoreClosedError(f"{self.name}: closed")


def _takes_others(server: GraphServer) -> bool:
    """Whether the server accepts the probe graph, so that the page must be at fault."""
    try:
        server.replace_graph(PROBE_GRAPH, _PROBE)
        server.drop_graph(PROBE_GRAPH)
    except StoreError:
        return False
    return True


def _take_newest(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The newest outcome of each URL, without those that only confirm a page."""
    newest: dict[str, Outcome] = {}
    for outcome in outcomes:
        rival = newest.get(outcome.url)
        if outcome.effect != Effect.TOUCH and (rival is None or _wins(outcome, rival)):
            newest[outcome.url] = outcome
    return list(newest.values())


def _wins(outcome: Outcome, rival: Outcome) -> bool:
    """Whether an outcome beats its rival; of two with the same stamp their content decides, whatever their order."""
    stamp, other = (outcome.time, outcome.digest), (rival.time, rival.digest)
    return stamp > other or (stamp == other and _fold(outcome).content > _fold(rival).content)


def _fold(outcome: Outcome) -> "_Delivery":
    folded = fold_statements(outcome.statements, outcome.url) if outcome.effect == Effect.REPLACE else []
    triples = tuple(triple for triple in folded if is_triple(triple))
    text = "\n".join(triples).encode("utf-8", "replace")
    return _Delivery(outcome, triples, blake2b(text, digest_size=16).digest() if triples else _NOTHING)


def carry_ledgers(old: IndexPaths, new: IndexPaths) -> None:
    """Copy the lists of what each server may have to a rebuilt index, which then sends everything again. Repeatable."""
    for path in sorted(old.stores.glob("*.sqlite")):
        new.stores.mkdir(parents=True, exist_ok=True)
        try:
            with closing(sqlite3.connect(new.stores / path.name, isolation_level=None)) as database:
                database.executescript(_SCHEMA)
                database.execute("ATTACH ? AS old", (str(path),))
                database.execute("BEGIN")
                database.execute("INSERT OR IGNORE INTO store SELECT name FROM old.store")
                database.execute(
                    "INSERT OR IGNORE INTO pages SELECT url, 0, '', NULL FROM old.pages WHERE content IS NULL OR content != x''"
                )
                database.execute("COMMIT")
        except sqlite3.Error as error:
            _log.warning("%s cannot be read (%s): pages that are gone may stay in that store", path, error)


def list_holders(paths: IndexPaths, matches: Callable[[str], bool]) -> list[str]:
    """The names of stores that were sent pages whose URLs match, and that have not removed them since."""
    return sorted({name for path in paths.stores.glob("*.sqlite") for name in _find_holder(path, matches)})


def _find_holder(path: Path, matches: Callable[[str], bool]) -> list[str]:
    try:
        with closing(sqlite3.connect(path)) as database:
            urls = database.execute("SELECT url FROM pages WHERE content IS NULL OR content != x''")
            is_holder = any(matches(url) for (url,) in urls)
            return [name for (name,) in database.execute("SELECT name FROM store")] if is_holder else []
    except sqlite3.Error:
        return []


@dataclass(frozen=True, slots=True)
class _Delivery:
    outcome: Outcome
    triples: tuple[str, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class _Page:
    time: float
    digest: str
    content: bytes | None
    """The hash of what the server has of the page, empty for nothing; None if unknown, because the answer was not recorded."""


class _Ledger:
    """The record of what the server was sent, in SQLite; one file per store."""

    def __init__(self, paths: IndexPaths, key: str, shown: str) -> None:
        paths.stores.mkdir(parents=True, exist_ok=True)
        name = blake2b(key.encode(), digest_size=8).hexdigest()
        # The view's lock serialises the threads.
        self._database = sqlite3.connect(paths.stores / f"{name}.sqlite", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.executescript(_SCHEMA)
        self._database.execute("INSERT OR IGNORE INTO store VALUES (?)", (shown,))
        self._database.execute("BEGIN")

    def load_cursors(self) -> dict[str, int]:
        return dict(self._database.execute("SELECT source, position FROM cursors"))

    def find_page(self, url: str) -> _Page | None:
        row = self._database.execute("SELECT time, digest, content FROM pages WHERE url = ?", (url,)).fetchone()
        return _Page(*row) if row else None

    def note_attempts(self, urls: Sequence[str]) -> None:
        """Record, durably at once, that the server may have something of these pages."""
        if urls:
            self._database.executemany(
                "INSERT INTO pages VALUES (?, 0, '', NULL) ON CONFLICT (url) DO UPDATE SET content = NULL",
                [(url,) for url in urls],
            )
            self._restart()

    def note_page(self, outcome: Outcome, content: bytes | None) -> None:
        row = (outcome.url, outcome.time, outcome.digest, content)
        self._database.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)", row)
        self._database.execute("DELETE FROM refused WHERE url = ?", (outcome.url,))

    def note_refusal(self, outcome: Outcome, reason: str) -> None:
        row = (outcome.url, outcome.time, reason)
        self._database.execute("INSERT OR REPLACE INTO refused VALUES (?, ?, ?)", row)

    def count_refused(self) -> tuple[int, str]:
        """The number of refused pages, and the newest with its reason."""
        (count,) = self._database.execute("SELECT count(*) FROM refused").fetchone()
        last = self._database.execute("SELECT url, reason FROM refused ORDER BY time DESC LIMIT 1").fetchone()
        return count, f"{last[0]} ({last[1]})" if last else ""

    def list_urls(self) -> Iterator[list[str]]:
        """All pages of which the server may have something, in batches; rows may be deleted meanwhile."""
        last = ""
        while True:
            rows = self._database.execute(
                "SELECT url FROM pages WHERE url > ? ORDER BY url LIMIT ?", (last, _FORGET_ROWS)
            ).fetchall()
            if not rows:
                return
            yield [url for (url,) in rows]
            last = rows[-1][0]

    def delete_pages(self, urls: Sequence[str]) -> None:
        for table in ("pages", "refused"):
            self._database.executemany(f"DELETE FROM {table} WHERE url = ?", [(url,) for url in urls])

    def commit(self, cursors: Cursors) -> None:
        self._database.execute("DELETE FROM cursors")
        self._database.executemany("INSERT INTO cursors VALUES (?, ?)", cursors.items())
        self._restart()

    def close(self) -> None:
        """Close the database; uncommitted records are lost, so none is durable without its cursors."""
        self._database.close()

    def _restart(self) -> None:
        self._database.execute("COMMIT")
        self._database.execute("BEGIN")
