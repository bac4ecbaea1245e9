"""People look for things: search, suggestions, facets, a thing, who says so, a page and its copy."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from browsing import PHONE, is_wider_than_screen, open_tab
from indexed import index_pages
from rdfspider.demo.server import DemoServer
from serving import Serving, serve


def count_results(page: Page) -> int:
    """How many there are in all, as the page says."""
    found = re.search(r"(\d+) (?:result|thing|page)", page.locator(".total").inner_text())
    assert found
    return int(found[1])


def test_search_facets_and_a_thing(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/"))
        page.get_by_role("combobox", name=re.compile("Search")).or_(page.locator("#q")).first.fill("tea")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("q=tea"))
        before = count_results(page)
        assert before > 2
        expect(page.locator("li.hit mark").first).to_be_visible()
        page.locator("#facets").get_by_role("link", name="Product", exact=True).click()
        page.wait_for_url(re.compile("type="))
        after = count_results(page)
        assert 0 < after < before
        cards = page.locator("li.hit")
        assert cards.filter(has_text="Product").count() == cards.count() > 2
        # What was chosen is part of the address, and can be taken back.
        page.reload()
        assert count_results(page) == after
        page.get_by_role("link", name=re.compile("^remove Type", re.IGNORECASE)).click()
        page.wait_for_url(lambda url: "type=" not in url)
        assert count_results(page) == before
        page.locator("li.hit h3 a").first.click()
        page.wait_for_url(re.compile("/entity[?]"))
        expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile("tea", re.IGNORECASE))


def test_a_page_is_one_result_with_several_types_and_its_parts_are_inside(browser: Browser, tmp_path: Path) -> None:
    url = "https://kitchen.example/wings"
    steps = [{"@type": "HowToStep", "name": f"Step {at}", "text": f"Fry the wings, turn {at}."} for at in range(12)]
    graph = [
        {"@type": "WebPage", "@id": url, "name": "Firecracker Wings - Kitchen", "breadcrumb": {"@id": f"{url}#path"}},
        {"@type": "BreadcrumbList", "@id": f"{url}#path", "itemListElement": {"@type": "ListItem", "name": "Wings"}},
        {"@type": "BlogPosting", "@id": f"{url}#post", "headline": "Firecracker Wings", "isPartOf": {"@id": url}},
        {"@type": "Recipe", "@id": f"{url}#recipe", "name": "Firecracker Wings", "recipeInstructions": steps},
    ]
    crawl = index_pages(tmp_path / "crawl", {url: {"@context": "https://schema.org", "@graph": graph}})
    with serve(crawl) as site, open_tab(browser) as page:
        page.goto(site.locate("/search", q="firecracker wings"))
        expect(page.locator("li.hit")).to_have_count(1)
        expect(page.locator("li.hit .chip")).to_have_text(["Recipe", "BlogPosting", "WebPage"])
        # A part is found inside its whole, and by its type.
        page.goto(site.locate("/search", q="turn"))
        expect(page.locator("li.hit h3")).to_have_text(["Firecracker Wings"])
        page.goto(site.locate("/search", q="type:HowToStep"))
        assert page.locator("li.hit").count() == 10
        page.locator("li.hit .whole a").first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Firecracker Wings")


def test_one_thing_under_several_names_is_one_result_that_says_why(browser: Browser, tmp_path: Path) -> None:
    pages = {
        f"https://shop{number}.example/": {
            "@context": "https://schema.org",
            "@id": f"https://shop{number}.example/#pen",
            "@type": "Product",
            "name": "Vermilion pen",
            "gtin": "4006381333931",
        }
        for number in range(3)
    }
    with serve(index_pages(tmp_path / "crawl", pages)) as site, open_tab(browser) as page:
        page.goto(site.locate("/search?q=vermilion&type=Product"))
        expect(page.locator("li.hit")).to_have_count(1)
        page.locator("li.hit").get_by_role("link", name="3 IRIs").click()
        page.wait_for_url(re.compile("/entity[?]"))
        expect(page.locator("#one")).to_have_text("One thing under 3 names")
        why = page.locator("#why")
        why.locator("summary").click()
        expect(why.locator("li").first).to_contain_text("GTIN or ISBN")
        expect(why.locator("li").first).to_contain_text(re.compile(r"shop\d.example.* and .*shop\d.example", re.DOTALL))


def test_a_misspelt_word_is_corrected_and_can_be_searched_as_typed(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/"))
        page.locator("#q").fill("vanrholt")
        page.keyboard.press("Enter")
        note = page.locator("p.corrected")
        expect(note).to_have_text("Showing results for varnholt. Search instead for vanrholt.")
        expect(page.locator("li.hit mark").first).to_have_text(re.compile("Varnholt"))
        # What was typed stays in the box.
        expect(page.locator("#q")).to_have_value("vanrholt")
        note.get_by_role("link", name="vanrholt").click()
        expect(page.locator("p.total")).to_contain_text("Nothing found")
        expect(note).to_have_count(0)


def test_suggestions_while_typing(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/"))
        options = page.locator("#suggestions").get_by_role("option")
        page.locator("#q").press_sequentially("varn", delay=30)
        expect(options.first).to_contain_text(re.compile("Varnholt", re.IGNORECASE))
        page.locator("#q").fill("")
        expect(options.first).to_be_hidden()
        # At once, so that no answer to the beginning of the word comes first, to be replaced while one chooses.
        page.keyboard.insert_text("varn")
        expect(options.first).to_be_visible()
        assert page.locator("#q").get_attribute("aria-expanded") == "true"
        page.keyboard.press("ArrowDown")
        active = page.locator("#q").get_attribute("aria-activedescendant")
        assert active
        assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/search[?]"))
        assert page.locator("li.hit").count() > 0


def test_what_was_chosen_stays_when_other_suggestions_come_late(browser: Browser, site: Serving) -> None:
    held: list[Route] = []
    late = {"suggestions": [{"text": "late", "kind": "entity", "about": ""}]}
    with open_tab(browser) as page:
        page.goto(site.locate("/"))
        box, options = page.locator("#q"), page.locator("#suggestions").get_by_role("option")
        box.focus()
        page.keyboard.insert_text("varn")
        expect(options.first).to_be_visible()
        page.route("**/suggest?q=varnh", lambda route: held.append(route))
        with page.expect_request("**/suggest?q=varnh"):
            page.keyboard.insert_text("h")
        page.keyboard.press("ArrowDown")
        chosen = box.input_value()
        with page.expect_event("requestfinished"):
            held[0].fulfill(json=late)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert (box.input_value(), box.get_attribute("aria-activedescendant")) == (chosen, "suggestion-0")
        # Whoever types on has chosen nothing any more.
        page.route("**/suggest?q=*x", lambda route: route.fulfill(json=late))
        page.keyboard.insert_text("x")
        expect(options).to_contain_text(["late"])
        assert (box.input_value(), box.get_attribute("aria-activedescendant")) == (f"{chosen}x", None)


def test_a_choice_of_ontology_beside_the_words(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/search", q="tea"))
        page.get_by_role("combobox", name="Ontology").select_option(label="dcat")
        page.get_by_role("button", name="Search").click()
        page.wait_for_url(re.compile("ontology="))
        assert page.locator("li.hit").count() == 1


def test_pages_are_on_a_tab(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/search", q="tea"))
        page.get_by_role("link", name=re.compile("^Pages")).click()
        page.wait_for_url(re.compile("kind=page"))
        assert page.locator("li.hit[data-kind=page]").count() > 5
        page.locator("li.hit h3 a").first.click()
        page.wait_for_url(re.compile("/page[?]"))
        expect(page.get_by_role("heading", level=2, name=re.compile("states"))).to_be_visible()


def test_facets_on_a_phone(browser: Browser, site: Serving) -> None:
    with open_tab(browser, viewport=PHONE, is_mobile=True, has_touch=True) as page:
        page.goto(site.locate("/search", q="tea"))
        facet = page.locator("#facets").get_by_role("link", name="Product", exact=True)
        assert not facet.is_visible()
        page.get_by_text("Narrow down").first.tap()
        facet.tap()
        page.wait_for_url(re.compile("type="))
        assert page.locator("li.hit").count() > 0


def test_each_value_opens_to_who_says_so(browser: Browser, site: Serving) -> None:
    iri = site.get("/search.json", q="Ilse Varnholt", type="Person").json["hits"][0]["id"]
    with open_tab(browser) as page:
        page.goto(site.locate("/entity", iri=iri))
        expect(page.get_by_role("heading", level=1)).to_have_text("Ilse Varnholt")
        expect(page.locator("figure svg").first).to_be_visible()
        summary = page.locator("summary", has_text="said by").first
        summary.click()
        opened = page.locator("details[open]").first
        expect(opened).to_contain_text(re.compile("rdfa|jsonld|microdata|rdf|feed|meta|microformats", re.IGNORECASE))
        expect(opened.locator("time").first).to_be_visible()
        opened.locator("a[href^='/page?']").first.click()
        page.wait_for_url(re.compile("/page[?]"))


def test_what_contradicts_stands_side_by_side(browser: Browser, site: Serving) -> None:
    iri = site.get("/search.json", q="An Atlas of Echoes", type="Book").json["hits"][0]["id"]
    with open_tab(browser) as page:
        page.goto(site.locate("/entity", iri=iri))
        page.locator("#conflicts").get_by_role("link", name="date published").click()
        sides = page.locator("tr:target ul.sides > li")
        expect(sides).to_have_count(2)
        for year, who in (("1991", "library.localhost"), ("1988", "university.localhost")):
            expect(sides.filter(has_text=year)).to_contain_text(who)
        one, two = sides.evaluate_all("all => all.map(one => [one.offsetTop, one.offsetLeft, one.offsetWidth])")
        assert one[0] == two[0]
        assert one[1] + one[2] < two[1]


def test_a_thing_on_a_phone(browser: Browser, site: Serving) -> None:
    iri = site.get("/search.json", q="An Atlas of Echoes", type="Book").json["hits"][0]["id"]
    with open_tab(browser, viewport=PHONE, is_mobile=True, has_touch=True) as page:
        page.goto(site.locate("/entity", iri=iri))
        assert not is_wider_than_screen(page)
        for cell in page.locator("table.references tbody td").all():
            box = cell.bounding_box()
            assert box
            assert box["width"] > 300
        # What is drawn is as large as other text, and what is cut off can be swiped to.
        heights = page.eval_on_selector_all(
            "svg text.name", "all => all.map(one => one.getBoundingClientRect().height)"
        )
        assert heights
        assert min(heights) > 11
        box = page.get_by_role("region", name="Picture of the neighbourhood")
        assert box.evaluate("one => one.scrollWidth > one.clientWidth")


def test_the_copy_of_a_page_does_nothing(browser: Browser, site: Serving) -> None:
    url = site.get("/search.json", q="tea", kind="page", type="Product").json["hits"][0]["id"]
    with open_tab(browser, is_clean=False) as page:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        answer = page.goto(site.locate("/copy", url=url))
        assert answer
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert page.locator("script, link, base, iframe, object, form[action], meta[http-equiv]").count() == 0
        assert requests == [page.url]
        # A column that can be read, in our style alone.
        column = page.locator("body").bounding_box()
        assert column and column["width"] < 800
        targets = page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
        assert targets
        assert all(target.startswith(("/page?", "#")) for target in targets)


def test_a_page_shows_its_data_first_and_the_rest_on_demand(browser: Browser, site: Serving) -> None:
    url = site.get("/search.json", q="tea", type="Product").json["hits"][0]["pages"][0]["url"]
    with open_tab(browser) as page:
        page.goto(site.locate("/page", url=url))
        main = page.locator("details.card").first
        expect(main).to_have_attribute("open", "")
        expect(main.locator("summary").first).to_contain_text("Product")
        data = main.bounding_box()
        # On the first screen, and the fetch is a line far below.
        assert data and data["y"] < 600
        expect(page.get_by_text("Digest", exact=True)).to_be_hidden()
        page.get_by_role("link", name="Fetch", exact=True).click()
        expect(page.get_by_text("Digest", exact=True)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollHeight") < 5000


def test_pasted_html_is_inspected(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/inspect"))
        page.get_by_label(re.compile("HTML")).fill(
            '<title>Mine</title><p vocab="http://schema.org/" typeof="Person"><b property="name">Nobody &amp; Co'
        )
        page.get_by_role("button", name=re.compile("Inspect|Show|Extract|Look")).first.click()
        expect(page.locator("main")).to_contain_text("Nobody & Co")
        expect(page.locator("main")).to_contain_text(re.compile("rdfa", re.IGNORECASE))


def test_what_is_wrong_with_a_page_and_a_site(browser: Browser, site: Serving) -> None:
    wrong = {"@context": "https://schema.org", "@type": "Evnt", "name": "Party", "startDate": "next tuesday"}
    with open_tab(browser) as page:
        page.goto(site.locate("/inspect"))
        page.locator("#html").fill(f'<script type="application/ld+json">\n{json.dumps(wrong)}</script>')
        page.get_by_role("button", name="Inspect", exact=True).click()
        findings = page.locator("#findings")
        expect(findings.locator("tbody tr")).to_have_count(2)
        expect(findings).to_contain_text("did you mean Event?")
        expect(findings).to_contain_text("Evnt.startDate")
        expect(findings).to_contain_text("line 2")
        page.goto(site.locate("/quality", site="library.localhost"))
        row = page.get_by_role("region", name="Table: Wrong terms and values").locator("tbody tr").first
        expect(row).to_contain_text(re.compile("hint.*Book.*about.*is a text, where schema.org has Thing"))
        row.get_by_role("link").first.click()
        expect(page.locator("#findings")).to_contain_text("Book.about")


@pytest.fixture(scope="module")
def web() -> Iterator[DemoServer]:
    """The sites that were crawled, now at whichever port is free."""
    with DemoServer() as server:
        yield server


def lead_to(page: Page, web: DemoServer) -> list[str]:
    """Let requests to the demo's sites reach them, wherever they are served now; what was asked for is noted."""
    asked: list[str] = []

    def send(route: Route) -> None:
        asked.append(route.request.url)
        route.continue_(url=re.sub(r"(localhost):\d+", rf"\1:{web.port}", route.request.url))

    page.route(re.compile(r"^http://[a-z]+\.localhost:"), send)
    return asked


def is_loaded(image: Locator) -> bool:
    return bool(image.evaluate("one => one.complete && one.naturalWidth > 0"))


def test_images_of_others_are_asked_for_only_by_choice(browser: Browser, site: Serving, web: DemoServer) -> None:
    with open_tab(browser) as page:
        asked = lead_to(page, web)
        page.goto(site.locate("/search", q="Marsh Mint Tea", type="Product"))
        page.wait_for_load_state("networkidle")
        images = page.locator("main img")
        assert images.count() == 0
        assert asked == []
        page.get_by_role("button", name="Show images of other servers").click()
        page.wait_for_url(re.compile("/search[?]q=Marsh"))
        expect(images.first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert is_loaded(images.first)
        page.locator("li.hit h3 a").first.click()
        page.wait_for_url(re.compile("/entity[?]"))
        page.wait_for_load_state("networkidle")
        assert [is_loaded(image) for image in page.locator("img.lead-image, img.picture").all()] == [True, True]
        assert {url.rpartition("/")[2] for url in asked} >= {"marsh-mint-tea.png"}
        page.get_by_role("button", name="Hide images of other servers").click()
        expect(page.get_by_role("button", name="Show images of other servers")).to_be_visible()
        assert page.locator("main img").count() == 0
        expect(page.get_by_role("link", name="open it")).to_be_visible()


def test_images_that_cannot_be_had_leave_no_hole(browser: Browser, site: Serving) -> None:
    iri = site.get("/search.json", q="Marsh Mint Tea", type="Product").json["hits"][0]["id"]
    # The browser itself tells of each on its console.
    with open_tab(browser, is_clean=False) as page:
        page.route(re.compile(r"[.]png$"), lambda route: route.abort())
        page.goto(site.locate("/entity", iri=iri))
        page.get_by_role("button", name="Show images of other servers").click()
        expect(page.get_by_role("button", name="Hide images of other servers")).to_be_visible()
        expect(page.locator("main img:visible")).to_have_count(0)
        expect(page.get_by_role("link", name=re.compile("marsh-mint-tea[.]png$"))).to_be_visible()
