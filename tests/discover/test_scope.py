"""Which URLs a crawl is about."""

import pytest

from rdfspider.config import CrawlConfig
from rdfspider.discover.scope import Scope
from rdfspider.domains import Domains, bundled_suffix_list

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
    assert not made.find_refusal(inside)
    assert outside is None or made.find_refusal(outside)


def test_a_domain_is_what_is_registered_below_a_public_suffix() -> None:
    assert make_scope("https://one.github.io/").find_refusal("https://two.github.io/")
    assert not make_scope("https://a.example.co.uk/").find_refusal("https://b.example.co.uk/")


def test_the_scope_grows_by_what_seeds_redirect_to() -> None:
    made = make_scope()
    assert made.extend("https://example.net/new")
    assert not made.extend("https://www.example.net/other")
    assert not made.find_refusal("https://shop.example.net/")


def test_include_and_exclude_look_anywhere_in_the_url() -> None:
    made = make_scope(include=("/tea", "/cups"), exclude=(r"\?print=",))
    assert not made.find_refusal("https://www.example.org/en/tea/1")
    assert made.find_refusal("https://www.example.org/coffee")
    assert made.find_refusal("https://www.example.org/tea/1?print=1")


def test_patterns_do_not_share_their_groups_and_flags() -> None:
    made = make_scope(include=(r"/(?P<word>tea)", r"(?i)/(?P<word>[CD])\1"))
    assert not made.find_refusal("https://www.example.org/tea")
    assert not made.find_refusal("https://www.example.org/cC")
    assert made.find_refusal("https://www.example.org/TEA")


def test_a_url_that_no_server_takes_is_left_out() -> None:
    assert make_scope().find_refusal("https://www.example.org/" + "x" * 9000)


def test_a_host_whose_name_no_dns_has_is_left_out() -> None:
    scope = make_scope(scope="any")
    assert not scope.find_refusal(f"http://{'a' * 60}.example.org/")
    assert scope.find_refusal(f"http://{'a.' * 200}example.org/")
