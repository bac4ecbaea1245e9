"""The whole frontier: no URL is lost, none is fetched twice without a reason, whatever happens in between."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture, kill

from rdfspider.errors import UsageError
from rdfspider.frontier.entries import PageFacts, Refusal
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.keys import pack_row
from rdfspider.frontier.outbox import Cursor
from rdfspider.frontier.state import stage_state
from rdfspider.records import Discovered, Failure, Verdict


def links(count: int, hosts: int = 1, **fields: int) -> list[Discovered]:
    return [Discovered(f"https://h{i % hosts}.example{i % hosts}.org/page/{i}", **fields) for i in range(count)]


def read_validators(frontier: Frontier, url: str) -> tuple[str, str]:
    row, _ = frontier._url_rows.read(pack_row(*(frontier._sieve.find(url) or (0, 0))))
    return row.etag, row.last_modified


def test_every_url_is_fetched_once(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    assert frontier.add(links(500, hosts=7)) == 500
    assert frontier.add(links(500, hosts=7)) == 0, "what is staged was seen"
    frontier.commit()
    assert frontier.add(links(500, hosts=7)) == 0
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert Counter(crawler.fetched) == Counter(link.url for link in links(500, hosts=7))
    assert (frontier.counts.known, frontier.counts.done, frontier.counts.scheduled) == (500, 500, 0)
    assert (frontier.counts.pages, frontier.counts.hosts, frontier.counts.active_hosts) == (500, 7, 0)


def test_what_is_staged_is_not_leased_before_the_commit(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    frontier.add(links(1))
    assert frontier.has_staged
    assert frontier.lease() is None
    assert frontier.next_lease_in_s() is None
    frontier.commit()
    assert not frontier.has_staged
    assert frontier.next_lease_in_s() == 0.0
    assert frontier.lease() is not None


def test_a_lease_tells_all_that_is_known(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add([Discovered("https://a.org/x", 3, "redirect", 77, ("https://a.org/w",))])
    frontier.commit()
    lease = Crawler(frontier, clock).next_page()
    assert (lease.url, lease.depth, lease.found_as, lease.via) == ("https://a.org/x", 3, "redirect", 77)
    assert lease.chain == ("https://a.org/w",)
    assert lease.addresses == ("192.0.2.1",)
    assert lease.robots and lease.robots.rule == "allow"
    assert frontier.url_of(lease.url_id) == lease.url
    assert frontier.url_of(lease.url_id + 1) is None


def test_a_page_with_ten_thousand_links(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    assert frontier.add(links(10_000)) == 10_000
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert len(crawler.fetched) == len(set(crawler.fetched)) == 10_000


def test_the_ledger_tells_what_became_of_a_url(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add([Discovered("https://a.org/x", 1, "link", 5)])
    frontier.commit()
    entry = frontier.find("https://a.org/x")
    assert entry and (entry.state, entry.depth, entry.via, entry.reason) == ("scheduled", 1, 5, "")
    assert frontier.find("https://a.org/y") is None
    assert frontier.find("https://b.org/") is None
    crawler = Crawler(frontier, clock)
    lease = crawler.next_page()
    verdict = frontier.release(lease, capture(lease.url))
    frontier.finish(
        lease,
        verdict,
        PageFacts(
            digest="sha1:AAA",
            etag='"e"',
            last_modified="Mon",
            captured=12.0,
            body_bytes=100,
            quads=7,
            position=("facts-1", 99),
        ),
    )
    frontier.commit()
    entry = frontier.find("https://a.org/x")
    assert entry and (entry.state, entry.reason, entry.status) == ("done", "fetched", 200)
    assert (entry.digest, *read_validators(frontier, entry.url), entry.captured) == ("sha1:AAA", '"e"', "Mon", 12.0)
    assert (entry.quads, entry.position, entry.decided) == (7, ("facts-1", 99), clock.now())
    assert (frontier.counts.body_bytes, frontier.counts.quads) == (100, 7)


def test_a_refused_page_is_disallowed_and_moves_no_clock(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add(links(3))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    lease = crawler.next_page()
    verdict = frontier.release(lease, Refusal("disallowed"))
    assert verdict == Verdict("failed", "disallowed")
    frontier.finish(lease, verdict)
    following = frontier.lease()
    assert following and following.kind == "page" and following.url != lease.url
    frontier.commit()
    assert frontier.counts.disallowed == 1
    entry = frontier.find(lease.url)
    assert entry and (entry.state, entry.reason) == ("disallowed", "disallowed")


def test_what_is_given_back_is_first_in_line(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add(links(3))
    frontier.commit()
    name = frontier.lease()
    assert name and name.kind == "name"
    frontier.release(name, None)
    crawler = Crawler(frontier, clock)
    lease = crawler.next_page()
    frontier.release(lease, None)
    assert frontier.counts.in_flight == 0
    assert frontier.lease() == lease
    frontier.release(lease, None)
    crawler.run()
    assert len(crawler.fetched) == 3


def test_a_killed_process_loses_nothing_and_repeats_only_what_was_not_recorded(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(frontier={"delay_s": 0.0})
    frontier.add(links(100))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run(pages=30)
    in_flight = [crawler.next_page() for _ in range(3)]
    unsaved = crawler.next_page()
    frontier.finish(unsaved, frontier.release(unsaved, capture(unsaved.url)))
    kill(frontier)
    again = open_frontier(frontier={"delay_s": 0.0})
    assert again.counts.scheduled == 70
    assert again.counts.in_flight == 0
    second = Crawler(again, clock)
    second.run()
    assert Counter(crawler.fetched + second.fetched) == Counter(link.url for link in links(100))
    assert {lease.url for lease in in_flight} | {unsaved.url} <= set(second.fetched)
    assert again.counts.done == 100


def test_out_of_order_records_leave_the_rest_in_the_queue(open_frontier: OpenFrontier, clock: HandClock) -> None:
    """The head may not pass a URL that is not recorded, nor a URL that is be handed out again."""
    frontier = open_frontier(frontier={"delay_s": 0.0})
    frontier.add(links(60))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    held = [crawler.next_page()]
    recorded = []
    for _ in range(50):
        lease = crawler.next_page()
        frontier.finish(lease, frontier.release(lease, capture(lease.url)))
        recorded.append(lease.url)
        frontier.commit()
    kill(frontier)
    again = open_frontier(frontier={"delay_s": 0.0})
    second = Crawler(again, clock)
    second.run()
    assert second.fetched[0] == held[0].url
    assert Counter(recorded + second.fetched) == Counter(link.url for link in links(60))


def test_kill_at_any_commit(open_frontier: OpenFrontier, clock: HandClock) -> None:
    """A site that is discovered while it is crawled, with errors, is complete whichever commit was the last."""

    def follow(frontier: Frontier, crawler: Crawler) -> None:
        lease = crawler.next_page()
        number = int(lease.url.rpartition("/")[2])
        failure = Failure(lease.url, "reset") if number % 5 == 3 and lease.attempts == 0 else None
        verdict = frontier.release(lease, failure or capture(lease.url))
        frontier.finish(lease, verdict)
        if verdict.state == "done":
            children = [2 * number, 2 * number + 1]
            frontier.add(Discovered(f"https://h{n % 3}.org/{n}", 1) for n in children if 0 < n < 64)
            crawler.fetched.append(lease.url)

    frontier = open_frontier()
    frontier.add([Discovered("https://h1.org/1")])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    turn = 0
    fetched: list[str] = []
    while frontier.counts.scheduled:
        for _ in range(4):
            if frontier.counts.scheduled:
                follow(frontier, crawler)
        frontier.commit()
        fetched += crawler.fetched
        crawler.fetched.clear()
        turn += 1
        if turn % 3 == 0:
            if frontier.counts.scheduled:
                crawler.next_page()
            kill(frontier)
            frontier = open_frontier()
            crawler = Crawler(frontier, clock)
            assert frontier.counts.in_flight == 0
    assert Counter(fetched) == Counter(f"https://h{n % 3}.org/{n}" for n in range(1, 64))


WRITER = """
import sys, time
from pathlib import Path
from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.keys import pack_row
from rdfspider.frontier.outbox import Cursor
from rdfspider.records import Discovered
frontier = Frontier(Path(sys.argv[1]), Config(), Domains(bundled_suffix_list(), 1), 0)
number = 0
while True:
    frontier.add(Discovered(f"https://h{n % 10}.org/{n}") for n in range(number, number + 50))
    number += 50
    frontier.meta.put("number", str(number).encode())
    frontier.commit()
    print(number, flush=True)
"""


def test_sigkill_in_the_middle_of_writing(open_frontier: OpenFrontier, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "frontier")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    for _ in range(20):
        committed = int(process.stdout.readline())
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    committed = max([committed, *(int(line) for line in process.stdout.read().split())])
    process.wait()
    process.stdout.close()
    frontier = open_frontier()
    number = int(frontier.meta.get("number") or b"0")
    assert number in (committed, committed + 50)
    assert frontier.counts.known == frontier.counts.scheduled == number
    assert frontier.add(Discovered(f"https://h{n % 10}.org/{n}") for n in range(number)) == 0
    assert frontier.epoch == 2


def test_close_forgets_what_is_staged(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    frontier.add(links(5))
    frontier.commit()
    frontier.add(links(9))
    frontier.close()
    frontier.close()
    frontier = open_frontier()
    assert frontier.counts.known == 5
    assert frontier.add(links(9)) == 4


def test_generations_tell_what_was_stored(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    first = frontier.generation
    frontier.commit()
    assert frontier.generation == first
    frontier.meta.put("key", b"value")
    frontier.commit()
    assert frontier.generation > first
    assert first[0] == frontier.epoch == 1


def test_values_of_the_caller_are_stored_with_the_commit(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    assert frontier.meta.get("warc") is None
    frontier.meta.put("warc", b"1")
    assert frontier.meta.get("warc") == b"1"
    frontier.commit()
    frontier.meta.put("warc", b"2")
    frontier.close()
    assert open_frontier().meta.get("warc") == b"1"


def test_a_folder_in_use_and_one_of_another_version_say_so(
    open_frontier: OpenFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = open_frontier()
    with pytest.raises(UsageError, match="in use"):
        open_frontier()
    frontier.close()
    monkeypatch.setattr("rdfspider.frontier.state._VERSION", b"2")
    with pytest.raises(UsageError, match="another version"):
        open_frontier()


def receive(
    frontier: Frontier, source: int, epoch: int, sequence: int, sent: list[Discovered], previous: Cursor = (0, 0)
) -> bool:
    is_new = frontier.inbox.accept(source, (epoch, sequence), previous)
    if is_new:
        frontier.add(sent)
    return is_new


def test_links_from_another_shard_are_taken_once_and_in_order(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    assert frontier.inbox.cursor(3) == (0, 0)
    assert receive(frontier, 3, 5, 1, links(2))
    assert not receive(frontier, 3, 5, 1, links(2)), "a repeat, though it is only staged"
    assert frontier.inbox.cursor(3) == (0, 0), "not committed"
    assert receive(frontier, 3, 5, 2, links(3), (5, 1))
    assert not frontier.inbox.lacking
    frontier.commit()
    assert frontier.inbox.cursor(3) == (5, 2)
    frontier.close()
    frontier = open_frontier()
    assert frontier.inbox.cursor(3) == (5, 2)
    assert not receive(frontier, 3, 5, 2, links(3))
    assert not receive(frontier, 3, 4, 9, links(3)), "of an older epoch"
    assert receive(frontier, 3, 6, 1, links(4), (5, 2))
    assert frontier.counts.known == 4


def test_a_shard_without_an_earlier_entry_lacks_it_until_it_is_told_again(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    assert receive(frontier, 3, 5, 9, links(1), (5, 8))
    frontier.commit()
    frontier.close()
    frontier = open_frontier()
    assert frontier.inbox.lacking == {3}
    assert receive(frontier, 3, 5, 10, links(2), (5, 9))
    frontier.inbox.complete(3)
    frontier.commit()
    frontier.close()
    assert not open_frontier().inbox.lacking


def test_the_outbox_keeps_what_was_not_received(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    for payload in (b"one", b"two", b"three"):
        frontier.outbox.put(1, payload)
    frontier.outbox.put(2, b"other")
    assert frontier.outbox.read(1, (0, 0), 100) == [], "not committed"
    frontier.commit()
    assert frontier.outbox.stored_bytes == 16
    assert frontier.outbox.read(1, (0, 0), 100) == [((1, 1), b"one"), ((1, 2), b"two"), ((1, 3), b"three")]
    assert frontier.outbox.read(1, (0, 0), 6) == [((1, 1), b"one"), ((1, 2), b"two")]
    assert frontier.outbox.read(1, (1, 2), 1) == [((1, 3), b"three")], "one is always given"
    frontier.outbox.free(1, (1, 2))
    frontier.commit()
    assert frontier.outbox.stored_bytes == 10
    frontier.close()
    frontier = open_frontier()
    frontier.outbox.put(1, b"four")
    frontier.commit()
    assert frontier.outbox.read(1, (0, 0), 100) == [((1, 3), b"three"), ((2, 1), b"four")]
    frontier.outbox.free(1, (2, 1))
    frontier.outbox.free(2, (1, 1))
    frontier.commit()
    assert frontier.outbox.stored_bytes == 0


def test_pages_are_visited_again_when_they_are_due(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(crawl={"revisit_s": 3600.0})
    frontier.add(links(3))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    lease = crawler.next_page()
    frontier.finish(
        lease, frontier.release(lease, capture(lease.url)), PageFacts(etag='"1"', digest="sha1:X", captured=1.0)
    )
    crawler.run()
    assert frontier.counts.future_visits == 3
    assert frontier.next_lease_in_s() is None, "future visits keep no crawl alive"
    clock.advance(3601)
    assert frontier.lease() is None
    assert frontier.has_staged
    frontier.commit()
    assert frontier.counts.scheduled == 3
    again = crawler.next_page()
    assert (again.url, again.etag, again.digest, again.captured) == (lease.url, '"1"', "sha1:X", 1.0)
    frontier.finish(again, frontier.release(again, capture(again.url, 304)))
    crawler.run()
    entry = frontier.find(lease.url)
    assert entry and (entry.reason, entry.digest) == ("unchanged", "sha1:X")
    assert read_validators(frontier, lease.url) == ('"1"', "")
    assert (frontier.counts.done, frontier.counts.pages, frontier.counts.future_visits) == (3, 5, 3)


def test_urls_of_a_damaged_archive_are_scheduled_again(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    frontier.add(links(4))
    frontier.commit()
    crawler = Crawler(frontier, clock)
    leases = []
    for number in range(4):
        lease = crawler.next_page()
        leases.append(lease)
        segment = "facts-1" if number < 3 else "facts-2"
        verdict = frontier.release(lease, capture(lease.url))
        frontier.finish(lease, verdict, PageFacts(quads=10, position=(segment, number * 100)))
    frontier.commit()
    assert frontier.restarts.reschedule_lost(lambda segment, offset: segment == "facts-1" and offset >= 100) == 2
    assert (frontier.counts.scheduled, frontier.counts.done, frontier.counts.pages) == (2, 2, 2)
    assert frontier.counts.quads == 20
    crawler.run()
    assert set(crawler.fetched) == {leases[1].url, leases[2].url}
    assert frontier.counts.pages == 4


def test_priorities_are_served_by_a_function_of_the_users(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(priority=lambda link: int(link.url[-1]) - 1)
    frontier.add([Discovered(f"https://a.org/{number}") for number in (9, 5, 3, 0, 4)])
    frontier.commit()
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert [url[-1] for url in crawler.fetched] == ["0", "3", "4", "5", "9"]


def test_depth_is_a_limit(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier(crawl={"depth": 2})
    assert frontier.add([Discovered("https://a.org/3", 3), Discovered("https://a.org/2", 2)]) == 1
    assert frontier.add([Discovered("https://a.org/3", 2)]) == 1, "it was not seen, as it was too deep"


def test_the_queue_is_counted_by_priority(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(priority=lambda link: int(link.url[-1]))
    frontier.add([Discovered(f"https://a.org/{number}/{number % 3}") for number in range(10)])
    frontier.commit()
    assert frontier.queued == [4, 3, 3, 0, 0, 0, 0, 0]
    crawler = Crawler(frontier, clock)
    while len(crawler.fetched) < 5:
        lease = frontier.lease()
        if lease is None:
            clock.advance(1.0)
        else:
            crawler.answer(lease)
    frontier.commit()
    assert frontier.queued == [0, 2, 3, 0, 0, 0, 0, 0]
    kill(frontier)
    frontier = open_frontier()
    assert frontier.queued == [0, 2, 3, 0, 0, 0, 0, 0]
    # One that was stored before they were counted has them all the same.
    frontier._state.queued = []
    stage_state(frontier._store, frontier._state)
    frontier._store.write()
    kill(frontier)
    assert open_frontier().queued == [0, 2, 3, 0, 0, 0, 0, 0]
