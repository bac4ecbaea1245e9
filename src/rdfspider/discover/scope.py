"""Which URLs a crawl is about: a URL enters; why it is not followed, in words for people, leaves.

The scope is that of the seeds, and grows with what seeds redirect to. A link is judged by the shard that found it, and once more
by its owner before it is fetched, for filters may have changed meanwhile. An owner that does not know yet what widened the scope
refuses it, and judges it again when it does.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec
from xxhash import xxh3_64_digest

from rdfspider.config import CrawlConfig
from rdfspider.discover.filters import Filters
from rdfspider.discover.trap_rules import MAX_CHARS, find_trap
from rdfspider.domains import Domains
from rdfspider.urls import MAX_URL_CHARS, host_of

# Where the path of a URL begins at the latest. No name is longer than 253 characters; what is remembered of each that was met
# would take much memory otherwise.
_MAX_AUTHORITY_END = 300
# URLs that were judged last: most links of a page were on the page before.
_RECENT_URLS = 16_384
# Additions to the scope that are stored together: a list of a million seeds may have nearly as many.
_ADDITIONS_PART = 256
# The key under which the frontier keeps them.
_ADDITIONS_KEY = "scope-additions"


class Scope:
    """The part of the web that a crawl is about."""

    def __init__(self, config: CrawlConfig, domains: Domains) -> None:
        self._scope = config.scope
        self._domains = domains
        self._areas: set[str] = set()
        """Hosts, domains or prefixes, whichever `crawl.scope` is."""
        self.filters = Filters(config.include, config.exclude)
        self.find_refusal = lru_cache(maxsize=_RECENT_URLS)(self._find_refusal)
        """Why a link is not followed; empty where it is."""

    def extend(self, url: str) -> bool:
        """Take the host, domain or prefix of a seed, or of what it redirects to, into the scope; False where it was in it."""
        if self._scope == "any":
            return False
        area = self._area_of(url)
        if area in self._areas:
            return False
        self._areas.add(area)
        self.find_refusal.cache_clear()
        return True

    def change_filters(self, filters: Filters) -> None:
        """Judge by other filters from now on."""
        self.filters = filters
        self.find_refusal.cache_clear()

    def digest(self) -> bytes:
        """A digest of what refusals depend on: it changes when a URL that was refused may be allowed now."""
        facts = (self._scope, len(self._areas), self.filters.include, self.filters.exclude)
        return xxh3_64_digest(repr(facts).encode())

    def _find_refusal(self, url: str) -> str:
        # Nearly all are short, and what follows is done for every link of every page.
        length = len(url)
        if length > _MAX_AUTHORITY_END and (
            length > MAX_URL_CHARS or url.find("/", len("https://")) > _MAX_AUTHORITY_END
        ):
            return "too long"
        if self._scope != "any" and not self._is_inside(url):
            return f"outside the scope ({self._scope})"
        # Filters take time by the length.
        return (length <= MAX_CHARS and self.filters.find_refusal(url)) or find_trap(url)

    def _is_inside(self, url: str) -> bool:
        match self._scope:
            case "host":
                return host_of(url) in self._areas
            case "domain":
                return self._domains.domain(host_of(url)) in self._areas
            case _:
                # Prefixes end in a slash, so only the URL's own folders can be one.
                path = url.partition("?")[0]
                end = path.rfind("/")
                while end > len("https://"):
                    if path[: end + 1] in self._areas:
                        return True
                    end = path.rfind("/", 0, end)
                return False

    def _area_of(self, url: str) -> str:
        match self._scope:
            case "host":
                return host_of(url)
            case "domain":
                return self._domains.domain(host_of(url))
            case _:
                return url.partition("?")[0].rpartition("/")[0] + "/"


def load_scope_additions(get_meta: Callable[[str], bytes | None]) -> list[str]:
    """URLs that seeds were found to redirect to, as a frontier has them."""
    found: list[str] = []
    while stored := get_meta(f"{_ADDITIONS_KEY}-{len(found) // _ADDITIONS_PART}"):
        found += msgspec.msgpack.decode(stored, type=list[str])
        if len(found) % _ADDITIONS_PART:
            break
    return found


def stage_scope_addition(put_meta: Callable[[str, bytes], None], additions: Sequence[str]) -> None:
    """Keep the last of the additions in a frontier, with those that are stored together with it."""
    number = (len(additions) - 1) // _ADDITIONS_PART
    put_meta(f"{_ADDITIONS_KEY}-{number}", msgspec.msgpack.encode(additions[number * _ADDITIONS_PART :]))
