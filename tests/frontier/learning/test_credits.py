"""Links of other sites come after a host's own, and who links to nothing loses credit."""

from collections.abc import Sequence

from tests.frontier.conftest import Crawler, HandClock, OpenFrontier

from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.learning.credits import Credits
from rdfspider.records import Discovered

HONEST, HOSTILE = "http://honest.org/", "http://hostile.org/"


def start(frontier: Frontier, clock: HandClock, *seeds: str) -> Crawler:
    """Fetch the home pages of seeds."""
    frontier.add([Discovered(url, found_as="seed") for url in seeds])
    crawler = Crawler(frontier, clock)
    crawler.run(len(seeds))
    return crawler


def link(frontier: Frontier, source: str, targets: Sequence[str]) -> None:
    entry = frontier.find(source)
    assert entry is not None
    frontier.add([Discovered(url, entry.depth + 1, via=entry.url_id) for url in targets])
    frontier.commit()


def junk(count: int, start: int = 0) -> list[str]:
    return [f"{HONEST}junk-{number}" for number in range(start, start + count)]


def last_of(frontier: Frontier) -> int:
    """How many URLs come last."""
    return frontier.queued[7]


def test_a_host_s_own_links_come_first(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    crawler = start(frontier, clock, HONEST, HOSTILE)
    link(frontier, HOSTILE, junk(50))
    own = [f"{HONEST}own/{number}" for number in range(50)]
    link(frontier, HONEST, own)
    crawler.fetched.clear()
    crawler.run(54)
    # Four links are taken on trust.
    assert set(own) <= set(crawler.fetched)
    assert len(set(crawler.fetched) - set(own)) == 4
    crawler.run()
    assert set(junk(50)) <= set(crawler.fetched), "nothing is lost"


def test_missing_pages_cost_credit_and_pages_bring_some(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    crawler = start(frontier, clock, HONEST, HOSTILE)
    crawler.answers.update(dict.fromkeys(junk(4), 404))
    link(frontier, HOSTILE, junk(4))
    crawler.run()
    link(frontier, HOSTILE, junk(10, 4))
    assert last_of(frontier) == 10
    link(frontier, HONEST, [f"{HOSTILE}{number}" for number in range(4)])
    crawler.run()
    link(frontier, HONEST, [f"{HOSTILE}more/{number}" for number in range(20)])
    assert last_of(frontier) == 20 - 8


def test_links_within_a_site_cost_nothing(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    start(frontier, clock, HONEST, "http://www.honest.org/")
    link(frontier, "http://www.honest.org/", junk(50))
    assert last_of(frontier) == 0


def test_new_hosts_are_found_by_the_links_of_others(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    start(frontier, clock, HONEST)
    link(frontier, HONEST, [f"http://new{number}.org/" for number in range(100)])
    assert last_of(frontier) == 0


def test_hosts_that_a_discredited_site_introduced_begin_without_credit(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    crawler = start(frontier, clock, HONEST, HOSTILE)
    other = "http://other.org/"
    link(frontier, HOSTILE, [other])
    crawler.answers.update(dict.fromkeys(junk(10), 404))
    link(frontier, HOSTILE, junk(10))
    crawler.run()
    link(frontier, other, [f"{HONEST}other-{number}" for number in range(10)])
    assert last_of(frontier) == 10


def test_memory_is_bounded(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    start(frontier, clock, HONEST)
    credits = Credits(frontier._hosts, 0, frontier._url_rows.ids)
    host = frontier._hosts.get(1)
    for number in range(20_000):
        credits.spend(host, [Discovered(HONEST, 1, via=(1 << 54) | (number + 1) << 26, line=(number,))])
        credits.learn(host, (1 << 54) | (number + 1) << 26, is_page=False)
    assert (len(credits._by_host), len(credits._by_domain)) == (8192, 8192)
