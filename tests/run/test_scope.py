"""Which links are followed, and who owns them."""

import pytest

from rdfspider.config import CrawlConfig
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.records import Discovered, Extraction, Lease, Link, Robots
from rdfspider.run.scope import Router, Scope, follow_redirect
from rdfspider.urls import host_of

DOMAINS = Domains(bundled_suffix_list(), 2)
SEED = "https://www.example.org/shop/tea.html"


def make_scope(seed: str = SEED, **settings: object) -> Scope:
    scope = Scope(CrawlConfig(**settings), DOMAINS)  # type: ignore[arg-type]
    scope.extend(seed)
    return scope


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("host", "http://www.example.org:8080/x", "https://shop.example.org/"),
        ("domain", "https://shop.example.org/", "https://example.com/"),
        ("prefix", "https://www.example.org/shop/cups/1?size=2", "https://www.example.org/shopping"),
        ("prefix", "https://www.example.org/shop/", "http://www.example.org/shop/"),
        ("any", "http://elsewhere.example/", None),
    ],
)
def test_the_scope_is_that_of_the_seeds(scope: str, inside: str, outside: str | None) -> None:
    made = make_scope(scope=scope)
    assert made.admits(inside)
    assert outside is None or not made.admits(outside)


def test_a_domain_is_what_is_registered_below_a_public_suffix() -> None:
    assert not make_scope("https://one.github.io/").admits("https://two.github.io/")
    assert make_scope("https://a.example.co.uk/").admits("https://b.example.co.uk/")


def test_the_scope_grows_by_what_seeds_redirect_to() -> None:
    made = make_scope()
    assert made.extend("https://example.net/new")
    assert not made.extend("https://www.example.net/other")
    assert made.admits("https://shop.example.net/")


def test_include_and_exclude_look_anywhere_in_the_url() -> None:
    made = make_scope(include=("/tea", "/cups"), exclude=(r"\?print=",))
    assert made.admits("https://www.example.org/en/tea/1")
    assert not made.admits("https://www.example.org/coffee")
    assert not made.admits("https://www.example.org/tea/1?print=1")


def test_patterns_do_not_share_their_groups_and_flags() -> None:
    made = make_scope(include=(r"/(?P<word>tea)", r"(?i)/(?P<word>[CD])\1"))
    assert made.admits("https://www.example.org/tea")
    assert made.admits("https://www.example.org/cC")
    assert not made.admits("https://www.example.org/TEA")


def test_a_url_that_no_server_takes_is_left_out() -> None:
    assert not make_scope().admits("https://www.example.org/" + "x" * 9000)


def test_a_host_whose_name_no_dns_has_is_left_out() -> None:
    scope = make_scope(scope="any")
    assert scope.admits(f"http://{'a' * 60}.example.org/")
    assert not scope.admits(f"http://{'a.' * 200}example.org/")


def test_links_go_to_the_shard_that_owns_their_domain() -> None:
    router = Router(make_scope(scope="any"), DOMAINS, 0, 0)
    urls = [f"https://site{number}.example/" for number in range(50)]
    routed = router.route(Discovered(url) for url in urls)
    own = [link.url for link in routed.own]
    assert own
    assert set(routed.others) == {1}
    assert own == [url for url in urls if DOMAINS.shard(host_of(url)) == 0]
    assert {*own, *(link.url for link in routed.others[1])} == set(urls)


def test_a_page_gives_each_link_once_one_step_deeper() -> None:
    links = tuple(Link(f"https://example.org/{path}", nofollow=path == "c") for path in "abac")
    lease = Lease("page", "example.org", 1, SEED, url_id=7, depth=2)
    found = Router(make_scope(), DOMAINS, 0, 3).find_links(lease, Extraction(SEED, "text/html", links=links))
    assert found == [Discovered(f"https://example.org/{path}", 3, "link", 7) for path in "ab"]


def test_a_page_that_is_deep_enough_or_says_nofollow_gives_none() -> None:
    router = Router(make_scope(), DOMAINS, 0, 2)
    links = (Link("https://example.org/a"),)
    deep = Lease("page", "example.org", 1, SEED, depth=2)
    assert router.find_links(deep, Extraction(SEED, "text/html", links=links)) == []
    shallow = Lease("page", "example.org", 1, SEED, depth=1)
    refusing = Extraction(SEED, "text/html", links=links, robots=Robots(nofollow=True))
    assert router.find_links(shallow, refusing) == []


def test_a_redirect_keeps_its_depth_and_its_chain() -> None:
    lease = Lease("page", "b.org", 1, "https://b.org/", url_id=9, depth=4, found_as="link", chain=("https://a.org/",))
    chain = ("https://a.org/", "https://b.org/")
    assert follow_redirect(lease, "https://c.org/") == [Discovered("https://c.org/", 4, "redirect", 9, chain)]
    assert follow_redirect(lease, None) == []


def test_what_a_seed_redirects_to_is_a_seed_whatever_the_scope() -> None:
    lease = Lease("page", "www.example.org", 1, SEED, url_id=9, found_as="seed")
    (target,) = follow_redirect(lease, "https://elsewhere.example/")
    assert target.found_as == "seed"
    routed = Router(make_scope(), DOMAINS, DOMAINS.shard("elsewhere.example"), 0).route([target])
    assert routed.own == [target]
