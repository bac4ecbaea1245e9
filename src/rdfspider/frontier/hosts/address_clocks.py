"""The clocks of the network addresses that this shard owns: shards acquire an address, and one at a time may use it.

Acquisitions and releases of all shards enter, this one's included; orders to them leave. It is pure state without I/O. The pace
of an address holds exactly, whichever shards its hosts belong to, because a single shard decides. A grant covers any number of
requests, one after the other, until another shard asks. It ends when it is returned, when its holder restarts, or after
`grant_s`, by when its last request has ended.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from msgspec import Struct
from xxhash import xxh3_64_intdigest

from rdfspider.frontier.clock import Clock


class Grant(Struct, frozen=True, gc=False, array_like=True, tag=1):
    """The asker may use the address, and start its first request in `wait_s` or later."""

    asker: int
    address: str
    ticket: int
    """The ticket of the acquisition that this answers."""
    wait_s: float


class Revoke(Struct, frozen=True, gc=False, array_like=True, tag=2):
    """Another shard waits for the address: its holder must return it after at most one more request."""

    asker: int
    address: str


Order = Grant | Revoke


@lru_cache(maxsize=65_536)
def address_key(address: str) -> str:
    """The unit that shares a clock: an IPv4 address, or the /64 network of an IPv6 address, which has one owner."""
    if ":" not in address:
        return address
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"


def find_owner(key: str, shards: int) -> int:
    """The shard that keeps the clock of an address."""
    return xxh3_64_intdigest(key.encode()) % shards


@dataclass(slots=True)
class _AddressClock:
    free_at: float
    """When the next request may start, if nobody holds the address."""
    holder: int | None = None
    expires: float = 0.0
    is_revoked: bool = False
    waiting: dict[int, int] = field(default_factory=dict)
    """The tickets of the waiting shards, by shard, in order of arrival."""


class AddressClocks:
    """Which shard may use which address, by `address_key`.

    The grants of an earlier owner are unknown, so nothing is granted until each of the `others` has reported what it holds
    (`hear`), or `grant_s` has passed.
    """

    def __init__(self, delay_s: float, grant_s: float, clock: Clock, others: Iterable[int] = ()) -> None:
        self._delay_s = delay_s
        self._grant_s = grant_s
        self._clock = clock
        self._unheard = set(others)
        started = clock.monotonic()
        self._opens_at = started + grant_s
        # Requests of this shard's previous process have ended by now, those of the others when they report.
        self._not_before = started + delay_s
        self._addresses: dict[str, _AddressClock] = {}

    def __len__(self) -> int:
        return len(self._addresses)

    def hear(self, asker: int, held: Collection[str]) -> list[Order]:
        """Take the report of what a shard holds, at its start or first contact; its other grants and tickets end."""
        now = self._clock.monotonic()
        for key, clock in self._addresses.items():
            clock.waiting.pop(asker, None)
            if clock.holder == asker and key not in held:
                clock.holder = None
                clock.free_at = max(clock.free_at, now + self._delay_s)
        for key in held:
            clock = self._find(key)
            if clock.holder is None:
                clock.holder, clock.expires, clock.is_revoked = asker, now + self._grant_s, False
        if asker in self._unheard:
            self._unheard.discard(asker)
            self._not_before = max(self._not_before, now + self._delay_s)
        return self._serve_all(now)

    def acquire(self, key: str, asker: int, ticket: int) -> list[Order]:
        """Ask for an address, or to keep it for longer."""
        now = self._clock.monotonic()
        clock = self._find(key)
        if clock.holder == asker:
            # A holder may renew during its request even if others wait, as it renews only while it lives.
            clock.expires = now + self._grant_s
            renewed: list[Order] = [Grant(asker, key, ticket, max(0.0, clock.free_at - now))]
            return [*renewed, Revoke(asker, key)] if clock.waiting else renewed
        clock.waiting[asker] = ticket
        return self._serve(key, clock, now)

    def release(self, key: str, asker: int, wait_s: float) -> list[Order]:
        """Return an address, which may get its next request after `wait_s`."""
        clock = self._addresses.get(key)
        if clock is None or clock.holder != asker:
            return []
        now = self._clock.monotonic()
        clock.holder = None
        clock.free_at = max(clock.free_at, now + wait_s)
        return self._serve(key, clock, now)

    def due(self) -> list[Order]:
        """Expire grants, and begin to grant when `grant_s` has passed since the start; call this every few seconds."""
        now = self._clock.monotonic()
        for clock in self._addresses.values():
            if clock.holder is not None and clock.expires <= now:
                # The last request may have ended just now.
                clock.holder = None
                clock.free_at = max(clock.free_at, now + self._delay_s)
        orders = self._serve_all(now)
        over = [
            key
            for key, clock in self._addresses.items()
            if clock.holder is None and not clock.waiting and clock.free_at <= now
        ]
        for key in over:
            del self._addresses[key]
        return orders

    def _find(self, key: str) -> _AddressClock:
        clock = self._addresses.get(key)
        if clock is None:
            clock = self._addresses[key] = _AddressClock(free_at=self._not_before)
        return clock

    def _serve_all(self, now: float) -> list[Order]:
        return [order for key, clock in self._addresses.items() for order in self._serve(key, clock, now)]

    def _serve(self, key: str, clock: _AddressClock, now: float) -> list[Order]:
        orders: list[Order] = []
        if not clock.waiting:
            return orders
        if clock.holder is None and (not self._unheard or now >= self._opens_at):
            asker = next(iter(clock.waiting))
            ticket = clock.waiting.pop(asker)
            clock.holder, clock.expires, clock.is_revoked = asker, now + self._grant_s, False
            start = max(clock.free_at, self._not_before)
            orders.append(Grant(asker, key, ticket, max(0.0, start - now)))
        if clock.holder is not None and clock.waiting and not clock.is_revoked:
            clock.is_revoked = True
            orders.append(Revoke(clock.holder, key))
        return orders
