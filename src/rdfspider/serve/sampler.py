"""The state of the crawl and of the machine, once a second while the site is served: samples leave, and a history for charts.

It reads what the crawl has written of itself; nothing is asked of the crawl. Which hosts wait, and why, takes a look at the
frontiers of all shards, so that is read only when somebody wants to see it, and the less often the longer it takes.
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
# Disks fill slowly, and one that is far away may answer slowly.
_DISKS_EVERY_S = 5.0
_HOSTS_SHOWN = 10
_HOSTS_EVERY_S = 5.0
# Of its time, one part in so many may go into looking for hosts that wait.
_HOSTS_SHARE = 20


class Disk(Struct, frozen=True):
    """A disk that the crawl writes to."""

    name: str
    """That of the folder there, without what leads to it; several of one name have numbers."""
    free_bytes: int
    total_bytes: int

    @property
    def used_share(self) -> float:
        """How full it is, from 0 to 1."""
        return 1 - self.free_bytes / self.total_bytes if self.total_bytes else 0.0


class Machine(Struct, frozen=True):
    """The machine that the site is served from, which is that of the crawl."""

    cpu_percent: tuple[float, ...] = ()
    """By core, since the sample before."""
    memory_free_bytes: int = 0
    """What can be had without swapping."""
    memory_total_bytes: int = 0
    disks: tuple[Disk, ...] = ()

    @property
    def cpu_mean_percent(self) -> float:
        """Of all cores."""
        return sum(self.cpu_percent) / len(self.cpu_percent) if self.cpu_percent else 0.0

    @property
    def memory_percent(self) -> float:
        """How much of the memory is in use."""
        return 100 * (1 - self.memory_free_bytes / self.memory_total_bytes) if self.memory_total_bytes else 0.0


class History(Struct, frozen=True):
    """Samples of the past, the oldest first."""

    seconds: tuple[Point, ...] = ()
    """The last ten minutes, by the second."""
    crawl: tuple[Point, ...] = ()
    """All runs of the crawl, as it has kept them: the farther apart, the longer they were."""


class MonitorSample(Struct, frozen=True):
    """The crawl and the machine at one moment."""

    time: float
    status: Status
    machine: Machine


class Sampler:
    """Looks once a second in a thread of its own, from `start` to `stop`."""

    def __init__(self, crawl: Crawl, live_reports: LiveReports) -> None:
        self._crawl = crawl
        self._seconds: deque[Point] = deque(maxlen=SECONDS_KEPT)
        self._crawled: tuple[float, tuple[Point, ...]] = (0.0, ())
        """When the crawl's own history was last written, and what it had."""
        self._disks: tuple[float, tuple[Disk, ...]] = (0.0, ())
        self._cpu_percent: tuple[float, ...] = ()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self.waiting = WaitingHosts(live_reports)
        """The hosts that wait longest."""
        self.listeners: list[Callable[[MonitorSample], None]] = []
        """Are told every second, in the sampler's thread."""
        self.enders: list[Callable[[], None]] = []
        """Are told when it has ended."""

    @property
    def is_over(self) -> bool:
        """Whether it was told to stop."""
        return self._end.is_set()

    def start(self) -> None:
        """Begin; twice is once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End, within a moment."""
        self._end.set()

    def take(self) -> MonitorSample:
        """How all is now; what takes a while to measure is as it was a moment ago."""
        memory = psutil.virtual_memory()
        machine = Machine(self._cpu_percent, memory.available, memory.total, self._disks[1] or self._measure_disks())
        return MonitorSample(time.time(), read_status(self._crawl), machine)

    def copy_history(self) -> History:
        """What has been, as far as it is kept."""
        with self._lock:
            return History(tuple(self._seconds), self._read_crawled())

    def _run(self) -> None:
        psutil.cpu_percent(percpu=True)
        with self._lock:
            # A site that is opened while the crawl runs does not begin with nothing.
            self._seconds.extend(point for point in self._read_crawled() if point.time > time.time() - SECONDS_KEPT)
        due = time.monotonic()
        is_well = True
        while not self._end.wait(max(0.0, due - time.monotonic())):
            due = max(due + _EVERY_S, time.monotonic())
            try:
                self._look()
                is_well = True
            except Exception:
                # A folder that is gone for a while, or our code: the next second is another try.
                if is_well:
                    _log.exception("the crawl could not be looked at")
                is_well = False
        for ender in self.enders:
            ender()

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
        """What the crawl has kept, read again when it was written again."""
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
    """The hosts that wait longest, and why. What the frontiers have on disk is looked at when it is asked for, and not too often;
    what the shards tell every second is newer."""

    def __init__(self, live_reports: LiveReports) -> None:
        self._live_reports = live_reports
        self._lock = threading.Lock()
        self._due = 0.0
        self._known: tuple[float, tuple[HostEntry, ...]] = (0.0, ())
        """When it was looked on disk last, and what was found."""

    def find(self, status: Status) -> tuple[HostEntry, ...]:
        """Look for them, unless that was done a moment ago or is just being done."""
        self._look()
        return self._merge(status)

    def find_aside(self, status: Status) -> tuple[HostEntry, ...]:
        """Likewise, in a thread of its own; returns those that are known meanwhile."""
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
                # A shard that is just being started, or a disk that is full: they are shown as they were.
                _log.debug("hosts that wait could not be found: %s", error)
            finally:
                took_s = time.monotonic() - started
                self._due = time.monotonic() + max(_HOSTS_EVERY_S, _HOSTS_SHARE * took_s)
                self._lock.release()


def age_waiting(found: Iterable[HostEntry], age_s: float) -> Iterable[HostEntry]:
    """Hosts that waited so many seconds ago as they wait now, without those whose wait is over."""
    for host in found:
        if not host.wait_s:
            # No time will do.
            yield host
        elif host.wait_s > age_s:
            yield replace(host, wait_s=host.wait_s - age_s)


def merge_waiting(told: Iterable[HostEntry], found: Iterable[HostEntry]) -> tuple[HostEntry, ...]:
    """Hosts that wait as shards tell and as frontiers have them, the longest wait first; of the same the told one."""
    known = {host.host: host for host in (*found, *told)}
    return tuple(sorted(known.values(), key=lambda host: -host.wait_s)[:_HOSTS_SHOWN])


def find_disks(folders: Iterable[Path]) -> Iterable[Disk]:
    """How full the disks of some folders are, those that can be looked at."""
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
    """How the crawl goes, for anybody: what is wrong with it may tell where it is on this machine."""
    status, index = crawl.status(), None
    hide = partial(hide_place, folder=crawl.folder)
    if status.index:
        views = tuple(replace(view, problem=hide(view.problem)) for view in status.index.views)
        index = replace(status.index, views=views, problems=tuple(map(hide, status.index.problems)))
    shards = tuple(replace(beat, reason=hide(beat.reason)) for beat in status.shards)
    return replace(status, reason=hide(status.reason), shards=shards, index=index)
