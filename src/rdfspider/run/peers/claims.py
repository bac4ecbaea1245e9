"""Who had a content first: digests of bodies enter, the URLs that had them first leave, whichever shard knows.

A digest belongs to one shard, which may be this one; else that one is asked, and its answer waited for. Where none comes in time
the content counts as new, and that page's claim is lost: the next page that has the same is the first then. An owner that does
not answer is not waited for again until it is heard.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from rdfspider.frontier.clock import Clock
from rdfspider.frontier.contents.contents import find_claim_owner, pack_digest
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.peers.messages import Claim, Claimed, Repeated

# How long an answer is waited for; it usually takes a millisecond.
_PATIENCE_S = 2.0


class _Ask(NamedTuple):
    """A claim that is not answered yet."""

    owner: int
    claim: Claim
    until: float
    """Monotonic time when it is given up."""
    first: "asyncio.Future[str]"


class Claims:
    """What a shard asks about contents, and what it answers."""

    def __init__(
        self,
        shard: int,
        shards: int,
        frontier: Frontier,
        clock: Clock,
        send: Callable[[int, Claim | Claimed | Repeated], None],
    ) -> None:
        self._shard = shard
        self._shards = shards
        self._frontier = frontier
        self._clock = clock
        self._send = send
        self._tickets = 0
        self._asks: dict[int, _Ask] = {}
        """By ticket, the oldest first."""
        self._silent: set[int] = set()
        """Owners that left a claim unanswered."""

    async def claim(self, digest: str, url: str) -> str:
        """The URL that had a content first; this one where none had, or where nobody can tell."""
        key = pack_digest(digest)
        owner = find_claim_owner(key, self._shards)
        if owner == self._shard:
            return self._frontier.contents.claim(key, url)
        if owner in self._silent:
            return url
        self._tickets += 1
        claim = Claim(self._tickets, key, url)
        first = asyncio.get_running_loop().create_future()
        self._asks[claim.ticket] = _Ask(owner, claim, self._clock.monotonic() + _PATIENCE_S, first)
        self._send(owner, claim)
        return await first or url

    def tell(self, shard: int, repeated: Repeated) -> None:
        """Tell a shard that a page of its was found again; that this may be lost does little harm."""
        self._send(shard, repeated)

    def answer(self, asker: int, claim: Claim) -> None:
        """Another shard claims a content that belongs to this one; it is staged."""
        first = self._frontier.contents.claim(claim.key, claim.url)
        self._send(asker, Claimed(claim.ticket, "" if first == claim.url else first))

    def take(self, owner: int, answer: Claimed) -> None:
        """An owner has answered, perhaps too late."""
        self._silent.discard(owner)
        ask = self._asks.pop(answer.ticket, None)
        if ask is not None and not ask.first.done():
            ask.first.set_result(answer.first)

    def ask_again(self, owner: int) -> None:
        """An owner has started anew: ask it what its predecessor did not answer."""
        self._silent.discard(owner)
        for ask in self._asks.values():
            if ask.owner == owner:
                self._send(owner, ask.claim)

    def sweep(self) -> None:
        """Give up what was not answered in time; to be called several times a second."""
        now = self._clock.monotonic()
        for ask in [ask for ask in self._asks.values() if ask.until <= now]:
            self._silent.add(ask.owner)
            self._give_up(ask)

    def close(self) -> None:
        """Nothing more will be answered."""
        for ask in list(self._asks.values()):
            self._give_up(ask)

    def _give_up(self, ask: _Ask) -> None:
        del self._asks[ask.claim.ticket]
        if not ask.first.done():
            ask.first.set_result("")
