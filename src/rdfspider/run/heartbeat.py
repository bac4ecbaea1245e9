"""The beat that a shard sends every second: memory, CPU time, counts of its work and of the data on its pages.

The data counts cover the whole crawl: a shard stores them with its commits and loads them when it starts. A URL that is fetched
again counts again. Counts of quads and problems are exact. Names of types and properties are counted in bounded memory, because
hostile pages invent millions: rare names may be dropped, so the counts of the most frequent are right, and those of names far
below are lower bounds.
"""

import heapq
import os
import re
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from operator import itemgetter
from typing import NamedTuple

import msgspec
import psutil

from rdfspider.codes import PREREQUISITE_REASONS, REFUSALS, FailureCode, RobotsRule, VerdictState
from rdfspider.crawl.messages import BackupState, Beat, CopyState, Fetching, Find, LinksTo, RunState
from rdfspider.crawl.status import strip_beat
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Capture, Extraction, Failure, Lease, RobotsState, Verdict
from rdfspider.vocabulary.mechanics import drop_mechanics
from rdfspider.vocabulary.terms import RDF_TYPE_TERM

# The frontier's keys for the stored counts; the names are those of older crawls.
_COUNTS, _NAMES = "survey-counts", "survey-names"
_TYPE_MARK = f"{RDF_TYPE_TERM} "
# Matches a line of N-Quads and captures its predicate, for rdf:type with the object if that is an IRI. All quantifiers are
# possessive, so the text is read once: a quarter of a microsecond per quad. Names that are too long to be shown are cut.
_NAME = re.compile(rf"[^ ]*+ ((?:{re.escape(RDF_TYPE_TERM)} (?=<))?+[^ ]{{1,300}}+)[^\n]*+\n")
# Names in memory, at most some megabytes; beyond that, the most frequent half of the limit is kept.
_MAX_NAMES = 20_000
_NAMES_STORED = 500
_NAMES_TOLD = 100
_STORE_EVERY_S = 5.0
_MAX_FINDS = 5
_TITLE_CHARS = 80
_FIND_TYPES = 4
# Only the first names of a page are searched for its types, as it may have a million quads.
_FIND_NAMES = 1000
# Over a shorter time, the load would be that of a single page or of the clock's resolution.
_LOAD_S = 0.5
# How many of the latest hosts have their response times recorded, and the weight of the last one in the moving average.
_TIMED_HOSTS = 100
_LAST_SHARE = 0.2
_SLOWEST_TOLD = 5
# How many requests under way are reported, the oldest first.
_FETCHING_TOLD = 8
# How many waiting hosts are reported, those that wait longest.
_WAITING_TOLD = 8
_FILES = {RobotsRule.RULES: "rules", RobotsRule.ALLOW: "absent", RobotsRule.UNREACHABLE: "unreachable"}


class _StoredCounts(msgspec.Struct, array_like=True):
    """The counts that are stored with each commit."""

    quads: dict[str, int] = {}
    problems: dict[str, int] = {}


class DataCounts:
    """Counts of the data on one shard's pages."""

    def __init__(self, frontier: Frontier) -> None:
        """Load the counts that the frontier has stored."""
        self._frontier = frontier
        counts, names = frontier.meta.get(_COUNTS), frontier.meta.get(_NAMES)
        stored = msgspec.msgpack.decode(counts, type=_StoredCounts) if counts else _StoredCounts()
        self.quads = Counter(stored.quads)
        """Statements by syntax."""
        self.problems = Counter(stored.problems)
        """Problems by code."""
        self.finds: deque[Find] = deque(maxlen=_MAX_FINDS)
        """The latest pages with statements, the newest last; not stored."""
        self._names = Counter(msgspec.msgpack.decode(names, type=dict[str, int]) if names else {})
        """Properties as `<IRI>`, types as rdf:type, a space and `<IRI>`."""
        self._told: tuple[dict[str, int], dict[str, int]] | None = None
        self._stored_at = float("-inf")
        self._is_stored = True
        """Whether the names are unchanged since they were last stored."""

    def add(self, extractions: Iterable[Extraction], now: float) -> None:
        """Count the pages of one commit; `now` is Unix time."""
        latest: deque[tuple[Extraction, list[list[str]]]] = deque(maxlen=_MAX_FINDS)
        for extraction in extractions:
            for problem in extraction.problems:
                self.problems[problem.code] += problem.count
            if statements := drop_mechanics(extraction.statements):
                latest.append((extraction, self._count_statements(statements)))
        self.finds.extend(_make_find(extraction, names, now) for extraction, names in latest)
        if latest:
            self._told = None
            self._is_stored = False

    def top_names(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return the most frequent types and properties, as IRIs, most frequent first."""
        if self._told is None:
            types, properties = self._choose_names(_NAMES_TOLD)
            self._told = (
                {_to_iri(name): count for name, count in types},
                {_to_iri(name): count for name, count in properties},
            )
        return self._told

    def stage(self, monotonic: float) -> None:
        """Stage the counts for the next commit, and the names too if they were last stored some seconds ago."""
        self._frontier.meta.put(_COUNTS, msgspec.msgpack.encode(_StoredCounts(self.quads, self.problems)))
        if not self._is_stored and monotonic >= self._stored_at + _STORE_EVERY_S:
            self._stored_at = monotonic
            self._is_stored = True
            names = dict(chain(*self._choose_names(_NAMES_STORED)))
            self._frontier.meta.put(_NAMES, msgspec.msgpack.encode(names))

    def _count_statements(self, statements: Mapping[str, str]) -> list[list[str]]:
        """Count the statements of one page; return a list of names for each syntax."""
        found = []
        for syntax, nquads in statements.items():
            names = _NAME.findall(nquads)
            self.quads[syntax] += len(names)
            self._names.update(names)
            found.append(names)
        if len(self._names) > _MAX_NAMES:
            kept = sorted(self._names.items(), key=itemgetter(1), reverse=True)[: _MAX_NAMES // 2]
            self._names = Counter(dict(kept))
        return found

    def _choose_names(self, most: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """Return the most frequent types and properties; equal counts are sorted by name, so that the order is stable."""
        types = [(-count, name) for name, count in self._names.items() if name.startswith(_TYPE_MARK)]
        others = [(-count, name) for name, count in self._names.items() if " " not in name and name != RDF_TYPE_TERM]
        return _choose_first(types, most), _choose_first(others, most)


def _choose_first(ranked: list[tuple[int, str]], most: int) -> list[tuple[str, int]]:
    return [(name, -rank) for rank, name in heapq.nsmallest(most, ranked)]


def _make_find(extraction: Extraction, names: list[list[str]], now: float) -> Find:
    first = islice(chain.from_iterable(names), _FIND_NAMES)
    types = dict.fromkeys(_to_iri(name) for name in first if name.startswith(_TYPE_MARK))
    # Characters that UTF-8 cannot encode must not prevent the beat.
    title = " ".join((extraction.title or "")[: 10 * _TITLE_CHARS].split())[:_TITLE_CHARS].encode("utf-8", "replace")
    quads = sum(map(len, names))
    return Find(now, extraction.url, title.decode(), tuple(islice(types, _FIND_TYPES)), quads)


def _to_iri(name: str) -> str:
    return name.removeprefix(_TYPE_MARK).removeprefix("<").removesuffix(">")


class Meter:
    """Counts and CPU time by stage, since the shard was started."""

    def __init__(self) -> None:
        self.cpu_s: defaultdict[str, float] = defaultdict(float)
        self.statuses: Counter[str] = Counter()
        """Exchanges, by HTTP status or failure code."""
        self.prerequisites: Counter[str] = Counter()
        """Responses to prerequisites, by `codes.PREREQUISITE_REASONS`."""
        self.failures: Counter[str] = Counter()
        """URLs that failed for good, by reason."""
        self.robots: Counter[str] = Counter()
        """Decisions of robots.txt files, and the outcomes of fetching them, as in `Beat.robots`."""
        self.visits: Counter[str] = Counter()
        """Leases under way, by kind."""
        self._fetching: dict[int, tuple[float, Lease]] = {}
        """Requests under way, by the `id()` of their lease: start time and lease, the oldest first."""
        self.turned_away: Counter[str] = Counter()
        """Links that were not followed, by rule."""
        self.wire_bytes = 0
        self._answer_s: dict[str, float] = {}
        """By host, the latest last: an exponential moving average of how long exchanges took."""
        self.process = psutil.Process()
        self._load_from = (time.monotonic(), time.process_time())
        self._load_percent = 0.0

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Measure the CPU time of a stage; nothing may be awaited inside."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.cpu_s[stage] += time.thread_time() - start

    def measure_load(self, monotonic: float, used_s: float) -> float:
        """Return this process's load since the last measurement, in percent of a core, from the CPU time used so far. If the
        last measurement was a moment ago, its result is returned again."""
        since, used_before_s = self._load_from
        if monotonic - since >= _LOAD_S:
            percent = 100 * (used_s - used_before_s) / (monotonic - since)
            self._load_percent = min(percent, 100.0 * (os.cpu_count() or 1))
            self._load_from = (monotonic, used_s)
        return self._load_percent

    def begin_fetch(self, lease: Lease) -> None:
        """Note that the request of a lease starts; one or more calls of `end_fetch` follow."""
        self._fetching[id(lease)] = (time.time(), lease)

    def end_fetch(self, lease: Lease) -> None:
        """Note that the request of a lease has ended."""
        self._fetching.pop(id(lease), None)

    def list_fetching(self, shard: int) -> tuple[Fetching, ...]:
        """Return the oldest requests under way."""
        return tuple(
            Fetching(shard, since, lease.url) for since, lease in islice(self._fetching.values(), _FETCHING_TOLD)
        )

    def count_robots(self, state: RobotsState) -> None:
        """Count the outcome of fetching a robots.txt."""
        self.robots[_FILES[state.rule]] += 1

    def count_failure(self, code: str) -> None:
        """Count a failure to resolve a host or fetch a robots.txt; an empty code is no failure. Hosts that do not exist or are
        private are counted with their URLs."""
        if code and code not in (FailureCode.NXDOMAIN, FailureCode.PRIVATE):
            self.statuses[code] += 1

    def count(self, host: str, verdict: Verdict, exchange: Capture | Failure | None) -> None:
        """Count an outcome."""
        if exchange is not None:
            self._time_host(host, exchange.duration_s)
        if isinstance(exchange, Capture):
            # Prerequisites are not pages: the sitemaps that most sites do not have would look like many errors.
            if verdict.reason in PREREQUISITE_REASONS:
                self.prerequisites[verdict.reason] += 1
            else:
                self.statuses[str(exchange.status)] += 1
            self.wire_bytes += exchange.wire_bytes
        else:
            self.statuses[exchange.code if exchange else verdict.reason] += 1
        if verdict.state == VerdictState.FAILED and verdict.reason not in REFUSALS:
            self.failures[verdict.reason.removeprefix("status-")] += 1

    def find_slowest(self) -> dict[str, float]:
        """Return the slowest of the latest hosts, slowest first."""
        slowest = sorted(self._answer_s.items(), key=lambda pair: (-pair[1], pair[0]))[:_SLOWEST_TOLD]
        return {host: round(mean_s, 3) for host, mean_s in slowest}

    def _time_host(self, host: str, duration_s: float) -> None:
        mean_s = self._answer_s.pop(host, duration_s)
        self._answer_s[host] = mean_s + _LAST_SHARE * (duration_s - mean_s)
        if len(self._answer_s) > _TIMED_HOSTS:
            del self._answer_s[next(iter(self._answer_s))]


class Condition(NamedTuple):
    """The state of a shard and its disks, for its beat."""

    state: RunState
    reason: str = ""
    """Why it is in that state, in words."""
    is_idle: bool = False
    """Whether it has nothing to do and no links in transit to another shard."""
    connections: int = 0
    archive_bytes: int = 0
    """The length of the archive."""
    disk_free_bytes: int = 0
    disk_total_bytes: int = 0
    place: str = ""
    """Where the shard runs; empty for the crawl's folder."""
    links: tuple[LinksTo, ...] = ()
    """The links for other shards."""
    is_brief: bool = False
    """Whether what is for display only is left out."""
    backup: BackupState | None = None
    copy: CopyState | None = None


def make_beat(number: int, frontier: Frontier, meter: Meter, data_counts: DataCounts, condition: Condition) -> Beat:
    """Make the beat of a shard."""
    memory = psutil.virtual_memory()
    counts = frontier.counts
    types, properties = data_counts.top_names()
    beat = Beat(
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
        disk_free_bytes=condition.disk_free_bytes,
        disk_total_bytes=condition.disk_total_bytes,
        place=condition.place,
        place_cpu_percent=psutil.cpu_percent(),
        place_cores=os.cpu_count() or 1,
        counts=msgspec.structs.asdict(counts),
        numbered=frontier.numbered,
        queued={str(priority): count for priority, count in enumerate(frontier.queued) if count},
        visits={kind: count for kind, count in meter.visits.items() if count},
        fetching=meter.list_fetching(number),
        waiting_hosts=tuple(frontier.find_waiting(_WAITING_TOLD)),
        archive_bytes=condition.archive_bytes,
        quads=dict(data_counts.quads),
        problems=dict(data_counts.problems),
        types=types,
        properties=properties,
        wire_bytes=meter.wire_bytes,
        statuses=dict(meter.statuses),
        prerequisites=dict(meter.prerequisites),
        failures=dict(meter.failures),
        robots=dict(meter.robots),
        turned_away=dict(meter.turned_away),
        cpu_s={**meter.cpu_s, "all": sum(meter.process.cpu_times()[:2])},
        slowest_hosts=meter.find_slowest(),
        finds=tuple(data_counts.finds),
        links=condition.links,
        is_brief=condition.is_brief,
        backup=condition.backup,
        copy=condition.copy,
    )
    return strip_beat(beat) if condition.is_brief else beat
