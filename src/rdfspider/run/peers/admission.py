"""The way to a server: its address must be free, one of the shard's connections, and memory for what may come.

All bodies of a shard share one room, from their first byte until what came of them is durable. While more than half of it is
taken, only so few requests start that all their bodies fit in, whatever their length. Many that start side by side may still
bring too much, and then one of them is given up; few start from then on, until that was not needed for a while.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from rdfspider.config import FetchConfig
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Capture, Failure
from rdfspider.run.peers.address_gate import AddressGate

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

    async def begin_aside(self, host: str) -> float:
        """Return 0 when a host may be asked that no lease is for, and then `end_aside` has to follow. If that takes too long,
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

    def end_aside(self, host: str, exchange: Capture | Failure) -> None:
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
