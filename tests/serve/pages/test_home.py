"""The first page: sums, names, questions that can be answered, and what was found last."""

from collections.abc import Iterator
from typing import Any

import lxml.html
import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.crawl.messages import Find
from rdfspider.crawl.status import Status, Totals, write_status
from serving import Serving, serve

EVIL = '\u202e"><script>alert(1)</script>'


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    products = {
        f"https://tea.example/{at}": {
            "@context": "https://schema.org",
            "@id": f"#{at}",
            "@type": "Product",
            "name": f"Tea {at}",
            "sku": str(at),
        }
        for at in range(3)
    }
    person = '<body vocab="http://xmlns.com/foaf/0.1/" typeof="Person"><b property="name">Ada</b>'
    crawl = index_pages(tmp_path_factory.mktemp("home") / "c", {**products, "https://people.example/": person})
    finds = (
        Find(1_750_000_000.0, "https://tea.example/0", "Tea 0", ("http://schema.org/Product",), 3),
        Find(
            1_750_000_001.0, "https://evil.example/", EVIL, tuple(f"https://evil.example/{at}" for at in range(999)), 9
        ),
    )
    write_status(crawl.folder, Status(state="ended", reason="finished", totals=Totals(pages=4, finds=finds)))
    return crawl


@pytest.fixture(scope="module")
def site(crawl: Crawl) -> Iterator[Serving]:
    with serve(crawl) as serving:
        yield serving


@pytest.fixture(scope="module")
def page(site: Serving) -> Any:
    return lxml.html.document_fromstring(site.get("/").text)


def test_it_tells_how_much_there_is(page: Any) -> None:
    sums = {term.text_content(): term.getnext().text for term in page.cssselect(".totals dt")}
    assert (sums["things"], sums["pages"], sums["sites"]) == ("4", "4", "2")
    assert "ended: nothing is left to fetch" in page.cssselect(".state")[0].text_content()


def test_names_lead_to_their_pages(page: Any) -> None:
    links = {link.text_content(): link.get("href") for link in page.cssselect(".counts a")}
    assert links["Product"] == "/class?iri=http://schema.org/Product"
    assert links["foaf"] == "/ontology?iri=http://xmlns.com/foaf/0.1/"
    assert links["sku"] == "/property?iri=http://schema.org/sku"
    assert links["tea.example"] == "/site?name=tea.example"


def test_every_example_finds_something(site: Serving, page: Any) -> None:
    links = [link.get("href") for link in page.cssselect(".examples a")]
    assert "/search?q=type:Product" in links
    assert "/search?q=ontology:foaf" in links
    assert "/search?q=property:sku" in links
    for link in links:
        assert site.get(link.replace("/search", "/search.json")).json["total"], link


def test_the_box_has_the_ontologies(page: Any) -> None:
    assert {"Any ontology", "schema", "foaf"} <= {option.text for option in page.cssselect("#ontology option")}


def test_no_two_parts_have_one_id(page: Any) -> None:
    ids = [part.get("id") for part in page.xpath("//*[@id]")]
    assert len(ids) == len(set(ids))


def test_the_latest_find_is_first_and_only_text(page: Any) -> None:
    finds = page.cssselect(".finds > li")
    assert [find.cssselect("a")[0].get("href") for find in finds] == [
        "/page?url=https://evil.example/",
        "/page?url=https://tea.example/0",
    ]
    assert finds[0].cssselect("a")[0].text_content() == '"><script>alert(1)</script>'
    assert all(script.get("src", "").startswith("/static/") for script in page.iter("script"))
    assert len(finds[0].cssselect(".chip")) == 4


def test_the_same_as_data(site: Serving) -> None:
    data = site.get("/home.json").json
    assert (data["state"], data["totals"]["pages"]) == ("ended", 4)
    assert {"question": "type:Product", "about": "everything of the class Product, and of those below it"} in data[
        "examples"
    ]
    assert data["finds"][1]["title"] == "Tea 0"
    assert "classes,http://schema.org/Product,3,3,1" in site.get("/home.csv").text
    assert b"void#Dataset" in site.get("/home.nq").body
