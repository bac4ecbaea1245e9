"""Which shard owns what was found: links enter, those that are followed leave, grouped by their owners."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from rdfspider.discover.scope import Scope
from rdfspider.discover.ways import WAYS
from rdfspider.domains import Domains
from rdfspider.records import Discovered
from rdfspider.urls import host_of

# Ways of discovery that the scope does not bind, as they lead elsewhere by their nature; `--exclude` holds for them, too.
_UNSCOPED = frozenset(name for name, way in WAYS.items() if not way.is_scoped)
# What is taken without a question here: a seed, or its redirect, as the scope grows by it; and a context, which is judged when
# its turn comes, so that pages that wait for it are told.
_UNASKED = frozenset({"seed", "context"})
# How long the links of one page may take: a page of 10,000 needs a tenth of it, unless it was made to be slow.
_MAX_PAGE_S = 1.0


class Routed(NamedTuple):
    """What is to be followed from one page: for this shard, and for others."""

    own: list[Discovered]
    others: dict[int, list[Discovered]]


class Router:
    """Sorts what was found by the shard that owns it."""

    def __init__(self, scope: Scope, domains: Domains, shard: int, turned_away: Counter[str]) -> None:
        """`turned_away` counts links that are not followed, by the rule."""
        self._scope = scope
        self._domains = domains
        self._shard = shard
        self._turned_away = turned_away

    def find_refusal(self, found_as: str, url: str) -> str:
        """Why a URL that was found in some way is not to be fetched; empty where it is."""
        if found_as == "seed":
            return ""
        return self._scope.filters.find_exclusion(url) if found_as in _UNSCOPED else self._scope.find_refusal(url)

    def route(self, found: Iterable[Discovered]) -> Routed:
        """By owner; what is out of scope is left out."""
        own: list[Discovered] = []
        others: dict[int, list[Discovered]] = defaultdict(list)
        find_refusal, turned_away = self._scope.find_refusal, self._turned_away
        started_s, deadline = time.thread_time(), time.monotonic() + _MAX_PAGE_S
        for link in found:
            if link.found_as in _UNASKED:
                refusal = ""
            elif time.monotonic() > deadline and time.thread_time() - started_s > _MAX_PAGE_S:
                refusal = "too slow to judge"
            elif link.found_as in _UNSCOPED:
                refusal = self.find_refusal(link.found_as, link.url)
            else:
                refusal = find_refusal(link.url)
            if refusal:
                # What is in brackets differs from URL to URL.
                turned_away[refusal if refusal[-1] != ")" else refusal.partition(" (")[0]] += 1
            else:
                owner = self._domains.shard(host_of(link.url))
                (own if owner == self._shard else others[owner]).append(link)
        return Routed(own, others)
