"""How fast a backup may go beside a crawl: bytes that are sent enter, waiting leaves."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# The threads of obstore, which encrypt and copy what is sent; nothing else in our processes has threads of this name.
_HELPERS = "tokio"
_TASKS = Path("/proc/self/task")
# How often threads are measured: there are some dozens, at some microseconds each.
_MEASURED_S = 0.02


class StoppedError(Exception):
    """The shipment was told to end."""


class Limits:
    """A number of bytes a second and a share of a core, in equal parts for all that send at once; 0 is no limit."""

    def __init__(self, bytes_s: float = 0, cpu_share: float = 0) -> None:
        self.bytes_s = bytes_s
        self.cpu_share = cpu_share
        self._senders = 0
        self._lock = threading.Lock()

    @property
    def senders(self) -> int:
        """How many send now, at least one."""
        return max(self._senders, 1)

    @contextmanager
    def share(self) -> Iterator[None]:
        """Count as a sender meanwhile."""
        with self._lock:
            self._senders += 1
        try:
            yield
        finally:
            with self._lock:
                self._senders -= 1


class Pace:
    """Keeps one thread, with those that send for it, below its part of the limits."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._meter = CpuMeter()
        self._stop = threading.Event()
        self._due = 0.0
        self._measured = 0.0

    def begin(self) -> None:
        """Count processor time from now on."""
        self._due = self._measured = time.monotonic()
        if self._limits.cpu_share:
            self._meter.measure()

    def wait(self, sent_bytes: int) -> None:
        """Wait until these bytes, and the processor time since the last call, are within the limits; StoppedError if the
        shipment is to end."""
        limits = self._limits
        wanted_s = sent_bytes / limits.bytes_s if limits.bytes_s else 0.0
        now = time.monotonic()
        if limits.cpu_share and now > self._measured + _MEASURED_S:
            self._measured = now
            wanted_s = max(wanted_s, self._meter.measure() / limits.cpu_share)
        wanted_s *= limits.senders
        # What was not used is not saved up, or a pause would be followed by a burst.
        self._due = max(self._due + wanted_s, now - wanted_s)
        if self._stop.wait(max(self._due - now, 0.0)):
            raise StoppedError

    def stop(self) -> None:
        """End the shipment at its next piece; may be called by another thread."""
        self._stop.set()


class CpuMeter:
    """Measures the processor time of the calling thread and of obstore's, the latter only where the system tells it (Linux)."""

    def __init__(self) -> None:
        self._own_s = 0.0
        self._helpers: dict[str, float] = {}
        """What each had used at the last call."""
        self._others: set[str] = set()
        """Threads that are not obstore's."""

    def measure(self) -> float:
        """Return the seconds since the last call; at the first, what all have used."""
        own_s, helpers = time.thread_time(), dict(self._read_helpers())
        used_s = own_s - self._own_s
        # Of threads that have ended meanwhile, the last moments are not known.
        used_s += sum(seconds - self._helpers.get(name, 0.0) for name, seconds in helpers.items())
        self._own_s, self._helpers = own_s, helpers
        return used_s

    def _read_helpers(self) -> Iterator[tuple[str, float]]:
        with suppress(FileNotFoundError):
            names = {path.name for path in _TASKS.iterdir()}
            self._others &= names
            for name in names - self._others:
                with suppress(OSError):  # It has ended meanwhile.
                    if (_TASKS / name / "comm").read_text().startswith(_HELPERS):
                        yield name, int((_TASKS / name / "schedstat").read_bytes().split()[0]) / 1e9
                    else:
                        self._others.add(name)
