"""Routes discovered URLs to the shards that own them: links enter, those in scope leave, grouped by owner."""

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from rdfspider.discover.scope import Scope
from rdfspider.domains import Domains
from rdfspider.records import Discovered
from rdfspider.urls import host_of
from rdfspider.ways import REQUESTED_WAYS, UNSCOPED_WAYS, Way

# Only `--exclude` applies to unscoped ways. Requested ones are accepted here: a seed or its redirect, since it extends the scope,
# and a context, which is judged before it is fetched, so that the pages that wait for it learn the result.
_JUDGED_APART = UNSCOPED_WAYS | REQUESTED_WAYS
# The time limit for the links of one page: 10,000 links need a tenth of it, unless the page was crafted to be slow. The clock is
# read once per batch of links.
_MAX_PAGE_S = 1.0
_LINKS_TIMED = 50


class Routed(NamedTuple):
    """The URLs to follow from one page: for this shard, and for others by shard."""

    own: list[Discovered]
    others: dict[int, list[Discovered]]


class Router:
    """Sorts discovered URLs by owning shard."""

    def __init__(self, scope: Scope, domains: Domains, shard: int, turned_away: Counter[str]) -> None:
        """`turned_away` counts links that are not followed, by rule."""
        self._scope = scope
        self._domains = domains
        self._shard = shard
        self._turned_away = turned_away

    def find_refusal(self, found_as: str, url: str) -> str:
        """Explain why a URL found in this way is not fetched; empty if it is."""
        if found_as == Way.SEED:
            return ""
        return self._scope.filters.find_exclusion(url) if found_as in UNSCOPED_WAYS else self._scope.find_refusal(url)

    def route(self, found: Sequence[Discovered]) -> Routed:
        """Group URLs by owner, without those out of scope."""
        routed = Routed([], defaultdict(list))
        started_s = time.thread_time()
        for start in range(0, len(found), _LINKS_TIMED):
            some = found[start : start + _LINKS_TIMED]
            is_late = start > 0 and time.thread_time() - started_s > _MAX_PAGE_S
            self._sort(some, self._judge_late(some) if is_late else self._judge(some), routed)
        return routed

    def _judge(self, found: Sequence[Discovered]) -> list[str]:
        """Explain for each URL why it is not followed; empty if it is."""
        # Nearly all are scoped links, and pages have hundreds: these are judged without Python code per link.
        if _JUDGED_APART.isdisjoint([link.found_as for link in found]):
            return list(map(self._scope.find_refusal, [link.url for link in found]))
        return ["" if link.found_as in REQUESTED_WAYS else self.find_refusal(link.found_as, link.url) for link in found]

    def _judge_late(self, found: Sequence[Discovered]) -> list[str]:
        return ["" if link.found_as in REQUESTED_WAYS else "too slow to judge" for link in found]

    def _sort(self, found: Sequence[Discovered], refusals: Sequence[str], routed: Routed) -> None:
        find_shard = self._domains.shard
        for link in [link for link, refusal in zip(found, refusals, strict=True) if not refusal]:
            owner = find_shard(host_of(link.url))
            (routed.own if owner == self._shard else routed.others[owner]).append(link)
        for refusal, count in Counter(refusals).items():
            if refusal:
                # The part in parentheses differs by URL.
                self._turned_away[refusal if refusal[-1] != ")" else refusal.partition(" (")[0]] += count
