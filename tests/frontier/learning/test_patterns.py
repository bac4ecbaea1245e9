"""Patterns: what is counted as new, budgets, and the bounds of it all."""

from itertools import combinations
from zlib import crc32

import pytest
from tests.frontier.conftest import HandClock, OpenFrontier, kill

from rdfspider.domains import Domains
from rdfspider.frontier.hosts.hosts import Host, HostRecord
from rdfspider.frontier.learning.patterns import MAX_PATTERNS, HostPatterns, Pattern, Patterns
from rdfspider.records import Judgement

ONCE, TWICE = (1, 22, 333), (4444, 55555)


def test_what_was_met_before_is_not_new() -> None:
    pattern = Pattern()
    assert pattern.meet(Judgement(data=ONCE))
    assert not pattern.meet(Judgement(data=ONCE[:2]))
    assert pattern.meet(Judgement(data=(*ONCE, *TWICE)))
    assert pattern.meet(Judgement(data=ONCE, words=(77,)))
    assert (pattern.news, pattern.data_news, pattern.idle) == (3, 2, 0)


def test_a_site_that_repeats_itself_has_nothing_new() -> None:
    pattern = Pattern()
    assert not pattern.meet(Judgement(data=ONCE, words=TWICE, duplicate="exact"), repeats_itself=True)
    assert (pattern.news, pattern.data_news, pattern.idle) == (0, 0, 1)


def test_what_repeats_another_site_counts_like_any_page() -> None:
    pattern = Pattern()
    assert pattern.meet(Judgement(data=ONCE, duplicate="exact"))
    assert pattern.meet(Judgement(data=ONCE, words=TWICE, duplicate="exact"))
    assert not pattern.meet(Judgement(data=ONCE, words=TWICE, duplicate="exact"))


@pytest.mark.parametrize("kind", ["near", "canonical", "soft-404"])
def test_a_page_counts_by_its_data_whatever_it_is_taken_for(kind: str) -> None:
    pattern = Pattern()
    assert pattern.meet(Judgement(data=ONCE, words=TWICE, duplicate=kind))
    assert not pattern.meet(Judgement(data=ONCE, words=(88,), duplicate=kind))
    assert pattern.data_news == 1


def test_products_without_end_are_always_new() -> None:
    pattern = Pattern()
    boilerplate = (1, 2, 3, 4)
    for number in range(5000):
        own = tuple(crc32(b"%d of %d" % (part, number)) for part in range(3))
        pattern.meet(Judgement(data=(*boilerplate, *own)))
        assert pattern.idle < 5


def test_numbered_pages_without_data_have_the_smaller_budget() -> None:
    pattern = Pattern(idle=15)
    assert pattern.is_spent("/calendar/0")
    assert pattern.is_spent("/calendar?month")
    assert not pattern.is_spent("/tags/*")
    pattern.data_news = 1
    assert not pattern.is_spent("/calendar/0")
    pattern.idle = 30
    assert pattern.is_spent("/calendar/0")


def test_probes_become_rare() -> None:
    pattern = Pattern()
    probes = [number for number in range(1, 10_000) if pattern.take_probe()]
    assert probes == [10, 100, 1000, 2000, 4000, 8000]
    assert pattern.restore()
    assert not pattern.restore()
    assert [number for number in range(1, 100) if pattern.take_probe()] == [10]


def test_a_mean_follows_the_last_pages() -> None:
    pattern = Pattern()
    for quads in [0] * 50 + [20] * 50:
        pattern.count(quads)
    assert pattern.mean > 18
    pattern.count(1_000_000)
    assert pattern.mean < 60, "one page with a great deal of data decides nothing"
    assert (pattern.visits, pattern.structured, pattern.quads) == (101, 51, 1_001_000)


@pytest.mark.parametrize("form", ["/shop/{}/", "/{}/", "/shop?{}"])
def test_patterns_without_end_are_counted_together(form: str) -> None:
    known = HostPatterns({})
    for _ in range(20):
        known.obtain("/product/*").count(10)
    names = ["".join(chr(97 + number // 26**place % 26) for place in range(4)) for number in range(2000)]
    for name in names:
        pattern = known.obtain(form.format(name) + "*")
        pattern.count(0)
        pattern.meet(Judgement(words=ONCE))
        assert len(known.by_key) <= MAX_PATTERNS + 1
    assert known.find("/product/*") is known.by_key["/product/*"], "what is met often is still told apart"
    unseen = known.find(form.format("never") + "*")
    assert unseen is not None
    assert unseen.is_spent("/"), "and what was never met shares the budget of its like"


def obtain_sets(known: HostPatterns, names: str, visits: int = 1) -> None:
    """Pages with two and three parameters of these names."""
    for size in (2, 3):
        for chosen in combinations(names, size):
            for _ in range(visits):
                known.obtain(f"/shop?{'&'.join(chosen)}").count(0)


def test_parameters_that_multiply_are_counted_together() -> None:
    known = HostPatterns({})
    for key in ("/shop?page", "/shop?a", "/item?id&lang"):
        known.obtain(key).count(10)
    obtain_sets(known, "abcdefgh")
    assert sorted(known.by_key) == ["/item?id&lang", "/shop?a", "/shop?page", "/shop?…"]
    assert known.by_key["/shop?…"].visits == 28 + 56
    assert known.find("/shop?g&h&never") is known.by_key["/shop?…"]
    assert known.find("/shop?never") is None
    assert known.find("/item?id&page") is None
    known.obtain("/shop?a&b").idle = 30
    assert known.explain_refusal("/shop?b&c") == "pattern /shop?… gave nothing new in 30 pages"
    assert not known.explain_refusal("/shop?page")


def test_three_parameters_to_choose_from_are_told_apart() -> None:
    known = HostPatterns({})
    obtain_sets(known, "abc", visits=5)
    assert sorted(known.by_key) == ["/shop?a&b", "/shop?a&b&c", "/shop?a&c", "/shop?b&c"]


def test_parameters_that_were_met_often_are_still_told_apart() -> None:
    known = HostPatterns({})
    for _ in range(30):
        known.obtain("/shop?id&lang").count(10)
    obtain_sets(known, "abcdefgh")
    assert sorted(known.by_key) == ["/shop?id&lang", "/shop?…"]


def test_where_parameters_multiply_new_words_are_not_enough(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    host = Host(7, HostRecord("a.org", pages=1), 0.0)
    obtain_sets(frontier._patterns.obtain(host), "abcdefgh")
    frontier.meta.put("something", b"is staged")
    frontier.commit()
    kill(frontier)
    known = open_frontier()._patterns.obtain(host)
    assert not known.obtain("/shop?a&b").meet(Judgement(words=ONCE))
    assert known.obtain("/shop?a&c").meet(Judgement(data=ONCE, words=ONCE))
    assert not known.obtain("/shop?d&f&never").meet(Judgement(data=ONCE, words=TWICE))


def test_where_parameters_multiply_thousands_of_things_are_remembered() -> None:
    known = HostPatterns({})
    obtain_sets(known, "abcdefgh")
    things = [(crc32(b"name %d" % number), crc32(b"price %d" % number)) for number in range(2000)]
    for data in things:
        known.obtain("/shop?a&b").meet(Judgement(data=data))
    assert not any(known.obtain("/shop?c&d").meet(Judgement(data=data)) for data in things)


def test_what_is_learned_survives_a_kill(open_frontier: OpenFrontier, clock: HandClock, domains: Domains) -> None:
    frontier = open_frontier()
    host = Host(7, HostRecord("a.org", pages=1), 0.0)
    known = frontier._patterns.obtain(host)
    known.obtain("/product/*").count(10)
    known.obtain("/product/*").meet(Judgement(data=ONCE))
    known.total.count(10)
    frontier.meta.put("something", b"is staged")
    frontier.commit()
    known.obtain("/lost/*").count(10)
    kill(frontier)
    again = open_frontier()._patterns.of(host)
    assert again is not None
    assert list(again.by_key) == ["/product/*"]
    assert again.total.quads == 10
    assert not again.by_key["/product/*"].meet(Judgement(data=ONCE))


def load_hosts(patterns: Patterns, count: int) -> None:
    for number in range(count):
        assert patterns.of(Host(number, HostRecord(f"a{number}.org", pages=1), 0.0)) is not None


def test_hosts_of_which_nothing_was_learned_leave_memory_too(open_frontier: OpenFrontier) -> None:
    found = open_frontier()._patterns
    load_hosts(found, 10_500)
    found.settle()
    assert len(found._hosts) == 10_000
    assert 0 not in found._hosts


def test_patterns_count_as_they_become_more_and_fewer(open_frontier: OpenFrontier) -> None:
    found = open_frontier()._patterns
    host = Host(7, HostRecord("a.org", pages=1), 0.0)
    for number in range(100):
        found.obtain(host).obtain(f"/{number}")
    found.settle()
    assert found._loaded == 101
    found.obtain(host).by_key.clear()
    found.settle()
    assert found._loaded == 1
    load_hosts(found, 20_000)
    found.settle()
    assert found._loaded == sum(len(known.by_key) + 1 for known in found._hosts.values()) == 10_000


def test_nothing_is_read_for_hosts_without_pages(open_frontier: OpenFrontier) -> None:
    patterns = open_frontier()._patterns
    assert patterns.of(Host(7, HostRecord("a.org"), 0.0)) is None
