"""How much one client may ask for: requests a second by address, requests under way, and bytes of a body."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field

MAX_BODY_BYTES = 2 << 20
"""Of a request: a query, a page that was pasted."""
MAX_UNDER_WAY = 200
MAX_HEAVY_UNDER_WAY = 16
MAX_WATCHERS = 40
"""Browsers that watch the crawl live."""
_MAX_CLIENTS = 10_000


@dataclass(slots=True)
class Rate:
    """So many requests a second by each client, and at first so many at once."""

    per_s: float
    burst: float
    _clients: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    """By address, the one heard last at the end: when, and how many it could send then."""

    def take(self, client: str, now: float | None = None) -> float:
        """Take a request; returns after how many seconds it may come, 0 for now."""
        now = time.monotonic() if now is None else now
        heard, left = self._clients.pop(client, (now, self.burst))
        left = min(self.burst, left + (now - heard) * self.per_s)
        is_allowed = left >= 1
        self._clients[client] = (now, left - is_allowed)
        if len(self._clients) > _MAX_CLIENTS:
            self._clients.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) / self.per_s
