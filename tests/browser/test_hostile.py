"""Sites that mean harm by how they call their things break neither page nor layout, and run nothing."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from browsing import DESK, PHONE, is_wider_than_screen, open_tab
from indexed import index_pages
from serving import Serving, serve

TAKE = "document.title='taken'"
SCRIPT = f'<script>{TAKE}</script><img src=x onerror="{TAKE}"><svg onload="{TAKE}">'
SITE = "https://evil.example"
NAMES = {
    "script": f"{SCRIPT}{{{{7*7}}}}'\"`]]>",
    "turned": "\u202e\u2067gnirts desrever a si siht" * 3,
    "long": "W" * 1_000_000,
    "stacked": "Z\u0310\u0320" * 2000,
    "unseen": "\u202e\u200f",
    "narrow": "\u200b\u2060\u00ad",
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    pages: dict[str, object] = {}
    for key, name in NAMES.items():
        pages[f"{SITE}/{key}"] = {
            "@context": "https://schema.org",
            "@id": f"{SITE}/{key}#it",
            "@type": [
                "Product",
                *(f"{SITE}/ns#{SCRIPT if key == 'script' else 'Type'}{number}" for number in range(1000)),
            ],
            # What nobody can see is the only name.
            "name": [name, "hostile"] if key not in ("unseen", "narrow") else name,
            "description": name,
            "url": f"javascript:document.title='taken'//{key}",
            "image": f"javascript:document.title='taken'//{key}",
            "sameAs": f"javascript:document.title='taken'//{key}",
            "brand": {"@type": "Brand", "name": name},
        }
    crawl = index_pages(tmp_path_factory.mktemp("hostile") / "c", pages)
    with serve(crawl) as serving:
        yield serving


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_runs_and_everything_fits(browser: Browser, hostile: Serving, viewport: dict[str, int]) -> None:
    paths = [
        ("/", {}),
        ("/search", {"q": "hostile"}),
        ("/classes", {}),
        ("/sites", {}),
        ("/site", {"name": "evil.example"}),
    ]
    paths += [
        ("/search", {"q": SCRIPT}),
        ("/search", {"q": "hostile", "kind": "page"}),
        ("/quality", {"site": "evil.example"}),
    ]
    paths += [("/entity", {"iri": f"{SITE}/{key}#it"}) for key in NAMES]
    paths += [
        ("/sparql", {"query": "SELECT * { ?s schema:name ?name }"}),
        ("/class", {"iri": "http://schema.org/Product"}),
    ]
    paths += [
        ("/property", {"iri": "http://schema.org/name"}),
        ("/entity", {"iri": SCRIPT}),
        ("/page", {"url": f"{SITE}/script"}),
    ]
    # That something is not there is said on the console, too.
    with open_tab(browser, is_clean=False, viewport=viewport) as page:
        blocked: list[str] = []
        page.on("console", lambda message: blocked.append(message.text))
        for path, parameters in paths:
            page.goto(hostile.locate(path, **parameters))
            assert page.title() != "taken", path
            assert not is_wider_than_screen(page), (path, parameters)
            links = page.eval_on_selector_all(
                "[href], [src], [action]",
                "all => all.map(one => one.href?.baseVal ?? one.href ?? one.src ?? one.action)",
            )
            assert [link for link in links if not re.match(r"https?://|/(?!/)", str(link))] == [], path
            unnamed = page.eval_on_selector_all(
                "h1, .hit a, .card a, svg.neighbourhood a",
                "all => all.filter(one => !/[^\\s\\p{C}]/u.test(one.textContent)).map(one => one.outerHTML)",
            )
            assert unnamed == [], (path, parameters)
            assert page.evaluate("document.documentElement.outerHTML.length") < 1_500_000, path
        assert [text for text in blocked if "Content Security Policy" in text] == []
