import numpy as np
import pytest

from rdfspider.index.graph.csr import Csr, make_csr
from rdfspider.index.graph.resemblance import group_alike


def make_rows(rows: list[set[int]]) -> Csr:
    pairs = np.array([(row, item) for row, items in enumerate(rows) for item in items], np.int64).reshape(-1, 2)
    return make_csr(len(rows), [(pairs[:, 0], pairs[:, 1])])


def group(rows: list[set[int]], threshold: float = 0.7) -> list[list[int]]:
    return group_alike(make_rows(rows), np.arange(len(rows)), threshold)


def test_the_same_rows_are_a_group() -> None:
    assert group([set(range(50)), set(range(100, 150)), set(range(50)), {1}]) == [[0, 2]]


@pytest.mark.parametrize("size", [30, 300, 3000])
@pytest.mark.parametrize(("share", "is_found"), [(0.9, True), (0.5, False), (0.2, False)])
def test_rows_that_share_enough_are_a_group(size: int, share: float, is_found: bool) -> None:
    # Of two rows of n items, c are common to both: the share of all is c / (2n - c).
    common = round(2 * size * share / (1 + share))
    found = 0
    for place in range(20):
        start = place * 10_000
        first, second = set(range(start, start + size)), set(range(start + size - common, start + 2 * size - common))
        found += group([first, second]) == [[0, 1]]
    assert found == (20 if is_found else 0)


def test_rows_that_are_not_asked_for_are_left_out() -> None:
    rows = make_rows([set(range(50))] * 4)
    assert group_alike(rows, np.array([1, 3]), 0.7) == [[1, 3]]
    assert group_alike(rows, np.array([2]), 0.7) == []
    assert group_alike(rows, np.empty(0, np.int64), 0.7) == []
