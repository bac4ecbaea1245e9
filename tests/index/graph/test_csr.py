import numpy as np
import pytest
from hypothesis import given
from tests.index.graphs import graphs, make_graph, make_random_graph

from rdfspider.index.graph import csr as module
from rdfspider.index.graph.csr import (
    Csr,
    drop_loops,
    find_hosts,
    make_csr,
    make_host_graph,
    select_links,
    split_rows,
    to_scipy,
    transpose,
)


def list_links(csr: Csr) -> list[tuple[int, int]]:
    return [(node, int(target)) for node, row in enumerate(csr.iterate_rows()) for target in row]


def test_links_in_any_order_make_a_graph_and_count_once() -> None:
    csr = make_graph(4, [(2, 1), (0, 3), (2, 0), (2, 1)])
    assert csr.indptr.tolist() == [0, 1, 1, 3, 3]
    assert csr.indices.tolist() == [3, 0, 1]
    assert (csr.nodes, csr.links) == (4, 3)
    assert csr.list_out(2).tolist() == [0, 1]


@given(graphs())
def test_a_transpose_turns_links_round_and_keeps_rows_sorted(csr: Csr) -> None:
    turned = transpose(csr)
    assert list_links(turned) == sorted((target, source) for source, target in list_links(csr))
    assert list_links(transpose(turned)) == list_links(csr)


@given(graphs())
def test_links_can_be_left_out(csr: Csr) -> None:
    assert list_links(drop_loops(csr)) == [link for link in list_links(csr) if link[0] != link[1]]
    assert list_links(select_links(csr, csr.indices % 2 == 0)) == [link for link in list_links(csr) if link[1] % 2 == 0]


def test_flags_must_be_as_many_as_links() -> None:
    with pytest.raises(ValueError, match="3 flags for 1 links"):
        select_links(make_graph(2, [(0, 1)]), np.ones(3, bool))


@given(graphs())
def test_parts_of_rows_are_all_rows_in_order(csr: Csr) -> None:
    parts = list(split_rows(csr.indptr, 3))
    assert [row for first, last in parts for row in range(first, last)] == list(range(csr.nodes))
    assert all(last == first + 1 or csr.indptr[last] - csr.indptr[first] <= 3 for first, last in parts)


URLS = [
    "https://example.org/",
    "https://example.org/a",
    "http://a.example.org/",
    "https://a.example.org/b",
    "https://example.org:8443/x",
    "http://[2001:db8::1]:8080/",
]


def test_hosts_are_numbered_as_they_appear_whatever_their_schemes_and_ports() -> None:
    hosts = find_hosts(iter(URLS))
    assert hosts.names == ["example.org", "a.example.org", "[2001:db8::1]"]
    assert hosts.of_page.tolist() == [0, 0, 1, 1, 0, 2]


def test_nothing_has_no_hosts() -> None:
    hosts = find_hosts([])
    graph = make_host_graph(make_graph(0, []), hosts)
    assert (hosts.names, graph.csr.nodes, graph.csr.links) == ([], 0, 0)


def test_a_host_graph_has_each_pair_of_hosts_once_with_its_links() -> None:
    csr = make_graph(6, [(0, 1), (0, 2), (0, 3), (1, 2), (4, 3), (2, 0), (5, 0)])
    graph = make_host_graph(csr, find_hosts(URLS))
    assert list_links(graph.csr) == [(0, 1), (1, 0), (2, 0)]
    assert graph.weights.tolist() == [4, 1, 1]
    assert graph.pages.tolist() == [3, 2, 1]


def test_a_host_graph_that_is_made_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    csr = make_random_graph(200, 1000, seed=3)
    hosts = find_hosts(f"https://h{page * page % 31}.example/{page}" for page in range(200))
    whole = make_host_graph(csr, hosts)
    monkeypatch.setattr(module, "_LINKS_A_PART", 7)
    parts = make_host_graph(csr, hosts)
    assert list_links(whole.csr) == list_links(parts.csr)
    assert whole.weights.tolist() == parts.weights.tolist()
    assert int(whole.weights.sum()) == sum(hosts.of_page[a] != hosts.of_page[b] for a, b in list_links(csr))


def test_more_nodes_than_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="nodes"):
        make_csr((1 << 31) + 1, [(np.zeros(1, np.int64), np.zeros(1, np.int64))])


def test_scipy_gets_the_same_links() -> None:
    pytest.importorskip("scipy")
    csr = make_random_graph(50, 200, seed=1)
    matrix = to_scipy(csr)
    assert list(zip(*(part.tolist() for part in matrix.nonzero()), strict=True)) == list_links(csr)
    assert to_scipy(csr, np.arange(csr.links))[tuple(list_links(csr)[5])] == 5
