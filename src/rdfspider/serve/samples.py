"""How the crawl and the machine are, looked at once a second while the site is served: samples leave, and a past for charts.

It reads what the crawl has written of itself; nothing is asked of the crawl. Which hosts wait, and why, takes a look at the
frontiers of all shards, so that is read only when somebody wants to see it, and the less often the longer it takes.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import psutil
from msgspec import Struct

from rdfspider.errors import RdfspiderError
from rdfspider.frontier.reader import HostEntry
from rdfspider.run.crawl import Crawl
from rdfspider.run.folder.status import Status
from rdfspider.run.reports.lookout import Lookout

_log = logging.getLogger(__name__)

SECONDS_KEPT, MINUTES_KEPT = 600, 1440
_EVERY_S = 1.0
# Disks fill slowly, and one that is far away may answer slowly.
_DISKS_EVERY_S = 5.0
_HOSTS_SHOWN = 10
_HOSTS_EVERY_S = 5.0
# Of its time, one part in so many may go into looking for hosts that wait.
_HOSTS_SHARE = 20


class Disk(Struct, frozen=True):
    """A disk that the crawl writes to."""

    path: str
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


class Point(Struct, frozen=True):
    """A moment in the history, or the mean of a minute."""

    time: float
    """Seconds since 1970."""
    pages_s: float
    bytes_s: float
    cpu_percent: float
    memory_percent: float
    queue: float
    """URLs to be fetched."""
    lag_s: float
    """How far the index is behind."""


class History(Struct, frozen=True):
    """What has been, the oldest first."""

    seconds: tuple[Point, ...] = ()
    """The last ten minutes, by the second."""
    minutes: tuple[Point, ...] = ()
    """The last day, by the minute."""


class Sample(Struct, frozen=True):
    """How all is at one moment."""

    time: float
    status: Status
    machine: Machine


class Sampler:
    """Looks once a second in a thread of its own, from `start` to `stop`."""

    def __init__(self, crawl: Crawl, lookout: Lookout) -> None:
        self._crawl = crawl
        self._seconds: deque[Point] = deque(maxlen=SECONDS_KEPT)
        self._minutes: deque[Point] = deque(maxlen=MINUTES_KEPT)
        self._minute: list[Point] = []
        """The seconds of the minute that is not over."""
        self._disks: tuple[float, tuple[Disk, ...]] = (0.0, ())
        self._cpu_percent: tuple[float, ...] = ()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self.waiting = WaitingHosts(lookout)
        """The hosts that wait longest."""
        self.listeners: list[Callable[[Sample], None]] = []
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

    def take(self) -> Sample:
        """How all is now; what takes a while to measure is as it was a moment ago."""
        memory = psutil.virtual_memory()
        machine = Machine(self._cpu_percent, memory.available, memory.total, self._disks[1] or self._measure_disks())
        return Sample(time.time(), self._crawl.status(), machine)

    def copy_history(self) -> History:
        """What has been since the site was started, as far as it is kept."""
        with self._lock:
            return History(tuple(self._seconds), tuple(self._minutes))

    def _run(self) -> None:
        psutil.cpu_percent(percpu=True)
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
        self._remember(make_point(sample))
        for listener in self.listeners:
            listener(sample)

    def _remember(self, point: Point) -> None:
        with self._lock:
            self._seconds.append(point)
            if self._minute and point.time // 60 != self._minute[0].time // 60:
                self._minutes.append(average_points(self._minute))
                self._minute.clear()
            self._minute.append(point)

    def _measure_disks(self) -> tuple[Disk, ...]:
        volumes = (self._crawl.folder, *map(Path, self._crawl.config.archive.volumes))
        self._disks = (time.monotonic(), tuple(find_disks(volumes)))
        return self._disks[1]


class WaitingHosts:
    """The hosts that wait longest, and why; found when they are asked for, and not too often."""

    def __init__(self, lookout: Lookout) -> None:
        self._lookout = lookout
        self._lock = threading.Lock()
        self._due = 0.0
        self.known: tuple[HostEntry, ...] = ()
        """As they were found last."""

    def find(self) -> tuple[HostEntry, ...]:
        """Look for them, unless that was done a moment ago or is just being done."""
        if time.monotonic() >= self._due and self._lock.acquire(blocking=False):
            started = time.monotonic()
            try:
                found = self._lookout.hosts("wait", _HOSTS_SHOWN)
                self.known = tuple(host for host in found if host.wait_s or host.reason)
            except (RdfspiderError, OSError) as error:
                # A shard that is just being started, or a disk that is full: they are shown as they were.
                _log.debug("hosts that wait could not be found: %s", error)
            finally:
                took_s = time.monotonic() - started
                self._due = time.monotonic() + max(_HOSTS_EVERY_S, _HOSTS_SHARE * took_s)
                self._lock.release()
        return self.known

    def find_aside(self) -> tuple[HostEntry, ...]:
        """Likewise, in a thread of its own; returns those that are known meanwhile."""
        if time.monotonic() >= self._due and not self._lock.locked():
            threading.Thread(target=self.find, name="waiting hosts", daemon=True).start()
        return self.known


def make_point(sample: Sample) -> Point:
    """What charts show of a sample. Of a crawl that is over nothing moves any more."""
    status, machine = sample.status, sample.machine
    return Point(
        time=round(sample.time, 1),
        pages_s=0.0 if status.is_over else round(status.pages_s, 2),
        bytes_s=0.0 if status.is_over else round(status.bytes_s),
        cpu_percent=round(machine.cpu_mean_percent, 1),
        memory_percent=round(machine.memory_percent, 1),
        queue=status.totals.scheduled,
        lag_s=status.index.lag_s if status.index else 0.0,
    )


def average_points(points: Sequence[Point]) -> Point:
    """The mean of some points, at the time of the last."""
    means = {
        name: round(sum(getattr(point, name) for point in points) / len(points), 2)
        for name in Point.__struct_fields__
        if name != "time"
    }
    return Point(time=points[-1].time, **means)


def find_disks(folders: Iterable[Path]) -> Iterable[Disk]:
    """How full the disks of some folders are, those that can be looked at."""
    for folder in dict.fromkeys(folders):
        try:
            usage = psutil.disk_usage(str(folder))
        except OSError:
            continue
        yield Disk(str(folder), usage.free, usage.total)
