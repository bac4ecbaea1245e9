"""The link graph for those who ask: URLs enter, links with their kinds and words leave; and the whole graph for algorithms.

A reader has one committed state at a time. It holds the files of that state open, so the writer never waits for it, and it
never meets half a change; `refresh` takes the newest.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import UnindexedError
from rdfspider.index.graph.csr import Csr, HostGraph, find_hosts, make_host_graph
from rdfspider.index.graph.fame import FameReader, Farm, Ranked
from rdfspider.index.graph.keys import make_key, read_key, read_keys
from rdfspider.index.graph.kinds import KINDS, UNFOLLOWED, LinkKind
from rdfspider.index.graph.manifest import mark_manifest, open_newest
from rdfspider.index.graph.most_linked import MostLinked, list_most_linked
from rdfspider.index.graph.site_links import SiteLinks, count_site_links
from rdfspider.index.graph.state import KeyLink, State
from rdfspider.index.graph.varints import Numbers
from rdfspider.index.layout import IndexPaths, check_index
from rdfspider.results import Rank
from rdfspider.urls import host_of

MAX_ANCHOR_LINKS = 2_000
"""The words for a page are taken from so many of the links to it."""
_MAX_ALIASES = 5
_ALL = 1 << 62


class GraphLink(NamedTuple):
    """A link, from the view of one of its ends."""

    url: str
    """The other end: the target of an out-link, the source of an in-link."""
    kind: LinkKind
    anchor: str
    """The first anchor text; empty if there is none."""
    predicate: str
    """The predicate of a data link, the first if there are several; else empty."""


class Anchors(NamedTuple):
    """The words that pages use for a page, commonest first: each text, and how many sites (registrable domains) chose it."""

    others: list[tuple[str, int]]
    """One vote for each other site: the text that most of its links have."""
    own: list[tuple[str, int]]
    """Those of the page's own site, by links."""


class GraphReader:
    """The newest committed state of a crawl's graph; for any number of threads."""

    def __init__(self, paths: IndexPaths) -> None:
        """Raise UnindexedError if there is none yet, UnreadableError if it is damaged."""
        self._paths = paths
        self._lock = threading.Lock()
        self._domains: Domains | None = None
        self._fame = FameReader(paths.graph)
        check_index(paths)
        self._mark = mark_manifest(paths.graph)
        self._state = self._open()

    def refresh(self) -> bool:
        """Take the newest state; return whether there was a newer one. Ids are those of one state."""
        with self._lock:
            mark = mark_manifest(self._paths.graph)
            if mark == self._mark:
                return False
            self._state, self._mark = self._open(), mark
            return True

    def close(self) -> None:
        """Release the files."""
        self._state = State([])

    def read_cursors(self) -> dict[str, int]:
        """The position in the log up to which everything is here."""
        return dict(self._cursors)

    def count_pages(self) -> int:
        """How many pages there are: those with links, and those to which links lead."""
        return self._state.ids.count

    def count_links(self) -> int:
        """How many links there are."""
        return self._state.links

    def has_page(self, url: str) -> bool:
        """Whether a page is in the graph."""
        return self._state.has_page(make_key(url))

    def find(self, url: str) -> int | None:
        """The id of a page; None if it is not in the graph."""
        return self._state.ids.find(make_key(url))

    def read_url(self, page: int) -> str:
        """The URL of a page by its id."""
        return read_key(self._state.ids.read(page))

    def read_urls(self, pages: Iterable[int]) -> list[str]:
        """The URLs of pages; sorted ids are read fastest."""
        return read_keys(self._state.ids.read_all([int(page) for page in pages]))

    def list_out(self, page: int) -> Numbers:
        """The ids of the pages to which a page links, sorted."""
        return self._state.ids.list_out(page)

    def list_in(self, page: int) -> Numbers:
        """The ids of the pages that link to a page, sorted."""
        return self._state.ids.list_in(page)

    def list_urls(self) -> Iterator[str]:
        """The URLs of all pages, in the order of their ids: hosts are together, and the hosts of a domain."""
        return chain.from_iterable(map(read_keys, self._state.ids.list_keys()))

    def list_targets(self, url: str) -> list[str]:
        """The URLs to which a page links, in the order of their ids: the fastest way to follow links."""
        return read_keys(self._state.list_targets(make_key(url)))

    def read_links(self, url: str, limit: int | None = None, offset: int = 0) -> list[GraphLink]:
        """The links of a page, in the order of their targets' ids."""
        stop = _ALL if limit is None else offset + limit
        return [_make_link(link) for link in self._state.list_out(make_key(url), offset, stop)]

    def read_backlinks(self, url: str, limit: int | None = None, offset: int = 0) -> list[GraphLink]:
        """The links to a page, in the order of their sources' ids."""
        stop = _ALL if limit is None else offset + limit
        return [_make_link(link) for link in self._state.list_in(make_key(url), offset, stop)]

    def count_out(self, url: str) -> int:
        """How many pages a page links to."""
        return self._state.count_out(make_key(url))

    def count_in(self, url: str, exact_up_to: int = _ALL) -> int:
        """How many pages link to a page; of more than so many, those that no longer do may be counted too."""
        return self._state.count_in(make_key(url), exact_up_to)

    def read_anchors(self, url: str) -> Anchors:
        """The words that other pages use for a page, or for one that stands for it, by links for which they vouch."""
        key, site = make_key(url), self._find_site(host_of(url))
        links = self._state.sample_in(key, MAX_ANCHOR_LINKS)
        for alias in list(islice((link.key for link in links if self._stands_for(link, site)), _MAX_ALIASES)):
            links += self._state.sample_in(alias, MAX_ANCHOR_LINKS)
        by_site: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for link in links:
            if link.anchor and not link.kind & UNFOLLOWED:
                by_site[self._find_site(host_of(read_key(link.key)))][link.anchor] += 1
        own = by_site.pop(site, Counter())
        votes = Counter(min(texts, key=lambda text: (-texts[text], text)) for texts in by_site.values())
        return Anchors(_rank(votes), _rank(own))

    def _stands_for(self, link: KeyLink, site: str) -> bool:
        """Whether the source of a link to a page of a site only stands for that page, as with ranks."""
        is_canonical = link.kind & LinkKind.CANONICAL and self._find_site(host_of(read_key(link.key))) == site
        return bool(link.kind & LinkKind.REDIRECT or is_canonical)

    def count_site_links(self, site: str) -> SiteLinks:
        """The hosts around a site, a registrable domain or a host; what is read is bounded."""
        return count_site_links(self._state.parts, site)

    def list_most_linked(self, count: int) -> MostLinked:
        """The most linked pages and hosts. It reads all links."""
        return list_most_linked(self._state, count)

    @property
    def ranks_dated(self) -> float:
        """When the ranks were made, in seconds since 1970; 0 if there are none yet. They may be of an older state than this."""
        return self._fame.dated

    def read_rank(self, url: str) -> Rank | None:
        """The rank of a page; None if there are no ranks, or it was not in the graph when they were made."""
        return self._fame.read_rank(url)

    def read_host_rank(self, host: str) -> Rank | None:
        """The rank of a host by its place among all hosts; None as for pages."""
        return self._fame.read_host_rank(host)

    def list_top_pages(self, limit: int, offset: int = 0) -> list[Ranked]:
        """The pages with the highest ranks, of the first 2,000; without those that are no longer in the graph."""
        found = (each for each in self._fame.list_top_pages() if self.has_page(each.name))
        return list(islice(found, offset, offset + limit))

    def list_top_hosts(self, limit: int, offset: int = 0) -> list[Ranked]:
        """The hosts with the highest ranks, of the first 2,000."""
        return list(islice(self._fame.list_top_hosts(), offset, offset + limit))

    def list_farms(self) -> list[Farm]:
        """Groups of hosts that repeat each other, mirrors and farms, each with its reason, the largest first."""
        return self._fame.list_farms()

    def load_csr(self, wanted: LinkKind | None = None, unwanted: LinkKind | None = None) -> Csr:
        """The graph of pages by id: all links, or only those of any wanted kind and of no unwanted one."""
        return self._state.load_csr(int(wanted or 0), int(unwanted or 0))

    def load_host_graph(self, wanted: LinkKind | None = None, unwanted: LinkKind | None = None) -> HostGraph:
        """The graph of hosts, without the links within a host."""
        return make_host_graph(self.load_csr(wanted, unwanted), find_hosts(self.list_urls()))

    def check(self) -> None:
        """Read all files. Raise UnreadableError if one is damaged."""
        for part in self._state.parts:
            part.generation.file.check()
        self._fame.check()

    def _open(self) -> State:
        newest = open_newest(self._paths.graph)
        if newest is None:
            folder = self._paths.folder
            raise UnindexedError(
                f"{folder} has no link graph yet: make it with `rdfspider index --dir {folder}`, or wait some seconds"
            )
        self._cursors = newest[0].cursors
        return State(newest[1])

    def _find_site(self, host: str) -> str:
        with self._lock:
            if self._domains is None:
                suffixes = self._paths.folder / "suffixes.dat"
                self._domains = Domains(suffixes.read_bytes() if suffixes.exists() else bundled_suffix_list(), shards=1)
        return self._domains.domain(host)


def _make_link(link: KeyLink) -> GraphLink:
    return GraphLink(read_key(link.key), KINDS[link.kind], link.anchor, link.predicate)


def _rank(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))
