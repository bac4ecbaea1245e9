"""Graphs for tests: small ones by chance, and the real one beside the checkout."""

from pathlib import Path

import numpy as np
from hypothesis import strategies

from rdfspider.index.graph.csr import Csr, make_csr


def make_graph(nodes: int, links: list[tuple[int, int]]) -> Csr:
    """The graph of some links."""
    pairs = np.array(links, np.int64).reshape(-1, 2)
    return make_csr(nodes, [(pairs[:, 0], pairs[:, 1])])


def make_random_graph(nodes: int, links: int, seed: int) -> Csr:
    """A graph by chance in which few nodes get most links, as on the web."""
    chance = np.random.default_rng(seed)
    sources = (nodes * chance.random(links) ** 2).astype(np.int64)
    targets = chance.permutation(nodes)[(nodes * chance.random(links) ** 3).astype(np.int64)]
    return make_csr(nodes, [(sources, targets)])


@strategies.composite
def graphs(draw: strategies.DrawFn, max_nodes: int = 12) -> Csr:
    """Small graphs with all that can occur: loops, nodes without links, all links."""
    nodes = draw(strategies.integers(1, max_nodes))
    node = strategies.integers(0, nodes - 1)
    return make_graph(nodes, draw(strategies.lists(strategies.tuples(node, node), max_size=5 * max_nodes)))


def load_graph(folder: Path) -> Csr:
    """The graph in a folder of real ones."""
    with np.load(folder / "links.npz") as arrays:
        return Csr(arrays["indptr"].astype(np.int64), arrays["indices"].astype(np.int32))
