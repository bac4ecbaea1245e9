"""The state of a crawl as a whole: beats of its shards enter, `status.json` leaves.

The process that runs a crawl writes the file every second; any other process can read it, also when the crawl is over.
`crawl/summary.py` describes it in words.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from rdfspider.codes import REFUSALS
from rdfspider.crawl.folder import advise_doctor, frontier_folder, is_in_use, list_shards
from rdfspider.crawl.messages import DISPLAYED, RUN_COUNTS, Beat, Fetching, Find, LinksTo, RunState
from rdfspider.disk import write_atomically
from rdfspider.frontier.entries import Counts, HostEntry
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import IndexStatus, read_index_status

FILE = "status.json"
GONE = "gone"
"""The reason of a crawl that has died."""
# Seconds over which the speed is measured: long enough to be steady, short enough to be current.
_SPEED_WINDOW_S = 10.0
# How many entries of each kind the totals have.
_NAMES_KEPT = 50
_FINDS_KEPT = 10
_FETCHING_KEPT = 40
_SLOWEST_KEPT = 5
_WAITING_KEPT = 10
# Links that have waited longer are worth a warning.
_LATE_S = 60.0
# How many counts a notebook shows of each kind.
_COUNTS_DRAWN = 8

# The values of fields that only a running process fills.
_NOTHING_UNDER_WAY: dict[str, Any] = {"visits": {}, "fetching": (), "waiting_hosts": ()}

_OVER = frozenset({RunState.NEW, RunState.UNKNOWN, RunState.ENDED, RunState.STOPPED, RunState.DIED})
_Number = TypeVar("_Number", int, float)


class Totals(Counts, kw_only=True):
    """The sums over all shards: of the whole crawl, and from `wire_bytes` on, of this run. Fields without a description mean what
    they mean in a Beat."""

    archive_bytes: int = 0
    queued: dict[str, int] = msgspec.field(default_factory=dict)
    quads_by_syntax: dict[str, int] = msgspec.field(default_factory=dict)
    problems: dict[str, int] = msgspec.field(default_factory=dict)
    types: dict[str, int] = msgspec.field(default_factory=dict)
    """The most frequent types, as IRIs, most frequent first. Each shard reports only its own most frequent ones, so types
    that are rare on some shards are counted too low."""
    properties: dict[str, int] = msgspec.field(default_factory=dict)
    """The most frequent properties, counted in the same way."""
    wire_bytes: int = 0
    connections: int = 0
    visits: dict[str, int] = msgspec.field(default_factory=dict)
    fetching: tuple[Fetching, ...] = ()
    waiting_hosts: tuple[HostEntry, ...] = ()
    statuses: dict[str, int] = msgspec.field(default_factory=dict)
    """Responses by HTTP status, without those of prerequisites."""
    prerequisites: dict[str, int] = msgspec.field(default_factory=dict)
    errors: dict[str, int] = msgspec.field(default_factory=dict)
    """Exchanges without a page, by the failure's code."""
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    robots: dict[str, int] = msgspec.field(default_factory=dict)
    turned_away: dict[str, int] = msgspec.field(default_factory=dict)
    cpu_s: dict[str, float] = msgspec.field(default_factory=dict)
    """Processor time by stage; `all` is that of the processes."""
    slowest_hosts: dict[str, float] = msgspec.field(default_factory=dict)
    """The slowest of the recently contacted hosts, with their mean seconds per request, slowest first."""
    finds: tuple[Find, ...] = ()


class Unheard(Struct, frozen=True):
    """A shard whose process was started some time ago, and has not been heard since."""

    shard: int
    since: float
    """When it was started, in seconds since 1970."""


class Status(Struct, frozen=True, kw_only=True):
    """The content of `status.json`. Times are seconds since 1970."""

    state: RunState
    reason: str = ""
    """Why it stops or no longer runs: a key of `summary.REASONS` or a sentence; empty while it runs."""
    started: float = 0.0
    """When this run began; 0 before the first."""
    updated: float = 0.0
    run_s: float = 0.0
    elapsed_s: float = 0.0
    """The seconds of all runs, without imports."""
    pages_s: float = 0.0
    """Pages per second, over the last seconds."""
    bytes_s: float = 0.0
    """Bytes of bodies on the wire per second, over the last seconds."""
    limits: dict[str, float] = {}
    """The limits of the whole crawl that are set, by setting."""
    totals: Totals = msgspec.field(default_factory=Totals)
    shards: tuple[Beat, ...] = ()
    """The last beat of each shard that has sent one."""
    unheard: tuple[Unheard, ...] = ()
    """Shards that were started a minute ago or earlier, and have not been heard since."""
    index: IndexStatus | None = None
    """The progress of the index; None if there is none."""

    @property
    def is_over(self) -> bool:
        """Whether nothing runs."""
        return self.state in _OVER

    def _repr_html_(self) -> str:
        """For notebooks: a table of what was fetched and found."""
        # Imported here, because it knows many vocabularies.
        from rdfspider.drawing import cut_text, draw_name, draw_table

        totals = self.totals
        reason = f" ({escape(cut_text(self.reason))})" if self.reason else ""
        rows = [
            ("state", f"<b>{escape(self.state)}</b>{reason}"),
            (
                "pages",
                f"{totals.pages:,}, {totals.structured:,} with structured data, {totals.duplicates:,} duplicates",
            ),
            ("quads", f"{totals.quads:,}{_draw_counts(totals.quads_by_syntax)}"),
            (
                "URLs",
                f"{totals.known:,} known, {totals.done:,} done, {totals.failed:,} failed, {totals.scheduled:,} to fetch",
            ),
            ("sites, hosts", f"{totals.sites:,}, {totals.hosts:,}"),
            ("speed", f"{self.pages_s:,.1f} pages/s" if not self.is_over else f"{self.elapsed_s:,.0f} s in all"),
            ("types", "<br>".join(f"{draw_name(iri)} {count:,}" for iri, count in _list_first(totals.types))),
            ("errors", f"{sum(totals.errors.values()):,}{_draw_counts(totals.errors)}"),
        ]
        if self.index:
            rows.append(
                ("index", f"{self.index.pages:,} pages, {self.index.quads:,} quads, {self.index.entities:,} entities")
            )
        return draw_table(("crawl", ""), rows)


def _draw_counts(counts: Mapping[str, int]) -> str:
    """Draw the first counts, after a number."""
    from rdfspider.drawing import cut_text

    shown = ", ".join(f"{escape(cut_text(name))} {count:,}" for name, count in _list_first(counts))
    return f": {shown}" if shown else ""


def _list_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return list(counts.items())[:_COUNTS_DRAWN]


class Speed:
    """Measures pages and bytes per second over the last seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int]] = deque()

    def measure(self, monotonic: float, totals: Totals) -> tuple[float, float]:
        """Add the current totals; return pages and bytes per second."""
        samples = self._samples
        # Only pages of this run count: those of earlier runs would look like a burst when shards send their first beat.
        samples.append((monotonic, count_pages(totals), totals.wire_bytes))
        while len(samples) > 2 and samples[1][0] <= monotonic - _SPEED_WINDOW_S:
            samples.popleft()
        (start, *before), (end, *after) = samples[0], samples[-1]
        if end <= start:
            return 0.0, 0.0
        pages, wire_bytes = (now - then for now, then in zip(after, before, strict=True))
        return pages / (end - start), wire_bytes / (end - start)


def count_pages(totals: Totals) -> int:
    """Count the pages of this run."""
    return sum(count for status, count in totals.statuses.items() if status.startswith("2"))


def forget_run(beat: Beat) -> Beat:
    """Reduce a beat of an earlier run to the counts of the whole crawl."""
    return msgspec.structs.replace(
        _clear_running(beat, beat.state),
        wire_bytes=0,
        slowest_hosts={},
        finds=(),
        **{name: {} for name in RUN_COUNTS},
    )


class PlaceUse(Struct, frozen=True):
    """A place where shards run, and what its machine has, by the last beat of one of them."""

    place: str
    """ADDRESS=FOLDER."""
    shards: tuple[int, ...]
    pages: int
    cpu_percent: float
    cores: int
    memory_free_bytes: int
    memory_total_bytes: int
    disk_free_bytes: int
    disk_total_bytes: int


def list_places(status: Status) -> list[PlaceUse]:
    """List the places of shards that are not in the crawl's folder."""
    by_place: dict[str, list[Beat]] = {}
    for beat in status.shards:
        if beat.place:
            by_place.setdefault(beat.place, []).append(beat)
    found = []
    for place, beats in by_place.items():
        last = max(beats, key=lambda beat: beat.time)
        found.append(
            PlaceUse(
                place,
                tuple(beat.shard for beat in beats),
                sum(beat.pages for beat in beats),
                last.place_cpu_percent,
                last.place_cores,
                last.memory_free_bytes,
                last.memory_total_bytes,
                last.disk_free_bytes,
                last.disk_total_bytes,
            )
        )
    return found


def end_shards(status: Status) -> Status:
    """Clear what only running processes have, and give all shards the state of the crawl, which is over."""
    return msgspec.structs.replace(
        status,
        totals=msgspec.structs.replace(status.totals, connections=0, in_flight=0, **_NOTHING_UNDER_WAY),
        shards=tuple(_clear_running(beat, status.state) for beat in status.shards),
        unheard=(),
    )


def strip_beat(beat: Beat) -> Beat:
    """Clear the fields of a beat that are written with the totals only: with many shards they would be written many times a
    second."""
    return msgspec.structs.replace(beat, **{name: type(getattr(beat, name))() for name in DISPLAYED})


def find_late_links(status: Status) -> list[tuple[int, LinksTo]]:
    """The links that have waited for long, with the shards that sent them, the oldest first."""
    late = [(beat.shard, links) for beat in status.shards for links in beat.links if links.oldest_s > _LATE_S]
    return [] if status.is_over else sorted(late, key=lambda pair: -pair[1].oldest_s)


def sum_beats(beats: Iterable[Beat]) -> Totals:
    """Sum up the beats of all shards."""
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
        prerequisites=dict(_add_up(beat.prerequisites for beat in beats)),
        failures=dict(_add_up(beat.failures for beat in beats)),
        robots=dict(_add_up(beat.robots for beat in beats)),
        turned_away=_keep_most(_add_up(beat.turned_away for beat in beats), _NAMES_KEPT),
        cpu_s=dict(cpu_s),
        slowest_hosts=_keep_most(slowest, _SLOWEST_KEPT),
        finds=tuple(finds[-_FINDS_KEPT:]),
    )


def read_status(folder: Path) -> Status:
    """Read the state of the crawl in the folder; one that claims to run, but does not, has died."""
    # A crawl may be indexed at any time, even when it is over.
    index = read_index_status(IndexPaths(folder))
    try:
        # Prerequisites were once called errands.
        written = (folder / FILE).read_bytes().replace(b'"errands":{', b'"prerequisites":{')
        status = msgspec.json.decode(written, type=Status)
    except (OSError, ValueError):
        # A file that cannot be read, for example because of a state that only a newer version knows, counts as lost. So a new
        # state needs a higher `VERSION` in `crawl/folder.py`; an older rdfspider then refuses the folder: "mycrawl was made by
        # another version of rdfspider: its layout is 2, this one reads 1".
        return _replace_lost(folder, index)
    status = msgspec.structs.replace(status, index=index)
    if status.is_over or is_in_use(folder):
        return status
    return end_shards(msgspec.structs.replace(status, state=RunState.DIED, reason=GONE))


def _replace_lost(folder: Path, index: IndexStatus | None) -> Status:
    """The status of a crawl that has no readable one: it is new, has just begun, or has lost it."""
    if is_in_use(folder):
        return Status(state=RunState.RUNNING, index=index)
    is_damaged = (folder / FILE).exists()
    if not is_damaged and not any(frontier_folder(folder, shard).is_dir() for shard in list_shards(folder)):
        return Status(state=RunState.NEW, index=index)
    what = f"{folder / FILE} is {'damaged' if is_damaged else 'missing'}"
    return Status(
        state=RunState.UNKNOWN, reason=f"{what}; {advise_doctor(folder)}, and so does the next crawl", index=index
    )


def write_status(folder: Path, status: Status) -> None:
    """Replace status.json; it is not synced, because the frontier has the authoritative state."""
    write_atomically(folder / FILE, encode_status(status), durable=False)


def encode_status(status: Status) -> bytes:
    """Encode a status as one line of JSON."""
    return msgspec.json.encode(describe_status(status))


def describe_status(status: Status) -> dict[str, Any]:
    """Convert a status for JSON; shards lose the type tag of messages, and the fields that are written with the totals."""
    plain: dict[str, Any] = msgspec.to_builtins(status)
    for beat in plain["shards"]:
        for name in ("type", *DISPLAYED):
            beat.pop(name, None)
    return plain


def _clear_running(beat: Beat, state: RunState) -> Beat:
    """Set a beat's state, and clear what its process had open or in flight."""
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
