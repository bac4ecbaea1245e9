"""Sitemaps and their contents: the origin of a page enters, its sitemaps leave; a sitemap enters, its URLs leave.

A sitemap may list URLs of its own registrable domain, and of a domain whose robots.txt or sitemap names it or redirects to it.
Sitemap indexes are followed two levels deep, and the number of files per domain is limited.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rdfspider.domains import Domains
from rdfspider.records import Capture, Discovered, Lease, Link
from rdfspider.urls import MAX_HOST_CHARS, host_of, resolve_links
from rdfspider.ways import Way

_LISTED = frozenset({"listed", "sitemap", "item"})
DEFAULT_PATH = "/sitemap.xml"
"""The path of the sitemap if robots.txt names none."""
MAX_NAMED = 100
"""Sitemaps that are followed per robots.txt."""
MAX_NESTING = 2
"""Levels of sitemap indexes."""
MAX_FILES = 500
"""Sitemaps per registrable domain, as far as a shard remembers them: with 50,000 pages each, more than any crawl fetches."""

# How many origins and sitemaps are remembered; the frontier knows the rest.
_MAX_ORIGINS = 100_000
_MAX_REMEMBERED = 200_000
# A page modified this recently comes one step earlier.
_FRESH_S = 7 * 86_400.0


def is_list(links: Iterable[Link]) -> bool:
    """Whether the links come from a sitemap, or a feed that serves as one."""
    return any(link.relation in _LISTED for link in links)


class Sitemaps:
    """Finds the sitemaps of origins, and follows them."""

    def __init__(self, domains: Domains, list_named: Callable[[Lease], Sequence[str]], *, keeps_dates: bool) -> None:
        """`list_named` returns the sitemaps in the robots.txt of a page's origin, as written; dates matter only for revisits."""
        self._domains = domains
        self._list_named = list_named
        self._keeps_dates = keeps_dates
        self._origins: set[str] = set()
        self._files: dict[str, set[int]] = {}
        """Hashes of sitemaps listed in other sitemaps, by domain."""
        self._remembered = 0

    def find_of_origin(self, lease: Lease) -> list[Discovered]:
        """Return the sitemaps of a page's origin, if this is its first page."""
        origin = lease.url[: lease.url.find("/", 8)]
        if origin in self._origins:
            return []
        if len(self._origins) >= _MAX_ORIGINS:
            self._origins.clear()
        self._origins.add(origin)
        named = self._list_named(lease)[:MAX_NAMED]
        if not named:
            return [Discovered(origin + DEFAULT_PATH, 0, Way.SITEMAP, lease.url_id)]
        own = self._domain_of(origin + "/")
        targets = resolve_links(origin + "/", named).values()
        return [
            # A sitemap on another domain may list URLs of the domain that names it, so the chain keeps the robots.txt.
            Discovered(
                url, 0, Way.SITEMAP, lease.url_id, () if self._domain_of(url) == own else (origin + "/robots.txt",)
            )
            for url in dict.fromkeys(targets)
            if url and len(host_of(url)) <= MAX_HOST_CHARS
        ]

    def follow(self, lease: Lease, capture: Capture, links: Iterable[Link]) -> Iterator[Discovered]:
        """Return the URLs in a sitemap that it may list."""
        # A domain that redirects to a sitemap or names it allows it to list URLs of that domain.
        listable = {self._domain_of(url) for url in (lease.url, *lease.chain)}
        # A sitemap that was found as a page adds to the depth of its pages, so that a web of lists ends.
        is_page = lease.found_as != Way.SITEMAP
        level, depth = (1, lease.depth + 1) if is_page else (lease.depth + 1, 1)
        fresh_from = capture.started - _FRESH_S
        allowed: dict[str, bool] = {}
        for link in links:
            url = link.target
            authority = url.split("/", 3)[2]
            if authority not in allowed:
                allowed[authority] = self._domain_of(url) in listable
            if not allowed[authority]:
                is_file = link.relation == "sitemap" and level <= MAX_NESTING and len(listable) == 1
                is_file = is_file and len(host_of(url)) <= MAX_HOST_CHARS
                # A sitemap may be on another domain; the chain keeps the one that lists it. It counts for both domains, so that
                # no list leads to an endless number of hosts.
                if is_file and self._may_have(url, lease.url) and self._may_have(url, url):
                    yield Discovered(url, level, Way.SITEMAP, lease.url_id, (*lease.chain, lease.url))
                continue
            if link.relation != "sitemap":
                # A future date is ignored: such a page would be fetched again on every visit of the sitemap.
                modified = link.modified if self._keeps_dates and link.modified <= capture.started else 0.0
                rank = max(link.rank - (link.modified > fresh_from), -1)
                yield Discovered(url, depth, Way.LISTED, lease.url_id, rank=rank, modified=modified)
            elif level <= MAX_NESTING and self._may_have(url, url):
                yield Discovered(url, level, Way.SITEMAP, lease.url_id, lease.chain)

    def _may_have(self, url: str, owner: str) -> bool:
        """Whether the domain of `owner` may have this sitemap in addition to its others."""
        domain = self._domain_of(owner)
        files = self._files.get(domain)
        if files is None:
            files = self._files[domain] = set()
        mark = hash(url)
        if mark in files:
            return True
        if len(files) >= MAX_FILES:
            return False
        files.add(mark)
        self._remembered += 1
        while self._remembered > _MAX_REMEMBERED:
            self._remembered -= len(self._files.pop(next(iter(self._files))))
        return True

    def _domain_of(self, url: str) -> str:
        return self._domains.domain(host_of(url))
