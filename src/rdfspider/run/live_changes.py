"""What follows from new seeds and from changes of filters and scope, while a crawl runs: new seeds are scheduled, and URLs that
were refused are scheduled where no rule is against them any more. It is done in small steps beside the crawl, and again after a
crash.
"""

import asyncio
from collections.abc import Callable, Sequence

from xxhash import xxh3_64_hexdigest

from rdfspider.discover.routing import Router
from rdfspider.discover.scope import Scope
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered
from rdfspider.ways import Way

# Seeds that are put into the frontier in one step.
_SEED_BATCH = 2_000
# URLs that were turned away and are looked at again in one step, which takes some milliseconds.
_REVIEW_BATCH = 500
# What the frontier keeps for us: which seeds are in it, and by which rules refusals were reviewed last.
_SEEDS_MARK, _RULES_MARK = "seeds-mark", "rules-mark"


class LiveChanges:
    """Brings a frontier up to date."""

    def __init__(
        self,
        frontier: Frontier,
        scope: Scope,
        router: Router,
        turn: asyncio.Lock,
        *,
        read_seeds: Callable[[], Sequence[str]],
        should_stop: Callable[[], bool],
        on_end: Callable[[asyncio.Task[None]], None],
    ) -> None:
        """`turn` is held by whoever commits; `read_seeds` gives those of the crawl, and runs in a thread; `on_end` is told when
        all is done for now, or has failed."""
        self._frontier = frontier
        self._scope = scope
        self._router = router
        self._turn = turn
        self._read_seeds = read_seeds
        self._should_stop = should_stop
        self._on_end = on_end
        self._has_new_seeds = False
        self._is_behind = False
        """Whether something has changed, and what follows from that is not done yet."""
        self._work: asyncio.Task[None] | None = None

    @property
    def are_done(self) -> bool:
        """Whether there is nothing that a change has left to do."""
        return not self._is_behind and self._work is not None and self._work.done()

    def note(self) -> None:
        """Filters or the scope have changed: what was turned away is looked at again, beside the crawl."""
        self._is_behind = True
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._catch_up())
            self._work.add_done_callback(self._on_end)

    def note_seeds(self) -> None:
        """There are new seeds."""
        self._has_new_seeds = True
        self.note()

    async def finish(self) -> None:
        """Wait until all is done, or the shard is to stop."""
        if self._work is not None:
            await self._work

    async def _catch_up(self) -> None:
        """Do what follows from changes, until nothing has changed meanwhile."""
        while self._is_behind and not self._should_stop():
            self._is_behind = False
            if self._has_new_seeds:
                self._has_new_seeds = False
                await self.add_seeds(await asyncio.to_thread(self._read_seeds))
            await self.review_refusals()

    async def add_seeds(self, seeds: Sequence[str]) -> None:
        """Schedule the seeds that this shard owns, but for those that the list had the last time: it grows at its end."""
        known = self._count_known_seeds(seeds)
        if known == len(seeds):
            return
        for start in range(known, len(seeds), _SEED_BATCH):
            if self._should_stop():
                return
            batch = seeds[start : start + _SEED_BATCH]
            async with self._turn:
                for url in batch:
                    self._scope.extend(url)
                self._frontier.add(self._router.route([Discovered(url, found_as=Way.SEED) for url in batch]).own)
                self._frontier.commit()
            await asyncio.sleep(0)
        async with self._turn:
            self._frontier.meta.put(_SEEDS_MARK, _mark_seeds(seeds))
            self._frontier.commit()
            await asyncio.to_thread(self._frontier.sync)

    async def retry_seeds(self) -> None:
        """Schedule the seeds again that failed without an answer."""
        while not self._should_stop() and self._frontier.restarts.retry_seeds(_SEED_BATCH):
            async with self._turn:
                self._frontier.commit()
            await asyncio.sleep(0)

    async def review_refusals(self) -> None:
        """Schedule again what was turned away and is welcome now; where no rule has changed since the last time, nothing is."""
        mark = self._scope.digest()
        if self._frontier.meta.get(_RULES_MARK) == mark:
            return
        after = b""
        while not self._should_stop():
            async with self._turn:
                after = self._frontier.restarts.review_refusals(after, _REVIEW_BATCH, self._is_welcome)
                if not after:
                    self._frontier.meta.put(_RULES_MARK, mark)
                self._frontier.commit()
            if not after:
                return
            await asyncio.sleep(0)

    def _is_welcome(self, found_as: str, url: str) -> bool:
        return not self._router.find_refusal(found_as, url)

    def _count_known_seeds(self, seeds: Sequence[str]) -> int:
        """How many of the seeds, from the first on, were put in before; a list that begins otherwise is new as a whole."""
        stored = self._frontier.meta.get(_SEEDS_MARK) or b""
        count = stored.partition(b" ")[0]
        if not count.isdigit() or int(count) > len(seeds):
            return 0
        return int(count) if stored == _mark_seeds(seeds[: int(count)]) else 0


def _mark_seeds(seeds: Sequence[str]) -> bytes:
    """By which a list of seeds is known again."""
    return f"{len(seeds)} {xxh3_64_hexdigest(chr(10).join(seeds).encode())}".encode()
