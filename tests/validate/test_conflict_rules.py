import pytest

from rdfspider.results import StatedValue
from rdfspider.validate.conflict_rules import SINGLE, SITES, Origin, group_values, judge_values

S = "http://schema.org/"
ONE, TWO, THREE = (("https://one.example/a", ""), ("https://two.example/a", ""), ("https://www.two.example/b", ""))


def judge(name: str, *stated: tuple[str, Origin]) -> str:
    origins: dict[str, set[Origin]] = {}
    for text, origin in stated:
        origins.setdefault(text, set()).add(origin)
    return judge_values(
        name if ":" in name else S + name, [(StatedValue(text), found) for text, found in origins.items()]
    )


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("birthDate", "1815-12-10", "1815-12-11"),
        ("birthDate", "1452-04-15", "1519-05-02"),
        ("price", "19.90", "20.00"),
        ("uploadDate", "2024-05-01", "2024-05-02"),
        ("latitude", "52.52", "52.62"),
        ("telephone", "+49 30 1", "+49 30 2"),
        ("http://www.w3.org/2003/01/geo/wgs84_pos#lat", "52.52", "48.1"),
    ],
)
def test_a_thing_has_one_of_these(name: str, one: str, two: str) -> None:
    assert judge(name, (one, TWO), (two, THREE)) == SINGLE


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("birthDate", "1815-12-10", "1815"),
        ("datePublished", "2024-05-01", "2024-05-01T10:00:00Z"),
        ("price", "19.9", "19.90"),
        ("latitude", "52.5200", "52.52001"),
        ("telephone", "+49 (30) 1-2", "+49 30 12"),
        ("isbn", "978-3-16-148410-0", "9783161484100"),
        ("gtin13", "0012345", "12345"),
        ("datePublished", "2024-05-02T00:30:00+02:00", "2024-05-01T22:30:00Z"),
        ("datePublished", "Wed, 01 May 2024 10:00:00 GMT", "2024-05-01"),
        ("jobTitle", "Writer", " writer "),
    ],
)
def test_what_is_written_otherwise_is_no_conflict(name: str, one: str, two: str) -> None:
    assert judge(name, (one, ONE), (two, TWO)) == ""


def test_dates_and_numbers_are_of_no_language() -> None:
    def judge_languages(name: str, one: str, two: str) -> str:
        return judge_values(S + name, [(StatedValue(one, language="en"), [ONE]), (StatedValue(two), [TWO])])

    assert judge_languages("datePublished", "1991", "1988") == SINGLE
    assert judge_languages("datePublished", "1991-05-01T10:00:00Z", "1988-05-01") == SINGLE
    assert judge_languages("datePublished", "1991", "1991-05-01") == ""
    assert judge_languages("price", "1000", "2000") == SINGLE
    assert judge_languages("jobTitle", "Writer", "Countess") == ""


def test_who_gives_several_values_contradicts_nobody_who_gives_one_of_them() -> None:
    both = [(text, page) for text in ("030 1", "030 2") for page in (ONE, TWO)]
    assert judge("telephone", *both) == ""
    assert judge("telephone", *both[:-1]) == ""
    assert judge("telephone", *both[:-1], ("030 3", THREE)) == SINGLE
    assert judge("telephone", ("030 1", ONE), ("030 2", ONE)) == ""


def test_two_syntaxes_of_a_page_are_two_sources() -> None:
    jsonld, microdata = (ONE[0], "jsonld"), (ONE[0], "microdata")
    assert judge("sku", ("A1", jsonld), ("B2", microdata)) == SINGLE
    assert judge("sku", ("A1", jsonld), ("A1", microdata), ("B2", microdata)) == ""
    assert judge("sku", ("A1", jsonld), ("B2", jsonld)) == ""
    assert judge("jobTitle", ("Writer", jsonld), ("Poet", microdata)) == ""


@pytest.mark.parametrize(
    ("name", "texts", "groups"),
    [
        ("isbn", ["978-3-16-148410-0", "1", "9783161484100"], [["978-3-16-148410-0", "9783161484100"], ["1"]]),
        ("publisher", ["X Press", "X press", "Y"], [["X Press", "X press"], ["Y"]]),
        ("datePublished", ["1999", "1999-05-01", "2000", "1999-05"], [["1999", "1999-05-01", "1999-05"], ["2000"]]),
        ("price", ["10", "10.00", "11"], [["10", "10.00"], ["11"]]),
    ],
)
def test_what_means_the_same_is_one_side(name: str, texts: list[str], groups: list[list[str]]) -> None:
    found = group_values(S + name, [StatedValue(text) for text in texts])
    assert [[value.text for value in group] for group in found] == groups


def test_sites_that_each_state_one_value_contradict_each_other() -> None:
    assert judge("jobTitle", ("Writer", ONE), ("Countess", TWO)) == SITES
    # One site that speaks of two, or says two things, makes it a property with several values.
    assert judge("jobTitle", ("Writer", TWO), ("Countess", THREE)) == ""
    assert judge("jobTitle", ("Writer", ONE), ("Countess", TWO), ("Poet", TWO)) == ""


@pytest.mark.parametrize(
    "name",
    [
        "description",
        "image",
        "sameAs",
        "url",
        "keywords",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "http://www.w3.org/2000/01/rdf-schema#seeAlso",
    ],
)
def test_of_these_a_thing_may_have_several(name: str) -> None:
    assert judge(name, ("a", ONE), ("b", TWO)) == ""


def test_languages_do_not_contradict_each_other() -> None:
    names = [(StatedValue("Wien", language="de"), [ONE]), (StatedValue("Vienna", language="en"), [TWO])]
    assert judge_values(f"{S}name", names) == ""
    assert judge_values(f"{S}name", [*names, (StatedValue("Vindobona", language="en-gb"), [ONE])]) == SITES


def test_places_are_compared_by_their_degrees() -> None:
    def place(latitude: str) -> StatedValue:
        return StatedValue(
            f"genid:{latitude}",
            "blank",
            inside={f"{S}latitude": (StatedValue(latitude),), f"{S}longitude": (StatedValue("13.4"),)},
        )

    assert judge_values(f"{S}geo", [(place("52.52"), [ONE]), (place("52.5200"), [TWO])]) == ""
    assert judge_values(f"{S}geo", [(place("52.52"), [ONE]), (place("48.1"), [TWO])]) == SINGLE
    # Other nodes are made of several values, and each may have its reason.
    assert judge_values(f"{S}address", [(place("52.52"), [ONE]), (place("48.1"), [TWO])]) == ""
