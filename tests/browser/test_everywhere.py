"""Every page of the site, on a desk and on a phone, in light and dark: it fits, can be used by all, and asks nobody else."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser

from browsing import DESK, PHONE, Tab, find_faults, is_wider_than_screen, open_tab, watch_tab
from serving import Serving

QUERY = "SELECT ?class (COUNT(*) AS ?things) { ?s a ?class } GROUP BY ?class ORDER BY DESC(?things) LIMIT 10"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESK, "color_scheme": "light"},
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True},
    "without scripts": {"viewport": PHONE, "java_script_enabled": False},
}


def list_pages(site: Serving) -> dict[str, dict[str, str]]:
    person = site.get("/search.json", q="type:Person").json["hits"][0]
    most_linked = site.get("/links.json").json["top_pages"][0]["url"]
    return {
        "/": {},
        "/search": {"q": "tea"},
        "/search?kind=page": {"q": "tea", "kind": "page"},
        "/search of nothing": {"q": "xyzzyq"},
        "/entity": {"iri": person["id"]},
        "/entity and who says so": {"iri": person["id"], "says": "http://schema.org/name"},
        "/entity of nothing": {"iri": "http://no.such/thing"},
        "/page": {"url": person["pages"][0]["url"]},
        "/page and its links": {"url": most_linked, "in": "1", "out": "1"},
        "/links": {},
        "/links?list=hosts": {"list": "hosts"},
        "/links?list=things": {"list": "things"},
        "/links and a path": {"from": person["pages"][0]["url"], "to": most_linked},
        "/classes": {},
        "/properties": {},
        "/ontologies": {},
        "/sites": {},
        "/class": {"iri": "http://schema.org/Person"},
        "/property": {"iri": "http://schema.org/name"},
        "/ontology": {"iri": "http://schema.org/"},
        "/site": {"name": "shop.localhost"},
        "/quality": {"site": "shop.localhost"},
        "/sparql": {"query": QUERY},
        "/inspect": {},
        "/monitor": {},
        "/login": {},
        "/no-such-page": {},
    }


# Words that a table has no room for: a line ends within them.
BROKEN_WORDS = r"""() => {
  const broken = [];
  for (const cell of document.querySelectorAll("td, th")) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      if (!walker.currentNode.parentElement.checkVisibility({ contentVisibilityAuto: true })) continue;
      for (const word of walker.currentNode.data.matchAll(/(?<=^|\s)[\p{L}\p{N}]{2,12}(?=[\s,.:;]|$)/gu)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].filter((one) => one.width > 1).map((one) => Math.round(one.top)));
        if (lines.size > 1) broken.push(`${word[0]} in: ${cell.innerText.slice(0, 60)}`);
      }
    }
  }
  return broken;
}"""


def list_errors(tab: Tab) -> list[str]:
    """What went wrong in a page. That there is no such page is said on the console by the browser; none of its parts may miss."""
    own = re.compile(rf".*status of 404 .*\({re.escape(tab.page.url)}\)")
    return [error for error in tab.errors if not own.fullmatch(error)]


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_fits_and_can_be_used_by_all(browser: Browser, site: Serving, axe: str, look: str) -> None:
    faults: dict[str, list[str]] = {}
    with watch_tab(browser, **LOOKS[look]) as tab:
        page = tab.page
        for name, parameters in list_pages(site).items():
            page.goto(site.locate(name.split(" ")[0].split("?")[0], **parameters))
            assert page.get_by_role("heading", level=1).count() == 1, name
            found = find_faults(page, axe) if look != "without scripts" else []
            found += ["it is wider than the screen"] if is_wider_than_screen(page) else []
            found += page.evaluate(BROKEN_WORDS)
            found += list_errors(tab)
            tab.errors.clear()
            if found:
                faults[name] = found
    assert faults == {}


def test_what_is_missing_is_on_the_screen_of_a_phone(browser: Browser, site: Serving) -> None:
    """Nobody has to swipe within a table to see the number that a line is about."""
    with open_tab(browser, **LOOKS["phone"]) as page:
        for path, parameters in (("/quality", {"site": "shop.localhost"}), ("/site", {"name": "shop.localhost"})):
            page.goto(site.locate(path, **parameters))
            cells = page.locator("table tbody td").all()
            assert len(cells) > 20
            ends = [box["x"] + box["width"] for cell in cells if (box := cell.bounding_box())]
            assert max(ends) <= PHONE["width"]


def test_the_navigation_of_a_phone_is_one_row(browser: Browser, site: Serving) -> None:
    with open_tab(browser, **LOOKS["phone"]) as page:
        page.goto(site.locate("/monitor"))
        boxes = [link.bounding_box() for link in page.get_by_role("navigation", name="Site").get_by_role("link").all()]
        assert len(boxes) == 6
        assert len({box["y"] for box in boxes if box}) == 1


def test_a_missing_file_and_a_script_that_fails_are_noticed(browser: Browser, site: Serving) -> None:
    """The check itself."""
    with watch_tab(browser) as tab:
        tab.page.goto(site.locate("/no-such-page"))
        assert list_errors(tab) == []
        with tab.page.expect_event("pageerror"):
            tab.page.evaluate("setTimeout(() => { throw new Error('it fails') })")
        with tab.page.expect_event("console"):
            tab.page.evaluate(
                "document.head.append(Object.assign(document.createElement('script'), {src: '/static/none.js'}))"
            )
        failed, missing = list_errors(tab)
        assert "it fails" in failed
        assert "/static/none.js" in missing and "404" in missing


def test_dark_is_dark_and_light_is_light(browser: Browser, site: Serving) -> None:
    grounds = {}
    for look in ("light", "dark"):
        with open_tab(browser, color_scheme=look) as page:
            page.goto(site.locate("/"))
            grounds[look] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert grounds["light"] == "rgb(255, 255, 255)"
    assert sum(map(int, grounds["dark"].removeprefix("rgb(").removesuffix(")").split(","))) < 120


def test_the_keyboard_alone_finds_a_thing(browser: Browser, site: Serving) -> None:
    """From the first page to what is said of a thing, and to who says so, without a mouse."""
    with open_tab(browser) as page:
        page.goto(site.locate("/sites"))
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("Varnholt")
        page.keyboard.press("Escape")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/search[?]"))
        for _ in range(80):
            page.keyboard.press("Tab")
            if "/entity?" in (page.evaluate("document.activeElement.getAttribute('href')") or ""):
                break
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline not in ("none", "")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/entity[?]"))
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.tagName") == "SUMMARY":
                break
        page.keyboard.press("Enter")
        assert page.locator("details[open] a[href^='/page?']").first.is_visible()
