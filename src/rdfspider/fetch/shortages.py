"""What this machine itself lacks: failed lookups and connections enter, and why nobody else is to blame leaves.

Without a descriptor, a network or name servers every request would fail, and hosts and URLs would be given up for what is no
fault of theirs. A network that was never there is none that is lost: a crawl of this machine alone needs no route.
"""

import os
import socket
import time
from collections.abc import Callable

NO_DESCRIPTOR = "no file descriptor is left (see ulimit -n)"
NO_NETWORK = "there is no network: this machine has no route"
NO_NAMES = "the name servers do not answer"
UNANSWERED_NAMES = 3
"""So many different names in a row without any answer from a name server mean that the servers are at fault, not the names."""
MAX_SILENCE_S = 3600.0
"""After so long without any answer, lookups fail as usual: what is left to look up may have no answer at all."""


class Shortages:
    """Judges failures of one shard."""

    def __init__(self, find_routes: Callable[[], tuple[bool, bool]] | None = None) -> None:
        """`find_routes` tells whether there is a route to the internet by IPv4 and by IPv6."""
        self._find_routes = find_routes or find_routes_out
        self._had_route = any(self._find_routes())
        self._has_answered = False
        self._unanswered: set[str] = set()
        self._silent_since = 0.0

    def find_of_connection(self) -> str:
        """Return why a host was unreachable if that is our own lack; empty if it is not."""
        is_connected = any(self._find_routes())
        self._had_route = self._had_route or is_connected
        return NO_NETWORK if self._had_route and not is_connected else ""

    def note_answer(self) -> None:
        """Note that a name server has answered, also that a name does not exist."""
        self._has_answered = True
        self._unanswered.clear()

    def find_of_name(self, name: str) -> str:
        """Return why a name got no answer if that is our own lack; empty if it is not."""
        if not has_descriptor():
            return NO_DESCRIPTOR
        if lack := self.find_of_connection():
            return lack
        if not self._unanswered:
            self._silent_since = time.monotonic()
        if len(self._unanswered) < UNANSWERED_NAMES:
            self._unanswered.add(name)
        is_outage = self._has_answered and len(self._unanswered) >= UNANSWERED_NAMES
        return NO_NAMES if is_outage and time.monotonic() < self._silent_since + MAX_SILENCE_S else ""


def has_descriptor() -> bool:
    """Whether this process can open another file."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return False
    return True


def find_routes_out() -> tuple[bool, bool]:
    """Whether this machine has a route to the internet, by IPv4 and by IPv6."""
    ways = []
    for family, anywhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((anywhere, 80))  # Sends nothing: a datagram socket only looks up a route.
            ways.append(True)
        except OSError:
            ways.append(False)
    return ways[0], ways[1]
