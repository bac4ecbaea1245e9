"""An entity under several names: found by each of them, with what all pages state and why they are one."""

from pathlib import Path

import msgspec
import pytest
from tests.conftest import Run

from indexed import index_pages
from rdfspider import Crawl

CONTEXT = {"@context": "https://schema.org"}
ADA, LOVELACE = "https://one.example/#ada", "https://two.example/people/lovelace"
WIKIDATA = "http://www.wikidata.org/entity/Q7259"
PAGES = {
    "https://one.example/": {
        **CONTEXT,
        "@id": ADA,
        "@type": "Person",
        "name": "Ada Lovelace",
        "birthDate": "1815-12-10",
        "sameAs": "https://www.wikidata.org/wiki/Q7259",
    },
    "https://two.example/": {
        **CONTEXT,
        "@id": LOVELACE,
        "@type": "Person",
        "name": "Ada, Countess of Lovelace",
        "birthDate": "1815-12-11",
        "sameAs": [WIKIDATA, "https://pills.example/#shop"],
    },
    "https://three.example/": {
        **CONTEXT,
        "@type": "Person",
        "name": "Ada Lovelace",
        "jobTitle": "Mathematician",
        "sameAs": WIKIDATA,
    },
    "https://pills.example/": {
        **CONTEXT,
        "@id": "https://pills.example/#shop",
        "@type": "Organization",
        "name": "Ada Lovelace",
        "sameAs": ADA,
    },
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return index_pages(tmp_path_factory.mktemp("lookup") / "crawl", PAGES)


def test_search_has_one_result_with_all_iris(crawl: Crawl) -> None:
    (hit,) = (hit for hit in crawl.search("ada lovelace", type="Person") if hit.kind == "entity")
    assert (hit.id, hit.same, hit.sources, hit.site_count) == (ADA, (LOVELACE,), 3, 3)


@pytest.mark.parametrize("name", [ADA, LOVELACE, WIKIDATA, "https://www.wikidata.org/wiki/Q7259"])
def test_every_name_leads_to_the_whole(crawl: Crawl, name: str) -> None:
    found = crawl.entity(name)
    assert found.iri == ADA
    assert found.members[:2] == (ADA, LOVELACE) and len(found.members) == 3
    assert {value.text for value in found["birthDate"]} == {"1815-12-10", "1815-12-11"}
    assert [value.text for value in found["jobTitle"]] == ["Mathematician"], "also what a thing without an IRI has"
    assert found.properties["http://schema.org/birthDate"].conflict == "single", "contradictions stay visible"


def test_the_thing_without_an_iri_leads_to_it_too(crawl: Crawl) -> None:
    found = crawl.entity(crawl.entity(ADA).members[2])
    assert found.iri == ADA


def test_the_reasons_are_told_with_their_pages(crawl: Crawl) -> None:
    found = crawl.entity(ADA)
    assert {(each.reason, each.value) for each in found.reasons} == {("Wikidata item", "Q7259")}
    assert {page for each in found.reasons for page in each.pages} == set(PAGES) - {"https://pills.example/"}
    assert all(not each.refusal for each in found.reasons)
    assert {each.refusal for each in found.apart} == {"different kinds"}
    assert crawl.entity("https://pills.example/#shop").members == ()


def test_why_is_printed(run: Run, crawl: Crawl) -> None:
    code, out, _ = run("entity", LOVELACE, "--why", "--dir", crawl.folder)
    assert code == 0
    assert "why these are one" in out and "Wikidata item" in out and "Q7259" in out
    assert "kept apart" in out and "different kinds" in out
    assert "birthDate" not in out
    _, out, _ = run("entity", "https://pills.example/", "--why", "--dir", crawl.folder)
    assert "it is joined with nothing" in out
    _, out, _ = run("entity", LOVELACE, "--json", "--dir", crawl.folder)
    assert msgspec.json.decode(out)["reasons"][0]["reason"] == "Wikidata item"


def test_what_refers_to_any_of_them_refers_to_it(tmp_path: Path) -> None:
    book = {**CONTEXT, "@id": "https://b.example/#book", "@type": "Book", "name": "Notes", "author": {"@id": LOVELACE}}
    crawl = index_pages(tmp_path / "crawl", PAGES | {"https://b.example/": book})
    (reference,) = crawl.entity(ADA).references
    assert reference.label == "Notes"


def test_a_main_thing_has_all_that_its_card_is_made_of(tmp_path: Path) -> None:
    url = "https://food.example/soup"
    graph = {
        **CONTEXT,
        "@graph": [
            {"@id": url, "@type": "WebPage", "name": "Potato Soup - Food", "mainEntity": {"@id": f"{url}#recipe"}},
            {"@id": f"{url}#article", "@type": "Article", "headline": "Potato Soup", "wordCount": 300}
            | {"mainEntityOfPage": {"@id": url}},
            {"@id": f"{url}#recipe", "@type": "Recipe", "name": "Potato Soup", "recipeYield": "4"},
        ],
    }
    crawl = index_pages(tmp_path / "crawl", {url: graph})
    (hit,) = crawl.search("potato soup")
    found = crawl.entity(hit.id)
    assert (found.iri, found.label, found.types) == (f"{url}#recipe", "Potato Soup", hit.types)
    assert [value.text for value in found["wordCount"]] == ["300"], "what the article says"
    names = list(found.properties)
    assert names.index("http://schema.org/recipeYield") < names.index("http://schema.org/headline")
    assert found.references == (), "the thing's own nodes do not refer to it"
    asked = "SERVICE <urn:rdfspider:text> { ?s <urn:rdfspider:text:query> 'potato soup' } ?s a ?type"
    rows = crawl.query(f"SELECT ?type {{ {asked} }}")
    assert {row["type"].rpartition("/")[2] for row in rows} == {"Recipe", "Article", "WebPage"}
