"""What things lack, by profiles made here: either of two, of values, of parts, of references."""

from pathlib import Path

import pytest

from rdfspider.validate.page import Validator
from rdfspider.validate.profiles import load_profile
from rdfspider.vocabulary.labels import RDF_TYPE

SCHEMA = "http://schema.org/"
PROFILE = """
[classes.Product]
required = "name|alternateName offers.price"
recommended = "image"
[classes.Person]
required = "name"
[classes.Offer]
required = "priceCurrency"
parts = true
"""


@pytest.fixture
def validator(tmp_path: Path) -> Validator:
    path = tmp_path / "mine.toml"
    path.write_text(PROFILE)
    return Validator(load_profile(str(path)))


def write(*statements: tuple[str, str, str]) -> str:
    """Write N-Quads; `a` stands for rdf:type, and a capital begins a class."""
    return "".join(
        f"{thing} <{RDF_TYPE if name == 'a' else SCHEMA + name}> {f'<{SCHEMA}{value}>' if name == 'a' else value} <g> .\n"
        for thing, name, value in statements
    )


def find_missing(validator: Validator, *statements: tuple[str, str, str]) -> list[tuple[str, str]]:
    found = validator.check("https://a.example/", {"jsonld": write(*statements)})
    return sorted((each.rule, each.path) for each in found if each.rule.startswith("missing-"))


def test_either_of_two_is_enough(validator: Validator) -> None:
    thing = ("_:p", "a", "Product"), ("_:p", "image", "<https://a.example/i>")
    assert find_missing(validator, *thing, ("_:p", "alternateName", '"Tea"')) == []
    assert find_missing(validator, *thing) == [("missing-required", "Product.name")]


def test_of_a_value_only_where_it_is_described_here(validator: Validator) -> None:
    thing = ("_:p", "a", "Product"), ("_:p", "name", '"Tea"'), ("_:p", "image", "<https://a.example/i>")
    assert find_missing(validator, *thing, ("_:p", "offers", "<https://b.example/o>")) == []
    offer = ("_:p", "offers", "_:o"), ("_:o", "a", "Offer"), ("_:o", "priceCurrency", '"EUR"')
    assert find_missing(validator, *thing, *offer) == [("missing-required", "Product.offers.price")]


def test_parts_are_asked_only_where_the_profile_says_so(validator: Validator) -> None:
    parts = ("_:e", "a", "Event"), ("_:e", "performer", "_:j"), ("_:j", "a", "Person"), ("_:j", "gender", '"f"')
    assert find_missing(validator, *parts) == []
    assert find_missing(validator, *parts[2:]) == [("missing-required", "Person.name")]
    offers = ("_:e", "a", "Event"), ("_:e", "offers", "_:o"), ("_:o", "a", "Offer"), ("_:o", "price", '"1"')
    assert find_missing(validator, *offers) == [("missing-required", "Event.offers.priceCurrency")]


def test_a_class_and_an_address_alone_are_a_reference(validator: Validator) -> None:
    assert find_missing(validator, ("_:j", "a", "Person"), ("_:j", "url", "<https://a.example/j>")) == []
