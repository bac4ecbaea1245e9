"""PageRank: the links between pages enter, a score for each page leaves: the share of time that a random surfer spends there.

The surfer follows one of a page's links, but with the probability 1 - `damping`, and from pages without links always, goes to
any page, or to any of some. The same graph gives the same scores.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rdfspider.index.graph.csr import Csr, Mask, select_links, split_rows, transpose

DAMPING = 0.85
RESIDUAL = 1e-7
# Links whose shares are gathered at a time: more would leave the processor's cache.
_LINKS_A_PART = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class PageRank:
    """The scores of pages, and how exact they are."""

    scores: NDArray[np.float64]
    """They sum to 1."""
    rounds: int
    residual: float
    """By how much all scores together changed in the last round; they are off by at most damping / (1 - damping) times that."""


def rank_pages(
    csr: Csr,
    keep: Mask | None = None,
    *,
    damping: float = DAMPING,
    start: NDArray[np.float64] | None = None,
    residual: float = RESIDUAL,
    max_rounds: int = 200,
) -> PageRank:
    """Compute scores until a round changes them by no more than `residual` in all, or for `max_rounds`.

    Only links count for which `keep`, which is beside `csr.indices`, is true: a caller leaves out nofollow, ugc and sponsored
    ones, and may leave out links of pages to themselves. With `start`, which sums to 1, the surfer begins anew at pages with
    these chances, instead of at any: so a score tells how well a page is reached from there.
    """
    if not 0 <= damping < 1:
        raise ValueError(f"damping of {damping} is not between 0 and 1")
    if keep is not None:
        csr = select_links(csr, keep)
    nodes = csr.nodes
    if not nodes:
        return PageRank(np.empty(0), 0, 0.0)
    out = csr.count_out()
    dangling = np.flatnonzero(out == 0)
    # The share of its score that each link of a page passes on.
    shares = damping / np.maximum(out, 1)
    links_in = _LinksIn(transpose(csr))
    if start is None:
        start = np.full(nodes, 1 / nodes)
    scores = start
    change, rounds = np.inf, 0
    while change > residual and rounds < max_rounds:
        new = links_in.add_up(scores * shares)
        new += (1 - damping + damping * scores[dangling].sum()) * start
        # Rounding would accumulate.
        new /= new.sum()
        change = float(np.abs(new - scores).sum())
        scores = new
        rounds += 1
    return PageRank(scores, rounds, change)


class _LinksIn:
    """Adds up over the links to each page, in parts that fit into the processor's cache."""

    def __init__(self, links_in: Csr) -> None:
        self._nodes = links_in.nodes
        # `reduceat` cannot have empty rows.
        self._targets = np.flatnonzero(links_in.count_out())
        starts = np.append(links_in.indptr[self._targets], links_in.links)
        self._parts = [
            (
                self._targets[first:last],
                links_in.indices[starts[first] : starts[last]],
                starts[first:last] - starts[first],
            )
            for first, last in split_rows(starts, _LINKS_A_PART)
        ]

    def add_up(self, passed: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each page the sum of what the pages that link to it pass on."""
        sums = np.zeros(self._nodes)
        for targets, sources, starts in self._parts:
            sums[targets] = np.add.reduceat(passed[sources], starts)
        return sums
