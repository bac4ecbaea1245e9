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


class Meter:
    """Counts and processor time by stage, since the shard was started."""

    def __init__(self) -> None:
        self.cpu_s: defaultdict[str, float] = defaultdict(float)
        self.statuses: Counter[str] = Counter()
        """Exchanges, by HTTP status or by the code of their failure."""
        self.quads: Counter[str] = Counter()
        self.wire_bytes = 0
        self.process = psutil.Process()
        self.process.cpu_percent()

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Measure the processor time of a stage; nothing may be awaited inside."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.cpu_s[stage] += time.thread_time() - start

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
        cpu_percent=meter.process.cpu_percent(),
        connections=connections,
        pages=counts.pages,
        body_bytes=counts.body_bytes,
        wire_bytes=meter.wire_bytes,
        disk_free_bytes=shutil.disk_usage(folder).free,
        counts=msgspec.structs.asdict(counts),
        statuses=dict(meter.statuses),
        quads=dict(meter.quads),
        cpu_s={**meter.cpu_s, "all": sum(meter.process.cpu_times()[:2])},
    )
