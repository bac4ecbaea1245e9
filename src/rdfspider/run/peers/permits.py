"""Permits to commit pages, for crawls with a limit of pages: a shard's pool, and the coordinator's book.

The limit is exact because each shard has a ceiling that its committed pages cannot pass, and the sum of the ceilings never
exceeds the limit. A shard that dies keeps its ceiling until it is restarted and reports how many pages it has committed.
"""

from collections.abc import Callable

# A shard that asks for more would often have to return permits that other shards need.
_ASK_AT_ONCE = 64


class PermitPool:
    """A shard's permits: free ones, and those reserved for pages under way. Without a limit, one is always free."""

    def __init__(self, is_limited: bool, ask: Callable[[int], None], give: Callable[[int], None]) -> None:
        self._is_limited = is_limited
        self._ask = ask
        self._give = give
        self._free = 0
        self._reserved = 0
        self._has_asked = False

    @property
    def reserved(self) -> int:
        """Permits of pages under way or not yet committed."""
        return self._reserved

    def has_one(self) -> bool:
        """Whether a page may be fetched now; if not, ask for permits. The shard is woken when some come."""
        if not self._is_limited:
            return True
        if not self._free and not self._has_asked:
            self._has_asked = True
            self._ask(_ASK_AT_ONCE)
        return self._free > 0

    def reserve(self) -> None:
        """Take a permit for a page that is about to be fetched."""
        self._reserved += 1
        if self._is_limited:
            self._free -= 1

    def give_back(self) -> None:
        """Return a permit that was not used for a page."""
        self._reserved -= 1
        if self._is_limited:
            self._free += 1

    def spend(self, pages: int) -> None:
        """Use up the permits of committed pages."""
        self._reserved -= pages

    def receive(self, count: int) -> None:
        """Take permits from the coordinator."""
        self._has_asked = False
        self._free += count

    def begin_again(self) -> None:
        """Forget the free permits, and what was asked for: another coordinator knows nothing of them."""
        self._free, self._has_asked = 0, False

    def return_free(self) -> None:
        """Return the free permits to the coordinator."""
        free, self._free = self._free, 0
        if free:
            self._give(free)


class PermitBook:
    """The coordinator's side: the ceilings of all shards. Shards that got no permits are served when others return some."""

    def __init__(self, limit: int, shards: int) -> None:
        self._limit = limit
        self._shards = shards
        self._ceilings: dict[int, int] = {}
        self._wanting: dict[int, int] = {}

    @property
    def rest(self) -> int:
        """The permits that can still be given out; none before every shard has reported how many pages it has."""
        if len(self._ceilings) < self._shards:
            return 0
        return self._limit - sum(self._ceilings.values())

    def arrive(self, shard: int, pages: int) -> None:
        """Register a shard with the pages that it has committed or under way; other permits of its earlier epoch are void."""
        self._ceilings[shard] = pages
        self._wanting.pop(shard, None)

    def want(self, shard: int, count: int) -> None:
        """Note that a shard asks for permits."""
        self._wanting[shard] = count

    def take_back(self, shard: int, count: int) -> None:
        """Take back permits from a shard."""
        self._ceilings[shard] -= count

    def give_out(self) -> dict[int, int]:
        """Give permits to waiting shards, in chunks that shrink to one, so that all shards work until the end."""
        given: dict[int, int] = {}
        for shard, count in list(self._wanting.items()):
            rest = self.rest
            if rest <= 0:
                break
            given[shard] = max(1, min(count, rest // (2 * self._shards)))
            self._ceilings[shard] += given[shard]
            del self._wanting[shard]
        return given

    @property
    def waiting(self) -> frozenset[int]:
        """The shards that wait for permits; others should return unused ones."""
        return frozenset(self._wanting)
