import numpy as np
import pytest
from hypothesis import given, strategies
from tests.index.graphs import graphs, make_graph, make_random_graph

from rdfspider.index.graph import pagerank as module
from rdfspider.index.graph.csr import Csr, select_links
from rdfspider.index.graph.pagerank import rank_pages


def rank_densely(csr: Csr, damping: float) -> np.ndarray:
    """The same by the definition: powers of the whole matrix of transitions."""
    chances = np.zeros((csr.nodes, csr.nodes))
    for node, row in enumerate(csr.iterate_rows()):
        chances[node, row] = 1 / len(row) if len(row) else 0
        if not len(row):
            chances[node] = 1 / csr.nodes
    matrix = damping * chances + (1 - damping) / csr.nodes
    return np.linalg.matrix_power(matrix, 500)[0]


@given(graphs(), strategies.sampled_from([0.0, 0.5, 0.85]))
def test_scores_are_those_of_powers_of_the_matrix(csr: Csr, damping: float) -> None:
    ranks = rank_pages(csr, damping=damping, residual=1e-12)
    np.testing.assert_allclose(ranks.scores, rank_densely(csr, damping), atol=1e-10)
    assert ranks.residual <= 1e-12


def test_a_circle_gives_all_the_same() -> None:
    scores = rank_pages(make_graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])).scores
    np.testing.assert_allclose(scores, 0.25)


def test_a_star_gives_its_middle_what_can_be_calculated() -> None:
    # Three pages link to a fourth, which has no links: m = (1 - d)/4 + d (3 l + m/4), l = (1 - d)/4 + d m/4.
    middle = rank_pages(make_graph(4, [(1, 0), (2, 0), (3, 0)]), residual=1e-12).scores[0]
    damping = 0.85
    expected = (1 - damping) / 4 * (1 + 3 * damping) / (1 - damping / 4 - 3 * damping**2 / 4)
    assert middle == pytest.approx(expected, abs=1e-9)


def test_links_that_are_left_out_pass_nothing_on() -> None:
    csr = make_random_graph(100, 600, seed=5)
    keep = np.random.default_rng(6).random(csr.links) < 0.5
    np.testing.assert_array_equal(rank_pages(csr, keep).scores, rank_pages(select_links(csr, keep)).scores)
    assert rank_pages(csr, np.zeros(csr.links, bool)).scores == pytest.approx(np.full(100, 0.01))


def test_it_is_the_same_each_time_and_in_parts_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    csr = make_random_graph(1000, 10_000, seed=7)
    scores = rank_pages(csr).scores
    assert rank_pages(csr).scores.tobytes() == scores.tobytes()
    monkeypatch.setattr(module, "_LINKS_A_PART", 100)
    np.testing.assert_allclose(rank_pages(csr).scores, scores, rtol=1e-9)


def test_rounds_are_bounded_and_the_residual_is_told() -> None:
    csr = make_random_graph(1000, 10_000, seed=7)
    ranks = rank_pages(csr, max_rounds=3)
    assert ranks.rounds == 3
    assert ranks.residual > 1e-6
    exact = rank_pages(csr, residual=1e-13).scores
    assert np.abs(ranks.scores - exact).sum() <= ranks.residual * 0.85 / 0.15


def test_an_empty_graph_has_no_scores() -> None:
    assert len(rank_pages(make_graph(0, [])).scores) == 0


def test_a_damping_that_never_settles_is_refused() -> None:
    with pytest.raises(ValueError, match="damping"):
        rank_pages(make_graph(1, []), damping=1.0)
