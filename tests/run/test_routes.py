"""Who owns what was found."""

from collections import Counter

from rdfspider.config import CrawlConfig
from rdfspider.discover.finder import follow_redirect
from rdfspider.discover.scope import Scope
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.records import Discovered, Lease
from rdfspider.run.routes import Router
from rdfspider.urls import host_of

DOMAINS = Domains(bundled_suffix_list(), 2)
SEED = "https://www.example.org/shop/tea.html"


def make_scope(scope: str = "domain") -> Scope:
    made = Scope(CrawlConfig(scope=scope), DOMAINS)
    made.extend(SEED)
    return made


def test_links_go_to_the_shard_that_owns_their_domain() -> None:
    router = Router(make_scope("any"), DOMAINS, 0, Counter())
    urls = [f"https://site{number}.example/" for number in range(50)]
    routed = router.route(Discovered(url) for url in urls)
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
    assert router.route(map(Discovered, outside + traps)) == ([], {})
    assert turned_away == {"outside the scope": 3, "trap: URL length": 2}
    # What a person named, and what the crawl itself needs, is fetched wherever it is.
    assert router.find_refusal("link", traps[0])
    assert not router.find_refusal("seed", traps[0])
    assert not router.find_refusal("context", outside[0])
