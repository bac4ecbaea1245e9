"""What a shard tells of itself every second: memory, processor, and the counts of what it did."""

import os
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil

from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Capture, Extraction, Failure, Verdict
from rdfspider.run.peers.messages import Beat

# The load of a shorter time says little: that of a single page, or the grain of a clock.
_LOAD_S = 0.5


class Meter:
    """Counts and processor time by stage, since the shard was started."""

    def __init__(self) -> None:
        self.cpu_s: defaultdict[str, float] = defaultdict(float)
        self.statuses: Counter[str] = Counter()
        """Exchanges, by HTTP status or by the code of their failure."""
        self.failures: Counter[str] = Counter()
        """URLs that failed for good, by the reason."""
        self.quads: Counter[str] = Counter()
        self.wire_bytes = 0
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

    def count_failure(self, code: str) -> None:
        """Take a name or a robots.txt into the counts that could not be had; an empty code is none. A host that does not exist
        is counted with its URLs."""
        if code and code not in ("nxdomain", "private"):
            self.statuses[code] += 1

    def count(self, verdict: Verdict, exchange: Capture | Failure | None, extraction: Extraction | None) -> None:
        """Take an outcome into the counts."""
        if isinstance(exchange, Capture):
            self.statuses[str(exchange.status)] += 1
            self.wire_bytes += exchange.wire_bytes
        else:
            self.statuses[exchange.code if exchange else verdict.reason] += 1
        if verdict.state == "failed" and verdict.reason != "disallowed":
            self.failures[verdict.reason.removeprefix("status-")] += 1
        if extraction is not None:
            for syntax, nquads in extraction.statements.items():
                self.quads[syntax] += nquads.count("\n")


def make_beat(
    number: int,
    folder: Path,
    frontier: Frontier,
    meter: Meter,
    is_idle: bool,
    state: str,
    reason: str,
    connections: int,
) -> Beat:
    """How the shard is at this moment."""
    memory = psutil.virtual_memory()
    counts = frontier.counts
    return Beat(
        shard=number,
        epoch=frontier.epoch,
        time=time.time(),
        pid=os.getpid(),
        generation=frontier.generation,
        is_idle=is_idle,
        state=state,
        reason=reason,
        memory_used_bytes=meter.process.memory_info().rss,
        memory_free_bytes=memory.available,
        memory_total_bytes=memory.total,
        cpu_percent=meter.measure_load(time.monotonic(), time.process_time()),
        connections=connections,
        pages=counts.pages,
        body_bytes=counts.body_bytes,
        disk_free_bytes=shutil.disk_usage(folder).free,
        counts=msgspec.structs.asdict(counts),
        wire_bytes=meter.wire_bytes,
        statuses=dict(meter.statuses),
        failures=dict(meter.failures),
        quads=dict(meter.quads),
        cpu_s={**meter.cpu_s, "all": sum(meter.process.cpu_times()[:2])},
    )
