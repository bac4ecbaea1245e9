"""A web that is made up as it is crawled, from a number for chance, and a crawl of it by a real frontier in virtual time.

Its sites are of five kinds, as one meets them. A *shop* has categories in pages, products with data, a blog, filters that
multiply and a login for every page. A *journal* has sections, articles with a little data, keywords, and an archive by days
without end. A *forum* has boards, threads and profiles, with hardly any data. A *diary* of events has a calendar without end,
most of whose days are empty, and events with data. A *plain* site has pages without data. How large sites are, how much data
their pages have and where they lead is drawn for each of them. Pages lead to some of their own site and, now and then, to other
sites.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple
from zlib import crc32

from rdfspider.config import Config
from rdfspider.domains import Domains
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import LOWEST_PRIORITY, PageFacts, Priority, RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Addresses, Capture, Discovered, Judgement, Lease, Page, RobotsState
from rdfspider.ways import Way

KINDS = ("shop", "journal", "forum", "diary", "plain")
SHARES = (15, 20, 25, 10, 30)
CONNECTIONS = 8
FETCH_S = 0.05
"""Seconds from one answer to the next, over all hosts: so many hosts want to be asked that each answer counts."""
BOILERPLATE = tuple(crc32(b"boilerplate %d" % number) for number in range(8))
WORDS_OF_CALENDARS = tuple(crc32(word.encode()) for word in "there are no events on this day previous next".split())


class SimulatedPage(NamedTuple):
    """What a page of this web has."""

    quads: int
    data: tuple[int, ...]
    words: tuple[int, ...]
    links: tuple[str, ...]


class SimulatedWeb:
    """Pages by their URLs; the same number gives the same web."""

    def __init__(self, seed: int, sites: int = 300, *, is_uniform: bool = False) -> None:
        self.seed = seed
        self.sites = sites
        self.is_uniform = is_uniform
        """Whether all pages have the same data, so that no order is better than another."""
        chance = Random(seed)
        self._kinds = chance.choices(KINDS, SHARES, k=sites)
        self._sizes = [int(chance.lognormvariate(5.5, 1.2)) + 20 for _ in range(sites)]
        self._quads = [chance.randrange(10, 60) for _ in range(sites)]

    @property
    def seeds(self) -> list[str]:
        """The front pages of some sites."""
        return [f"https://s{number}.test/" for number in range(0, self.sites, max(self.sites // 20, 1))]

    def page(self, url: str) -> SimulatedPage:
        """What is at a URL; every link of this web leads to a page."""
        _, _, host, *path = url.split("/")
        site = int(host[1:].partition(".")[0])
        chance = Random(f"{self.seed} {url}")
        found, paths = self._fill(site, path, chance)
        links = [f"https://{host}/{target}" for target in paths]
        links += [f"https://s{chance.randrange(self.sites)}.test/" for _ in range(chance.random() < 0.3)]
        quads = chance.randrange(20) if self.is_uniform else found
        words = tuple(chance.getrandbits(32) for _ in range(8))
        if path[0] in ("calendar", "archive", "login", "filter"):
            words = WORDS_OF_CALENDARS
        data = tuple(chance.getrandbits(32) for _ in range(8)) if quads > 1 else BOILERPLATE[:quads]
        return SimulatedPage(quads, data, words, tuple(links))

    def _fill(self, site: int, path: list[str], chance: Random) -> tuple[int, Iterator[str]]:
        """Quads of a page, and the paths that it leads to."""
        kind = self._kinds[site]
        fill = {
            "shop": self._fill_shop,
            "journal": self._fill_journal,
            "forum": self._fill_forum,
            "diary": self._fill_diary,
            "plain": self._fill_plain,
        }[kind]
        return fill(site, path, chance)

    def _pick(self, site: int, chance: Random, count: int, form: str) -> Iterator[str]:
        """Paths to some of the things that a site has."""
        for _ in range(count):
            yield form.format(chance.randrange(self._sizes[site]))

    def _fill_shop(self, site: int, path: list[str], chance: Random) -> tuple[int, Iterator[str]]:
        categories = self._sizes[site] // 50 + 2

        def links() -> Iterator[str]:
            yield from (f"category/c-{number}" for number in range(min(categories, 12)))
            yield f"login?from={'-'.join(path)}"
            yield from self._pick(site, chance, 3, "blog/post-{}")
            if path[0] in ("category", "filter"):
                yield from self._pick(site, chance, 10, "product/thing-{}")
                for name in ("colour", "size", "maker"):
                    yield f"filter/{path[1].partition('?')[0]}?{name}={chance.randrange(20)}&sort={chance.randrange(5)}"
                yield f"category/{path[1].partition('?')[0]}?page={chance.randrange(20)}"
            elif path[0] == "product":
                yield from self._pick(site, chance, 4, "product/thing-{}")

        quads = self._quads[site] + chance.randrange(10) if path[0] == "product" else 2 * (path[0] == "")
        return quads, links()

    def _fill_journal(self, site: int, path: list[str], chance: Random) -> tuple[int, Iterator[str]]:
        def links() -> Iterator[str]:
            yield from (f"section/{name}/" for name in ("world", "sports", "arts", "money"))
            yield from self._pick(site, chance, 8, "article/20{:02}")
            yield from (f"keyword/k-{chance.randrange(2000)}" for _ in range(6))
            yield from _follow_days(path, "archive", chance)

        return (self._quads[site] // 4 if path[0] == "article" else 1), links()

    def _fill_forum(self, site: int, path: list[str], chance: Random) -> tuple[int, Iterator[str]]:
        def links() -> Iterator[str]:
            yield from (f"board/b-{number}" for number in range(8))
            yield from self._pick(site, chance, 15, "thread/{}")
            yield from self._pick(site, chance, 10, "member/m-{}")
            yield from (f"thread/{chance.randrange(self._sizes[site])}?page={chance.randrange(9)}" for _ in range(5))

        return int(chance.random() < 0.2), links()

    def _fill_diary(self, site: int, path: list[str], chance: Random) -> tuple[int, Iterator[str]]:
        def links() -> Iterator[str]:
            yield from _follow_days(path, "calendar", chance)
            if chance.random() < 0.2 or path[0] in ("", "event"):
                yield from self._pick(site, chance, 5, "event/happening-{}")

        return (self._quads[site] // 2 if path[0] == "event" else 0), links()

    def _fill_plain(self, site: int, path: list[str], chance: Random) -> tuple[int, Iterator[str]]:
        def links() -> Iterator[str]:
            yield from self._pick(site, chance, 12, "pages/about-{}")
            yield from self._pick(site, chance, 4, "files/{}.html")

        return 0, links()


class VirtualClock(Clock):
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0
        self.boot_id = "simulation"

    def now(self) -> float:
        """The same as below."""
        return self.time

    def monotonic(self) -> float:
        """Seconds since 1970, as good as any."""
        return self.time


def by_depth(link: Discovered) -> int:
    """Breadth first: seeds and URLs near them come before the rest, in whatever order they were found."""
    return link.depth if link.depth < LOWEST_PRIORITY else LOWEST_PRIORITY


def crawl_simulation(
    web: SimulatedWeb, folder: Path, domains: Domains, budgets: list[int], priority: Priority | None = None
) -> dict[int, float]:
    """Crawl with a frontier of this priority; quads a fetch when so many pages were fetched. The last budget ends it."""
    config = Config()
    config = replace(config, fetch=replace(config.fetch, connections=CONNECTIONS))
    clock = VirtualClock()
    frontier = Frontier(folder, config, domains, 0, clock, priority)
    frontier.add([Discovered(url, found_as="seed") for url in web.seeds])
    frontier.commit()
    reached: dict[int, float] = {}
    while frontier.counts.pages < budgets[-1]:
        lease = wait_for_lease(frontier, clock)
        if lease is None:
            break
        if not prepare_host(frontier, clock, lease):
            _answer(web, frontier, clock, lease)
        counts = frontier.counts
        if counts.pages % 32 == 0:
            frontier.commit()
        if counts.pages in budgets:
            reached[counts.pages] = counts.quads / counts.pages
    frontier.close()
    return reached


def wait_for_lease(frontier: Frontier, clock: VirtualClock) -> Lease | None:
    """The next lease, when it is time for it; None if nothing is left."""
    while (lease := frontier.lease()) is None:
        frontier.commit()
        wait_s = frontier.next_lease_in_s()
        if wait_s is None:
            return None
        clock.time += wait_s + 1e-6
    return lease


def prepare_host(frontier: Frontier, clock: VirtualClock, lease: Lease) -> bool:
    """Answer a lease of a name or of a robots.txt; False if it is one of a page."""
    if lease.kind == "name":
        frontier.release(lease, Addresses(("192.0.2.1",), clock.now() + 86_400))
    elif lease.kind == "robots":
        frontier.release(lease, RobotsAnswer(RobotsState("allow", clock.now(), clock.now() + 86_400)))
    else:
        return False
    return True


def finish_page(
    frontier: Frontier, clock: VirtualClock, lease: Lease, quads: int, judgement: Judgement, links: Iterable[str]
) -> None:
    """Answer the lease of a page, which takes its time."""
    capture = Capture(Page(lease.url, b""), 200, "", "1.1", (), (), "192.0.2.1", clock.now(), 0.01, 0)
    verdict = frontier.release(lease, capture)
    frontier.finish(lease, verdict, PageFacts(captured=clock.now(), quads=quads, judgement=judgement))
    frontier.add([Discovered(url, lease.depth + 1, Way.LINK, lease.url_id) for url in dict.fromkeys(links)])


def _answer(web: SimulatedWeb, frontier: Frontier, clock: VirtualClock, lease: Lease) -> None:
    clock.time += FETCH_S
    page = web.page(lease.url)
    finish_page(frontier, clock, lease, page.quads, Judgement(data=page.data, words=page.words), page.links)


def _follow_days(path: list[str], name: str, chance: Random) -> Iterator[str]:
    """The days before and after one, and some of its month; from anywhere else, today."""
    if path[0] != name:
        yield f"{name}/2024/{chance.randrange(1, 13)}"
        return
    year, month = int(path[1]), int(path[2])
    later = (year + month // 12, month % 12 + 1)
    earlier = (year - (month == 1), (month - 2) % 12 + 1)
    yield from (f"{name}/{year}/{month}" for year, month in (later, earlier))
    if len(path) == 3:
        yield from (f"{name}/{year}/{month}/{day}" for day in range(1, 29))
