"""Delivery of links between two shards: the sender's window over its outbox, and the receiver's cursor in it.

There are two acknowledgements. *Received* means committed at the receiver, and moves the window. *Durable* means that it cannot
be lost with the receiver's disk, and frees the outbox; without a backup that is the same moment. Between two epochs the line
keeps the order, so all that either side needs after a restart is the receiver's cursor.
"""

from collections import deque
from typing import NamedTuple

from rdfspider.crawl.messages import LinksTo
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.outbox import START, Cursor
from rdfspider.run.peers.messages import Links, Received, count_links

# Bytes in flight to one shard: enough to keep it busy, little to send again.
_WINDOW_BYTES = 256 * 1024
# How exactly the age of links is told, and how many times of commits are kept for that.
_LEAST_AGE_S, _MAX_COMMITS = 1.0, 1024
# Counts of links that are received and not durable: they are told as durable when all those of one count are.
_MAX_STEPS = 1024


class _Flight(NamedTuple):
    """An entry that was sent and is not received or not durable yet."""

    cursor: Cursor
    size: int
    links: int


class Delivery:
    """The entries of this shard's outbox for one destination."""

    def __init__(self, frontier: Frontier, destination: int, now: float) -> None:
        self._frontier = frontier
        self._outbox = frontier.outbox
        self._destination = destination
        self._sent = START
        self._in_flight: deque[_Flight] = deque()
        self._in_flight_bytes = 0
        self._undurable: deque[tuple[Cursor, int]] = deque()
        """The links that are received and not durable: how many up to each of some entries. A store may be away for hours."""
        self._durable = START
        self._is_open = False
        self._is_drained = False
        """Whether there was no committed entry beyond the sent ones at the last look."""
        self._sent_links = self._received_links = self._durable_links = 0
        self._commits: deque[tuple[Cursor, float]] = deque()
        """Commits of entries that are not received: the last entry of each, and when it was."""
        if self._outbox.stored_bytes and self._outbox.read(destination, START, 1):
            self.note_commit(now)

    @property
    def is_received(self) -> bool:
        """Whether the destination has committed all entries that this shard has; unknown before it reports its cursor."""
        return self._is_open and self._is_drained and not self._in_flight

    @property
    def is_used(self) -> bool:
        """Whether there were any entries in this life."""
        return bool(self._sent_links or self._commits)

    def note_commit(self, now: float) -> None:
        """Note that entries were committed."""
        commits, last = self._commits, self._outbox.last(self._destination)
        if commits and now < commits[-1][1] + _LEAST_AGE_S:
            commits[-1] = (last, commits[-1][1])
        else:
            commits.append((last, now))
        if len(commits) > _MAX_COMMITS:
            # The first one tells the age, and the others what it will be.
            self._commits = deque(commit for number, commit in enumerate(commits) if number % 2 == 0)

    def count(self, now: float) -> LinksTo:
        """Count the links of this life, and how long the oldest has waited."""
        if self.is_received:
            self._commits.clear()
        oldest_s = round(now - self._commits[0][1], 1) if self._commits else 0.0
        return LinksTo(self._destination, self._sent_links, self._received_links, self._durable_links, oldest_s)

    def resume(self, received: Cursor, durable: Cursor) -> None:
        """Resume after the cursor that the destination reports, whatever was sent before."""
        # One that was put back to before what it has called durable gets all of it that is not gone yet.
        self._durable = min(self._durable, received)
        self.acknowledge(received, durable)
        self._is_open = True
        self._is_drained = False
        self._sent_links -= sum(flight.links for flight in self._in_flight)
        self._in_flight.clear()
        self._in_flight_bytes = 0
        while self._undurable and self._undurable[-1][0] > received:
            # The destination was put back to an older copy, and gets them again.
            _, links = self._undurable.pop()
            self._received_links -= links
            self._sent_links -= links
        self._sent = received

    def suspend(self) -> None:
        """Send nothing until the destination, which has restarted, reports its cursor."""
        self._is_open = False

    def acknowledge(self, received: Cursor, durable: Cursor) -> None:
        """Note how far the destination has committed the entries, and how far it has made them durable."""
        while self._in_flight and self._in_flight[0].cursor <= received:
            flight = self._in_flight.popleft()
            self._in_flight_bytes -= flight.size
            self._received_links += flight.links
            self._undurable.append((flight.cursor, flight.links))
        while self._undurable and self._undurable[0][0] <= durable:
            self._durable_links += self._undurable.popleft()[1]
        while len(self._undurable) > _MAX_STEPS:
            self._join_steps()
        while self._commits and self._commits[0][0] <= received:
            self._commits.popleft()
        self._durable = max(self._durable, durable)
        self._outbox.free(self._destination, self._durable)

    def _join_steps(self) -> None:
        """Join the counts of each two entries, the later of which tells when both are durable."""
        steps = list(self._undurable)
        pairs = zip(steps[::2], steps[1::2], strict=False)
        self._undurable = deque((later[0], links + later[1]) for (_, links), later in pairs)
        if len(steps) % 2:
            self._undurable.append(steps[-1])

    def take(self) -> list[Links]:
        """Take the entries that may be sent now."""
        self._outbox.free(self._destination, self._durable)
        taken: list[Links] = []
        while self._is_open and (room := _WINDOW_BYTES - self._in_flight_bytes) > 0:
            # What is freed already, and not received, is missing at the destination, which notices that by the cursors.
            previous = max(self._sent, self._outbox.freed(self._destination))
            entries = self._outbox.read(self._destination, self._sent, room)
            self._is_drained = not entries
            if not entries:
                break
            for cursor, payload in entries:
                taken.append(Links(cursor, previous, payload, self._frontier.committed_numbered))
                self._sent = previous = cursor
                flight = _Flight(cursor, len(payload), count_links(payload))
                self._in_flight.append(flight)
                self._in_flight_bytes += flight.size
                self._sent_links += flight.links
        return taken


class Intake:
    """The links received from one source."""

    def __init__(self, frontier: Frontier, source: int, has_backup: bool) -> None:
        self._inbox = frontier.inbox
        self._source = source
        self._has_backup = has_backup
        self.received = self._inbox.cursor(source)
        """Up to where its entries are committed."""
        self.durable = START if has_backup else self.received
        """Up to where they cannot be lost."""

    def settle(self) -> Received | None:
        """Return the acknowledgement for a durable commit, if it contains new links of the source."""
        cursor = self._inbox.cursor(self._source)
        if cursor == self.received:
            return None
        self.received = cursor
        if not self._has_backup:
            self.durable = cursor
        return Received(self.received, self.durable)

    def note_backup(self, durable: Cursor) -> Received | None:
        """Return the acknowledgement for a written backup, if it contains new links of the source."""
        if durable <= self.durable:
            return None
        self.durable = durable
        return Received(self.received, self.durable)
