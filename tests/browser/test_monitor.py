"""Somebody watches a crawl that runs, and takes hold of it: live numbers, pause, resume, seeds, filters, stop."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browsing import DESK, PHONE, find_faults, is_wider_than_screen, open_tab
from rdfspider import Crawl
from serving import TOKEN, Serving, serve
from web import Crawling, Web, make_site

HOSTS = [f"h{number}.test" for number in range(6)]


@pytest.fixture
def crawling(tmp_path: Path) -> Iterator[Serving]:
    """A slow crawl that lasts longer than the test, and its site."""
    made = make_site(HOSTS, 3000, delay_s=0.05)
    with Web(made) as web:
        flags = [
            "http://h0.test/",
            "--delay",
            "0.5",
            "--shards",
            "2",
            "--scope",
            "any",
            *web.resolve({"*.test": "127.0.0.1"}),
        ]
        with Crawling(tmp_path / "c", *flags, frontier_ip_delay_s=0.02, index_enabled="true") as crawling:
            assert crawling.wait_until(lambda: crawling.count_pages() > 5)
            with serve(Crawl.open(tmp_path / "c")) as serving:
                yield serving


PAGES = r"Number(/Pages\s+([\d,]+)/.exec(document.querySelector('#totals').innerText)[1].replaceAll(',', ''))"


def test_numbers_move_and_the_crawl_obeys_who_has_the_token(browser: Browser, crawling: Serving) -> None:
    with open_tab(browser) as page:
        page.goto(crawling.locate("/monitor"))
        page.locator("summary", has_text="Each pair of shards").click()
        before = page.evaluate(PAGES)
        page.wait_for_function(f"before => {PAGES} > before + 3", arg=before)
        expect(page.locator("#charts svg").first).to_be_visible()
        pairs = page.get_by_role("region", name="Table of links of each pair of shards")
        expect(pairs.get_by_role("row")).to_have_count(3)
        assert page.get_by_role("button", name="Pause").count() == 0
        page.get_by_role("link", name="show the token").click()
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Show it").click()
        page.wait_for_url(re.compile("/monitor"))

        page.get_by_role("button", name="Pause").click()
        expect(page.locator("#news [data-state=paused]")).to_be_visible()
        expect(page.get_by_role("button", name="Resume")).to_be_visible()
        assert crawling.site.crawl.status().state == "paused"
        page.get_by_role("button", name="Resume").click()
        expect(page.locator("#news [data-state=running]")).to_be_visible()

        page.get_by_text("Add seeds").click()
        page.get_by_label("URLs, a line each").fill("http://h0.test/another\nhttp://h1.test/another")
        page.get_by_role("button", name="Add them").click()
        expect(page.locator("#said")).to_be_visible()
        assert "http://h1.test/another" in (crawling.site.folder / "seeds.txt").read_text()
        page.locator("summary", has_text="Filters").click()
        page.get_by_label("Regular expression").fill("/private/")
        page.get_by_role("button", name="Add the filter").click()
        page.wait_for_url(re.compile("said="))
        assert crawling.site.crawl.filters["exclude"] == ("/private/",)

        page.locator("summary", has_text="Stop").click()
        page.get_by_role("button", name="Stop the crawl").click()
        expect(page.locator("#news [data-state=stopped]")).to_be_visible()
    assert crawling.site.crawl.status().state == "stopped"


def test_forms_of_control_fit_and_can_be_used_by_all(browser: Browser, crawling: Serving, axe: str) -> None:
    looks: dict[str, dict[str, Any]] = {
        "light": {"viewport": DESK, "color_scheme": "light"},
        "dark": {"viewport": DESK, "color_scheme": "dark"},
        "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True},
    }
    crawling.site.crawl.add_filter(exclude="/private/")
    faults: dict[str, list[str]] = {}
    for look, settings in looks.items():
        with open_tab(browser, **settings) as page:
            page.goto(crawling.locate("/login", next="/monitor"))
            page.get_by_label("Token").fill(TOKEN)
            page.get_by_role("button", name="Show it").click()
            page.wait_for_url(re.compile("/monitor"))
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
            for name in ("Pause", "Add them", "Add the filter", "Stop the crawl"):
                expect(page.get_by_role("button", name=name)).to_be_visible()
            found = find_faults(page, axe) + (["it is wider than the screen"] if is_wider_than_screen(page) else [])
            if found:
                faults[look] = found
    assert faults == {}
