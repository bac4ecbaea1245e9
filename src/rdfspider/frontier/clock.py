"""Time, given from outside so that tests need not sleep: the wall's, a monotonic one, and which boot the latter belongs to.

A time that is stored is a `Moment`. Within one boot the monotonic clock tells exactly how long ago it was; after another boot
only the wall's can, and that one may have been set back or forth, so no wait is ever longer than the gap that was stored.
"""

import time
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Moment(NamedTuple):
    """A time as it is stored."""

    boot_id: str
    monotonic: float
    wall: float


class Clock:
    """The machine's clocks."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since some moment of this boot; never goes back."""
        return time.monotonic()

    @cached_property
    def boot_id(self) -> str:
        """Which boot the monotonic clock belongs to; empty where the system does not tell, and then none is the same."""
        try:
            return _BOOT_ID.read_text().strip()
        except OSError:
            return ""

    def moment(self) -> Moment:
        """Now, as it is stored."""
        return Moment(self.boot_id, self.monotonic(), self.now())

    def left_s(self, until: float, longest_s: float) -> float:
        """Seconds until a stored time. None are left where it is further away than it can be: the clock was set back."""
        left_s = until - self.now()
        return left_s if 0 < left_s <= longest_s else 0.0

    def wait_s(self, since: Moment, gap_s: float) -> float:
        """How much of a gap that began at a stored moment is left: between 0 and the whole gap."""
        if since.boot_id and since.boot_id == self.boot_id:
            passed_s = self.monotonic() - since.monotonic
        else:
            passed_s = self.now() - since.wall
        return min(max(gap_s - passed_s, 0.0), gap_s)
