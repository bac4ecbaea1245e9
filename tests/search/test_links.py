"""Links and paths between pages, from a small index."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from threading import Thread

import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.errors import UnindexedError, UnreadableError, UsageError
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.ledger.writer import Ledger
from rdfspider.search import links as links_module
from rdfspider.search.found_links import tell_links, tell_path
from rdfspider.search.links import Links

HOME, TEA, CUP, FAR = "https://a.test/", "https://a.test/tea", "https://b.test/cup", "https://c.test/"


def page(title: str, *links: str) -> str:
    return f"<title>{title}</title>{''.join(links)}"


def a(url: str, text: str = "", rel: str = "") -> str:
    return f'<a href="{url}" rel="{rel}">{text}</a>' if rel else f'<a href="{url}">{text}</a>'


PAGES = {
    HOME: page("Home", a(TEA, "all  about tea"), a(CUP, "an advert", "nofollow sponsored"), a(HOME + "#top", "up")),
    TEA: page("Tea", a(CUP, "cups"), a(HOME, "home"), a("https://never.test/fetched", "elsewhere")),
    CUP: page("Cup", a(TEA, "tea"), a(FAR, "far")),
    FAR: page("Far away"),
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return index_pages(tmp_path_factory.mktemp("links") / "mycrawl", PAGES)


@pytest.fixture
def links(crawl: Crawl) -> Links:
    return crawl.indexes.links


@pytest.mark.parametrize("spelling", ["a.test/tea", " https://a.test/tea#top ", "A.test/tea"])
def test_a_page_is_found_as_people_write_it(links: Links, spelling: str) -> None:
    assert links.list_out(spelling).url == TEA


@pytest.mark.parametrize(
    "nearly", ["https://a.test/tea/", "http://a.test/tea", "https://www.a.test/tea", "www.a.test/tea"]
)
def test_what_may_be_meant_is_told_but_not_taken(links: Links, nearly: str) -> None:
    with pytest.raises(UsageError, match=r"is https://a\.test/tea meant\?"):
        links.list_out(nearly)
    assert links.find(nearly) is None


def test_links_have_titles_words_and_kinds(links: Links) -> None:
    found = links.list_out(HOME)
    assert [(link.url, link.title, link.anchor, link.kinds, link.is_followed) for link in found] == [
        (TEA, "Tea", "all about tea", ("link",), True),
        (CUP, "Cup", "an advert", ("link", "nofollow", "sponsored"), False),
    ]
    assert found.total == 2
    assert tell_links(found) == "https://a.test/ links to 2 pages"
    assert [(link.url, link.is_indexed) for link in links.list_out(TEA)][-1] == ("https://never.test/fetched", False)


def test_backlinks(links: Links) -> None:
    found = links.list_in("HTTPS://B.test/cup#handle")
    assert (found.url, [link.url for link in found]) == (CUP, [HOME, TEA])
    assert [link.url for link in links.list_in(CUP, limit=1, offset=1)] == [TEA]
    assert tell_links(links.list_in(CUP, limit=1, offset=1)).endswith("; 2 to 2")
    followed = links.list_in(CUP, nofollow=False)
    assert [link.url for link in followed] == [TEA]
    assert tell_links(followed) == "2 pages link to https://b.test/cup; 1 not followed left out"
    assert (links.count_in(CUP), links.count_out(CUP), links.count_in("https://nowhere.test/")) == (2, 2, 0)
    assert links.find("https://never.test/fetched") == "https://never.test/fetched"


def test_words_for_a_page(links: Links) -> None:
    anchors = links.read_anchors(TEA)
    assert (anchors.others, anchors.own) == ([("tea", 1)], [("all about tea", 1)])


@pytest.mark.parametrize(
    ("start", "end", "steps"),
    [(HOME, FAR, [CUP, FAR]), (TEA, FAR, [CUP, FAR]), (FAR, HOME, None), (HOME, HOME, []), (CUP, HOME, [TEA, HOME])],
)
def test_paths(links: Links, start: str, end: str, steps: list[str] | None) -> None:
    path = links.find_path(start, end)
    assert (path.is_found, path.is_given_up) == (steps is not None, False)
    assert [link.url for link in path.links] == (steps or [])
    assert path._repr_html_()


def test_paths_are_bounded(links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    path = links.find_path(HOME, FAR, max_steps=1)
    assert (path.is_found, path.is_given_up) == (False, True)
    assert "may be a longer one" in tell_path(path)
    monkeypatch.setattr(links_module, "_READ_PAGES", 1)
    assert links.find_path(HOME, FAR).is_given_up
    with pytest.raises(UsageError, match="1 to 100 steps"):
        links.find_path(HOME, FAR, max_steps=0)


def test_paths_are_shortest(tmp_path: Path) -> None:
    """A ring with a shortcut, against a plain search."""
    count = 60
    targets = {page: [(page + 1) % count, (page * 7 + 3) % count] for page in range(count)}
    links = make_graph(tmp_path, ((name(page), list(map(name, others))) for page, others in targets.items()))
    for start in range(0, count, 7):
        steps, waiting = {start: 0}, [start]
        for page in waiting:
            for other in targets[page]:
                if other not in steps:
                    steps[other] = steps[page] + 1
                    waiting.append(other)
        for end in range(count):
            path = links.find_path(name(start), name(end), max_steps=count)
            assert len(path.links) == steps[end]
            at = start
            for link in path.links:
                assert link.url in {name(other) for other in targets[at]}
                at = int(link.url.rpartition("/")[2])


def test_what_is_unknown_is_one_line(links: Links) -> None:
    for ask in (links.list_in, links.list_out, links.read_anchors, lambda url: links.find_path(url, HOME)):
        with pytest.raises(UsageError, match=r"no indexed page links to 'https://nowhere.test/'"):
            ask("https://nowhere.test/")
    with pytest.raises(UsageError, match=r"nowhere.test/"):
        links.find_path(HOME, "https://nowhere.test/")
    with pytest.raises(UsageError, match="links are given at once"):
        links.list_in(HOME, limit=0)
    with pytest.raises(UsageError, match="only the first"):
        links.list_in(HOME, offset=1_000_000)
    assert links.find("\ud800 no url") is None


def test_without_a_graph_nothing_is_counted(tmp_path: Path) -> None:
    links = make_graph(tmp_path, [])
    assert links.count_in(HOME) == links.open_counter()(HOME) == 0
    shutil.rmtree(IndexPaths(tmp_path).graph)
    assert links.open_counter()(HOME) == 0
    assert (links.count_in(HOME), links.count_out(HOME)) == (0, 0)
    with pytest.raises(UnindexedError):
        links.list_in(HOME)


def test_a_newer_state_is_taken_and_an_older_one_stays_readable(tmp_path: Path) -> None:
    links = make_graph(tmp_path, [(HOME, [TEA])])
    before = links.open_newest()
    assert links.open_newest() is before
    add(IndexPaths(tmp_path), [(CUP, [TEA])])
    assert (links.count_in(TEA), links.open_counter()(TEA), before.count_in(TEA)) == (2, 2, 1)
    threads = [Thread(target=links.count_in, args=(TEA,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    links.close()
    for thread in threads:
        thread.join()
    assert links.count_in(TEA) == 2


def test_damage_is_told(tmp_path: Path) -> None:
    links = make_graph(tmp_path, [(HOME, [TEA])])
    (IndexPaths(tmp_path).graph / "manifest").write_bytes(b"nothing")
    with pytest.raises(UnreadableError, match="index --rebuild"):
        links.count_in(TEA)
    (IndexPaths(tmp_path).graph / "manifest").unlink()
    with pytest.raises(UnreadableError, match="manifest is damaged: it is missing"):
        links.count_in(TEA)


def name(page: int) -> str:
    return f"https://host{page % 5}.test/{page}"


def make_graph(folder: Path, pages: Iterable[tuple[str, list[str]]]) -> Links:
    """The graph of a crawl, and an empty ledger."""
    paths = IndexPaths(folder)
    paths.index.mkdir(parents=True)
    paths.version.write_text(f"{VERSION}\n")
    Ledger(paths.ledger).close()
    add(paths, pages)
    return Links(paths)


def add(paths: IndexPaths, pages: Iterable[tuple[str, list[str]]]) -> None:
    outcomes = [
        Outcome(
            url=url,
            time=1.0,
            source="log",
            offset=0,
            end=1,
            effect=Effect.REPLACE,
            digest="sha1:1",
            outlinks=tuple(out),
        )
        for url, out in pages
    ]
    view = GraphView(paths)
    view.apply(outcomes)
    view.close()
