"""`rdfspider query` and `Crawl.query` over pages that are really extracted and indexed, and what they say of mistakes."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.conftest import Run

from index.pages import make_outcome, person
from rdfspider import Crawl
from rdfspider.errors import UsageError
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.quads.view import QuadView
from rdfspider.index.text.view import TextView
from rdfspider.search.rows import Rows, Statements

NAMES = "SELECT ?name { ?who schema:name ?name } ORDER BY ?name"
FOREVER = "SELECT (COUNT(*) AS ?n) {" + " ".join(f"?s{n} ?p{n} ?o{n} ." for n in range(20)) + "}"
BOOK = """<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Book", "@id": "https://books.example/moby",
"name": "Moby Dick", "author": {"@type": "Person", "name": "Herman Melville", "url": "https://people.example/melville"}}</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawls") / "mycrawl"
    Crawl.create(folder, ["https://people.example/"])
    paths = IndexPaths(folder)
    paths.index.mkdir()
    paths.version.write_text(f"{VERSION}\n")
    outcomes = [
        make_outcome("https://people.example/ada", person("Ada \x1b[31mLovelace")),
        make_outcome("https://people.example/grace", person("Grace Hopper")),
        make_outcome("https://books.example/", BOOK),
    ]
    for view in (QuadView(paths), TextView(paths)):
        view.apply(outcomes)
        view.commit({"log": 1})
        view.close()
    return folder


def test_csv_is_printed_where_there_is_no_terminal(run: Run, folder: Path) -> None:
    code, out, err = run("query", NAMES, "--dir", folder)
    assert (code, err) == (0, "")
    assert out.split("\r\n")[0] == "name"
    assert "Grace Hopper" in out


@pytest.mark.parametrize(
    ("file_format", "start"),
    [("json", '{"head":'), ("xml", "<?xml"), ("csv", "name\r\n"), ("tsv", "?name\n"), ("table", "name\n")],
)
def test_formats_of_rows(run: Run, folder: Path, file_format: str, start: str) -> None:
    code, out, err = run("query", NAMES, "--dir", folder, "--format", file_format)
    assert (code, err) == (0, "")
    assert out.startswith(start)
    assert out.endswith("\n")


def test_triples_are_turtle_or_ntriples(run: Run, folder: Path) -> None:
    query = "CONSTRUCT { ?s schema:name ?o } { ?s schema:name ?o FILTER(?o = 'Moby Dick') }"
    assert 'schema:name "Moby Dick"' in run("query", query, "--dir", folder)[1]
    code, out, _ = run("query", query, "--dir", folder, "--format", "ntriples")
    assert (code, out) == (0, '<https://books.example/moby> <http://schema.org/name> "Moby Dick" .\n')


def test_a_truth_value_is_a_word(run: Run, folder: Path) -> None:
    assert run("query", "ASK { ?s schema:name 'Moby Dick' }", "--dir", folder)[:2] == (0, "true\n")
    assert run("query", "ASK { ?s schema:name 'Moby' }", "--dir", folder, "--format", "table")[:2] == (0, "false\n")


def test_a_terminal_gets_a_table_that_no_page_can_write_on(folder: Path) -> None:
    main, terminal = pty.openpty()
    query = "SELECT ?name ?type { ?who schema:name ?name ; a ?type } ORDER BY ?name"
    done = subprocess.run(
        [sys.executable, "-m", "rdfspider", "query", query, "--dir", folder],
        stdout=terminal,
        stderr=subprocess.PIPE,
        env=os.environ | {"COLUMNS": "34"},
        timeout=60,
        check=False,
    )
    os.close(terminal)
    shown = os.read(main, 10_000).decode().replace("\r\n", "\n")
    os.close(main)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = shown.splitlines()
    assert lines[0].split() == ["name", "type"]
    assert any("Moby Dick" in line and line.endswith("schema:Book") for line in lines)
    assert "\x1b" not in shown
    assert max(map(len, lines)) <= 34


def test_more_rows_than_allowed_are_told_of(run: Run, folder: Path) -> None:
    code, out, err = run("query", NAMES, "--dir", folder, "--rows", "2", "--format", "json")
    assert code == 0
    assert len(json.loads(out)["results"]["bindings"]) == 2
    assert err == "rdfspider: there is more than is printed here: --rows 2 was reached, or the limit of bytes\n"


def test_a_query_comes_from_a_file_or_stdin(run: Run, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "names.rq"
    file.write_text("ASK { ?s schema:name 'Moby Dick' }")
    assert run("query", "--file", file, "--dir", folder)[:2] == (0, "true\n")
    done = subprocess.run(
        [sys.executable, "-m", "rdfspider", "query", "--file", "-", "--dir", folder],
        input=file.read_bytes(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"true\n")


def test_mistakes_are_told_in_a_line(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xff")
    for arguments, code, complaint in (
        (["SELECT * { ?s ?p }"], 2, "not valid SPARQL: line 1, column 19"),
        (["DROP ALL"], 2, "DROP would change the data"),
        (["SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }"], 2, "not allowed"),
        ([], 2, "give either a query or --file FILE"),
        (["ASK {}", "--file", "x"], 2, "give either a query or --file FILE"),
        (["--file", str(tmp_path / "none")], 2, "No such file"),
        (["--file", str(tmp_path / "latin")], 2, "is not text in UTF-8"),
        (["ASK {}", "--format", "pdf"], 2, "there is no format 'pdf': choose table, json"),
        (["ASK {}", "--format", "turtle"], 2, "choose json, xml, csv, tsv"),
        (["SELECT * {" + "{" * 20_000 + "}" * 20_000 + "}"], 1, "nested too deep"),
        ([FOREVER, "--timeout", "0.3"], 1, "ended after 0.3 s"),
    ):
        found, out, err = run("query", *arguments, "--dir", folder)
        assert (found, out) == (code, ""), err
        assert complaint in err
        assert err.count("\n") == 1
    code, _, err = run("query", "ASK {}", "--dir", tmp_path / "nowhere")
    assert (code, err) == (2, f"rdfspider: {tmp_path / 'nowhere'}: there is no such folder\n")


def test_a_crawl_without_an_index_says_what_to_do(run: Run, tmp_path: Path) -> None:
    Crawl.create(tmp_path / "new", ["https://people.example/"])
    code, _, err = run("query", "ASK {}", "--dir", tmp_path / "new")
    assert code == 2
    assert "has no index yet: make it with `rdfspider index" in err


def test_python_asks_the_same(folder: Path) -> None:
    crawl = Crawl.open(folder)
    rows = crawl.query(NAMES)
    assert isinstance(rows, Rows)
    assert "Moby Dick" in rows.to_pandas()["name"].tolist()
    assert crawl.query("ASK { ?s schema:name 'Moby Dick' }") is True
    assert isinstance(crawl.query("DESCRIBE <https://books.example/moby>"), Statements)
    rows = crawl.query(NAMES, limit=1)
    assert isinstance(rows, Rows)
    assert (len(rows), rows.is_truncated) == (1, True)
    with pytest.raises(UsageError, match="not valid SPARQL"):
        crawl.query("SELECT")


def test_a_crawl_that_is_closed_leaves_no_process(folder: Path) -> None:
    before = set(psutil.Process().children())
    with Crawl.open(folder) as crawl:
        query = "ASK { SERVICE <urn:rdfspider:text> { ?s text:query 'moby' } ?s schema:name 'Moby Dick' }"
        assert crawl.query(query) is True
        workers = set(psutil.Process().children()) - before
        assert workers
    assert not any(worker.is_running() for worker in workers)
    # It may be asked again, and closed twice.
    assert crawl.query(query) is True
    crawl.close()
    crawl.close()
    assert set(psutil.Process().children()) <= before


@pytest.mark.parametrize("file_format", ["csv", "tsv", "json", "xml", "turtle", "ntriples"])
def test_no_format_lets_a_page_steer_a_terminal(folder: Path, file_format: str) -> None:
    query = "SELECT ?name { ?who schema:name ?name BIND('\x9b31m\u202e' AS ?other) }"
    if file_format in ("turtle", "ntriples"):
        query = "CONSTRUCT { ?who schema:name ?name, '\x9b31m\u202e' } { ?who schema:name ?name }"
    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "rdfspider", "query", query, "--dir", folder, "--format", file_format]
    subprocess.run(command, stdout=terminal, timeout=60, check=True)
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(main, 65_536):
            shown += part
    except OSError:
        # The end of what was written on a terminal.
        pass
    os.close(main)
    text = shown.decode()
    assert "Moby Dick" in text
    assert all(mark.isprintable() or mark in "\r\n\t" for mark in text)


def test_what_is_no_terminal_gets_every_byte(run: Run, folder: Path) -> None:
    assert "Ada \x1b[31mLovelace" in run("query", NAMES, "--dir", folder, "--format", "csv")[1]


def test_words_find_things_pages_and_what_only_blank_nodes_speak_of(folder: Path) -> None:
    crawl = Crawl.open(folder)

    def ask(words: str, pattern: str) -> list[tuple[object, ...]]:
        service = f"SERVICE <urn:rdfspider:text> {{ ?found text:query '{words}' ; text:score ?score }}"
        rows = crawl.query(f"SELECT ?x {{ {service} {pattern} FILTER(?score > 0) }}")
        assert isinstance(rows, Rows)
        return [tuple(row) for row in rows]

    assert ask("moby", "?found a schema:Book ; schema:name ?x") == [("Moby Dick",)]
    assert ask("hopper kind:entity", "?found schema:name ?x") == [("Grace Hopper",)]
    # Books by an author whose name is like…
    assert ask("herman melville type:person", "?book schema:author ?found ; schema:name ?x") == [("Moby Dick",)]
    assert ask("hopper kind:page", "GRAPH ?found { ?s schema:name ?x }") == [("Grace Hopper",)]
    assert ask("nobody", "?found schema:name ?x") == []


def test_graphs_are_pages_and_facts_about_fetches(folder: Path) -> None:
    rows = Crawl.open(folder).query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g")
    assert isinstance(rows, Rows)
    assert [row.g for row in rows] == [
        "https://books.example/",
        "https://people.example/ada",
        "https://people.example/grace",
        "urn:rdfspider:fetches",
    ]
