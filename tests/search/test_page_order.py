"""The order of values on a page."""

from collections.abc import Mapping
from math import inf

import rdfspider
from rdfspider.errors import UnreadableError
from rdfspider.search.page_order import PageOrder, number_places

URL, SCHEMA = "https://a.test/", "http://schema.org/"
PAGE = """<div vocab="https://schema.org/" typeof="Recipe" resource="#it"><i property="recipeIngredient">water</i>
  <i property="recipeIngredient" lang="EN">leaves \\ "fine"</i><i property="recipeIngredient">a cup</i>
  <a property="url" href="/z"></a><a property="url" href="/b"></a></div>"""


def _read(graph: str) -> tuple[str, Mapping[str, str]]:
    if graph != URL:
        raise UnreadableError("gone")
    return graph, rdfspider.extract(PAGE.encode(), url=URL).statements


def test_literals_and_iris_have_the_places_of_the_page() -> None:
    order = PageOrder(_read)
    found = order.find_places(URL, f"{URL}#it", f"{SCHEMA}recipeIngredient")
    assert found == {("water", ""): 0, ('leaves \\ "fine"', "en"): 1, ("a cup", ""): 2}
    assert order.find_places(URL, f"{URL}#it", f"{SCHEMA}url") == {(f"{URL}z", ""): 0, (f"{URL}b", ""): 1}


def test_what_cannot_be_read_has_no_order() -> None:
    order = PageOrder(_read)
    assert order.find_places("https://b.test/", f"{URL}#it", f"{SCHEMA}url") == {}
    assert order.find_places(URL, f"{URL}#other", f"{SCHEMA}url") == {}


def test_the_first_place_counts() -> None:
    assert number_places(['"b"', '"a"', '"b"', "<urn:x>"]).get(("b", ""), inf) == 0
