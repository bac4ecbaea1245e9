"""The state of a crawl as a whole: beats of its shards enter, `status.json` and lines for people leave.

The process that runs a crawl writes the file every second; any other process reads it, also when the crawl is over.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from rdfspider.frontier.facts import Counts
from rdfspider.run.folder.layout import is_in_use, write_atomically
from rdfspider.run.peers.messages import Beat

FILE = "status.json"
# Seconds over which the speed is measured: long enough to be calm, short enough to be news.
_SPEED_WINDOW_S = 10.0
_COUNTS_SHOWN = 8
# A shard beats every second; one that has not for so long is busy with something, stopped, or being started again.
_SILENT_S = 5.0
# An outcome without an answer that is nobody's fault; it has a count of its own.
_NO_ERROR = "disallowed"

REASONS = {
    "finished": "nothing is left to fetch",
    "pages": "the limit of pages is reached",
    "bytes": "the limit of bytes is reached",
    "time": "the limit of time is reached",
    "asked": "asked to stop",
    "halted": "asked to stop at once",
    "interrupted": "interrupted",
    "terminated": "terminated",
    "gone": "its process is gone",
}
"""Why a crawl no longer runs, as `Status.reason` names it; another text is an error that ended it."""


class Totals(Counts, kw_only=True):
    """What all shards have together. The counts are those of the whole crawl, what follows is of this run."""

    wire_bytes: int = 0
    connections: int = 0
    """Requests under way now."""
    statuses: dict[str, int] = msgspec.field(default_factory=dict)
    """Answers by HTTP status."""
    errors: dict[str, int] = msgspec.field(default_factory=dict)
    """Exchanges that gave no page, by the failure's code."""
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    """URLs that failed for good, by the reason."""
    quads_by_syntax: dict[str, int] = msgspec.field(default_factory=dict)
    cpu_s: dict[str, float] = msgspec.field(default_factory=dict)
    """Processor time by stage; `all` is that of the processes."""


class Status(Struct, frozen=True, kw_only=True):
    """What `status.json` holds. Times are seconds since 1970."""

    state: str
    """new, running, pausing (it finishes what is under way), paused, stopping (likewise), ended (by itself), stopped (by a
    person or an error) or died."""
    reason: str = ""
    """Why it stops or no longer runs: a key of REASONS or a sentence; empty while it runs."""
    started: float = 0.0
    """When this run began; 0 before the first."""
    updated: float = 0.0
    run_s: float = 0.0
    elapsed_s: float = 0.0
    """Over all runs."""
    pages_s: float = 0.0
    """Pages a second, in the last seconds."""
    bytes_s: float = 0.0
    """Bytes of bodies on the wire a second, likewise."""
    limits: dict[str, float] = msgspec.field(default_factory=dict)
    """The budgets of the crawl as a whole, by setting; those without a limit are left out."""
    totals: Totals = msgspec.field(default_factory=Totals)
    shards: tuple[Beat, ...] = ()
    """The last beat of each shard that was heard."""

    @property
    def is_over(self) -> bool:
        """Whether nothing runs any more."""
        return self.state in ("new", "ended", "stopped", "died")


class Speed:
    """Pages and bytes a second, of the last seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int]] = deque()

    def measure(self, monotonic: float, totals: Totals) -> tuple[float, float]:
        """Take the totals of this moment; returns pages and bytes a second."""
        samples = self._samples
        # What earlier runs have fetched must not look like a burst when their shards are heard for the first time.
        samples.append((monotonic, count_pages(totals), totals.wire_bytes))
        while len(samples) > 2 and samples[1][0] <= monotonic - _SPEED_WINDOW_S:
            samples.popleft()
        (start, *before), (end, *after) = samples[0], samples[-1]
        if end <= start:
            return 0.0, 0.0
        pages, wire_bytes = (now - then for now, then in zip(after, before, strict=True))
        return pages / (end - start), wire_bytes / (end - start)


def count_pages(totals: Totals) -> int:
    """Pages of this run."""
    return sum(count for status, count in totals.statuses.items() if status.startswith("2"))


def forget_run(beat: Beat) -> Beat:
    """A beat of an earlier run, with what is of the whole crawl alone."""
    return msgspec.structs.replace(
        _let_go(beat, beat.state), wire_bytes=0, statuses={}, failures={}, quads={}, cpu_s={}
    )


def end_shards(status: Status) -> Status:
    """A status without what a living process has: the state of shards is that of a crawl that is over."""
    return msgspec.structs.replace(
        status,
        totals=msgspec.structs.replace(status.totals, connections=0, in_flight=0),
        shards=tuple(_let_go(beat, status.state) for beat in status.shards),
    )


def sum_beats(beats: Iterable[Beat]) -> Totals:
    """What all shards have together."""
    counts: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    quads: Counter[str] = Counter()
    cpu_s: defaultdict[str, float] = defaultdict(float)
    wire_bytes = connections = 0
    for beat in beats:
        counts.update(beat.counts)
        outcomes.update(beat.statuses)
        failures.update(beat.failures)
        quads.update(beat.quads)
        for stage, used_s in beat.cpu_s.items():
            cpu_s[stage] += used_s
        wire_bytes += beat.wire_bytes
        connections += beat.connections
    return Totals(
        **{name: counts[name] for name in Counts.__struct_fields__},
        wire_bytes=wire_bytes,
        connections=connections,
        statuses={name: count for name, count in outcomes.items() if name.isdigit()},
        errors={name: count for name, count in outcomes.items() if not name.isdigit() and name != _NO_ERROR},
        failures=dict(failures),
        quads_by_syntax=dict(quads),
        cpu_s=dict(cpu_s),
    )


def read_status(folder: Path) -> Status:
    """The state of the crawl in the folder; one that says that it runs, but does not, has died."""
    try:
        status = msgspec.json.decode((folder / FILE).read_bytes(), type=Status)
    except (FileNotFoundError, msgspec.MsgspecError):
        return Status(state="running" if is_in_use(folder) else "new")
    if status.is_over or is_in_use(folder):
        return status
    return end_shards(msgspec.structs.replace(status, state="died", reason="gone"))


def write_status(folder: Path, status: Status) -> None:
    """Replace status.json; not synced, because the frontier knows what counts."""
    write_atomically(folder / FILE, encode_status(status), durable=False)


def encode_status(status: Status) -> bytes:
    """One line of JSON; what tells messages apart on the wire is left out."""
    plain = msgspec.to_builtins(status)
    for beat in plain["shards"]:
        beat.pop("type", None)
    return msgspec.json.encode(plain)


def write_line(status: Status) -> str:
    """One line on how it goes."""
    totals = status.totals
    parts = (
        _write_duration(status.run_s),
        f"{totals.pages:,} pages",
        f"{status.pages_s:.1f} pages/s",
        f"{status.bytes_s / 1e6:.2f} MB/s",
        f"known {totals.known:,}",
        f"queue {totals.scheduled:,}",
        f"hosts {totals.hosts:,}",
        f"errors {sum(totals.errors.values()):,}{f' ({_write_counts(totals.errors, 2)})' if totals.errors else ''}",
    )
    mark = "" if status.state == "running" else f"  {status.state}{f': {_explain(status)}' if status.reason else ''}"
    held = "".join(f"  shard {beat.shard} {beat.state}: {beat.reason}" for beat in status.shards if beat.reason)
    return "  ".join(parts) + mark + held


def write_summary(status: Status) -> list[str]:
    """What became of the crawl, in a few lines: first of all its runs, then of this one."""
    if status.state == "new":
        return ["new: it has not run yet"]
    totals = status.totals
    state = f"{status.state}: {_explain(status)}" if status.reason else status.state
    lines = [
        f"{state}, after {_write_duration(status.elapsed_s)}",
        f"pages       {totals.pages:,} ({totals.body_bytes / 1e6:,.1f} MB), {totals.quads:,} quads",
        f"URLs        {totals.known:,} known: {totals.done:,} done, {totals.failed:,} failed{_write_failures(totals)}, "
        f"{totals.disallowed:,} disallowed, {totals.scheduled:,} to fetch{_write_waiting(totals)}",
        f"hosts       {totals.hosts:,}{f', {totals.given_up_hosts:,} given up' if totals.given_up_hosts else ''}",
    ]
    if status.limits:
        lines.append(f"limits      {', '.join(f'{name} {limit:,.15g}' for name, limit in status.limits.items())}")
    if status.started:
        speed = count_pages(totals) / max(status.run_s, 1)
        lines.append(f"this run    {_write_duration(status.run_s)}, {speed:.1f} pages/s")
    for name, counts in (("answers", totals.statuses), ("errors", totals.errors), ("quads", totals.quads_by_syntax)):
        if counts:
            lines.append(f"  {name:<9} {sum(counts.values()):,}: {_write_counts(counts)}")
    return lines


def warn_of_nothing(status: Status) -> str:
    """What a person should know of a crawl that has ended without a single page; empty where there is nothing to say."""
    totals = status.totals
    if status.state != "ended" or totals.pages:
        return ""
    reasons = {**totals.statuses, **totals.errors}
    if totals.disallowed:
        reasons["disallowed"] = totals.disallowed
    return f"not a single page could be fetched from any seed{f' ({_write_counts(reasons)})' if reasons else ''}"


def write_shards(status: Status, now: float) -> list[str]:
    """What each shard last said of itself, a line each; of one that is over, without what only a living process has."""
    return [
        f"shard {beat.shard:<5} {beat.state if status.is_over or now - beat.time < _SILENT_S else 'silent'}"
        f"{f' ({beat.reason})' if beat.reason else ''}, process {beat.pid}, "
        f"{beat.memory_used_bytes / 1e6:,.0f} MB of {beat.memory_total_bytes / 1e6:,.0f} MB "
        f"({beat.memory_free_bytes / 1e6:,.0f} MB free), "
        f"{'' if status.is_over else f'CPU {beat.cpu_percent:.0f} %, {beat.connections} connections, '}"
        f"{beat.pages:,} pages, {max(0.0, now - beat.time):.0f} s ago"
        for beat in status.shards
    ]


def _let_go(beat: Beat, state: str) -> Beat:
    """A beat without what its process held open or was busy with."""
    counts = beat.counts | {"in_flight": 0}
    return msgspec.structs.replace(beat, state=state, connections=0, cpu_percent=0.0, counts=counts)


def _write_failures(totals: Totals) -> str:
    """Why URLs failed, as far as this run knows."""
    if not totals.failures:
        return ""
    is_all = sum(totals.failures.values()) == totals.failed
    return f" ({'' if is_all else 'in this run '}{_write_counts(totals.failures)})"


def _write_waiting(totals: Totals) -> str:
    """Of the URLs to fetch, those that a crawl does not wait for."""
    parts = []
    if totals.over_budget:
        parts.append(f"{totals.over_budget:,} over the budget of their host or domain")
    if totals.scheduled_given_up:
        parts.append(f"{totals.scheduled_given_up:,} on hosts that do not answer; run the crawl again later")
    return f" ({', '.join(parts)})" if parts else ""


def _explain(status: Status) -> str:
    return REASONS.get(status.reason, status.reason)


def _write_counts(counts: dict[str, int], most: int = _COUNTS_SHOWN) -> str:
    """The most frequent ones."""
    shown = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    return ", ".join(f"{name} {count:,}" for name, count in shown) + (", …" if len(counts) > most else "")


def _write_duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
