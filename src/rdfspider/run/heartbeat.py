"""What a shard tells of itself every second: memory, processor time, what it did, and counts of the data on its pages.

The counts of data are of the whole crawl: a shard stores them with its commits and reads them when it starts. A URL that is
fetched again counts again. Quads and problems are exact. Names of types and properties are counted within bounds, because
hostile pages make up millions: rare ones may be dropped, so that the most frequent are right and those far below are lower
bounds.
"""

import heapq
import os
import re
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import psutil

from rdfspider.crawl.messages import Beat, Fetching, Find, RunState
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import (
    PREREQUISITE_REASONS,
    REFUSALS,
    Capture,
    Extraction,
    Failure,
    Lease,
    RobotsState,
    Verdict,
    VerdictState,
)
from rdfspider.vocabulary.terms import RDF_TYPE

if TYPE_CHECKING:
    from rdfspider.run.commits import ShardStore

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


# The load of a shorter time says little: that of a single page, or the grain of a clock.
_LOAD_S = 0.5
# Hosts whose answer times are known, those asked last; and how much the last time counts in their mean.
_TIMED_HOSTS = 100
_LAST_SHARE = 0.2
_SLOWEST_TOLD = 5
# Requests under way that are told of, those that began first.
_FETCHING_TOLD = 8
# Hosts that wait that are told of, those that wait longest.
_WAITING_TOLD = 8
_FILES = {"rules": "rules", "allow": "absent", "unreachable": "unreachable"}


class Meter:
    """Counts and processor time by stage, since the shard was started."""

    def __init__(self) -> None:
        self.cpu_s: defaultdict[str, float] = defaultdict(float)
        self.statuses: Counter[str] = Counter()
        """Exchanges, by HTTP status or by the code of their failure."""
        self.errands: Counter[str] = Counter()
        """Answers that served the crawl itself alone, by `records.PREREQUISITE_REASONS`."""
        self.failures: Counter[str] = Counter()
        """URLs that failed for good, by the reason."""
        self.robots: Counter[str] = Counter()
        """Decisions of robots.txt files, and what became of these, as `Beat.robots` has them."""
        self.visits: Counter[str] = Counter()
        """Leases that are under way, by their kind."""
        self._fetching: dict[int, tuple[float, Lease]] = {}
        """Requests under way by the identity of their lease, in the order in which they began, and since when."""
        self.turned_away: Counter[str] = Counter()
        """Links that were not followed, by the rule."""
        self.wire_bytes = 0
        self._answer_s: dict[str, float] = {}
        """By host, the one asked last at the end: how long exchanges took, a mean in which older ones count ever less."""
        self.process = psutil.Process()
        self._load_from = (time.monotonic(), time.process_time())
        self._load_percent = 0.0

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Measure the processor time of a stage; nothing may be awaited inside."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.cpu_s[stage] += time.thread_time() - start

    def measure_load(self, monotonic: float, used_s: float) -> float:
        """Take the processor time that this process has used by now; returns its load since the last time, in percent of a core.
        Where that was a moment ago, it is what it was then."""
        since, used_before_s = self._load_from
        if monotonic - since >= _LOAD_S:
            percent = 100 * (used_s - used_before_s) / (monotonic - since)
            self._load_percent = min(percent, 100.0 * (os.cpu_count() or 1))
            self._load_from = (monotonic, used_s)
        return self._load_percent

    def begin_fetch(self, lease: Lease) -> None:
        """A server is asked for what a lease is for; `end_fetch` follows, or several."""
        self._fetching[id(lease)] = (time.time(), lease)

    def end_fetch(self, lease: Lease) -> None:
        """The answer is there, or there will be none."""
        self._fetching.pop(id(lease), None)

    def list_fetching(self, shard: int) -> tuple[Fetching, ...]:
        """The requests under way that began first."""
        return tuple(
            Fetching(shard, since, lease.url) for since, lease in islice(self._fetching.values(), _FETCHING_TOLD)
        )

    def count_robots(self, state: RobotsState) -> None:
        """Take into the counts what became of a robots.txt."""
        self.robots[_FILES[state.rule]] += 1

    def count_failure(self, code: str) -> None:
        """Take a name or a robots.txt into the counts that could not be had; an empty code is none. A host that does not exist
        is counted with its URLs."""
        if code and code not in ("nxdomain", "private"):
            self.statuses[code] += 1

    def count(self, host: str, verdict: Verdict, exchange: Capture | Failure | None) -> None:
        """Take an outcome into the counts."""
        if exchange is not None:
            self._time_host(host, exchange.duration_s)
        if isinstance(exchange, Capture):
            # These are no pages; that most sites have no sitemap where one was looked for would look like many errors.
            if verdict.reason in PREREQUISITE_REASONS:
                self.errands[verdict.reason] += 1
            else:
                self.statuses[str(exchange.status)] += 1
            self.wire_bytes += exchange.wire_bytes
        else:
            self.statuses[exchange.code if exchange else verdict.reason] += 1
        if verdict.state == VerdictState.FAILED and verdict.reason not in REFUSALS:
            self.failures[verdict.reason.removeprefix("status-")] += 1

    def find_slowest(self) -> dict[str, float]:
        """Of the hosts asked last, those that take longest, the slowest first."""
        slowest = sorted(self._answer_s.items(), key=lambda pair: (-pair[1], pair[0]))[:_SLOWEST_TOLD]
        return {host: round(mean_s, 3) for host, mean_s in slowest}

    def _time_host(self, host: str, duration_s: float) -> None:
        mean_s = self._answer_s.pop(host, duration_s)
        self._answer_s[host] = mean_s + _LAST_SHARE * (duration_s - mean_s)
        if len(self._answer_s) > _TIMED_HOSTS:
            del self._answer_s[next(iter(self._answer_s))]


class Condition(NamedTuple):
    """What a shard itself knows of how it is."""

    state: RunState
    reason: str = ""
    """Why it is in that state, for people."""
    is_idle: bool = False
    """Whether it has nothing to do, and nothing of it is on its way to another shard."""
    connections: int = 0


def make_beat(number: int, frontier: Frontier, meter: Meter, store: "ShardStore", condition: Condition) -> Beat:
    """How a shard is at this moment."""
    memory = psutil.virtual_memory()
    counts, counted = frontier.counts, store.data_counts
    types, properties = counted.top_names()
    return Beat(
        shard=number,
        epoch=frontier.epoch,
        time=time.time(),
        pid=os.getpid(),
        generation=frontier.generation,
        is_idle=condition.is_idle,
        state=condition.state,
        reason=condition.reason,
        memory_used_bytes=meter.process.memory_info().rss,
        memory_free_bytes=memory.available,
        memory_total_bytes=memory.total,
        cpu_percent=meter.measure_load(time.monotonic(), time.process_time()),
        connections=condition.connections,
        pages=counts.pages,
        body_bytes=counts.body_bytes,
        disk_free_bytes=store.free_bytes,
        counts=msgspec.structs.asdict(counts),
        queued={str(priority): count for priority, count in enumerate(frontier.queued) if count},
        visits={kind: count for kind, count in meter.visits.items() if count},
        fetching=meter.list_fetching(number),
        waiting_hosts=tuple(frontier.find_waiting(_WAITING_TOLD)),
        archive_bytes=store.archive_bytes,
        quads=dict(counted.quads),
        problems=dict(counted.problems),
        types=types,
        properties=properties,
        wire_bytes=meter.wire_bytes,
        statuses=dict(meter.statuses),
        errands=dict(meter.errands),
        failures=dict(meter.failures),
        robots=dict(meter.robots),
        turned_away=dict(meter.turned_away),
        cpu_s={**meter.cpu_s, "all": sum(meter.process.cpu_times()[:2])},
        slowest_hosts=meter.find_slowest(),
        finds=tuple(counted.finds),
    )
