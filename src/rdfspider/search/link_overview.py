"""What links lead to most, in a whole crawl: the graph, the ledger and the text index enter; pages, hosts and things leave.

All links are read for it. So it is made anew only when the graph has changed and much more time has passed than it takes, and not
at all for graphs that would take minutes.
"""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace

from rdfspider.errors import UnansweredError
from rdfspider.index.graph.most_linked import LinkedHost, LinkedPage
from rdfspider.index.graph.reader import MAX_ANCHOR_LINKS, GraphReader
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger.reader import open_ledger
from rdfspider.index.log.indexed_sources import FORGOTTEN
from rdfspider.results import Card, Rank

MAX_LINKS = 20_000_000
"""Of graphs with more links nothing is counted, and pages and hosts are listed by their ranks; ten million take
some ten seconds."""
WORDS_READ = MAX_ANCHOR_LINKS
"""The words for a page are taken from so many of the links to it."""
LISTED = 500
"""How many pages and hosts are listed."""
# Making it takes at most this share of the time, but no more often than people look.
_DUTY = 0.05
_CACHED_S = 10.0
# How long somebody waits for it, and how long if there is an older one to show.
_PATIENCE_S = 30.0
_OLDER_S = 1.0

FindThings = Callable[[Iterable[str]], Iterable[tuple[str, list[Card]]]]
"""Finds the things that addresses name, or that their pages are about: those of each address that has any."""


@dataclass(frozen=True, slots=True)
class TopPage:
    """A page to which many hosts link."""

    url: str
    title: str
    """Empty if it has none, or was not indexed."""
    hosts: int | None
    """Other hosts with a page that links to it; None if they were not counted."""
    pages: int
    """Pages that link to it, those of its own host too."""
    place: int | None
    """Its place by rank, 1 for the first; None without ranks."""


@dataclass(frozen=True, slots=True)
class TopHost:
    """A host to which many others link."""

    host: str
    hosts: int | None
    """Other hosts that link to it; None if they were not counted."""
    links: int | None
    """Links from their pages."""
    place: int | None
    """Its place by rank, 1 for the first; None without ranks."""


@dataclass(frozen=True, slots=True)
class TopThing:
    """A thing that inherits the links to the pages that are about it, and the data links to its own address."""

    id: str
    label: str
    types: tuple[str, ...]
    hosts: int
    """Hosts that link to one of its addresses: of several addresses, the most for one."""
    pages: int
    """Pages that link to its addresses, one for each address that they link to."""
    url: str
    """The address to which most link."""


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Hosts that repeat each other."""

    reason: str
    """mirror or farm."""
    hosts: tuple[str, ...]
    shared: int
    """How many paths (of mirrors), or pages of other sites (of farms), they share that hardly any other host has."""
    examples: tuple[str, ...]
    """The URLs of a few of these pages."""


@dataclass(frozen=True, slots=True)
class LinkOverview:
    """What links lead to most, the first one most."""

    pages: int
    """How many pages there are in the graph: those with links, and those to which links lead."""
    links: int
    is_counted: bool
    """Whether links were counted: not if there are too many to read them all. Then the lists are those of the first by rank."""
    top_pages: tuple[TopPage, ...] = ()
    top_hosts: tuple[TopHost, ...] = ()
    top_things: tuple[TopThing, ...] = ()
    farms: tuple[HostGroup, ...] = ()
    """Groups of hosts that repeat each other, the largest first."""
    ranks_dated: float = 0.0
    """When ranks were computed, in seconds since 1970; 0 if there are none."""


class LinkOverviews:
    """The overview of one crawl's links, made again when the graph has changed; thread-safe."""

    def __init__(self, paths: IndexPaths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._state: object = None
        self._made: LinkOverview | None = None
        self._rules = 0
        """The rules of what is forgotten, as of what was made."""
        self._good_until = 0.0
        self._making: tuple[Future[LinkOverview] | None, int] = (None, 0)
        """What is being made, and by which rules."""

    def read(self, reader: GraphReader, find_things: FindThings) -> LinkOverview:
        """Return the overview as of a state of the graph, or of one before it while the newer one is made. Raise UnansweredError
        if it takes long, and there is no older one; it is made nevertheless."""
        rules = reader.read_cursors().get(FORGOTTEN, 0)
        with self._lock:
            # What names pages that were forgotten since is shown to nobody.
            known = self._made if self._rules == rules else None
            if known and (self._state == (reader, reader.ranks_dated) or time.monotonic() < self._good_until):
                return known
            making, making_rules = self._making
            if making is None or making_rules != rules:
                making = Future()
                self._making = making, rules
                # A daemon, so that a program that ends does not wait for it.
                threading.Thread(
                    target=self._run, args=(making, reader, find_things), name="links", daemon=True
                ).start()
        try:
            return making.result(_OLDER_S if known else _PATIENCE_S)
        except TimeoutError:
            if known:
                return known
            raise UnansweredError("the links are being counted: try again in some seconds") from None

    def forget(self) -> None:
        """Release what is kept."""
        with self._lock:
            self._state = self._made = None

    def _run(self, making: Future[LinkOverview], reader: GraphReader, find_things: FindThings) -> None:
        start = time.monotonic()
        try:
            made = self._make(reader, find_things)
        except BaseException as error:
            self._end(making)
            making.set_exception(error)
            return
        end = time.monotonic()
        with self._lock:
            self._made, self._state = made, (reader, made.ranks_dated)
            self._rules = reader.read_cursors().get(FORGOTTEN, 0)
            self._good_until = end + max(_CACHED_S, (end - start) / _DUTY)
        self._end(making)
        making.set_result(made)

    def _end(self, making: Future[LinkOverview]) -> None:
        with self._lock:
            if self._making[0] is making:
                self._making = (None, 0)

    def _make(self, reader: GraphReader, find_things: FindThings) -> LinkOverview:
        links = reader.count_links()
        dated = reader.ranks_dated
        farms = tuple(
            HostGroup(str(each.reason), each.hosts, each.shared, each.examples) for each in reader.list_farms()[:LISTED]
        )
        if links > MAX_LINKS:
            pages = [LinkedPage(each.name, 0, reader.count_in(each.name)) for each in reader.list_top_pages(LISTED)]
            hosts = [TopHost(each.name, None, None, each.rank.place) for each in reader.list_top_hosts(LISTED)]
            return LinkOverview(
                reader.count_pages(),
                links,
                is_counted=False,
                top_pages=tuple(replace(each, hosts=None) for each in self._name_pages(reader, pages)),
                top_hosts=tuple(hosts),
                farms=farms,
                ranks_dated=dated,
            )
        found = reader.list_most_linked(LISTED)
        return LinkOverview(
            reader.count_pages(),
            links,
            is_counted=True,
            top_pages=tuple(self._name_pages(reader, found.pages)),
            top_hosts=tuple(_make_host(reader, each) for each in found.hosts),
            top_things=tuple(_list_things([*found.pages, *found.read_pages], find_things)),
            farms=farms,
            ranks_dated=dated,
        )

    def _name_pages(self, reader: GraphReader, pages: Iterable[LinkedPage]) -> list[TopPage]:
        with open_ledger(self._paths) as ledger:
            entries = [(page, ledger.find_page(page.url)) for page in pages]
        return [
            TopPage(page.url, entry.title if entry else "", page.hosts, page.pages, _place(reader.read_rank(page.url)))
            for page, entry in entries
        ]


def _make_host(reader: GraphReader, host: LinkedHost) -> TopHost:
    return TopHost(host.host, host.hosts, host.links, _place(reader.read_host_rank(host.host)))


def _place(rank: Rank | None) -> int | None:
    return rank.place if rank else None


def _list_things(pages: Iterable[LinkedPage], find_things: FindThings) -> list[TopThing]:
    """The things that the most linked pages are about, or that have such an address."""
    found: dict[str, TopThing] = {}
    by_url = {page.url: page for page in pages}
    for url, cards in find_things(by_url):
        page = by_url[url]
        for card in cards:
            known = found.get(card.id)
            if known is None:
                # Pages come with the most linked first.
                found[card.id] = TopThing(card.id, card.label, card.types, page.hosts, page.pages, page.url)
            else:
                pages_linking = known.pages + page.pages
                found[card.id] = TopThing(known.id, known.label, known.types, known.hosts, pages_linking, known.url)
    return sorted(found.values(), key=lambda each: (-each.hosts, -each.pages, each.id))[:LISTED]
