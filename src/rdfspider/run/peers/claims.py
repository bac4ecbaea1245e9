"""Exact duplicates across shards: digests of bodies enter, the URLs that had these bodies first leave.

Each digest is owned by one shard. If that is another one, it is asked, and the page waits for its answer. Without an answer in
time, the body counts as new and the claim is lost, so the next page with the same body becomes the first. No page waits for an
owner that did not answer until that owner is heard again.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from rdfspider.frontier.clock import Clock
from rdfspider.frontier.contents import find_claim_owner, pack_digest
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.origins import find_shared
from rdfspider.run.peers.messages import Claimed, ContentClaim, Repeated

# How long to wait for an answer, which usually takes a millisecond.
_PATIENCE_S = 2.0


class _Ask(NamedTuple):
    """A claim that is not answered yet."""

    owner: int
    claim: ContentClaim
    until: float
    """The monotonic time at which it is given up."""
    first: "asyncio.Future[str]"


class Claims:
    """The claims that a shard sends and answers."""

    def __init__(
        self,
        shard: int,
        shards: int,
        frontier: Frontier,
        clock: Clock,
        send: Callable[[int, ContentClaim | Claimed | Repeated], None],
    ) -> None:
        self._shard = shard
        self._shards = shards
        self._frontier = frontier
        self._clock = clock
        self._send = send
        self._tickets = 0
        self._asks: dict[int, _Ask] = {}
        """Pending claims by ticket, the oldest first."""
        self._silent: set[int] = set()
        """Owners that left a claim unanswered."""

    async def claim(self, digest: str, url: str) -> str:
        """Return the URL that had a body first; `url` itself if none had, or if the owner does not answer."""
        key = pack_digest(digest)
        owner = find_claim_owner(key, self._shards)
        if owner == self._shard:
            return self._frontier.contents.claim(key, url)
        if owner in self._silent:
            return url
        self._tickets += 1
        claim = ContentClaim(self._tickets, key, url)
        first = asyncio.get_running_loop().create_future()
        self._asks[claim.ticket] = _Ask(owner, claim, self._clock.monotonic() + _PATIENCE_S, first)
        self._send(owner, claim)
        return await first or url

    def tell_owner(self, shard: int, url: str, original: str) -> None:
        """Tell the shard of an original about its duplicate, since it counts which of two sites mirrors the other; losing this
        message does little harm."""
        if shared := find_shared(url, original):
            origin, other = shared
            self._send(shard, Repeated(other, origin))

    def answer(self, asker: int, claim: ContentClaim) -> None:
        """Stage and answer another shard's claim for a digest that this shard owns."""
        first = self._frontier.contents.claim(claim.key, claim.url)
        self._send(asker, Claimed(claim.ticket, "" if first == claim.url else first))

    def take(self, owner: int, answer: Claimed) -> None:
        """Take an owner's answer, which may be too late."""
        self._silent.discard(owner)
        ask = self._asks.pop(answer.ticket, None)
        if ask is not None and not ask.first.done():
            ask.first.set_result(answer.first)

    def ask_again(self, owner: int) -> None:
        """Repeat the claims that an owner had not answered before it restarted."""
        self._silent.discard(owner)
        for ask in self._asks.values():
            if ask.owner == owner:
                self._send(owner, ask.claim)

    def sweep(self) -> None:
        """Give up the claims that were not answered in time; must be called several times a second."""
        now = self._clock.monotonic()
        for ask in [ask for ask in self._asks.values() if ask.until <= now]:
            self._silent.add(ask.owner)
            self._give_up(ask)

    def close(self) -> None:
        """Give up all pending claims."""
        for ask in list(self._asks.values()):
            self._give_up(ask)

    def _give_up(self, ask: _Ask) -> None:
        del self._asks[ask.claim.ticket]
        if not ask.first.done():
            ask.first.set_result("")
