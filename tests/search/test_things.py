"""One row a thing: columns, nested paths, several values, and things that several pages describe."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.errors import UsageError

SHOP = "https://shop.example/"


def _offer(price: str, currency: str = "EUR") -> dict[str, str]:
    return {"@type": "Offer", "price": price, **({"priceCurrency": currency} if currency else {})}


def _thing(**more: object) -> dict[str, object]:
    return {"@context": "https://schema.org", **more}


PAGES = {
    f"{SHOP}tea": _thing(
        **{"@type": "Product", "@id": f"{SHOP}#tea"},
        name="Green tea",
        offers=[_offer("4.50"), _offer("8.00", ""), _offer("9.00", "USD")],
        brand={"@type": "Brand", "name": "Leaf"},
        image={"@type": "ImageObject", "contentUrl": f"{SHOP}tea.png"},
    ),
    f"{SHOP}teapot": _thing(
        **{"@type": "IndividualProduct"},
        name="Teapot",
        color=["blue", "white"],
        additionalProperty={"@list": ["z", "a"]},
    ),
    # The same thing, without an IRI, on a second page.
    f"{SHOP}teapots": _thing(**{"@type": "IndividualProduct"}, name="Teapot", material="clay &amp; &#39;glaze&#39;"),
    "https://other.example/": f"""<html lang="en"><body role="main"><div itemscope itemtype="http://schema.org/Product"
      itemid="{SHOP}#tea"><b itemprop="name">Tea, green</b></div>
      <script type="application/ld+json">{json.dumps(_thing(**{"@type": "Person"}, name="=cmd()"))}</script>""",
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    with index_pages(tmp_path_factory.mktemp("things") / "c", PAGES) as found:
        yield found


def test_a_thing_of_several_pages_is_one_row_and_classes_below_count(crawl: Crawl) -> None:
    things = crawl.things("Product", ["name", "material", "type", "page"], separator="; ")
    assert things.columns == ("name", "material", "type", "page")
    assert sorted(things.rows, key=str) == [
        ("Green tea; Tea, green", None, "schema:Product", f"https://other.example/; {SHOP}tea"),
        ("Teapot", "clay & 'glaze'", "schema:IndividualProduct", f"{SHOP}teapot; {SHOP}teapots"),
    ]


def test_the_id_is_the_iri_or_the_entity(crawl: Crawl) -> None:
    first, second = sorted(row[0] or "" for row in crawl.things("Product", "id"))
    assert first == f"{SHOP}#tea"
    assert second.startswith("urn:rdfspider:entity:")
    assert crawl.entity(second).label == "Teapot"


def test_things_that_are_the_same_are_one_row(tmp_path: Path) -> None:
    def say(number: int, **more: object) -> dict[str, object]:
        return _thing(**{"@type": "Person", "@id": f"https://{number}.example/#ada"}, name="Ada Lovelace", **more)

    pages = {
        "https://1.example/": say(1, sameAs="https://2.example/#ada"),
        "https://2.example/": say(2, jobTitle="poet"),
    }
    with index_pages(tmp_path / "c", pages) as crawl:
        assert crawl.things("Person", ["id", "jobTitle"]).rows == [("https://2.example/#ada", "poet")]
        # Also where only another of its names is chosen.
        assert crawl.things("Person", "id", site="1.example").rows == [("https://2.example/#ada",)]
        crawl.export(tmp_path / "people.csv", type="Person", columns=["id", "jobTitle"], canonical=True)
        assert (tmp_path / "people.csv").read_text().splitlines()[1:] == ["https://2.example/#ada,poet"]


def test_what_a_thing_says_under_another_class_fills_the_gaps(tmp_path: Path) -> None:
    person, patient = "https://1.example/#ada", "https://2.example/#ada"
    pages = {
        "https://1.example/": _thing(**{"@type": "Person", "@id": person}, name="Ada Lovelace", jobTitle="poet"),
        "https://2.example/": _thing(
            **{"@type": "Patient", "@id": patient}, name="Ada Lovelace", sameAs=person, jobTitle="patient"
        ),
    }
    pages["https://1.example/"] |= {"sameAs": patient, "email": "ada@1.example"}
    columns = ["jobTitle", "email", "type", "page"]
    with index_pages(tmp_path / "c", pages) as crawl:
        both = "schema:Patient | schema:Person"
        assert crawl.things("Patient", columns).rows == [
            ("patient", "ada@1.example", both, "https://2.example/ | https://1.example/")
        ]
        chosen = crawl.things("Patient", columns, site="2.example").rows
        assert chosen == [("patient", None, "schema:Patient", "https://2.example/")]


def test_paths_lead_to_the_values_of_parts(crawl: Crawl) -> None:
    columns = ["offers.price", "schema:offers.<http://schema.org/priceCurrency>", "brand"]
    rows = crawl.things("schema:Product", columns, site="shop.example").rows
    assert ("4.50 | 8.00 | 9.00", "EUR | USD", "Leaf") in rows


def test_several_values_become_rows_with_parts_side_by_side(crawl: Crawl) -> None:
    rows = crawl.things("Product", ["brand.name", "offers.price", "offers.priceCurrency"], several="rows").rows
    assert rows == [("Leaf", "4.50", "EUR"), ("Leaf", "8.00", None), ("Leaf", "9.00", "USD")]


def test_lists_keep_their_order(crawl: Crawl) -> None:
    assert ("Teapot", "z | a", "blue | white") in crawl.things("Product", ["name", "additionalProperty", "color"]).rows


def test_columns_are_proposed(crawl: Crawl) -> None:
    columns = crawl.things("Product").columns
    assert columns[:3] == ("id", "type", "name")
    assert columns[-1] == "page"
    assert {"offers.price", "offers.priceCurrency", "brand.name", "color", "material"} <= set(columns)
    assert "material" not in crawl.things("Product", without_property="material").columns


def test_pages_choose_whose_values_count(crawl: Crawl) -> None:
    for choice in ({"site": "other.example"}, {"graph": "https://other.*"}, {"without_graph": f"{SHOP}*"}):
        assert crawl.things("Product", "name", **choice).rows == [("Tea, green",)]


def test_tables_of_other_libraries(crawl: Crawl) -> None:
    things = crawl.things("Product", ["name", "offers.price"])
    assert things.to_arrow().column_names == ["name", "offers.price"]
    assert len(things.to_pandas()) == len(things.to_polars()) == 2
    assert next(things.to_dicts()).keys() == {"name", "offers.price"}


def test_notebooks_get_an_escaped_table(tmp_path: Path) -> None:
    page = _thing(**{"@type": "Person"}, name="<img src=x onerror=alert(1)>")
    with index_pages(tmp_path / "c", {SHOP: page}) as crawl:
        drawn = crawl.things("Person")._repr_html_()
    assert "<table>" in drawn and "&lt;img" in drawn and "<img" not in drawn


def test_what_is_typed_wrong_is_told(crawl: Crawl) -> None:
    with pytest.raises(UsageError, match="did you mean schema:price"):
        _ = crawl.things("Product", "offers.prise").rows
    with pytest.raises(UsageError, match="a class that is called 'Produkt'"):
        _ = crawl.things("Produkt").rows
    with pytest.raises(UsageError, match="'both' is not one of join, rows"):
        crawl.things("Product", several="both")
    with pytest.raises(UsageError, match="too many"):
        _ = crawl.things("Product", [f"c{number}" for number in range(300)]).rows
    with pytest.raises(TypeError, match="colour"):
        crawl.things("Product", colour="x")


@pytest.mark.parametrize(("column", "wrong"), [("..", "names no property"), (".".join(["name"] * 9), "has 9 steps")])
def test_a_column_is_a_property_or_a_short_path(crawl: Crawl, column: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        next(iter(crawl.things("Product", [column])))
