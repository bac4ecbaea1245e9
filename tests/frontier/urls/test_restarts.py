"""URLs that a filter turned away, and that come back."""

from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, kill

from rdfspider.frontier.entries import Refusal
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered, Lease

URLS = [f"http://a.example/{number}" for number in range(7)]


def refuse_all(frontier: Frontier, clock: HandClock) -> None:
    crawler = Crawler(frontier, clock)
    for _ in URLS:
        lease = crawler.next_page()
        refuse(frontier, lease)
    frontier.commit()


def refuse(frontier: Frontier, lease: Lease) -> None:
    frontier.finish(lease, frontier.release(lease, Refusal("filtered", "filter: --exclude x")))
    frontier.commit()


def review(frontier: Frontier, welcome: set[str]) -> None:
    after = frontier.restarts.review_refusals(b"", 2, lambda found_as, url: url in welcome)
    frontier.commit()
    while after:
        after = frontier.restarts.review_refusals(after, 2, lambda found_as, url: url in welcome)
        frontier.commit()


def test_what_is_welcome_again_is_scheduled_and_the_rest_stays(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add(Discovered(url) for url in URLS)
    frontier.commit()
    refuse_all(frontier, clock)
    assert (frontier.counts.disallowed, frontier.counts.scheduled) == (7, 0)
    entry = frontier.find(URLS[0])
    assert entry is not None
    assert (entry.state, entry.reason, entry.rule) == ("disallowed", "filtered", "filter: --exclude x")
    kill(frontier)

    frontier = open_frontier()
    review(frontier, set(URLS[:5]))
    assert (frontier.counts.disallowed, frontier.counts.scheduled) == (2, 5)
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert sorted(crawler.fetched) == URLS[:5]
    # Those that were fetched meanwhile are not fetched again.
    review(frontier, set(URLS))
    crawler.run()
    assert sorted(crawler.fetched) == URLS


def test_a_step_of_a_review_is_short_however_long_it_takes_to_judge_a_url(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    frontier.add(Discovered(url) for url in URLS)
    frontier.commit()
    refuse_all(frontier, clock)
    judged: list[str] = []

    def judge_slowly(found_as: str, url: str) -> bool:
        judged.append(url)
        clock.advance(0.015)
        return True

    after, steps = b"", []
    while (after := frontier.restarts.review_refusals(after, 500, judge_slowly)) or not steps:
        frontier.commit()
        steps.append(len(judged) - sum(steps))
    assert steps == [2, 2, 2, 1]
    assert sorted(judged) == URLS
    assert frontier.counts.scheduled == 7


def test_what_robots_txt_turned_away_does_not_come_back(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add([Discovered(URLS[0])])
    frontier.commit()
    lease = Crawler(frontier, clock).next_page()
    frontier.finish(lease, frontier.release(lease, Refusal("disallowed", "Disallow: /")))
    frontier.commit()
    review(frontier, set(URLS))
    assert frontier.counts.scheduled == 0


def test_a_filtered_url_that_becomes_a_seed_is_fetched(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add([Discovered(URLS[0], depth=1)])
    frontier.commit()
    refuse(frontier, Crawler(frontier, clock).next_page())
    frontier.add([Discovered(URLS[0], found_as="seed")])
    frontier.commit()
    assert Crawler(frontier, clock).next_page().found_as == "seed"
