"""What the report of a site calls a conflict is what the page of a thing calls one."""

import pytest

from rdfspider.search.quality.conflicts import find_conflicts
from rdfspider.search.quality.samples import Described, SampledPage, Value


def make_page(url: str, name: str, text: str) -> SampledPage:
    book = Described(types=["http://schema.org/Book"], label="A book")
    book.values = {name: [Value(text, False)]}
    return SampledPage(url, {"jsonld": 5}, {}, "", {"http://a.example/#book": book}, False)


@pytest.mark.parametrize(
    ("name", "one", "other", "is_conflict"),
    [
        ("isbn", "0-306-40615-2", "0306406152", False),
        ("isbn", "0-306-40615-2", "0-306-40615-3", True),
        ("telephone", "+49 30 1234", "tel:+49-30-1234", False),
        ("latitude", "52.5200", "52.52004", False),
        ("latitude", "52.5200", "52.6", True),
        ("datePublished", "2024", "2024-05-01", False),
        ("datePublished", "2024-05-01", "2024-05-02", True),
        ("price", "10", "10.00", False),
        ("price", "10", "11", True),
        ("availability", "InStock", "https://schema.org/InStock", False),
        ("headline", "Tea, and more", "tea and more", False),
    ],
)
def test_values_that_mean_the_same_are_no_conflict(name: str, one: str, other: str, is_conflict: bool) -> None:
    pages = [make_page("http://a.example/1", name, one), make_page("http://a.example/2", name, other)]
    found, _ = find_conflicts(pages, {})
    assert bool(found) is is_conflict
