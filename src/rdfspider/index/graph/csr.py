"""A graph as two arrays, for algorithms: the rows of all its pages enter, a `Csr` leaves."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rdfspider.index.graph.varints import Numbers


class Csr(NamedTuple):
    """A graph: the links of node `i` lead to `indices[indptr[i] : indptr[i + 1]]`, sorted."""

    indptr: Numbers
    indices: npt.NDArray[np.int32]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.indptr) - 1


def make_csr(nodes: int, pieces: Iterable[tuple[Numbers, Numbers]]) -> Csr:
    """Make a graph of pieces with the source and the target of each link; a piece has all links of its sources."""
    counts = np.zeros(nodes, np.int64)
    sources: list[npt.NDArray[np.int32]] = []
    targets: list[npt.NDArray[np.int32]] = []
    for source, target in pieces:
        counts += np.bincount(source, minlength=nodes)
        sources.append(source.astype(np.int32))
        targets.append(target.astype(np.int32))
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    if not targets:
        return Csr(indptr, np.empty(0, np.int32))
    links = np.concatenate(targets)
    all_sources = np.concatenate(sources)
    # Within a piece all is sorted; so it is at once if there is one generation.
    if not _is_sorted(all_sources):
        links = links[np.argsort(all_sources, kind="stable")]
    return Csr(indptr, links)


def transpose(graph: Csr) -> Csr:
    """Return the graph with all links turned round."""
    nodes = graph.nodes
    sources = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(graph.indptr))
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(graph.indices, minlength=nodes), out=indptr[1:])
    return Csr(indptr, sources[np.argsort(graph.indices, kind="stable")])


def _is_sorted(numbers: npt.NDArray[np.int32]) -> bool:
    return bool((numbers[1:] >= numbers[:-1]).all())
