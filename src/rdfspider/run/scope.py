"""Which links of a page are followed, and which shard they belong to.

Links enter as they were extracted; what leaves is grouped by the shard that owns it. The scope is that of the seeds, and grows
with what seeds redirect to. A link is judged by the shard that found it; its owner takes it as it comes, for it may not have
heard yet of what widened the scope.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from rdfspider.config import CrawlConfig
from rdfspider.domains import Domains
from rdfspider.records import Discovered, Extraction, Lease
from rdfspider.urls import MAX_URL_CHARS, host_of

# Where the path of a URL begins at the latest. No name is longer than 253 characters; what is remembered of each that was met
# would take much memory otherwise.
_MAX_AUTHORITY_END = 300


class Scope:
    """The part of the web that a crawl is about."""

    def __init__(self, config: CrawlConfig, domains: Domains) -> None:
        self._config = config
        self._domains = domains
        self._places: set[str] = set()
        """Hosts, domains or prefixes, by what the scope is."""
        # One by one: put together, they would share the names and numbers of their groups.
        self._include = tuple(map(re.compile, config.include))
        self._exclude = tuple(map(re.compile, config.exclude))

    def extend(self, url: str) -> bool:
        """Take the place of a seed, or of what it redirects to, into the scope; False where it was there."""
        if self._config.scope == "any":
            return False
        place = self._place_of(url)
        if place in self._places:
            return False
        self._places.add(place)
        return True

    def admits(self, url: str) -> bool:
        """Whether a link is followed."""
        return (
            len(url) <= MAX_URL_CHARS
            and url.find("/", len("https://")) <= _MAX_AUTHORITY_END
            and self._is_inside(url)
            and (not self._include or any(pattern.search(url) for pattern in self._include))
            and not any(pattern.search(url) for pattern in self._exclude)
        )

    def _is_inside(self, url: str) -> bool:
        match self._config.scope:
            case "any":
                return True
            case "host":
                return host_of(url) in self._places
            case "domain":
                return self._domains.domain(host_of(url)) in self._places
            case _:
                # Prefixes end in a slash, so only the URL's own folders can be one.
                path = url.partition("?")[0]
                end = path.rfind("/")
                while end > len("https://"):
                    if path[: end + 1] in self._places:
                        return True
                    end = path.rfind("/", 0, end)
                return False

    def _place_of(self, url: str) -> str:
        match self._config.scope:
            case "host":
                return host_of(url)
            case "domain":
                return self._domains.domain(host_of(url))
            case _:
                return url.partition("?")[0].rpartition("/")[0] + "/"


class Routed(NamedTuple):
    """What is to be followed from one page: for this shard, and for others."""

    own: list[Discovered]
    others: dict[int, list[Discovered]]


class Router:
    """Sorts what was found by the shard that owns it."""

    def __init__(self, scope: Scope, domains: Domains, shard: int, max_depth: int) -> None:
        self._scope = scope
        self._domains = domains
        self._shard = shard
        self._max_depth = max_depth

    def route(self, found: Iterable[Discovered]) -> Routed:
        """By owner; a seed's redirect goes to its owner whatever the scope, which grows by it."""
        own: list[Discovered] = []
        others: dict[int, list[Discovered]] = defaultdict(list)
        for link in found:
            if link.found_as == "seed" or self._scope.admits(link.url):
                owner = self._domains.shard(host_of(link.url))
                (own if owner == self._shard else others[owner]).append(link)
        return Routed(own, others)

    def find_links(self, lease: Lease, extraction: Extraction) -> list[Discovered]:
        """What a page leads to, each once; nothing where the page asks that, or where it is deep enough."""
        depth = lease.depth + 1
        if extraction.robots.nofollow or (self._max_depth and depth > self._max_depth):
            return []
        targets = dict.fromkeys(link.target for link in extraction.links if not link.nofollow)
        return [Discovered(target, depth, "link", lease.url_id) for target in targets]


def follow_redirect(lease: Lease, target: str | None) -> list[Discovered]:
    """The target of a redirect, with the chain that led to it; a seed's is a seed."""
    if target is None or target == lease.url:
        return []
    found_as = "seed" if lease.found_as == "seed" else "redirect"
    return [Discovered(target, lease.depth, found_as, lease.url_id, (*lease.chain, lease.url))]
