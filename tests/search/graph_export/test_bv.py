from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies
from tests.index.graphs import graphs, load_graph, make_graph, make_random_graph
from tests.search.graph_export.bv_reader import read_graph, read_properties

from rdfspider.errors import UsageError
from rdfspider.index.graph.csr import Csr, transpose
from rdfspider.search.graph_export import bv
from rdfspider.search.graph_export.bv import write_bv

EACH_TIME_ANEW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def list_rows(csr: Csr) -> list[list[int]]:
    return [row.tolist() for row in csr.iterate_rows()]


@pytest.fixture(params=[1, 30, bv._CHUNK_LINKS], ids=["each-row-alone", "small-chunks", "usual-chunks"])
def chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bv, "_CHUNK_LINKS", request.param)


@EACH_TIME_ANEW
@given(csr=graphs(max_nodes=20))
def test_small_graphs_are_read_back(csr: Csr, tmp_path: Path, chunks: None) -> None:
    exported = write_bv(csr.iterate_rows(), tmp_path / "graph")
    assert list(read_graph(tmp_path, "graph")) == list_rows(csr)
    assert (exported.nodes, exported.links) == (csr.nodes, csr.links)


@strategies.composite
def similar_rows(draw: strategies.DrawFn) -> list[list[int]]:
    """Rows like those of real pages: each takes over parts of one of the rows before it, and has runs and single targets."""
    nodes = draw(strategies.integers(1, 40))
    rows: list[list[int]] = []
    for _ in range(nodes):
        row: set[int] = set()
        if rows:
            row |= set(draw(strategies.sampled_from(rows[-9:])))
        for _ in range(draw(strategies.integers(0, 3))):
            start, length = draw(strategies.integers(0, nodes - 1)), draw(strategies.integers(1, 9))
            run = set(range(start, min(start + length, nodes)))
            row = row - run if draw(strategies.booleans()) else row | run
        rows.append(sorted(row))
    return rows


@EACH_TIME_ANEW
@given(rows=similar_rows())
def test_rows_that_are_like_those_before_are_read_back(rows: list[list[int]], tmp_path: Path, chunks: None) -> None:
    write_bv((np.array(row, np.int32) for row in rows), tmp_path / "graph")
    assert list(read_graph(tmp_path, "graph")) == rows


def test_a_graph_with_hubs_is_read_back(tmp_path: Path) -> None:
    csr = make_random_graph(3000, 40_000, seed=4)
    write_bv(csr.iterate_rows(), tmp_path / "graph")
    assert list(read_graph(tmp_path, "graph")) == list_rows(csr)


@pytest.mark.parametrize("name", ["cnr-2000", "cnr-2000-t"])
def test_a_real_graph_becomes_the_files_that_webgraph_writes(name: str, real_graphs: Path, tmp_path: Path) -> None:
    published = real_graphs / "cnr-2000"
    csr = load_graph(published)
    if name.endswith("-t"):
        csr = transpose(csr)
    exported = write_bv(csr.iterate_rows(), tmp_path / name)
    for ending in ("graph", "offsets"):
        # They may have zeros at the end.
        theirs = (published / f"{name}.{ending}").read_bytes()
        ours = (tmp_path / f"{name}.{ending}").read_bytes()
        assert len(theirs) - len(ours) < 16
        assert ours == theirs.rstrip(b"\0").ljust(len(ours), b"\0")
    theirs_told = read_properties(published / f"{name}.properties")
    ours_told = read_properties(tmp_path / f"{name}.properties")
    assert {key: value for key, value in theirs_told.items() if key in ours_told} == ours_told
    assert f"{exported.graph_bits / exported.links:.3f}" == theirs_told["bitsperlink"]


def test_a_real_graph_is_read_back_arc_for_arc(real_graphs: Path, tmp_path: Path) -> None:
    csr = load_graph(real_graphs / "cnr-2000")
    write_bv(csr.iterate_rows(), tmp_path / "cnr")
    check_rows(read_graph(tmp_path, "cnr"), csr)


def test_the_reader_reads_what_webgraph_has_written(real_graphs: Path) -> None:
    csr = load_graph(real_graphs / "cnr-2000")
    check_rows(read_graph(real_graphs / "cnr-2000", "cnr-2000"), csr)


def check_rows(rows: Iterator[list[int]], csr: Csr) -> None:
    assert all(row == targets.tolist() for row, targets in zip(rows, csr.iterate_rows(), strict=True))


def test_an_empty_graph_is_one(tmp_path: Path) -> None:
    write_bv(iter(()), tmp_path / "graph")
    assert list(read_graph(tmp_path, "graph")) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.graph", "graph.offsets", "graph.properties"]


@pytest.mark.parametrize("row", [[1, 0], [0, 0], [-1], [5]])
def test_rows_that_are_none_leave_no_files(row: list[int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"row|link"):
        write_bv([np.array([0]), np.array(row)], tmp_path / "graph")
    assert list(tmp_path.iterdir()) == []


def test_files_appear_when_all_is_written(tmp_path: Path) -> None:
    (tmp_path / "graph.graph").write_text("before")

    def fail() -> Iterator[np.ndarray]:
        yield np.array([0])
        raise UsageError("enough")

    with pytest.raises(UsageError, match="enough"):
        write_bv(fail(), tmp_path / "graph")
    assert [path.name for path in tmp_path.iterdir()] == ["graph.graph"]
    assert (tmp_path / "graph.graph").read_text() == "before"


def test_progress_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bv, "_CHUNK_ROWS", 2)
    told: list[int] = []
    write_bv(make_graph(5, [(0, 1), (4, 2)]).iterate_rows(), tmp_path / "graph", told.append)
    assert told[-1] == 5
    assert told == sorted(told)
