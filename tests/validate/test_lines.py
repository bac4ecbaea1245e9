"""Where in the source of a page a finding is."""

from msgspec.structs import replace

from rdfspider.validate.findings import ERROR, Finding
from rdfspider.validate.lines import add_lines

PRICE = Finding(ERROR, "price-form", "", "u", "jsonld", "Product.offers.price", "Offer", "1 €")


def find_line(found: Finding, text: str) -> int:
    [lined] = add_lines([found], text)
    return lined.line


def test_a_value_with_its_property_in_json() -> None:
    assert find_line(PRICE, '{\n"price": "2 €",\n"price":\n"1 \\u20ac"}') == 4
    assert find_line(PRICE, '{"sku": "1 €",\n"cost": "1 €"}') == 0, "another property"


def test_a_value_with_its_property_in_attributes_and_text() -> None:
    found = replace(PRICE, syntax="microdata")
    assert find_line(found, '<p>1 €</p>\n<b content="1 €" itemprop="price">') == 2
    assert find_line(found, '\n\n<b itemprop="sku price">\n1 €</b>') == 4
    assert find_line(replace(found, syntax="rdfa"), '\n<b property="schema:price">1 €</b>') == 2


def test_a_class() -> None:
    wrong = Finding(ERROR, "unknown-class", "", "u", "jsonld", "Evnt", "Evnt", "Evnt")
    assert find_line(wrong, '\n{"@type": ["Thing", "Evnt"]}') == 2
    assert find_line(replace(wrong, syntax="microdata"), '\n\n<p itemtype="https://schema.org/Evnt">') == 3


def test_what_is_missing_is_at_its_thing_if_there_is_one_alone() -> None:
    missing = Finding(ERROR, "missing-required", "", "u", "jsonld", "Recipe.image", "Recipe")
    assert find_line(missing, '\n{"@type": "Recipe"}') == 2
    assert find_line(missing, '\n{"@type": "Recipe"}\n{"@type": "Recipe"}') == 0


def test_the_search_is_bounded() -> None:
    text = '"price": ' * 400_000
    found = [replace(PRICE, path=f"Offer.price{number}", value=f"{number} €") for number in range(500)]
    assert not any(each.line for each in add_lines(found, text + "".join(f'"price{n}": ' for n in range(500))))
