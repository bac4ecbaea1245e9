"""Who has had more than their share: by domain, by who introduced whom, and by network; and what follows while others wait."""

from collections import Counter, deque

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier

from rdfspider.codes import Lane
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.hosts import Domain, Host, HostRecord
from rdfspider.frontier.hosts.shares import CROWDED, OVER, WITHIN, Shares, find_network
from rdfspider.records import Addresses, Discovered, Failure, Lease


def make_host(number: int, domain: str, *line: str, address: str = "") -> Host:
    """A host of a domain, introduced by the domains of a line."""
    keys = tuple(Domain(name, 0, 0).key for name in line)
    addresses = Addresses((address or f"10.{number // 250}.{number % 250}.1",), 0.0)
    host = Host(number, HostRecord(f"h{number}.{domain}", addresses=addresses, line=keys), 0.0)
    host.domain = Domain(domain, 0, 0)
    return host


def review(shares: Shares) -> None:
    shares.review(shares._next_review)


def test_equal_hosts_are_within_their_shares() -> None:
    shares, hosts = Shares(64), [make_host(number, f"d{number}.org") for number in range(10)]
    for host in hosts:
        shares.charge(host, 1.0)
    review(shares)
    assert [shares.rate(host) for host in hosts] == [WITHIN] * 10


def test_a_host_that_costs_much_is_over_its_share() -> None:
    shares, hosts = Shares(64), [make_host(number, f"d{number}.org") for number in range(10)]
    for host in hosts:
        shares.charge(host, 1.0)
    shares.charge(hosts[0], 1.0)
    review(shares)
    assert [shares.rate(host) for host in hosts] == [OVER] + [WITHIN] * 9


def test_hosts_of_one_domain_share() -> None:
    shares = Shares(64)
    honest = [make_host(number, f"d{number}.org") for number in range(5)]
    farm = [make_host(100 + number, "farm.org") for number in range(20)]
    for host in honest + farm:
        shares.charge(host, 1.0)
    review(shares)
    assert {shares.rate(host) for host in honest} == {WITHIN}
    assert {shares.rate(host) for host in farm} == {OVER}


def test_domains_that_one_introduced_share_with_it() -> None:
    shares = Shares(64)
    honest = [make_host(number, f"d{number}.org") for number in range(5)]
    farm = [make_host(100 + number, f"farm{number}.org", "d0.org", "entry.org") for number in range(20)]
    for host in honest + farm:
        shares.charge(host, 1.0)
    review(shares)
    assert {shares.rate(host) for host in honest[1:]} == {WITHIN}
    assert {shares.rate(host) for host in farm} == {OVER}
    # One that comes only now is no better.
    assert shares.rate(make_host(999, "new.org", "d0.org", "entry.org")) == OVER


def test_with_one_seed_those_that_it_introduced_have_equal_shares() -> None:
    shares = Shares(64)
    honest = [make_host(number, f"d{number}.org", "seed.org") for number in range(5)]
    farm = [make_host(100 + number, f"farm{number}.org", "seed.org", "entry.org") for number in range(20)]
    for host in honest + farm:
        shares.charge(host, 1.0)
    review(shares)
    assert {shares.rate(host) for host in honest} == {WITHIN}
    assert {shares.rate(host) for host in farm} == {OVER}


def test_one_domain_alone_is_never_over() -> None:
    shares, host = Shares(64), make_host(1, "d.org")
    shares.charge(host, 100.0)
    review(shares)
    assert shares.rate(host) == WITHIN


def test_a_network_with_more_than_a_quarter_is_crowded() -> None:
    shares = Shares(64)
    honest = [make_host(number, f"d{number}.org") for number in range(10)]
    near = [make_host(100 + number, f"n{number}.org", address=f"192.0.2.{number}") for number in range(10)]
    for host in honest + near:
        shares.charge(host, 1.0)
    review(shares)
    assert {shares.rate(host) for host in honest} == {WITHIN}
    assert {shares.rate(host) for host in near} == {CROWDED}


def test_what_was_had_is_forgotten_and_takes_no_memory() -> None:
    shares, hosts = Shares(64), [make_host(number, f"d{number}.org", "seed.org") for number in range(10)]
    for host in hosts:
        shares.charge(host, 1.0 + 9.0 * (host is hosts[0]))
    review(shares)
    assert shares.rate(hosts[0]) == OVER
    for _ in range(200):
        review(shares)
    assert shares.rate(hosts[0]) == WITHIN
    assert (shares._by_key, shares._networks) == ({}, {})


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("127.1.2.3", "127.1.2.0/24"),
        ("::ffff:127.1.2.3", "127.1.2.0/24"),
        ("2001:db8:1:2::3", "2001:db8:1::/48"),
        ("no address", "no address"),
    ],
)
def test_networks(address: str, network: str) -> None:
    assert find_network(address) == network


def line_of(frontier: Frontier, url: str) -> tuple[int, ...]:
    number = frontier._hosts.number_of(url.split("/")[2])
    assert number is not None
    return frontier._hosts.get(number).record.line


def test_the_domains_that_led_to_a_host_are_stored(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    urls = ["http://seed.org/", "http://www.one.org/", "http://two.org/", "http://three.org/", "http://four.org/"]
    frontier.add([Discovered(urls[0], found_as="seed")])
    frontier.commit()
    for url, target in zip(urls, [*urls[1:], "http://more.four.org/"], strict=True):
        entry = frontier.find(url)
        assert entry is not None
        frontier.add([Discovered(target, entry.depth + 1, via=entry.url_id)])
        frontier.commit()
    keys = [Domain(name, 0, 0).key for name in ("seed.org", "one.org", "two.org")]
    frontier.close()
    frontier = open_frontier()
    assert [line_of(frontier, url) for url in urls] == [(), *(tuple(keys[:count]) for count in (1, 2, 3, 3))]
    # A further host of a domain belongs to that, whoever named it.
    assert line_of(frontier, "http://more.four.org/") == tuple(keys)


def test_links_for_another_shard_say_what_led_to_them(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    frontier.add([Discovered("http://seed.org/", found_as="seed")])
    frontier.commit()
    entry = frontier.find("http://seed.org/")
    assert entry is not None
    (link,) = frontier.introduce([Discovered("http://other.org/", 1, via=entry.url_id)])
    assert link.line == (Domain("seed.org", 0, 0).key,)
    frontier.add([link])
    assert line_of(frontier, "http://other.org/") == link.line


def crawl_farm(frontier: Frontier, clock: HandClock, surplus: int, turns: int) -> Counter[str]:
    """Lease pages of five sites and a farm of fifty hosts in turns of ten; the kinds of hosts that got them."""
    frontier.add(
        [Discovered(f"http://d{number}.org/{page}", found_as="seed") for number in range(5) for page in range(400)]
    )
    frontier.commit()
    entry = frontier.find("http://d0.org/0")
    assert entry is not None
    farm = [
        Discovered(f"http://farm{number}.org/{page}", 1, via=entry.url_id) for number in range(50) for page in range(99)
    ]
    frontier.add(farm)
    frontier.commit()
    crawler, had = Crawler(frontier, clock), Counter[str]()
    for _ in range(turns):
        frontier.share_out(surplus)
        for _ in range(10):
            lease = frontier.lease()
            if lease is None:
                break
            crawler.answer(lease)
            if lease.kind == "page":
                had[lease.host[:1]] += 1
        frontier.commit()
        clock.advance(0.05)
    return had


@pytest.mark.parametrize("connections", [64, 1])
def test_a_farm_gets_little_while_others_are_ready(
    open_frontier: OpenFrontier, clock: HandClock, connections: int
) -> None:
    """Also where only 16 hosts fit into memory."""
    frontier = open_frontier(frontier={"delay_s": 0.0}, fetch={"connections": connections})
    had = crawl_farm(frontier, clock, surplus=0, turns=120)
    assert had["d"] > 3 * had["f"] > 0


def test_a_farm_gets_what_others_leave(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    had = crawl_farm(frontier, clock, surplus=1000, turns=2000)
    assert had == {"d": 2000, "f": 50 * 99}


def test_a_host_is_asked_again_when_it_is_within_its_share(open_frontier: OpenFrontier, clock: HandClock) -> None:
    """Also while nothing is left for those that are over theirs."""
    frontier = open_frontier(frontier={"delay_s": 0.0})
    names = [f"d{number}.org" for number in range(3)]
    frontier.add([Discovered(f"http://{name}/{page}", found_as="seed") for name in names for page in range(999)])
    frontier.commit()
    crawler = Crawler(frontier, clock)

    def lease_pages(turns: int) -> Counter[str]:
        had = Counter[str]()
        for _ in range(turns):
            clock.advance(1.0)
            frontier.share_out(0)
            for _ in range(10):
                lease = frontier.lease()
                assert lease is not None
                crawler.answer(lease)
                had[lease.host] += lease.kind == "page"
            frontier.commit()
        return had

    lease_pages(10)
    frontier._core.shares.charge(frontier._hosts.get(1), 10.0)
    assert names[0] not in lease_pages(10)
    assert lease_pages(100)[names[0]] > 100


def test_slow_hosts_that_wait_for_their_lane_leave_nothing_unused(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    """Two fast hosts have had far more than fifty that were slow, but those could not use more."""
    frontier = open_frontier(frontier={"delay_s": 0.0})
    slow = [f"http://slow{number}.org/" for number in range(50)]
    frontier.add([Discovered(url, found_as="seed") for url in slow])
    crawler = Crawler(frontier, clock)
    crawler.answers.update({url: Failure(url, "taken-back", duration_s=2.5) for url in slow})
    crawler.run(len(slow))
    frontier.add(
        [Discovered(f"http://d{host}.org/{page}", found_as="seed") for host in range(2) for page in range(999)]
    )
    frontier.commit()
    clock.advance(30.0)
    had = []
    for _ in range(20):
        frontier.share_out(0)
        had.append(0)
        # As often as the loop of a shard asks while the answers of slow hosts are awaited.
        while had[-1] < 10 and (lease := frontier.lease()) is not None:
            if "slow" not in lease.host:
                crawler.answer(lease)
                had[-1] += lease.kind == "page"
        for number in range(52):
            frontier._core.shares.charge(frontier._hosts.get(1 + number), 1.0 if number >= 50 else 0.1)
        frontier.commit()
        clock.advance(1.0)
    assert {frontier._core.shares.rate(frontier._hosts.get(51 + number)) for number in range(2)} == {OVER}
    assert had[5:] == [10] * 15, "as soon as both have had more than their share"


def test_what_is_under_way_counts_as_far_as_it_has_come() -> None:
    shares, hosts = Shares(64), [make_host(number, f"d{number}.org") for number in range(3)]
    for host in hosts:
        shares.charge(host, 0.1)
    for _ in range(8):
        shares.begin(hosts[0], 0.0)
    shares.review(1.0)
    assert [shares.rate(host) for host in hosts] == [OVER, WITHIN, WITHIN]
    for _ in range(8):
        shares.end(hosts[0])
    shares.review(2.0)
    assert [shares.rate(host) for host in hosts] == [WITHIN] * 3, "it is charged when it ends"


def test_networks_count_what_is_under_way() -> None:
    shares, hosts = Shares(64), [make_host(number, f"d{number}.org") for number in range(8)]
    for host in hosts:
        shares.charge(host, 0.1)
    near = [make_host(100 + number, f"n{number}.org", address=f"192.0.2.{number}") for number in range(20)]
    for host in near:
        shares.begin(host, 0.0)
    shares.review(5.0)
    assert {shares.rate(host) for host in near} == {CROWDED}
    for host in near:
        shares.end(host)
    shares.review(6.0)
    assert {shares.rate(host) for host in hosts + near} == {WITHIN}


def test_one_domain_is_not_alone_while_a_host_of_another_waits() -> None:
    shares, farm = Shares(64), make_host(1, "farm.org", "seed.org")
    shares.charge(farm, 1.0)
    review(shares)
    assert shares.rate(farm) == WITHIN
    shares.expect(make_host(2, "d.org", "seed.org"))
    review(shares)
    assert shares.rate(farm) == WITHIN, "it belongs to those that seed.org led to"
    shares.expect(make_host(3, "d.org"))
    review(shares)
    assert shares.rate(farm) == OVER


def test_hosts_wait_together_with_those_of_the_domain_that_is_over_its_share() -> None:
    shares = Shares(64)
    honest = [make_host(number, f"d{number}.org") for number in range(8)]
    farms = [make_host(100 + number, f"farm{number}.org", f"entry{number % 2}.org") for number in range(4)]
    for host in honest + farms:
        shares.charge(host, 1.0 if host in farms else 0.1)
    review(shares)
    assert {shares.find_group(host) for host in honest} == {0}
    assert [shares.find_group(host) for host in farms] == 2 * [
        Domain(f"entry{number}.org", 0, 0).key for number in (0, 1)
    ]


def test_new_hosts_of_a_domain_over_its_share_are_asked_beside_its_fast_ones(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    """Its fast hosts are always ready, and not for all of them something is left."""
    frontier = open_frontier(frontier={"delay_s": 0.0})
    big = [f"http://b{number}.big.org/{page}" for number in range(20) for page in range(300)]
    small = [f"http://d{number}.org/{page}" for number in range(5) for page in range(2_000)]
    frontier.add([Discovered(url, found_as="seed") for url in big + small])
    frontier.commit()
    crawler, asked = Crawler(frontier, clock), set[str]()
    under_way: deque[tuple[float, Lease]] = deque()
    for turn in range(160):
        if turn == 100:
            frontier.add([Discovered(f"http://new{number}.big.org/", found_as="seed") for number in range(5)])
        while under_way and under_way[0][0] <= clock.monotonic():
            crawler.answer(under_way.popleft()[1])
        frontier.commit()
        frontier.share_out(16 - sum(lease.is_surplus for _, lease in under_way))
        while len(under_way) < 64 and (lease := frontier.lease()) is not None:
            asked.add(lease.host)
            under_way.append((clock.monotonic() + 0.2, lease))
        clock.advance(0.1)
    assert sum(host.startswith("new") for host in asked) == 5


def test_new_hosts_over_their_share_use_what_slow_ones_that_wait_cannot(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    """The slow lane is full, but connections for hosts that have not answered yet are free."""
    frontier = open_frontier(frontier={"delay_s": 0.0})
    slow = [f"http://slow{number}.org/" for number in range(20)]
    frontier.add([Discovered(url, found_as="seed") for url in (*slow, "http://fast.org/0")])
    crawler = Crawler(frontier, clock)
    crawler.answers.update({url: Failure(url, "taken-back", duration_s=2.5) for url in slow})
    crawler.run(21)
    others = ["http://fast.org/1", *(f"http://h{number}.farm.org/" for number in range(40))]
    frontier.add([Discovered(url, found_as="seed") for url in others])
    frontier.commit()
    farm = frontier._hosts.get(22)
    frontier._hosts.find_domain(farm)
    clock.advance(30.0)
    lanes = Counter[Lane]()
    for _ in range(10):
        for number in range(20):
            frontier._core.shares.charge(frontier._hosts.get(1 + number), 0.1)
        frontier._core.shares.charge(farm, 1.0)
        frontier.share_out(64)
        while (lease := frontier.lease()) is not None:
            if lease.kind == "name":
                crawler.answer(lease)
            else:
                lanes[lease.lane] += 1
        clock.advance(1.0)
    assert frontier._core.shares.rate(farm) == OVER
    assert lanes == {Lane.OPEN: 1, Lane.SLOW: 8, Lane.NEW: 40}
