"""How fast a backup may go beside a crawl: bytes that are sent enter, waiting leaves."""

import threading
import time


class StoppedError(Exception):
    """The shipment was told to end."""


class Pace:
    """Keeps one thread below a number of bytes a second and a share of a core; 0 is no limit."""

    def __init__(self, bytes_s: float = 0, cpu_share: float = 0) -> None:
        self._bytes_s = bytes_s
        self._cpu_share = cpu_share
        self._stop = threading.Event()
        self._due = 0.0
        self._used_s = 0.0

    def begin(self) -> None:
        """Count the processor time of this thread from now on."""
        self._due = time.monotonic()
        self._used_s = time.thread_time()

    def wait(self, sent_bytes: int) -> None:
        """Wait until these bytes, and the processor time since the last call, are within the limits; StoppedError if the
        shipment is to end."""
        used_s = time.thread_time()
        wanted_s = [
            sent_bytes / self._bytes_s if self._bytes_s else 0.0,
            (used_s - self._used_s) / self._cpu_share if self._cpu_share else 0.0,
        ]
        self._used_s = used_s
        # What was not used is not saved up, or a pause would be followed by a burst.
        now = time.monotonic()
        self._due = max(self._due + max(wanted_s), now - max(wanted_s))
        if self._stop.wait(max(self._due - now, 0.0)):
            raise StoppedError

    def stop(self) -> None:
        """End the shipment at its next piece; may be called by another thread."""
        self._stop.set()
