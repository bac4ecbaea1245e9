"""The progress of a crawl over all its runs: a status per second enters, `history.json` leaves, for charts.

The process that runs the crawl writes the file. It stays small: when it is full, the step between points is doubled.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import psutil
from msgspec import Struct

from rdfspider.crawl.status import Status
from rdfspider.disk import write_atomically

FILE = "history.json"
POINTS_KEPT = 1440
"""One point per minute of a day."""
_WRITE_EVERY_S = 10.0


class Point(Struct, frozen=True):
    """Measurements of the crawl and its machine at one moment, or the mean of several."""

    time: float
    """Seconds since 1970."""
    pages_s: float
    bytes_s: float
    cpu_percent: float
    """Of all cores."""
    memory_percent: float
    queue: float
    """URLs to be fetched."""
    lag_s: float
    """How far the index lags behind."""


class _Stored(Struct, frozen=True):
    """The content of `history.json`."""

    step_s: float
    """Seconds between two points."""
    points: tuple[tuple[float, ...], ...]
    """Oldest first, each with the fields of `Point`."""


class Recorder:
    """Collects points and writes the file, continuing that of earlier runs."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        stored = _read(self._path)
        self.step_s = stored.step_s if stored else 1.0
        self.points = [Point(*values) for values in stored.points] if stored else []
        self._step: list[Point] = []
        """The points of the current step."""
        self._due = time.monotonic() + _WRITE_EVERY_S
        psutil.cpu_percent()

    def record(self, status: Status) -> None:
        """Add a point for a status, and write the file when due; called about once a second."""
        self.add(make_point(status, psutil.cpu_percent()))
        if time.monotonic() >= self._due:
            self.write()

    def add(self, point: Point) -> None:
        """Add a point."""
        if self._step and point.time // self.step_s != self._step[0].time // self.step_s:
            self._end_step()
        self._step.append(point)

    def write(self) -> None:
        """Replace the file; it is not synced, and errors such as a full disk are ignored, because nothing depends on it."""
        self._due = time.monotonic() + _WRITE_EVERY_S
        points = [*self.points, average_points(self._step)] if self._step else self.points
        stored = _Stored(self.step_s, tuple(map(msgspec.structs.astuple, points)))
        with suppress(OSError):
            write_atomically(self._path, msgspec.json.encode(stored), durable=False)

    def _end_step(self) -> None:
        self.points.append(average_points(self._step))
        self._step.clear()
        while len(self.points) > POINTS_KEPT:
            self.step_s *= 2
            self.points = thin_points(self.points, self.step_s)


def read_history(folder: Path) -> tuple[Point, ...]:
    """Return all points, oldest first; none if the crawl has not run yet."""
    stored = _read(folder / FILE)
    return tuple(Point(*values) for values in stored.points) if stored else ()


def is_readable(folder: Path) -> bool:
    """Whether the file can be read."""
    return _read(folder / FILE) is not None


def make_point(status: Status, cpu_percent: float) -> Point:
    """Make a point of a status; the speeds of a crawl that is over are 0."""
    return Point(
        time=round(time.time(), 1),
        pages_s=0.0 if status.is_over else round(status.pages_s, 2),
        bytes_s=0.0 if status.is_over else round(status.bytes_s),
        cpu_percent=round(cpu_percent, 1),
        memory_percent=psutil.virtual_memory().percent,
        queue=status.totals.scheduled,
        lag_s=status.index.lag_s if status.index else 0.0,
    )


def average_points(points: Sequence[Point]) -> Point:
    """Return the mean of points, at the time of the last."""
    means = {
        name: round(sum(getattr(point, name) for point in points) / len(points), 2)
        for name in Point.__struct_fields__
        if name != "time"
    }
    return Point(time=points[-1].time, **means)


def thin_points(points: Iterable[Point], step_s: float) -> list[Point]:
    """Return the mean of each time step that has points."""
    steps: dict[float, list[Point]] = {}
    for point in points:
        steps.setdefault(point.time // step_s, []).append(point)
    return [average_points(step) for step in steps.values()]


def _read(path: Path) -> _Stored | None:
    """Read the file; None if it is missing or invalid."""
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
    except (OSError, ValueError):
        return None
    is_ours = stored.step_s > 0 and all(len(values) == len(Point.__struct_fields__) for values in stored.points)
    return stored if is_ours else None
