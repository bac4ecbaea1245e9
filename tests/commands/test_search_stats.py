"""`rdfspider stats`: tables, JSON and VoID."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse
from tests.conftest import Run

from indexed import index_pages

PAGES = {
    "https://one.example/": {
        "@context": "https://schema.org",
        "@type": "Person",
        "name": "Ada",
        "email": "a@one.example",
    },
    "https://two.example/": {"@context": "https://schema.org", "@type": "Person", "name": "Bob"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_pages(tmp_path_factory.mktemp("stats") / "crawl", PAGES).folder


def test_tables(run: Run, folder: Path) -> None:
    code, out, err = run("stats", "--dir", folder)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == "pages 2 sites 2 quads 5 entities 2".split()
    assert ["schema:Person", "2", "2", "2"] in rows
    assert ["schema:email", "1", "1", "1"] in rows
    assert ["two.example", "2", "1", "1"] in rows


def test_the_top_says_how_many_there_are(run: Run, folder: Path) -> None:
    _, out, _ = run("stats", "--dir", folder, "--top", "1")
    assert "properties (1 of 3)" in out
    assert "schema:email" not in out


def test_json_and_turtle(run: Run, folder: Path) -> None:
    code, out, _ = run("stats", "--dir", folder, "--format", "json")
    assert code == 0
    found = json.loads(out)
    assert found["totals"]["pages"] == 2
    assert found["classes"] == [{"name": "http://schema.org/Person", "uses": 2, "pages": 2, "sites": 2}]
    code, out, _ = run("stats", "--dir", folder, "--format", "turtle")
    assert code == 0
    assert "void:classPartition" in out
    assert list(parse(out.encode(), RdfFormat.TURTLE))


def test_a_reader_that_leaves_ends_it(folder: Path) -> None:
    command = f"{sys.executable} -m rdfspider stats --dir {folder} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("141\n", "")


@pytest.mark.parametrize("mistake", [("--top", "0"), ("--top", "many"), ("--format", "xml")])
def test_mistakes_are_one_line(run: Run, folder: Path, mistake: tuple[str, str]) -> None:
    code, out, err = run("stats", "--dir", folder, *mistake)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert mistake[0] in err
