"""What the link graph says, in searches: ranks and names come by themselves; what is wrong with them costs nothing but them."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.index.graph.pages import make_page
from tests.index.graph.rated import add_pages, make_paths
from tests.search.documents import Thing, write_index

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.index.graph.fame import NAME
from rdfspider.index.graph.rating import rate_graph
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.ranking import ALL_WORDS
from rdfspider.results import HitKind
from rdfspider.search.indexes import Indexes
from rdfspider.search.link_signals import LinkSignals

URLS = [f"https://a.test/{number}" for number in range(4)]


def test_searches_know_the_newest_ranks(tmp_path: Path) -> None:
    write_index(tmp_path, [Thing("tea", url=url) for url in URLS])
    paths = make_paths(tmp_path)
    with closing(Indexes(tmp_path)) as indexes:
        assert all(hit.explanation[-1].reason.endswith("link to it") for hit in indexes.search("tea", explain=True))
        for turn, known in enumerate(URLS):
            add_pages(paths, [make_page(f"http://fan{number}.test/", turn + 1.0, [known]) for number in range(9)])
            rate_graph(paths)
            first, *others = indexes.search("tea", explain=True)
            assert first.id == known
            assert "times the rank" in first.explanation[-1].reason
            assert not any("times the rank" in hit.explanation[-1].reason for hit in others)


def test_without_ranks_a_search_goes_on(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    find_rank = LinkSignals(paths).find_rank
    assert find_rank(URLS[0]) == 0.0
    add_pages(paths, [make_page("http://fan.test/", 1.0, [URLS[0]])])
    rate_graph(paths)
    assert find_rank(URLS[0]) > 1
    assert find_rank("https://elsewhere.test/") == find_rank("\udcff") == 0.0
    (paths.graph / NAME).write_bytes(b"nonsense")
    assert find_rank(URLS[0]) == 0.0


IBM, WIDGETS, FAKE, JAPAN = "https://ibm.test/", "https://widgets.test/w", "https://fake.test/", "https://tokyo.test/"
PRODUCT = '{"@context": "https://schema.org", "@type": "Product", "name": "A widget", "sku": "W-1"}'


def write_page(title: str, *links: tuple[str, str], data: str = "", text: str = "Some words.") -> str:
    script = f'<script type="application/ld+json">{data}</script>' if data else ""
    shown = "".join(f'<a href="{url}">{words}</a> ' for url, words in links)
    return f"<title>{title}</title>{script}<p>{text} {shown}"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    names = [(IBM, "Big Blue"), (WIDGETS, "gizmos"), (JAPAN, "東京大学"), (FAKE, "here")]
    pages = {
        IBM: write_page("Machines for offices"),
        WIDGETS: write_page("A widget", data=PRODUCT, text="It is sold in Bremen."),
        FAKE: write_page("Cheap things", text="Bigger is better."),
        JAPAN: write_page("A university"),
        "https://bremen.test/": write_page("Bremen", text="A town with nothing but houses."),
        **{f"https://fan{number}.test/": write_page("A list", *names) for number in range(4)},
        **{f"https://spam.test/{number}": write_page("Praise", (FAKE, "big blue gizmos")) for number in range(40)},
    }
    return index_and_rate(tmp_path_factory.mktemp("called"), pages)


def index_and_rate(folder: Path, pages: dict[str, str]) -> Crawl:
    crawl = index_pages(folder / "mycrawl", pages)
    assert rate_graph(IndexPaths(crawl.folder))
    return crawl


def list_found(crawl: Crawl, text: str, **options: Any) -> list[str]:
    found = crawl.search(text, exact=True, **options)
    return [hit.pages[0].url if hit.pages else hit.url for hit in found]


def test_a_page_and_its_main_thing_are_found_by_what_other_sites_call_them(crawl: Crawl) -> None:
    found = crawl.search("big blue", explain=True)
    assert found[0].id == IBM
    assert found[0].explanation[0].reason.count("(other sites call it so)") == 2
    # Those who say it have the words in their texts.
    assert "call it so" not in found[-1].explanation[0].reason
    assert found.total == 46
    gizmo = crawl.search("gizmo")[0]
    assert (gizmo.label, gizmo.kind) == ("A widget", HitKind.ENTITY)
    assert list_found(crawl, "東京大学")[0] == JAPAN
    # The page for which its main thing stands is found where pages are asked for.
    assert list_found(crawl, "gizmo kind:page")[0] == WIDGETS


def test_it_matters_how_many_sites_say_so_not_how_often(crawl: Crawl) -> None:
    found = list_found(crawl, "gizmos", limit=50)
    assert found.index(WIDGETS) < found.index(FAKE)
    assert FAKE not in list_found(crawl, "here", limit=50)


def test_words_of_others_go_with_its_own_words_and_filters(crawl: Crawl) -> None:
    assert list_found(crawl, "gizmos bremen")[0] == WIDGETS
    assert crawl.search("gizmos bremen")[0].score > ALL_WORDS
    assert list_found(crawl, "gizmos site:widgets.test") == list_found(crawl, "gizmos type:Product") == [WIDGETS]
    assert list_found(crawl, "gizmos sku:W-1") == [WIDGETS]
    assert list_found(crawl, "gizmos -bremen site:widgets.test") == []


def test_words_of_odd_queries_are_looked_up(crawl: Crawl) -> None:
    assert all(list_found(crawl, text)[0] == IBM for text in ("big-blue", "BIG.blüe", "big-big-blue", "blue " * 999))
    for text in ("大大学大学", "a-" * 999, "日本、" * 999, "\0 \ud800 ﷺ", "!"):
        assert list_found(crawl, text)[:1] != [IBM]


def test_a_word_that_only_others_use_is_no_mistake(tmp_path: Path) -> None:
    pages = {
        IBM: write_page("Machines for offices"),
        "https://a.test/": write_page("Links", (IBM, "Flurb")),
        "https://b.test/": write_page("Flurp, flurp and flurp"),
    }
    crawl = index_and_rate(tmp_path, pages)
    assert (crawl.search("flurbs").corrected, crawl.search("flurbs")[0].id) == ("", IBM)


def test_without_names_a_search_goes_on(crawl: Crawl, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(crawl.folder, folder)
    (IndexPaths(folder).graph / NAME).write_bytes(b"nonsense")
    with closing(Indexes(folder)) as indexes:
        assert all(hit.id != IBM for hit in indexes.search("big blue", limit=100))
