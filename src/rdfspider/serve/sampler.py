"""The crawl's status and the machine's load, once a second while the site runs: samples leave, and a history for charts.

It only reads what the crawl writes about itself. Finding which hosts wait, and why, reads the frontiers of all shards, so it
is done only when somebody looks at them, and less often the longer it takes.
"""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import psutil
from msgspec import Struct
from msgspec.structs import replace

from rdfspider.api import Crawl
from rdfspider.crawl.history import FILE, Point, make_point, read_history
from rdfspider.crawl.reports.live import LiveReports
from rdfspider.crawl.status import Status
from rdfspider.errors import RdfspiderError
from rdfspider.frontier.entries import HostEntry
from rdfspider.serve.access import hide_place

_log = logging.getLogger(__name__)

SECONDS_KEPT = 600
_EVERY_S = 1.0
# Disks fill slowly, and a remote one may be slow to answer.
_DISKS_EVERY_S = 5.0
_HOSTS_SHOWN = 10
_HOSTS_EVERY_S = 5.0
# At most one part in this many of the time is spent on searching for waiting hosts.
_HOSTS_SHARE = 20


class Disk(Struct, frozen=True):
    """A disk that the crawl writes to."""

    name: str
    """The last part of the folder's path; folders with the same name are numbered."""
    free_bytes: int
    total_bytes: int

    @property
    def used_share(self) -> float:
        """The used share, from 0 to 1."""
        return 1 - self.free_bytes / self.total_bytes if self.total_bytes else 0.0


class Machine(Struct, frozen=True):
    """The machine that the site is served from, which is that of the crawl."""

    cpu_percent: tuple[float, ...] = ()
    """Per core, since the previous sample."""
    memory_free_bytes: int = 0
    """Memory that is available without swapping."""
    memory_total_bytes: int = 0
    disks: tuple[Disk, ...] = ()

    @property
    def cpu_mean_percent(self) -> float:
        """The mean over all cores."""
        return sum(self.cpu_percent) / len(self.cpu_percent) if self.cpu_percent else 0.0

    @property
    def memory_percent(self) -> float:
        """The share of memory in use, in percent."""
        return 100 * (1 - self.memory_free_bytes / self.memory_total_bytes) if self.memory_total_bytes else 0.0


class History(Struct, frozen=True):
    """Samples of the past, the oldest first."""

    seconds: tuple[Point, ...] = ()
    """The last ten minutes, per second."""
    crawl: tuple[Point, ...] = ()
    """All runs of the crawl, as it stores them: the longer the runs, the wider the intervals."""


class MonitorSample(Struct, frozen=True):
    """The crawl and the machine at one moment."""

    time: float
    status: Status
    machine: Machine


class Sampler:
    """Takes a sample every second in its own thread, from `start` to `stop`."""

    def __init__(self, crawl: Crawl, live_reports: LiveReports) -> None:
        self._crawl = crawl
        self._seconds: deque[Point] = deque(maxlen=SECONDS_KEPT)
        self._crawled: tuple[float, tuple[Point, ...]] = (0.0, ())
        """The modification time of the crawl's own history, and its content then."""
        self._disks: tuple[float, tuple[Disk, ...]] = (0.0, ())
        self._cpu_percent: tuple[float, ...] = ()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self.waiting = WaitingHosts(live_reports)
        """The hosts with the longest waits."""
        self.listeners: list[Callable[[MonitorSample], None]] = []
        """Called every second, in the sampler's thread."""
        self.end_listeners: list[Callable[[], None]] = []
        """Called when the sampler has ended."""

    @property
    def is_over(self) -> bool:
        """Whether `stop` was called."""
        return self._end.is_set()

    def start(self) -> None:
        """Start the thread, unless it is running."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Make the thread end soon."""
        self._end.set()

    def take(self) -> MonitorSample:
        """Take a sample now; values that take time to measure are from a moment ago."""
        memory = psutil.virtual_memory()
        machine = Machine(self._cpu_percent, memory.available, memory.total, self._disks[1] or self._measure_disks())
        return MonitorSample(time.time(), read_status(self._crawl), machine)

    def copy_history(self) -> History:
        """The history, as far as it is kept."""
        with self._lock:
            return History(tuple(self._seconds), self._read_crawled())

    def _run(self) -> None:
        psutil.cpu_percent(percpu=True)
        with self._lock:
            # A site that is opened during a crawl starts with the crawl's own history.
            self._seconds.extend(point for point in self._read_crawled() if point.time > time.time() - SECONDS_KEPT)
        due = time.monotonic()
        is_well = True
        while not self._end.wait(max(0.0, due - time.monotonic())):
            due = max(due + _EVERY_S, time.monotonic())
            try:
                self._look()
                is_well = True
            except Exception:
                # The folder may be missing for a moment, or our code may be wrong: try again in the next second.
                if is_well:
                    _log.exception("the crawl could not be looked at")
                is_well = False
        for listener in self.end_listeners:
            listener()

    def _look(self) -> None:
        self._cpu_percent = tuple(psutil.cpu_percent(percpu=True))
        if time.monotonic() - self._disks[0] >= _DISKS_EVERY_S:
            self._measure_disks()
        sample = self.take()
        with self._lock:
            self._seconds.append(make_point(sample.status, sample.machine.cpu_mean_percent))
        for listener in self.listeners:
            listener(sample)

    def _read_crawled(self) -> tuple[Point, ...]:
        """The crawl's own history, reread when its file changes."""
        try:
            written = (self._crawl.folder / FILE).stat().st_mtime
        except OSError:
            return ()
        if written != self._crawled[0]:
            self._crawled = (written, read_history(self._crawl.folder))
        return self._crawled[1]

    def _measure_disks(self) -> tuple[Disk, ...]:
        volumes = (self._crawl.folder, *map(Path, self._crawl.config.archive.volumes))
        self._disks = (time.monotonic(), tuple(find_disks(volumes)))
        return self._disks[1]


class WaitingHosts:
    """The hosts with the longest waits, and why they wait. The frontiers on disk are read on demand and not too often; what
    the shards report every second is newer."""

    def __init__(self, live_reports: LiveReports) -> None:
        self._live_reports = live_reports
        self._lock = threading.Lock()
        self._due = 0.0
        self._known: tuple[float, tuple[HostEntry, ...]] = (0.0, ())
        """When the disk was last read, and what was found."""

    def find(self, status: Status) -> tuple[HostEntry, ...]:
        """Read the frontiers, unless that was done recently or is in progress, and return the hosts."""
        self._look()
        return self._merge(status)

    def find_in_background(self, status: Status) -> tuple[HostEntry, ...]:
        """The same, but read in a separate thread and return the hosts known so far."""
        if time.monotonic() >= self._due and not self._lock.locked():
            threading.Thread(target=self._look, name="waiting hosts", daemon=True).start()
        return self._merge(status)

    def _merge(self, status: Status) -> tuple[HostEntry, ...]:
        looked, found = self._known
        return merge_waiting(status.totals.waiting_hosts, age_waiting(found, time.monotonic() - looked))

    def _look(self) -> None:
        if time.monotonic() >= self._due and self._lock.acquire(blocking=False):
            started = time.monotonic()
            try:
                found = self._live_reports.hosts("wait", _HOSTS_SHOWN)
                self._known = (started, tuple(host for host in found if host.wait_s or host.reason))
            except (RdfspiderError, OSError) as error:
                # A shard may be just starting, or the disk may be full: keep the previous hosts.
                _log.debug("hosts that wait could not be found: %s", error)
            finally:
                took_s = time.monotonic() - started
                self._due = time.monotonic() + max(_HOSTS_EVERY_S, _HOSTS_SHARE * took_s)
                self._lock.release()


def age_waiting(found: Iterable[HostEntry], age_s: float) -> Iterable[HostEntry]:
    """Update hosts that were found `age_s` seconds ago, without those whose wait is over."""
    for host in found:
        if not host.wait_s:
            # Its wait does not end with time.
            yield host
        elif host.wait_s > age_s:
            yield replace(host, wait_s=host.wait_s - age_s)


def merge_waiting(told: Iterable[HostEntry], found: Iterable[HostEntry]) -> tuple[HostEntry, ...]:
    """Merge the hosts that shards report with those found in the frontiers, the longest wait first; reports take precedence."""
    known = {host.host: host for host in (*found, *told)}
    return tuple(sorted(known.values(), key=lambda host: -host.wait_s)[:_HOSTS_SHOWN])


def find_disks(folders: Iterable[Path]) -> Iterable[Disk]:
    """The usage of the disks of some folders; unreadable ones are left out."""
    names: Counter[str] = Counter()
    for folder in dict.fromkeys(folders):
        name = folder.absolute().name or str(folder)
        names[name] += 1
        try:
            usage = psutil.disk_usage(str(folder))
        except OSError:
            continue
        yield Disk(name if names[name] == 1 else f"{name} {names[name]}", usage.free, usage.total)


def read_status(crawl: Crawl) -> Status:
    """Read the crawl's status without paths on this machine, so that anybody may see it."""
    status, index = crawl.status(), None
    hide = partial(hide_place, folder=crawl.folder)
    if status.index:
        views = tuple(replace(view, problem=hide(view.problem)) for view in status.index.views)
        index = replace(status.index, views=views, problems=tuple(map(hide, status.index.problems)))
    shards = tuple(replace(beat, reason=hide(beat.reason)) for beat in status.shards)
    return replace(status, reason=hide(status.reason), shards=shards, index=index)
