"""URLs that are found again in a better way take it over, whenever that is, and are fetched again only for a reason."""

from collections.abc import Callable

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture, kill

from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered, Failure, Lease

URL = "https://a.org/x"
QUICK = {"frontier": {"delay_s": 0.0}}
MOVED = capture(URL, 301, Location="https://b.org/")
GONE = Failure(URL, "private")


def check_counts(frontier: Frontier) -> None:
    counts = frontier.counts
    assert counts.known == counts.scheduled + counts.done + counts.failed + counts.disallowed
    assert not counts.in_flight


def arrive_staged(frontier: Frontier, crawler: Crawler, better: Callable[[], None]) -> None:
    better()


def arrive_committed(frontier: Frontier, crawler: Crawler, better: Callable[[], None]) -> None:
    frontier.commit()
    better()


def arrive_read_ahead(frontier: Frontier, crawler: Crawler, better: Callable[[], None]) -> None:
    """After another URL of the host was leased: this one was read with it."""
    frontier.commit()
    first = crawler.next_page()
    assert first.url != URL
    better()
    frontier.finish(first, frontier.release(first, capture(first.url)))


def arrive_twice(frontier: Frontier, crawler: Crawler, better: Callable[[], None]) -> None:
    frontier.commit()
    better()
    better()
    frontier.commit()
    better()


WAITING = [arrive_staged, arrive_committed, arrive_read_ahead, arrive_twice]


@pytest.mark.parametrize("arrive", WAITING)
@pytest.mark.parametrize("recent_urls", [2, 1000])
def test_a_url_that_waits_becomes_a_seed(
    open_frontier: OpenFrontier,
    clock: HandClock,
    arrive: Callable[[Frontier, Crawler, Callable[[], None]], None],
    recent_urls: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rdfspider.frontier.urls.sieve.RECENT_URLS", recent_urls)
    frontier = open_frontier(frontier={"delay_s": 0.0}, crawl={"depth": 5})
    crawler = Crawler(frontier, clock)
    frontier.add([Discovered("https://a.org/0", 3), Discovered(URL, 3, via=77)])
    arrive(frontier, crawler, lambda: None if frontier.add([Discovered(URL, found_as="seed")]) == 0 else pytest.fail())
    # What comes later and is worse changes nothing.
    frontier.add([Discovered(URL, 2, via=78)])
    lease = crawler.next_page()
    if lease.url != URL:
        frontier.finish(lease, frontier.release(lease, capture(lease.url)))
        lease = crawler.next_page()
    assert (lease.url, lease.found_as, lease.depth, lease.via) == (URL, "seed", 0, 0)
    frontier.finish(lease, frontier.release(lease, capture(URL)))
    frontier.commit()
    entry = frontier.find(URL)
    assert entry is not None
    assert (entry.state, entry.found_as) == ("done", "seed")
    check_counts(frontier)
    assert frontier.next_lease_in_s() is None


@pytest.mark.parametrize("exchange", [MOVED, GONE], ids=["moved", "failed"])
@pytest.mark.parametrize("moment", ["leased", "recorded", "committed", "reopened"])
@pytest.mark.parametrize("times", [1, 3])
def test_a_redirect_or_failure_that_becomes_a_seed_is_asked_again_once(
    open_frontier: OpenFrontier, clock: HandClock, exchange: object, moment: str, times: int
) -> None:
    frontier = open_frontier(**QUICK)
    frontier.add([Discovered(URL, 3)])
    frontier.commit()
    lease = Crawler(frontier, clock).next_page()
    if moment == "leased":
        for _ in range(times):
            frontier.add([Discovered(URL, found_as="seed"), Discovered(URL, 1)])
    frontier.finish(lease, frontier.release(lease, exchange))  # type: ignore[arg-type]
    if moment in ("committed", "reopened"):
        frontier.commit()
    if moment == "reopened":
        frontier.close()
        frontier = open_frontier(**QUICK)
    if moment != "leased":
        for _ in range(times):
            frontier.add([Discovered(URL, found_as="seed", via=5, chain=("https://a.org/from",))])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    again = crawler.next_page()
    assert (again.url, again.found_as, again.depth) == (URL, "seed", 0)
    frontier.finish(again, frontier.release(again, capture(URL)))
    frontier.commit()
    check_counts(frontier)
    assert frontier.counts.done == 1
    assert frontier.next_lease_in_s() is None, "once is enough"
    frontier.add([Discovered(URL, found_as="seed")])
    assert not frontier.counts.scheduled


def test_a_page_that_becomes_a_seed_is_not_fetched_again(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**QUICK)
    frontier.add([Discovered(URL, 3)])
    frontier.commit()
    Crawler(frontier, clock).run()
    frontier.add([Discovered(URL, found_as="seed")])
    frontier.commit()
    assert not frontier.counts.scheduled
    entry = frontier.find(URL)
    assert entry is not None
    assert (entry.state, entry.found_as) == ("done", "seed")


@pytest.mark.parametrize(
    ("settings", "link", "is_again"),
    [
        ({"depth": 5}, Discovered(URL, 2), True),
        ({"depth": 5}, Discovered(URL, 3), False),
        ({"depth": 5}, Discovered(URL, 4), False),
        ({}, Discovered(URL, 1), False),
        ({"scope": "prefix"}, Discovered(URL, found_as="seed"), True),
        ({"scope": "domain"}, Discovered(URL, found_as="seed"), False),
    ],
)
def test_a_page_is_fetched_again_where_its_links_were_turned_away(
    open_frontier: OpenFrontier, clock: HandClock, settings: dict[str, object], link: Discovered, is_again: bool
) -> None:
    frontier = open_frontier(**QUICK, crawl=settings)
    frontier.add([Discovered(URL, 3)])
    frontier.commit()
    lease = Crawler(frontier, clock).next_page()
    frontier.finish(
        lease, frontier.release(lease, capture(URL)), PageFacts(etag='"1"', last_modified="today", captured=1.0)
    )
    frontier.commit()
    frontier.add([link])
    frontier.commit()
    assert frontier.counts.scheduled == is_again
    if is_again:
        again = Crawler(frontier, clock).next_page()
        assert (again.depth, again.etag, again.last_modified) == (link.depth, "", ""), "its links are wanted, not a 304"


def test_a_limit_of_depth_counts_the_shortest_way_whatever_was_first(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(**QUICK, crawl={"depth": 3})
    # Many ways lead to one page, the longer ones first; the cache has seen them all.
    for depth in (3, 2, 2, 3, 1, 2):
        frontier.add([Discovered(URL, depth)])
    frontier.commit()
    assert Crawler(frontier, clock).next_page().depth == 1


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_shorter_chain_of_redirects_saves_what_a_longer_one_has_lost(
    open_frontier: OpenFrontier, clock: HandClock, is_recorded: bool
) -> None:
    frontier = open_frontier(**QUICK)
    long = tuple(f"https://a.org/{number}" for number in range(10))
    frontier.add([Discovered(URL, 1, "redirect", 5, long)])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    if is_recorded:
        lease = crawler.next_page()
        verdict = frontier.release(lease, MOVED)
        assert (verdict.state, verdict.reason) == ("failed", "too-many-redirects")
        frontier.finish(lease, verdict)
        frontier.commit()
        frontier.add([Discovered(URL, 1, "redirect", 6, long)])
        frontier.commit()
        assert not frontier.counts.scheduled, "as long as before"
    frontier.add([Discovered(URL, 2, "link", 6)])
    lease = crawler.next_page()
    assert (lease.url, lease.chain, lease.found_as) == (URL, (), "link")
    verdict = frontier.release(lease, MOVED)
    assert (verdict.state, verdict.reason) == ("done", "redirect")
    frontier.finish(lease, verdict)
    frontier.commit()
    check_counts(frontier)


@pytest.mark.parametrize("end", ["kill", "give back", "go on"])
def test_a_better_way_to_a_page_that_is_asked_for_outlives_the_process(
    open_frontier: OpenFrontier, clock: HandClock, end: str
) -> None:
    settings = {**QUICK, "crawl": {"depth": 5}}
    frontier = open_frontier(**settings)
    frontier.add([Discovered(URL, 4)])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    lease = crawler.next_page()
    frontier.add([Discovered(URL, 1, via=9)])
    frontier.commit()
    if end == "kill":
        kill(frontier)
    else:
        frontier.release(lease, None)
        frontier.commit()
    if end == "give back":
        frontier.close()
    if end != "go on":
        frontier = open_frontier(**settings)
        crawler = Crawler(frontier, clock)
    lease = crawler.next_page()
    assert (lease.depth, lease.via) == (1, 0), "its depth alone was better"
    frontier.finish(lease, frontier.release(lease, capture(URL)))
    frontier.commit()
    check_counts(frontier)
    assert frontier.next_lease_in_s() is None


def test_ways_that_come_together_count_once(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**QUICK, crawl={"depth": 5})
    frontier.add([Discovered(URL, 4), Discovered(URL, 3)])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run()
    frontier.add([Discovered(URL, 1), Discovered(URL, 2), Discovered(URL, found_as="seed"), Discovered(URL, 1)])
    frontier.commit()
    assert frontier.counts.scheduled == 1
    lease = crawler.next_page()
    assert (lease.depth, lease.found_as) == (0, "seed")
    frontier.finish(lease, frontier.release(lease, capture(URL)))
    frontier.commit()
    check_counts(frontier)
    assert frontier.next_lease_in_s() is None


@pytest.mark.parametrize("exchange", [capture(URL), capture(URL, 404), MOVED, GONE])
@pytest.mark.parametrize("moment", ["leased", "recorded", "committed"])
def test_a_url_that_becomes_a_context_is_asked_for_again_once(
    open_frontier: OpenFrontier, clock: HandClock, exchange: object, moment: str
) -> None:
    frontier = open_frontier(**QUICK)
    frontier.add([Discovered(URL, 3)])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    lease = crawler.next_page()
    wanted = Discovered(URL, 2, "context", 9, ("https://b.org/name",))
    if moment == "leased":
        frontier.add([wanted])
    frontier.finish(lease, frontier.release(lease, exchange), PageFacts(etag='"1"', captured=1.0))  # type: ignore[arg-type]
    if moment == "committed":
        frontier.commit()
    frontier.add([wanted])
    frontier.commit()
    again = crawler.next_page()
    assert (again.found_as, again.via, again.chain, again.etag) == ("context", 9, wanted.chain, "")
    frontier.finish(again, frontier.release(again, capture(URL)))
    frontier.add([wanted, Discovered(URL, 2, "context", 10)])
    frontier.commit()
    check_counts(frontier)
    assert frontier.next_lease_in_s() is None, "once is enough"


def test_a_url_that_waits_and_becomes_a_context_comes_first(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**QUICK)
    frontier.add([Discovered(f"https://a.org/{number}", 1) for number in range(60)])
    frontier.add([Discovered("https://a.org/alone", 5)])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run(pages=1)
    wanted = ["https://a.org/50", "https://a.org/alone"]
    frontier.add([Discovered(url, 1, "context", 9) for url in wanted])
    # Another name of the same, while it waits.
    frontier.add([Discovered(wanted[0], 1, "context", 9, ("https://b.org/name",))])
    frontier.commit()
    leases: list[Lease] = []
    while len(leases) < 60:
        leases.append(lease := crawler.next_page())
        frontier.finish(lease, frontier.release(lease, capture(lease.url)))
    frontier.commit()
    assert frontier.next_lease_in_s() is None
    # But for those that were read before.
    assert {lease.url for lease in leases[:21] if lease.found_as == "context"} == set(wanted)
    assert next(lease.chain for lease in leases if lease.url == wanted[0]) == ("https://b.org/name",)
    assert len({lease.url for lease in leases}) == 60
    check_counts(frontier)
    assert not frontier.counts.scheduled
    frontier.close()
    assert open_frontier(**QUICK).next_lease_in_s() is None


def test_names_are_looked_up_anew_where_the_settings_for_that_have_changed(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    before = {"fetch": {"resolve": ("*.org=127.0.0.1",)}, **QUICK}
    frontier = open_frontier(**before)
    frontier.add([Discovered(f"https://a.org/{number}") for number in range(9)])
    frontier.commit()
    Crawler(frontier, clock).run(pages=1)
    for settings, is_asked in ((before, False), (QUICK, True), (QUICK, False), (before, True), (before, False)):
        frontier.close()
        frontier = open_frontier(**settings)
        lease = frontier.lease()
        assert lease is not None
        assert (lease.kind == "name") == is_asked
        frontier.release(lease, None)
        Crawler(frontier, clock).run(pages=1)


def test_a_page_that_has_changed_by_its_sitemap_is_asked_for_again_under_conditions(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0}, crawl={"revisit_s": 1e6})
    crawler = Crawler(frontier, clock)
    frontier.add([Discovered(URL, 1)])
    frontier.commit()
    lease = crawler.next_page()
    frontier.finish(lease, frontier.release(lease, capture(URL)), PageFacts(etag='"1"'))
    frontier.commit()
    seen = clock.now()
    clock.advance(1000)
    for modified in (0.0, seen - 10, seen):
        frontier.add([Discovered(URL, 1, "listed", modified=modified)])
    frontier.commit()
    assert frontier.next_lease_in_s() is None
    for _ in range(2):
        frontier.add([Discovered(URL, 1, "listed", modified=seen + 10)])
    frontier.commit()
    again = crawler.next_page()
    assert (again.url, again.etag) == (URL, '"1"')
    frontier.add([Discovered(URL, 1, "listed", modified=seen + 10)])
    frontier.finish(again, frontier.release(again, capture(URL)))
    frontier.add([Discovered(URL, 1, "listed", modified=seen + 10)])
    frontier.commit()
    check_counts(frontier)
    assert frontier.next_lease_in_s() is None, "once is enough"
    assert frontier.counts.future_visits == 1


def test_a_crawl_that_visits_pages_once_takes_no_notice_of_dates(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**QUICK)
    crawler = Crawler(frontier, clock)
    frontier.add([Discovered(URL)])
    crawler.run()
    frontier.add([Discovered(URL, modified=clock.now() + 1000)])
    frontier.commit()
    assert frontier.next_lease_in_s() is None
