"""Pages that are fetched again while a crawl is indexed: what has changed is replaced, what is gone goes, and may come back."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.index.holdings import check_merge, read_cards, read_quads
from tests.places import EVERYWHERE, find_places, make_worded

from rdfspider import Crawl
from web import Answer, Web, command, crawl

HOST = "http://a.test"
DAY_S = 86_400
LIVES = 4
NOINDEX = {"X-Robots-Tag": "noindex"}
TAG = {"ETag": '"one"'}


def page(path: str, word: str, head: str = "", **answer: object) -> Answer:
    return make_worded(f"{HOST}{path}", word, head=head, **answer)


PAGES: dict[str, list[tuple[str, Answer]]] = {
    # What the page says in each life, and the answer: the word is empty where nothing may be found.
    "/steady": [("amarulo", page("/steady", "amarulo"))] * LIVES,
    "/tagged": [("brevio", page("/tagged", "brevio", headers=TAG))] * LIVES,
    "/changing": [(word, page("/changing", word)) for word in ("cobalto", "cerio", "cadmio", "calcio")],
    "/gone": [
        ("dravito", page("/gone", "dravito")),
        ("", Answer(404, b"<title>Not here</title>")),
        ("dravito", page("/gone", "dravito")),
        ("", Answer(410)),
    ],
    # A server that says the same of what is there and of what is not, but for the status.
    "/alike": [
        ("epidoto", page("/alike", "epidoto", headers=TAG)),
        ("", page("/alike", "epidoto", status=404, headers=TAG)),
        ("epidoto", page("/alike", "epidoto", headers=TAG)),
        ("epidoto", page("/alike", "epidoto", headers=TAG)),
    ],
    "/hidden-by-page": [
        ("fluoro", page("/hidden-by-page", "fluoro")),
        ("", page("/hidden-by-page", "fluoro", '<meta name="robots" content="noindex">')),
        ("fluoro", page("/hidden-by-page", "fluoro")),
        ("fluoro", page("/hidden-by-page", "fluoro")),
    ],
    "/hidden-by-header": [
        ("granato", page("/hidden-by-header", "granato", headers=TAG)),
        ("", page("/hidden-by-header", "granato", headers={**NOINDEX, "ETag": '"two"'})),
        ("granato", page("/hidden-by-header", "granato", headers=TAG)),
        ("granato", page("/hidden-by-header", "granato", headers=TAG)),
    ],
    "/moving": [
        ("halito", page("/moving", "halito")),
        ("", Answer(301, headers={"Location": "/steady"})),
        ("halito", page("/moving", "halito")),
        ("halito", page("/moving", "halito")),
    ],
    # A server that is ill says nothing of its pages.
    "/ill": [
        ("iridio", page("/ill", "iridio")),
        ("iridio", Answer(500, b"<title>Oh</title>")),
        ("iridio", page("/ill", "iridio")),
        ("iridio", page("/ill", "iridio")),
    ],
}


class Lives:
    """A site that is another in each life of the crawl, and answers conditional requests as a good server does."""

    def __init__(self) -> None:
        self.life = 0

    def __call__(self, host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if path not in PAGES:
            return Answer(404)
        _, found = PAGES[path][self.life]
        tag = found.headers.get("ETag")
        return Answer(304) if found.status == 200 and tag and headers.get("if-none-match") == tag else found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[tuple[str, str], set[str]]]:
    """For each life of one crawl, in which places each word of each page is found."""
    folder = tmp_path_factory.mktemp("revisits") / "crawl"
    site = Lives()
    found = []
    with Web(site) as web:
        flags = [*(HOST + path for path in PAGES), "--delay", 0, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        for site.life in range(LIVES):
            settings = {"crawl_revisit_s": DAY_S, "frontier_attempts": 1, "index_enabled": None}
            crawl(folder, *flags, ahead_s=site.life * (DAY_S + 1), **settings)
            check_merge(folder)
            found.append(find_words(folder))
    quads, cards = read_quads(folder), read_cards(folder)
    command(folder, "index", "--rebuild")
    assert (read_quads(folder), read_cards(folder)) == (quads, cards)
    return found


def find_words(folder: Path) -> dict[tuple[str, str], set[str]]:
    opened = Crawl.open(folder)
    words = {(path, word) for path, lives in PAGES.items() for word, _ in lives if word}
    return {(path, word): find_places(opened, HOST + path, word) for path, word in words}


@pytest.mark.parametrize("path", PAGES)
def test_what_a_page_says_now_is_found_everywhere_and_nothing_else(
    path: str, found: list[dict[tuple[str, str], set[str]]]
) -> None:
    for life, (now, _) in enumerate(PAGES[path]):
        for (asked, word), places in found[life].items():
            if asked == path:
                assert places == (EVERYWHERE if word == now else set()), f"{word} in life {life}"
