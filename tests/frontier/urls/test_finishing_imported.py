"""Pages of other archives in a frontier: they are counted, and use up no budget."""

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier

from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered, Verdict


def import_page(frontier: Frontier, url: str, reason: str = "imported") -> None:
    facts = PageFacts(captured=1_600_000_000.0, body_bytes=100, quads=5, position=("facts-000", 10))
    frontier.imports.record(url, Verdict("done", reason, 200), facts)
    frontier.commit()


@pytest.mark.parametrize("limit", ["pages_per_host", "pages_per_domain"])
def test_budgets_are_for_what_is_fetched_also_after_a_start(
    limit: str, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(crawl={limit: 2})
    for number in range(3):
        import_page(frontier, f"http://a.example/old-{number}")
    frontier.close()
    frontier = open_frontier(crawl={limit: 2})
    frontier.add([Discovered(f"http://a.example/{number}") for number in range(5)])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert len(crawler.fetched) == 2
    assert (frontier.counts.pages, frontier.counts.fetched_pages, frontier.counts.over_budget) == (5, 2, 3)


@pytest.mark.parametrize("reason", ["imported", "noindex"])
def test_one_that_the_archive_has_lost_counts_as_fetched_when_it_comes_again(
    reason: str, open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    import_page(frontier, "http://a.example/", reason)
    assert (frontier.counts.pages, frontier.counts.fetched_pages, frontier.counts.fetched_bytes) == (1, 0, 0)
    assert frontier.restarts.reschedule_lost(lambda segment, offset: segment == "facts-000") == 1
    assert (frontier.counts.pages, frontier.counts.fetched_pages) == (0, 0)
    Crawler(frontier, clock).run()
    assert (frontier.counts.pages, frontier.counts.fetched_pages) == (1, 1)
