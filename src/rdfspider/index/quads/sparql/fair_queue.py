"""Who may ask now: a client and its patience in, a place out, as soon as one is free and nobody has waited with fewer places."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass


class FairQueue:
    """So many places, and so many of them for one client, so that none keeps the others waiting. For any number of threads."""

    def __init__(self, count: int, most_by_client: int) -> None:
        self._count = count
        self._most_by_client = most_by_client
        self._changed = threading.Condition()
        self._taken: Counter[str] = Counter()
        self._waiting: list[_Ticket] = []
        """In the order in which they came."""

    def take(self, client: str, find_step_s: Callable[[], float]) -> None:
        """Wait for a place; `find_step_s` says how long to wait before the next look, and raises when that is enough."""
        ticket = _Ticket(client)
        with self._changed:
            self._waiting.append(ticket)
            try:
                while self._find_next() is not ticket:
                    self._changed.wait(find_step_s())
                self._taken[client] += 1
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def give_back(self, client: str) -> None:
        """Leave a place to the next."""
        with self._changed:
            self._taken -= Counter((client,))
            self._changed.notify_all()

    def _find_next(self) -> "_Ticket | None":
        """Who has the fewest places of those that wait, and has come first."""
        if self._taken.total() >= self._count:
            return None
        fitting = [ticket for ticket in self._waiting if self._taken[ticket.client] < self._most_by_client]
        return min(fitting, key=lambda ticket: self._taken[ticket.client], default=None)


@dataclass(frozen=True, slots=True, eq=False)
class _Ticket:
    """One question that waits; a client may have several."""

    client: str
