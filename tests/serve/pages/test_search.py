"""The search page: cards, facets as links, suggestions, formats, and what hostile pages cannot do to it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import lxml.html
import pytest
from pyoxigraph import RdfFormat, parse

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.serve.pages import search
from rdfspider.serve.pages.search import is_called
from rdfspider.vocabulary.labels import is_visible
from serving import Reply, Serving, serve

SCHEMA = "http://schema.org/"
EVIL = "\u202e<script>alert(1)</script><img src=x onerror=alert(2)>"


def _state(kind: str, name: str, **more: object) -> dict[str, object]:
    return {"@context": "https://schema.org", "@type": kind, "name": name} | more


def _hide(data: object) -> str:
    """A page with what would end its own script element."""
    text = json.dumps(data).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{text}</script>'


PAGES: dict[str, object] = {
    "https://tea.example/green": _state(
        "Product", "Green tea", image="https://img.example/green.png", sku="G1", datePublished="2021-05-01",
        offers={"@type": "Offer", "price": "3.50", "priceCurrency": "EUR"},
    ),
    "https://tea.example/black": _state("Product", "Black tea", **{"@id": "https://tea.example/black#it"}),
    "https://cars.example/van": _state("Vehicle", "Tea van", datePublished="2019-01-01"),
    "https://cars.example/car": _state("Car", "Tea car"),
    "https://shop.example/black": _state("Product", "Black tea", **{"@id": "https://tea.example/black#it", "sku": "B2"}),
    "https://how.example/pot": _state(
        "HowTo", "Brewing a pot", step=[{"@type": "HowToStep", "name": "Boil", "text": "until it whistles"}]
    ),
    "https://people.example/": '<html lang="de"><title>Leute</title><body vocab="http://xmlns.com/foaf/0.1/" typeof="Person">'
    '<b property="name">Ada</b> wrote of zeppelins',
    "https://evil.example/label": _hide(
        _state("Thing", EVIL, image="javascript:alert(3)", url="javascript:alert(4)", description=f"{EVIL} evilname")
    ),
    "https://evil.example/long": _state("Thing", "long " + "x" * 1_000_000, description="evilname " + "y" * 1_000_000),
    "https://evil.example/types": _hide(
        _state("Thing", "evilname types", **{"@type": [f"https://evil.example/\u202e#<b>{at}" for at in range(1000)]})
    ),
    "https://evil.example/iri": _state("Thing", "evilname iri", **{"@id": "javascript:alert(5)", "image": "data:,x"}),
    "https://evil.example/page": f"<title>{EVIL.replace('<', '&lt;')} evilname</title><p>evilname",
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serve(index_pages(tmp_path_factory.mktemp("search") / "c", PAGES)) as serving:
        yield serving


def _parse(reply: Reply) -> Any:
    assert reply.status == 200, reply.text[:500]
    return lxml.html.document_fromstring(reply.text)


def _list_labels(page: Any) -> list[str]:
    return [heading.text_content() for heading in page.cssselect(".hit h3")]


def _find_choice(page: Any, field: str, name: str) -> Any:
    links = page.xpath(f'//section[@aria-labelledby="facet-{field}"]//a')
    return next(link for link in links if link.xpath("string(bdi)") == name)


def test_a_card_shows_what_is_known_of_a_thing(site: Serving) -> None:
    page = _parse(site.get("/search", q="green"))
    [card] = page.cssselect(".hit")
    assert _list_labels(page) == ["Green tea"]
    assert [mark.text for mark in card.cssselect("h3 mark")] == ["Green"]
    assert [chip.text_content() for chip in card.cssselect(".chip")] == ["Product"]
    facts = {term.text_content(): term.getnext().text_content() for term in card.cssselect("dt")}
    assert facts["date published"] == "1 May 2021"
    # One page alone speaks of it, which its address says.
    assert "said by" not in card.text_content()
    # The facts have its date, which is not told twice.
    assert "2021" not in card.cssselect(".said")[0].text_content()
    assert [link.get("href") for link in card.cssselect(".said a")] == ["/page?url=https://tea.example/green"]


@pytest.mark.parametrize(
    ("asked", "table"),
    [
        ({"q": "type:Product"}, "/things.csv?type=Product"),
        ({"type": "schema:Product", "site": "tea.example"}, "/things.csv?type=schema:Product&site=tea.example"),
        ({"q": "type:Product tea"}, None),
        ({"q": "type:Product", "kind": "page"}, None),
        ({"q": "type:Product", "year": "2021"}, None),
        ({"q": "tea"}, None),
    ],
)
def test_things_of_a_class_can_be_kept_as_a_table(site: Serving, asked: dict[str, str], table: str | None) -> None:
    links = [link.get("href") for link in _parse(site.get("/search", **asked)).cssselect("#downloads a")]
    assert links[:1] == ([table] if table else [])
    assert table is None or "Green tea" in site.get(table).text


def test_what_two_sites_say_is_one_card(site: Serving) -> None:
    page = _parse(site.get("/search", q="black"))
    [card] = page.cssselect(".hit")
    assert "said by 2 sites on 2 pages" in card.text_content()
    assert card.cssselect("h3 a")[0].get("href") == "/entity?iri=https://tea.example/black%23it"


def test_images_of_others_are_asked_for_only_by_those_who_want_them(site: Serving) -> None:
    page = _parse(site.get("/search", q="green"))
    assert "img.example" not in site.get("/search", q="green").text
    [form] = page.cssselect("form.image-choice")
    fields = {field.get("name"): field.get("value") for field in form.cssselect("input")}
    reply = site.post(form.get("action"), **fields)
    assert reply.headers["location"] == "/search?q=green"
    cookie = reply.headers["set-cookie"].partition(";")[0]
    [image] = _parse(site.get("/search", {"Cookie": cookie}, q="green")).cssselect(".hit img")
    assert image.get("src") == "https://img.example/green.png"
    assert (image.get("referrerpolicy"), image.get("loading"), image.get("alt")) == ("no-referrer", "lazy", "")


def test_pages_are_on_a_tab(site: Serving) -> None:
    page = _parse(site.get("/search", q="tea"))
    tabs = {link.text_content(): link for link in page.cssselect(".tabs a")}
    assert list(tabs) == ["All 4", "Things 4", "Pages 5"]
    assert tabs["All 4"].get("aria-current") == "true"
    page = _parse(site.get(tabs["Pages 5"].get("href")))
    assert len(page.cssselect('.hit[data-kind="page"]')) == 5
    assert page.cssselect(".hit .where a")[0].get("rel") == "noopener noreferrer nofollow"


def test_a_page_is_one_result_its_main_thing_or_itself(site: Serving) -> None:
    page = _parse(site.get("/search", q="zeppelins"))
    assert _list_labels(page) == ["Ada"]
    assert _list_labels(_parse(site.get("/search", q="zeppelins", kind="page"))) == ["Leute"]
    assert _list_labels(_parse(site.get("/search", q="tea kind:page", kind="entity"))) != []
    assert "https://evil.example/page" in [hit["id"] for hit in site.get("/search.json", q="evilname").json["hits"]]


def test_a_part_is_shown_in_its_whole(site: Serving) -> None:
    page = _parse(site.get("/search", q="", type="HowToStep"))
    [link] = page.cssselect(".hit .whole a")
    assert _list_labels(page) == ["Boil"]
    assert link.text_content() == "Brewing a pot"
    assert "Boil" not in _list_labels(_parse(site.get("/search", q="boil")))
    assert _list_labels(_parse(site.get("/search", q="boil"))) == ["Brewing a pot"]
    assert "Brewing a pot" in site.get(link.get("href")).text


def test_types_are_a_tree_whose_values_are_links(site: Serving) -> None:
    page = _parse(site.get("/search", q="tea"))
    assert _find_choice(page, "type", "Vehicle").xpath("ancestor::li[2]/a")[0].text_content() == "Product"
    page = _parse(site.get(_find_choice(page, "type", "Vehicle").get("href")))
    assert sorted(_list_labels(page)) == ["Tea car", "Tea van"]
    # What else there is can still be seen, with the counts that it would have.
    whole = _find_choice(page, "type", "Product")
    assert whole.getnext().text == "4"
    # Whoever chooses a class above the chosen one, or below it, wants that instead.
    assert parse_qs(urlsplit(whole.get("href")).query)["type"] == [f"{SCHEMA}Product"]
    narrow = _find_choice(page, "type", "Car")
    assert parse_qs(urlsplit(narrow.get("href")).query)["type"] == [f"{SCHEMA}Car"]


def test_several_values_of_a_field_mean_any_of_them(site: Serving) -> None:
    page = _parse(site.get("/search", q="tea", site="shop.example"))
    page = _parse(site.get(_find_choice(page, "site", "cars.example").get("href")))
    assert sorted(_list_labels(page)) == ["Black tea", "Tea car", "Tea van"]
    chosen = page.cssselect(".facet a.chosen")
    assert sorted(link.xpath("string(bdi)") for link in chosen) == ["cars.example", "shop.example"]


def test_what_was_chosen_can_be_taken_away(site: Serving) -> None:
    page = _parse(site.get("/search", q="tea", type=f"{SCHEMA}Vehicle", year="2019"))
    assert _list_labels(page) == ["Tea van"]
    chips = {chip.get("aria-label"): chip.get("href") for chip in page.cssselect(".chosen-chips a.chip")}
    assert list(chips) == ["remove type Vehicle", "remove year 2019"]
    assert len(_list_labels(_parse(site.get(chips["remove year 2019"])))) == 2
    hidden = {
        field.get("name"): field.get("value") for field in page.cssselect('form[role=search] input[type="hidden"]')
    }
    assert hidden == {"type": f"{SCHEMA}Vehicle", "year": "2019"}


@pytest.mark.parametrize(
    ("parameters", "labels"),
    [
        ({"property": f"{SCHEMA}sku"}, ["Black tea", "Green tea"]),
        ({"ontology": "foaf"}, ["Ada"]),
        ({"lang": "de"}, ["Ada"]),
        ({"syntax": "rdfa"}, ["Ada"]),
        ({"year": "2021"}, ["Green tea"]),
        ({"type": "schema:car"}, ["Tea car"]),
    ],
)
def test_every_facet_sifts(site: Serving, parameters: dict[str, str], labels: list[str]) -> None:
    assert sorted(_list_labels(_parse(site.get("/search", **parameters)))) == labels


def test_values_of_long_namespaces_are_told_apart(tmp_path: Path) -> None:
    dul = "http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#"
    others = [f"https://{name}.example/{'x' * 60}/{'y' * 60}#" for name in ("one", "two")]
    classes = [dul + name for name in ("Agent", "Event", "Place")] + [f"{each}Twin" for each in others]
    pages = {
        f"https://a.test/{at}": _state("Thing", f"tea {at}", **{"@type": [iri], f"{iri}-of": "x"})
        for at, iri in enumerate(classes)
    }
    with serve(index_pages(tmp_path / "c", pages)) as serving:
        page = _parse(serving.get("/search", q="tea"))
        for iri, name in zip(classes, ("Agent", "Event", "Place", *classes[3:]), strict=True):
            assert _find_choice(page, "type", name).xpath("string(bdi/@title)") == (iri if name != iri else "")
        assert _find_choice(page, "property", "Agent-of").xpath("string(bdi/@title)") == f"{dul}Agent-of"
        for field in ("type", "property", "ontology"):
            names = page.xpath(f'//section[@aria-labelledby="facet-{field}"]//a/bdi/text()')
            assert len(names) == len(set(names)) >= 3
        chosen = _parse(serving.get("/search", q="tea", type=classes))
        chips = chosen.cssselect(".chosen-chips a.chip bdi")
        assert [chip.text for chip in chips] == ["Agent", "Event", "Place", *classes[3:]]
        assert chips[0].get("title") == f"{dul}Agent"


def test_no_date_is_shown_that_nobody_has_stated(tmp_path: Path) -> None:
    years = {"Old painting": "1503", "Later painting": "1888", "New painting": "1999-05-07"}
    pages = {
        f"https://a.test/{at}": _state("Painting", name, dateCreated=day)
        for at, (name, day) in enumerate(years.items())
    }
    with serve(index_pages(tmp_path / "c", pages)) as serving:
        page = _parse(serving.get("/search", q="painting"))
        told = {card.xpath("string(.//h3)"): " ".join(card.text_content().split()) for card in page.cssselect(".hit")}
        assert "date created1503" in told["Old painting"] and "1700" not in told["Old painting"]
        assert "date created1888" in told["Later painting"] and "January" not in told["Later painting"]
        assert "date created7 May 1999" in told["New painting"]
        oldest = _find_choice(page, "year", "1700 or earlier")
        page = _parse(serving.get(oldest.get("href")))
        assert _list_labels(page) == ["Old painting"]
        assert page.cssselect(".chosen-chips a.chip")[0].get("aria-label") == "remove year 1700 or earlier"


def test_names_that_people_type_are_known(site: Serving) -> None:
    assert is_called("type", f"{SCHEMA}Product", "product")
    assert is_called("type", f"{SCHEMA}Product", "https://schema.org/Product")
    assert is_called("property", f"{SCHEMA}name", "schema:name")
    assert is_called("ontology", "http://xmlns.com/foaf/0.1/", "foaf")
    assert not is_called("site", "tea.example", "example")
    page = _parse(site.get("/search", type="Product"))
    assert _find_choice(page, "type", "Product").get("href") == "/search"


def test_an_ontology_is_chosen_beside_the_box(site: Serving) -> None:
    page = _parse(site.get("/search", q="", ontology="foaf"))
    [select] = page.cssselect('form[role=search] select[name="ontology"]')
    assert [option.text for option in select.cssselect("option[selected]")] == ["foaf"]
    assert {"Any ontology", "schema", "foaf"} <= {option.text for option in select.cssselect("option")}
    assert (
        _parse(site.get("/search", ontology="urn:nobody:has:")).cssselect("option[selected]")[0].text
        == "urn:nobody:has:"
    )


def test_spellings_of_an_ontology_are_one_and_what_hardly_is_one_is_not_offered(tmp_path: Path) -> None:
    def say(*names: str) -> dict[str, str]:
        return {"@type": "http://schema.org/Thing", "http://schema.org/name": "tea"} | dict.fromkeys(names, "x")

    twins = ("http://ogp.me/ns#a", "https://ogp.me/ns#a")
    pages = {f"https://a.test/{n}": say(*twins, "slick:a", "http://often.test/ns#a") for n in range(3)}
    crawl = index_pages(tmp_path / "c", {**pages, "https://a.test/x": say("http://a.test/x#a")})
    with serve(crawl) as serving:
        offered = [option.text for option in _parse(serving.get("/search")).cssselect("#ontology option")]
        facet = {link.text_content() for link in _parse(serving.get("/search")).cssselect(".facet a")}
    assert set(offered) == {"Any ontology", "schema", "rdf", "http://often.test/ns#", "og"}
    assert "og" in facet and "slick:" not in facet


def test_who_has_turned_as_far_as_can_be_is_told(site: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "can be turned over" not in site.get("/search", kind="page", page=2).text
    monkeypatch.setattr(search, "MAX_RESULTS", 10)
    assert "Only the first 10 of" in site.get("/search", kind="page", page=2).text


def test_pages_of_results_are_turned(site: Serving) -> None:
    first = _parse(site.get("/search", kind="page"))
    assert len(_list_labels(first)) == 10
    assert first.xpath('//link[@rel="prev"]') == []
    second = _parse(site.get(first.xpath('//link[@rel="next"]')[0].get("href")))
    assert len(_list_labels(second)) == len(PAGES) - 10
    assert second.cssselect('.pager a[rel="prev"]')[0].get("href") == "/search?kind=page&page=1"
    shown = [{link.get("href") for link in each.cssselect(".hit h3 a")} for each in (first, second)]
    assert not shown[0] & shown[1]
    beyond = _parse(site.get("/search", kind="page", page="7"))
    assert f"No more results, of {len(PAGES)}" in beyond.text_content()


def test_who_turns_too_far_can_go_back(site: Serving) -> None:
    beyond = _parse(site.get("/search", q="tea", page=99, type="Product"))
    [back] = beyond.xpath('//a[.="To the first page"]')
    assert back.get("href") == "/search?q=tea&type=Product"
    assert beyond.cssselect(".pager") == []


def test_a_page_has_as_many_results_as_are_asked_for(site: Serving) -> None:
    page = _parse(site.get("/search", kind="page", limit=3, page=2))
    assert len(_list_labels(page)) == 3
    assert page.cssselect('.pager a[rel="next"]')[0].get("href") == "/search?kind=page&limit=3&page=3"
    assert "Page 2 of 4" in page.text_content()
    links = [link.get("href") for link in page.cssselect(".facet a")]
    assert links and all("limit=3" in link for link in links)
    assert page.xpath('//form[@role="search"]//input[@name="limit"]/@value') == ["3"]
    assert len(site.get("/search.csv", kind="page", limit=100).text.splitlines()) == len(PAGES) + 1
    assert len(site.get("/search.json", kind="page", limit=1).json["hits"]) == 1
    for given, shown in (("0", 1), ("-3", 10), ("many", 10), ("", 10), ("101", len(PAGES)), ("9" * 12, len(PAGES))):
        assert len(site.get("/search.json", kind="page", limit=given).json["hits"]) == shown, given
    assert site.get("/search.json", kind="page", limit=30, page=10**8).status == 200
    parameters = site.get("/openapi.json").json["paths"]["/search"]["get"]["parameters"]
    assert {"page", "limit"} <= {one["name"] for one in parameters if one["schema"] == {"type": "integer"}}


def test_the_box_has_the_question_of_a_search_alone(site: Serving) -> None:
    assert _parse(site.get("/search", q="tea")).xpath('//input[@id="q"]/@value') == ["tea"]
    assert _parse(site.get("/classes", q="Prod")).xpath('//header//input[@name="q"]/@value') == [""]


def test_nothing_found_comes_with_advice(site: Serving) -> None:
    page = _parse(site.get("/search", q="grene", type="Product", spell="off"))
    assert "Nothing found" in page.text_content()
    suggested = page.xpath('//p[contains(., "Did you mean")]/a')[0]
    assert _list_labels(_parse(site.get(suggested.get("href")))) == ["Green tea"]
    assert page.xpath('//a[.="Search without what was chosen"]')[0].get("href") == "/search?q=grene&spell=off"
    assert "quotation mark has no partner" in _parse(site.get("/search", q='"tea')).text_content()


def test_unknown_words_are_corrected_and_can_be_searched_as_typed(site: Serving) -> None:
    page = _parse(site.get("/search", q="grene", type="Product"))
    assert _list_labels(page) == ["Green tea"]
    shown, typed = page.xpath('//p[contains(., "Showing results for")]/a')
    assert (shown.text_content(), typed.text_content()) == ("green", "grene")
    assert "Nothing found" in _parse(site.get(typed.get("href"))).text_content()
    assert "Showing results for" not in _parse(site.get(shown.get("href"))).text_content()


def test_results_as_json_and_csv(site: Serving) -> None:
    found = site.get("/search.json", q="tea", type=f"{SCHEMA}Vehicle").json
    assert (found["total"], found["kind_counts"]["page"]) == (2, 2)
    assert {hit["label"] for hit in found["hits"]} == {"Tea van", "Tea car"}
    types = next(facet["counts"] for facet in found["facets"] if facet["field"] == "type")
    assert {"value": f"{SCHEMA}Product", "name": "schema:Product", "count": 4, "parent": ""} in types
    lines = site.get("/search.csv", q="black").text.splitlines()
    assert lines[0].startswith("kind,id,label,types")
    assert lines[1].startswith("entity,https://tea.example/black#it,Black tea,http://schema.org/Product")


def test_results_as_statements(site: Serving) -> None:
    quads = list(parse(site.get("/search.nq", q="green").body, RdfFormat.N_QUADS))
    triples = {(quad.subject.value, quad.predicate.value) for quad in quads}
    subjects = {subject for subject, _ in triples}
    # The thing is a blank node, and its offer too.
    assert len(subjects) == 2
    assert {f"{SCHEMA}sku", f"{SCHEMA}price"} <= {predicate for _, predicate in triples}
    assert b'schema:sku "B2"' in site.get("/search.ttl", q="black").body
    graphs = {
        quad.graph_name.value for quad in parse(site.get("/search.nq", q="leute", kind="page").body, RdfFormat.N_QUADS)
    }
    assert graphs == {"https://people.example/"}


def test_suggestions_while_somebody_types(site: Serving) -> None:
    found = site.get("/suggest", q="gre").json
    assert found["query"] == "gre"
    assert {"text": "Green tea", "kind": "entity", "about": "schema:Product"} in found["suggestions"]
    assert "type:Product" in {one["text"] for one in site.get("/suggest", q="prod").json["suggestions"]}
    assert site.get("/suggest").json["suggestions"] == []
    assert all("\u202e" not in one["text"] for one in site.get("/suggest", q="<script").json["suggestions"])


UNSEEN = {
    "turned": "\u202e\u200f",
    "narrow": "\u200b\u2060",
    "soft": "\u00ad",
    "blank": "\u3164",
    "late": "\u200b" * 600 + "x",
}


def test_names_that_nobody_can_see_are_none(tmp_path: Path) -> None:
    pages: dict[str, object] = {
        f"https://a.test/{key}": f"<title>{name}</title>"
        + _hide(_state("Product", name, **{"@id": f"https://a.test/{key}#it", "sku": "unseen"}))
        for key, name in UNSEEN.items()
    }
    pages["https://a.test/with"] = _state("Product", "with others", isRelatedTo=[
        {"@id": f"https://a.test/{key}#it"} for key in UNSEEN
    ], **{"@id": "https://a.test/with#it"})  # fmt: skip
    with serve(index_pages(tmp_path / "c", pages)) as serving:
        labels = _list_labels(_parse(serving.get("/search", q="unseen")))
        assert sorted(labels) == ["it"] * len(UNSEEN)
        labels = _list_labels(_parse(serving.get("/search", q="site:a.test kind:page")))
        assert sorted(labels) == sorted(["it"] * len(UNSEEN) + ["with others"])
        for path in (
            "/search",
            "/search?kind=page",
            *(f"/entity?iri=https://a.test/{key}%23it" for key in (*UNSEEN, "with")),
        ):
            page = _parse(serving.get(path))
            empty = [
                link for link in page.xpath("//main//a | //h1 | //h3 | //title") if not is_visible(link.text_content())
            ]
            assert [lxml.html.tostring(link) for link in empty] == [], path
        page = _parse(serving.get("/entity", iri="https://a.test/soft#it"))
        assert page.xpath("string(//h1)") == "https://a.test/soft#it"
        picture = _parse(serving.get("/entity", iri="https://a.test/with#it")).cssselect("svg.neighbourhood")[0]
        assert all(is_visible(name.text_content()) for name in picture.cssselect("text.name"))


def test_types_are_counted_where_they_are_known(tmp_path: Path) -> None:
    def state(name: str, count: int) -> dict[str, object]:
        types = [f"http://evil.example/ns#T{at:04}" for at in range(count)]
        return _state("Thing", name, **{"@id": f"https://a.test/{name}#it", "@type": [*types, "Product"]})

    with serve(
        index_pages(tmp_path / "c", {f"https://a.test/{at}": state(f"n{at}", at) for at in (6, 1000)})
    ) as serving:
        for count, on_card, on_page in ((6, "+3", None), (1000, "and more", "+993")):
            [card] = _parse(serving.get("/search", q=f"n{count}")).cssselect(".hit")
            chips = [chip.text_content() for chip in card.cssselect(".chip")]
            assert (chips[0], chips[-1], len(chips)) == ("Product", on_card, 5)
            page = _parse(serving.get("/entity", iri=f"https://a.test/n{count}#it"))
            chips = [chip.text_content() for chip in page.cssselect('h1 ~ ul[aria-label="Types"] .chip')]
            assert chips[0] == "Product"
            assert [chip for chip in chips if chip.startswith("+")] == ([on_page] if on_page else [])


@pytest.mark.parametrize("kind", ["entity", "page"])
def test_hostile_text_is_only_text(site: Serving, kind: str) -> None:
    reply = site.get("/search", {"Cookie": "rdfspider_images=on"}, q="evilname OR long", kind=kind)
    page = _parse(reply)
    assert len(_list_labels(page)) >= 3
    assert all(script.get("src", "").startswith("/static/") for script in page.iter("script"))
    assert all(image.get("src").startswith("/static/") for image in page.iter("img"))
    for element in page.iter(lxml.html.etree.Element):
        for name, value in element.attrib.items():
            assert not name.startswith("on") and name != "style"
            if name in ("href", "src", "action"):
                assert value.startswith(("/", "#", "https://evil.example/")), value
    # No name turns the direction of what follows, or is longer than what a page can show.
    assert "\u202e" not in page.text_content()
    assert len(reply.body) < 200_000
    assert max(map(len, page.itertext())) < 2_500
    assert max((len(card.cssselect(".chip")) for card in page.cssselect(".hit")), default=0) <= 6


@pytest.mark.parametrize(
    "parameters",
    [
        {"q": "\x00\ud800".encode("utf-8", "replace")},
        {"q": "tea", "page": "-1", "kind": "nonsense"},
        {"type": [f"t{at}" for at in range(900)]},
        {"q": EVIL, "type": EVIL, "site": EVIL, "year": EVIL},
        {"q": "x" * 19_000},
    ],
)
def test_nothing_that_can_be_asked_breaks_it(site: Serving, parameters: dict[str, Any]) -> None:
    page = _parse(site.get("/search", **parameters))
    assert [script.text for script in page.iter("script") if script.text] == []


def test_where_nothing_is_indexed_it_says_so(tmp_path: Path) -> None:
    with serve(Crawl.create(tmp_path / "c", ["https://example.org/"])) as serving:
        reply = serving.get("/search", q="tea")
        assert (reply.status, "Nothing can be searched yet" in reply.text) == (503, True)
        assert serving.get("/search.json", q="tea").status == 503
        assert serving.get("/suggest", q="tea").json["suggestions"] == []
