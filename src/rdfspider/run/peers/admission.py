"""Admission control: a request waits until its address may be used, a connection is free, and there is memory for the response.

The caller need not know which shard owns the clock of an address: `AddressGate` asks the owner for a grant and keeps it until
another shard wants it, so that the only user of an address sends one message every few seconds. The owner's side is in
`frontier/hosts/address_clocks.py`.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from rdfspider.config import FetchConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.address_clocks import Grant, Revoke, address_key, find_owner
from rdfspider.records import Capture, Failure
from rdfspider.run.peers.messages import Acquire, Release

# How long after a grant was requested its requests may start; they end a fetch timeout later, and then the grant expires.
GRANT_MARGIN_S = 30.0
# A grant is renewed when this much of its time is left, so that requests need not wait.
_RENEW_BEFORE_S = 15.0
# An address that is unused for this long is returned to its owner.
_KEEP_S = 5.0
# How long a side request waits for a host that others use; the limit is needed because two hosts may wait for each other.
_ASIDE_S = 60.0
# Side requests that are postponed are at least this far apart.
_LEAST_TURN_S = 1.0
_MAX_TURNS = 4096
# How long an exchange may yield little while others wait: this many times as long as is usual, at least this many seconds.
_PATIENCE, _LEAST_PATIENCE_S = 8.0, 2.0
# The weight of one exchange in the usual duration, and the most that it counts for: a few servers that take a minute on purpose
# must not give all slow ones more time.
_NEW_WEIGHT, _LONGEST_USUAL_S = 1 / 16, 5.0
# How long fewer requests may start after there was no memory for a body.
_NARROW_S = 60.0


@dataclass(slots=True)
class _Hold:
    """This shard's state of one address."""

    key: str
    owner: int
    is_held: bool = False
    is_used: bool = False
    """Whether a request has been made since the grant."""
    is_busy: bool = False
    """Whether a request is under way."""
    is_revoked: bool = False
    ticket: int = 0
    """The pending request for a grant; 0 if there is none."""
    asked_at: float = 0.0
    valid_until: float = 0.0
    """Until when requests may start."""
    free_at: float = 0.0
    """When the next request may start."""
    idle_since: float = 0.0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None


class AddressGate:
    """Lets a shard send one request at a time to each address, with a delay between them. With a delay of 0 it is always open."""

    def __init__(
        self, shards: int, delay_s: float, clock: Clock, send: Callable[[int, Acquire | Release], None]
    ) -> None:
        self._shards = shards
        self._delay_s = delay_s
        self._clock = clock
        self._send = send
        self._tickets = 0
        self._holds: dict[str, _Hold] = {}

    async def acquire(self, address: str) -> None:
        """Wait until this shard may send one request to an address; `release` must follow."""
        if not self._delay_s:
            return
        key = address_key(address)
        hold = self._holds.get(key)
        if hold is None:
            hold = self._holds[key] = _Hold(key, find_owner(key, self._shards))
        turn = asyncio.get_running_loop().create_future()
        hold.waiting.append(turn)
        self._advance(hold)
        if turn.done():
            return
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # Its turn came at the same moment; no request was sent, so the next one need not wait.
                self._end_turn(hold, hold.free_at)
            raise

    def release(self, address: str) -> None:
        """Note that the request has ended now."""
        if self._delay_s:
            self._end_turn(self._holds[address_key(address)], self._clock.monotonic() + self._delay_s)

    def take_grant(self, grant: Grant) -> None:
        """Take the owner's grant of an address."""
        hold = self._holds.get(grant.address)
        if hold is None or hold.ticket != grant.ticket:
            # The grant answers a request that was overtaken by a release. If no newer request settles it, return the address.
            if hold is None or not (hold.is_held or hold.ticket):
                self._send(find_owner(grant.address, self._shards), Release(grant.address, grant.wait_s))
            return
        if not hold.is_held:
            hold.is_held, hold.is_used, hold.is_revoked = True, False, False
        hold.ticket = 0
        hold.valid_until = hold.asked_at + GRANT_MARGIN_S
        now = self._clock.monotonic()
        hold.free_at = max(hold.free_at, now + grant.wait_s)
        hold.idle_since = now
        self._advance(hold)

    def take_revoke(self, revoke: Revoke) -> None:
        """Take the owner's notice that another shard wants an address that this one uses."""
        hold = self._holds.get(revoke.address)
        if hold is not None and hold.is_held:
            hold.is_revoked = True
            self._advance(hold)
        elif hold is None or not hold.ticket:
            # It was returned already, or its grant had expired when the owner was met.
            self._send(find_owner(revoke.address, self._shards), Release(revoke.address, 0.0))

    def meet_owner(self, owner: int) -> tuple[str, ...]:
        """Return the addresses that this shard holds from an owner that has restarted without state; `ask_again` must follow."""
        now = self._clock.monotonic()
        held = []
        for hold in self._holds.values():
            if hold.owner != owner:
                continue
            hold.ticket = 0
            hold.is_held = hold.is_held and (hold.is_busy or now < hold.valid_until)
            if hold.is_held:
                held.append(hold.key)
        return tuple(held)

    def ask_again(self, owner: int) -> None:
        """Repeat the requests for grants that a restarted owner has lost."""
        for hold in [hold for hold in self._holds.values() if hold.owner == owner]:
            self._advance(hold)

    def sweep(self) -> None:
        """Renew grants in use, and return unused ones; must be called every few seconds."""
        now = self._clock.monotonic()
        for hold in list(self._holds.values()):
            if hold.is_busy:
                self._renew(hold, now)
                continue
            if not hold.waiting and hold.is_held and now > hold.idle_since + _KEEP_S:
                self._return(hold, now)
            self._advance(hold)

    def close(self) -> None:
        """Cancel all timers."""
        for hold in self._holds.values():
            if hold.timer is not None:
                hold.timer.cancel()

    def _end_turn(self, hold: _Hold, free_at: float) -> None:
        hold.is_busy = False
        hold.free_at = free_at
        hold.idle_since = self._clock.monotonic()
        self._advance(hold)

    def _advance(self, hold: _Hold) -> None:
        """Take the next possible step for an address: return it, request it, wait, or let the next request start."""
        if hold.is_busy:
            return
        while hold.waiting and hold.waiting[0].done():
            hold.waiting.popleft()
        now = self._clock.monotonic()
        # If a grant is revoked before its first use, one request is still made; otherwise two shards could pass an address
        # back and forth forever.
        if hold.is_held and hold.is_revoked and (hold.is_used or not hold.waiting):
            self._return(hold, now)
        if not hold.waiting:
            self._forget_unused(hold)
        elif not hold.is_held or now >= hold.valid_until:
            self._ask(hold, now)
        elif now < hold.free_at:
            self._wait(hold, hold.free_at - now)
        else:
            hold.is_busy = hold.is_used = True
            hold.waiting.popleft().set_result(None)
            self._renew(hold, now)

    def _wait(self, hold: _Hold, wait_s: float) -> None:
        if hold.timer is not None:
            hold.timer.cancel()
        hold.timer = asyncio.get_running_loop().call_later(wait_s, self._advance, hold)

    def _renew(self, hold: _Hold, now: float) -> None:
        if now > hold.valid_until - _RENEW_BEFORE_S:
            self._ask(hold, now)

    def _ask(self, hold: _Hold, now: float) -> None:
        if not hold.ticket:
            self._tickets += 1
            hold.ticket, hold.asked_at = self._tickets, now
            self._send(hold.owner, Acquire(hold.key, hold.ticket))

    def _return(self, hold: _Hold, now: float) -> None:
        hold.is_held = hold.is_revoked = False
        hold.ticket = 0
        self._send(hold.owner, Release(hold.key, max(0.0, hold.free_at - now)))

    def _forget_unused(self, hold: _Hold) -> None:
        if not (hold.is_held or hold.is_busy or hold.ticket or hold.waiting):
            if hold.timer is not None:
                hold.timer.cancel()
            self._holds.pop(hold.key, None)


class Admission:
    """Admits every request of a shard; `on_enter` is called when one may start."""

    def __init__(
        self,
        gate: AddressGate,
        frontier: Frontier,
        config: FetchConfig,
        flight_bytes: Callable[[], int],
        kept_bytes: Callable[[], int],
        on_enter: Callable[[], None],
    ) -> None:
        """`flight_bytes` returns what the requests under way have received, `kept_bytes` what earlier ones left in memory."""
        self._frontier = frontier
        self._gate = gate
        self._config = config
        self._flight_bytes = flight_bytes
        self._kept_bytes = kept_bytes
        self._on_enter = on_enter
        self._used = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._narrow_until = 0.0
        self._usual_s = 0.0
        """The duration of recent exchanges."""
        self._awaited: set[str] = set()
        """Hosts that a side request waits for."""
        self._turns: dict[str, float] = {}
        """By host, when the last postponed side request may be sent, in the loop's time."""

    async def acquire(self, address: str) -> None:
        """Wait until a request to an address may start; `release` must follow."""
        await self._gate.acquire(address)
        try:
            await self._take_connection()
        except asyncio.CancelledError:
            self._gate.release(address)
            raise
        self._on_enter()

    def release(self, address: str) -> None:
        """Note that the request has ended now."""
        self._return_connection()
        self._gate.release(address)

    async def begin_side_request(self, host: str) -> float:
        """Wait until a side request, one without a lease of its host, may start, and return 0; `end_side_request` must follow. If
        that would take too long, return the seconds after which to try again, infinite for a host that was given up."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _ASIDE_S
        while wait_s := self._frontier.side_requests.begin(host):
            if loop.time() + wait_s > end:
                return wait_s
            if host in self._awaited:
                return self._line_up(host, wait_s, loop.time())
            self._awaited.add(host)
            try:
                await asyncio.sleep(wait_s)
            finally:
                self._awaited.discard(host)
        return 0.0

    def end_side_request(self, host: str, exchange: Capture | Failure) -> None:
        """Note that the side request to a host has ended."""
        self._frontier.side_requests.end(host, exchange)

    def note_duration(self, duration_s: float) -> None:
        """Note how long an exchange took that gave an answer."""
        self._usual_s += _NEW_WEIGHT * (min(duration_s, _LONGEST_USUAL_S) - self._usual_s)

    @property
    def has_waiting(self) -> bool:
        """Whether a request waits for a connection or for memory."""
        return any(not turn.done() for turn in self._waiting)

    def patience_s(self) -> float:
        """For how long an exchange may yield little before its connection is taken back; infinity while nobody waits for one."""
        is_wanted = self.has_waiting or self._frontier.has_demand()
        return max(_LEAST_PATIENCE_S, _PATIENCE * self._usual_s) if is_wanted else inf

    def narrow(self) -> None:
        """Let fewer requests start for a while, because there was no memory for a body."""
        self._narrow_until = asyncio.get_running_loop().time() + _NARROW_S

    def admit(self) -> None:
        """Let as many waiting requests start as allowed, the oldest first; must be called whenever memory is freed."""
        while self._waiting and self._used < self._count_allowed():
            turn = self._waiting.popleft()
            if not turn.done():
                self._used += 1
                turn.set_result(None)

    def _line_up(self, host: str, wait_s: float, now: float) -> float:
        """Return the seconds until the turn of another side request to a host. Only one waits here: thousands of parked domains
        may redirect to one host, and their visits would block all others."""
        turn = max(self._turns.pop(host, now), now) + max(wait_s, _LEAST_TURN_S)
        self._turns[host] = turn
        if len(self._turns) > _MAX_TURNS:
            del self._turns[next(iter(self._turns))]
        return turn - now

    async def _take_connection(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self.admit()
        if turn.done():
            return
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._return_connection()
            raise

    def _return_connection(self) -> None:
        self._used -= 1
        # Later, as the body is no longer in flight now, and counts as kept only once its visit has continued.
        asyncio.get_running_loop().call_soon(self.admit)

    def _count_allowed(self) -> int:
        """Return how many requests may be under way. It is 0 only while bodies are kept, which are freed without new requests."""
        room_bytes, kept_bytes = self._config.max_flight_bytes, self._kept_bytes()
        is_short = asyncio.get_running_loop().time() < self._narrow_until
        if not is_short and 2 * (kept_bytes + self._flight_bytes()) < room_bytes:
            return self._config.connections
        few = (room_bytes - kept_bytes) // self._config.max_body_bytes
        return min(max(few, 0 if kept_bytes else 1), self._config.connections)
