"""Limits of one client and of all together: requests a second, concurrent requests, bytes and seconds."""

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MAX_BODY_BYTES = 2 << 20
"""Of a request: a query, a form."""
MAX_FIELDS, MAX_COOKIES, MAX_TYPES, MAX_COOKIE_BYTES = 1000, 300, 300, 16 << 10
"""Of what stands behind the `?` of an address, and in the headers Cookie and Accept: all requests wait while they are read."""
STATIC_RATE = 500, 2000
"""Files of the site's own a second, and at once: some for each page, where a browser does not keep them."""
MAX_CONNECTIONS, MAX_CLIENT_CONNECTIONS = 500, 100
MAX_READING, MAX_CLIENT_READING = 64, 20
"""Requests whose body is on its way."""
MAX_UNDER_WAY, MAX_CLIENT_UNDER_WAY = 200, 60
MAX_HEAVY_UNDER_WAY, MAX_CLIENT_HEAVY_UNDER_WAY = 16, 12
MAX_CLIENT_PASTES = 2
"""Pasted pages, which are read one at a time, so that others have a turn."""
MAX_SENDING_BYTES, MAX_CLIENT_SENDING_BYTES = 256 << 20, 128 << 20
"""Of answers that are longer than a piece and are being sent."""
MAX_WATCHERS, MAX_CLIENT_WATCHERS, MAX_OWN_WATCHERS = 40, 10, 30
"""Browsers that watch the crawl live; the last is for this machine, where a proxy may speak for many."""
PIECE_BYTES = 64 << 10
"""What is sent at once."""
HEADERS_S = 10.0
"""For the first line and the headers of a request."""
BODY_S, LEAST_BYTES_PER_S = 10.0, 64 << 10
"""For a body, or an answer, so long, and as much longer as it takes at this speed."""
WRITE_S = 30.0
"""For a piece of an answer."""
QUERY_TIMEOUT_S, QUERY_ROWS = 20.0, 10_000
"""Of a SPARQL query, by default."""
_MAX_CLIENTS = 10_000


class LimitReachedError(Exception):
    """A limit is reached now: try again later."""


@dataclass(slots=True)
class ConcurrencyLimit:
    """How much of something is in use: so much at most, and so much by each client."""

    most: int
    most_by_client: int
    _used: int = 0
    _clients: dict[str, int] = field(default_factory=dict)

    def take(self, client: str, amount: int = 1, most_by_client: int | None = None) -> None:
        """Use some; LimitReachedError where there is none left."""
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
        """Use some while the context lasts."""
        self.take(client, amount)
        try:
            yield
        finally:
            self.give_back(client, amount)


@dataclass(slots=True)
class RateLimit:
    """So many requests a second by each client, and at first so many at once."""

    per_s: float
    burst: float
    _clients: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    """By address, the one heard last at the end: when, and how many it could send then."""

    def take(self, client: str, now: float | None = None, *, cost: int = 1) -> float:
        """Take a request; returns after how many seconds it may come, 0 for now. One that costs nothing may come as well only
        while others may."""
        now = time.monotonic() if now is None else now
        heard, left = self._clients.pop(client, (now, self.burst))
        left = min(self.burst, left + (now - heard) * self.per_s)
        is_allowed = left >= 1
        self._clients[client] = (now, left - cost * is_allowed)
        if len(self._clients) > _MAX_CLIENTS:
            self._clients.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) / self.per_s
