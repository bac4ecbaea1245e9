from collections import deque

import numpy as np
import pytest
from hypothesis import given
from tests.index.graphs import graphs, make_graph, make_random_graph

from rdfspider.index.graph import centrality as module
from rdfspider.index.graph.centrality import (
    choose_registers,
    estimate_centrality,
    hash_numbers,
    measure_centrality,
    rank_hosts,
)
from rdfspider.index.graph.csr import Csr, transpose


def measure_simply(csr: Csr) -> list[float]:
    """The same by the definition: a search from each host, against the links."""
    links_in = transpose(csr)
    scores = []
    for start in range(csr.nodes):
        distances = {start: 0}
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for source in links_in.list_out(node).tolist():
                if source not in distances:
                    distances[source] = distances[node] + 1
                    queue.append(source)
        scores.append(sum(1 / distance for distance in distances.values() if distance))
    return scores


@given(graphs())
def test_exact_scores_are_those_of_simple_searches(csr: Csr) -> None:
    np.testing.assert_allclose(measure_centrality(csr), measure_simply(csr))


def test_exact_scores_of_more_hosts_than_one_batch() -> None:
    csr = make_random_graph(1500, 4000, seed=1)
    np.testing.assert_allclose(measure_centrality(csr), measure_simply(csr))


@pytest.mark.parametrize("registers", [16, 64, 256, 1024])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_estimates_are_as_good_as_their_registers_promise(registers: int, seed: int) -> None:
    csr = make_random_graph(3000, 15_000, seed=seed)
    exact = measure_centrality(csr)
    off = (estimate_centrality(csr, registers, seed=seed) - exact) / (exact + 1)
    # Hosts share most of what they are reached by, and so their errors.
    assert np.sqrt((off**2).mean()) <= 2.5 * 1.04 / np.sqrt(registers)
    assert np.abs(off).max() <= 4 * 1.04 / np.sqrt(registers)


def test_estimates_scatter_around_the_truth() -> None:
    csr = make_random_graph(2000, 8000, seed=9)
    exact = measure_centrality(csr)
    means = [((estimate_centrality(csr, 64, seed=seed) - exact) / (exact + 1)).mean() for seed in range(40)]
    assert abs(np.mean(means)) < 3 * 0.13 / np.sqrt(40)
    assert 0.05 < np.std(means) < 0.2


def test_direct_links_are_exact_in_estimates() -> None:
    csr = make_graph(500, [(source, 0) for source in range(500)] + [(1, 2), (3, 2)])
    scores = estimate_centrality(csr, 16)
    assert scores[0] == 499
    assert scores[2] == 2
    assert scores[5] == 0


def test_the_same_seed_gives_the_same_estimates() -> None:
    csr = make_random_graph(500, 2500, seed=2)
    first = estimate_centrality(csr, 64)
    assert estimate_centrality(csr, 64).tobytes() == first.tobytes()
    assert estimate_centrality(csr, 64, seed=4).tobytes() != first.tobytes()


def test_small_graphs_are_measured_and_larger_ones_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    csr = make_random_graph(500, 2500, seed=2)
    exact = rank_hosts(csr)
    assert (exact.registers, exact.error) == (None, 0.0)
    monkeypatch.setattr(module, "_EXACT_WORK", 1000)
    estimated = rank_hosts(csr, memory_bytes=500 * 2 * 64)
    assert (estimated.registers, estimated.error) == (64, 0.13)
    assert np.abs(estimated.scores / (exact.scores + 1) - exact.scores / (exact.scores + 1)).max() < 4 * 0.13


@pytest.mark.parametrize(
    ("nodes", "links", "registers"),
    [(1_000, 10_000, 1024), (100_000, 1_000_000, 256), (1_000_000, 10_000_000, 32), (10**9, 10**10, 16), (0, 0, 1024)],
)
def test_more_hosts_get_fewer_registers(nodes: int, links: int, registers: int) -> None:
    assert choose_registers(nodes, links) == registers


def test_a_long_chain_ends_at_the_largest_distance() -> None:
    csr = make_graph(400, [(node, node + 1) for node in range(399)])
    scores = measure_centrality(csr, max_distance=10)
    assert scores[399] == pytest.approx(sum(1 / distance for distance in range(1, 11)))
    assert estimate_centrality(csr, 256, max_distance=10)[399] == pytest.approx(scores[399], rel=0.2)


@pytest.mark.parametrize("registers", [0, 8, 48, 1 << 20])
def test_other_numbers_of_registers_are_refused(registers: int) -> None:
    with pytest.raises(ValueError, match="registers"):
        estimate_centrality(make_graph(1, []), registers)


def test_nothing_has_no_scores() -> None:
    assert len(rank_hosts(make_graph(0, [])).scores) == 0
    assert len(estimate_centrality(make_graph(0, []), 16)) == 0


def test_hashes_of_numbers_are_even() -> None:
    hashes = hash_numbers(np.arange(10_000, dtype=np.uint64), 1)
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
    assert np.abs(bits - 0.5).max() < 0.03
    assert len(set(hashes.tolist()) & set(hash_numbers(np.arange(10_000, dtype=np.uint64), 2).tolist())) == 0
