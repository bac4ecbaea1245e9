import gzip
import time
from pathlib import Path

from rdfspider import extract
from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Extraction, Problem
from rdfspider.run import heartbeat as survey_module
from rdfspider.run.heartbeat import DataCounts
from web import crawl, make_chain
from web.server import Web

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
GRAPH = "<http://a.test/>"
PAGE = Extraction(
    "http://a.test/",
    "text/html",
    title=" A \n title " + "x" * 200,
    statements={
        "jsonld": f"<http://a.test/#1> {TYPE} <http://schema.org/Product> {GRAPH} .\n"
        f'<http://a.test/#1> <http://schema.org/name> "a name\u2028 with {TYPE} <http://no.test/Type> in it"@en {GRAPH} .\n'
        f"_:p1n1 {TYPE} <http://schema.org/Offer> {GRAPH} .\n",
        "rdfa": f"_:p2n1 <http://schema.org/name> _:p2n2 {GRAPH} .\n"
        f"_:p2n1 {TYPE} _:p2n2 {GRAPH} .\n"
        f"_:p2n1 {TYPE} <http://schema.org/Product> {GRAPH} .\n",
    },
    problems=(Problem("iri-repaired", "…", "rdfa", 3), Problem("literal-cut", "…")),
)


def open_frontier(folder: Path) -> Frontier:
    return Frontier(folder / "frontier", Config(), Domains(bundled_suffix_list(), 1), 0)


def say(names: list[str]) -> Extraction:
    nquads = "".join(f"<http://a.test/> <{name}> _:a {GRAPH} .\n" for name in names)
    return Extraction("http://a.test/", "text/html", statements={"rdfa": nquads})


def test_what_pages_state_is_counted(tmp_path: Path) -> None:
    survey = DataCounts(open_frontier(tmp_path))
    survey.add([PAGE, PAGE, Extraction("http://a.test/b", "text/html")], 1000.0)
    types, properties = survey.top_names()
    assert list(types.items()) == [("http://schema.org/Product", 4), ("http://schema.org/Offer", 2)]
    assert properties == {"http://schema.org/name": 4}
    assert survey.quads == {"jsonld": 6, "rdfa": 6}
    assert survey.problems == {"iri-repaired": 6, "literal-cut": 2}


def test_the_latest_finds(tmp_path: Path) -> None:
    survey = DataCounts(open_frontier(tmp_path))
    survey.add([PAGE, Extraction("http://a.test/nothing", "text/html", title="Nothing")], 1000.0)
    (found,) = survey.finds
    assert (found.url, found.time, found.quads) == ("http://a.test/", 1000.0, 6)
    assert found.types == ("http://schema.org/Product", "http://schema.org/Offer")
    assert found.title == "A title " + "x" * 72
    pages = [
        Extraction(f"http://a.test/{number}", "text/html", title="\ud800", statements=PAGE.statements)
        for number in range(9)
    ]
    survey.add(pages[:7], 1001.0)
    survey.add(pages[7:], 1002.0)
    assert [(find.url[-1], find.time, find.title) for find in survey.finds] == [
        ("4", 1001.0, "?"),
        ("5", 1001.0, "?"),
        ("6", 1001.0, "?"),
        ("7", 1002.0, "?"),
        ("8", 1002.0, "?"),
    ]


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """Counts are those of the last commit; names may lack the last seconds, unless the end was a good one."""
    frontier = open_frontier(tmp_path)
    survey = DataCounts(frontier)
    for monotonic in (100.0, 101.0):
        survey.add([PAGE], monotonic)
        survey.stage(monotonic)
        frontier.commit()
    frontier.close()

    frontier = open_frontier(tmp_path)
    survey = DataCounts(frontier)
    assert (survey.quads["jsonld"], survey.problems["iri-repaired"]) == (6, 6)
    assert survey.top_names()[0]["http://schema.org/Product"] == 2
    survey.add([PAGE], 102.0)
    survey.stage(float("inf"))
    frontier.commit()
    frontier.close()

    survey = DataCounts(open_frontier(tmp_path))
    assert survey.quads["jsonld"] == 9
    assert survey.top_names() == (
        {"http://schema.org/Product": 4, "http://schema.org/Offer": 2},
        {"http://schema.org/name": 4},
    )


def test_names_without_number_do_not_push_out_the_frequent_ones(tmp_path: Path) -> None:
    frontier = open_frontier(tmp_path)
    survey = DataCounts(frontier)
    survey.add([PAGE] * 3, 0.0)
    for start in range(0, 100_000, 10_000):
        survey.add([say([f"http://many.test/{number}/{'x' * 5000}" for number in range(start, start + 1000)])], 0.0)
        survey.add([say([f"http://many.test/{number}" for number in range(start, start + 9000)])], 0.0)
        assert len(survey._names) <= survey_module._MAX_NAMES
    assert max(map(len, survey._names)) <= 400
    survey.add([PAGE], 0.0)
    types, properties = survey.top_names()
    assert types == {"http://schema.org/Product": 8, "http://schema.org/Offer": 4}
    assert next(iter(properties.items())) == ("http://schema.org/name", 8)
    assert len(properties) == 100
    assert survey.quads["rdfa"] == 4 * 3 + 100_000
    survey.stage(float("inf"))
    assert len(frontier.meta.get("survey-names") or b"") < 400 * 1000


def test_it_is_cheap(tmp_path: Path, corpus: Path) -> None:
    """A quarter of a microsecond a quad where nothing else runs; ten times that is a mistake."""
    files = sorted((corpus / "pages").iterdir())[:40]
    pages = [extract(gzip.decompress(file.read_bytes()), url=f"http://a.test/{file.name}") for file in files]
    survey = DataCounts(open_frontier(tmp_path))
    start = time.thread_time()
    survey.add(pages, 0.0)
    used_s = time.thread_time() - start
    assert survey.quads.total() > 2000
    assert used_s / survey.quads.total() < 2.5e-6


def test_a_crawl_that_goes_on_counts_on(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with Web(make_chain("a.test", 8)) as web:
        flags = ["--delay", 0, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        first = crawl(folder, "http://a.test/", "--pages", 3, *flags).status()["totals"]
        second = crawl(folder, "--pages", 5, *flags).status()["totals"]
    assert (first["pages"], first["types"], first["quads_by_syntax"]) == (
        3,
        {"http://schema.org/Thing": 3},
        {"jsonld": 6},
    )
    assert (second["pages"], second["types"], second["quads_by_syntax"]) == (
        5,
        {"http://schema.org/Thing": 5},
        {"jsonld": 10},
    )
    assert second["statuses"] == {"200": 2}
    assert (second["structured"], second["sites"]) == (5, 1)
    assert [find["title"] for find in second["finds"]] == ["http://a.test/3", "http://a.test/4"]
    assert list(second["slowest_hosts"]) == ["a.test"]
    assert second["archive_bytes"] == sum(file.stat().st_size for file in folder.glob("shards/*/warc/*.warc.gz"))
