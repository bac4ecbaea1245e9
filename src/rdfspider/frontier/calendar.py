"""The openings of a frontier: which clock a stored time belongs to, and what must be waited for after a crash."""

from typing import NamedTuple

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from rdfspider.frontier.clock import Clock, Moment


class Stamp(NamedTuple):
    """A time as hosts store it: the epoch stands for the boot. A wall time of 0 is never."""

    epoch: int
    monotonic: float
    wall: float


class Opening(Struct, array_like=True):
    """One opening of the frontier: on which boot, when, and whether the one before had been closed."""

    epoch: int
    boot_id: str
    monotonic: float
    wall: float
    is_unclean: bool


class Calendar:
    """All openings, the last of which is this one."""

    def __init__(self, openings: list[Opening], clock: Clock) -> None:
        self._openings = openings
        self._clock = clock
        self.epoch = openings[-1].epoch
        self._last_unclean = next((opening for opening in reversed(openings) if opening.is_unclean), None)

    @classmethod
    def open(cls, stored: bytes | None, is_clean: bool, clock: Clock) -> "Calendar":
        """A new epoch; `stored` is what `to_bytes` gave in the last one, None for a new frontier."""
        openings = _decode_openings(stored) if stored else []
        epoch = openings[-1].epoch + 1 if openings else 1
        now = clock.moment()
        openings.append(Opening(epoch, now.boot_id, now.monotonic, now.wall, bool(stored) and not is_clean))
        return cls(_thin_out(openings), clock)

    @classmethod
    def read(cls, stored: bytes, clock: Clock) -> "Calendar":
        """The openings so far, for somebody who only looks."""
        return cls(_decode_openings(stored), clock)

    def to_bytes(self) -> bytes:
        """What is stored, before anything is leased."""
        return _encode_openings(self._openings)

    def wait_s(self, ended: Stamp, gap_s: float, delay_s: float) -> float:
        """How long a host that comes from disk must be left alone: what is left of the gap since its last request.

        Requests before an unclean end may not be on record: so the host is taken as asked at the opening that followed.
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
    """Keep the first opening of each boot, the unclean ones of the newest, and the last: no more is ever asked for."""
    last_unclean = next((opening for opening in reversed(openings) if opening.is_unclean), None)
    kept = []
    boot_id = None
    for opening in openings:
        if opening.boot_id != boot_id or opening is last_unclean or opening is openings[-1]:
            kept.append(opening)
        boot_id = opening.boot_id
    return kept
