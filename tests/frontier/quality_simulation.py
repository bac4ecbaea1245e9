"""A web whose pages are good or bad, which decides who links to whom; and a crawl of it by the real frontier and the real graph,
in virtual time.

Sites have a quality by chance, and their pages that of their site, more or less. A page links to pages of its own site and, at
times, to others: to sites by their fame, which quality and luck make, and the better the page, the more carefully it chooses.
Sizes are heavy-tailed, and say nothing about quality. Farms are many sites of many pages without any quality that link to each
other: *copies* all link to the same pages of the sites that pay for it, *rings* to each other by chance. Now and then a page is
bought or broken into, and links to them; comments do, too, with `ugc`.
"""

from contextlib import closing
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.frontier.simulation import CONNECTIONS, FETCH_S, VirtualClock, finish_page, prepare_host, wait_for_lease
from tests.index.graph.pages import make_page
from tests.index.graph.rated import make_paths

from rdfspider.archive.outcomes import Outcome
from rdfspider.config import Config
from rdfspider.domains import Domains
from rdfspider.frontier.entries import Priority
from rdfspider.frontier.frontier import Frontier
from rdfspider.index.graph.esteem_file import load_esteem
from rdfspider.index.graph.rating import rate_graph
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import IndexPaths
from rdfspider.records import Discovered, Esteem, Judgement, Lease
from rdfspider.ways import Way

_RATING_S = 60.0
_GROWTH = 0.5
# What falls to farms: bought or broken links, and those in comments.
_SOLD, _COMMENTED = 0.01, 0.03


class Guide(Enum):
    """What tells a frontier which sites to fetch first."""

    NOTHING = "nothing"
    GRAPH = "graph"
    ORACLE = "oracle"
    """The planted quality of all sites."""


class WebPage(NamedTuple):
    """What a page of this web has."""

    links: tuple[str, ...]
    comments: tuple[str, ...]
    """Links with `ugc`."""


class QualityWeb:
    """Pages by their URLs; the same number gives the same web."""

    def __init__(self, seed: int, sites: int = 1000, farms: int = 2, *, has_signal: bool = True) -> None:
        self.seed = seed
        self.has_signal = has_signal
        """Whether quality decides anything."""
        chance = Random(f"web {seed}")
        self.honest = sites
        self.quality = [chance.random() for _ in range(sites)]
        self.sizes = [min(int(6 * chance.paretovariate(1.1)), 2000) for _ in range(sites)]
        luck = [chance.lognormvariate(0, 1) for _ in range(sites)]
        quality = self.quality if has_signal else [chance.random() for _ in range(sites)]
        weights = [3.0 ** (3 * good) * lucky for good, lucky in zip(quality, luck, strict=True)]
        self._fame = chance.choices(range(sites), weights, k=50 * sites)
        self.groups: list[range] = []
        for _ in range(farms):
            first = len(self.quality)
            self.groups.append(range(first, first + sites // 20))
            self.quality += [0.0] * (sites // 20)
            self.sizes += [chance.randrange(50, 200) for _ in range(sites // 20)]
        self.customers = [
            [f"https://s{site}.test/{page}" for site in chance.sample(group, 3) for page in range(12)]
            for group in self.groups
        ]
        self.pages = sum(self.sizes)
        self.seeds = [f"https://s{site}.test/0" for site in chance.sample(range(sites), 10)]

    def rate(self, url: str) -> float:
        """The quality of a page."""
        site, _ = _split(url)
        own = self.quality[site]
        return min(max(own + Random(f"{self.seed} quality {url}").gauss(0, 0.15), 0.0), 1.0) if own else 0.0

    def is_farm(self, url: str) -> bool:
        """Whether a page is of a farm."""
        return _split(url)[0] >= self.honest

    def page(self, url: str) -> WebPage:
        """What is at a URL; every link of this web leads to a page."""
        site, number = _split(url)
        chance = Random(f"{self.seed} links {url}")
        size = self.sizes[site]
        links = [f"https://s{site}.test/{chance.randrange(size)}" for _ in range(8)] + [f"https://s{site}.test/0"]
        if site >= self.honest:
            return WebPage((*links, *self._praise(site, number, chance)), ())
        if chance.random() < 0.6:
            links += [self._choose(self.rate(url), chance) for _ in range(chance.randrange(1, 5))]
        comments: list[str] = []
        for share, found in ((_SOLD, links), (_COMMENTED, comments)):
            if self.groups and chance.random() < share:
                group = chance.choice(self.groups)
                found += [f"https://s{chance.choice(group)}.test/0" for _ in range(3)]
        return WebPage(tuple(dict.fromkeys(links)), tuple(dict.fromkeys(comments)))

    def _choose(self, care: float, chance: Random) -> str:
        """A page elsewhere that a page with this quality links to."""
        if chance.random() < 0.15:
            site = chance.randrange(self.honest)
        else:
            found = [chance.choice(self._fame) for _ in range(1 + (self.has_signal and chance.random() < care))]
            site = max(found, key=self.quality.__getitem__)
        if chance.random() < 0.5:
            return f"https://s{site}.test/0"
        pages = [f"https://s{site}.test/{chance.randrange(self.sizes[site])}" for _ in range(1 + self.has_signal)]
        return max(pages, key=self.rate)

    def _praise(self, site: int, number: int, chance: Random) -> list[str]:
        """What a page of a farm links to."""
        which = next(place for place, group in enumerate(self.groups) if site in group)
        group = self.groups[which]
        if which % 2 == 0:
            return self.customers[which]
        return [f"https://s{other}.test/{chance.randrange(self.sizes[other])}" for other in chance.choices(group, k=6)]


class Course(NamedTuple):
    """How a crawl went."""

    quality: float
    """The mean quality of what was fetched."""
    farm_share: float
    rated: int
    """How often the graph was rated."""


def crawl_by_quality(
    web: QualityWeb,
    folder: Path,
    domains: Domains,
    budget: int,
    guide: Guide = Guide.NOTHING,
    priority: Priority | None = None,
) -> Course:
    """Crawl so many pages."""
    config = Config()
    config = replace(config, fetch=replace(config.fetch, connections=CONNECTIONS))
    clock = VirtualClock()
    started = clock.time
    frontier = Frontier(folder / "frontier", config, domains, 0, clock, priority)
    frontier.add([Discovered(url, found_as=Way.SEED) for url in web.seeds])
    frontier.commit()
    fetched: list[str] = []
    log: list[Outcome] = []
    next_rating, rated, rated_pages = started + _RATING_S, 0, 0
    if guide == Guide.ORACLE:
        frontier.take_esteem(_reveal(web))
    paths = make_paths(folder)
    paths.seeds.write_text("".join(f"{url}\n" for url in web.seeds))
    with closing(GraphView(paths)) as view:
        while len(fetched) < budget:
            lease = wait_for_lease(frontier, clock)
            if lease is None:
                break
            if prepare_host(frontier, clock, lease):
                continue
            outcome = _answer(web, frontier, clock, lease)
            fetched.append(outcome.url)
            log.append(outcome)
            if len(fetched) % 32 == 0:
                frontier.commit()
            is_due = clock.time >= next_rating and len(fetched) >= (1 + _GROWTH) * rated_pages
            if guide == Guide.GRAPH and is_due:
                frontier.take_esteem(_rate(view, paths, log))
                log.clear()
                next_rating, rated, rated_pages = clock.time + _RATING_S, rated + 1, len(fetched)
    frontier.close()
    count = max(len(fetched), 1)
    return Course(sum(map(web.rate, fetched)) / count, sum(map(web.is_farm, fetched)) / count, rated)


def _rate(view: GraphView, paths: IndexPaths, log: list[Outcome]) -> list[Esteem]:
    """What the graph says once it has these pages, too."""
    cursors = {"log": view.load_cursors().get("log", 0) + len(log)}
    view.apply(log)
    view.commit(cursors)
    while view.has_deferred:
        view.commit(cursors)
    assert rate_graph(paths)
    return load_esteem(paths.graph)


def _reveal(web: QualityWeb) -> list[Esteem]:
    """The steps that the true quality gives."""
    table = []
    for site, quality in enumerate(web.quality):
        step = -2 if quality > 0.9 else -1 if quality > 0.7 else 2 if quality < 0.3 else 0
        table.append(Esteem(f"s{site}.test", step))
    return table


def _answer(web: QualityWeb, frontier: Frontier, clock: VirtualClock, lease: Lease) -> Outcome:
    clock.time += FETCH_S
    page, chance = web.page(lease.url), Random(lease.url)
    data, words = (tuple(chance.getrandbits(32) for _ in range(8)) for _ in range(2))
    quads = 10 + chance.randrange(10)
    targets = tuple(dict.fromkeys((*page.links, *page.comments)))
    finish_page(frontier, clock, lease, quads, Judgement(data=data, words=words), targets)
    return make_page(lease.url, clock.now(), targets, relations=dict.fromkeys(page.comments, "ugc"))


@lru_cache(maxsize=65_536)
def _split(url: str) -> tuple[int, int]:
    """The numbers of a site and of its page."""
    host, _, number = url.removeprefix("https://s").partition(".test/")
    return int(host), int(number)
