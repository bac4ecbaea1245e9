"""Crawls of random sites with random answers, kills and pauses: what must hold of every one of them."""

from collections import Counter
from random import Random

import pytest
from tests.frontier.conftest import DAY_S, HandClock, OpenFrontier, capture, kill

from rdfspider.frontier.entries import PageFacts, Refusal, RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.hosts import decode_host
from rdfspider.frontier.url_rows import SCHEDULED, decode_row, decode_url
from rdfspider.records import Addresses, Discovered, Esteem, Failure, Judgement, Lease, RobotsState, Verdict

PAGES = 150


class Site:
    """Pages that link to pages, on a few hosts and origins; some are broken, some hosts are not there."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.hosts = self.random.randrange(1, 12)

    def url(self, number: int) -> str:
        host = number * 7 % self.hosts
        scheme = "http" if host == 1 and number % 2 else "https"
        return f"{scheme}://h{host}.d{host % 3}.org/{number}"

    def links(self, number: int) -> list[Discovered]:
        targets = [number * 2, number * 2 + 1, self.random.randrange(1, PAGES)]
        return [Discovered(self.url(target), target.bit_length()) for target in targets if 0 < target < PAGES]


class Walk:
    """One crawl of a site, over as many processes as it takes."""

    def __init__(
        self,
        open_frontier: OpenFrontier,
        clock: HandClock,
        seed: int,
        seeds_share: float = 0.0,
        depth: int = 0,
        news_share: float = 1.0,
        esteem_share: float = 0.0,
    ) -> None:
        self.esteem_share = esteem_share
        """How often the link graph has a new table."""
        self.news_share = news_share
        """How often a page has something that no other has."""
        self.seeds_share = seeds_share
        """How often a page that may be known is named as a seed."""
        self.named: set[str] = set()
        self.site = Site(seed)
        self.random = self.site.random
        self.clock = clock
        self.settings = {
            "frontier": {"delay_s": self.random.choice([0.0, 1.0]), "give_up_errors": 50, "max_backoff_s": 10.0},
            "fetch": {"connections": self.random.choice([1, 2, 20])},
            "crawl": {"depth": depth},
        }
        self.open_frontier = open_frontier
        self.frontier: Frontier = open_frontier(**self.settings)
        self.asked: dict[str, float] = {}
        self.out: list[Lease] = []
        self.finals: Counter[str] = Counter()
        self.staged: list[str] = []
        self.staged_names: set[str] = set()

    def run(self) -> None:
        self.frontier.add([Discovered(self.site.url(1))])
        self.commit()
        for step in range(20_000):
            if self.random.random() < 0.01 and step < 5000:
                self.die()
            self.step()
            if self.seeds_share and self.random.random() < self.seeds_share and step < 5000:
                self.name_seed()
            if self.esteem_share and self.random.random() < self.esteem_share:
                self.frontier.take_esteem([self.esteem(number) for number in range(3)])
            if not self.frontier.counts.scheduled and not self.frontier.counts.in_flight:
                break
        self.commit()

    def name_seed(self) -> None:
        url = self.site.url(self.random.randrange(1, PAGES))
        self.frontier.add([Discovered(url, found_as="seed")])
        self.staged_names.add(url)

    def esteem(self, domain: int) -> Esteem:
        hosts = [f"h{host}.d{domain}.org" for host in range(domain, self.site.hosts, 3) if self.random.random() < 0.3]
        pages = {self.site.url(number) for number in self.random.sample(range(1, PAGES), 40)}
        own = tuple(sorted(url for url in pages if f".d{domain}.org/" in url))
        return Esteem(f"d{domain}.org", self.random.randrange(-2, 3), dict.fromkeys(hosts, 2), own)

    def step(self) -> None:
        lease = self.frontier.lease() if self.random.random() < 0.6 else None
        if lease is not None:
            self.check_pace(lease)
            self.out.append(lease)
        elif self.out and self.random.random() < 0.8:
            self.answer(self.out.pop(self.random.randrange(len(self.out))))
        elif self.random.random() < 0.3:
            self.commit()
        else:
            self.clock.advance(self.random.choice([0.0, 0.2, 5.0]))

    def check_pace(self, lease: Lease) -> None:
        same = [other for other in self.out if other.host == lease.host and other.kind != "name"]
        if self.settings["frontier"]["delay_s"] and lease.kind != "name":
            assert not same, "one request at a time"
            assert self.clock.monotonic() - self.asked.get(lease.host, -1e9) >= 1.0
        assert lease.url_id == 0 or lease.url_id not in {other.url_id for other in self.out}

    def answer(self, lease: Lease) -> None:
        now, frontier = self.clock.now(), self.frontier
        if self.random.random() < 0.1:
            frontier.release(lease, None)
            return
        if lease.kind == "name":
            frontier.release(lease, Addresses(("192.0.2.1",), now + self.random.choice([1.0, DAY_S])))
        elif lease.kind == "robots":
            broken = self.random.random() < 0.3
            expires = now + (3.0 if broken else self.random.choice([3.0, DAY_S]))
            state = RobotsState("unreachable" if broken else "allow", now, expires)
            self.asked[lease.host] = self.clock.monotonic()
            frontier.release(lease, RobotsAnswer(state, capture(lease.url, 503 if broken else 404)))
        else:
            verdict = self.visit(lease)
            frontier.finish(lease, verdict, PageFacts(quads=self.random.randrange(3), judgement=self.judge(lease)))
            if verdict.is_final:
                self.staged.append(lease.url)
                frontier.add(self.site.links(int(lease.url.rpartition("/")[2])))

    def visit(self, lease: Lease) -> Verdict:
        kind = self.random.random()
        if kind < 0.1:
            return self.frontier.release(lease, Refusal("disallowed"))
        self.asked[lease.host] = self.clock.monotonic()
        if kind < 0.2:
            return self.frontier.release(lease, Failure(lease.url, "reset"))
        return self.frontier.release(lease, capture(lease.url, self.random.choice([200, 200, 200, 404, 503, 500])))

    def judge(self, lease: Lease) -> Judgement:
        return Judgement(data=(lease.url_id,) if self.random.random() < self.news_share else (1,))

    def commit(self) -> None:
        self.frontier.commit()
        self.finals.update(self.staged)
        self.staged.clear()
        self.named |= self.staged_names
        self.staged_names.clear()

    def die(self) -> None:
        kill(self.frontier)
        self.out.clear()
        self.staged.clear()
        self.staged_names.clear()
        for host in self.asked:
            self.asked[host] = self.clock.monotonic()
        self.frontier = self.open_frontier(**self.settings)
        check_tables(self.frontier)


def check_tables(frontier: Frontier) -> None:
    """The counts are those of the tables."""
    tables = frontier._store.tables
    states = Counter(decode_row(value).state for _, value in tables["ledger"].scan(b"", b"\xff" * 9))
    records = [decode_host(value) for _, value in tables["hosts"].scan(b"", b"\xff" * 9)]
    counts = frontier.counts
    assert counts.known == states.total() == len(tables["urls"].scan(b"", b"\xff" * 20))
    assert counts.scheduled == states[SCHEDULED] == sum(sum(record.queued.values()) for record in records)
    assert frontier.queued == [sum(record.queued.get(priority, 0) for record in records) for priority in range(8)]
    assert counts.hosts == len(records)
    assert sorted(record.front_key for record in records if record.front_key) == [
        key for key, _ in tables["places"].scan(b"", b"\xff" * 20)
    ]


def check_settled_once(walk: Walk) -> None:
    check_tables(walk.frontier)
    assert walk.frontier.counts.scheduled == 0
    assert walk.finals == Counter(walk.site.url(number) for number in range(1, PAGES))
    assert len(walk.frontier._store.tables["queue"].scan(b"", b"\xff" * 20)) == 0
    assert len(walk.frontier._store.tables["places"].scan(b"", b"\xff" * 20)) == 0


@pytest.mark.parametrize("seed", range(12))
def test_every_page_of_a_random_site_is_settled_once(open_frontier: OpenFrontier, clock: HandClock, seed: int) -> None:
    walk = Walk(open_frontier, clock, seed)
    walk.run()
    check_settled_once(walk)


@pytest.mark.parametrize("seed", range(8))
def test_what_the_link_graph_says_changes_the_order_only(
    open_frontier: OpenFrontier, clock: HandClock, seed: int
) -> None:
    walk = Walk(open_frontier, clock, seed, esteem_share=0.05)
    walk.run()
    check_settled_once(walk)


@pytest.mark.parametrize("depth", [0, 20])
@pytest.mark.parametrize("seed", range(8))
def test_pages_that_become_seeds_meanwhile_are_settled_too(
    open_frontier: OpenFrontier, clock: HandClock, seed: int, depth: int
) -> None:
    walk = Walk(open_frontier, clock, seed, seeds_share=0.2, depth=depth)
    walk.run()
    check_tables(walk.frontier)
    assert walk.frontier.counts.scheduled == 0
    assert set(walk.finals) == {walk.site.url(number) for number in range(1, PAGES)}
    assert len(walk.frontier._store.tables["queue"].scan(b"", b"\xff" * 20)) == 0
    entries = {url: walk.frontier.find(url) for url in walk.named}
    assert {url for url, entry in entries.items() if entry is None or entry.found_as != "seed"} == set()
    assert len(walk.named) > 10


@pytest.mark.parametrize("news_share", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(8))
def test_pages_that_repeat_each_other_are_fetched_or_refused(
    open_frontier: OpenFrontier, clock: HandClock, seed: int, news_share: float
) -> None:
    walk = Walk(open_frontier, clock, seed, news_share=news_share)
    walk.site.hosts = 1 + seed % 3
    walk.run()
    check_tables(walk.frontier)
    assert walk.frontier.counts.scheduled == 0
    assert not walk.frontier._traps.restoring
    rows = walk.frontier._store.tables["ledger"].scan(b"", b"\xff" * 9)
    refused = {decode_url(value) for _, value in rows if decode_row(value).reason == "trap"}
    assert {decode_url(value) for _, value in rows} == {*walk.finals, *refused}
    assert refused or news_share, "nothing was taken for a trap"
    assert len(walk.frontier._store.tables["queue"].scan(b"", b"\xff" * 20)) == 0
