"""`rdfspider search`: what it prints, and what it says of mistakes."""

import json
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from tests.conftest import Run
from tests.search.documents import SCHEMA, Thing, write_index

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.errors import UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger.writer import Ledger


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl that has an index."""
    folder = tmp_path / "mycrawl"
    Crawl.create(folder, ["https://example.org/"])
    things = [
        Thing("Green tea", {"brand": "Leaf and Sons of Assam"}, types=[SCHEMA + "Product"], sources=3),
        Thing("Black tea", {"brand": "Leaf"}, types=[SCHEMA + "Product"], site="shop.test"),
        Thing("Tea for two", {"author": "V. Youmans"}, types=[SCHEMA + "MusicComposition"]),
        Thing("A page", text="Tea is drunk \x1b[31m hot"),
    ]
    return write_index(folder, things)


def test_results_are_listed_with_what_is_known_of_them(run: Run, folder: Path) -> None:
    code, out, err = run("search", "green", "tea", "--dir", folder)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:4] == [
        "1. Green tea",
        "   schema:Product · example.org · 3 sources · 2024-05-01",
        "   https://example.org/Green-tea",
        "   Leaf and Sons of Assam",
    ]
    assert lines[-1].startswith("4 results, 1 with all words in ")


def test_json_is_one_object(run: Run, folder: Path) -> None:
    code, out, _ = run("search", "tea", "--facets", "--json", "--limit", 2, "--page", 2, "--dir", folder)
    assert code == 0
    assert out.count("\n") == 1
    found = json.loads(out)
    assert (found["total"], found["offset"], len(found["hits"])) == (4, 2, 2)
    assert {facet["field"] for facet in found["facets"]} == {*"type ontology property site lang syntax year".split()}


@pytest.mark.parametrize(
    ("arguments", "labels"),
    [
        (["tea", "--type", "Product"], {"Green tea", "Black tea"}),
        (["--type", "Product", "--type", "schema:MusicComposition"], {"Green tea", "Black tea", "Tea for two"}),
        (["--ontology", "schema", "--site", "shop.test"], {"Black tea"}),
        (["--lang", "en", "--syntax", "jsonld", "two"], {"Tea for two"}),
        (["--property", "author", "--kind", "entity"], {"Tea for two"}),
        (["--kind", "page", "--year", "2024", "--year", "2023"], {"A page"}),
        (["--", "tea", "-green", "-type:musiccomposition"], {"Black tea", "A page"}),
        (["author:youmans"], {"Tea for two"}),
        (['"tea for"'], {"Tea for two"}),
    ],
)
def test_flags_and_words_sift(run: Run, folder: Path, arguments: list[str], labels: set[str]) -> None:
    code, out, _ = run("search", "--dir", folder, "--json", *arguments)
    assert code == 0
    assert {hit["label"] for hit in json.loads(out)["hits"]} == labels


def test_facets_notes_and_suggestions_are_said(run: Run, folder: Path) -> None:
    _, out, _ = run("search", "tea", "--facets", "--limit", 1, "--dir", folder)
    assert "type: schema:Product 2, schema:MusicComposition 1\n" in out
    assert "1 to 1 of 4 results in " in out
    code, out, _ = run("search", '"gren', "--exact", "--dir", folder)
    assert code == 0
    nothing, note, suggestion = out.splitlines()
    assert nothing.startswith("nothing found in ")
    assert note == "searched as plain words: a quotation mark has no partner"
    assert suggestion == 'did you mean: "green'


def test_unknown_words_are_corrected_and_that_is_said(run: Run, folder: Path) -> None:
    _, out, _ = run("search", "gren", "tea", "--dir", folder)
    assert out.startswith("showing results for green tea (search for gren tea with --exact)\n\n1. Green tea\n")
    _, out, _ = run("search", "gren", "tea", "--json", "--dir", folder)
    assert [json.loads(out)[name] for name in ("query", "corrected", "with_some_words")] == ["gren tea", "green tea", 3]
    _, out, _ = run("search", "gren", "--exact", "--dir", folder)
    assert out.startswith("nothing found in ")


def test_a_score_is_explained_in_plain_words(run: Run, folder: Path) -> None:
    _, out, _ = run("search", "green", "tea", "--explain", "--limit", 1, "--dir", folder)
    parts = [line.split(maxsplit=2)[-1] for line in out.split("score ")[1].split("\n\n")[0].splitlines()[2:]]
    assert parts == [
        "a thing that pages name",
        "the label is the query, in this order",
        "3 pages describe it, 0 pages link to it",
        "it has all words of the query",
    ]


def test_no_control_characters_of_the_web_reach_a_terminal(run: Run, folder: Path) -> None:
    _, out, _ = run("search", "drunk", "--dir", folder)
    assert "Tea is drunk  [31m hot" in out
    assert "\x1b" not in out


def test_a_terminal_is_shown_bold_words(folder: Path) -> None:
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "rdfspider", "search", "green", "--dir", folder]
    subprocess.run(command, stdout=end, check=True, timeout=60, env=os.environ | {"TERM": "xterm"})
    os.close(end)
    assert b"1. \x1b[1mGreen\x1b[0m tea" in os.read(terminal, 65_536)
    os.close(terminal)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["tea", "--limit", "0"], "1 to 1,000 results at once"),
        (["tea", "--page", "100000"], "only the first 10,000 results"),
        (["tea", "--page", "0"], "page"),
        (["--kind", "thing"], "--kind thing: not known; it may be one of page, entity"),
        (["--kind", "entty"], "did you mean entity?"),
        (["tea", "--kind", "page", "--kind", "thing"], "--kind thing: not known"),
        (["--year", "abc"], "--year abc: no year"),
        (["--lang", "english"], "--lang english: no language tag"),
        (["--syntax", "jsn"], "did you mean jsonld?"),
        (["tea", "-green"], "put -- before words that begin with a minus"),
    ],
)
def test_mistakes_get_one_line(run: Run, folder: Path, arguments: list[str], complaint: str) -> None:
    code, out, err = run("search", "--dir", folder, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of one page, with all of its indexes."""
    page = {"@context": "https://schema.org", "@type": "Product", "name": "Tea"}
    return index_pages(tmp_path_factory.mktemp("names") / "c", {"https://tea.example/": page}).folder


@pytest.mark.parametrize(
    ("filters", "complaint"),
    [
        (["--type", "Prodct"], "no page uses a class that is called 'Prodct': did you mean schema:Product?"),
        (["--type", "Recpe"], "no page uses a class that is called 'Recpe': did you mean Recipe?"),
        (["--type", "Gizmo"], "no page uses a class that is called 'Gizmo': `rdfspider stats` lists what they use"),
        (["--property", "isbnn"], "did you mean isbn?"),
        (["--ontology", "skoss"], "did you mean skos?"),
        (["--site", "tae.example"], "no page of tae.example is indexed: did you mean tea.example?"),
    ],
)
def test_names_that_nobody_uses_are_said(run: Run, indexed: Path, filters: list[str], complaint: str) -> None:
    code, out, err = run("search", "--dir", indexed, *filters)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


@pytest.mark.parametrize(
    "filters", [["--type", "volcano"], ["--property", "isbn"], ["--ontology", "skos"], ["--lang", "xx"]]
)
def test_what_vocabularies_know_is_no_mistake(run: Run, indexed: Path, filters: list[str]) -> None:
    code, out, _ = run("search", "--dir", indexed, *filters)
    assert code == 0
    assert f"nothing here has the {filters[0][2:]} {filters[1]!r}" in out


def test_an_argument_that_is_not_text_is_searched_for(folder: Path) -> None:
    command = [sys.executable, "-m", "rdfspider", "search", b"\xff tea", "--json", "--dir", folder]
    found = json.loads(subprocess.check_output(command, timeout=60))
    assert (found["query"], found["total"]) == ("? tea", 4)


def test_no_index_and_one_of_another_version_are_said(run: Run, folder: Path) -> None:
    version = IndexPaths(folder).version
    version.write_text("99\n")
    code, _, err = run("search", "tea", "--dir", folder)
    assert code == 2
    assert "index --rebuild" in err
    version.unlink()
    code, _, err = run("search", "tea", "--dir", folder)
    assert code == 2
    assert "has no index yet" in err
    assert "wait some seconds where a crawl has just begun" in err


def test_threads_ask_the_same_crawl(folder: Path) -> None:
    # Each opens the index, reads its classes and counts facets at the same moment.
    Ledger(IndexPaths(folder).ledger).close()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        ask = partial(Crawl.open(folder).search, type="Product", limit=1, facets=True)
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(ask, [f"tea -nothing{number % 90}" for number in range(200)]))
        assert {results.total for results in found} == {2}
    finally:
        sys.setswitchinterval(before)


def test_python_asks_the_same(folder: Path) -> None:
    crawl = Crawl.open(folder)
    found = crawl.search("tea", type="Product", limit=1, facets=True)
    assert [hit.label for hit in found] == ["Green tea"]
    assert found.total == 2
    assert "<mark>tea</mark>" in found._repr_html_()
    write_index(folder, [Thing("White tea", types=[SCHEMA + "Product"])])
    assert crawl.search("tea", type="Product").total == 3
    with pytest.raises(UsageError):
        crawl.search("tea", limit=0)
