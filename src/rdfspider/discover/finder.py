"""Which URLs an exchange leads to: a lease and its results enter, Discovered URLs leave, each once.

The links of a page come first, then those in its headers, its data and the sitemaps of its site, as far as `crawl.ways` enables
them. If a URL is found in several ways, the first that says more than a plain link counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from rdfspider.config import CrawlConfig
from rdfspider.discover.data_links import DataLinks, Ontologies, find_query
from rdfspider.discover.link_headers import read_link_headers
from rdfspider.discover.parameters import ParameterDropper
from rdfspider.discover.sitemaps import Sitemaps, is_list
from rdfspider.domains import Domains
from rdfspider.records import Capture, Discovered, Extraction, Judgement, Lease, Link
from rdfspider.urls import host_of, resolve_links
from rdfspider.ways import WAYS, Way, name_way

# Steps of priority that put links after all others.
LAST = 8
# Pages have hundreds of links, and looking up a member of an enumeration takes longer.
_LINK, _CANONICAL = Way.LINK, Way.CANONICAL


class Finder:
    """Finds the URLs that pages lead to, by all enabled ways."""

    def __init__(
        self,
        config: CrawlConfig,
        domains: Domains,
        *,
        is_inside: Callable[[str], bool] = lambda url: True,
        list_sitemaps: Callable[[Lease], Sequence[str]] = lambda lease: (),
        dropper: ParameterDropper | None = None,
        turned_away: Counter[str] | None = None,
    ) -> None:
        """`is_inside` tells whether a URL is in the crawl's scope, `list_sitemaps` returns the sitemaps in a page's robots.txt;
        `turned_away` counts links that are not followed, by reason."""
        self._max_depth = config.depth
        self._domains = domains
        self._is_inside = is_inside
        self._turned_away = turned_away if turned_away is not None else Counter()
        self._dropper = dropper or ParameterDropper(config.drop_parameters)
        self._drop = self._dropper.drop
        self._reads_sitemaps = "sitemaps" in config.ways
        self._sitemaps = Sitemaps(domains, list_sitemaps, keeps_dates=bool(config.revisit_s))
        self._reads_headers = "headers" in config.ways
        self.query = find_query(config.data_links) if "data" in config.ways else ""
        """The query over a page's data whose results are links; empty if there is none. The caller of `find` runs it."""
        has_list = "data" in config.ways and config.data_links and not self.query
        self._data = DataLinks(config.data_links) if has_list else None
        self._ontologies = Ontologies() if "ontologies" in config.ways else None

    def find(
        self,
        lease: Lease,
        capture: Capture,
        extraction: Extraction,
        judgement: Judgement,
        queried: Iterable[str] = (),
    ) -> list[Discovered]:
        """Return what a page leads to; no links if it has `nofollow` or the maximum depth. `queried` has the query's results."""
        if not self._is_followed(lease):
            return []
        links = extraction.links
        if extraction.is_sitemap or (lease.found_as == Way.SITEMAP and is_list(links)):
            if judgement.robots.nofollow:
                self._turn_away("nofollow", links)
                return []
            return self._find_listed(lease, capture, links)
        found = self.find_sitemaps(lease)
        if self._ontologies is not None:
            namespaces = self._ontologies.find(self._domain_of(lease.url), extraction.statements.values())
            found += [Discovered(url, lease.depth, Way.ONTOLOGY, lease.url_id) for url in namespaces]
        depth = lease.depth + 1
        if judgement.robots.nofollow:
            self._turn_away("nofollow", links)
        elif self._max_depth and depth > self._max_depth:
            self._turn_away("depth", links)
        else:
            ways = self._find_links(lease, capture, extraction, queried)
            rank = LAST if judgement.duplicate else 0
            found += [
                # A duplicate's links come last, except its canonical URL.
                Discovered(url, depth, name, lease.url_id, (), rank if name != _CANONICAL else 0)
                for url, name in ways.items()
            ]
        return found

    def find_sitemaps(self, lease: Lease) -> list[Discovered]:
        """Return the sitemaps of the page's origin, if this is its first page, whatever its content."""
        # A sitemap gives no depth, so it is useless if depth is limited.
        is_wanted = self._reads_sitemaps and not self._max_depth and self._is_followed(lease)
        return self._sitemaps.find_of_origin(lease) if is_wanted else []

    def _is_followed(self, lease: Lease) -> bool:
        way = WAYS[lease.found_as]
        return way.is_followed or self._is_inside(lease.url)

    def _find_links(
        self, lease: Lease, capture: Capture, extraction: Extraction, queried: Iterable[str]
    ) -> dict[str, Way]:
        """Return the URLs that a page leads to, each with its way."""
        links = [link for link in extraction.links if not link.nofollow]
        if len(links) < len(extraction.links):
            self._turn_away("nofollow", [link for link in extraction.links if link.nofollow])
        ways = {link.target: _LINK for link in links}
        # Nearly all links have no relation, so a second pass over those that have one is faster.
        for link in links:
            if link.relation:
                self._note(ways, lease, link.target, name_way(link.relation, link.media_type))
        if self._reads_headers:
            for link in read_link_headers(capture.headers, capture.page.url):
                name = name_way(link.relation, link.media_type)
                self._note(ways, lease, link.target, name if name != _LINK else Way.HEADER)
        written = self._data.find(extraction.statements.values()) if self._data is not None else queried
        if written:
            for url in resolve_links("", written).values():
                if url:
                    self._note(ways, lease, url, Way.DATA)
        ways.pop(lease.url, None)
        return self._drop_parameters(ways)

    def _note(self, ways: dict[str, Way], lease: Lease, url: str, name: Way) -> None:
        """Note how a URL was found; the first way that says more than a plain link stays."""
        if name == _CANONICAL and self._domain_of(url) != self._domain_of(lease.url):
            name = _LINK
        if ways.get(url, _LINK) == _LINK:
            ways[url] = name

    def _drop_parameters(self, ways: dict[str, Way]) -> dict[str, Way]:
        """Remove tracking and session parameters from the URLs."""
        # One search over all URLs with parameters shows for most pages that there is nothing to drop.
        if not self._dropper.is_needed("\n".join([url for url in ways if "?" in url or ";" in url])):
            return ways
        found: dict[str, Way] = {}
        for url, name in ways.items():
            url = self._drop(url)
            if found.get(url, _LINK) == _LINK:
                found[url] = name
        return found

    def _find_listed(self, lease: Lease, capture: Capture, links: Sequence[Link]) -> list[Discovered]:
        """Return what a sitemap lists, or a feed that serves as one; with a depth limit it counts as a page with links."""
        if not self._reads_sitemaps:
            return []
        if not self._max_depth:
            found: dict[str, Discovered] = {}
            for link in self._sitemaps.follow(lease, capture, links):
                url = self._drop(link.url)
                found[url] = link if url == link.url else replace(link, url=url)
            return list(found.values())
        depth = lease.depth + 1
        if depth > self._max_depth:
            self._turn_away("depth", links)
            return []
        urls = dict.fromkeys(self._drop(link.target) for link in links)
        return [Discovered(url, depth, Way.LISTED, lease.url_id) for url in urls]

    def _turn_away(self, reason: str, links: Sequence[Link]) -> None:
        """Count the distinct targets of links that are not followed."""
        if links:
            self._turned_away[reason] += len({link.target for link in links})

    def _domain_of(self, url: str) -> str:
        return self._domains.domain(host_of(url))


def follow_redirect(lease: Lease, target: str | None) -> list[Discovered]:
    """Return the target of a redirect with its chain; a seed's target is a seed, an unscoped URL's target keeps its way."""
    if target is None or target == lease.url:
        return []
    is_kept = lease.found_as == Way.SEED or not WAYS[lease.found_as].is_scoped
    found_as = lease.found_as if is_kept else Way.REDIRECT
    return [Discovered(target, lease.depth, found_as, lease.url_id, (*lease.chain, lease.url))]
