"""`rdfspider links`, `path` and `export --graph`: what they print and write, and what they say of mistakes."""

import gzip
import json
from pathlib import Path

import networkx
import numpy as np
import pytest
from pyarrow import parquet
from tests.conftest import Run
from tests.search.graph_export.bv_reader import read_graph
from tests.search.test_links import CUP, FAR, HOME, PAGES, TEA

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.errors import UsageError
from rdfspider.search import link_graph
from rdfspider.search.link_graph import GraphFormat


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_pages(tmp_path_factory.mktemp("links") / "mycrawl", PAGES).folder


def test_links_in_and_out(run: Run, folder: Path) -> None:
    code, out, err = run("links", TEA, "--dir", folder)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "2 pages link to https://a.test/tea"
    assert lines[2].split() == ["https://a.test/", "Home", "all", "about", "tea", "link"]
    assert "https://a.test/tea links to 3 pages" in lines
    assert "links to" not in run("links", TEA, "--in", "--dir", folder)[1]
    assert "link to" not in run("links", TEA, "--out", "--dir", folder)[1]


def test_links_that_are_not_followed_are_marked(run: Run, folder: Path) -> None:
    hidden = run("links", HOME, "--out", "--dir", folder)[1]
    assert CUP not in hidden and "1 not followed left out" in hidden
    shown = run("links", HOME, "--out", "--nofollow", "--dir", folder)[1]
    assert CUP in shown and "link nofollow sponsored" in shown


def test_words(run: Run, folder: Path) -> None:
    out = run("links", TEA, "--anchors", "--dir", folder)[1]
    assert [line.split() for line in out.splitlines() if line.startswith("tea ")] == [["tea", "1"]]
    assert "what its own site calls it" in out
    assert "no other site has words for it" in run("links", HOME, "--anchors", "--dir", folder)[1]


def test_json(run: Run, folder: Path) -> None:
    code, out, _ = run("links", TEA, "--anchors", "--limit", 1, "--page", 2, "--json", "--dir", folder)
    assert (code, out.count("\n")) == (0, 1)
    found = json.loads(out)
    assert found["url"] == TEA
    assert (found["in"]["total"], found["in"]["offset"]) == (2, 1)
    assert [link["url"] for link in found["in"]["links"]] == [CUP]
    assert found["anchors"] == {
        "others": [{"text": "tea", "sites": 1}],
        "own": [{"text": "all about tea", "links": 1}],
    }
    path = json.loads(run("path", HOME, FAR, "--json", "--dir", folder)[1])
    assert [step["url"] for step in path["links"]] == [CUP, FAR]


def test_paths(run: Run, folder: Path) -> None:
    code, out, _ = run("path", HOME, FAR, "--dir", folder)
    assert code == 0
    assert out.splitlines()[:2] == [f"2 steps from {HOME} to {FAR}", HOME]
    assert run("path", FAR, HOME, "--dir", folder)[:2] == (1, f"no path leads from {FAR} to {HOME}\n")
    code, out, _ = run("path", HOME, FAR, "--max-steps", 1, "--dir", folder)
    assert (code, out.count("\n")) == (1, 1)
    assert "within the limit" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["links", "https://no.test/"],
            "no indexed page links to 'https://no.test/', and it has no links: find pages with",
        ),
        (["path", HOME, "https://no.test/"], "no indexed page links to 'https://no.test/'"),
        (["path", HOME, FAR, "--max-steps", 0], "a path has 1 to 100 steps, not 0"),
        (["links", HOME, "--limit", 0], "1 to 10,000 links are given at once, not 0"),
        (["links", HOME, "--page", 5000], "only the first 10,000 links can be listed"),
        (["export", "--graph", "bv"], "bv is several files: name them with --output NAME"),
        (["export", "--graph", "bv", "--type", "Person"], "--graph bv writes the whole graph of links"),
        (["export", "--graph", "bv", "--graph", "edges"], "--graph bv writes the whole graph of links"),
        (["export", "--graph", "parquet", "--output", "links.parquet.gz"], "parquet is compressed inside"),
        (["export", "--graph", "hosts", "--output", "."], "it is a folder"),
    ],
)
def test_mistakes_are_told_in_one_line(run: Run, folder: Path, arguments: list[object], complaint: str) -> None:
    code, out, err = run(*arguments, "--dir", folder)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


def test_exports_have_every_link(run: Run, folder: Path, tmp_path: Path) -> None:
    graph = Crawl.open(folder).graph()
    pairs = sorted((row.source, row.target) for row in graph.list_links())
    assert len(pairs) == graph.links == 7

    def export(name: str, output: str) -> str:
        code, out, err = run("export", "--graph", name, "--output", tmp_path / output, "--dir", folder)
        assert (code, out) == (0, "")
        return err

    assert "7 links of 5 pages" in export("edges", "edges.tsv.gz")
    lines = gzip.decompress((tmp_path / "edges.tsv.gz").read_bytes()).decode().splitlines()
    assert sorted(tuple(line.split("\t")) for line in lines) == pairs
    export("parquet", "links.parquet")
    rows = parquet.read_table(tmp_path / "links.parquet").to_pylist()
    assert sorted((row["source"], row["target"]) for row in rows) == pairs
    assert {row["kind"] for row in rows} == {"link", "link nofollow sponsored"}
    export("bv", "web")
    urls = (tmp_path / "web.urls").read_text().splitlines()
    read = read_graph(tmp_path, "web")
    assert sorted((urls[source], urls[target]) for source, row in enumerate(read) for target in row) == pairs
    assert "of 4 hosts" in export("hosts", "web")
    vertices = gzip.decompress((tmp_path / "web-vertices.txt.gz").read_bytes()).decode().splitlines()
    assert vertices == ["0\ttest.a\t2", "1\ttest.b\t1", "2\ttest.c\t1", "3\ttest.never\t1"]
    code, out, _ = run("export", "--graph", "edges", "--dir", folder)
    assert (code, sorted(out.splitlines())) == (0, sorted("\t".join(pair) for pair in pairs))


def test_a_pattern_is_still_one(run: Run, folder: Path) -> None:
    assert run("export", "--graph", "https://a.test/*", "--dir", folder)[0] == 0


def test_graphs_of_other_libraries(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Crawl.open(folder).graph()
    assert graph.urls == [HOME, TEA, CUP, FAR, "https://never.test/fetched"]
    matrix = graph.to_scipy()
    assert (matrix.shape, matrix.nnz) == ((5, 5), 7)
    assert matrix[graph.find(HOME), graph.find(CUP)] == 1
    assert graph.to_scipy(nofollow=False).nnz == 6
    assert networkx.shortest_path(graph.to_networkx(), HOME, FAR) == [HOME, CUP, FAR]
    assert networkx.shortest_path(graph.to_networkx(nofollow=False), HOME, FAR) == [HOME, TEA, CUP, FAR]
    hosts = graph.hosts()
    assert hosts.names == ["a.test", "b.test", "c.test", "never.test"]
    assert np.array_equal(hosts.weights, [2, 1, 1, 1])
    assert repr(graph) == "LinkGraph(5 pages, 7 links)" and "<td>7</td>" in graph._repr_html_()
    with pytest.raises(UsageError, match="no format 'png': there are bv, edges, parquet, hosts"):
        graph.export("x", "png")
    monkeypatch.setattr(link_graph, "MAX_NETWORKX_LINKS", 6)
    with pytest.raises(UsageError, match=r"are too many for networkx.*use to_scipy"):
        graph.to_networkx()


def test_links_from_python(folder: Path) -> None:
    crawl = Crawl.open(folder)
    assert [link.url for link in crawl.links(TEA)] == [HOME, CUP]
    assert "<td>all about tea</td>" in crawl.links(TEA)._repr_html_()
    assert len(crawl.links(TEA, "out", limit=2)) == 2
    assert len(crawl.path(HOME, FAR).links) == 2
    with pytest.raises(UsageError, match="links go in or out"):
        crawl.links(TEA, "up")
    assert set(GraphFormat) == {"bv", "edges", "parquet", "hosts"}
