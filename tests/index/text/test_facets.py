"""Facets: years, types as a tree, and how many results are of which kind."""

from pathlib import Path

import pytest
from tests.search.documents import SCHEMA, Thing, write_index

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.index.text import facets
from rdfspider.index.text.searcher import TextIndex
from rdfspider.results import Facet, Results
from rdfspider.vocabulary.classes import list_facet_classes

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
    assert index.search("tea year:soon").note.startswith("searched as plain words: 'soon' is no year; year:2024 is")


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


def state_classes(tmp_path: Path, counts: dict[str, int], **above: str) -> Crawl:
    """A crawl with so many things of each class of o.test, and a page that states some of these to be below others."""
    links = "".join(
        f'<a about="https://o.test/#{name}" rel="rdfs:subClassOf" href="https://o.test/#{each}"></a>'
        for name, parents in above.items()
        for each in parents.split()
    )
    pages: dict[str, object] = {
        "https://o.test/": f'<p prefix="rdfs: http://www.w3.org/2000/01/rdf-schema#">{links}</p>'
    }
    for name, count in counts.items():
        types = [f"https://o.test/#{each}" for each in name.split()]
        for at in range(count):
            url = f"https://a.test/{name.replace(' ', '-')}/{at}"
            pages[url] = {"@id": f"{url}#it", "@type": types, "http://schema.org/name": f"{name} {at}"}
    return index_pages(tmp_path / "c", pages)


def read_tree(crawl: Crawl) -> list[tuple[str, int, str]]:
    """The classes of o.test in the facet, each with what a click on it finds and the class that it stands below."""
    counts = get_facet(crawl.search("", kind="entity", facets=True), "type").counts
    for one in counts:
        assert crawl.search("", kind="entity", type=one.value).total == one.count, one
    return [
        (one.value.partition("#")[2], one.count, one.parent.partition("#")[2])
        for one in counts
        if one.value.startswith("https://o.test/#")
    ]


def test_a_class_counts_what_pages_state_to_be_below_it(tmp_path: Path) -> None:
    crawl = state_classes(tmp_path, {"Animal": 1, "Cat": 4, "Cat Pet": 1, "Dog": 4}, Cat="Animal", Dog="Animal")
    assert read_tree(crawl) == [("Animal", 10, ""), ("Cat", 5, "Animal"), ("Dog", 4, "Animal"), ("Pet", 1, "")]


def test_a_class_without_members_of_its_own_stands_above_those_that_have_some(tmp_path: Path) -> None:
    crawl = state_classes(
        tmp_path, {"Cat": 3, "Cat Dog": 2, "Dog": 2, "Oak": 1}, Cat="Animal", Dog="Animal", Animal="Being", Oak="Plant"
    )
    assert read_tree(crawl) == [("Animal", 7, ""), ("Cat", 5, "Animal"), ("Dog", 4, "Animal"), ("Oak", 1, "")], (
        "what has the members of one class below it says nothing"
    )


def test_what_all_is_is_no_type_to_choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = state_classes(tmp_path, {"Cat": 1, "Dog": 1}, Cat="Thing", Dog="Thing")
    assert ("Thing", 2, "") in read_tree(crawl)
    monkeypatch.setattr(facets, "_EVERYTHING", ("https://o.test/#Thing",))
    assert read_tree(state_classes(tmp_path / "other", {"Cat": 1, "Dog": 1}, Cat="Thing", Dog="Thing")) == [
        ("Cat", 1, ""),
        ("Dog", 1, ""),
    ]


def test_of_very_many_stated_classes_those_are_shown_that_were_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = state_classes(tmp_path, {"Animal": 1, "Cat": 2, "Pug": 3, "Dog": 4}, Cat="Animal", Dog="Animal", Pug="Dog")
    monkeypatch.setattr(facets, "_MAX_STATED", 1)
    assert read_tree(crawl) == [("Animal", 10, ""), ("Pug", 3, "Animal"), ("Cat", 2, "Animal")]


def test_where_there_are_more_types_than_are_counted_it_is_right_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = state_classes(tmp_path, {"Animal": 3, "Cat": 2, "Dog": 1, "Cat Dog": 1}, Cat="Animal", Dog="Animal")
    monkeypatch.setattr(facets, "_CANDIDATES", 2)
    assert read_tree(crawl) == [("Animal", 7, ""), ("Cat", 3, "Animal")]


def test_classes_that_are_below_each_other_make_no_circle(tmp_path: Path) -> None:
    crawl = state_classes(tmp_path, {"A": 1, "B": 1, "C": 1}, A="B A", B="A", C="A B")
    assert read_tree(crawl) == [("A", 3, ""), ("B", 3, ""), ("C", 1, "B")]
