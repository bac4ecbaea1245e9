"""Where hosts are that have URLs but are not active: in a front queue of their priority, or waiting for a moment.

All of it is on disk. A host that becomes active keeps its place until it gets another or has nothing left, so that after a
crash it is simply there. In memory there are only cursors: what they have passed is active.
"""

from collections import deque

from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.keys import GIVEN_UP, OVER_BUDGET, PRIORITIES, WAITING, pack_place, unpack_place
from rdfspider.frontier.store import Store

# Places that are read at once.
_PLACES = 64
_END = OVER_BUDGET + 1


class FrontQueues:
    """Puts hosts into places, and gives those whose turn it is."""

    def __init__(self, store: Store, next_order: int, longest_wait_s: float) -> None:
        self._places = store.tables["places"]
        self.next_order = next_order
        """The turn of the next host in a front queue; stored with every commit."""
        self._longest_wait_s = longest_wait_s
        self._read: list[deque[bytes]] = [deque() for _ in range(_END)]
        """Places that were read and not taken, by kind."""
        self._cursors = [pack_place(kind, 0, 0) for kind in range(_END)]
        self._may_have_more = [True] * _END
        self._staged: dict[int, bytes] = {}
        """The first of the places that are staged, by kind: a read before the commit passes over them."""
        self._choices = 0

    def put_front(self, host: Host) -> None:
        """Stage a host at the tail of the front queue of its best URL."""
        self._put(host, min(host.record.queued), self.next_order)
        self.next_order += 1

    def put_waiting(self, host: Host, kind: int, wake: float) -> None:
        """Stage a host that is not to be asked before a time (seconds since 1970)."""
        self._put(host, kind, max(int(wake * 1000), 0))

    def remove(self, host: Host) -> None:
        """Stage that a host has no place, because nothing of it is scheduled."""
        if host.record.place:
            self._places.delete(host.record.place)
            host.record.place = b""

    def has_front(self) -> bool:
        """Whether some host is in a front queue and not active."""
        return any(self._peek(kind) is not None for kind in range(PRIORITIES))

    def take_front(self) -> tuple[int, bytes] | None:
        """The next host, and the place that it was found in. Of two picks one is for the best priority, of the rest one for
        the second, and so on: the better come more often, none starves."""
        self._choices += 1
        first = min((self._choices & -self._choices).bit_length() - 1, PRIORITIES - 1)
        for kind in (first, *range(PRIORITIES)):
            place = self._peek(kind)
            if place is not None:
                self._read[kind].popleft()
                return unpack_place(place)[2], place
        return None

    def take_due(self, now: float) -> tuple[int, bytes] | None:
        """A host that has waited long enough, given up or not."""
        for kind in (WAITING, GIVEN_UP):
            place = self._peek(kind)
            if place is not None and not self._left_s(place, now):
                self._read[kind].popleft()
                return unpack_place(place)[2], place
        return None

    def has_due(self, now: float) -> bool:
        """Whether some host has waited long enough, those that were given up not counted."""
        return self.next_in_s(now) == 0

    def next_in_s(self, now: float) -> float | None:
        """Seconds until the next host has waited long enough, those that were given up not counted; None when none waits."""
        place = self._peek(WAITING)
        return None if place is None else self._left_s(place, now)

    def over_budget(self) -> list[int]:
        """The numbers of all hosts that have all the pages they may have."""
        rows = self._places.scan(pack_place(OVER_BUDGET, 0, 0), pack_place(_END, 0, 0))
        return [unpack_place(key)[2] for key, _ in rows]

    def settle(self) -> None:
        """After a commit: what was staged can be read. A wait may end before those that were read already."""
        for kind, first in self._staged.items():
            self._may_have_more[kind] = True
            if kind >= PRIORITIES:
                self._cursors[kind] = min(self._cursors[kind], first, *self._read[kind])
                self._read[kind].clear()
        self._staged.clear()

    def _left_s(self, place: bytes, now: float) -> float:
        """Seconds to wait for a place. A wait longer than there are shows that the clock was set back; then none are left, and
        the host's own clock tells."""
        left_s = unpack_place(place)[1] / 1000 - now
        return left_s if 0 < left_s <= self._longest_wait_s else 0.0

    def _put(self, host: Host, kind: int, turn: int) -> None:
        self.remove(host)
        place = host.record.place = pack_place(kind, turn, host.number)
        self._places.put(place, b"")
        self._staged[kind] = min(place, self._staged.get(kind, place))

    def _peek(self, kind: int) -> bytes | None:
        read = self._read[kind]
        if not read and self._may_have_more[kind]:
            rows = self._places.scan(self._cursors[kind], pack_place(kind + 1, 0, 0), _PLACES)
            read.extend(key for key, _ in rows)
            self._may_have_more[kind] = len(rows) == _PLACES
            if rows:
                self._cursors[kind] = rows[-1][0] + b"\0"
        return read[0] if read else None
