"""A real Chromium for tests: pages that note every error on their console and every request that would leave this machine."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

# Machines on which many tests run at once are slow; who waits for something waits only until it is there.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)

NAMES = ("chromium", "chromium-browser", "google-chrome")
_OWN = re.compile(r"127\.\d+\.\d+\.\d+|(?:[a-z]+\.)?localhost|\[::1\]|::1")
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}


@contextmanager
def open_browser() -> Iterator[Browser]:
    """The browser; where there is none the tests are skipped with a clear word, and CI insists."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say("Chromium is missing, which the tests of the site use: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A tab, and what went wrong in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.strangers: list[str] = []
        """Requests to other machines."""
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._see)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _see(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and not _OWN.fullmatch(parts.hostname or ""):
            self.strangers.append(request.url)


@contextmanager
def open_tab(browser: Browser, *, is_clean: bool = True, **settings: Any) -> Iterator[Page]:
    """A page in a context of its own; at the end nothing may have gone wrong in it, unless the test expects that."""
    with watch_tab(browser, **settings) as tab:
        yield tab.page
        if is_clean:
            assert tab.errors == []


@contextmanager
def watch_tab(browser: Browser, **settings: Any) -> Iterator[Tab]:
    """The same, for a test that looks by itself at what went wrong."""
    context = browser.new_context(**{"viewport": DESK, **settings})
    context.set_default_timeout(PATIENCE_MS)
    tab = Tab(context.new_page())
    try:
        yield tab
        assert tab.strangers == []
    finally:
        context.close()


def is_wider_than_screen(page: Page) -> bool:
    """Whether one has to scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"))


def find_faults(page: Page, axe: str) -> list[str]:
    """What axe-core finds that is serious or critical, a line each."""
    page.evaluate(axe)
    found: dict[str, Any] = page.evaluate(
        "axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})"
    )
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:5]
    ]
