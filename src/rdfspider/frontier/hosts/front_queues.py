"""The queues of hosts with URLs that are not active: by priority, or by the time at which their wait ends.

The queues are on disk. An active host keeps its entry until it gets another or has nothing left, so a crash loses none. Only
cursors are in memory: the hosts that they have passed are active.
"""

from collections import deque

from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.keys import GIVEN_UP, OVER_BUDGET, PRIORITIES, WAITING, pack_front_key, unpack_front_key
from rdfspider.frontier.store import Store

# Entries per read.
_ENTRIES = 64
_END = OVER_BUDGET + 1


class FrontQueues:
    """Puts hosts into front queues, and takes those whose turn it is."""

    def __init__(self, store: Store, next_order: int, longest_wait_s: float) -> None:
        self._entries = store.tables["places"]
        self.next_order = next_order
        """The turn of the next host in a front queue; stored with every commit."""
        self._longest_wait_s = longest_wait_s
        self._read: list[deque[bytes]] = [deque() for _ in range(_END)]
        """Keys that were read but not taken, by queue."""
        self._cursors = [pack_front_key(kind, 0, 0) for kind in range(_END)]
        self._may_have_more = [True] * _END
        self._staged: dict[int, bytes] = {}
        """The lowest staged key by queue, as reads before the commit miss staged keys."""
        self._choices = 0

    def put_front(self, host: Host) -> None:
        """Stage a host at the tail of the front queue of its best URL."""
        self._put(host, min(host.record.queued), self.next_order)
        self.next_order += 1

    def put_waiting(self, host: Host, kind: int, wake: float) -> None:
        """Stage a host that gets no request before a time (seconds since 1970)."""
        self._put(host, kind, max(int(wake * 1000), 0))

    def remove(self, host: Host) -> None:
        """Stage the removal of a host from its queue."""
        if host.record.front_key:
            self._entries.delete(host.record.front_key)
            host.record.front_key = b""

    def has_front(self) -> bool:
        """Whether an inactive host is in a queue of a priority."""
        return any(self._peek(kind) is not None for kind in range(PRIORITIES))

    def take_front(self) -> tuple[int, bytes] | None:
        """The next host and its key. Every second pick is from the best priority, every second of the rest from the next one,
        and so on: better priorities are picked more often, and none starves."""
        self._choices += 1
        first = min((self._choices & -self._choices).bit_length() - 1, PRIORITIES - 1)
        for kind in (first, *range(PRIORITIES)):
            key = self._peek(kind)
            if key is not None:
                self._read[kind].popleft()
                return unpack_front_key(key)[2], key
        return None

    def take_due(self, now: float) -> tuple[int, bytes] | None:
        """A host whose wait is over, given up or not."""
        for kind in (WAITING, GIVEN_UP):
            key = self._peek(kind)
            if key is not None and not self._left_s(key, now):
                self._read[kind].popleft()
                return unpack_front_key(key)[2], key
        return None

    def has_due(self, now: float) -> bool:
        """Whether the wait of a host is over, except hosts that were given up."""
        return self.next_in_s(now) == 0

    def next_in_s(self, now: float) -> float | None:
        """Seconds until the next wait is over, except those of hosts that were given up; None if none waits."""
        key = self._peek(WAITING)
        return None if key is None else self._left_s(key, now)

    def over_budget(self) -> list[int]:
        """The numbers of all hosts that have reached a page limit."""
        rows = self._entries.scan(pack_front_key(OVER_BUDGET, 0, 0), pack_front_key(_END, 0, 0))
        return [unpack_front_key(key)[2] for key, _ in rows]

    def settle(self) -> None:
        """After a commit, make staged keys readable; a new wait may end before those that were already read."""
        for kind, first in self._staged.items():
            self._may_have_more[kind] = True
            if kind >= PRIORITIES:
                self._cursors[kind] = min(self._cursors[kind], first, *self._read[kind])
                self._read[kind].clear()
        self._staged.clear()

    def _left_s(self, key: bytes, now: float) -> float:
        """Seconds until a host's wait is over. A wait longer than the maximum shows that the clock was set back: then this is 0,
        and the host's own clock decides."""
        left_s = unpack_front_key(key)[1] / 1000 - now
        return left_s if 0 < left_s <= self._longest_wait_s else 0.0

    def _put(self, host: Host, kind: int, turn: int) -> None:
        self.remove(host)
        key = host.record.front_key = pack_front_key(kind, turn, host.number)
        self._entries.put(key, b"")
        self._staged[kind] = min(key, self._staged.get(kind, key))

    def _peek(self, kind: int) -> bytes | None:
        read = self._read[kind]
        if not read and self._may_have_more[kind]:
            rows = self._entries.scan(self._cursors[kind], pack_front_key(kind + 1, 0, 0), _ENTRIES)
            read.extend(key for key, _ in rows)
            self._may_have_more[kind] = len(rows) == _ENTRIES
            if rows:
                self._cursors[kind] = rows[-1][0] + b"\0"
        return read[0] if read else None
