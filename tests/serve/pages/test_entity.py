"""The page of a thing: what is said, by whom, what contradicts, what points at it; and what tries to break it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import lxml.html
import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.search.entity import REFERENCES_SHOWN
from serving import Reply, Serving, serve
from web.crawls import crawl as crawl_web
from web.server import Answer, Web
from web.sites import Site

S = "http://schema.org/"
ADA = "https://one.example/#ada"
EVIL = "https://evil.example/#it"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
TWIN = "https://twin.example/a#it"
CONTEXT = {"@context": "https://schema.org"}
HOSTILE = {
    **CONTEXT,
    "@id": EVIL,
    "@type": ["Thing", *(f"https://evil.example/type/{at}" for at in range(1000))],
    "name": SCRIPT + "\u202e\u2066 turned",
    "description": "long " * 200_000,
    "url": "javascript:alert(1)",
    "image": "javascript:alert(2)",
    "sameAs": ["javascript:alert(3)", "data:text/html,<script>alert(4)</script>"],
    "birthDate": SCRIPT,
    "about": {"@id": "javascript:alert(5)", "@type": "Thing", "name": SCRIPT},
    "offers": {"@type": "Offer", "price": SCRIPT, "priceCurrency": SCRIPT, "name": SCRIPT},
}
PAGES: dict[str, object] = {
    "https://one.example/": {
        **CONTEXT,
        "@id": ADA,
        "@type": "Person",
        "name": [{"@value": "Ada Lovelace", "@language": "en"}, {"@value": "Ada de Lovelace", "@language": "es"}],
        "description": "Mathematician.",
        "birthDate": "1815-12-10",
        "image": "https://one.example/ada.jpg",
        "sameAs": "https://two.example/ada",
        "workLocation": {
            "@type": "Place",
            "name": "Office",
            "geo": {"@type": "GeoCoordinates", "latitude": "51.5074", "longitude": "-0.1278"},
        },
        "makesOffer": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR"},
        "knows": {"@id": "https://one.example/#babbage", "@type": "Person", "name": "Charles Babbage"},
    },
    "https://two.example/": {**CONTEXT, "@id": ADA, "birthDate": "1815-12-11", "jobTitle": "Writer"},
    "https://two.example/ada": {
        **CONTEXT,
        "@id": "https://two.example/ada",
        "@type": "Organization",
        "jobTitle": "Countess",
    },
    # A script would end at the first tag that ends one.
    "https://evil.example/": "<script type='application/ld+json'>"
    + json.dumps(HOSTILE).replace("<", "\\u003c")
    + "</script>",
    "https://wide.example/": {
        **CONTEXT,
        "@id": "https://wide.example/#it",
        "name": "Wide",
        **{f"https://wide.example/p/{at}": f"value {at}" for at in range(3000)},
    },
    "https://mixed.example/": (
        '<script type="application/ld+json">{"@context": "https://schema.org", "@id": "https://mixed.example/#it",'
        ' "name": "Mixed"}</script><p vocab="http://schema.org/" resource="#it"><b property="slogan">Both</b></p>'
    ),
}
LIST = [f"step {at}" for at in range(1, 8)]
PAGES |= {
    "https://list.example/": {
        "@context": {"@vocab": S},
        "@id": "https://list.example/#it",
        "name": "List",
        "step": {"@list": [*LIST, {"name": "the last", "step": {"@list": ["inner"]}}]},
        "long": {"@list": [f"entry {at}" for at in range(300)]},
    },
    "https://place.example/": {
        **CONTEXT,
        "@id": "https://place.example/#it",
        "@type": "Place",
        "name": "Place",
        "geo": [
            {"@type": "GeoCoordinates", "name": "nowhere"},
            {"@id": "https://place.example/#geo", "@type": "GeoCoordinates", "latitude": "52.52", "longitude": "13.4"},
        ],
    },
    **{
        f"https://press{at}.example/": {
            **CONTEXT, "@id": "https://press.example/#it", "@type": "Book", "isbn": isbn, "datePublished": date, "author": "A"
        }
        for at, (isbn, date) in enumerate(
            [("978-3-16-148410-0", "1999"), ("9783161484100", "1999-05-01"), ("9783161484117", "2001")]
        )
    },
}  # fmt: skip
PAGES |= {
    f"https://twin.example/{letter}": {
        **CONTEXT,
        "@id": f"https://twin.example/{letter}#it",
        "@type": {"a": "Place", "b": "Person", "c": "Event"}[letter],
        "name": "Pelhaven",
        **({"sameAs": TWIN} if letter != "a" else {}),
    }
    for letter in "abc"
}
PAGES |= {
    f"https://pens{number}.example/": {
        **CONTEXT,
        "@id": f"https://pens{number}.example/#pen",
        "@type": "Product",
        "name": "Red pen",
        "gtin": "4006381333931",
        "color": color,
    }
    for number, color in enumerate(["red", "vermilion"])
}
PAGES |= {
    f"https://books.example/{at}": {
        **CONTEXT,
        "@id": f"https://books.example/{at}#it",
        "@type": "Book",
        "name": f"Volume {at}",
        "author" if at % 3 else "about": {"@id": ADA},
    }
    for at in range(REFERENCES_SHOWN + 20)
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serve(index_pages(tmp_path_factory.mktemp("entity") / "c", PAGES)) as serving:
        yield serving


@pytest.fixture(scope="module")
def ada(site: Serving) -> str:
    return show(site, ADA).text


def show(site: Serving, iri: str, **parameters: str) -> Reply:
    reply = site.get("/entity", iri=iri, **parameters)
    assert reply.status == 200, reply.text[-500:]
    return reply


def test_it_says_what_it_is_and_who_says_so(ada: str) -> None:
    assert "<h1><bdi>Ada Lovelace</bdi></h1>" in ada
    assert 'href="/class?iri=http://schema.org/Person"' in ada
    assert re.search(r"said by 1 page</summary>\s*<ul class=\"sources\">\s*<li><a href=\"/page\?url=https://one", ada)
    assert "in jsonld" in ada
    assert '<time datetime="2025-06-15T15:06:40+00:00">2025-06-15 15:06:40</time> UTC' in ada
    assert '<span class="language" title="Language"><bdi>es</bdi></span>' in ada


def test_what_contradicts_stands_side_by_side(ada: str) -> None:
    sides = re.findall(r'<ul class="sides">(.*?)</ul>\s*</td>|<ul class="sides">(.*)', ada, re.DOTALL)
    assert len(sides) == 1
    assert '<time datetime="1815-12-10" title="1815-12-10">10 December 1815</time>' in ada
    assert "11 December 1815" in ada
    assert "A thing has one of these, and not all who speak of it give the same." in ada


def test_what_means_the_same_is_on_one_side(site: Serving) -> None:
    text = show(site, "https://press.example/#it").text
    columns = [part.partition("</td>")[0] for part in text.split('<ul class="sides">')[1:]]
    sides = [
        [set(re.findall(r"press\d", side)) for side in re.split(r"<li>\s*<div class", column)[1:]] for column in columns
    ]
    # The date, then the number.
    assert sides == [[{"press0", "press1"}, {"press2"}]] * 2


def test_a_list_is_shown_in_its_order(site: Serving) -> None:
    text = show(site, "https://list.example/#it").text
    assert "rdf:first" not in text and "rdf:rest" not in text
    (steps,) = re.findall(r'<ol class="listed">\s*(<li>.*?step 1.*?</ol>)', text, re.DOTALL)
    assert re.findall(r"<bdi>(step \d|the last|inner)</bdi>", steps) == [*LIST, "the last", "inner"]
    # A long one goes on where it is cut.
    assert "<bdi>entry 99</bdi>" in text and "<bdi>entry 100</bdi>" not in text
    following = re.search(r'href="([^"]+)">how the list goes on', text)
    assert following
    assert "<bdi>entry 100</bdi>" in site.ask("GET", following[1]).text
    found = site.get("/entity.json", iri="https://list.example/#it").json["properties"][f"{S}step"]["values"][0]
    assert [item["text"] for item in found["items"]][:7] == LIST


def test_a_place_may_have_a_name_and_stand_behind_another(site: Serving) -> None:
    head, _, said = show(site, "https://place.example/#it").text.partition('id="said"')
    assert "52.5200° N, 13.4000° E" in head
    assert "52.5200° N, 13.4000° E" in said.partition('href="/entity?iri=https://place.example/%23geo"')[2]


def test_nested_nodes_have_places_prices_and_anchors(ada: str) -> None:
    assert "51.5074° N, 0.1278° W" in ada
    assert 'href="https://www.openstreetmap.org/?mlat=51.50740&amp;mlon=-0.12780' in ada
    assert '<span class="price" title="19.90 EUR">€19.90</span>' in ada
    anchors = re.findall(r'class="nested" id="([^"]+)"', ada)
    assert len(anchors) == len(set(anchors)) == 3
    assert all(f'href="#{anchor}"' in ada for anchor in anchors)


def test_no_image_is_asked_for_unless_that_is_wanted(site: Serving, ada: str) -> None:
    assert "one.example/ada.jpg" in ada
    assert not re.search(r'<img[^>]*src="https?:', ada)
    wanted = site.get("/entity", {"Cookie": site.post("/images", show="on").headers["set-cookie"]}, iri=ADA).text
    assert re.search(r'<img[^>]*src="https://one.example/ada.jpg"[^>]*referrerpolicy="no-referrer"', wanted)


def test_the_same_is_shown_and_merged_by_a_switch(site: Serving, ada: str) -> None:
    assert 'href="/entity?iri=https://two.example/ada"' in ada
    assert 'id="same-switch" href="/entity?iri=https://one.example/%23ada&amp;same=1"' in ada
    assert "Countess" not in ada
    merged = show(site, ADA, same="1").text
    assert "Countess" in merged
    assert 'id="same-switch" href="/entity?iri=https://one.example/%23ada"' in merged


def test_one_thing_under_several_names_says_why(site: Serving) -> None:
    for number in (0, 1):
        text = show(site, f"https://pens{number}.example/#pen").text
        assert "One thing under 2 names" in text and "vermilion" in text
        (why,) = re.findall(r'<details id="why">.*?</details>', text, re.DOTALL)
        assert "GTIN or ISBN" in why and "04006381333931" in why
        assert sorted(re.findall(r"/page\?url=([^\"]+)", why)) == ["https://pens0.example/", "https://pens1.example/"]
    (reason,) = json.loads(site.get("/entity.json", iri="https://pens1.example/#pen").text)["reasons"]
    assert (reason["reason"], reason["value"]) == ("GTIN or ISBN", "04006381333931")


def test_other_names_are_told_with_who_says_so(site: Serving, ada: str) -> None:
    def list_names(text: str) -> list[tuple[str, list[str]]]:
        items = re.findall(r"<li>(.*?)</li>", text.partition('<ul class="same">')[2].partition("</ul>")[0], re.DOTALL)
        return [(item.partition("said by")[0], re.findall(r"/page\?url=([^\"]+)", item)) for item in items]

    ((name, pages),) = list_names(ada)
    assert "<bdi>https://two.example/ada</bdi>" in name
    assert pages == ["https://one.example/"]
    # Those that are shown as one are still named.
    assert [pages for _, pages in list_names(show(site, ADA, same="1").text)] == [["https://one.example/"]]
    # Also of what the other one says, and where both have the same label.
    twins = list_names(show(site, TWIN).text)
    assert [pages for _, pages in twins] == [["https://twin.example/b"], ["https://twin.example/c"]]
    for (text, _), letter in zip(twins, "bc", strict=True):
        assert "<bdi>Pelhaven</bdi>" in text
        assert f"<bdi>https://twin.example/{letter}#it</bdi>" in text
    merged = [text for text, _ in list_names(show(site, TWIN, same="1").text)]
    assert [letter for letter in "abc" if any(f"twin.example/{letter}#it</bdi>" in text for text in merged)] == [
        "b",
        "c",
    ]


def test_what_links_here_is_turned_over(site: Serving, ada: str) -> None:
    def list_volumes(text: str) -> set[str]:
        return set(re.findall(r"<bdi>(Volume \d+)</bdi></a>", text.partition('id="links"')[2]))

    total = REFERENCES_SHOWN + 20
    first = list_volumes(ada)
    following = re.search(r'rel="next" href="([^"]+)"', ada.partition('id="links"')[2])
    assert following
    second = list_volumes(site.ask("GET", following[1].replace("&amp;", "&").partition("#")[0]).text)
    assert (len(first), len(second), len(first | second)) == (REFERENCES_SHOWN, 20, total)
    about = show(site, ADA, via=f"{S}about").text
    assert len(list_volumes(about)) == len(range(0, total, 3))


def test_the_neighbourhood_is_drawn(ada: str) -> None:
    picture = re.search(r'<svg class="neighbourhood both".*?</figure>', ada, re.DOTALL)
    assert picture
    links = re.findall(r'<a href="(/entity[^"]+)"><title>', picture[0])
    assert len(links) == len(set(links)) <= 16
    assert "/entity?iri=https://one.example/%23babbage" in links
    assert any("books.example" in link for link in links)


def test_every_format(site: Serving) -> None:
    found = site.get("/entity.json", iri=ADA).json
    assert found["properties"][f"{S}birthDate"]["conflict"] == "single"
    assert found["reference_counts"][f"{S}author"] == sum(at % 3 > 0 for at in range(REFERENCES_SHOWN + 20))
    rows = site.get("/entity.csv", iri=ADA).text.splitlines()
    assert rows[0] == "property,path,node,value,kind,language,datatype,page,fetched,syntaxes"
    end = "https://one.example/,2025-06-15T15:06:40Z,jsonld"
    assert re.fullmatch(
        rf"{S}birthDate,schema:birthDate,,1815-12-10,literal,,[^,]*,{end}",
        next(row for row in rows if "1815-12-10" in row),
    )
    # Of nodes without a name there is what they have.
    assert any(
        re.fullmatch(rf"{S}makesOffer,schema:makesOffer/schema:price,genid:[^,]+,19.90,literal,,[^,]*,{end}", row)
        for row in rows
    )
    assert any(f"{S}workLocation,schema:workLocation/schema:geo/schema:latitude,genid:" in row for row in rows)
    assert not any(",blank," in row for row in rows)
    quads = site.get("/entity.nq", iri=ADA).text
    assert f'<{ADA}> <{S}jobTitle> "Writer" <https://two.example/> .\n' in quads
    assert "genid:" not in quads
    # The blank nodes that hang on it come along.
    assert re.search(rf'_:\w+ <{S}latitude> "51.5074" <https://one.example/> \.', quads)
    turtle = site.get("/entity.ttl", iri=ADA).text
    assert "schema:jobTitle" in turtle
    assert "one.example/> ." not in turtle


def test_one_property_page_by_page(site: Serving) -> None:
    reply = show(site, ADA, says=f"{S}birthDate").text
    assert "10 December 1815" in reply
    assert "11 December 1815" in reply
    assert "jsonld" in reply
    found = site.get("/entity.json", iri=ADA, says=f"{S}birthDate").json
    assert found["count"] == 2
    assert {each["page"] for each in found["attributions"]} == {"https://one.example/", "https://two.example/"}
    assert site.get("/entity", iri=ADA, says="urn:nothing").status == 404


def test_where_the_syntax_is_not_known_all_of_the_page_are_told(site: Serving) -> None:
    """The page is in no archive, so nobody can tell which of its syntaxes states what."""
    text = show(site, "https://mixed.example/#it").text
    assert "in jsonld or rdfa" in text
    assert "one of jsonld, rdfa" in show(site, "https://mixed.example/#it", says=f"{S}slogan").text


def test_a_page_a_class_and_a_property_lead_on(site: Serving) -> None:
    text = show(site, "https://two.example/ada").text
    assert 'href="/page?url=https://two.example/ada"' in text
    assert "What this page speaks of" in text
    assert 'href="/class?iri=http://schema.org/Person"' in show(site, "schema:Person").text
    missing = site.get("/entity", iri="schema:birthDate")
    assert missing.status == 404
    assert 'href="/property?iri=http://schema.org/birthDate"' in missing.text


def test_what_nobody_speaks_of(site: Serving) -> None:
    reply = site.get("/entity", iri=f"https://no.example/{SCRIPT}")
    assert reply.status == 404
    assert "<script>alert" not in reply.text
    assert site.get("/entity.json", iri="https://no.example/").json == {
        "error": "no page says anything of 'https://no.example/'"
    }
    assert site.get("/entity").status == 400


@pytest.mark.parametrize("iri", ["\x00", "\ud83d", "<", "_:", "genid:", "urn:rdfspider:entity:xyz", "a" * 19_000])
def test_no_name_breaks_it(site: Serving, iri: str) -> None:
    assert site.get("/entity", iri=iri.encode("utf-8", "surrogatepass")).status == 404


def test_hostile_values_stay_text_and_stay_small(site: Serving) -> None:
    text = show(site, EVIL).text
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert not re.search(r'(?:href|src)="(?:javascript|data):', text)
    assert not {"\u202e", "\u2066"} & set(text)
    assert len(text) < 100_000
    assert "+" in text.partition("</h1>")[2].partition("</ul>")[0]


def test_thousands_of_properties_are_turned_over(site: Serving) -> None:
    first = show(site, "https://wide.example/#it").text
    assert "Page 1 of 61" in first
    assert len(first) < 200_000
    last = show(site, "https://wide.example/#it", page="61").text
    assert re.search(r"value \d+", last)
    assert not set(re.findall(r"value \d+", first)) & set(re.findall(r"value \d+", last))


def test_a_crawl_without_an_index(tmp_path: Path) -> None:
    with serve(Crawl.create(tmp_path / "c", ["https://example.org/"])) as serving:
        assert serving.get("/entity", iri=ADA).status == 503


def test_lists_are_in_the_order_of_the_page_and_long_ones_are_folded(tmp_path: Path) -> None:
    """Of an archived page, because the store keeps no order."""
    reviews = [{"@type": "Review", "reviewBody": f"Words {at}", "author": f"Guest {at}"} for at in range(34)]
    data = {
        "@context": "https://schema.org",
        "@id": "#tea",
        "@type": "Recipe",
        "name": "Tea",
        "recipeIngredient": ["water", "leaves", "a cup"],
        "recipeInstructions": [{"@type": "HowToStep", "text": text} for text in ("Boil.", "Add.", "Wait.", "Drink.")],
        "review": reviews,
    }
    web = Site()
    web.add("http://tea.test/", Answer(body=f'<script type="application/ld+json">{json.dumps(data)}</script>'.encode()))
    with Web(web) as running:
        settings = {"frontier_delay_s": 0, "index_enabled": "true", "crawl_shards": 1}
        crawl_web(tmp_path / "c", "http://tea.test/", *running.resolve({"*.test": "127.0.0.1"}), **settings)
    with serve(Crawl.open(tmp_path / "c")) as serving:
        page = lxml.html.document_fromstring(show(serving, "http://tea.test/#tea").text)
        table = serving.get("/things.csv", type="Recipe", columns="recipeIngredient").text
    assert "water | leaves | a cup" in table
    rows = {row.xpath("string(th)").strip(): row for row in page.cssselect(".statements > tbody > tr")}
    ingredients, steps = (rows[f"recipe {name}"] for name in ("ingredient", "instructions"))
    assert [each.text_content().strip() for each in ingredients.cssselect("li")] == ["water", "leaves", "a cup"]
    assert [each.text_content().strip() for each in steps.cssselect("li")] == ["Boil.", "Add.", "Wait.", "Drink."]
    seen, folded = rows["review"].xpath("td/ul")[0], rows["review"].xpath("td/details")[0]
    assert "Words 0" in seen.text_content() and "Words 2" not in seen.text_content()
    assert folded.xpath("string(summary)") == "show all 34"
    assert "open" not in folded.attrib and "Words 33" in folded.text_content()
    # One page alone speaks: it is named once.
    assert page.cssselect("details.who") == []
    assert "All of it is said by http://tea.test/ in jsonld" in " ".join(
        page.get_element_by_id("only-source").text_content().split()
    )
