"""Ranks of the link graph in searches: they come by themselves, and what is wrong with them costs nothing but them."""

from contextlib import closing
from pathlib import Path

from tests.index.graph.pages import make_page
from tests.index.graph.rated import add_pages, make_paths
from tests.search.documents import Thing, write_index

from rdfspider.index.graph.fame import NAME
from rdfspider.index.graph.rating import rate_graph
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
