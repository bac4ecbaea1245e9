"""Tables of the link graph change the order of hosts and URLs, and nothing else."""

from statistics import fmean

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier
from tests.frontier.test_model import check_tables

from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts import queues
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.records import Discovered, Esteem

GOOD, FARM, PLAIN = "www.good.org", "farm.org", "plain.org"


def fill(frontier: Frontier, *hosts: str, pages: int = 40) -> None:
    """Queue pages of some hosts with priority 4."""
    for host in hosts:
        frontier.add([Discovered(f"https://{host}/{number}", 3) for number in range(pages)])
    frontier.commit()


def settle(frontier: Frontier) -> None:
    """Apply a table to its end, without a lease."""
    while frontier._esteems.has_work:
        frontier._esteems.apply_some()
    frontier.commit()
    check_tables(frontier)


def find_host(frontier: Frontier, name: str) -> Host:
    number = frontier._hosts.number_of(name)
    assert number is not None
    return frontier._hosts.get(number)


def find_front(frontier: Frontier, name: str) -> int:
    """The front queue of a host."""
    return find_host(frontier, name).record.front_key[0]


def test_hosts_in_esteem_come_sooner_and_farms_later_but_they_come(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(fetch={"connections": 1})
    farms, others = [f"a{number}.{FARM}" for number in range(4)], [f"w{number}.{PLAIN}" for number in range(4)]
    fill(frontier, *farms, *others, GOOD)
    frontier.take_esteem([Esteem("good.org", -2), Esteem(FARM, hosts=dict.fromkeys(farms, 2))])
    settle(frontier)
    assert [find_front(frontier, host) for host in (GOOD, *others[:1], *farms)] == [2, 4, 6, 6, 6, 6]
    crawler = Crawler(frontier, clock)
    crawler.run()
    order = [url.split("/")[2] for url in crawler.fetched]
    assert len(order) == 9 * 40
    mean = {
        site: fmean(place for place, host in enumerate(order) if host.endswith(site)) for site in (GOOD, PLAIN, FARM)
    }
    assert mean[GOOD] < mean[PLAIN] < mean[FARM]
    # A farm is not kept away for good.
    assert order.index(farms[0]) < len(order) - 80


def test_what_comes_first_or_last_by_all_means_has_no_step(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    frontier.add([Discovered(f"https://{FARM}/", found_as="seed")])
    frontier.add([Discovered(f"https://{GOOD}/last", 3, rank=8)])
    fill(frontier, PLAIN)
    frontier.take_esteem([Esteem(FARM, 2), Esteem("good.org", -2), Esteem(PLAIN, -9)])
    settle(frontier)
    assert [find_front(frontier, host) for host in (FARM, GOOD, PLAIN)] == [0, 7, 1]


def test_hosts_that_come_later_have_the_step_of_their_site(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    frontier.take_esteem([Esteem("good.org", -1, {"ads.good.org": 2})])
    settle(frontier)
    fill(frontier, GOOD, "ads.good.org", "good.org", "goods.org")
    found = [find_front(frontier, host) for host in (GOOD, "ads.good.org", "good.org", "goods.org")]
    assert found == [3, 6, 3, 4]


def test_the_next_table_takes_the_place_of_the_one_before(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    fill(frontier, GOOD, PLAIN, FARM)
    frontier.take_esteem([Esteem("good.org", -2), Esteem(FARM, 2)])
    settle(frontier)
    frontier.take_esteem([Esteem(PLAIN, -1), Esteem(FARM, 2)])
    assert [site for site, _ in frontier._esteems._pending] == ["good.org", PLAIN]
    settle(frontier)
    assert [find_front(frontier, host) for host in (GOOD, PLAIN, FARM)] == [4, 3, 6]
    frontier.take_esteem([])
    settle(frontier)
    assert [find_front(frontier, host) for host in (GOOD, PLAIN, FARM)] == [4, 4, 4]


def test_urls_that_are_named_move_up_once(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1})
    fill(frontier, GOOD)
    frontier.add([Discovered(f"https://{GOOD}/last", 3, rank=8)])
    frontier.commit()
    named = tuple(f"https://{GOOD}/{name}" for name in ("31", "33", "last", "unknown"))
    for _ in range(2):
        frontier.take_esteem([Esteem("good.org", pages=named)])
        settle(frontier)
        assert find_host(frontier, GOOD).record.queued == {2: 2, 4: 38, 5: 1}
        # The host stands where its best URL does.
        assert find_front(frontier, GOOD) == 2
        frontier.take_esteem([Esteem("good.org", -1, pages=named)])
        settle(frontier)
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert crawler.fetched[:2] == list(named[:2])
    assert crawler.fetched[-1] == named[2]
    assert len(crawler.fetched) == len(set(crawler.fetched)) == 41
    check_tables(frontier)


def test_urls_that_were_read_or_fetched_stay_where_they_are(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1})
    fill(frontier, GOOD)
    crawler = Crawler(frontier, clock)
    crawler.run(1)
    # The run of the host has been read: 20 URLs, of which one is done.
    named = tuple(f"https://{GOOD}/{number}" for number in range(25))
    frontier.take_esteem([Esteem("good.org", pages=named)])
    settle(frontier)
    assert find_host(frontier, GOOD).record.queued == {2: 5, 4: 34}
    crawler.run()
    assert crawler.fetched[20:25] == list(named[20:])
    assert len(crawler.fetched) == len(set(crawler.fetched)) == 40


def test_what_an_earlier_table_has_said_is_done_after_the_next_one_has_come(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    sites = [f"s{number:02}.org" for number in range(20)]
    fill(frontier, *sites, pages=1)
    table = [Esteem(site, 2) for site in sites]
    frontier.take_esteem(table)
    frontier._esteems.apply_some()
    frontier.take_esteem([*table[1:], Esteem("good.org", -1)])
    settle(frontier)
    assert [find_front(frontier, site) for site in sites] == [4] + 19 * [6]


def test_many_urls_of_a_site_are_moved_in_small_portions(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    fill(frontier, GOOD, pages=300)
    frontier.take_esteem([Esteem("good.org", pages=tuple(f"https://{GOOD}/{number}" for number in range(300)))])
    frontier._esteems.apply_some()
    frontier.commit()
    assert find_host(frontier, GOOD).record.queued == {2: 50, 4: 250}
    settle(frontier)
    assert find_host(frontier, GOOD).record.queued == {2: 300}


def test_urls_far_behind_in_the_queue_of_their_host_are_looked_for_again(
    open_frontier: OpenFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "_ENTRIES_SEARCHED", 5)
    frontier = open_frontier()
    for number in range(10):
        # Each of these has an entry of its own.
        frontier.add([Discovered(f"https://{GOOD}/{number}", 3)])
        frontier.commit()
    named = tuple(f"https://{GOOD}/{number}" for number in (1, 7))
    frontier.take_esteem([Esteem("good.org", pages=named)])
    settle(frontier)
    assert find_host(frontier, GOOD).record.queued == {2: 1, 4: 9}
    monkeypatch.undo()
    frontier.take_esteem([Esteem("good.org", -1, pages=named)])
    settle(frontier)
    assert find_host(frontier, GOOD).record.queued == {2: 2, 4: 8}


def test_of_the_pages_that_are_due_again_those_of_sites_in_esteem_come_sooner(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(fetch={"connections": 1}, crawl={"revisit_s": 10_000.0})
    hosts = [f"w{number}.{site}" for site in (FARM, PLAIN) for number in range(4)] + [GOOD]
    fill(frontier, *hosts)
    crawler = Crawler(frontier, clock)
    crawler.run(9 * 40)
    frontier.take_esteem([Esteem("good.org", -2), Esteem(FARM, 2)])
    clock.advance(10_000)
    crawler.fetched.clear()
    crawler.run(9 * 40)
    order = [url.split("/")[2] for url in crawler.fetched]
    mean = {
        site: fmean(place for place, host in enumerate(order) if host.endswith(site)) for site in (GOOD, PLAIN, FARM)
    }
    assert mean[GOOD] < mean[PLAIN] < mean[FARM]


def test_a_table_is_not_stored(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    frontier.take_esteem([Esteem("good.org", -2, pages=(f"https://{GOOD}/0",))])
    assert not frontier.has_staged
    frontier.close()
    frontier = open_frontier()
    fill(frontier, GOOD)
    assert find_front(frontier, GOOD) == 4
