"""The state of a crawl as a whole: beats of its shards enter, `status.json` leaves.

The process that runs a crawl writes the file every second; any other process reads it, also when the crawl is over.
`crawl/summary.py` puts it into words.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from rdfspider.crawl.folder import is_in_use
from rdfspider.crawl.messages import Beat, Fetching, Find, RunState
from rdfspider.disk import write_atomically
from rdfspider.frontier.entries import Counts, HostEntry
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import IndexStatus, read_index_status
from rdfspider.records import REFUSALS

FILE = "status.json"
# Seconds over which the speed is measured: long enough to be calm, short enough to be news.
_SPEED_WINDOW_S = 10.0
# Types and properties of all shards together, and pages that were found last.
_NAMES_KEPT = 50
_FINDS_KEPT = 10
_FETCHING_KEPT = 40
_SLOWEST_KEPT = 5
_WAITING_KEPT = 10
# What beats hold that the totals have, too: with many shards it would be written many times a second.
_IN_TOTALS = ("types", "properties", "finds", "slowest_hosts", "fetching", "waiting_hosts")

# What only a process that lives can have.
_NOTHING_UNDER_WAY: dict[str, Any] = {"visits": {}, "fetching": (), "waiting_hosts": ()}

_OVER = frozenset({RunState.NEW, RunState.ENDED, RunState.STOPPED, RunState.DIED})
_Number = TypeVar("_Number", int, float)


class Totals(Counts, kw_only=True):
    """What all shards have together: of the whole crawl, and, from `wire_bytes` on, of this run."""

    archive_bytes: int = 0
    """The length of all WARC files."""
    queued: dict[str, int] = msgspec.field(default_factory=dict)
    """URLs to be fetched, by priority from 0, which is first, to 7."""
    quads_by_syntax: dict[str, int] = msgspec.field(default_factory=dict)
    problems: dict[str, int] = msgspec.field(default_factory=dict)
    """What was repaired, dropped or cut short on pages, by code."""
    types: dict[str, int] = msgspec.field(default_factory=dict)
    """The most frequent types, as IRIs, the first ones first. Each shard tells of its own most frequent ones, so that what
    is rare somewhere is counted too low."""
    properties: dict[str, int] = msgspec.field(default_factory=dict)
    """The most frequent properties, likewise."""
    wire_bytes: int = 0
    connections: int = 0
    """Requests under way now."""
    visits: dict[str, int] = msgspec.field(default_factory=dict)
    """Leases that are under way now, by their kind: name, robots or page; also those that wait for an address."""
    fetching: tuple[Fetching, ...] = ()
    """Some of the requests under way now, those that began first."""
    waiting_hosts: tuple[HostEntry, ...] = ()
    """Of the hosts that are being asked, those that wait longest now, and why; others may wait longer on disk."""
    statuses: dict[str, int] = msgspec.field(default_factory=dict)
    """Answers by HTTP status, but for those that served the crawl itself."""
    errands: dict[str, int] = msgspec.field(default_factory=dict)
    """Answers that served the crawl itself alone: sitemap, context, and in vain no-sitemap, no-context."""
    errors: dict[str, int] = msgspec.field(default_factory=dict)
    """Exchanges that gave no page, by the failure's code."""
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    """URLs that failed for good, by the reason."""
    robots: dict[str, int] = msgspec.field(default_factory=dict)
    """What robots.txt files have decided: of URLs, how many were allowed and disallowed; of the files that were asked for, how
    many had rules, were not there (absent), and could not be had (unreachable)."""
    turned_away: dict[str, int] = msgspec.field(default_factory=dict)
    """Links that were not followed, by the rule."""
    cpu_s: dict[str, float] = msgspec.field(default_factory=dict)
    """Processor time by stage; `all` is that of the processes."""
    slowest_hosts: dict[str, float] = msgspec.field(default_factory=dict)
    """Of the hosts asked last, those that take longest, with their seconds, the slowest first."""
    finds: tuple[Find, ...] = ()
    """The latest pages with structured data, the newest last."""


class Status(Struct, frozen=True, kw_only=True):
    """What `status.json` holds. Times are seconds since 1970."""

    state: RunState
    reason: str = ""
    """Why it stops or no longer runs: a key of `summary.REASONS` or a sentence; empty while it runs."""
    started: float = 0.0
    """When this run began; 0 before the first."""
    updated: float = 0.0
    run_s: float = 0.0
    elapsed_s: float = 0.0
    """Over all runs; imports are none."""
    pages_s: float = 0.0
    """Pages a second, in the last seconds."""
    bytes_s: float = 0.0
    """Bytes of bodies on the wire a second, likewise."""
    limits: dict[str, float] = msgspec.field(default_factory=dict)
    """The budgets of the crawl as a whole, by setting; those without a limit are left out."""
    totals: Totals = msgspec.field(default_factory=Totals)
    shards: tuple[Beat, ...] = ()
    """The last beat of each shard that was heard."""
    index: IndexStatus | None = None
    """How far the index is; None where there is none."""

    @property
    def is_over(self) -> bool:
        """Whether nothing runs any more."""
        return self.state in _OVER


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
        _let_go(beat, beat.state),
        wire_bytes=0,
        statuses={},
        errands={},
        failures={},
        robots={},
        turned_away={},
        cpu_s={},
        slowest_hosts={},
        finds=(),
    )


def end_shards(status: Status) -> Status:
    """A status without what a living process has: the state of shards is that of a crawl that is over."""
    return msgspec.structs.replace(
        status,
        totals=msgspec.structs.replace(status.totals, connections=0, in_flight=0, **_NOTHING_UNDER_WAY),
        shards=tuple(_let_go(beat, status.state) for beat in status.shards),
    )


def leave_to_totals(beat: Beat) -> Beat:
    """A beat without what is told of all shards together."""
    return msgspec.structs.replace(beat, **{name: type(getattr(beat, name))() for name in _IN_TOTALS})


def sum_beats(beats: Iterable[Beat]) -> Totals:
    """What all shards have together."""
    beats = list(beats)
    counts = _add_up(beat.counts for beat in beats)
    outcomes = _add_up(beat.statuses for beat in beats)
    cpu_s: defaultdict[str, float] = defaultdict(float)
    for beat in beats:
        for stage, used_s in beat.cpu_s.items():
            cpu_s[stage] += used_s
    slowest = {host: mean_s for beat in beats for host, mean_s in beat.slowest_hosts.items()}
    finds = sorted((find for beat in beats for find in beat.finds), key=lambda find: find.time)
    fetching = sorted((request for beat in beats for request in beat.fetching), key=lambda request: request.since)
    waiting = sorted((host for beat in beats for host in beat.waiting_hosts), key=lambda host: -host.wait_s)
    return Totals(
        **{name: counts[name] for name in Counts.__struct_fields__},
        archive_bytes=sum(beat.archive_bytes for beat in beats),
        queued=dict(sorted(_add_up(beat.queued for beat in beats).items())),
        quads_by_syntax=dict(_add_up(beat.quads for beat in beats)),
        problems=dict(_add_up(beat.problems for beat in beats)),
        types=_keep_most(_add_up(beat.types for beat in beats), _NAMES_KEPT),
        properties=_keep_most(_add_up(beat.properties for beat in beats), _NAMES_KEPT),
        wire_bytes=sum(beat.wire_bytes for beat in beats),
        connections=sum(beat.connections for beat in beats),
        visits=dict(_add_up(beat.visits for beat in beats)),
        fetching=tuple(fetching[:_FETCHING_KEPT]),
        waiting_hosts=tuple(waiting[:_WAITING_KEPT]),
        statuses={name: count for name, count in outcomes.items() if name.isdigit()},
        errors={name: count for name, count in outcomes.items() if not name.isdigit() and name not in REFUSALS},
        errands=dict(_add_up(beat.errands for beat in beats)),
        failures=dict(_add_up(beat.failures for beat in beats)),
        robots=dict(_add_up(beat.robots for beat in beats)),
        turned_away=_keep_most(_add_up(beat.turned_away for beat in beats), _NAMES_KEPT),
        cpu_s=dict(cpu_s),
        slowest_hosts=_keep_most(slowest, _SLOWEST_KEPT),
        finds=tuple(finds[-_FINDS_KEPT:]),
    )


def read_status(folder: Path) -> Status:
    """The state of the crawl in the folder; one that says that it runs, but does not, has died."""
    # A crawl may be indexed at any time, also when it is over.
    index = read_index_status(IndexPaths(folder))
    try:
        status = msgspec.json.decode((folder / FILE).read_bytes(), type=Status)
    except (FileNotFoundError, msgspec.MsgspecError):
        return Status(state=RunState.RUNNING if is_in_use(folder) else RunState.NEW, index=index)
    status = msgspec.structs.replace(status, index=index)
    if status.is_over or is_in_use(folder):
        return status
    return end_shards(msgspec.structs.replace(status, state=RunState.DIED, reason="gone"))


def write_status(folder: Path, status: Status) -> None:
    """Replace status.json; not synced, because the frontier knows what counts."""
    write_atomically(folder / FILE, encode_status(status), durable=False)


def encode_status(status: Status) -> bytes:
    """One line of JSON."""
    return msgspec.json.encode(describe_status(status))


def describe_status(status: Status) -> dict[str, Any]:
    """What JSON has of it; of each shard without what tells messages apart on the wire, and what is among the totals."""
    plain: dict[str, Any] = msgspec.to_builtins(status)
    for beat in plain["shards"]:
        for name in ("type", *_IN_TOTALS):
            beat.pop(name, None)
    return plain


def _let_go(beat: Beat, state: RunState) -> Beat:
    """A beat without what its process held open or was busy with."""
    counts = beat.counts | {"in_flight": 0}
    return msgspec.structs.replace(
        beat, state=state, connections=0, cpu_percent=0.0, counts=counts, **_NOTHING_UNDER_WAY
    )


def _add_up(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for more in counts:
        total.update(more)
    return total


def _keep_most(counts: Mapping[str, _Number], most: int) -> dict[str, _Number]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most])
