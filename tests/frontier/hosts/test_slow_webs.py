"""Simulated crawls where all honest hosts are slow: what they keep of their rate beside a farm of many hosts."""

from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier

from rdfspider.codes import LeaseKind
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.hosts import FAST, UNASKED
from rdfspider.records import Discovered, Lease

CONNECTIONS = 16
HONEST = 20
SLOW_S = 5.0

Duration = Callable[[Lease, int], float]
"""How long a host of the farm takes for a request, by how many it has had."""


def always_slow(lease: Lease, asked: int) -> float:
    return SLOW_S


def only_robots_fast(lease: Lease, asked: int) -> float:
    return 0.1 if lease.kind == LeaseKind.ROBOTS else SLOW_S


def first_page_fast(lease: Lease, asked: int) -> float:
    return 0.1 if asked < 2 else SLOW_S


def by_turns(lease: Lease, asked: int) -> float:
    return SLOW_S if asked % 2 else 0.1


def nearly_slow(lease: Lease, asked: int) -> float:
    """Just too fast for the slow lane."""
    return 1.9


class SlowWeb:
    """Honest hosts and a farm on a virtual clock. Requests wait for a connection in the order in which they came, and how many
    hosts over their share may have is found as a shard does."""

    def __init__(self, frontier: Frontier, clock: HandClock, duration: Duration = always_slow) -> None:
        self.had = Counter[str]()
        """Pages by the first letter of their hosts, and names that were looked up."""
        self.longest_queue = 0
        """Requests to hosts over their share that have waited for a connection at the same time."""
        self._frontier = frontier
        self._clock = clock
        self._duration = duration
        self._crawler = Crawler(frontier, clock)
        self._asked = Counter[str]()
        self._waiting: deque[Lease] = deque()
        self._under_way: list[tuple[float, float, Lease]] = []
        self._surplus = 1.0
        seeds = [f"http://d{number}.org/{page}" for number in range(HONEST) for page in range(100)]
        frontier.add([Discovered(url, found_as="seed") for url in seeds])
        frontier.commit()

    def add_farm(self, hosts: int, *, has_domains: bool = False) -> None:
        """Let the first honest host link to a farm: to its subdomains, or to a host that links to domains."""
        via = self._find("http://d0.org/0")
        if has_domains:
            self._frontier.add([Discovered("http://entry.org/", 1, via=via)])
            self._frontier.commit()
            via = self._find("http://entry.org/")
        names = [f"h{number}{'' if has_domains else '.farm'}.org" for number in range(hosts)]
        self._frontier.add([Discovered(f"http://{name}/{page}", 1, via=via) for name in names for page in range(9)])
        self._frontier.commit()

    def crawl(self, seconds: float) -> Counter[str]:
        end = self._clock.monotonic() + seconds
        while self._clock.monotonic() < end:
            self._end_requests()
            self._frontier.commit()
            while self._begin_requests():
                pass
            self._clock.advance(0.25)
        return self.had

    def _begin_requests(self) -> bool:
        leases = [*self._waiting, *(lease for _, _, lease in self._under_way)]
        self._frontier.share_out(int(self._surplus) - sum(lease.is_surplus for lease in leases))
        begun = 0
        while len(leases) + begun < 3 * CONNECTIONS and (lease := self._frontier.lease()) is not None:
            if lease.kind == LeaseKind.NAME:
                self._crawler.answer(lease)
                self.had["names"] += 1
            else:
                self._waiting.append(lease)
                begun += 1
        while self._waiting and len(self._under_way) < CONNECTIONS:
            lease = self._waiting.popleft()
            is_honest = lease.host.startswith("d")
            duration_s = SLOW_S if is_honest else self._duration(lease, self._asked[lease.host])
            self._asked[lease.host] += 1
            self._under_way.append((self._clock.monotonic() + duration_s, duration_s, lease))
        self.longest_queue = max(self.longest_queue, sum(lease.is_surplus for lease in self._waiting))
        self._surplus = max(0.8 * self._surplus, 1.0) if self._waiting else min(self._surplus + 1.0, CONNECTIONS)
        return begun > 0

    def _end_requests(self) -> None:
        ended = [call for call in self._under_way if call[0] <= self._clock.monotonic()]
        for call in sorted(ended, key=lambda call: call[0]):
            self._under_way.remove(call)
            _, self._crawler.duration_s, lease = call
            self._crawler.answer(lease)
            self.had[lease.host[:1]] += lease.kind == LeaseKind.PAGE

    def _find(self, url: str) -> int:
        entry = self._frontier.find(url)
        assert entry is not None
        return entry.url_id


class Race:
    """Crawls alone and beside a farm, which comes after ten seconds."""

    def __init__(self, open_frontier: OpenFrontier, clock: HandClock, folder: Path) -> None:
        self._open = open_frontier
        self._clock = clock
        self._folder = folder

    def run(self, hosts: int, duration: Duration, delay_s: float, *, has_domains: bool = False) -> Counter[str]:
        folder = self._folder / str(hosts)
        frontier = self._open(folder, frontier={"delay_s": delay_s}, fetch={"connections": CONNECTIONS})
        web = SlowWeb(frontier, self._clock, duration)
        web.crawl(10.0)
        if hosts:
            web.add_farm(hosts, has_domains=has_domains)
        return web.crawl(190.0)


@pytest.fixture
def race(open_frontier: OpenFrontier, clock: HandClock, tmp_path: Path) -> Race:
    return Race(open_frontier, clock, tmp_path)


@pytest.mark.parametrize(("hosts", "delay_s"), [(30, 0.0), (400, 0.0), (400, 1.0), (3_000, 0.0)])
def test_slow_hosts_keep_their_rate_beside_many_subdomains(race: Race, hosts: int, delay_s: float) -> None:
    """Beside some that are asked again and again, and more than can be asked once; also where hosts wait on disk between."""
    alone, beside = (race.run(count, always_slow, delay_s) for count in (0, hosts))
    assert beside["d"] >= 0.8 * alone["d"] > 0
    assert beside["h"] > (200 if delay_s else 0), "what nobody else can use"


@pytest.mark.parametrize("duration", [only_robots_fast, first_page_fast, by_turns, nearly_slow])
@pytest.mark.parametrize(("has_domains", "delay_s", "least"), [(False, 0.0, 0.7), (True, 0.0, 0.7), (False, 1.0, 0.9)])
def test_a_farm_that_looks_fast_gets_no_more_than_a_slow_one(
    race: Race, duration: Duration, has_domains: bool, delay_s: float, least: float
) -> None:
    """Without a delay, it has what it got before its first slow answers: three requests for each connection."""
    alone = race.run(0, duration, delay_s)
    beside = race.run(400, duration, delay_s, has_domains=has_domains)
    assert beside["d"] >= least * alone["d"] > 0


def test_a_farm_of_thousands_leaves_no_connection_idle_and_has_few_names_looked_up(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    """Those that got no connection come back soon, and nobody asks for the addresses of hosts that cannot be asked."""
    frontier = open_frontier(frontier={"delay_s": 1.0}, fetch={"connections": CONNECTIONS})
    web = SlowWeb(frontier, clock)
    web.crawl(10.0)
    web.add_farm(3_000)
    web.crawl(90.0)
    assert web.had["h"] > 60
    assert web.had["names"] < 1_000


def test_hosts_over_their_share_do_not_queue_for_connections_while_slow_ones_wait(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    """Three times as many as there are connections would keep these for minutes, whatever they turn out to be."""
    frontier = open_frontier(frontier={"delay_s": 0.0}, fetch={"connections": CONNECTIONS})
    web = SlowWeb(frontier, clock, nearly_slow)
    web.crawl(10.0)
    web.add_farm(400)
    web.crawl(60.0)
    assert web.longest_queue <= CONNECTIONS // 4


@pytest.mark.parametrize(("is_awaited", "tempo"), [(True, UNASKED), (False, FAST)])
def test_the_robots_txt_of_a_host_over_its_share_does_not_make_it_fast_while_slow_ones_wait(
    open_frontier: OpenFrontier, clock: HandClock, is_awaited: bool, tempo: int
) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    names = ["d0.org", "d1.org", "h.farm.org"]
    frontier.add([Discovered(f"http://{name}/", found_as="seed") for name in names])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    leases = [frontier.lease() for _ in names]
    waiting, _, farm = (frontier._hosts.get(number) for number in (1, 2, 3))
    for lease in leases:
        assert lease is not None
        frontier._core.shares.charge(frontier._hosts.get(lease.host_number), 5.0 if lease.host == "h.farm.org" else 0.1)
    clock.advance(1.0)
    crawler.answer(next(lease for lease in leases if lease is not None and lease.host == "h.farm.org"))
    robots = frontier.lease()
    assert robots is not None and (robots.host, robots.is_surplus) == (farm.record.name, True)
    if is_awaited:
        frontier._core.active.hold_back(waiting, clock.monotonic())
    crawler.answer(robots)
    assert farm.record.tempo == tempo
