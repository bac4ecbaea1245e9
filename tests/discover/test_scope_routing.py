"""Who owns what was found."""

import itertools
from collections import Counter
from types import SimpleNamespace

import pytest

from rdfspider.config import CrawlConfig
from rdfspider.discover import scope as routing
from rdfspider.discover.finder import follow_redirect
from rdfspider.discover.scope import Router, Scope
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.records import Discovered, Lease
from rdfspider.urls import host_of

DOMAINS = Domains(bundled_suffix_list(), 2)
SEED = "https://www.example.org/shop/tea.html"


def make_scope(scope: str = "domain", **settings: tuple[str, ...]) -> Scope:
    made = Scope(CrawlConfig(scope=scope, **settings), DOMAINS)  # type: ignore[arg-type]
    made.extend(SEED)
    return made


def test_links_go_to_the_shard_that_owns_their_domain() -> None:
    router = Router(make_scope("any"), DOMAINS, 0, Counter())
    urls = [f"https://site{number}.example/" for number in range(50)]
    routed = router.route([Discovered(url) for url in urls])
    own = [link.url for link in routed.own]
    assert own
    assert set(routed.others) == {1}
    assert own == [url for url in urls if DOMAINS.shard(host_of(url)) == 0]
    assert {*own, *(link.url for link in routed.others[1])} == set(urls)


def test_what_a_seed_redirects_to_is_a_seed_whatever_the_scope() -> None:
    lease = Lease("page", "www.example.org", 1, SEED, url_id=9, found_as="seed")
    (target,) = follow_redirect(lease, "https://elsewhere.example/")
    assert target.found_as == "seed"
    routed = Router(make_scope(), DOMAINS, DOMAINS.shard("elsewhere.example"), Counter()).route([target])
    assert routed.own == [target]


def test_what_is_turned_away_is_counted_by_its_rule() -> None:
    turned_away: Counter[str] = Counter()
    router = Router(make_scope(), DOMAINS, 0, turned_away)
    outside = [f"https://site{number}.example/" for number in range(3)]
    traps = ["https://www.example.org/" + "x" * length for length in (3000, 4000)]
    assert router.route([Discovered(url) for url in outside + traps]) == ([], {})
    assert turned_away == {"outside the scope": 3, "trap: URL length": 2}
    # What a person named, and what the crawl itself needs, is fetched wherever it is.
    assert router.find_refusal("link", traps[0])
    assert not router.find_refusal("seed", traps[0])
    assert not router.find_refusal("context", outside[0])


def test_an_exclude_holds_for_all_but_seeds_and_an_include_for_pages() -> None:
    turned_away: Counter[str] = Counter()
    router = Router(make_scope(include=("/shop/",), exclude=("/private/",)), DOMAINS, 0, turned_away)
    private, public = "https://elsewhere.example/private/x", "https://elsewhere.example/x"
    for found_as in ("sitemap", "ontology", "context"):
        assert router.find_refusal(found_as, private) == "filter: --exclude /private/"
        assert not router.find_refusal(found_as, public)
    assert not router.find_refusal("seed", private)
    ways = ("seed", "sitemap", "ontology", "context")
    own, others = router.route([Discovered(url, found_as=way) for url in (private, public) for way in ways])
    kept = {(link.found_as, link.url) for link in [*own, *(link for links in others.values() for link in links)]}
    # Pages wait for a context, and are told when its turn comes.
    assert kept == {*((way, public) for way in ways), ("seed", private), ("context", private)}
    assert turned_away == {"filter: --exclude /private/": 2}


def test_a_page_of_links_that_are_slow_to_judge_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor's time for this thread: a busy machine costs no page its links. Here each look at it finds 0.4 s gone."""
    looks = itertools.count()
    monkeypatch.setattr(routing, "time", SimpleNamespace(thread_time=lambda: 0.4 * next(looks)))
    turned_away: Counter[str] = Counter()
    router = Router(make_scope("any"), DOMAINS, 0, turned_away)
    links = [Discovered(f"https://www.example.org/{number}") for number in range(500)]
    seed = Discovered(SEED, found_as="seed")
    own, others = router.route([*links, seed])
    # The time of a page is over after three looks, with 50 links each.
    assert turned_away == {"too slow to judge": 350}
    assert [*own, *others[1]] == [*links[:150], seed]
