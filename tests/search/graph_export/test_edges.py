import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from tests.index.graphs import make_graph, make_random_graph

from rdfspider.errors import RdfspiderError, UsageError
from rdfspider.index.graph.csr import find_hosts, make_host_graph
from rdfspider.search.graph_export.edges import EdgeExport, reverse_host, write_edges, write_host_graph, write_urls

URLS = [
    "https://a.example/",
    "https://a.example/x",
    "https://a-b.example/",
    "https://www.a.example/",
    "http://192.0.2.7/",
    "http://[2001:db8::1]/",
]
GRAPH = make_graph(6, [(0, 1), (0, 2), (1, 2), (2, 3), (3, 0), (4, 5), (5, 0)])


def read(path: Path) -> str:
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes()).decode()
    if path.suffix == ".zst":
        with pyarrow.CompressedInputStream(str(path), "zstd") as stream:
            return stream.read().decode()
    return path.read_text()


@pytest.mark.parametrize("name", ["links.tsv", "links.tsv.gz", "links.tsv.zst"])
def test_links_are_lines_of_ids_compressed_as_the_name_says(name: str, tmp_path: Path) -> None:
    assert write_edges(GRAPH.iterate_rows(), tmp_path / name) == EdgeExport(6, 7)
    assert read(tmp_path / name) == "0\t1\n0\t2\n1\t2\n2\t3\n3\t0\n4\t5\n5\t0\n"


def test_a_name_that_promises_another_compression_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"zip cannot be written; compress with one of \.gz"):
        write_edges(GRAPH.iterate_rows(), tmp_path / "links.zip")
    assert list(tmp_path.iterdir()) == []


def test_links_are_lines_of_urls_where_these_are_given(tmp_path: Path) -> None:
    write_edges(GRAPH.iterate_rows(), tmp_path / "links.tsv", URLS)
    lines = (tmp_path / "links.tsv").read_text().splitlines()
    assert lines[:2] == ["https://a.example/\thttps://a.example/x", "https://a.example/\thttps://a-b.example/"]
    assert len(lines) == 7


def test_links_go_to_stdout_without_a_path(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_edges(make_graph(2, [(1, 0)]).iterate_rows(), None)
    assert capfdbinary.readouterr().out == b"1\t0\n"


def test_links_of_many_rows_are_all_there_and_progress_is_told(tmp_path: Path) -> None:
    csr = make_random_graph(2500, 5000, seed=1)
    told: list[int] = []
    write_edges(csr.iterate_rows(), tmp_path / "links", on_rows=told.append)
    pairs = np.loadtxt(tmp_path / "links", dtype=np.int64)
    assert pairs[:, 0].tolist() == csr.list_sources().tolist()
    assert pairs[:, 1].tolist() == csr.indices.tolist()
    assert told == [1000, 2000, 2500]


def test_urls_are_lines(tmp_path: Path) -> None:
    assert write_urls(iter(URLS), tmp_path / "urls.gz") == 6
    assert read(tmp_path / "urls.gz").splitlines() == URLS


def test_hosts_are_vertices_and_edges_in_the_order_of_their_reversed_names(tmp_path: Path) -> None:
    graph = make_host_graph(GRAPH, find_hosts(URLS))
    written = write_host_graph(graph, tmp_path / "vertices.txt.gz", tmp_path / "edges.txt")
    assert written == EdgeExport(5, 5)
    # As texts, `-` is before `.`.
    assert read(tmp_path / "vertices.txt.gz") == (
        "0\t192.0.2.7\t1\n1\t[2001:db8::1]\t1\n2\texample.a\t2\n3\texample.a-b\t1\n4\texample.a.www\t1\n"
    )
    assert read(tmp_path / "edges.txt") == "0\t1\n1\t2\n2\t3\n3\t4\n4\t2\n"


def test_names_are_reversed_but_addresses_are_not() -> None:
    assert reverse_host("www.example.org") == "org.example.www"
    assert reverse_host("localhost") == "localhost"
    assert reverse_host("example.org.") == "org.example"
    assert reverse_host("127.0.0.1") == "127.0.0.1"
    assert reverse_host("[::1]") == "[::1]"


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    def fail() -> Iterator[np.ndarray]:
        yield np.array([0])
        raise UsageError("enough")

    with pytest.raises(UsageError, match="enough"):
        write_edges(fail(), tmp_path / "links.gz")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_clear_line() -> None:
    with pytest.raises(RdfspiderError, match="/dev/full could not be written: No space left on device"):
        write_edges(make_random_graph(100, 5000, seed=1).iterate_rows(), Path("/dev/full"))
