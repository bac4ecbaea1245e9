"""Delivery of links between two shards: the sender's window over its outbox, and the receiver's cursor in it.

Entries are sent in order and stay in the outbox until they are durable at the receiver, so either side may die at any moment.
Each names its predecessor: a receiver without that one has missed something and reports a gap.
"""

from collections import deque

from rdfspider.frontier.frontier import Frontier
from rdfspider.run.peers.messages import Cursor, Links, Received

# Bytes in flight to one shard: enough to keep it busy, little to send again.
_WINDOW_BYTES = 256 * 1024


class Delivery:
    """The entries of this shard's outbox for one destination."""

    def __init__(self, frontier: Frontier, destination: int) -> None:
        self._frontier = frontier
        self._destination = destination
        self._sent: Cursor = (0, 0)
        self._in_flight: deque[tuple[Cursor, int]] = deque()
        self._in_flight_bytes = 0
        self._is_open = False

    @property
    def is_received(self) -> bool:
        """Whether the destination has made all committed entries durable."""
        return not self._in_flight and not self._frontier.outbox.read(self._destination, self._sent, 1)

    def resume(self, cursor: Cursor) -> None:
        """Resume after the cursor that the destination reports, whatever was sent before."""
        self._is_open = True
        self._in_flight.clear()
        self._in_flight_bytes = 0
        self._sent = cursor
        self._frontier.outbox.clear(self._destination, cursor)

    def suspend(self) -> None:
        """Send nothing until the destination, which has restarted, reports its cursor."""
        self._is_open = False

    def acknowledge(self, cursor: Cursor) -> None:
        """Note that the destination has made all entries up to the cursor durable."""
        if not self._in_flight or cursor < self._in_flight[0][0]:
            return
        while self._in_flight and self._in_flight[0][0] <= cursor:
            self._in_flight_bytes -= self._in_flight.popleft()[1]
        self._frontier.outbox.clear(self._destination, cursor)

    def take(self) -> list[Links]:
        """Take the entries that may be sent now."""
        taken: list[Links] = []
        while self._is_open and (room := _WINDOW_BYTES - self._in_flight_bytes) > 0:
            entries = self._frontier.outbox.read(self._destination, self._sent, room)
            if not entries:
                break
            for epoch, sequence, payload in entries:
                cursor = (epoch, sequence)
                taken.append(Links(cursor, self._sent, payload))
                self._sent = cursor
                self._in_flight.append((cursor, len(payload)))
                self._in_flight_bytes += len(payload)
        return taken


class Intake:
    """The links received from one source."""

    def __init__(self, frontier: Frontier, source: int) -> None:
        self._frontier = frontier
        self._source = source
        self.durable: Cursor = frontier.inbox.cursor(source)
        self._accepted = self.durable
        self._has_told_gap = False

    def judge(self, links: Links) -> tuple[bool, Received | None]:
        """Decide whether the links are the next ones, and what to answer their sender."""
        if links.cursor <= self._accepted:
            return False, Received(self.durable) if links.cursor <= self.durable else None
        if links.previous > self._accepted:
            return False, self._tell_gap()
        self._accepted = links.cursor
        return True, None

    def reject(self) -> Received | None:
        """Report a gap that the frontier has found: everything that is not durable must be sent again."""
        self._accepted = self.durable
        return self._tell_gap()

    def settle(self) -> Received | None:
        """Return the acknowledgement for a durable commit, if it contains new links of the source."""
        if self.durable == self._accepted:
            return None
        cursor = self._frontier.inbox.cursor(self._source)
        if cursor == self.durable:
            return None
        self.durable = cursor
        self._has_told_gap = False
        return Received(cursor)

    def forget_gap(self) -> None:
        """Allow a gap to be reported again, in case the first report or the answer was lost."""
        self._has_told_gap = False

    def _tell_gap(self) -> Received | None:
        """Report a gap once, as all links after it would give the same answer."""
        told, self._has_told_gap = self._has_told_gap, True
        return None if told else Received(self.durable, has_gap=True)
