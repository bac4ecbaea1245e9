"""A class name enters, the classes that pages state to be its subclasses leave. The text index knows schema.org's own."""

import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.results import NameCount, NameKind
from rdfspider.vocabulary.classes import find_superclasses, list_class_names

_T = TypeVar("_T")

_CLASSES_SUGGESTED = 1_000
# Superclasses of one class; pages may state anything.
_MAX_ABOVE = 100


class LearnedClasses:
    """The class hierarchy that the pages of one crawl state, as of any commit. For any number of threads."""

    def __init__(self, paths: IndexPaths) -> None:
        self._paths = paths
        self._commit: Hashable = None
        self._reader: LedgerReader | None = None
        self._parents: dict[str, list[str]] = {}
        self._above: dict[str, list[str]] = {}
        self._used: list[NameCount] = []
        self._lock = threading.Lock()

    def find_subclasses(self, name: str, commit: Hashable) -> Iterable[str]:
        """IRIs of subclasses; the name is an IRI or a short name in lower case."""
        return self._ask(commit, lambda ledger: self._find(ledger, name)) or ()

    def find_superclasses(self, iri: str, commit: Hashable) -> Iterable[str]:
        """The superclasses of a class that pages state, and schema.org's superclasses of those."""
        self._ask(commit)
        return self._climb(iri) if self._above else ()

    def list_classes(self, commit: Hashable) -> list[NameCount]:
        """The classes that pages use most, the most used first."""
        self._ask(commit)
        return self._used

    def search_names(self, commit: Hashable, kind: NameKind, text: str, limit: int) -> list[NameCount]:
        """Used names of a kind that contain a text, as `LedgerReader.search_names` finds them."""
        return self._ask(commit, lambda ledger: ledger.search_names(kind, text, limit)) or []

    def _ask(self, commit: Hashable, ask: Callable[[LedgerReader], _T | None] = lambda ledger: None) -> _T | None:
        """Load what pages state as of a commit, and ask the ledger; None if there is none."""
        with self._lock:
            try:
                if commit != self._commit:
                    self._load()
                    self._commit = commit
                return ask(self._reader) if self._reader else None
            except sqlite3.Error:
                # The ledger is being rebuilt; the index itself knows most of the classes.
                self._reader, self._commit = None, None
                return None

    def _find(self, ledger: LedgerReader, name: str) -> Iterable[str]:
        return {child for parent in self._parents.get(name, ()) for child in ledger.find_subclasses(parent)}

    def _climb(self, iri: str) -> Iterable[str]:
        found: dict[str, None] = {}
        rest = [iri, *find_superclasses(iri)]
        for each in rest:
            for parent in self._above.get(each, ()):
                for above in (parent, *find_superclasses(parent)):
                    if above not in found and above != iri and len(found) < _MAX_ABOVE:
                        found[above] = None
                        rest.append(above)
        return found

    def _load(self) -> None:
        """Load which classes have subclasses, by each of their names and those of their superclasses."""
        if self._reader is not None:
            self._reader.close()
        self._reader = LedgerReader(self._paths) if self._paths.ledger.exists() else None
        found: defaultdict[str, list[str]] = defaultdict(list)
        for parent in self._reader.list_parents() if self._reader else ():
            for name in list_class_names(parent):
                found[name].append(parent)
        self._parents = dict(found)
        above: defaultdict[str, list[str]] = defaultdict(list)
        for child, parent in self._reader.list_subclasses() if self._reader else ():
            above[child].append(parent)
        self._above = dict(above)
        self._used = self._reader.read_names(NameKind.CLASS, _CLASSES_SUGGESTED) if self._reader else []
