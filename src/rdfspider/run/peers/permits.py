"""Permits to commit pages, where a crawl has a limit of them: those of a shard, and those that the coordinator gave out.

The limit is exact because each shard has a ceiling of its own that its committed pages cannot pass, and the ceilings together
are never above the limit. A shard that dies keeps its ceiling until its next life says how many pages it has committed.
"""

from collections.abc import Callable

# A shard that asks for more than its neighbours need would only have to return it.
_ASK_AT_ONCE = 64


class PermitPool:
    """A shard's permits: free ones, and those reserved for pages under way. Without a limit there is always one."""

    def __init__(self, is_limited: bool, ask: Callable[[int], None], give: Callable[[int], None]) -> None:
        self._is_limited = is_limited
        self._ask = ask
        self._give = give
        self._free = 0
        self._reserved = 0
        self._has_asked = False

    @property
    def reserved(self) -> int:
        """Permits of pages that are under way or not committed yet."""
        return self._reserved

    def has_one(self) -> bool:
        """Whether a page may be fetched now; if not, permits are asked for, and the shard is woken when some come."""
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
        """What was to be a page is none."""
        self._reserved -= 1
        if self._is_limited:
            self._free += 1

    def spend(self, pages: int) -> None:
        """So many pages are committed."""
        self._reserved -= pages

    def receive(self, count: int) -> None:
        """The coordinator gave permits."""
        self._has_asked = False
        self._free += count

    def return_free(self) -> None:
        """Give the coordinator what nothing is under way for."""
        free, self._free = self._free, 0
        if free:
            self._give(free)


class PermitBook:
    """The coordinator's side: the ceilings of all shards. Shards that asked in vain are served when permits come back."""

    def __init__(self, limit: int, shards: int) -> None:
        self._limit = limit
        self._shards = shards
        self._ceilings: dict[int, int] = {}
        self._wanting: dict[int, int] = {}

    @property
    def rest(self) -> int:
        """What can still be given out: nothing before every shard has told how many pages it has."""
        if len(self._ceilings) < self._shards:
            return 0
        return self._limit - sum(self._ceilings.values())

    def arrive(self, shard: int, pages: int) -> None:
        """A shard starts with so many committed pages; permits of its earlier life are no more."""
        self._ceilings[shard] = pages
        self._wanting.pop(shard, None)

    def want(self, shard: int, count: int) -> None:
        """A shard asks for permits."""
        self._wanting[shard] = count

    def take_back(self, shard: int, count: int) -> None:
        """A shard returns permits."""
        self._ceilings[shard] -= count

    def give_out(self) -> dict[int, int]:
        """Permits for those who wait, by shard: chunks that shrink to one, so that all shards work until the end."""
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
        """The shards that asked in vain; the others should return what they do not use."""
        return frozenset(self._wanting)
