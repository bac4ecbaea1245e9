"""When to give each peer a sign of life: the clock enters, the peers that are due leave, a few at a time.

There may be thousands of peers, most of them silent. So signs of life are spread over time, and a peer that was never met gets
them at growing intervals: whoever starts makes itself known.
"""

import heapq
from collections.abc import Callable, Collection, Iterator, Sequence

# How long a peer hears nothing before it gets a sign of life, if there are few peers; and how many peers share this time.
_LIFE_S, _PEERS_A_LIFE = 1.0, 100
# The first interval between signs of life to a peer that was not met yet, and the longest; each is twice as long as the last.
_FIRST_S, _LAST_S = 0.1, 8.0
_AT_ONCE = 64


class Calls:
    """The times of the next signs of life; pure state."""

    def __init__(self, peers: Sequence[int], now: float) -> None:
        self.life_s = max(_LIFE_S, len(peers) * _LIFE_S / _PEERS_A_LIFE)
        """The time between two signs of life to a peer that was met."""
        self._due = [(now, number) for number in peers]
        self._intervals: dict[int, float] = {}
        """The next intervals for peers that were not met yet, if it is not the first."""

    def take_due(self, now: float, has_met: Callable[[int], bool]) -> Iterator[tuple[int, float]]:
        """The peers that are due, and how long they will not be again."""
        for _ in range(_AT_ONCE):
            if not self._due or self._due[0][0] > now:
                break
            number = self._due[0][1]
            wait_s = self.life_s
            if not has_met(number):
                wait_s = self._intervals.get(number, _FIRST_S)
                self._intervals[number] = min(2 * wait_s, max(_LAST_S, self.life_s))
            heapq.heapreplace(self._due, (now + wait_s, number))
            yield number, wait_s

    def begin_again(self, number: int) -> None:
        """Let the intervals for a peer be short again, because it has restarted."""
        self._intervals.pop(number, None)

    def hurry(self, numbers: Collection[int], now: float) -> None:
        """Let peers be due now, because they have moved."""
        for number in numbers:
            self.begin_again(number)
        self._due = [(now if number in numbers else due, number) for due, number in self._due]
        heapq.heapify(self._due)
