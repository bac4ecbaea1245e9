"""Admission control: a request waits until its address may be asked, a connection is free, and there is memory for what may come.

Which shard owns the clock of an address does not matter to the caller: `AddressGate` asks it, and keeps the grant while nobody
else asks, so that a sole user of an address sends a message every few seconds. The owner's side is
`frontier/hosts/address_clocks.py`.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rdfspider.config import FetchConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.address_clocks import Grant, Revoke, address_key, find_owner
from rdfspider.records import Capture, Failure
from rdfspider.run.peers.messages import Acquire, Release

# Requests may start for so long after a grant was asked for; they end a fetch timeout later, and then the grant expires.
GRANT_MARGIN_S = 30.0
# A grant is asked for again when this much of its time is left, so that its user need not stop.
_RENEW_BEFORE_S = 15.0
# An address that is not used for so long goes back to its owner.
_KEEP_S = 5.0


@dataclass(slots=True)
class _Hold:
    """What this shard has of one address."""

    key: str
    owner: int
    is_held: bool = False
    is_used: bool = False
    """Whether a request was made since the grant."""
    is_busy: bool = False
    """Whether a request is under way."""
    is_revoked: bool = False
    ticket: int = 0
    """The ask that is not answered yet; 0 when there is none."""
    asked_at: float = 0.0
    valid_until: float = 0.0
    """Until when requests may start."""
    free_at: float = 0.0
    """When the next request may start."""
    idle_since: float = 0.0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None


class AddressGate:
    """What the fetch path of a shard asks before each request. With a delay of 0 it is always open."""

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
        """Return when this shard may ask that address, once; `release` has to follow."""
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
                # Its turn came in the same moment; nothing was asked, so the next one need not wait.
                self._end_turn(hold, hold.free_at)
            raise

    def release(self, address: str) -> None:
        """The request has ended, now."""
        if self._delay_s:
            self._end_turn(self._holds[address_key(address)], self._clock.monotonic() + self._delay_s)

    def take_grant(self, grant: Grant) -> None:
        """The owner lets this shard use an address."""
        hold = self._holds.get(grant.address)
        if hold is None or hold.ticket != grant.ticket:
            # An answer to an ask that was overtaken by a release. Where no newer ask will clear it up, say so.
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
        """Another shard wants an address that this one uses."""
        hold = self._holds.get(revoke.address)
        if hold is not None and hold.is_held:
            hold.is_revoked = True
            self._advance(hold)
        elif hold is None or not hold.ticket:
            # It went back already, or was too old to be kept when the owner was met.
            self._send(find_owner(revoke.address, self._shards), Release(revoke.address, 0.0))

    def meet_owner(self, owner: int) -> tuple[str, ...]:
        """An owner has started anew, and knows nothing: what this shard holds of it. `ask_again` has to follow."""
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
        """Ask a new owner for all that its predecessor was asked for."""
        for hold in [hold for hold in self._holds.values() if hold.owner == owner]:
            self._advance(hold)

    def sweep(self) -> None:
        """Keep grants that are in use, and return those that are not; to be called every few seconds."""
        now = self._clock.monotonic()
        for hold in list(self._holds.values()):
            if hold.is_busy:
                self._renew(hold, now)
                continue
            if not hold.waiting and hold.is_held and now > hold.idle_since + _KEEP_S:
                self._return(hold, now)
            self._advance(hold)

    def close(self) -> None:
        """Nothing more will be asked."""
        for hold in self._holds.values():
            if hold.timer is not None:
                hold.timer.cancel()

    def _end_turn(self, hold: _Hold, free_at: float) -> None:
        hold.is_busy = False
        hold.free_at = free_at
        hold.idle_since = self._clock.monotonic()
        self._advance(hold)

    def _advance(self, hold: _Hold) -> None:
        """Do the next thing that can be done for an address: give it back, ask for it, wait, or let the next request start."""
        if hold.is_busy:
            return
        while hold.waiting and hold.waiting[0].done():
            hold.waiting.popleft()
        now = self._clock.monotonic()
        # Who is revoked before having had a turn still takes one; else two shards could pass an address to and fro forever.
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


# How long a request waits for a host that is asked by others: two hosts may wait for each other.
_ASIDE_S = 60.0
# Who is sent away comes at least this much later than the one before.
_LEAST_TURN_S = 1.0
_MAX_TURNS = 4096
# How long few requests start after there was no room for one.
_NARROW_S = 60.0


class Admission:
    """What every request of a shard goes through; `on_enter` is called when it may start."""

    def __init__(
        self,
        gate: AddressGate,
        frontier: Frontier,
        config: FetchConfig,
        flight_bytes: Callable[[], int],
        kept_bytes: Callable[[], int],
        on_enter: Callable[[], None],
    ) -> None:
        """`flight_bytes` tells what the requests under way have brought, `kept_bytes` what came before and is still held."""
        self._frontier = frontier
        self._gate = gate
        self._config = config
        self._flight_bytes = flight_bytes
        self._kept_bytes = kept_bytes
        self._on_enter = on_enter
        self._used = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._narrow_until = 0.0
        self._awaited: set[str] = set()
        """Hosts that somebody waits for here."""
        self._turns: dict[str, float] = {}
        """When the last of those who were sent away may ask a host, in the loop's time."""

    async def acquire(self, address: str) -> None:
        """Return when that address may be asked; `release` has to follow."""
        await self._gate.acquire(address)
        try:
            await self._take_connection()
        except asyncio.CancelledError:
            self._gate.release(address)
            raise
        self._on_enter()

    def release(self, address: str) -> None:
        """The request has ended, now."""
        self._return_connection()
        self._gate.release(address)

    async def begin_side_request(self, host: str) -> float:
        """Return 0 when a host may be asked that no lease is for; `end_side_request` has to follow then. If that takes too long,
        the seconds after which to try again, infinite for a host that was given up."""
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
        """The request to it has ended."""
        self._frontier.side_requests.end(host, exchange)

    def narrow(self) -> None:
        """There was no room for a body: let few requests start for a while."""
        self._narrow_until = asyncio.get_running_loop().time() + _NARROW_S

    def admit(self) -> None:
        """Let those who have waited longest start, as many as may; to be called whenever less is held than before."""
        while self._waiting and self._used < self._count_allowed():
            turn = self._waiting.popleft()
            if not turn.done():
                self._used += 1
                turn.set_result(None)

    def _line_up(self, host: str, wait_s: float, now: float) -> float:
        """The seconds until the turn of one more who wants to ask a host. One alone waits for it here: thousands of parked names
        may lead to one host, and would keep all others from being asked."""
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
        # Not now: what came is no longer in flight, and counts as kept only when the visit has gone on with it.
        asyncio.get_running_loop().call_soon(self.admit)

    def _count_allowed(self) -> int:
        """How many requests may be under way. There is 0 only while something is kept, which is let go of without any."""
        room_bytes, kept_bytes = self._config.max_flight_bytes, self._kept_bytes()
        is_short = asyncio.get_running_loop().time() < self._narrow_until
        if not is_short and 2 * (kept_bytes + self._flight_bytes()) < room_bytes:
            return self._config.connections
        few = (room_bytes - kept_bytes) // self._config.max_body_bytes
        return min(max(few, 0 if kept_bytes else 1), self._config.connections)
