"""Links as text: rows of targets in id order enter, a line for each link leaves: `from<TAB>to`, ids, or URLs where given.

A graph of hosts is written as Common Crawl publishes its own.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rdfspider.index.graph.csr import HostGraph
from rdfspider.search.documents import open_document

_ROWS_A_CALL = 1000


@dataclass(frozen=True, slots=True)
class EdgeExport:
    """What has been written."""

    nodes: int
    links: int


def write_edges(
    rows: Iterable[NDArray[Any]],
    path: Path | None,
    urls: Sequence[str] | None = None,
    on_rows: Callable[[int], None] = lambda rows: None,
) -> EdgeExport:
    """Write all links, compressed as the name's suffix says; without a path, to stdout. `urls` may be anything that gives the
    URL of an id. `on_rows` is told how many rows are written."""
    nodes = links = 0
    with open_document(path) as stream:
        for row in rows:
            if len(row):
                source = str(nodes) if urls is None else urls[nodes]
                targets = map(str, row.tolist()) if urls is None else (urls[target] for target in row.tolist())
                stream.write("".join(f"{source}\t{target}\n" for target in targets).encode(errors="replace"))
                links += len(row)
            nodes += 1
            if nodes % _ROWS_A_CALL == 0:
                on_rows(nodes)
    on_rows(nodes)
    return EdgeExport(nodes, links)


def write_urls(urls: Iterable[str], path: Path | None) -> int:
    """Write the URLs in id order, a line each, and return their number: what ids in other files stand for."""
    count = 0
    with open_document(path) as stream:
        for url in urls:
            stream.write(f"{url}\n".encode(errors="replace"))
            count += 1
    return count


def write_host_graph(graph: HostGraph, vertices: Path, edges: Path) -> EdgeExport:
    """Write the hosts as `id<TAB>org.example.www<TAB>pages`, and their links as `id<TAB>id`, both compressed as their names say.
    Ids are given anew, in the order of the reversed names, on which readers of Common Crawl's graphs rely."""
    names = [reverse_host(name) for name in graph.names]
    order = sorted(range(len(names)), key=names.__getitem__)
    with open_document(edges) as edge_stream, open_document(vertices) as vertex_stream:
        for number, host in enumerate(order):
            vertex_stream.write(f"{number}\t{names[host]}\t{graph.pages[host]}\n".encode())
        numbers = np.empty(len(names), np.int64)
        numbers[order] = np.arange(len(names))
        for number, host in enumerate(order):
            targets = np.sort(numbers[graph.csr.list_out(host)]).tolist()
            edge_stream.write("".join(f"{number}\t{target}\n" for target in targets).encode())
    return EdgeExport(graph.csr.nodes, graph.csr.links)


def reverse_host(host: str) -> str:
    """The labels of a host name in reverse; an address stays as it is."""
    if host.startswith("["):
        return host
    try:
        ip_address(host)
    except ValueError:
        return ".".join(reversed(host.rstrip(".").split(".")))
    return host
