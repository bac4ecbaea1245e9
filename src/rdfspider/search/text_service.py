"""Words in, IRIs of the quad store out: what the text service of SPARQL finds.

A page is the graph of its URL. A thing that only blank nodes speak of has no IRI in the store: it is all of these nodes.
"""

import sqlite3
import threading
from pathlib import Path

from rdfspider.errors import RdfspiderError, UnansweredError, UnindexedError
from rdfspider.index.entities.contributions import URN
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.text.fields import PAGE
from rdfspider.index.text.searcher import TextIndex
from rdfspider.vocabulary.terms import make_graph_iri

# Of things that very many pages speak of, the first will do.
_MAX_NODES = 100
# Somebody waits, and has a place that others could have.
_TURN_S = 10.0


class Finder:
    """The text index and the ledger of one crawl's folder, opened when first asked. For any number of threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opened: tuple[TextIndex, LedgerReader] | None = None
        self._file: tuple[int, int] | None = None

    def __call__(self, words: str, limit: int) -> list[tuple[str, float]]:
        """The best results for the words, which may be all that `rdfspider search` takes; each IRI once. UnansweredError where
        the turn does not come."""
        if not self._lock.acquire(timeout=_TURN_S):
            raise UnansweredError("others are looking for words in the text index: try again in a moment")
        try:
            index, ledger = self._open()
            found: dict[str, float] = {}
            for score, card in index.find_cards(words, limit):
                for iri in _find_iris(ledger, card.id, card.kind):
                    found.setdefault(iri, score)
            return list(found.items())
        finally:
            self._lock.release()

    def close(self) -> None:
        """Leave; the next question opens again."""
        with self._lock:
            if self._opened:
                self._opened[1].close()
                self._opened = None

    def _open(self) -> tuple[TextIndex, LedgerReader]:
        paths = IndexPaths(self._folder)
        try:
            stat = paths.ledger.stat()
        except FileNotFoundError:
            raise UnindexedError(f"{self._folder} has no text index yet: try again in some seconds") from None
        # An index that was made again is another file.
        if self._opened is None or self._file != (stat.st_dev, stat.st_ino):
            if self._opened:
                self._opened[1].close()
                self._opened = None
            self._opened = (TextIndex(self._folder), _open_ledger(paths))
            self._file = (stat.st_dev, stat.st_ino)
        return self._opened


def _open_ledger(paths: IndexPaths) -> LedgerReader:
    try:
        return LedgerReader(paths)
    except sqlite3.Error as error:
        raise _tell_ledger(error) from error


def _tell_ledger(error: sqlite3.Error) -> RdfspiderError:
    return RdfspiderError(f"the index's ledger cannot be read: {error}")


def _find_iris(ledger: LedgerReader, name: str, kind: str) -> list[str]:
    if kind == PAGE:
        return [make_graph_iri(name)]
    if not name.startswith(URN):
        return [name]
    try:
        return [node for _, node in ledger.find_members(name, _MAX_NODES)]
    except sqlite3.Error as error:
        raise _tell_ledger(error) from error
