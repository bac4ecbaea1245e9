"""Counts of the data on the pages of a shard: extractions enter, the most frequent types and properties, quads by syntax and
problems leave.

The counts are of the whole crawl: a shard stores them with its commits and reads them when it starts. A URL that is fetched again
counts again. Quads and problems are exact. Names of types and properties are counted within bounds, because hostile pages make
up millions: rare ones may be forgotten, so that the most frequent are right and those far below are lower bounds; they are stored
now and then, so that a crash costs the last seconds of them.
"""

import heapq
import re
from collections import Counter, deque
from collections.abc import Iterable
from itertools import chain, islice
from operator import itemgetter

import msgspec

from rdfspider.crawl.messages import Find
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Extraction
from rdfspider.vocabulary.ntriples import RDF_TYPE

# What the frontier keeps for us with each commit.
_COUNTS, _NAMES = "survey-counts", "survey-names"
_TYPE_MARK = f"{RDF_TYPE} "
# A line of N-Quads: its predicate, and of rdf:type the object too where that is an IRI. No part gives back what it took, so the
# time is that of reading the text once: a quarter of a microsecond a quad. A name is cut where it is too long to be shown.
_NAME = re.compile(rf"[^ ]*+ ((?:{re.escape(RDF_TYPE)} (?=<))?+[^ ]{{1,300}}+)[^\n]*+\n")
# Names in memory, at most some megabytes; when they are more, the more frequent half stays.
_MAX_NAMES = 20_000
_NAMES_STORED = 500
_NAMES_TOLD = 100
_STORE_EVERY_S = 5.0
_MAX_FINDS = 5
_TITLE_CHARS = 80
_FIND_TYPES = 4
# Where the types of a find are looked for; a page may have a million quads.
_FIND_NAMES = 1000


class _Counts(msgspec.Struct, array_like=True):
    """What is stored with each commit."""

    quads: dict[str, int] = {}
    problems: dict[str, int] = {}


class DataCounts:
    """The counts of one shard."""

    def __init__(self, frontier: Frontier) -> None:
        """Goes on with what the frontier has."""
        self._frontier = frontier
        counts, names = frontier.meta.get(_COUNTS), frontier.meta.get(_NAMES)
        stored = msgspec.msgpack.decode(counts, type=_Counts) if counts else _Counts()
        self.quads = Counter(stored.quads)
        """Statements by syntax."""
        self.problems = Counter(stored.problems)
        """By code."""
        self.finds: deque[Find] = deque(maxlen=_MAX_FINDS)
        """The latest pages with statements, the newest last; not stored."""
        self._names = Counter(msgspec.msgpack.decode(names, type=dict[str, int]) if names else {})
        """Properties as `<IRI>`, types as rdf:type and `<IRI>`."""
        self._told: tuple[dict[str, int], dict[str, int]] | None = None
        self._stored_at = float("-inf")
        self._is_stored = True
        """Whether all names are as they were stored last."""

    def add(self, extractions: Iterable[Extraction], now: float) -> None:
        """Take the pages of one commit, at the calendar's time."""
        latest: deque[tuple[Extraction, list[list[str]]]] = deque(maxlen=_MAX_FINDS)
        for extraction in extractions:
            for problem in extraction.problems:
                self.problems[problem.code] += problem.count
            if extraction.statements:
                latest.append((extraction, self._count_statements(extraction)))
        self.finds.extend(_make_find(extraction, names, now) for extraction, names in latest)
        if latest:
            self._told = None
            self._is_stored = False

    def top_names(self) -> tuple[dict[str, int], dict[str, int]]:
        """The most frequent types and properties, as IRIs, the first ones first."""
        if self._told is None:
            types, properties = self._choose_names(_NAMES_TOLD)
            self._told = (
                {_to_iri(name): count for name, count in types},
                {_to_iri(name): count for name, count in properties},
            )
        return self._told

    def stage(self, monotonic: float) -> None:
        """Have the next commit store it: counts always, names where those stored last are some seconds old."""
        self._frontier.meta.put(_COUNTS, msgspec.msgpack.encode(_Counts(self.quads, self.problems)))
        if not self._is_stored and monotonic >= self._stored_at + _STORE_EVERY_S:
            self._stored_at = monotonic
            self._is_stored = True
            names = dict(chain(*self._choose_names(_NAMES_STORED)))
            self._frontier.meta.put(_NAMES, msgspec.msgpack.encode(names))

    def _count_statements(self, extraction: Extraction) -> list[list[str]]:
        """Count one page; returns its names, by syntax."""
        found = []
        for syntax, nquads in extraction.statements.items():
            names = _NAME.findall(nquads)
            self.quads[syntax] += len(names)
            self._names.update(names)
            found.append(names)
        if len(self._names) > _MAX_NAMES:
            kept = sorted(self._names.items(), key=itemgetter(1), reverse=True)[: _MAX_NAMES // 2]
            self._names = Counter(dict(kept))
        return found

    def _choose_names(self, most: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """The most frequent types and properties; those of the same count by name, so that they do not jump about."""
        types = [(-count, name) for name, count in self._names.items() if name.startswith(_TYPE_MARK)]
        others = [(-count, name) for name, count in self._names.items() if " " not in name and name != RDF_TYPE]
        return _choose_first(types, most), _choose_first(others, most)


def _choose_first(ranked: list[tuple[int, str]], most: int) -> list[tuple[str, int]]:
    return [(name, -rank) for rank, name in heapq.nsmallest(most, ranked)]


def _make_find(extraction: Extraction, names: list[list[str]], now: float) -> Find:
    first = islice(chain.from_iterable(names), _FIND_NAMES)
    types = dict.fromkeys(_to_iri(name) for name in first if name.startswith(_TYPE_MARK))
    # What no encoding can carry must not keep a shard from telling how it is.
    title = " ".join((extraction.title or "")[: 10 * _TITLE_CHARS].split())[:_TITLE_CHARS].encode("utf-8", "replace")
    quads = sum(map(len, names))
    return Find(now, extraction.url, title.decode(), tuple(islice(types, _FIND_TYPES)), quads)


def _to_iri(name: str) -> str:
    return name.removeprefix(_TYPE_MARK).removeprefix("<").removesuffix(">")
