"""People ask in SPARQL: highlighting, completion, examples, a table, a chart, cancel, a link, and files."""

import json
import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from browsing import open_tab
from serving import Serving

COUNTS = "SELECT ?class (COUNT(*) AS ?things) { ?s a ?class } GROUP BY ?class ORDER BY DESC(?things) LIMIT 5"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


def write_query(page: Page, text: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


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


def test_names_from_the_data_complete_what_is_typed(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        write_query(page, "SELECT ?s { ?s a ")
        page.keyboard.type("schema:Prod", delay=40)
        expect(page.locator(".cm-tooltip-autocomplete li").first).to_contain_text("schema:Product")
        # For a moment after it has appeared, Enter means a new line, because that may be what somebody is typing.
        page.wait_for_timeout(300)
        page.keyboard.press("Enter")
        expect(page.locator(".cm-content")).to_contain_text("schema:Product")


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


def test_the_keyboard_gets_into_the_editor_and_out_again(browser: Browser, site: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(site.locate("/sparql"))
        page.locator(".cm-content").focus()
        page.keyboard.press("Tab")
        expect(page.locator("#run")).to_be_focused()


def test_without_scripts_there_is_a_text_area(browser: Browser, site: Serving) -> None:
    with open_tab(browser, java_script_enabled=False) as page:
        page.goto(site.locate("/sparql"))
        page.get_by_label("Query").fill(COUNTS)
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#answer table tbody tr")).to_have_count(5)
