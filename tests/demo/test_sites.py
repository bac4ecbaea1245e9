"""Each page of the demo says what it should, by every syntax that there is, and the same each time."""

import gzip
import re
from functools import cache

import pytest

from rdfspider import Extraction, extract
from rdfspider.demo import world
from rdfspider.demo.answers import DemoAnswer
from rdfspider.demo.expectations import list_hidden, list_published
from rdfspider.demo.server import DemoWeb
from rdfspider.demo.sites.catalogues import choose_form
from rdfspider.fetch.fetcher import ACCEPT

WEB = DemoWeb(8585)
PUBLISHED = list_published(WEB.at)
SITES = sorted(WEB.sites)


def ask(url: str, **headers: str) -> DemoAnswer:
    host, slash, path = url.removeprefix("http://").partition("/")
    return WEB.answer(host, slash + path, headers)


def fetch_document(url: str) -> bytes | None:
    return ask(url).body


@cache
def read_page(url: str) -> Extraction:
    answer = ask(url)
    assert answer.status == 200, f"{url}: {answer.status}"
    return extract(answer.body, url, answer.content_type, documents=fetch_document)


@cache
def read_words() -> list[tuple[str, str]]:
    """All pages that depend on their path alone: where they are, and their words as in a URL."""
    pages = (
        (WEB.at.url(name, path), answer) for name, site in WEB.sites.items() for path, answer in site.pages.items()
    )
    return [
        (url, world.make_key(f"{url} {answer.headers} {answer.body.decode('utf-8', 'replace')}"))
        for url, answer in pages
    ]


@pytest.mark.parametrize(
    "site", sorted({published.url.split(".")[0].removeprefix("http://") for published in PUBLISHED})
)
def test_every_page_states_what_is_expected_of_it(site: str) -> None:
    own = [published for published in PUBLISHED if published.url.startswith(f"http://{site}.")]
    missing = [row for row in own if f'"{row.literal}"' not in read_page(row.url).to_nquads()]
    assert missing == []


def test_every_table_is_published() -> None:
    tables = {
        "person": world.PEOPLE,
        "place": world.PLACES,
        "book": world.BOOKS,
        "product": world.PRODUCTS,
        "event": world.EVENTS,
        "recipe": world.RECIPES,
        "exhibit": world.EXHIBITS,
        "course": world.COURSES,
        "dataset": world.DATASETS,
        "post": world.POSTS,
        "article": world.ARTICLES,
    }
    wanted = {f"{kind}/{thing.key}" for kind, table in tables.items() for thing in table}
    assert {row.entity for row in PUBLISHED if not row.entity.startswith("site/")} == wanted


def test_things_are_on_several_sites() -> None:
    hosts: dict[str, set[str]] = {}
    for row in PUBLISHED:
        hosts.setdefault(row.entity, set()).add(row.url.split("/")[2])
    many = [entity for entity, names in hosts.items() if len(names) >= 3]
    assert {entity.partition("/")[0] for entity in many} == {"person", "place"}
    assert len(many) > 20


def test_every_syntax_is_there() -> None:
    seen = {syntax for row in PUBLISHED for syntax in read_page(row.url).statements}
    assert seen == {"jsonld", "microdata", "rdfa", "microformats", "meta", "rdf", "feed"}
    types = {read_page(row.url).media_type for row in PUBLISHED}
    assert types >= {"text/turtle", "application/rdf+xml", "application/ld+json", "application/n-triples"}


@pytest.mark.parametrize("hidden", list_hidden(WEB.at), ids=lambda hidden: hidden.literal)
def test_what_is_hidden_is_there_for_who_does_not_behave(hidden: tuple[str, str, str]) -> None:
    url, literal, reason = hidden
    if url.endswith("/products"):
        names = ("colour", "size", "material", "origin", "season", "gift", "weight")
        url += "?" + "&".join(f"{name}=x" for name in names)
    assert f'"{literal}"' in read_page(url).to_nquads()
    # No other page names it, nor does any URL; the mirror has the museum's pages, the hidden one too.
    others = [place for place, words in read_words() if world.make_key(literal) in words]
    own = {
        WEB.at.url(host, "/" + url.split("/", 3)[3]) for host in (url.split(".")[0].removeprefix("http://"), "mirror")
    }
    assert set(others) <= own
    if reason == "robots":
        site = WEB.sites[url.split(".")[0].removeprefix("http://")]
        path = "/" + url.split("/", 3)[3]
        assert any(
            path.startswith(line.removeprefix("Disallow: ")) for line in site.robots.splitlines() if len(line) > 11
        )


def test_pages_are_the_same_each_time_and_at_each_port() -> None:
    again, elsewhere = DemoWeb(8585), DemoWeb(9999)
    for name, site in WEB.sites.items():
        assert site.pages == again.sites[name].pages
        for path, answer in site.pages.items():
            other = elsewhere.sites[name].pages[path]
            if not path.endswith(".gz"):
                assert answer.body.replace(b":8585", b":9999") == other.body


def test_the_mirror_has_the_same_bytes() -> None:
    assert WEB.sites["mirror"].pages == WEB.sites["museum"].pages


def test_no_link_leads_out_of_the_demo() -> None:
    for name, site in WEB.sites.items():
        for path, answer in site.pages.items():
            if answer.status == 200 and answer.content_type.startswith("text/html"):
                links = extract(answer.body, WEB.at.url(name, path), answer.content_type).links
                assert [link.target for link in links if ".localhost:8585/" not in link.target] == []


@pytest.mark.parametrize("name", [name for name in SITES if name not in ("www", "mirror", "old")])
def test_no_published_link_is_dead(name: str) -> None:
    """Whatever the pages of a site lead to answers, but for what is lost on purpose."""
    dead = set()
    for path, answer in WEB.sites[name].pages.items():
        if answer.status == 200 and answer.content_type.startswith("text/html"):
            links = extract(answer.body, WEB.at.url(name, path), answer.content_type).links
            dead |= {link.target for link in links if ask(link.target).status >= 400}
    assert dead == set()


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/turtle", "text/turtle"),
        ("text/html, text/turtle;q=0.8", "text/html"),
        ("text/html;q=0.2, application/ld+json", "application/ld+json"),
        ("*/*", "text/html"),
        ("", "text/html"),
        ("text/turtle;q=nonsense", "text/html"),
        (ACCEPT, "text/html"),
    ],
)
def test_content_negotiation(accept: str, form: str) -> None:
    assert choose_form(accept, ["text/html", "text/turtle", "application/ld+json"]) == form


def test_a_name_leads_to_what_is_asked_for() -> None:
    name = WEB.at.place(world.PLACES[0])
    data, page = ask(name, accept="text/turtle"), ask(name, accept="text/html")
    assert (data.status, page.status) == (303, 303)
    assert dict(data.headers)["Location"] == "/data/harrowmere.ttl"
    assert dict(page.headers)["Location"] == "/page/harrowmere"
    assert ask(WEB.at.url("data", "/id/atlantis")).status == 404


def test_the_calendar_has_no_end() -> None:
    month = read_page(WEB.at.url("events", "/calendar/2031/12"))
    targets = {link.target for link in month.links}
    assert WEB.at.url("events", "/calendar/2032/01") in targets
    assert WEB.at.url("events", "/calendar/2031/11") in targets
    assert ask(WEB.at.url("events", "/calendar/2031/13")).status == 404


def test_what_is_not_in_the_cookbook_is_told_with_200() -> None:
    answer = ask(WEB.at.url("recipes", "/recipes/green-goose"))
    assert answer.status == 200
    assert b"not found" in answer.body


def test_broken_json_is_broken_and_saved() -> None:
    broken = [read_page(WEB.at.url("recipes", f"/recipes/{recipe.key}")) for recipe in world.RECIPES[::4]]
    assert all(page.problems and page.statements["jsonld"] for page in broken)


def test_the_sitemaps_have_every_dataset() -> None:
    packed = gzip.decompress(ask(WEB.at.url("portal", "/sitemap-pages.xml.gz")).body).decode()
    plain = ask(WEB.at.url("portal", "/sitemap-metadata.txt")).body.decode()
    assert packed.count("<loc>") == len(plain.splitlines()) == len(world.DATASETS)
    assert all(ask(line).status == 200 for line in plain.splitlines())


def test_the_shop_shows_each_product_once_in_its_list() -> None:
    found: list[str] = []
    url: str | None = WEB.at.url("shop", "/products")
    while url:
        page = read_page(url)
        found += [link.target.partition("?")[0] for link in page.links if "/products/" in link.target]
        url = next((link.target for link in page.links if link.relation == "next"), None)
    assert sorted(found) == sorted(WEB.at.product(product) for product in world.PRODUCTS)
    by_price = read_page(WEB.at.url("shop", "/products?page=2&sort=price"))
    assert by_price.canonical == WEB.at.url("shop", "/products?page=2")


def test_some_products_have_an_image_that_is_there() -> None:
    images = {}
    for product in world.PRODUCTS:
        quads = read_page(WEB.at.product(product)).to_nquads()
        images[product.key] = re.findall(
            r"<http://schema\.org/image> <([^>]+)>", quads.replace("https://schema", "http://schema")
        )
    pictured = {key: found[0] for key, found in images.items() if found}
    assert len(pictured) == 16
    bodies = {ask(url).body for url in pictured.values()}
    assert len(bodies) == 16
    assert all(body.startswith(b"\x89PNG") and len(body) < 1_000 for body in bodies)


def test_an_unknown_host_is_not_here() -> None:
    assert ask("http://casino.localhost:8585/").status == 404
