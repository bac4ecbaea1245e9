"""Many hosts in little memory: who comes in, who goes out, and that nobody is forgotten."""

from collections import Counter
from dataclasses import replace
from statistics import median

from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture, kill

from rdfspider.records import Discovered, Failure


def test_many_hosts_rotate_through_few_active_ones(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 2})
    urls = [f"https://h{host}.org/{page}" for page in range(25) for host in range(100)]
    frontier.add(Discovered(url) for url in urls)
    frontier.commit()
    crawler = Crawler(frontier, clock)
    most_active = 0
    while frontier.counts.scheduled:
        crawler.run(pages=len(crawler.fetched) + 10)
        most_active = max(most_active, frontier.counts.active_hosts)
    assert Counter(crawler.fetched) == Counter(urls)
    assert 6 <= most_active <= 32
    last_seen = {}
    for at, host, _ in crawler.requests:
        assert at - last_seen.get(host, -1e9) >= 1.0
        last_seen[host] = at


def test_three_hosts_are_active_for_each_connection_while_all_are_ready(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(fetch={"connections": 8}, frontier={"delay_s": 0.0})
    frontier.add(Discovered(f"https://h{host}.org/{page}") for host in range(200) for page in range(40))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run(pages=500)
    active = []
    while len(crawler.fetched) < 5000:
        crawler.run(pages=len(crawler.fetched) + 50)
        active.append(frontier.counts.active_hosts)
    # It may be fewer for a moment, when several have nothing left.
    assert median(active) == max(active) == 3 * 8


def test_a_host_without_delay_makes_room_after_its_run(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1}, frontier={"delay_s": 0.0})
    frontier.add(Discovered(f"https://h{host}.org/{page}") for host in range(10) for page in range(200))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run(pages=600)
    assert len({url.split("/")[2] for url in crawler.fetched}) == 10, "each has had a turn"
    crawler.run()
    assert len(set(crawler.fetched)) == len(crawler.fetched) == 2000


def test_rotation_survives_kills(open_frontier: OpenFrontier, clock: HandClock) -> None:
    settings = {"fetch": {"connections": 1}, "frontier": {"delay_s": 0.0}}
    frontier = open_frontier(**settings)
    urls = [f"https://h{host}.org/{page}" for host in range(20) for page in range(30)]
    frontier.add(Discovered(url) for url in urls)
    frontier.commit()
    fetched: list[str] = []
    while frontier.counts.scheduled:
        crawler = Crawler(frontier, clock)
        crawler.run(pages=70)
        fetched += crawler.fetched
        if frontier.counts.scheduled:
            crawler.next_page()
        kill(frontier)
        frontier = open_frontier(**settings)
    assert Counter(fetched) == Counter(urls)


def test_hosts_that_wait_long_leave_memory_and_come_back(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1}, frontier={"attempts": 99})
    urls = [f"https://h{host}.org/{page}" for page in range(3) for host in range(60)]
    frontier.add(Discovered(url) for url in urls)
    frontier.commit()
    crawler = Crawler(frontier, clock)
    asked_twice: dict[str, float] = {}
    while frontier.counts.scheduled:
        page = crawler.next_page()
        assert frontier.counts.active_hosts <= 16
        exchange = capture(page.url)
        if page.url.endswith("/0") and not page.attempts:
            exchange = capture(page.url, 503, Retry_After="600") if page.host not in asked_twice else exchange
            asked_twice.setdefault(page.host, clock.monotonic())
        else:
            assert clock.monotonic() - asked_twice[page.host] >= 600
        verdict = frontier.release(page, exchange)
        frontier.finish(page, verdict)
        if verdict.is_final:
            crawler.fetched.append(page.url)
        frontier.commit()
    assert Counter(crawler.fetched) == Counter(urls)


def test_better_priorities_come_more_often_and_none_starves(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1}, frontier={"delay_s": 0.0})
    for depth in (3, 0):
        frontier.add(Discovered(f"https://d{depth}h{host}.org/", depth) for host in range(150))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run(pages=100)
    shares = Counter(url[9] for url in crawler.fetched)
    assert shares["0"] > 3 * shares["3"] > 0


def test_a_host_moves_up_when_something_better_is_found_on_it(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1}, frontier={"delay_s": 0.0})
    frontier.add(Discovered(f"https://h{host}.org/", 5) for host in range(50))
    frontier.commit()
    frontier.add([Discovered("https://h49.org/seed", 0)])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run(pages=4)
    assert "https://h49.org/seed" in crawler.fetched


def test_given_up_hosts_do_not_stay_in_memory(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1}, frontier={"give_up_errors": 1})
    urls = [f"https://h{host}.org/{page}" for host in range(30) for page in range(2)]
    frontier.add(Discovered(url) for url in urls)
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.answers = dict.fromkeys(urls, Failure("", "refused"))
    crawler.run()
    assert frontier.counts.active_hosts == 0
    assert (frontier.counts.given_up_hosts, frontier.counts.pending) == (30, 0)


def test_a_clock_that_is_set_back_makes_nobody_wait_for_years(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(fetch={"connections": 1}, frontier={"give_up_errors": 1, "give_up_s": 600.0})
    frontier.add([Discovered("https://a.org/")])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.answers["https://a.org/"] = Failure("", "refused")
    crawler.run()
    assert frontier.counts.given_up_hosts == 1
    clock.wall -= 30 * 86_400
    crawler.answers.clear()
    crawler.run()
    assert frontier.counts.done == 1
    requests = [at for at, _, url in crawler.requests if not url.endswith("robots.txt")]
    assert requests[1] - requests[0] >= 600


def test_a_host_that_leaves_before_its_only_page_is_recorded_comes_back_for_the_links(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(fetch={"connections": 1}, frontier={"delay_s": 0.0})
    frontier.add(Discovered(f"https://h{host}.org/", found_as="seed") for host in range(10))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    unrecorded = []
    while frontier.counts.scheduled:
        lease = frontier.lease()
        if lease is not None and lease.kind == "page":
            verdict = frontier.release(lease, crawler.exchange(lease))
            unrecorded.append((lease, verdict))
        elif lease is not None:
            crawler.answer(lease)
        else:
            # Nothing else can be asked before these are on record, as in a group that waits for the disk.
            assert unrecorded or frontier.next_lease_in_s() is not None, "hosts were forgotten"
            for lease, verdict in unrecorded:
                frontier.finish(lease, verdict)
                if lease.depth < 3:
                    frontier.add([Discovered(f"{lease.url}{lease.depth}", lease.depth + 1, via=lease.url_id)])
            unrecorded.clear()
            frontier.commit()
    assert frontier.counts.done == 40


def test_the_hosts_that_wait_longest_are_known_before_anything_is_committed(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(frontier={"delay_s": 1.0, "duration_factor": 10.0})
    frontier.add(Discovered(f"https://h{host}.org/{page}") for host in range(4) for page in range(5))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    for host, duration_s in enumerate((0.0, 4.0, 2.0, 0.0)):
        lease = crawler.next_page()
        while lease.host != f"h{host}.org":
            frontier.release(lease, None)
            clock.advance(1.0)
            lease = crawler.next_page()
        frontier.release(lease, replace(capture(lease.url, 200), duration_s=duration_s))
    waiting = frontier.find_waiting(2)
    assert [(entry.host, entry.queued) for entry in waiting] == [("h1.org", 5), ("h2.org", 5)]
    assert 20 < waiting[0].wait_s <= 40
    assert waiting[0].reason == "its last answer took 4.0 s"
    clock.advance(60.0)
    assert frontier.find_waiting(2) == []
