import pytest

from rdfspider.search.quality.gaps import find_recommendations, say_path

S = "http://schema.org/"


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("Product", "Product"),
        ("product", "Product"),
        ("BlogPosting", "Article"),
        ("MusicEvent", "Event"),
        ("Restaurant", "LocalBusiness"),
        ("ItemList", "ItemList"),
    ],
)
def test_a_class_is_asked_what_its_kind_is_asked(name: str, base: str) -> None:
    found, recommended = find_recommendations(S + name)
    assert found == S + base and recommended


@pytest.mark.parametrize(
    "name",
    ["HowToStep", "HowToSection", "OfferCatalog", "CourseInstance", "UserComments", "BroadcastEvent", "DataFeed"],
)
def test_nothing_is_asked_of_what_is_a_list_or_an_event_by_its_class_alone(name: str) -> None:
    assert find_recommendations(S + name)[1] == ()


def test_a_path_is_said_in_words() -> None:
    assert (say_path("offers.price"), say_path("name")) == ("price of offers", "name")
