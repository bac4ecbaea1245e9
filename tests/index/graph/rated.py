"""Graphs for tests of ranks: outcomes enter, a rated graph leaves."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rdfspider.archive.outcomes import Outcome
from rdfspider.index.graph.fame import FameReader
from rdfspider.index.graph.rating import rate_graph
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import VERSION, IndexPaths


def make_paths(folder: Path) -> IndexPaths:
    paths = IndexPaths(folder)
    paths.index.mkdir(parents=True, exist_ok=True)
    paths.version.write_text(f"{VERSION}\n")
    return paths


def add_pages(paths: IndexPaths, outcomes: Sequence[Outcome]) -> None:
    """Add a generation, and let generations be merged if there are many."""
    with closing(GraphView(paths)) as view:
        cursors = {"log": view.load_cursors().get("log", 0) + len(outcomes)}
        view.apply(outcomes)
        view.commit(cursors)
        while view.has_deferred:
            view.commit(cursors)


def rate(folder: Path, outcomes: Sequence[Outcome]) -> FameReader:
    paths = make_paths(folder)
    add_pages(paths, outcomes)
    assert rate_graph(paths)
    return FameReader(paths.graph)


def list_ranks(reader: FameReader) -> tuple[object, ...]:
    """All that a file of ranks has, but for its date and the mark of its state."""
    file = reader._load()
    assert file is not None
    anchors = file.anchors
    tables = (file._hashes, file._steps, file._higher, file._host_hashes, file._host_scores, file._host_places)
    tables = (*tables, anchors._terms._joined, anchors._urls._joined, anchors._ends, anchors._pages, anchors._scores)
    lists = (list(reader.list_top_pages()), list(reader.list_top_hosts()), reader.list_farms(), reader.links)
    return (*(table.tobytes() for table in tables), *lists)
