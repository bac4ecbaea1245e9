"""Which URLs a crawl is about."""

import pytest

from rdfspider.config import CrawlConfig
from rdfspider.discover.filters import Filters
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


def test_a_refusal_names_its_rule() -> None:
    made = make_scope(exclude=("/private",))
    assert made.find_refusal("https://example.com/") == "outside the scope (domain)"
    assert made.find_refusal("https://www.example.org/private/x") == "filter: --exclude /private"
    assert made.find_refusal("https://www.example.org/a/a/a/a/a") == "trap: repeated segment (/a)"


def test_other_filters_and_a_wider_scope_hold_at_once() -> None:
    made = make_scope(exclude=("/private",))
    url, elsewhere = "https://www.example.org/private/x", "https://example.net/"
    first = made.digest()
    assert made.find_refusal(url)
    assert made.find_refusal(elsewhere)
    made.change_filters(Filters((), ()))
    second = made.digest()
    assert not made.find_refusal(url)
    made.extend(elsewhere)
    assert not made.find_refusal(elsewhere)
    assert len({first, second, made.digest()}) == 3


def test_a_url_that_no_server_takes_is_left_out() -> None:
    assert make_scope().find_refusal("https://www.example.org/" + "x" * 9000)


def test_a_host_whose_name_no_dns_has_is_left_out() -> None:
    scope = make_scope(scope="any")
    assert not scope.find_refusal(f"http://{'a' * 60}.example.org/")
    assert scope.find_refusal(f"http://{'a.' * 200}example.org/")
