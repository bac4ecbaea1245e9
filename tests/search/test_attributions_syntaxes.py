"""Which syntax states what, by real extraction and a real index of a page that speaks in three."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import rdfspider
from indexed import index_pages
from rdfspider import Crawl
from rdfspider.search.attributions import add_attribution_syntaxes, add_entity_syntaxes, read_attributions
from rdfspider.search.entity import Entity
from rdfspider.search.indexes import Indexes

S = "http://schema.org/"
URL = "https://cafe.example/"
CAFE = f"{URL}#it"
PAGE = """<html lang="en"><title>Cafe</title><script type="application/ld+json">{"@context": "https://schema.org", "@id": "#it",
"@type": "CafeOrCoffeeShop", "name": "Caf\\u00e9 \\"Eck\\"", "telephone": "1", "geo": {"latitude": 52, "longitude": 13}}</script>
<div vocab="http://schema.org/" resource="#it"><b property="telephone" lang="">1</b><b property="slogan" lang="">Open</b></div>
<div itemscope itemid="#it" itemtype="http://schema.org/CafeOrCoffeeShop"><b itemprop="slogan" lang="">Open</b>
<a itemprop="url" href="/x">x</a><i itemprop="geo" itemscope><b itemprop="latitude">52.5</b></i></div></html>"""


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return index_pages(tmp_path_factory.mktemp("syntaxes") / "c", {URL: PAGE})


@pytest.fixture(scope="module")
def told(crawl: Crawl) -> Entity:
    return add_entity_syntaxes(crawl.entity(CAFE), read_statements)


def read_statements(url: str) -> Mapping[str, str] | None:
    return rdfspider.extract(PAGE.encode(), url=url).statements


@pytest.mark.parametrize(
    ("name", "syntaxes"),
    [
        ("name", {("jsonld",)}),
        ("telephone", {("jsonld", "rdfa")}),
        ("slogan", {("microdata", "rdfa")}),
        ("url", {("microdata",)}),
        ("geo", {("jsonld",), ("microdata",)}),
    ],
)
def test_the_very_syntaxes_of_each_value(told: Entity, name: str, syntaxes: set[tuple[str, ...]]) -> None:
    sources = [source for value in told[name] for source in value.sources]
    assert {tuple(sorted(source.syntaxes)) for source in sources} == syntaxes
    assert all(source.is_exact for source in sources)


def test_what_is_not_on_record_keeps_those_of_the_page(crawl: Crawl) -> None:
    (name,) = add_entity_syntaxes(crawl.entity(CAFE), lambda url: None)["name"]
    assert name.sources[0].syntaxes == ("jsonld", "microdata", "rdfa")
    assert not name.sources[0].is_exact
    # A blank node's own name tells.
    assert all(value.sources[0].is_exact for value in add_entity_syntaxes(crawl.entity(CAFE), lambda url: None)["geo"])


def test_who_says_one_property(crawl: Crawl) -> None:
    with Indexes(crawl.folder)._use_quads() as store:
        attributions = read_attributions(store, [CAFE], f"{S}telephone", 0, 10).attributions
    (attribution,) = add_attribution_syntaxes(attributions, f"{S}telephone", [CAFE], read_statements)
    assert (sorted(attribution.source.syntaxes), attribution.source.is_exact) == (["jsonld", "rdfa"], True)


def test_a_page_that_speaks_in_one_syntax_leaves_no_question(tmp_path: Path) -> None:
    page = {"@context": "https://schema.org", "@id": CAFE, "name": "Café"}
    (name,) = index_pages(tmp_path / "c", {URL: page}).entity(CAFE)["name"]
    assert (name.sources[0].syntaxes, name.sources[0].is_exact) == (("jsonld",), True)
