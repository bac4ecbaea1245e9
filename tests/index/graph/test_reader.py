"""What is asked of the graph: words for a page, hosts, kinds, pages of results."""

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from tests.index.graph.pages import make_page, remove_page
from tests.index.graph.test_view import make_paths, rest

from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.index.graph.csr import transpose
from rdfspider.index.graph.kinds import LinkKind
from rdfspider.index.graph.reader import GraphLink, GraphReader
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import IndexPaths

HOME = "http://www.a.test/"


def index(folder: Path, *parts: Sequence[Outcome]) -> IndexPaths:
    """Each part becomes a generation."""
    paths = make_paths(folder)
    with closing(GraphView(paths)) as view:
        for number, outcomes in enumerate(parts):
            view.apply(outcomes)
            rest(view, {"log": number})
    return paths


def test_words_for_a_page_have_one_vote_a_site(tmp_path: Path) -> None:
    farm = [make_page(f"http://www{n}.farm.test/", 1.0, [HOME], anchors={HOME: "buy now"}) for n in range(30)]
    honest = [make_page(f"http://www.site{n}.test/{n}", 1.0, [HOME], anchors={HOME: "A's home"}) for n in range(3)]
    # Comments may say anything.
    farm += [
        make_page(f"http://comments{n}.test/", 1.0, [HOME], anchors={HOME: "pills"}, relations={HOME: "ugc nofollow"})
        for n in range(9)
    ]
    own = [make_page(f"http://shop.a.test/{n}", 1.0, [HOME], anchors={HOME: "home"}) for n in range(5)]
    silent = [make_page("http://b.test/", 1.0, [HOME])]
    for folder, parts in (("one", [farm + honest + own + silent]), ("many", [farm, honest, own, silent])):
        with closing(GraphReader(index(tmp_path / folder, *parts))) as reader:
            found = reader.read_anchors(HOME)
            assert found.others == [("A's home", 3), ("buy now", 1)]
            assert found.own == [("home", 5)]
            assert reader.read_anchors("http://unknown.test/") == ([], [])


def test_words_for_pages_that_stand_for_a_page_are_its_own(tmp_path: Path) -> None:
    old, copy, stolen = "http://old.test/", "http://www.a.test/copy", "http://thief.test/"
    moved = [remove_page(old, 1.0, HOME), *(make_page(url, 1.0, canonical=HOME) for url in (copy, stolen))]
    said = [
        make_page(f"http://says-{text}.test/", 1.0, [url], anchors={url: text})
        for url, text in ((old, "old"), (copy, "copied"), (stolen, "stolen"))
    ]
    for folder, parts in (("one", [moved + said]), ("many", [moved, said])):
        with closing(GraphReader(index(tmp_path / folder, *parts))) as reader:
            assert reader.read_anchors(HOME).others == [("copied", 1), ("old", 1)]


def test_links_have_kinds_words_and_predicates_in_both_directions(tmp_path: Path) -> None:
    statements = {"rdfa": "<http://b.test/> <http://schema.org/about> <http://a.test/#x> <http://b.test/> .\n"}
    target = "http://a.test/"
    page = make_page(
        "http://b.test/", 1.0, [target, "http://c.test/"], statements=statements, anchors={"http://c.test/": "see"}
    )
    with closing(GraphReader(index(tmp_path, [page, remove_page("http://d.test/", 1.0, target)]))) as reader:
        data = LinkKind.LINK | LinkKind.DATA
        assert reader.read_links("http://b.test/") == [
            GraphLink(target, data, "", "http://schema.org/about"),
            GraphLink("http://c.test/", LinkKind.LINK, "see", ""),
        ]
        assert reader.read_backlinks(target) == [
            GraphLink("http://b.test/", data, "", "http://schema.org/about"),
            GraphLink("http://d.test/", LinkKind.REDIRECT, "", ""),
        ]
        assert reader.read_backlinks(target, 1, 1)[0].url == "http://d.test/"
        assert reader.count_in(target) == 2
        assert reader.read_links("http://unknown.test/") == reader.read_backlinks("http://unknown.test/") == []
        assert len(reader.load_csr(LinkKind.REDIRECT | LinkKind.CANONICAL).indices) == 1
        assert len(reader.load_csr(unwanted=LinkKind.DATA).indices) == 2


def test_hosts_and_how_many_links_are_between_them(tmp_path: Path) -> None:
    pages = [
        make_page("http://a.test/1", 1.0, ["http://b.test/1", "http://b.test/2", "http://a.test/2"]),
        make_page("https://a.test/2", 1.0, ["http://b.test/1", "http://c.test/1"]),
        make_page("http://b.test/1", 1.0, ["http://c.test/1"]),
    ]
    for folder, parts in (("one", [pages]), ("many", [[page] for page in pages])):
        with closing(GraphReader(index(tmp_path / folder, *parts))) as reader:
            found = reader.load_host_graph()
            hosts, graph, links = found.names, found.csr, found.weights
            pairs = {
                (hosts[host], hosts[other]): int(links[place])
                for host in range(graph.nodes)
                for place, other in enumerate(
                    graph.indices[graph.indptr[host] : graph.indptr[host + 1]], graph.indptr[host]
                )
            }
            assert pairs == {("a.test", "b.test"): 3, ("a.test", "c.test"): 1, ("b.test", "c.test"): 1}
            whole = reader.load_csr()
            back = transpose(whole)
            for page in range(whole.nodes):
                assert np.array_equal(back.indices[back.indptr[page] : back.indptr[page + 1]], reader.list_in(page))


def test_an_expired_page_has_no_links(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    due = time.time() + 3600
    expiring = make_page("http://b.test/", 5.0, ["http://a.test/"], due=due)
    with closing(GraphView(paths)) as view:
        view.apply([expiring, make_page("http://c.test/", 5.0, ["http://a.test/"], due=due)])
        rest(view, {"log": 1})
        view.apply([make_page("http://c.test/", 6.0, ["http://a.test/", "http://d.test/"])])
        view.apply([make_page("http://c.test/", 4.0, effect=Effect.TOUCH, due=1.0)])
        rest(view, {"log": 2})
        with closing(GraphReader(paths)) as reader:
            assert reader.count_in("http://a.test/") == 2
    with closing(GraphView(paths)) as view:
        assert not view.has_deferred
        # An hour later.
        view._dues._dues = {
            key: type(each)(each.url, 2.0, each.time_us, each.tie) for key, each in view._dues._dues.items()
        }
        view._dues._dues = {(each.url, each.due): each for each in view._dues._dues.values()}
        view._dues._next = 2.0
        assert view.has_deferred
        rest(view, {"log": 2})
        with closing(GraphReader(paths)) as reader:
            assert [link.url for link in reader.read_backlinks("http://a.test/")] == ["http://c.test/"]
            assert not reader.has_page("http://b.test/")
        view.apply([expiring])
        rest(view, {"log": 2})
        with closing(GraphReader(paths)) as reader:
            assert not reader.has_page("http://b.test/")
