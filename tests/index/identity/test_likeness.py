"""Which things cannot be one: kinds and labels."""

import pytest

from rdfspider.index.identity.likeness import ANY, find_kind, measure_likeness, share_script, share_word, split_words
from rdfspider.vocabulary.prefixes import FOAF, SCHEMA


@pytest.mark.parametrize(
    ("one", "other", "can_be"),
    [
        ("Person", "Organization", False),
        ("Person", "Product", False),
        ("Book", "Movie", False),
        ("WebPage", "Person", False),
        ("WebSite", "Organization", False),
        ("Book", "Product", True),
        ("NewsMediaOrganization", "Organization", True),
        ("Restaurant", "Place", True),
        ("Restaurant", "Organization", True),
        ("BlogPosting", "NewsArticle", True),
        ("CreativeWork", "Book", True),
        ("CreativeWork", "Person", False),
        ("Thing", "Person", True),
    ],
)
def test_kinds(one: str, other: str, can_be: bool) -> None:
    assert bool(find_kind([SCHEMA + one]) & find_kind([SCHEMA + other])) == can_be


def test_vocabularies_agree_and_an_unknown_class_says_nothing() -> None:
    assert find_kind([FOAF + "Person"]) == find_kind([SCHEMA + "Person"])
    assert find_kind(["http://x.example/Class"]) == find_kind([]) == ANY
    assert find_kind(["http://x.example/Class", SCHEMA + "Person"]) == find_kind([SCHEMA + "Person"])


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        ("Café Zoë", "cafe zoe", 1.0),
        ("東京", "東京", 1.0),
        ("Douglas Adams", "ADAMS, Douglas Noël Two", 0.5),
        ("Berlin", "Berlin hotels now cheap", 0.25),
        ("By Ada Lovelace", "Ada Lovelace", 1.0),
        ("By", "By", 1.0),
        ("One two three four five six", "One two three four five six casino bonus free spins slots poker", 0.0),
        ("Ada Lovelace", "Ada Byron", 0.0),
        ("Ada", "Bob", 0.0),
    ],
)
def test_labels_that_can_name_one_thing(one: str, other: str, likeness: float) -> None:
    assert measure_likeness(split_words(one), split_words(other)) == likeness


def test_for_identifiers_one_word_in_common_is_enough() -> None:
    assert share_word(split_words("NIKE Herren Sneaker"), split_words("Nike Air Max 90"))
    assert not share_script(split_words("Москва"), split_words("Moscow")), "a title may be translated"
    assert not share_word(split_words("Green tea 90"), split_words("Nike Air Max 90"))
