"""Which kind of connection a host's next request may hold, so that slow servers together hold a bounded share of a shard.

A server shows whether it is slow only while it holds a connection. So hosts that have not answered yet and hosts that were slow
leave a quarter of all connections to hosts that answer fast, and slow ones are asked in a slow lane with an eighth of all. Nobody
takes these connections back; others are taken back from slow servers when requests wait (`Request.patience_s`). The lane is for
as long as there are others: if all hosts are slow, they use all connections. Hosts whose pages take long to extract have a lane
of their own, as these pages wait in memory for the one process that extracts them.
"""

from collections import Counter

from rdfspider.codes import Lane
from rdfspider.frontier.hosts.hosts import FAST, TAKEN_BACK, UNASKED, Host

# Pages of hosts whose pages take long to extract that may be under way, until they are recorded: one is extracted at a time.
_HEAVY_PAGES = 2
# The lanes of hosts that do not answer fast.
_NOT_FAST = frozenset({Lane.NEW, Lane.SLOW, Lane.SPARE})
# How long after a new host had to wait for a connection this counts as demand.
_DEMAND_S = 1.0


class Lanes:
    """Counts the requests in flight by lane."""

    def __init__(self, connections: int) -> None:
        self._connections = connections
        self._slow = max(connections // 8, 1)
        self._spare = connections // 2
        """Connections in use up to which slow hosts may have one outside of their lane."""
        self._doubtful = max(connections * 3 // 4, 1)
        self._in_flight: Counter[Lane] = Counter()
        self._surplus: Counter[Lane] = Counter()
        """Those of them whose hosts do not answer fast and are over their share."""
        self._held_back_at = float("-inf")
        self.has_others = False
        """Whether there are hosts that are not known to be slow; those without an answer count if they are within their share."""

    def choose(self, host: Host, now: float) -> Lane | None:
        """The lane of a host's next request; None if it must wait."""
        lane = self._find(host, self._in_flight)
        if lane is None and host.tempo == UNASKED and not host.is_surplus:
            self._held_back_at = now
        return lane

    def is_kept_out(self, host: Host) -> bool:
        """Whether a host that must wait could have what goes to hosts over their share: always where all are slow, otherwise if
        there would be a lane for it without theirs."""
        return not self.has_others or self._find(host, self._in_flight - self._surplus) is not None

    def _find(self, host: Host, count: Counter[Lane]) -> Lane | None:
        """The lane of a host's next request beside those in flight."""
        tempo = host.tempo
        if tempo == FAST:
            if not host.record.is_heavy:
                return Lane.OPEN
            return Lane.HEAVY if count[Lane.HEAVY] < _HEAVY_PAGES else None
        is_room = count.total() - count[Lane.OPEN] - count[Lane.HEAVY] < self._doubtful
        if tempo == UNASKED:
            return Lane.NEW if is_room else None
        if count[Lane.SLOW] < self._slow or (not self.has_others and count.total() < self._connections):
            return Lane.SLOW
        # A connection that was taken back once is not risked again, so that every URL is asked with patience in the end.
        is_spare = tempo != TAKEN_BACK and is_room and count.total() < self._spare
        return Lane.SPARE if is_spare else None

    @property
    def has_room(self) -> bool:
        """Whether a further request would find a connection."""
        return self._in_flight.total() < self._connections

    def has_demand(self, now: float) -> bool:
        """Whether a host within its share that has not answered yet had to wait a moment ago."""
        return now - self._held_back_at < _DEMAND_S

    def enter(self, lane: Lane, *, is_surplus: bool = False) -> None:
        """Count a request that begins, and whether its host is over its share."""
        self._in_flight[lane] += 1
        self._surplus[lane] += is_surplus and lane in _NOT_FAST

    def leave(self, lane: Lane, *, is_surplus: bool = False) -> None:
        """Count a request that has ended."""
        self._in_flight[lane] -= 1
        self._surplus[lane] -= is_surplus and lane in _NOT_FAST
