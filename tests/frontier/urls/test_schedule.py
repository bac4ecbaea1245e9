"""How URLs become scheduled, for the first time and again."""

from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture
from tests.frontier.test_model import check_tables

from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered, Lease


def fetch(crawler: Crawler, position: tuple[str, int]) -> Lease:
    """Fetch the next page, which has validators and a place in the archive."""
    frontier = crawler.frontier
    lease = crawler.next_page()
    verdict = frontier.release(lease, capture(lease.url))
    facts = {"etag": '"1"', "last_modified": "Mon, 01 Jan 2024 00:00:00 GMT", "digest": "sha1:X", "captured": 1.0}
    frontier.finish(lease, verdict, PageFacts(position=position, **facts))  # type: ignore[arg-type]
    frontier.commit()
    return lease


def queue_rows(frontier: Frontier) -> int:
    return len(frontier._store.tables["queue"].scan(b"", b"\xff" * 20))


def test_a_lost_page_that_is_due_again_is_asked_for_without_conditions(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    settings = {"crawl": {"revisit_s": 3600.0}}
    frontier = open_frontier(**settings)
    frontier.add([Discovered("https://a.org/kept"), Discovered("https://a.org/lost")])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    kept, lost = fetch(crawler, ("facts-1", 100)), fetch(crawler, ("facts-1", 200))
    clock.advance(3700)
    assert frontier.lease() is None
    frontier.commit()
    assert (frontier.counts.scheduled, queue_rows(frontier)) == (2, 2)
    # A try in vain does not make it forget where its last capture is.
    again = crawler.next_page()
    frontier.finish(again, frontier.release(again, capture(again.url, 500)))
    frontier.commit()
    frontier.close()
    frontier = open_frontier(**settings)
    assert frontier.restarts.reschedule_lost(lambda segment, offset: (segment, offset) >= ("facts-1", 150)) == 1
    assert (frontier.counts.scheduled, frontier.counts.done, queue_rows(frontier)) == (2, 0, 2)
    check_tables(frontier)
    crawler = Crawler(frontier, clock)
    leases = {}
    for _ in range(2):
        lease = crawler.next_page()
        leases[lease.url] = (lease.etag, lease.last_modified, lease.digest, lease.captured)
        frontier.finish(lease, frontier.release(lease, capture(lease.url)))
    assert leases == {
        kept.url: ('"1"', "Mon, 01 Jan 2024 00:00:00 GMT", "sha1:X", 1.0),
        lost.url: ("", "", "", 0.0),
    }
    crawler.run()
    assert (frontier.counts.done, frontier.counts.scheduled) == (2, 0)


def test_visits_that_came_due_while_nothing_ran_keep_a_crawl_from_ending(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    settings = {"crawl": {"revisit_s": 3600.0}}
    frontier = open_frontier(**settings)
    frontier.add([Discovered("https://a.org/")])
    frontier.commit()
    Crawler(frontier, clock).run()
    frontier.close()
    frontier = open_frontier(**settings)
    assert frontier.next_lease_in_s() is None
    frontier.close()
    clock.advance(3700)
    frontier = open_frontier(**settings)
    assert frontier.next_lease_in_s() == 0
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert crawler.fetched == ["https://a.org/"]
    assert frontier.next_lease_in_s() is None


def test_a_host_that_has_all_the_urls_it_can_have_takes_no_more(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add([Discovered("https://a.org/1")])
    frontier._hosts.get(1).record.next_sequence = frontier._url_rows.ids.max_sequence - 1
    assert frontier.add([Discovered("https://a.org/2"), Discovered("https://a.org/3")]) == 1
    assert frontier.add([Discovered("https://a.org/4")]) == 0
    frontier.commit()
    assert (frontier.counts.known, frontier.counts.scheduled, queue_rows(frontier)) == (2, 2, 2)
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert crawler.fetched == ["https://a.org/1", "https://a.org/2"]
