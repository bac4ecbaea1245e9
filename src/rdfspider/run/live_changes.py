"""Changes of seeds, filters and scope during a crawl enter; new seeds and URLs that are no longer refused are scheduled.

This is done in small steps beside the crawl, and is repeated after a crash.
"""

import asyncio
from collections.abc import Callable, Sequence

from xxhash import xxh3_64_hexdigest

from rdfspider.discover.scope import Router, Scope
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered
from rdfspider.ways import Way

# Seeds that are added to the frontier in one step.
_SEED_BATCH = 2_000
# Refused URLs that are reviewed in one step, which takes some milliseconds.
_REVIEW_BATCH = 500
# The frontier's keys for the seeds that it contains, and for the rules of the last review of refusals.
_SEEDS_MARK, _RULES_MARK = "seeds-mark", "rules-mark"


class LiveChanges:
    """Applies changes to a frontier."""

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
        """`turn` is held during commits; `read_seeds` returns the crawl's seeds, and runs in a thread; `on_end` is called when
        the work is done for now or has failed."""
        self._frontier = frontier
        self._scope = scope
        self._router = router
        self._turn = turn
        self._read_seeds = read_seeds
        self._should_stop = should_stop
        self._on_end = on_end
        self._has_new_seeds = False
        self._is_behind = False
        """Whether there are changes that have not been applied yet."""
        self._work: asyncio.Task[None] | None = None

    @property
    def are_done(self) -> bool:
        """Whether all changes have been applied."""
        return not self._is_behind and self._work is not None and self._work.done()

    def note(self) -> None:
        """Note that filters or the scope have changed: refused URLs are reviewed beside the crawl."""
        self._is_behind = True
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._catch_up())
            self._work.add_done_callback(self._on_end)

    def note_seeds(self) -> None:
        """Note that there are new seeds."""
        self._has_new_seeds = True
        self.note()

    async def finish(self) -> None:
        """Wait until all changes are applied or the shard stops."""
        if self._work is not None:
            await self._work

    async def _catch_up(self) -> None:
        """Apply changes until there are no new ones."""
        while self._is_behind and not self._should_stop():
            self._is_behind = False
            if self._has_new_seeds:
                self._has_new_seeds = False
                await self.add_seeds(await asyncio.to_thread(self._read_seeds))
            await self.review_refusals()

    async def add_seeds(self, seeds: Sequence[str]) -> None:
        """Schedule the new seeds that this shard owns; the list only grows at its end."""
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
        """Reschedule the seeds that failed without a response."""
        while not self._should_stop() and self._frontier.restarts.retry_seeds(_SEED_BATCH):
            async with self._turn:
                self._frontier.commit()
            await asyncio.sleep(0)

    async def review_refusals(self) -> None:
        """Schedule refused URLs that the rules now allow; does nothing if no rule has changed since the last review."""
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
        """Count the seeds at the start of the list that were added before; 0 if the list does not begin with those."""
        stored = self._frontier.meta.get(_SEEDS_MARK) or b""
        count = stored.partition(b" ")[0]
        if not count.isdigit() or int(count) > len(seeds):
            return 0
        return int(count) if stored == _mark_seeds(seeds[: int(count)]) else 0


def _mark_seeds(seeds: Sequence[str]) -> bytes:
    """Return a mark that identifies a list of seeds: its length and a hash."""
    return f"{len(seeds)} {xxh3_64_hexdigest(chr(10).join(seeds).encode())}".encode()
