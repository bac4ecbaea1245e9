"""The overview of links is made once for many, and an older one is shown while a newer one is made."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider.errors import UnansweredError
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log.indexed_sources import FORGOTTEN
from rdfspider.search import link_overview
from rdfspider.search.link_overview import LinkOverviews

TEA = "https://tea.example/"


@pytest.fixture
def paths(tmp_path: Path) -> IndexPaths:
    page = f'<title>Post</title><a href="{TEA}">tea</a>'
    return IndexPaths(index_pages(tmp_path / "c", {"https://a.example/": page, "https://b.example/": page}).folder)


def test_it_is_made_once_for_all_who_ask(paths: IndexPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    find = GraphReader.list_most_linked

    def list_slowly(reader: GraphReader, most: int) -> object:
        nonlocal count
        count += 1
        return find(reader, most)

    monkeypatch.setattr(GraphReader, "list_most_linked", list_slowly)
    overviews, reader = LinkOverviews(paths), GraphReader(paths)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: overviews.read(reader, lambda urls: []), range(20)))
    assert count == 1 and all(one is found[0] for one in found)
    assert (found[0].top_pages[0].url, found[0].top_pages[0].hosts) == (TEA, 2)
    # Nothing has changed, however long ago it was.
    monkeypatch.setattr(overviews, "_good_until", 0.0)
    assert overviews.read(reader, lambda urls: []) is found[0]


def test_nobody_waits_long_for_it(paths: IndexPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    go, find = threading.Event(), GraphReader.list_most_linked
    monkeypatch.setattr(GraphReader, "list_most_linked", lambda reader, most: go.wait(60) and find(reader, most))
    monkeypatch.setattr(link_overview, "_PATIENCE_S", 0.01)
    monkeypatch.setattr(link_overview, "_OLDER_S", 0.01)
    overviews = LinkOverviews(paths)
    with pytest.raises(UnansweredError):
        overviews.read(GraphReader(paths), lambda urls: [])
    go.set()
    monkeypatch.setattr(link_overview, "_PATIENCE_S", 60)
    found = overviews.read(GraphReader(paths), lambda urls: [])
    go.clear()
    monkeypatch.setattr(overviews, "_good_until", 0.0)
    assert overviews.read(GraphReader(paths), lambda urls: []) is found
    go.set()


def test_what_was_forgotten_is_not_shown_from_an_older_one(paths: IndexPaths) -> None:
    overviews = LinkOverviews(paths)
    assert overviews.read(GraphReader(paths), lambda urls: []).links == 2
    with closing(GraphView(paths)) as view:
        view.forget(lambda url: "a.example" in url)
        view.commit({**view.load_cursors(), FORGOTTEN: 1})
    assert overviews.read(GraphReader(paths), lambda urls: []).links == 1


def test_what_goes_wrong_is_told_and_tried_again(paths: IndexPaths) -> None:
    overviews, reader = LinkOverviews(paths), GraphReader(paths)

    def fail(urls: object) -> list[tuple[str, list[object]]]:
        raise UnansweredError("not now")

    with pytest.raises(UnansweredError, match="not now"):
        overviews.read(reader, fail)  # type: ignore[arg-type]
    assert overviews.read(reader, lambda urls: []).links == 2


def test_of_very_many_links_the_first_by_rank_are_listed(paths: IndexPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_overview, "MAX_LINKS", 1)
    found = LinkOverviews(paths).read(GraphReader(paths), lambda urls: [])
    assert (found.is_counted, found.top_pages, found.links) == (False, (), 2)
