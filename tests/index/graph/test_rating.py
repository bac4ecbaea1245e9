"""Ranks are those that the links of the newest state give, however these are spread over generations."""

import random
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.graph.pages import make_history, make_page, remove_page
from tests.index.graph.rated import add_pages, list_ranks, make_paths, rate

from rdfspider.index.graph import rating
from rdfspider.index.graph import view as view_module
from rdfspider.index.graph.csr import make_csr
from rdfspider.index.graph.esteem_file import NO_ESTEEM, mark_esteem
from rdfspider.index.graph.fame import Fame, FameReader
from rdfspider.index.graph.mirrors import GroupReason
from rdfspider.index.graph.rating import rate_graph, resolve_aliases
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.view import GraphView
from rdfspider.index.log.indexed_sources import FORGOTTEN
from rdfspider.results import Rank

HUB, GOOD, POOR = "http://hub.test/", "http://good.test/", "http://poor.test/"


def read_rank(reader: FameReader, url: str) -> Rank:
    rank = reader.read_rank(url)
    assert rank is not None
    return rank


def test_the_first_pages_of_a_known_graph(tmp_path: Path) -> None:
    fans = [f"http://fan{number}.test/" for number in range(10)]
    pages = [make_page(url, 1.0, [HUB, *([GOOD] if number < 4 else [])]) for number, url in enumerate(fans)]
    reader = rate(tmp_path, [*pages, make_page(HUB, 1.0, [POOR])])
    top = list(reader.list_top_pages())
    # The one page that the hub names has nearly all of its rank.
    assert [each.name for each in top[:3]] == [HUB, POOR, GOOD]
    assert [each.rank.place for each in top] == [1, 2, 3, *[4] * 10]
    assert [each.name for each in top[3:]] == fans
    assert sum(each.rank.value for each in top) == pytest.approx(13, rel=0.001)
    assert (top[0].rank.total, top[0].rank.percentile, top[-1].rank.percentile) == (13, 100, pytest.approx(1000 / 13))
    assert [each.name for each in reader.list_top_hosts()][:3] == ["hub.test", "poor.test", "good.test"]
    # All ten link to it.
    assert reader.read_host_rank("hub.test") == Rank(10.0, 1, 13)
    assert reader.read_host_rank("poor.test") == Rank(1 + 10 / 2, 2, 13)
    assert reader.read_host_rank("elsewhere.test") is None
    assert reader.read_rank("http://elsewhere.test/") is None


def test_links_that_a_page_does_not_recommend_pass_nothing_on(tmp_path: Path) -> None:
    relations = {f"http://{word}.test/": word for word in ("nofollow", "ugc", "sponsored", "next")}
    pages = [make_page(f"http://a.test/{number}", 1.0, list(relations), relations=relations) for number in range(9)]
    said = make_page("http://b.test/", 1.0, [POOR], directives="nofollow")
    reader = rate(tmp_path, [*pages, said])
    followed = read_rank(reader, "http://next.test/")
    assert followed.place == 1
    others = {read_rank(reader, f"http://{word}.test/") for word in ("nofollow", "ugc", "sponsored", "poor", "b")}
    assert [(rank.place, rank.total) for rank in others] == [(2, 15)]
    assert others.pop().value < followed.value / 5


def test_redirects_and_canonical_links_pass_rank_on(tmp_path: Path) -> None:
    old, older, copy = (f"http://old.test/{name}" for name in ("old", "older", "copy"))
    fans = [make_page(f"http://fan{n}.test/", 1.0, [(old, older, copy)[n % 3]]) for n in range(9)]
    moved = [remove_page(older, 1.0, old), remove_page(old, 1.0, GOOD)]
    # What a page says that stands for another one is not followed.
    same = make_page(copy, 1.0, [old, POOR], canonical=old)
    rest = [make_page(f"http://other{n}.test/", 1.0, [HUB]) for n in range(8)]
    reader = rate(tmp_path, [*fans, *moved, same, *rest])
    good, hub, poor = (read_rank(reader, url) for url in (GOOD, HUB, POOR))
    assert (good.place, hub.place) == (1, 2)
    lowest = read_rank(reader, "http://fan0.test/")
    assert poor.value == lowest.value
    assert [reader.read_rank(url) for url in (old, older, copy)] == [None] * 3, "they stand for it"
    assert {old, older, copy}.isdisjoint(each.name for each in reader.list_top_pages())


def test_a_canonical_url_on_another_site_is_a_link_among_others(tmp_path: Path) -> None:
    copy, cousin, moved = "http://www.copy.test/", "http://blog.copy.test/", "http://moved.test/"
    fans = [make_page(f"http://fan{n}.test/", 1.0, [copy]) for n in range(9)]
    pages = [make_page(copy, 1.0, [GOOD, POOR], canonical=GOOD), make_page(cousin, 1.0, [POOR], canonical=copy)]
    reader = rate(tmp_path, [*fans, *pages, remove_page(moved, 1.0, copy)])
    good, poor, own = (read_rank(reader, url) for url in (GOOD, POOR, copy))
    assert own.place == 1, "it keeps its rank"
    assert good.value == poor.value, "which goes to all that it links to"
    assert reader.read_rank(cousin) is None, "hosts of a site are of one"
    assert reader.read_rank(moved) is None, "whole sites move"


def test_pages_of_other_sites_that_recommend_nothing_give_no_rank_by_a_canonical_url(tmp_path: Path) -> None:
    copies = [make_page(f"http://c{n}.test/", 1.0, [GOOD], canonical=GOOD, directives="nofollow") for n in range(9)]
    reader = rate(tmp_path, [*copies, make_page(HUB, 1.0, [POOR])])
    assert read_rank(reader, POOR).place == 1
    assert read_rank(reader, GOOD).value == read_rank(reader, "http://c0.test/").value


def test_pages_that_stand_for_each_other_in_a_circle_stand_for_themselves() -> None:
    links = [(0, 1), (1, 2), (2, 0), (3, 0), (4, 5), (6, 6)]
    sources, targets = np.array(links).T
    assert resolve_aliases(make_csr(8, [(sources, targets)])).tolist() == [0, 1, 2, 3, 5, 5, 6, 7]
    chain = np.arange(40)
    assert resolve_aliases(make_csr(41, [(chain, chain + 1)])).tolist() == [40] * 41


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), sizes=st.lists(st.integers(1, 120), min_size=1, max_size=8))
def test_however_the_log_was_split_the_ranks_are_those_of_a_rebuild(
    tmp_path_factory: pytest.TempPathFactory, seed: int, sizes: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("graph")
    # Which of two redirects of a page in the same microsecond counts is not decided.
    history = list({(outcome.url, outcome.time): outcome for outcome in make_history(seed, 300)}.values())
    whole = list_ranks(rate(folder / "whole", history))
    paths = make_paths(folder / "split")
    order = random.Random(seed).sample(history, len(history))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view_module, "FLUSH_S", 0.0)
        patch.setattr(view_module, "FAN_OUT", 3)
        start = 0
        for size in [*sizes, len(history)]:
            add_pages(paths, order[start : start + size])
            start += size
            # Ranks of an older state change nothing.
            rate_graph(paths)
    assert list_ranks(FameReader(paths.graph)) == whole


def test_ranks_are_found_by_url_after_newer_generations(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    fans = [make_page(f"http://m{number}.test/", 1.0, [HUB]) for number in range(20)]
    add_pages(paths, fans)
    rate_graph(paths)
    with closing(GraphReader(paths)) as reader:
        before = {url: reader.read_rank(url) for url in reader.list_urls()}
        dated = reader.ranks_dated
        # These come before and between the others, so all ids change.
        add_pages(paths, [make_page(f"http://{name}.test/", 2.0, [GOOD]) for name in ("aa", "m10a", "zz")])
        assert reader.refresh()
        assert reader.ranks_dated == dated > 0
        assert {url: reader.read_rank(url) for url in before} == before
        assert reader.read_rank(GOOD) is None
        assert reader.list_top_pages(1) == [(HUB, before[HUB])]
        assert [each.name for each in reader.list_top_pages(2, 1)] == ["http://m0.test/", "http://m1.test/"]
        assert len(reader.list_top_pages(100)) == 21
        assert reader.list_top_hosts(1, 0)[0].name == "hub.test"
        rate_graph(paths)
        rank = reader.read_rank(GOOD)
        assert rank is not None
        assert rank.place == 2


def test_pages_that_are_gone_are_no_longer_listed(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    add_pages(paths, [make_page("http://a.test/", 1.0, [HUB])])
    rate_graph(paths)
    with closing(GraphReader(paths)) as reader:
        assert len(reader.list_top_pages(10)) == 2
        add_pages(paths, [remove_page("http://a.test/", 2.0)])
        reader.refresh()
        assert reader.list_top_pages(10) == []


def test_farms_and_mirrors_are_listed_with_their_reason(tmp_path: Path) -> None:
    known = [f"http://client{number}.example/offer" for number in range(30)]
    farm = [make_page(f"http://farm{number}.test/", 1.0, known) for number in range(4)]
    hosts = ("first.example.com", "second.example.net")
    copies = [make_page(f"http://{host}/", 1.0, [f"http://{host}/page/{n}" for n in range(40)]) for host in hosts]
    reader = rate(tmp_path, [*farm, *copies, make_page("http://shop.example/", 1.0, known[:10])])
    first, second = reader.list_farms()
    assert (first.reason, first.hosts) == (GroupReason.FARM, tuple(f"farm{number}.test" for number in range(4)))
    assert first.shared == 30
    assert set(first.examples) < set(known)
    assert (second.reason, set(second.hosts)) == (GroupReason.MIRROR, set(hosts))
    assert all(url.startswith("http://first.example.com/") for url in second.examples)


def test_ranks_of_a_state_with_forgotten_pages_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = make_paths(tmp_path)
    add_pages(paths, [make_page("http://secret.test/", 1.0, [HUB])])
    rate_graph(paths)
    reader = FameReader(paths.graph)

    def forget() -> None:
        with closing(GraphView(paths)) as view:
            view.forget(lambda url: "secret" in url)
            view.commit({**view.load_cursors(), FORGOTTEN: 1})

    forget()
    assert not list(reader.list_top_pages())
    add_pages(paths, [make_page("http://secret.test/", 2.0, [HUB])])
    # While they are computed.
    rank = rating.rank_pages
    monkeypatch.setattr(rating, "rank_pages", lambda graph: (forget_again(), rank(graph))[1])

    def forget_again() -> None:
        with closing(GraphView(paths)) as view:
            view.commit({**view.load_cursors(), FORGOTTEN: 2})
            view.forget(lambda url: "secret" in url)
            view.commit({**view.load_cursors(), FORGOTTEN: 2})

    assert not rate_graph(paths)
    assert reader.state is None


@pytest.mark.parametrize("when", ["before they are written", "while they are written"])
def test_ranks_that_are_written_while_pages_are_forgotten_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    paths = make_paths(tmp_path)
    add_pages(paths, [make_page("http://secret.test/", 1.0, [HUB])])
    with closing(GraphView(paths)) as view:
        if when == "before they are written":
            # The manifest does not tell yet.
            view.forget(lambda url: "secret" in url)
            assert rate_graph(paths)
            view.commit({**view.load_cursors(), FORGOTTEN: 1})
        else:
            write = rating.write_fame

            def forget_and_write(folder: Path, fame: Fame) -> None:
                view.forget(lambda url: "secret" in url)
                view.commit({**view.load_cursors(), FORGOTTEN: 1})
                write(folder, fame)

            monkeypatch.setattr(rating, "write_fame", forget_and_write)
            assert not rate_graph(paths)
    assert FameReader(paths.graph).state is None
    assert mark_esteem(paths.graph) == NO_ESTEEM
