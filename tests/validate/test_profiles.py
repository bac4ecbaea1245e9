"""Profiles: the bundled ones, and those of users."""

from pathlib import Path

import pytest

from rdfspider.errors import UsageError
from rdfspider.validate.findings import HINT, RULES
from rdfspider.validate.page import Validator
from rdfspider.validate.profiles import list_profiles, load_profile

PRODUCT = (
    "_:a <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Product> <u> .\n"
    '_:a <http://schema.org/price> "x" <u> .\n'
)


def write(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def test_the_bundled_ones_are_right() -> None:
    assert list_profiles() == ["google", "schema", "shacl", "usual"]
    assert load_profile("schema").classes == {}
    assert load_profile("google").vocabularies == load_profile("schema").vocabularies
    assert {load_profile("google").find_severity(rule) for rule in RULES} == {rule.severity for rule in RULES.values()}


def test_the_rules_of_the_nearest_class_hold() -> None:
    profile = load_profile("google")
    assert [rule.name for rule in profile.find_rules(frozenset({"ReportageNewsArticle"}))] == ["NewsArticle"]
    assert profile.find_rules(frozenset({"ScholarlyArticle"})) == ()
    assert [rule.name for rule in profile.find_rules(frozenset({"CourseInstance"}))] == ["CourseInstance"]
    assert [rule.name for rule in profile.find_rules(frozenset({"MusicEvent", "Product"}))] == ["Event", "Product"]
    assert profile.find_rules(frozenset({"Corporation"})) == ()


def test_one_of_the_users_own(tmp_path: Path) -> None:
    text = 'extends = "schema"\n[severity]\nprice-form = "hint"\nproperty-of-class = "off"\n[classes.Product]\nrequired = "sku"\n'
    found = Validator(load_profile(write(tmp_path, text))).check("u", {"jsonld": PRODUCT})
    assert [(each.rule, each.path) for each in found] == [
        ("missing-required", "Product.sku"),
        ("price-form", "Product.price"),
    ]
    assert found[1].severity == HINT
    assert found[0].message == "Product has no sku, which the profile mine requires"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = ", "not TOML"),
        ("x = 1", "x: not known; known are classes"),
        ("classes = 5", "classes: it may be a table"),
        ("vocabularies = 3", "vocabularies: it may be a table"),
        ("a = " + "[" * 10_000, "it is nested too deep"),
        ("[classes.Product]\nrequired = [1]", "a list of names"),
        ('extends = "bing"', "it may be one of google, schema, shacl, usual"),
        ('[severity]\nprice = "error"', "severity.price: not known"),
        ('[severity]\nprice-form = "fatal"', "it may be error, warning, hint or off"),
        ("[classes.Prodct]", "schema.org has no such class"),
        ('[classes.Product]\nrequired = "nmae"', "nmae: schema.org has no such property"),
        ("[classes]\nProduct = 1", "it may be a table with"),
    ],
)
def test_what_is_wrong_with_a_profile_is_said(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        load_profile(write(tmp_path, text))


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are google, schema, shacl, usual"):
        load_profile("bing")
    with pytest.raises(UsageError, match="it cannot be read"):
        load_profile(str(tmp_path / "none.toml"))


def test_of_the_profile_shacl_only_shapes_and_markup_hold() -> None:
    profile = load_profile("shacl")
    assert [rule for rule in RULES if profile.find_severity(rule)] == ["markup", "shape"]


def test_names_may_be_a_list(tmp_path: Path) -> None:
    texts = ('required = "name image"', 'required = ["name", "image"]')
    one, other = (
        load_profile(write_as(tmp_path, f"{at}.toml", f"[classes.Product]\n{text}")) for at, text in enumerate(texts)
    )
    assert one.classes == other.classes


def write_as(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)
