"""Facets: years, types as a tree, and how many results are of which kind."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests.search.documents import SCHEMA, Thing, write_index

from indexed import index_pages
from rdfspider.index.classes import list_facet_classes
from rdfspider.search.facets import _find_parents
from rdfspider.search.queries import Index
from rdfspider.search.results import Facet, Results
from rdfspider.search.text import TextIndex

THINGS = [
    Thing("green tea", types=[SCHEMA + "Product"], date="2020-05-01"),
    Thing("black tea", types=[SCHEMA + "Product"], date="2020-06-01"),
    Thing("tea house", types=[SCHEMA + "Place"], date="2019-01-01"),
    Thing("about tea", text="tea and tea", date="2024-01-01", types=[SCHEMA + "Product"]),
    Thing("a cup", text="no leaves", date="2021-01-01"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    return TextIndex(write_index(tmp_path_factory.mktemp("crawl"), THINGS))


def get_facet(results: Results, field: str) -> Facet:
    return next(facet for facet in results.facets if facet.field == field)


def test_years_are_counted_the_newest_first_and_can_be_asked_for(index: TextIndex) -> None:
    years = get_facet(index.search("tea", facets=True), "year")
    assert [(one.value, one.count) for one in years.counts] == [("2024", 1), ("2020", 2), ("2019", 1)]
    for found in (index.search("tea", year="2020"), index.search("tea year:2020")):
        assert {hit.label for hit in found} == {"green tea", "black tea"}
    assert index.search("tea -year:2020").total == 2
    assert index.search(year=["2019", "2021"]).total == 2
    assert index.search("year:1066 OR year:2024").total == 1
    assert index.search("year:9999").total == index.search("year:0001").total == 0
    assert index.search("tea year:soon").note == "searched as plain words: 'soon' is no year; year:2024 is"


@pytest.mark.parametrize(
    ("text", "filters", "counts"),
    [
        ("tea", {}, (3, 1)),
        ("tea", {"kind": "page"}, (3, 1)),
        ("tea kind:entity", {}, (3, 1)),
        ("tea -kind:page", {}, (3, 1)),
        ("tea", {"kind": ["page", "entity"]}, (3, 1)),
        ("tea type:product", {}, (2, 1)),
        ("tea type:product kind:page", {}, (2, 1)),
        ("", {}, (3, 2)),
        ("kind:page", {}, (3, 2)),
        ("?!", {}, (0, 0)),
        ("coffee", {"kind": "page"}, (0, 0)),
        ("house OR kind:page", {}, (1, 2)),
    ],
)
def test_both_kinds_are_counted_whichever_is_asked_for(
    index: TextIndex, text: str, filters: dict[str, str], counts: tuple[int, int]
) -> None:
    for _ in range(2):
        found = index.search(text, limit=1, **filters)  # type: ignore[arg-type]
        assert (found.kind_counts["entity"], found.kind_counts["page"]) == counts


def test_a_property_is_a_filter_too(index: TextIndex, tmp_path: Path) -> None:
    index = TextIndex(write_index(tmp_path, [Thing("tea", {"isbn": "1"}), Thing("cup")]))
    assert [hit.label for hit in index.search(property="schema:isbn")] == ["tea"]


def test_pages_have_the_types_of_what_they_speak_of_where_they_alone_are_asked_for(index: TextIndex) -> None:
    for found in (index.search("tea", kind="page", facets=True), index.search("tea kind:page", facets=True)):
        assert [(one.name, one.count) for one in get_facet(found, "type").counts] == [("schema:Product", 1)]
    both = get_facet(index.search("tea", facets=True), "type")
    assert [(one.name, one.count) for one in both.counts] == [("schema:Product", 2), ("schema:Place", 1)]


def test_what_a_nameless_part_has_is_found_by_its_value_and_is_no_property_of_the_thing(tmp_path: Path) -> None:
    rating = {"@type": "AggregateRating", "ratingValue": "4.5"}
    tea = {"@context": "https://schema.org", "@type": "Product", "name": "Tea", "aggregateRating": rating}
    crawl = index_pages(tmp_path / "c", {"https://a.test/": tea})
    for question in ("ratingValue:4.5", "schema:ratingValue:4.5", "property:aggregateRating", "4.5"):
        assert [hit.label for hit in crawl.search(question, kind="entity")] == ["Tea"], question
    assert crawl.search("property:ratingValue", kind="entity").total == 0
    facet = get_facet(crawl.search("", kind="entity", facets=True), "property")
    assert {one.name for one in facet.counts} == {"schema:name", "schema:aggregateRating"}


def count_types(tmp_path: Path, *classes: str) -> list[tuple[str, int, str]]:
    """What the facet shows of things of these classes of schema.org."""
    things = [Thing(f"thing {at}", types=list_facet_classes(SCHEMA + name)) for at, name in enumerate(classes)]
    facet = get_facet(TextIndex(write_index(tmp_path, things)).search("thing", facets=True), "type")
    return [(one.name.removeprefix("schema:"), one.count, one.parent.removeprefix(SCHEMA)) for one in facet.counts]


def test_types_are_a_tree(tmp_path: Path) -> None:
    assert count_types(tmp_path, "Book", "Book", "NewsArticle", "Article", "Product") == [
        ("CreativeWork", 4, ""),
        ("Article", 2, "CreativeWork"),
        ("Book", 2, "CreativeWork"),
        ("NewsArticle", 1, "Article"),
        ("Product", 1, ""),
    ]


def test_a_class_with_the_members_of_one_below_it_says_nothing(tmp_path: Path) -> None:
    assert count_types(tmp_path, "Restaurant", "Restaurant", "Book") == [("Restaurant", 2, ""), ("Book", 1, "")]


ONTOLOGY = """<div prefix="rdfs: http://www.w3.org/2000/01/rdf-schema#"><a about="https://o.test/#Novel" rel="rdfs:subClassOf"
 href="http://schema.org/Book"></a><a about="https://o.test/#Crime" rel="rdfs:subClassOf" href="https://o.test/#Novel"></a></div>"""


def test_classes_that_pages_state_are_in_the_tree(tmp_path: Path) -> None:
    book = {"@context": {"@vocab": "http://schema.org/", "o": "https://o.test/#"}}
    pages: dict[str, object] = {"https://o.test/": ONTOLOGY}
    for name in ("Book", "o:Novel", "o:Crime"):
        for at in range(2):
            pages[f"https://a.test/{name}/{at}"] = {**book, "@type": name, "name": f"{name} {at}"}
    pages["https://a.test/article"] = {**book, "@type": "Article", "name": "News"}
    found = index_pages(tmp_path / "c", pages).search("", facets=True)
    parents = {one.value: one.parent for one in get_facet(found, "type").counts}
    assert parents["https://o.test/#Crime"] == "https://o.test/#Novel"
    assert parents["https://o.test/#Novel"] == SCHEMA + "Book"
    assert parents[SCHEMA + "Book"] == SCHEMA + "CreativeWork"


def parents_of(types: list[str], below: Callable[[str], Iterable[str]]) -> dict[str, str]:
    return _find_parents(Index(None, None, below, 0), types)  # type: ignore[arg-type]


def test_classes_that_are_below_each_other_make_no_circle() -> None:
    stated = {"x:a": ["x:b", "x:c", "x:a"], "x:b": ["x:a", "x:c", "x:b"], "x:c": []}
    assert parents_of(["x:a", "x:b", "x:c"], lambda iri: stated[iri]) == {"x:c": "x:a"}
