"""Queries in real worker processes on real snapshots: answers, limits, and what comes after a query that went too far."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pyoxigraph
import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Store

from rdfspider.errors import RdfspiderError, UnansweredError, UsageError
from rdfspider.formats import RDF_FORMATS, RESULT_FORMATS
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.quads.snapshots import remove_old, take_snapshot
from rdfspider.index.quads.sparql.engine import MAX_QUERY_CHARS, Sparql
from rdfspider.results import Graphs, QueryLimits
from rdfspider.search.rows import Rows, Statements, read_answer
from waiting import PATIENCE_S, wait_until

SCHEMA = "http://schema.org/"
COUNT = 300
EVERYTHING = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
ENDLESS = EVERYTHING.replace("*", "(COUNT(*) AS ?n)")
"""Gives no row before it has seen many thousand millions of them."""
LONG = QueryLimits(timeout_s=600)
"""More than any test waits."""
NASTY = 'a "quoted", \r\n},{ \\ </result> \x01 \t end'
DEEP = 20_000


def name(text: str) -> NamedNode:
    return NamedNode(f"http://things.example/{text}")


def make_index(folder: Path) -> Store:
    """The index of a crawl: books by one author, each on a page of its own."""
    paths = IndexPaths(folder)
    paths.index.mkdir()
    paths.version.write_text(f"{VERSION}\n")
    store = Store(str(paths.quads))
    for number in range(COUNT):
        graph = NamedNode(f"https://site.example/{number}")
        for quad in (
            Quad(name(f"book{number}"), NamedNode(f"{SCHEMA}name"), Literal(f"Book {number}", language="en"), graph),
            Quad(name(f"book{number}"), NamedNode(f"{SCHEMA}position"), Literal(number), graph),
        ):
            store.extend([quad, Quad(quad.subject, quad.predicate, quad.object, DefaultGraph())])
    take_snapshot(store, paths.snapshots)
    return store


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    make_index(folder)
    return folder


@pytest.fixture(scope="module")
def sparql(crawl: Path) -> Iterator[Sparql]:
    found = [(name("book7").value, 3.5), (name("book9").value, 1.25), (name("nothing").value, 1.0)]
    with Sparql(crawl, lambda words, limit: found[:limit] if words == "seven" else []) as door:
        yield door


def query_objects(sparql: Sparql, query: str, limits: QueryLimits | None = None) -> Rows | Statements | bool:
    return read_answer(sparql.ask(query, formats=("json", "ntriples"), limits=limits))


def ask_rows(sparql: Sparql, query: str, **limits: float) -> Rows:
    rows = query_objects(sparql, query, QueryLimits(**limits))  # type: ignore[arg-type]
    assert isinstance(rows, Rows)
    return rows


def check_next(sparql: Sparql) -> None:
    """The next question is answered, and need not wait until a process is started."""
    assert sparql._idle
    assert query_objects(sparql, "ASK { ?s schema:position 7 }") is True


def is_busy(sparql: Sparql) -> bool:
    """Whether one of its processes has a question."""
    return len(sparql._all) > len(sparql._idle)


def test_select_ask_construct_describe(sparql: Sparql) -> None:
    rows = ask_rows(sparql, "SELECT ?book ?name { ?book schema:name ?name ; schema:position 7 }")
    assert [tuple(row) for row in rows] == [(name("book7").value, "Book 7")]
    assert query_objects(sparql, "ASK { ?book schema:position 7 }") is True
    assert query_objects(sparql, "ASK { ?book schema:position 777 }") is False
    for query in (
        "CONSTRUCT { ?s dc:title ?o } { ?s schema:name ?o ; schema:position 7 }",
        f"DESCRIBE {name('book7')}",
    ):
        statements = query_objects(sparql, query)
        assert isinstance(statements, Statements)
        assert Literal("Book 7", language="en") in {triple.object for triple in statements}


def test_the_default_graph_is_the_merge_and_each_page_is_a_graph(sparql: Sparql) -> None:
    count = "SELECT (COUNT(*) AS ?n) "
    assert ask_rows(sparql, f"{count} {{ ?s ?p ?o }}")[0].n == 2 * COUNT
    assert ask_rows(sparql, f"{count} {{ GRAPH <https://site.example/5> {{ ?s ?p ?o }} }}")[0].n == 2
    assert ask_rows(sparql, f"{count} FROM <https://site.example/5> {{ ?s ?p ?o }}")[0].n == 2
    rows = ask_rows(sparql, "SELECT ?page { GRAPH ?page { ?s schema:position 5 } }")
    assert [row.page for row in rows] == ["https://site.example/5"]


def test_graphs_that_are_given_take_the_place_of_those_of_the_query(sparql: Sparql) -> None:
    def count(query: str, graphs: Graphs) -> int:
        body = sparql.ask(f"SELECT (COUNT(*) AS ?n) {query}", formats=("csv",), graphs=graphs).body
        return int(body.split()[1])

    five, six = "https://site.example/5", "https://site.example/6"
    assert count("{ ?s ?p ?o }", Graphs((five, six))) == 4
    assert count(f"FROM <{five}> {{ ?s ?p ?o }}", Graphs((six, five))) == 4
    assert count("{ ?s ?p ?o }", Graphs((), (five,))) == 0
    assert count("{ GRAPH ?g { ?s ?p ?o } }", Graphs((six,), (five,))) == 2
    assert count("{ GRAPH ?g { ?s ?p ?o } }", Graphs((six,))) == 0
    with pytest.raises(UsageError, match="named by an IRI"):
        sparql.ask("ASK {}", graphs=Graphs(("five",)))


def test_relative_iris_are_relative_to_a_base(sparql: Sparql) -> None:
    answer = sparql.ask("SELECT (<b#c> AS ?iri) {}", formats=("csv",), base="https://site.example/a")
    assert answer.body == b"iri\r\nhttps://site.example/b#c\r\n"


def test_who_does_not_want_the_answer_any_more_frees_the_process(crawl: Path) -> None:
    """Also whoever still waits for one."""
    with Sparql(crawl, workers=1) as sparql, ThreadPoolExecutor(2) as pool:
        assert query_objects(sparql, "ASK {}") is True
        cancels = [threading.Event(), threading.Event()]
        asking = [pool.submit(sparql.ask, ENDLESS, limits=LONG, cancel=cancel) for cancel in cancels]
        wait_until(lambda: is_busy(sparql) and all(each.running() for each in asking))
        for cancel in cancels:
            cancel.set()
        for each in asking:
            with pytest.raises(UnansweredError, match="cancelled"):
                each.result(timeout=PATIENCE_S)
        check_next(sparql)


def test_a_prefix_of_the_query_wins(sparql: Sparql) -> None:
    assert query_objects(sparql, "PREFIX schema: <http://other.example/> ASK { ?s schema:name ?o }") is False
    assert query_objects(sparql, "PREFIX s: <http://schema.org/> ASK { ?s s:name ?o }") is True


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("", "line 1, column 1 at the end"),
        ("SELEC * { ?s ?p ?o }", "line 1, column 1: a query begins with SELECT"),
        ("SELECT *\n{ ?s ?p }", "line 2, column"),
        ("SELECT * { ?s nowhere:name ?o }", "the prefix before it is not declared"),
        ("SELECT * { ?s ?p <relative> }", "relative without a BASE"),
        ("SELECT ?x { ?s ?p ?o } GROUP BY ?s", "a variable that is unbound"),
        ("SELECT * { ?s ?p '\ud800' ", "line 1, column"),
        ("INSERT DATA { <a:a> <a:b> <a:c> }", "INSERT would change the data"),
        ("DROP ALL", "DROP would change the data"),
        ("SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", "SERVICE asks other servers, which is not allowed"),
        ("SELECT * { SERVICE <urn:rdfspider:text> { ?s text:query 5 } }", "the words as a string"),
        ("#" * (MAX_QUERY_CHARS + 1), "at most 1,000,000 are read"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(query: str, complaint: str, sparql: Sparql) -> None:
    with pytest.raises(UsageError, match=complaint) as error:
        sparql.ask(query)
    assert "\n" not in str(error.value)
    check_next(sparql)


NESTED = {
    "groups": "SELECT * {" + "{" * DEEP + "?s ?p ?o" + "}" * DEEP + "}",
    "parentheses": "SELECT * { ?s ?p ?o FILTER" + "(" * DEEP + "1" + ")" * DEEP + "}",
    "unions": "SELECT * {" + "{ ?s ?p ?o } UNION " * DEEP + "{ ?s ?p ?o } }",
    "optionals": "SELECT * {" + "?s ?p ?o OPTIONAL { " * DEEP + "}" * DEEP + "}",
    "nodes": "SELECT * { ?s ?p " + "[ <a:b> " * DEEP + "1" + "]" * DEEP + "}",
    "negations": "SELECT * { ?s ?p ?o FILTER(" + "!" * DEEP + "true) }",
    "sums": "SELECT (" + "1 + " * DEEP + "1 AS ?x) { }",
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_query_nested_too_deep_costs_its_process_alone(kind: str, sparql: Sparql) -> None:
    with pytest.raises(UnansweredError, match="could not be answered: it is nested too deep, or"):
        sparql.ask(NESTED[kind], limits=QueryLimits(timeout_s=60))
    check_next(sparql)


def test_a_query_that_runs_forever_is_ended(sparql: Sparql) -> None:
    start = time.perf_counter()
    with pytest.raises(UnansweredError, match=re.escape("was ended after 0.5 s")):
        sparql.ask(ENDLESS, limits=QueryLimits(timeout_s=0.5))
    assert time.perf_counter() - start >= 0.5
    check_next(sparql)


@pytest.mark.parametrize(
    "query",
    [
        EVERYTHING + " ORDER BY ?c",
        EVERYTHING.replace("*", "DISTINCT *"),
        EVERYTHING.replace("*", "(GROUP_CONCAT(CONCAT(STR(?a), STR(?d), STR(?g), STR(?j))) AS ?x)"),
    ],
)
def test_a_query_that_takes_all_memory_is_ended(query: str, sparql: Sparql) -> None:
    with pytest.raises(UnansweredError, match=r"needed more than .* GiB of memory"):
        sparql.ask(query, limits=QueryLimits(timeout_s=60, memory_bytes=64 << 20))
    check_next(sparql)


def test_of_billions_of_rows_the_first_are_given(sparql: Sparql) -> None:
    rows = ask_rows(sparql, EVERYTHING, rows=5_000)
    assert len(rows) == 5_000
    assert rows.is_truncated
    statements = query_objects(
        sparql, "CONSTRUCT { ?a ?e ?i } { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", QueryLimits(rows=500)
    )
    assert isinstance(statements, Statements)
    assert (len(list(statements)), statements.is_truncated) == (500, True)


def test_as_many_rows_as_allowed_are_not_truncated(sparql: Sparql) -> None:
    for allowed, is_truncated in ((COUNT, False), (COUNT - 1, True), (COUNT + 1, False)):
        rows = ask_rows(sparql, "SELECT * { ?s schema:name ?o }", rows=allowed)
        assert (len(rows), rows.is_truncated) == (min(allowed, COUNT), is_truncated)


def count_rows(file_format: str, body: bytes) -> int:
    """Rows of a document, by a reader of its format that is not ours."""
    text = body.decode()
    if file_format == "json":
        return len(json.loads(text)["results"]["bindings"])
    if file_format == "xml":
        return len(ElementTree.fromstring(text).findall(".//{*}result"))
    if file_format == "csv":
        return len(list(csv.reader(io.StringIO(text, newline="")))) - 1
    if file_format == "tsv":
        return text.count("\n") - 1
    return len(list(pyoxigraph.parse(text, RDF_FORMATS[file_format])))


@pytest.mark.parametrize("file_format", (*RESULT_FORMATS, *RDF_FORMATS))
@pytest.mark.parametrize(
    "limits", [QueryLimits(), QueryLimits(rows=3), QueryLimits(rows=0), QueryLimits(output_bytes=30_000)]
)
def test_every_format_is_valid_also_where_it_is_cut(file_format: str, limits: QueryLimits, sparql: Sparql) -> None:
    nasty = f"?s schema:position ?n BIND({Literal(NASTY)} AS ?nasty)"
    query = f"SELECT * {{ {nasty} OPTIONAL {{ ?s dc:no ?no }} }}"
    if file_format in RDF_FORMATS:
        query = f"CONSTRUCT {{ ?s schema:name ?nasty }} {{ {nasty} }}"
    answer = sparql.ask(query, formats=[file_format], limits=limits)
    assert answer.format == file_format
    found = count_rows(file_format, answer.body)
    if limits.rows < COUNT:
        assert (found, answer.is_truncated) == (limits.rows, True)
    elif limits.output_bytes < 100_000 and answer.is_truncated:
        assert 0 < found < COUNT
        assert len(answer.body) < limits.output_bytes + 20_000
    else:
        assert (found, answer.is_truncated) == (COUNT, False)


@pytest.mark.parametrize("pattern", ["?s schema:position ?o", "?s dcterms:title ?o . ?s a ?o", "?o <a:b> ?s"])
def test_turtle_declares_the_prefixes_that_it_uses(pattern: str, sparql: Sparql) -> None:
    query = f"CONSTRUCT {{ {pattern} }} {{ ?x schema:position 7 BIND(schema:a AS ?s) BIND(schema:Book AS ?o) }}"
    for body in (sparql.ask(query, formats=["turtle"]).body, query_objects(sparql, query).to_turtle().encode()):  # type: ignore[union-attr]
        declared = set(re.findall(rb"^@prefix (\w+):", body, re.MULTILINE))
        used = set(re.findall(rb"(?:^|\s)(\w+):", re.sub(rb"@prefix.*\n|<.*?>", b"", body)))
        assert declared == used
        assert len(list(pyoxigraph.parse(body, RdfFormat.TURTLE))) == pattern.count("?o")


@pytest.mark.parametrize("file_format", ["json", "xml", "csv", "tsv"])
def test_a_truth_value_has_every_format_of_rows(file_format: str, sparql: Sparql) -> None:
    answer = sparql.ask("ASK { ?s schema:position 7 }", formats=["turtle", file_format])
    assert (answer.kind, answer.format) == ("boolean", file_format)
    assert b"true" in answer.body


def test_a_format_that_does_not_fit_is_told(sparql: Sparql) -> None:
    with pytest.raises(UsageError, match="csv cannot hold what CONSTRUCT and DESCRIBE give: choose turtle, ntriples"):
        sparql.ask("DESCRIBE <a:b>", formats=["csv"])
    with pytest.raises(UsageError, match="turtle cannot hold what SELECT and ASK give: choose json, xml, csv, tsv"):
        sparql.ask("ASK {}", formats=["turtle"])


def test_triples_in_triples_are_rows_or_a_clear_answer(sparql: Sparql) -> None:
    def nest(depth: int) -> str:
        return "TRIPLE(<a:s>, <a:p>, " * depth + "1" + ")" * depth

    assert ask_rows(sparql, f"SELECT ({nest(2)} AS ?x) {{ }}").terms[0][0].object.object == Literal(1)  # type: ignore[union-attr]
    assert ask_rows(sparql, f"SELECT ({nest(40)} AS ?x) {{ ?s schema:name ?o }}", rows=2).is_truncated
    for depth in (100, 400, 700):
        for query in (
            f"SELECT ({nest(depth)} AS ?x) {{ }}",
            f"CONSTRUCT {{ <a:a> <a:b> ?x }} {{ BIND({nest(depth)} AS ?x) }}",
        ):
            try:
                answer = query_objects(sparql, query)
                assert isinstance(answer, Rows)
                assert answer[0].x
            except RdfspiderError as error:
                assert "triple" in str(error) or "nested" in str(error)
    check_next(sparql)


def test_words_are_found_within_a_query(sparql: Sparql) -> None:
    service = "SERVICE <urn:rdfspider:text> { ?book text:query 'seven' ; text:score ?score %s }"
    query = f"SELECT ?name ?score {{ {service} ?book schema:name ?name }} ORDER BY DESC(?score)"
    assert [tuple(row) for row in ask_rows(sparql, query % "")] == [("Book 7", 3.5), ("Book 9", 1.25)]
    assert [tuple(row) for row in ask_rows(sparql, query % "; text:limit 1")] == [("Book 7", 3.5)]
    assert len(ask_rows(sparql, query.replace("seven", "eight") % "")) == 0


def test_without_a_text_index_that_is_told(crawl: Path) -> None:
    with Sparql(crawl, workers=1, has_spare=False) as door:
        with pytest.raises(UsageError, match="there is no text index to ask"):
            door.ask("SELECT * { SERVICE <urn:rdfspider:text> { ?s text:query 'a' } }")
        assert query_objects(door, "ASK {}") is True


def test_several_are_asked_at_once(crawl: Path) -> None:
    with Sparql(crawl, workers=3) as door:
        query_objects(door, "ASK {}")

        def ask(number: int) -> object:
            if number % 5 == 0:
                with pytest.raises(UnansweredError):
                    query_objects(door, ENDLESS, QueryLimits(timeout_s=1))
                return number
            query = f"SELECT ?n {{ ?s schema:position {number} ; schema:position ?n }}"
            return ask_rows(door, query, timeout_s=LONG.timeout_s)[0].n

        with ThreadPoolExecutor(12) as threads:
            assert list(threads.map(ask, range(40))) == list(range(40))
        assert len(list_workers()) <= 4 + 4  # of this door, and of the one that other tests share


def test_who_waits_too_long_for_others_is_told(crawl: Path) -> None:
    with Sparql(crawl, workers=1) as door:
        query_objects(door, "ASK {}")
        with ThreadPoolExecutor(1) as threads:
            cancel = threading.Event()
            first = threads.submit(door.ask, ENDLESS, limits=LONG, cancel=cancel)
            wait_until(lambda: is_busy(door))
            with pytest.raises(UnansweredError, match=r"other questions have taken all of the 0\.2 s"):
                door.ask("ASK {}", limits=QueryLimits(timeout_s=0.2))
            cancel.set()
            assert isinstance(first.exception(), UnansweredError)


def test_the_newest_snapshot_is_asked_while_old_ones_go(tmp_path: Path) -> None:
    store = make_index(tmp_path)
    folder = IndexPaths(tmp_path).snapshots
    with Sparql(tmp_path, workers=2) as door:
        for number in range(4):
            store.add(Quad(name(f"new{number}"), NamedNode(f"{SCHEMA}about"), Literal(number), DefaultGraph()))
            take_snapshot(store, folder)
            remove_old(folder)
            query = f"ASK {{ ?s schema:about {number} }}"
            wait_until(lambda query=query: query_objects(door, query))

        def has_only_new() -> bool:
            remove_old(folder)
            return len(list(folder.iterdir())) <= 2

        # Those who wait have let go of the old ones as well.
        wait_until(has_only_new)


@pytest.mark.parametrize(
    "limits", [QueryLimits(rows=-1), QueryLimits(timeout_s=0), QueryLimits(timeout_s=float("inf"))]
)
def test_limits_that_make_no_sense_are_refused(limits: QueryLimits, sparql: Sparql) -> None:
    with pytest.raises(UsageError, match="0 rows or more"):
        sparql.ask("ASK {}", limits=limits)


def test_without_an_index_that_is_told(tmp_path: Path) -> None:
    with Sparql(tmp_path) as door:
        with pytest.raises(UsageError, match="has no index yet: make it with `rdfspider index"):
            door.ask("ASK {}")
        paths = IndexPaths(tmp_path)
        paths.index.mkdir()
        paths.version.write_text("999")
        with pytest.raises(UsageError, match="made by another version"):
            door.ask("ASK {}")
        paths.version.write_text(str(VERSION))
        with pytest.raises(UsageError, match="has no quads to ask yet"):
            door.ask("ASK {}")


def list_workers() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [each for each in children if "rdfspider.index.quads.sparql.worker" in " ".join(each.cmdline())]


def test_workers_end_with_whoever_started_them(crawl: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom rdfspider.index.quads.sparql.engine import Sparql\n"
        "door = Sparql(Path(sys.argv[1]), workers=1)\ndoor.ask('ASK {}')\nprint('ready', flush=True)\n"
        f"door.ask({ENDLESS!r})"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(crawl)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    workers = psutil.Process(parent.pid).children()
    assert len(workers) == 2
    # More than it takes to start: one of them is at it.
    wait_until(lambda: any(worker.cpu_times().user > 2 for worker in workers))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
    assert alive == []


def test_closing_ends_questions_and_starts_nothing(crawl: Path) -> None:
    door = Sparql(crawl, workers=1)
    query_objects(door, "ASK {}")
    workers = [psutil.Process(worker.pid) for worker in door._all]
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(door.ask, ENDLESS, limits=LONG) for _ in range(2)]
        wait_until(lambda: is_busy(door))
        door.close()
        for question in asked:
            assert isinstance(question.exception(PATIENCE_S), UnansweredError)
            assert "closed meanwhile" in str(question.exception())
    assert (door._all, door._idle) == (set(), [])
    assert not any(worker.is_running() for worker in workers)
    with pytest.raises(UnansweredError, match="closed meanwhile"):
        query_objects(door, "ASK {}")
    door.close()
    assert not door._all


@pytest.mark.parametrize("query", [None, 5, b"ASK {}"])
def test_what_is_no_text_is_no_query(query: object, sparql: Sparql) -> None:
    with pytest.raises(UsageError, match="a query is text, not"):
        query_objects(sparql, query)  # type: ignore[arg-type]


def test_a_worker_that_was_killed_is_replaced(crawl: Path) -> None:
    with Sparql(crawl, workers=1) as door:
        query_objects(door, "ASK {}")
        for worker in door._all:
            worker.kill()
            worker._popen.wait()
        assert query_objects(door, "ASK {}") is True


def test_a_worker_cannot_reach_the_network() -> None:
    code = (
        "import os, socket\nfrom rdfspider.processes.confinement import confine_process\nconfine_process(os.getppid())\n"
        "try:\n    socket.socket()\nexcept PermissionError:\n    print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("refused\n", "")


WORDS = " UNION ".join("{ SERVICE <urn:rdfspider:text> { ?s text:query 'a' } }" for _ in range(5))


def test_words_are_looked_for_only_while_somebody_waits(crawl: Path) -> None:
    cancel = threading.Event()
    looked: list[str] = []

    def leave(words: str, limit: int) -> list[tuple[str, float]]:
        looked.append(words)
        cancel.set()
        return []

    with Sparql(crawl, leave, workers=1) as door:
        with pytest.raises(UnansweredError, match="was cancelled"):
            door.ask(f"SELECT * {{ {WORDS} }}", cancel=cancel)
        assert looked == ["a"]


def test_words_are_looked_for_only_within_the_time_of_the_query(crawl: Path) -> None:
    looked: list[str] = []

    def dawdle(words: str, limit: int) -> list[tuple[str, float]]:
        looked.append(words)
        time.sleep(1)
        return []

    with Sparql(crawl, dawdle, workers=1) as door:
        with pytest.raises(UnansweredError, match="was ended after 1 s"):
            door.ask(f"SELECT * {{ {WORDS} }}", limits=QueryLimits(timeout_s=1))
        assert len(looked) <= 1


def test_a_client_with_many_questions_leaves_a_worker_to_others(crawl: Path) -> None:
    endless = EVERYTHING.replace("*", "(COUNT(*) AS ?n)")
    cancel = threading.Event()
    with Sparql(crawl, workers=2, most_by_client=1) as door, ThreadPoolExecutor(3) as threads:
        asked = [
            threads.submit(door.ask, endless, limits=QueryLimits(timeout_s=600), cancel=cancel, client="greedy")
            for _ in range(3)
        ]
        try:
            assert door.ask("ASK {}", limits=QueryLimits(timeout_s=60), client="other").kind == "boolean"
        finally:
            cancel.set()
        assert all(isinstance(question.exception(60), UnansweredError) for question in asked)
