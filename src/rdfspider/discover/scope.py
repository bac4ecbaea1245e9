"""The scope of a crawl: a URL enters; a readable reason why it is not followed, or nothing, leaves. The links of a page enter;
those in scope leave, grouped by the shards that own them.

The seeds define the scope, and their redirect targets extend it. The shard that finds a link judges it, and its owner judges it
again before fetching, since filters may have changed. An owner that does not yet know about an extension of the scope refuses the
link, and judges it again when it does.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
from xxhash import xxh3_64_digest

from rdfspider.config import CrawlConfig
from rdfspider.discover.filters import Filters
from rdfspider.discover.trap_rules import MAX_CHARS, find_trap
from rdfspider.domains import Domains
from rdfspider.records import Discovered
from rdfspider.urls import MAX_URL_CHARS, host_of
from rdfspider.ways import REQUESTED_WAYS, UNSCOPED_WAYS, Way

# The latest position where the path of a URL begins. No host name is longer than 253 characters, and longer ones would fill the
# memory of what is remembered per host.
_MAX_AUTHORITY_END = 300
# How many recently judged URLs are cached: most links of a page were also on the page before.
_RECENT_URLS = 16_384
# Additions to the scope per stored value: a million seeds may redirect to nearly as many new areas.
_ADDITIONS_PART = 256
# The key under which the frontier keeps them.
_ADDITIONS_KEY = "scope-additions"
# Only `--exclude` applies to unscoped ways. Requested ones are accepted here: a seed or its redirect, since it extends the scope,
# and a context, which is judged before it is fetched, so that the pages that wait for it learn the result.
_JUDGED_APART = UNSCOPED_WAYS | REQUESTED_WAYS
# The time limit for the links of one page: 10,000 links need a tenth of it, unless the page was crafted to be slow. The clock is
# read once per batch of links.
_MAX_PAGE_S = 1.0
_LINKS_TIMED = 50


class Scope:
    """The part of the web that a crawl covers."""

    def __init__(self, config: CrawlConfig, domains: Domains) -> None:
        self._scope = config.scope
        self._domains = domains
        self._areas: set[str] = set()
        """Hosts, domains or prefixes, depending on `crawl.scope`."""
        self.filters = Filters(config.include, config.exclude)
        self.find_refusal = lru_cache(maxsize=_RECENT_URLS)(self._find_refusal)
        """Explains why a link is not followed; empty if it is."""

    def extend(self, url: str) -> bool:
        """Add the host, domain or prefix of a seed or its redirect target to the scope; return False if it was there."""
        if self._scope == "any":
            return False
        area = self._area_of(url)
        if area in self._areas:
            return False
        self._areas.add(area)
        self.find_refusal.cache_clear()
        return True

    def change_filters(self, filters: Filters) -> None:
        """Replace the filters."""
        self.filters = filters
        self.find_refusal.cache_clear()

    def digest(self) -> bytes:
        """Return a digest of what refusals depend on: it changes when a refused URL may have become allowed."""
        facts = (self._scope, len(self._areas), self.filters.include, self.filters.exclude)
        return xxh3_64_digest(repr(facts).encode())

    def _find_refusal(self, url: str) -> str:
        # This runs for every link of every page, and nearly all are short.
        length = len(url)
        if length > _MAX_AUTHORITY_END and (
            length > MAX_URL_CHARS or url.find("/", len("https://")) > _MAX_AUTHORITY_END
        ):
            return "too long"
        if self._scope != "any" and not self._is_inside(url):
            return f"outside the scope ({self._scope})"
        # The time of the filters grows with the length.
        return (length <= MAX_CHARS and self.filters.find_refusal(url)) or find_trap(url)

    def _is_inside(self, url: str) -> bool:
        if self._scope != "prefix":
            return self._area_of(url) in self._areas
        # Prefixes end in a slash, so only the URL's own folders can match.
        path = url.partition("?")[0]
        end = path.rfind("/")
        while end > len("https://"):
            if path[: end + 1] in self._areas:
                return True
            end = path.rfind("/", 0, end)
        return False

    def _area_of(self, url: str) -> str:
        if self._scope == "prefix":
            return url.partition("?")[0].rpartition("/")[0] + "/"
        host = host_of(url)
        return host if self._scope == "host" else self._domains.domain(host)


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


def load_scope_additions(get_meta: Callable[[str], bytes | None]) -> list[str]:
    """Load from the frontier the URLs that seeds redirected to."""
    found: list[str] = []
    while stored := get_meta(f"{_ADDITIONS_KEY}-{len(found) // _ADDITIONS_PART}"):
        found += msgspec.msgpack.decode(stored, type=list[str])
        if len(found) % _ADDITIONS_PART:
            break
    return found


def stage_scope_addition(put_meta: Callable[[str, bytes], None], additions: Sequence[str]) -> None:
    """Store the last addition in the frontier, together with the others of its part."""
    number = (len(additions) - 1) // _ADDITIONS_PART
    put_meta(f"{_ADDITIONS_KEY}-{number}", msgspec.msgpack.encode(additions[number * _ADDITIONS_PART :]))
