"""The report on a site: what is broken, missing and contradicted, each with the page that shows it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import rdfspider
from indexed import index_pages
from rdfspider.search.indexes import Indexes
from rdfspider.search.quality.conflicts import Conflict
from rdfspider.search.quality.gaps import Gap
from rdfspider.search.quality.report import Report, choose_pages, inspect_site

CONTEXT = "https://schema.org"
SHOP = "https://shop.example/"


def make_product(name: str, **more: object) -> dict[str, object]:
    return {"@context": CONTEXT, "@type": "Product", "name": name, **more}


def make_offer(price: str, **more: object) -> dict[str, object]:
    return {"@type": "Offer", "price": price, "priceCurrency": "EUR", **more}


def make_book(**more: object) -> dict[str, object]:
    return {"@context": CONTEXT, "@id": f"{SHOP}#book", "@type": "Book", "name": "Book", **more}


TWO_SYNTAXES = """<title>Clock</title>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "name": "Clock", "sku": "C-1",
 "offers": {"@type": "Offer", "price": "99.00"}}</script>
<div itemscope itemtype="https://schema.org/Product"><span itemprop="name">Clock</span><meta itemprop="sku" content="C-1">
 <div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="price" content="89"></div></div>"""
PAGES = {
    f"{SHOP}": "<title>Home</title><p>Nothing to read for machines.",
    f"{SHOP}tea": make_product("Tea", image="t.png", offers=make_offer("3", availability="https://schema.org/InStock")),
    f"{SHOP}mug": make_product("Mug", offers=make_offer("5.00")),
    f"{SHOP}pot": make_product("Pot", offers={"@type": "Offer", "priceCurrency": "EUR"}),
    f"{SHOP}nameless": {"@context": CONTEXT, "@type": "Product", "description": "It has no name."},
    f"{SHOP}clock": TWO_SYNTAXES,
    f"{SHOP}broken": '<script type="application/ld+json">var product = "none";</script>',
    f"{SHOP}repaired": '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Place","name":"x",}</script>',
    f"{SHOP}book/1": make_book(isbn="111", numberOfPages=9, datePublished="2024-05-01", geo={"@type": "GeoCoordinates"}),
    f"{SHOP}book/2": make_book(isbn="222", numberOfPages="9.0", datePublished="2024-05-01T10:00:00Z", geo={"@type": "Place"}),
    f"{SHOP}many": make_product("Many", sku="M", offers=[make_offer("1"), make_offer("2")]),
    f"{SHOP}recipe": {
        "@context": CONTEXT, "@type": "Recipe", "name": "Tom &amp; Jerry&#39;s", "recipeIngredient": "tea",
        "author": {"@type": "Person", "givenName": "Ann"},
        "recipeInstructions": [{"@type": "HowToStep", "name": "Boil", "text": "Boil it."}],
    },
    f"{SHOP}about": {"@context": CONTEXT, "@type": "Person", "name": "Bob"},
    "https://other.example/": make_product("Elsewhere"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_pages(tmp_path_factory.mktemp("quality") / "c", PAGES).folder


@pytest.fixture(scope="module")
def report(folder: Path) -> Iterator[Report]:
    with Indexes(folder) as indexes, indexes._use_ledger() as ledger, indexes._use_quads() as store:
        found = inspect_site(store, ledger, "shop.example", seconds=60, read_statements=_read_statements)
    assert found is not None
    yield found


def _read_statements(url: str) -> Mapping[str, str]:
    page = PAGES[url]
    body = page if isinstance(page, str) else f'<script type="application/ld+json">{json.dumps(page)}</script>'
    return rdfspider.extract(body, url).statements


def find_gap(report: Report, path: str) -> Gap:
    return next(gap for gap in report.gaps if gap.path == path and gap.type.endswith("/Product"))


def find_conflict(report: Report, path: str) -> Conflict:
    return next(one for one in report.conflicts if one.path == path)


def test_it_says_how_much_was_looked_at(report: Report) -> None:
    assert (report.pages, report.pages_read) == (13, 13)
    uses = {use.syntax: use.pages for use in report.syntaxes}
    assert uses == {"jsonld": 11, "microdata": 1}
    assert report.unmarked.count == 2  # the home page, and the one whose script cannot be read


def test_broken_markup_is_told_in_words_with_a_page(report: Report) -> None:
    worst = report.faults[0]
    assert (worst.code, worst.severity, worst.pages, worst.examples) == ("json-invalid", "error", 1, (f"{SHOP}broken",))
    assert "no JSON" in worst.meaning and "parser" in worst.advice
    repaired = next(fault for fault in report.faults if fault.code == "json-repaired")
    assert (repaired.severity, repaired.examples) == ("warning", (f"{SHOP}repaired",))


def test_wrong_terms_and_values_are_added_up_by_class_and_property(report: Report) -> None:
    assert report.pages_checked == report.pages_read
    rows = {(row.rule, row.type, row.path): row for row in report.wrong}
    assert rows.keys() == {
        ("escaped-twice", "Recipe", "name"),
        ("property-of-class", "Book", "geo"),
        ("value-class", "Book", "geo"),
    }
    escaped = rows["escaped-twice", "Recipe", "name"]
    assert (escaped.severity, escaped.count, escaped.pages, escaped.examples) == ("warning", 1, 1, [f"{SHOP}recipe"])
    geo = rows["property-of-class", "Book", "geo"]
    assert (geo.count, geo.pages, geo.examples) == (2, 2, [f"{SHOP}book/1", f"{SHOP}book/2"])
    line = next(line for line in report.findings if line.subject == "Book.geo")
    assert (line.kind, line.count, line.of) == ("wrong term or value", 2, 13)


def test_a_step_of_a_recipe_is_not_judged_as_a_list(report: Report) -> None:
    assert {gap.type.rpartition("/")[2] for gap in report.gaps} == {
        "Product",
        "Book",
        "Recipe",
        "Person",
        "Place",
        "Offer",
    }


def test_it_says_which_things_could_have_what_is_missing(report: Report) -> None:
    assert next(gap for gap in report.gaps if gap.type.endswith("/Recipe")).examples[0].label == "Tom & Jerry's"
    people = {gap.path: gap for gap in report.gaps if gap.type.endswith("/Person")}
    # The author of the recipe is a part of it, of which only what is needed is asked.
    assert (people["name"].missing, people["name"].things, people["name"].among) == (1, 2, "")
    assert (people["image"].missing, people["image"].things) == (1, 1)
    assert people["image"].among == "that stand for themselves"
    assert find_gap(report, "offers.price").among == "that stand for themselves and have offers"
    messages = [finding.message for finding in report.findings]
    assert "1 of 1 of schema:Person that stand for themselves have no image." in messages


def test_what_is_missing_is_counted_over_things(report: Report) -> None:
    image = find_gap(report, "image")
    assert (image.missing, image.things, image.is_needed) == (5, 6, False)
    name = find_gap(report, "name")
    assert (name.missing, name.is_needed, name.examples[0].page) == (1, True, f"{SHOP}nameless")


def test_the_price_of_an_offer_is_missed_where_there_is_an_offer(report: Report) -> None:
    price = find_gap(report, "offers.price")
    assert (price.missing, price.things, price.examples[0].label) == (1, 5, "Pot")
    assert find_gap(report, "offers").missing == 1


def test_two_pages_that_contradict_each_other_are_both_named(report: Report) -> None:
    isbn = find_conflict(report, "isbn")
    assert {(claim.value, claim.sources[0].page) for claim in isbn.claims} == {
        ("111", f"{SHOP}book/1"),
        ("222", f"{SHOP}book/2"),
    }
    assert not isbn.is_within_page
    # 9 and 9.0 are the same, a day and a moment of it are, and nodes without a name cannot be compared.
    assert {one.path for one in report.conflicts if one.label == "Book"} == {"isbn"}


def test_two_syntaxes_of_a_page_that_contradict_each_other_are_both_named(report: Report) -> None:
    price = find_conflict(report, "offers.price")
    assert price.label == "Clock" and price.is_within_page
    assert {(claim.value, claim.sources[0].syntax) for claim in price.claims} == {
        ("99.00", "jsonld"),
        ("89", "microdata"),
    }


def test_several_offers_are_no_conflict(report: Report) -> None:
    assert "Many" not in {one.label for one in report.conflicts}


def test_findings_come_the_worst_first_and_are_summed_up(report: Report) -> None:
    order = [finding.severity for finding in report.findings]
    assert order == sorted(order, key=["error", "warning", "hint"].index)
    assert report.severities["error"] == 1
    assert sum(report.severities.values()) == len(report.findings)


def test_a_site_without_pages_has_no_report(folder: Path) -> None:
    with Indexes(folder) as indexes, indexes._use_ledger() as ledger, indexes._use_quads() as store:
        assert inspect_site(store, ledger, "unknown.example") is None


def test_no_more_is_looked_at_than_was_allowed(folder: Path) -> None:
    with Indexes(folder) as indexes, indexes._use_ledger() as ledger, indexes._use_quads() as store:
        few = inspect_site(store, ledger, "shop.example", max_pages=4, seconds=60)
        none = inspect_site(store, ledger, "shop.example", seconds=-1)
        assert few is not None and none is not None
        assert (few.pages, few.pages_read) == (13, 4)
        assert none.pages_read == 0 and none.gaps == ()
        spread = [page.url for page in choose_pages(ledger, "shop.example", 13, 4)]
        assert len(set(spread)) == 4
