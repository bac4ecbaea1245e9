"""How soon URLs are fetched, and what that gives on a simulated web."""

from pathlib import Path

import pytest
from tests.frontier.conftest import HandClock
from tests.frontier.simulation import SimulatedWeb, by_depth, crawl_simulation

from rdfspider.domains import Domains
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.hosts import Host, HostRecord
from rdfspider.frontier.learning.patterns import HostPatterns, Pattern, Patterns
from rdfspider.frontier.learning.priority import Ratings, rate_again
from rdfspider.frontier.store import Store
from rdfspider.records import Discovered

HOST = "https://a.org"


class Rater:
    """Ratings of one host, of a crawl whose pages have ten quads on the whole."""

    def __init__(self, store: Store) -> None:
        patterns = Patterns(store)
        self.host = Host(1, HostRecord("a.org"), 0.0)
        self.ratings = Ratings(patterns, Counts(pages=100, quads=1000))
        self.patterns = patterns

    def learn(self, path: str, visits: int, mean: float, **facts: float) -> HostPatterns:
        known = self.patterns.obtain(self.host)
        known.by_key[path] = Pattern(visits=visits, mean=mean, **facts)  # type: ignore[arg-type]
        known.total.visits += visits
        known.total.mean = mean
        return known

    def rate(self, path: str, depth: int = 2, found_as: str = "link", rank: int = 0) -> int:
        return self.ratings.rate(self.host, [Discovered(HOST + path, depth, found_as, 0, (), rank)])[0]


@pytest.fixture
def rater(tmp_path: Path) -> Rater:
    return Rater(Store(tmp_path))


def test_depth_decides_where_nothing_is_known(rater: Rater) -> None:
    assert [rater.rate("/x", depth) for depth in (1, 2, 3, 4, 6, 100)] == [2, 3, 4, 4, 5, 5]


def test_seeds_and_prerequisites_are_first_and_links_of_duplicates_last(rater: Rater) -> None:
    assert rater.rate("/", 0, "seed") == 0
    assert rater.rate("/sitemap.xml", 1, "sitemap") == 0
    assert rater.rate("/x", 1, rank=8) == 7


def test_how_a_link_was_found_counts(rater: Rater) -> None:
    assert rater.rate("/x", 2, "next") == rater.rate("/x", 2) - 1
    assert rater.rate("/x", 2, rank=1) == rater.rate("/x", 2) + 1


def test_rich_patterns_come_before_barren_ones(rater: Rater) -> None:
    rater.learn("/product/*", 10, 30.0)
    rater.learn("/fair/*", 10, 8.0)
    rater.learn("/forum/*", 10, 0.0)
    rater.patterns.obtain(rater.host).total.mean = 10.0
    rates = {name: rater.rate(f"/{name}/x", 3) for name in ("product", "fair", "forum")}
    assert rates == {"product": 2, "fair": 3, "forum": 6}
    assert rater.rate("/product/x", 9) < rater.rate("/forum/x", 1)


def test_pages_that_lead_to_rich_ones_share_in_it(rater: Rater) -> None:
    rater.learn("/list/*", 10, 0.0, promise=30.0)
    rater.learn("/forum/*", 10, 0.0)
    assert rater.rate("/list/x") <= 3 < rater.rate("/forum/x")


def test_a_pattern_without_data_is_not_judged_by_its_first_pages(rater: Rater) -> None:
    rater.learn("/new/*", 4, 0.0)
    assert rater.rate("/new/x") == 3
    rater.learn("/new/*", 5, 0.0)
    assert rater.rate("/new/x") == 5


def test_the_first_urls_of_an_unknown_pattern_are_tried_soon(rater: Rater) -> None:
    rater.learn("/forum/*", 3, 2.0)
    assert [rater.rate(f"/new/{name}") for name in "abcde"] == [2, 2, 2, 3, 3]


def test_unknown_patterns_of_rich_hosts_come_before_those_of_barren_ones(rater: Rater) -> None:
    links = [Discovered(f"{HOST}/new/{name}", 2) for name in "abcde"]
    known = rater.learn("/product/*", 10, 30.0)
    rich = rater.ratings.rate(rater.host, links)[-1]
    known.total.mean = 0.0
    known.trials.clear()
    assert rich < rater.ratings.rate(rater.host, links)[-1]


def test_a_pattern_that_gives_nothing_new_is_last(rater: Rater) -> None:
    rater.learn("/calendar/0", 20, 0.0, idle=15)
    assert rater.rate("/calendar/7", 1) == 7
    assert rater.rate("/calendar/7", 0, "seed") == 0


def test_what_is_queued_can_only_go_so_far_back() -> None:
    assert [rate_again(depth, 2) for depth in (1, 2, 3, 9)] == [4, 5, 6, 6]
    assert rate_again(1, 8) == 7


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_crawl_gets_more_data_a_fetch_than_breadth_first(seed: int, tmp_path: Path, domains: Domains) -> None:
    web = SimulatedWeb(seed)
    budgets = [1000, 2000]
    breadth = crawl_simulation(web, tmp_path / "breadth", domains, budgets, by_depth)
    ours = crawl_simulation(web, tmp_path / "yield", domains, budgets)
    assert ours[1000] > 1.3 * breadth[1000]
    assert ours[2000] > 1.8 * breadth[2000]


def test_a_crawl_loses_nothing_where_no_order_is_better(tmp_path: Path, domains: Domains) -> None:
    web = SimulatedWeb(4, is_uniform=True)
    breadth = crawl_simulation(web, tmp_path / "breadth", domains, [1500], by_depth)
    ours = crawl_simulation(web, tmp_path / "yield", domains, [1500])
    assert ours[1500] > 0.95 * breadth[1500]


def test_the_simulation_repeats_itself(tmp_path: Path, domains: Domains, clock: HandClock) -> None:
    web = SimulatedWeb(5, 30)
    runs = [crawl_simulation(web, tmp_path / name, domains, [200]) for name in ("first", "second")]
    assert runs[0] == runs[1]
