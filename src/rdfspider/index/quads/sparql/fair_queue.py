"""Decides which query runs next: a client enters, a slot leaves, once one is free and no waiting client has fewer slots."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass


class FairQueue:
    """A number of slots, with a limit per client, so that no client keeps the others waiting. For any number of threads."""

    def __init__(self, count: int, most_by_client: int) -> None:
        self._count = count
        self._most_by_client = most_by_client
        self._changed = threading.Condition()
        self._taken: Counter[str] = Counter()
        self._waiting: list[_Ticket] = []
        """In the order of arrival."""

    def take(self, client: str, find_step_s: Callable[[], float]) -> None:
        """Wait for a slot; `find_step_s` returns how long to wait until the next check, and raises to give up."""
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
        """Free a slot."""
        with self._changed:
            self._taken -= Counter((client,))
            self._changed.notify_all()

    def _find_next(self) -> "_Ticket | None":
        """The first waiting ticket among those of the clients with the fewest slots."""
        if self._taken.total() >= self._count:
            return None
        fitting = [ticket for ticket in self._waiting if self._taken[ticket.client] < self._most_by_client]
        return min(fitting, key=lambda ticket: self._taken[ticket.client], default=None)


@dataclass(frozen=True, slots=True, eq=False)
class _Ticket:
    """One waiting query; a client may have several."""

    client: str
