"""What a shard tells of itself every second: memory, processor time, counts of what it did, and what it found."""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import psutil

from rdfspider.crawl.messages import Beat, Fetching, RunState
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import (
    PREREQUISITE_REASONS,
    REFUSALS,
    Capture,
    Failure,
    Lease,
    RobotsState,
    Verdict,
    VerdictState,
)

if TYPE_CHECKING:
    from rdfspider.run.commits import ShardStore

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
