"""Every page of the site, on a desk and on a phone, in light and dark: it fits, can be used by all, and asks nobody else."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from browsing import DESK, PHONE, find_faults, is_wider_than_screen, open_tab
from node_packages import install
from serving import Serving

QUERY = "SELECT ?class (COUNT(*) AS ?things) { ?s a ?class } GROUP BY ?class ORDER BY DESC(?things) LIMIT 10"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESK, "color_scheme": "light"},
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True},
    "without scripts": {"viewport": PHONE, "java_script_enabled": False},
}


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    packages = install(Path(__file__).parents[1] / "serve" / "clients" / "package.json")
    return (packages / "axe-core" / "axe.min.js").read_text()


def list_pages(site: Serving) -> dict[str, dict[str, str]]:
    person = site.get("/search.json", q="type:Person").json["hits"][0]
    return {
        "/": {},
        "/search": {"q": "tea"},
        "/search?kind=page": {"q": "tea", "kind": "page"},
        "/search of nothing": {"q": "xyzzyq"},
        "/entity": {"iri": person["id"]},
        "/entity of nothing": {"iri": "http://no.such/thing"},
        "/page": {"url": person["pages"][0]["url"]},
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


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_fits_and_can_be_used_by_all(browser: Browser, site: Serving, axe: str, look: str) -> None:
    faults: dict[str, list[str]] = {}
    # Where there is nothing the browser itself says so on its console.
    with open_tab(browser, is_clean=False, **LOOKS[look]) as page:
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        for name, parameters in list_pages(site).items():
            page.goto(site.locate(name.split(" ")[0].split("?")[0], **parameters))
            assert page.get_by_role("heading", level=1).count() == 1, name
            found = find_faults(page, axe) if look != "without scripts" else []
            found += ["it is wider than the screen"] if is_wider_than_screen(page) else []
            found += [error for error in errors if "the server responded with a status of 404" not in error]
            errors.clear()
            if found:
                faults[name] = found
    assert faults == {}


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
