"""The lease of a shard's life: beats and their answers enter, whether the shard may still ask servers leaves.

The coordinator's answer to a beat lets a shard live for a term, counted from when the beat was sent. A shard without an answer
for that long asks no server any more and ends; its successor is not started before. So a paused machine, a stopped process or
a cut wire can never make two lives of one shard ask one server. The clock also runs while the machine is suspended.
"""

import time
from collections.abc import Callable
from math import inf

# Beats that may be unanswered; there is one each second, and a term is less than a minute.
_MAX_UNANSWERED = 256
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def read_clock() -> float:
    """Return the seconds since the boot of this machine, including those in which it was suspended."""
    return time.clock_gettime(_CLOCK)


class LifeLease:
    """The lease of one shard. With a term of 0 it lasts for ever, as the runner knows when the process has ended."""

    def __init__(self, term_s: float, clock: Callable[[], float] = read_clock) -> None:
        self._term_s = term_s
        self._clock = clock
        self._until = 0.0 if term_s else inf
        """When it is over; 0 before it begins."""
        self._sent: dict[float, float] = {}
        """When each unanswered beat was sent, by the `time` that is in the beat."""

    @property
    def has_begun(self) -> bool:
        """Whether the coordinator has answered a beat; before that, no server may be asked."""
        return self._until > 0

    @property
    def is_over(self) -> bool:
        """Whether the shard must end."""
        return self.has_begun and self._clock() >= self._until

    def note_beat(self, beat_time: float) -> None:
        """Note that a beat is sent now."""
        if self._term_s:
            self._sent[beat_time] = self._clock()
            if len(self._sent) > _MAX_UNANSWERED:
                del self._sent[next(iter(self._sent))]

    def renew(self, beat_time: float) -> None:
        """Take the answer to a beat. A lease that is over is not renewed: a successor may have been started."""
        sent = self._sent.pop(beat_time, None)
        if sent is not None and not self.is_over:
            self._until = max(self._until, sent + self._term_s)
