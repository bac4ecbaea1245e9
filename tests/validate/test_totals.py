"""Findings of many pages, added up."""

import pytest

from rdfspider.validate import totals as totals_module
from rdfspider.validate.findings import ERROR, HINT, WARNING, Finding
from rdfspider.validate.totals import EXAMPLES, Totals


def make(severity: object, rule: str, path: str, kind: str, count: int = 1) -> Finding:
    return Finding(severity, rule, "m", "", "jsonld", path, kind, count=count)  # type: ignore[arg-type]


def test_by_site_class_and_property_with_examples() -> None:
    totals = Totals()
    for number in range(EXAMPLES + 2):
        totals.add(f"https://a.example/{number}", [make(HINT, "superseded", "Recipe.ingredients", "Recipe", 3)])
    totals.add("https://b.example/", [make(ERROR, "price-form", "Product.offers.price", "Offer")] * 2)
    totals.add("https://b.example/good", [])
    first, second = totals.list_rows()
    assert (first.site, first.type, first.path, first.rule) == ("a.example", "Recipe", "ingredients", "superseded")
    assert (first.count, first.pages, len(first.examples)) == (15, 5, EXAMPLES)
    assert (second.site, second.count, second.pages) == ("b.example", 2, 1)
    assert (totals.pages, totals.pages_with_findings) == (7, 6)
    assert [totals.count_at_least(each) for each in (ERROR, WARNING, HINT)] == [2, 2, 17]


def test_a_class_is_one_row_whatever_property_has_it() -> None:
    totals = Totals()
    totals.add(
        "https://a.example/", [make(WARNING, "class-case", path, "brand") for path in ("brand", "Product.brand")]
    )
    [row] = totals.list_rows()
    assert (row.type, row.path, row.count) == ("brand", "", 2)


def test_invented_classes_beyond_the_bound_are_counted_by_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals_module, "_MAX_KEYS", 2)
    totals = Totals()
    for number in range(10):
        totals.add("https://a.example/", [make(ERROR, "unknown-class", f"C{number}", f"C{number}")])
    assert [(row.site, row.type, row.count) for row in totals.list_rows()] == [
        ("", "", 8),
        ("a.example", "C0", 1),
        ("a.example", "C1", 1),
    ]
