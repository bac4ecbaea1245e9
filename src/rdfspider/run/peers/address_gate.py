"""The way to an address: a request waits here until this shard may ask that address, whichever shard owns its clock.

A grant is kept while nobody else asks, so that a sole user of an address speaks to the owner once and then every few seconds. The
owner's side is `frontier/hosts/address_clocks.py`.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.address_clocks import Grant, Revoke, address_key, find_owner
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
