"""Budgets of patterns: what is refused, what is tried all the same, and what comes back."""

from collections.abc import Callable
from zlib import crc32

import pytest
from msgspec.structs import replace
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture, kill
from tests.frontier.test_model import check_tables

from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered, Judgement, Lease

SETTINGS = {"frontier": {"delay_s": 0.0}, "fetch": {"connections": 1}}
A = "https://a.org"
SAME = Judgement(digest="sha1:AAAA", words=(1, 2, 3))


def new_data(url: str) -> Judgement:
    return Judgement(data=(crc32(url.encode()), crc32(url.encode() * 2)))


class Reader:
    """Crawls, and says of pages what the test says."""

    def __init__(self, frontier: Frontier, clock: HandClock) -> None:
        self.frontier = frontier
        self.crawler = Crawler(frontier, clock)
        self.judge: Callable[[str], Judgement] = lambda url: SAME
        self.links: Callable[[str], list[str]] = lambda url: []
        self.read: list[str] = []

    def run(self, pages: int = 10_000) -> None:
        while len(self.read) < pages:
            lease = self.frontier.lease()
            if lease is not None and lease.kind == "page":
                self.take(lease)
            elif lease is not None:
                self.crawler.answer(lease)
            else:
                self.frontier.commit()
                wait_s = self.frontier.next_lease_in_s()
                if wait_s is None:
                    break
                self.crawler.clock.advance(wait_s + 1e-6)

    def take(self, lease: Lease) -> None:
        verdict = self.frontier.release(lease, capture(lease.url))
        judgement = self.judge(lease.url)
        self.frontier.finish(lease, verdict, PageFacts(quads=len(judgement.data), judgement=judgement))
        self.read.append(lease.url)
        links = [Discovered(url, lease.depth + 1, "link", lease.url_id) for url in self.links(lease.url)]
        self.frontier.add(links)
        self.frontier.commit()


def add(frontier: Frontier, count: int, form: str = "/calendar/{}", first: int = 0) -> list[str]:
    urls = [A + form.format(number) for number in range(first, first + count)]
    frontier.add([Discovered(url, 1) for url in urls])
    frontier.commit()
    return urls


def test_a_pattern_without_news_is_refused_without_a_request(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    urls = add(frontier, 400)
    reader = Reader(frontier, clock)
    reader.run()
    # One run had been read when the budget was used up; the tenth and the hundredth after it are probes.
    assert len(reader.read) == 22
    last = frontier.find(urls[-1])
    assert last is not None
    assert (last.state, last.reason, last.status) == ("disallowed", "trap", 0)
    assert last.rule == "pattern /calendar/0 gave nothing new in 21 pages"
    assert frontier.counts.disallowed == frontier.counts.trapped == 400 - 22
    assert frontier.counts.scheduled == 0
    check_tables(frontier)


def test_a_trap_that_leads_to_itself_ends(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    add(frontier, 1)
    reader = Reader(frontier, clock)
    reader.links = lambda url: [f"{A}/calendar/{int(url.rpartition('/')[2]) * 50 + number}" for number in range(1, 51)]
    reader.run()
    assert len(reader.read) < 60
    assert frontier.counts.scheduled == 0


def test_months_and_days_do_not_keep_each_other_alive(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    add(frontier, 1, "/month/{}")
    reader = Reader(frontier, clock)

    def links(url: str) -> list[str]:
        kind, _, number = url.removeprefix(A + "/").partition("/")
        if kind == "day":
            return [f"{A}/month/{number}1"]
        return [f"{A}/day/{number}{day}" for day in range(10, 40)]

    reader.links = links
    reader.run()
    assert len(reader.read) < 150
    assert frontier.counts.scheduled == 0


def test_pages_with_new_data_are_never_refused(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    add(frontier, 300)
    reader = Reader(frontier, clock)
    reader.judge = new_data
    reader.run()
    assert len(reader.read) == 300


def test_a_site_that_repeats_itself_ends(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    add(frontier, 200, "/session/{}/page")
    reader = Reader(frontier, clock)
    # They are more than a pattern remembers, and the first of each was elsewhere on the site.
    reader.judge = lambda url: replace(new_data(url), duplicate="exact", original="https://www.a.org:8443/page")
    reader.run()
    assert 15 <= len(reader.read) < 60


@pytest.mark.parametrize(
    ("kind", "original"), [("exact", "https://b.org/page"), ("canonical", A + "/"), ("near", A + "/")]
)
def test_what_repeats_another_site_or_only_says_so_is_not_refused_for_it(
    open_frontier: OpenFrontier, clock: HandClock, kind: str, original: str
) -> None:
    frontier = open_frontier(**SETTINGS)
    urls = add(frontier, 200)
    reader = Reader(frontier, clock)
    reader.judge = lambda url: replace(new_data(url), duplicate=kind, original=original)
    reader.run()
    assert sorted(reader.read) == sorted(urls)


def test_pages_that_nobody_judged_are_never_refused(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    add(frontier, 100)
    reader = Reader(frontier, clock)
    reader.judge = lambda url: Judgement()
    reader.run()
    assert len(reader.read) == 100


def test_a_list_that_leads_to_data_is_never_refused(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    add(frontier, 1, "/list/{}")
    reader = Reader(frontier, clock)

    def links(url: str) -> list[str]:
        number = int(url.rpartition("/")[2])
        return [f"{A}/list/{number + 1}", f"{A}/thing/{number}"] if "/list/" in url and number < 200 else []

    reader.links = links
    reader.judge = lambda url: new_data(url) if "/thing/" in url else SAME
    reader.run()
    assert len(reader.read) == 401


def choose_parameters(number: int) -> str:
    """Some of eight, other ones for every number."""
    return "&".join(f"{name}={number}" for place, name in enumerate("abcdefgh") if (number + 3) >> place & 1)


def test_parameters_that_multiply_end_together(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    for number in range(240):
        add(frontier, 1, f"/shop?{choose_parameters(number)}")
    reader = Reader(frontier, clock)
    reader.judge = lambda url: Judgement(words=new_data(url).data)
    reader.run()
    # Those with one parameter are no sets.
    assert len([url for url in reader.read if "&" in url]) < 50
    assert frontier.counts.scheduled == 0
    check_tables(frontier)


def test_things_with_parameters_are_never_refused(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    urls = add(frontier, 200, "/item?id={}&lang=de")
    for number in range(240):
        urls += add(frontier, 1, f"/index.php?{choose_parameters(number)}")
    reader = Reader(frontier, clock)
    reader.judge = new_data
    reader.run()
    assert sorted(reader.read) == sorted(urls)


def test_a_search_that_leads_to_data_is_never_refused(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    add(frontier, 1, "/search?start={}")
    reader = Reader(frontier, clock)

    def links(url: str) -> list[str]:
        number = len(reader.read)
        if "/search?" not in url or number > 400:
            return []
        return [f"{A}/search?{choose_parameters(number)}", f"{A}/thing/{number}"]

    reader.links = links
    reader.judge = lambda url: new_data(url) if "/thing/" in url else SAME
    reader.run()
    assert len(reader.read) > 400
    assert frontier.counts.disallowed == 0


def test_a_probe_with_something_new_brings_back_what_was_refused(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    urls = add(frontier, 1500)
    reader = Reader(frontier, clock)
    # The hundredth URL after the budget was used up is the second probe.
    reader.judge = lambda url: new_data(url) if len(reader.read) >= 21 else SAME
    reader.run()
    assert sorted(reader.read) == sorted(urls)
    assert frontier.counts.disallowed == 0
    check_tables(frontier)


def test_coming_back_survives_a_kill(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    urls = add(frontier, 1500)
    reader = Reader(frontier, clock)
    reader.judge = lambda url: new_data(url) if len(reader.read) >= 21 else SAME
    reader.run(pages=22)
    assert frontier.counts.disallowed > 0
    assert frontier._traps.restoring
    kill(frontier)
    frontier = open_frontier(**SETTINGS)
    assert frontier.next_lease_in_s() == 0
    again = Reader(frontier, clock)
    again.judge = new_data
    again.run()
    assert frontier.counts.disallowed == frontier.counts.trapped == 0
    assert sorted({*reader.read, *again.read}) == sorted(urls)
    assert not frontier._traps.restoring
    check_tables(frontier)


def test_a_budget_that_is_used_up_survives_a_kill(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    add(frontier, 60)
    Reader(frontier, clock).run()
    kill(frontier)
    frontier = open_frontier(**SETTINGS)
    add(frontier, 60, first=60)
    reader = Reader(frontier, clock)
    reader.run()
    assert len(reader.read) <= 1, "no more than a probe"


def test_seeds_are_fetched_whatever_their_pattern_has_given(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS)
    urls = add(frontier, 60)
    Reader(frontier, clock).run()
    refused = urls[-1]
    entry = frontier.find(refused)
    assert entry is not None and entry.reason == "trap"
    never_seen = f"{A}/calendar/999"
    frontier.add([Discovered(url, found_as="seed") for url in (refused, never_seen)])
    frontier.commit()
    reader = Reader(frontier, clock)
    reader.run()
    assert sorted(reader.read) == sorted([refused, never_seen])


def test_visits_again_are_not_held_against_a_pattern(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier(**SETTINGS, crawl={"revisit_s": 60.0})
    add(frontier, 10)
    crawler = Crawler(frontier, clock)
    for _ in range(50):
        lease = crawler.next_page()
        verdict = frontier.release(lease, capture(lease.url))
        frontier.finish(lease, verdict, PageFacts(captured=clock.now(), judgement=SAME))
        frontier.commit()
        clock.advance(7)
    pattern = frontier._patterns.of(frontier._hosts.get(1))
    assert pattern is not None
    assert pattern.by_key["/calendar/0"].visits == 10


def test_queued_urls_of_a_pattern_that_proves_barren_go_behind_others(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier(**SETTINGS)
    home = add(frontier, 1, "/")
    forum, things = add(frontier, 60, "/forum/t-{}"), add(frontier, 60, "/thing/t-{}")
    reader = Reader(frontier, clock)
    reader.judge = lambda url: Judgement(words=new_data(url).data) if "/forum/" in url else new_data(url)
    reader.run()
    first = reader.read[:81]
    assert len(set(first) & set(things)) == 60
    assert set(reader.read) == {*home, *forum, *things}, "and are fetched all the same"
    check_tables(frontier)
