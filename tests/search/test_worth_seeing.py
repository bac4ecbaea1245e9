from rdfspider.results import NameCount, NameKind
from rdfspider.search.worth_seeing import choose_classes, rank_names

S = "http://schema.org/"


def count(name: str, sites: int, uses: int = 100) -> NameCount:
    return NameCount(name, uses, sites, sites)


def test_what_tells_sites_apart_comes_first_and_not_what_is_used_most() -> None:
    counts = [count(f"{S}Person", 100, 9_000), count(f"{S}Recipe", 40), count(f"{S}Car", 1)]
    ranked = rank_names(NameKind.CLASS, counts, 100)
    assert [each.name for each in ranked] == [f"{S}Recipe", f"{S}Car", f"{S}Person"]


def test_parts_and_page_mechanics_are_left_out() -> None:
    classes = [f"{S}ImageObject", f"{S}ListItem", f"{S}WebPage", f"{S}SearchAction", f"{S}Thing"]
    classes += ["http://microformats.org/wiki/h-entry", f"{S}Product"]
    assert [each.name for each in rank_names(NameKind.CLASS, [count(name, 5) for name in classes], 9)] == [
        f"{S}Product"
    ]
    properties = [
        "http://www.w3.org/1999/xhtml/vocab#role",
        f"{S}width",
        f"{S}name",
        "fb:pages",
        f"{S}recipeIngredient",
    ]
    ranked = rank_names(NameKind.PROPERTY, [count(name, 5) for name in properties], 9)
    assert [each.name for each in ranked] == [f"{S}recipeIngredient"]
    ontologies = ["http://www.w3.org/1999/xhtml/vocab#", "article:", "http://xmlns.com/foaf/0.1/"]
    ranked = rank_names(NameKind.ONTOLOGY, [count(name, 5) for name in ontologies], 9)
    assert [each.name for each in ranked] == ["http://xmlns.com/foaf/0.1/"]


def test_what_one_site_has_is_shown_too() -> None:
    assert rank_names(NameKind.CLASS, [count(f"{S}Product", 1)], 1)


def test_of_a_class_and_those_below_it_one_is_chosen() -> None:
    counts = [count(f"{S}{name}", 30 - at) for at, name in enumerate(("Article", "NewsArticle", "Recipe", "Event"))]
    assert choose_classes(counts, 100, 3) == [f"{S}Article", f"{S}Recipe", f"{S}Event"]
