"""The wall clock, the monotonic clock and the id of its boot, injected so that tests need not sleep.

A stored time is a `Moment`. Within one boot the monotonic clock tells exactly how long ago it was. After a reboot only the
wall clock can, and it may have been set back or forth, so no wait is ever longer than the stored gap.
"""

import time
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MACHINE_ID = Path("/etc/machine-id")


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
        """Seconds since some moment of this boot; they never decrease."""
        return time.monotonic()

    @cached_property
    def boot_id(self) -> str:
        """The boot of the monotonic clock; empty if the system has no boot id, and then it matches no stored one."""
        try:
            return _BOOT_ID.read_text().strip()
        except OSError:
            return ""

    @cached_property
    def machine_id(self) -> str:
        """The machine of the clocks; empty if the system does not name it."""
        try:
            return _MACHINE_ID.read_text().strip()
        except OSError:
            return ""

    def moment(self) -> Moment:
        """The current time in the form that is stored."""
        return Moment(self.boot_id, self.monotonic(), self.now())

    def left_s(self, until: float, longest_s: float) -> float:
        """Seconds until a stored time; 0 if they exceed `longest_s`, as then the clock was set back."""
        left_s = until - self.now()
        return left_s if 0 < left_s <= longest_s else 0.0

    def wait_s(self, since: Moment, gap_s: float) -> float:
        """The rest of a gap that began at a stored moment: between 0 and the whole gap."""
        if since.boot_id and since.boot_id == self.boot_id:
            passed_s = self.monotonic() - since.monotonic
        else:
            passed_s = self.now() - since.wall
        return min(max(gap_s - passed_s, 0.0), gap_s)


class Stamp(NamedTuple):
    """A time as hosts store it, with the epoch in place of the boot id; a wall time of 0 means never."""

    epoch: int
    monotonic: float
    wall: float


class Opening(Struct, array_like=True):
    """One opening of the frontier: its boot, its time, and whether the previous one was not closed."""

    epoch: int
    boot_id: str
    monotonic: float
    wall: float
    is_unclean: bool


class Calendar:
    """The openings of a frontier, the current one last."""

    def __init__(self, openings: list[Opening], clock: Clock) -> None:
        self._openings = openings
        self._clock = clock
        self.epoch = openings[-1].epoch
        self._last_unclean = next((opening for opening in reversed(openings) if opening.is_unclean), None)

    @classmethod
    def open(cls, stored: bytes | None, is_clean: bool, clock: Clock, epoch: int = 0) -> "Calendar":
        """Begin an epoch, by default the next one; `stored` is what `to_bytes` gave in the last one, None for a new frontier."""
        openings = _decode_openings(stored) if stored else []
        epoch = epoch or (openings[-1].epoch + 1 if openings else 1)
        now = clock.moment()
        openings.append(Opening(epoch, now.boot_id, now.monotonic, now.wall, not is_clean))
        return cls(_thin_out(openings), clock)

    @classmethod
    def read(cls, stored: bytes, clock: Clock) -> "Calendar":
        """Read the stored openings without adding one."""
        return cls(_decode_openings(stored), clock)

    def to_bytes(self) -> bytes:
        """The stored form, which is written before anything is leased."""
        return _encode_openings(self._openings)

    def wait_s(self, ended: Stamp, gap_s: float, delay_s: float) -> float:
        """The rest of the gap since the last request to a host that comes from disk.

        Requests before an unclean end may be unrecorded, so they count as made at the opening that followed.
        """
        unclean = self._last_unclean
        if unclean and (ended.epoch < unclean.epoch or not ended.wall):
            opened = Moment(unclean.boot_id, unclean.monotonic, unclean.wall)
            return self._clock.wait_s(opened, max(gap_s, delay_s))
        if not ended.wall:
            return 0.0
        return self._clock.wait_s(Moment(self._boot_id(ended.epoch), ended.monotonic, ended.wall), gap_s)

    def _boot_id(self, epoch: int) -> str:
        return next((opening.boot_id for opening in reversed(self._openings) if opening.epoch <= epoch), "")


_encode_openings = Encoder().encode
_decode_openings = Decoder(list[Opening]).decode


def _thin_out(openings: list[Opening]) -> list[Opening]:
    """Keep the first opening of each boot, the last unclean one and the last one; no other is ever read."""
    last_unclean = next((opening for opening in reversed(openings) if opening.is_unclean), None)
    kept = []
    boot_id = None
    for opening in openings:
        if opening.boot_id != boot_id or opening is last_unclean or opening is openings[-1]:
            kept.append(opening)
        boot_id = opening.boot_id
    return kept
