"""Graphs as arrays: links between pages and the URLs in id order enter; the transpose, parts, or the graph of hosts leave.

All algorithms take this form (compressed sparse rows), so that they are functions of arrays, however a graph is stored.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rdfspider.errors import UsageError
from rdfspider.urls import host_of_authority

IntArray = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]

# Pairs are sorted as one number each, source and target in a half of its bits.
_MAX_NODES = 1 << 31
# Links of which the pairs of hosts are counted at a time.
_LINKS_A_PART = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Csr:
    """A graph: the targets of node i are `indices[indptr[i]:indptr[i + 1]]`, ascending and distinct."""

    indptr: NDArray[np.int64]
    indices: IntArray

    @property
    def nodes(self) -> int:
        """How many nodes it has."""
        return len(self.indptr) - 1

    @property
    def links(self) -> int:
        """How many links it has."""
        return len(self.indices)

    def list_out(self, node: int) -> IntArray:
        """The targets of a node."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    def count_out(self) -> NDArray[np.int64]:
        """How many targets each node has."""
        return np.diff(self.indptr)

    def list_sources(self) -> NDArray[np.int32]:
        """The source of each link."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), self.count_out())

    def iterate_rows(self) -> Iterator[IntArray]:
        """The targets of each node, in id order."""
        bounds = self.indptr.tolist()
        for start, end in pairwise(bounds):
            yield self.indices[start:end]


@dataclass(frozen=True, slots=True, eq=False)
class Hosts:
    """The hosts of a graph of pages, numbered in the order in which they first appear."""

    names: list[str]
    of_page: NDArray[np.int32]
    """The number of each page's host."""


@dataclass(frozen=True, slots=True, eq=False)
class HostGraph:
    """Which hosts link to which; links within a host are left out."""

    names: list[str]
    csr: Csr
    weights: NDArray[np.int64]
    """How many links between pages each link between hosts stands for, beside `csr.indices`."""
    pages: NDArray[np.int64]
    """How many pages of the graph each host has."""


def make_csr(nodes: int, pieces: Iterable[tuple[IntArray, IntArray]]) -> Csr:
    """The graph of links in any order, as pieces with the source and the target of each; the same link counts once."""
    keys = np.concatenate([np.empty(0, np.int64), *(_pack(sources, targets, nodes) for sources, targets in pieces)])
    if (keys[1:] <= keys[:-1]).any():
        keys.sort()
        keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
    return _unpack(keys, nodes)


def transpose(csr: Csr) -> Csr:
    """The graph with all links turned round: the rows are the sources of links to a node."""
    keys = _pack(csr.indices, csr.list_sources(), csr.nodes)
    keys.sort()
    return _unpack(keys, csr.nodes)


def select_links(csr: Csr, keep: Mask) -> Csr:
    """The graph with those links for which `keep`, which is beside `csr.indices`, is true."""
    if len(keep) != csr.links:
        raise ValueError(f"{len(keep)} flags for {csr.links} links")
    kept_before = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    return Csr(kept_before[csr.indptr], csr.indices[keep])


def drop_loops(csr: Csr) -> Csr:
    """The graph without links of nodes to themselves."""
    return select_links(csr, csr.indices != csr.list_sources())


def find_hosts(urls: Iterable[str]) -> Hosts:
    """The hosts of URLs in id order. In SURT order a host is one run, or a few where it has several ports."""
    numbers: dict[str, int] = {}
    starts: list[int] = []
    hosts: list[int] = []
    prefix = "\n"
    place = -1
    for place, url in enumerate(urls):
        if not url.startswith(prefix):
            scheme, mark, rest = url.partition("://")
            authority = rest.partition("/")[0]
            prefix = f"{scheme}{mark}{authority}/"
            starts.append(place)
            hosts.append(numbers.setdefault(host_of_authority(authority), len(numbers)))
    bounds = np.array([*starts, place + 1], np.int64)
    return Hosts(list(numbers), np.repeat(np.array(hosts, np.int32), bounds[1:] - bounds[:-1]))


def number_sites(names: Sequence[str], site_of: Callable[[str], str]) -> tuple[list[str], NDArray[np.int64]]:
    """The sites of hosts, numbered in the order in which they first appear; and the number of each host's."""
    numbers: dict[str, int] = {}
    of_host = np.array([numbers.setdefault(site_of(name), len(numbers)) for name in names], np.int64)
    return list(numbers), of_host


def make_host_graph(csr: Csr, hosts: Hosts) -> HostGraph:
    """The graph of hosts: each pair of hosts once, with the number of its links. Memory beyond the result is bounded."""
    count = len(hosts.names)
    keys, weights = np.empty(0, np.int64), np.empty(0, np.int64)
    for first, last in split_rows(csr.indptr, _LINKS_A_PART):
        out = np.diff(csr.indptr[first : last + 1])
        sources = np.repeat(hosts.of_page[first:last], out)
        targets = hosts.of_page[csr.indices[csr.indptr[first] : csr.indptr[last]]]
        between = sources != targets
        found, counts = np.unique(_pack(sources[between], targets[between], count), return_counts=True)
        keys, weights = _add_counts(np.concatenate((keys, found)), np.concatenate((weights, counts)))
    pages = np.bincount(hosts.of_page, minlength=count).astype(np.int64)
    return HostGraph(hosts.names, _unpack(keys, count), weights, pages)


def split_rows(indptr: NDArray[np.int64], links: int) -> Iterator[tuple[int, int]]:
    """Bounds of successive rows that have at most so many links together, or are one row."""
    first, nodes = 0, len(indptr) - 1
    while first < nodes:
        last = int(np.searchsorted(indptr, indptr[first] + links, "right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def to_scipy(csr: Csr, weights: NDArray[Any] | None = None) -> Any:
    """The graph as a `scipy.sparse.csr_array`, with ones or the weights of links; scipy is an extra."""
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise UsageError("scipy is not installed: pip install 'rdfspider[scipy]'") from error
    values = np.ones(csr.links, np.int8) if weights is None else weights
    return csr_array((values, csr.indices, csr.indptr), shape=(csr.nodes, csr.nodes))


def _add_counts(keys: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys, ascending, with the sums of their counts."""
    if not len(keys):
        return keys, counts
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[starts], np.add.reduceat(counts, starts)


def _pack(sources: IntArray, targets: IntArray, nodes: int) -> NDArray[np.int64]:
    if nodes > _MAX_NODES:
        raise ValueError(f"{nodes} nodes are more than {_MAX_NODES}")
    keys = sources.astype(np.int64)
    keys <<= 31
    keys |= targets
    return keys


def _unpack(keys: NDArray[np.int64], nodes: int) -> Csr:
    """The graph whose links these are, in order."""
    sources = keys >> 31
    indptr = np.concatenate(([0], np.cumsum(np.bincount(sources, minlength=nodes), dtype=np.int64)))
    return Csr(indptr, (keys & (_MAX_NODES - 1)).astype(np.int32))
