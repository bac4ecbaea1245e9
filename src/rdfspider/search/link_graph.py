"""`LinkGraph`, the whole graph of links between pages: one state of the index enters; arrays, graphs of other libraries, hosts
and files leave."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from rdfspider.batch.output import COMPRESSED
from rdfspider.drawing import draw_table
from rdfspider.errors import UsageError
from rdfspider.index.graph.csr import Csr, HostGraph, to_scipy
from rdfspider.index.graph.kinds import UNFOLLOWED
from rdfspider.index.graph.reader import GraphReader
from rdfspider.search.graph_export.bv import write_bv
from rdfspider.search.graph_export.edges import write_edges, write_host_graph, write_urls
from rdfspider.search.graph_export.link_tables import LinkRow, write_link_table
from rdfspider.search.links import name_kinds

MAX_NETWORKX_LINKS = 1_000_000
"""networkx takes about half a kilobyte a link."""


class GraphFormat(StrEnum):
    """The formats in which the graph is exported (docs/graph.md)."""

    BV = "bv"
    """WebGraph's: NAME.graph, NAME.offsets and NAME.properties, with the URLs in NAME.urls."""
    EDGES = "edges"
    """A line for each link: the URLs of its source and target."""
    PARQUET = "parquet"
    """A table of links with their kinds and words."""
    HOSTS = "hosts"
    """The graph of hosts, as Common Crawl has it: NAME-vertices.txt.gz and NAME-edges.txt.gz."""


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """What has been written."""

    nodes: int
    """Pages, or hosts."""
    links: int
    files: tuple[Path, ...]
    """Empty for stdout."""


class LinkGraph:
    """The graph of all pages, as of one state of the index: those with links, and those to which links lead. Pages have ids from
    0, in the order of hosts and paths."""

    def __init__(self, reader: GraphReader) -> None:
        """`reader` must stay at its state."""
        self._reader = reader

    def __repr__(self) -> str:
        return f"LinkGraph({self.pages:,} pages, {self.links:,} links)"

    def _repr_html_(self) -> str:
        return draw_table(("pages", "links"), [(f"{self.pages:,}", f"{self.links:,}")])

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return self._reader.count_pages()

    @property
    def links(self) -> int:
        """How many links there are."""
        return self._reader.count_links()

    @cached_property
    def urls(self) -> list[str]:
        """The URLs of all pages, by id; they stay in memory."""
        return list(self._reader.list_urls())

    def find(self, url: str) -> int | None:
        """The id of a page; None if it is not in the graph."""
        return self._reader.find(url)

    def to_csr(self, *, nofollow: bool = True) -> Csr:
        """The graph as arrays of numpy (compressed sparse rows); without `nofollow` only links that are followed."""
        return self._reader.load_csr(unwanted=None if nofollow else UNFOLLOWED)

    def to_scipy(self, *, nofollow: bool = True) -> Any:
        """The graph as a `scipy.sparse.csr_array` with a one for each link; needs `rdfspider[scipy]`."""
        return to_scipy(self.to_csr(nofollow=nofollow))

    def to_networkx(self, *, nofollow: bool = True) -> Any:
        """The graph as a `networkx.DiGraph` of URLs; needs `rdfspider[networkx]`. UsageError if it is too large for that."""
        try:
            import networkx
        except ImportError as error:
            raise UsageError("networkx is not installed: pip install 'rdfspider[networkx]'") from error
        if max(self.links, self.pages) > MAX_NETWORKX_LINKS:
            raise UsageError(
                f"{self.links:,} links between {self.pages:,} pages are too many for networkx, which takes up to "
                f"{MAX_NETWORKX_LINKS:,}: use to_scipy()"
            )
        csr, urls = self.to_csr(nofollow=nofollow), self.urls
        graph = networkx.DiGraph()
        graph.add_nodes_from(urls)
        pairs = zip(csr.list_sources().tolist(), csr.indices.tolist(), strict=True)
        graph.add_edges_from((urls[source], urls[target]) for source, target in pairs)
        return graph

    def hosts(self, *, nofollow: bool = True) -> HostGraph:
        """The graph of hosts: which host links to which, by how many links of its pages; without those within a host."""
        return self._reader.load_host_graph(unwanted=None if nofollow else UNFOLLOWED)

    def list_links(self) -> Iterator[LinkRow]:
        """All links with their kinds and words, page after page; what is in memory is bounded."""
        for url in self._reader.list_urls():
            for link in self._reader.read_links(url):
                yield LinkRow(url, link.url, " ".join(name_kinds(link.kind)), link.anchor or None)

    def export(self, output: str | Path | None, format: str) -> ExportedGraph:
        """Write the graph to a file, or to files whose names begin so; None is stdout, for edges and parquet."""
        if format not in list(GraphFormat):
            raise UsageError(f"the graph has no format {format!r:.40}: there are {', '.join(GraphFormat)}")
        path = None if output is None else Path(output)
        if format == GraphFormat.EDGES:
            edges = write_edges(self.to_csr().iterate_rows(), path, self.urls)
            return ExportedGraph(edges.nodes, edges.links, (path,) if path else ())
        if format == GraphFormat.PARQUET:
            if path is not None and path.suffix.lower() in COMPRESSED:
                raise UsageError(f"{path}: parquet is compressed inside; leave {path.suffix} out")
            links = write_link_table(self.list_links(), path)
            return ExportedGraph(self.pages, links, (path,) if path else ())
        if path is None:
            raise UsageError(f"{format} is several files: name them with --output NAME")
        if path.is_dir() or not path.name:
            raise UsageError(f"{path}: it is a folder; give the beginning of the names of files")
        return self._export_hosts(path) if format == GraphFormat.HOSTS else self._export_bv(path)

    def _export_bv(self, path: Path) -> ExportedGraph:
        base = path.with_suffix("") if path.suffix == ".graph" else path
        files = tuple(base.with_name(f"{base.name}.{ending}") for ending in ("graph", "offsets", "properties", "urls"))
        # What comes last says that the rest is complete.
        write_urls(self._reader.list_urls(), files[-1])
        written = write_bv(self.to_csr().iterate_rows(), base)
        return ExportedGraph(written.nodes, written.links, files)

    def _export_hosts(self, path: Path) -> ExportedGraph:
        vertices, edges = (path.with_name(f"{path.name}-{name}.txt.gz") for name in ("vertices", "edges"))
        written = write_host_graph(self.hosts(), vertices, edges)
        return ExportedGraph(written.nodes, written.links, (vertices, edges))
