"""Portraits of classes and properties, told by what each thing says itself."""

from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.search import profiles
from rdfspider.search.profiles import ClassProfile, PropertyProfile

SCHEMA = "http://schema.org/"


def recipe(name: str, **more: object) -> dict[str, object]:
    return {"@context": "https://schema.org", "@type": "Recipe", "name": name, **more}


NUTRITION = {"@type": "NutritionInformation", "calories": "120"}
PAGES = {
    "https://a.test/1": recipe("Juice", nutrition=NUTRITION, datePublished="2020-05-01"),
    "https://a.test/2": recipe("Tea &amp; toast", nutrition=NUTRITION),
    "https://a.test/3": recipe("Soup"),
    "https://a.test/4": {"@context": "https://schema.org", "@type": "HowTo", "name": "Knots", "totalTime": "PT1H"},
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return index_pages(tmp_path_factory.mktemp("portraits") / "c", PAGES)


def read_class(crawl: Crawl, name: str) -> ClassProfile:
    found = crawl.indexes.class_profile(name)
    assert found is not None
    return found


def read_property(crawl: Crawl, name: str) -> PropertyProfile:
    found = crawl.indexes.property_profile(name)
    assert found is not None
    return found


def test_a_class_has_the_properties_of_its_things_and_not_those_of_their_parts(crawl: Crawl) -> None:
    found = read_class(crawl, "schema:Recipe")
    counts = {share.name.removeprefix(SCHEMA): (share.things, round(share.share, 2)) for share in found.properties}
    assert counts == {"name": (3, 1.0), "nutrition": (2, 0.67), "datePublished": (1, 0.33)}
    parts = read_class(crawl, "schema:NutritionInformation")
    assert (parts.things, parts.subjects) == (0, 2), "they have no names"
    assert [(share.name, share.things) for share in parts.properties] == [(f"{SCHEMA}calories", 2)]


def test_things_of_a_class_itself_and_those_below_it_are_told_apart(crawl: Crawl) -> None:
    how_to = read_class(crawl, "schema:HowTo")
    assert (how_to.subjects, how_to.count.uses, how_to.things) == (1, 1, 4), "recipes are below it"
    assert [share.name.removeprefix(SCHEMA) for share in how_to.properties] == ["name", "totalTime"]
    above = read_class(crawl, "schema:CreativeWork")
    assert (above.subjects, above.things, above.properties[0].things) == (0, 4, 4)


def test_a_property_is_used_with_the_classes_of_what_has_it_itself(crawl: Crawl) -> None:
    found = read_property(crawl, "schema:calories")
    assert [(share.name.removeprefix(SCHEMA), share.things) for share in found.classes] == [("NutritionInformation", 2)]
    assert (found.subjects, found.things, found.is_approximate) == (2, 0, False)
    named = read_property(crawl, "schema:name")
    assert [(share.name.removeprefix(SCHEMA), share.things) for share in named.classes] == [("Recipe", 3), ("HowTo", 1)]
    assert "Tea & toast" in {example.thing_label for example in named.values.examples}


def test_of_very_many_some_are_looked_at(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "_SUBJECTS", 2)
    found, named = read_class(crawl, "schema:Recipe"), read_property(crawl, "schema:name")
    assert (found.subjects, found.is_approximate, found.properties[0].share) == (2, True, 1.0)
    assert (named.subjects, named.is_approximate) == (2, True)


def test_what_pages_escape_too_often_is_shown_as_it_was_meant(crawl: Crawl) -> None:
    (hit,) = crawl.search("toast", kind="entity")
    assert hit.label == "Tea & toast"
    found = crawl.entity(hit.id)
    assert (found.label, found["name"][0].text) == ("Tea & toast", "Tea &amp; toast"), "values are what pages say"


def test_long_names_are_told_apart_and_whole(tmp_path: Path) -> None:
    """Cut at 300 characters they would be one, and none that can be read."""
    names = [f"https://a.test/{'x' * (299 - len('https://a.test/'))}%E2%80%99{end}" for end in "ab"]
    pages = {f"https://a.test/{at}": recipe("Tea", author={"@id": name}) for at, name in enumerate(names)}
    found = read_property(index_pages(tmp_path / "c", pages), "schema:author")
    assert sorted((example.value, example.uses) for example in found.values.examples) == [(name, 1) for name in names]
