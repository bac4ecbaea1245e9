"""Which things cannot be one: kinds and labels."""

import pytest

from rdfspider.index.identity.likeness import ANY, are_alike, find_kind, share_word, split_words
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
    ("one", "other", "alike"),
    [
        ("Douglas Adams", "ADAMS, Douglas Noël", True),
        ("Café Zoë", "cafe zoe", True),
        ("Berlin", "Cheap pills Berlin online pharmacy buy now", False),
        ("Ada Lovelace", "Ada Byron", False),
        ("Ada", "Bob", False),
        ("東京", "東京", True),
    ],
)
def test_labels_that_can_name_one_thing(one: str, other: str, alike: bool) -> None:
    assert are_alike(split_words(one), split_words(other)) == alike


def test_for_identifiers_one_word_in_common_is_enough() -> None:
    assert share_word(split_words("NIKE Herren Sneaker"), split_words("Nike Air Max 90"))
    assert share_word(split_words("Москва"), split_words("Moscow"))
    assert not share_word(split_words("Green tea 90"), split_words("Nike Air Max 90"))
