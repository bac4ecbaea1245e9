"""Limits per client and in total: requests per second, concurrent requests, bytes and seconds."""

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MAX_BODY_BYTES = 2 << 20
"""The longest body of a request: a query or a form."""
MAX_FIELDS, MAX_COOKIES, MAX_TYPES, MAX_COOKIE_BYTES = 1000, 300, 300, 16 << 10
"""Limits for the query string and the headers Cookie and Accept: all requests wait while these are parsed."""
RATE, STATIC_RATE = (100, 400), (500, 2000)
"""Requests per second, and as a burst; a page needs several static files, if the browser does not cache them."""
HEAVY_RATE = 50, 300
"""Programs send many small queries in sequence; the limit on concurrent ones protects the server."""
LOGIN_RATE = 1, 20
"""Nobody mistypes a token more often than this."""
MAX_CONNECTIONS, MAX_CLIENT_CONNECTIONS = 500, 100
MAX_READING, MAX_CLIENT_READING = 64, 20
"""Requests whose body is being received."""
MAX_UNDER_WAY, MAX_CLIENT_UNDER_WAY = 200, 60
MAX_HEAVY_UNDER_WAY, MAX_CLIENT_HEAVY_UNDER_WAY = 16, 12
MAX_CLIENT_PASTES = 2
"""Pasted pages per client; they are read one at a time, so that other clients get their turn."""
MAX_SENDING_BYTES, MAX_CLIENT_SENDING_BYTES = 256 << 20, 128 << 20
"""The size of responses that are longer than a piece and are being sent."""
MAX_WATCHERS, MAX_CLIENT_WATCHERS, MAX_OWN_WATCHERS = 40, 10, 30
"""Browsers with a live monitor; the last limit is for clients on this machine, where a proxy may stand for many."""
PIECE_BYTES = 64 << 10
"""The size of one piece of a response."""
HEADERS_S = 10.0
"""The time limit for the request line and the headers."""
BODY_S, LEAST_BYTES_PER_S = 10.0, 64 << 10
"""The time limit for a body or a response: a fixed part, plus its size at this speed."""
WRITE_S = 30.0
"""The time limit for one piece of a response."""
QUERY_TIMEOUT_S, QUERY_ROWS = 20.0, 10_000
"""The default limits of a SPARQL query."""
_MAX_CLIENTS = 10_000


class LimitReachedError(Exception):
    """A limit is reached; the client may try again later."""


@dataclass(slots=True)
class ConcurrencyLimit:
    """A limit on the concurrent use of a resource, in total and per client."""

    most: int
    most_by_client: int
    _used: int = 0
    _clients: dict[str, int] = field(default_factory=dict)

    def take(self, client: str, amount: int = 1, most_by_client: int | None = None) -> None:
        """Take some; raises LimitReachedError if not enough is left."""
        used = self._clients.get(client, 0) + amount
        if self._used + amount > self.most or used > (most_by_client or self.most_by_client):
            raise LimitReachedError
        self._used += amount
        self._clients[client] = used

    def give_back(self, client: str, amount: int = 1) -> None:
        """Release what was taken."""
        self._used -= amount
        self._clients[client] -= amount
        if not self._clients[client]:
            del self._clients[client]

    @contextmanager
    def hold(self, client: str, amount: int = 1) -> Iterator[None]:
        """Take some for the duration of the context."""
        self.take(client, amount)
        try:
            yield
        finally:
            self.give_back(client, amount)


@dataclass(slots=True)
class RateLimit:
    """A token bucket per client: requests per second, and an initial burst."""

    per_s: float
    burst: float
    _clients: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    """By address, the most recent last: the time of the last request, and the requests left at that time."""

    def take(self, client: str, now: float | None = None, *, cost: int = 1) -> float:
        """Count a request; return the seconds until it is allowed, 0 for now. A request with cost 0 uses nothing, but is
        refused when others are."""
        now = time.monotonic() if now is None else now
        heard, left = self._clients.pop(client, (now, self.burst))
        left = min(self.burst, left + (now - heard) * self.per_s)
        is_allowed = left >= 1
        self._clients[client] = (now, left - cost * is_allowed)
        if len(self._clients) > _MAX_CLIENTS:
            self._clients.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) / self.per_s
