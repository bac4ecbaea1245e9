"""People ask in SPARQL: highlighting, completion, examples, a table, a chart, cancel, a link, and files."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browsing import open_tab
from serving import Serving

pytestmark = pytest.mark.usefixtures("built_editor")

COUNTS = "SELECT ?class (COUNT(*) AS ?things) { ?s a ?class } GROUP BY ?class ORDER BY DESC(?things) LIMIT 5"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


def write_query(page: Page, text: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def run_query(page: Page, text: str) -> None:
    write_query(page, text)
    page.get_by_role("button", name="Run").click()


def list_cells(page: Page, column: int) -> Locator:
    return page.locator(f"#answer tbody td:nth-child({column})")


def test_a_query_is_run_and_can_be_shared_and_kept(browser: Browser, site: Serving, tmp_path: Path) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        write_query(page, COUNTS)
        # Highlighting: words of the language look otherwise than variables.
        colours = page.eval_on_selector_all(
            ".cm-line span", "all => [...new Set(all.map(one => getComputedStyle(one).color))]"
        )
        assert len(colours) > 1
        page.keyboard.press("Control+Enter")
        expect(page.locator("#answer table tbody tr")).to_have_count(5)
        expect(page.locator("#chart svg")).to_be_visible()
        expect(page.locator("#state")).to_contain_text("5 rows")
        # The address is the query.
        page.reload()
        expect(page.locator("#answer table tbody tr")).to_have_count(5)
        with page.expect_download() as waiting:
            page.locator("#downloads").get_by_role("link", name="JSON").click()
        waiting.value.save_as(tmp_path / "a.json")
        assert len(json.loads((tmp_path / "a.json").read_bytes())["results"]["bindings"]) == 5
        with page.expect_download() as waiting:
            page.locator("#downloads").get_by_role("link", name="CSV").click()
        waiting.value.save_as(tmp_path / "a.csv")
        assert waiting.value.suggested_filename == "answer.csv"
        head, *rows = (tmp_path / "a.csv").read_text().splitlines()
        assert (head, len(rows)) == ("class,things", 5)


def test_a_link_leads_to_the_query_and_its_answer(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        run_query(page, "SELECT ?word (<x> AS ?iri) { VALUES ?word { 'shared' } }")
        expect(list_cells(page, 1)).to_have_text(["shared"])
        with page.context.expect_page() as waiting:
            page.locator("#permalink").click(modifiers=["Control"])
        other = waiting.value
        expect(other.locator(".cm-content")).to_contain_text("VALUES ?word")
        expect(list_cells(other, 1)).to_have_text(["shared"])


def test_of_a_query_that_is_too_long_there_is_no_link(browser: Browser, site: Serving, tmp_path: Path) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        run_query(page, f"{COUNTS} # {'x' * 20_000}")
        expect(page.locator("#answer table tbody tr")).to_have_count(5)
        expect(page.locator("#permalink")).to_have_count(0)
        expect(page.locator("#downloads")).to_contain_text("too long for a link")
        assert page.url == site.locate("/sparql")
        with page.expect_download() as waiting:
            page.locator("#downloads").get_by_role("button", name="CSV").click()
        waiting.value.save_as(tmp_path / "a.csv")
        assert len((tmp_path / "a.csv").read_text().splitlines()) == 6


def test_a_table_is_sorted_by_its_heads(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        run_query(page, "SELECT ?n ?name { VALUES (?n ?name) { (2 'b') (10 'a') (1 'c') } }")
        head = page.locator("#answer th[scope=col]").first
        head.get_by_role("button").click()
        expect(list_cells(page, 1)).to_have_text(["1", "2", "10"])
        expect(head).to_have_attribute("aria-sort", "ascending")
        head.get_by_role("button").click()
        expect(list_cells(page, 2)).to_have_text(["a", "b", "c"])
        expect(head).to_have_attribute("aria-sort", "descending")


def test_a_long_table_has_pages(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        ten = "{ 0 1 2 3 4 5 6 7 8 9 }"
        values = f"VALUES ?a {ten} VALUES ?b {ten} VALUES ?c {{ 0 100 }}"
        run_query(page, f"SELECT (?a * 10 + ?b + ?c AS ?n) {{ {values} }} ORDER BY ?n")
        pager = page.get_by_role("navigation", name="Pages of the answer")
        expect(pager).to_contain_text("Rows 1 to 100 of 200")
        pager.get_by_role("button", name="Next").click()
        expect(pager).to_contain_text("Rows 101 to 200 of 200")
        expect(list_cells(page, 1).first).to_have_text("100")
        expect(pager.get_by_role("button", name="Next")).to_be_disabled()
        pager.get_by_role("button", name="Previous").click()
        expect(list_cells(page, 1).first).to_have_text("0")


def test_a_chart_is_by_names_though_numbers_come_first(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        run_query(page, "SELECT ?n ?share ?name { VALUES (?n ?share ?name) { (7 5 'b') (3 4 'a') (5 9 'a'@de) } }")
        labels = page.locator("#chart svg text:not(.scale)")
        # What is otherwise the same is told apart by its language.
        expect(labels).to_have_text(["b", "a", "a @de"])
        run_query(page, "SELECT ?year ?n ?name { VALUES (?year ?n ?name) { (2001 5 'b') (1999 4 'a') } }")
        expect(page.locator("#chart polyline")).to_have_count(1)
        expect(page.locator("#chart")).to_contain_text("4 (1999) to 5 (2001)")
        run_query(page, "SELECT ?n ?share { VALUES (?n ?share) { (7 5) (3 4) } }")
        expect(page.locator("#chart")).to_contain_text("4 (3) to 5 (7)")


def test_names_from_the_data_complete_what_is_typed(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        write_query(page, "SELECT ?s { ?s a ")
        page.keyboard.type("schema:Prod", delay=40)
        offered = page.locator(".cm-tooltip-autocomplete li")
        expect(offered.first).to_contain_text("schema:Product")
        # For a moment after it has appeared, Enter means a new line, because that may be what somebody is typing.
        page.wait_for_timeout(300)
        page.keyboard.press("Enter")
        expect(page.locator(".cm-content")).to_contain_text("schema:Product")
        write_query(page, "SELECT ?s { ")
        page.keyboard.type("?s pri", delay=40)
        offered.filter(has_text=re.compile(r"^schema:price\d")).click()
        expect(page.locator(".cm-content")).to_have_text(re.compile(r"\?s schema:price"))


def test_prefixes_complete_what_is_typed(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        write_query(page, "SELECT ?s { ?s ")
        page.keyboard.type("sche", delay=40)
        expect(page.locator(".cm-tooltip-autocomplete li").first).to_contain_text("schema:http://schema.org/")
        page.locator(".cm-tooltip-autocomplete li").first.click()
        expect(page.locator(".cm-content")).to_have_text(re.compile(r"\?s schema:"))


def test_a_query_can_be_cancelled_and_a_mistake_is_told(browser: Browser, site: Serving) -> None:
    # Chromium itself notes answers of 400 on its console.
    with open_tab(browser, is_clean=False) as page:
        page.goto(site.locate("/sparql"))
        write_query(page, ENDLESS)
        page.get_by_role("button", name="Run").click()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("button", name="Run")).to_be_enabled()
        expect(page.locator("#state")).to_contain_text(re.compile("cancel", re.IGNORECASE))
        write_query(page, "SELECT nonsense")
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#problem")).to_be_visible()
        write_query(page, COUNTS)
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#answer table tbody tr")).to_have_count(5)


def test_examples_run(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        page.locator("#examples a").first.click()
        expect(page.locator("#answer table tbody tr").first).to_be_visible()


def test_rows_with_coordinates_are_on_a_map(browser: Browser, site: Serving) -> None:
    rows = "('Oslo' 59.91 10.75) ('Rome' '41.9'@it 12.5) ('Nowhere' 91 0) ('Nothing' UNDEF UNDEF)"
    with open_tab(browser) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(site.locate("/sparql"))
        run_query(page, f"SELECT ?name ?lat ?long {{ VALUES (?name ?lat ?long) {{ {rows} }} }}")
        drawing = page.get_by_role("img", name=re.compile("A map of 2 points in 2 places"))
        expect(drawing).to_be_visible()
        expect(drawing.locator(".place-name")).to_have_text(["Oslo", "Rome"])
        # North is up, and the land is drawn beneath.
        oslo, rome = (float(one.get_attribute("cy") or 0) for one in drawing.locator(".point").all())
        assert oslo < rome
        assert len(drawing.locator(".land").get_attribute("d") or "") > 10_000
        page.get_by_role("button", name="Closer").click()
        page.get_by_role("button", name="Closer").click()
        expect(page.locator("#map .point")).to_have_count(0)
        page.get_by_role("button", name="Show all points").click()
        expect(page.locator("#map .point")).to_have_count(2)
        expect(list_cells(page, 1)).to_have_count(4)
        # Well-known text has the longitude first.
        run_query(page, "SELECT ?at { VALUES ?at { 'POINT(10.75 59.91)' } }")
        expect(page.locator("#map .point title")).to_have_text(["59.9100° N 10.7500° E"])
        run_query(page, "SELECT ?n { VALUES ?n { 1 2 } }")
        expect(list_cells(page, 1)).to_have_count(2)
        expect(page.locator("#map")).to_be_hidden()
        assert all(url.startswith(site.locate("/")) for url in asked)


def test_queries_are_saved_in_the_browser_and_deleted(browser: Browser, site: Serving) -> None:
    evil = "<img src=x onerror=alert(1)>"
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        for name, word in ((evil, "one"), ("Second", "two")):
            write_query(page, f"SELECT ?word {{ VALUES ?word {{ '{word}' }} }}")
            page.get_by_label("Name for this query").fill(name)
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.locator("#state")).to_contain_text("Saved: ")
        page.reload()
        saved = page.locator("#saved-list a")
        expect(saved).to_have_text(["Second", evil])
        saved.nth(1).click()
        expect(list_cells(page, 1)).to_have_text(["one"])
        assert "query=" in (saved.first.get_attribute("href") or "")
        page.get_by_role("button", name="Delete Second").click()
        expect(saved).to_have_text([evil])
        page.reload()
        expect(saved).to_have_text([evil])


def test_the_keyboard_gets_into_the_editor_and_out_again(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        page.locator(".cm-content").focus()
        page.keyboard.press("Tab")
        expect(page.locator("#run")).to_be_focused()


def test_without_scripts_there_is_a_text_area(browser: Browser, site: Serving) -> None:
    with open_tab(browser, java_script_enabled=False) as page:
        page.goto(site.locate("/sparql"))
        page.get_by_label("Query", exact=True).fill(COUNTS)
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#answer table tbody tr")).to_have_count(5)


def test_where_the_editor_cannot_be_had_a_text_area_does_the_same(browser: Browser, site: Serving) -> None:
    # The browser itself says on its console that a file is missing.
    with open_tab(browser, is_clean=False) as page:
        page.route("**/built/editor.js*", lambda route: route.abort())
        page.goto(site.locate("/sparql"))
        page.get_by_label("Query", exact=True).fill(COUNTS)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#answer table tbody tr")).to_have_count(5)
        expect(page.locator("#chart svg")).to_be_visible()
        assert page.locator(".cm-content").count() == 0
