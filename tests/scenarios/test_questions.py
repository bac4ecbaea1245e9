"""A crawl of a slow web, its indexer and questions to it at the same time, as people run them and ask; and what is left of it."""

import gzip
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pyoxigraph
import pytest
from tests.conftest import RecordMaker, Run
from tests.index.graph_store import GraphStore, serve_graphs
from tests.index.holdings import read_quads
from tests.places import EVERYWHERE, find_places, make_worded

from rdfspider import Crawl
from rdfspider.errors import UsageError
from rdfspider.formats import to_arrow
from rdfspider.index.layout import IndexPaths
from rdfspider.index.quads.selection import is_page
from rdfspider.results import Hit
from rdfspider.search.rows import Rows
from web import Answer, Crawling, Site, Web, check_archives, command, crawl, make_site, prolong

WHALE = "http://library.test/moby#book"
SHOPS = ("shop-a.test", "shop-b.test", "shop-c.test")
WORDS = {
    "http://quiet.test/one": "jaspilito",
    "http://quiet.test/two": "kyanito",
    "http://sub.loud.test/three": "lazulito",
    "http://loud.test/four": "malachito",
    "http://stays.test/five": "neptunito",
}
DELAY_S = 0.3
SETTINGS: dict[str, Any] = {"index_enabled": None, "frontier_ip_delay_s": 0}
FETCHED = "SELECT ?name { ?thing schema:name ?name }"


def make_web() -> Site:
    """Shops that sell the same book, each in pages of its own, and pages that are known by a word."""
    site = Site()
    urls = [f"http://{shop}/{number}" for shop in SHOPS for number in range(2)]
    site.add("http://start.test/", make_worded("http://start.test/", "origano", [*urls, *WORDS]))
    for number, url in enumerate(urls):
        offer = {"@type": "Offer", "price": number + 10, "seller": url}
        book = {"@context": "https://schema.org", "@id": WHALE, "@type": "Book", "name": "Moby Dick", "offers": offer}
        script = f'<script type="application/ld+json">{json.dumps(book)}</script>'
        site.add(url, Answer(body=f"<title>Buy it</title>{script}<p>Buy Moby Dick here, number {number}".encode()))
    for url, word in WORDS.items():
        site.add(url, make_worded(url, word))
    return site


@dataclass
class Live:
    """A crawl that runs, and does not end before it is told to."""

    folder: Path
    crawling: Crawling
    crawl: Crawl
    fetched: set[int]
    """The numbered pages of the slow site that were asked for; each is `DELAY_S` later than the one before, or more."""
    is_over: threading.Event

    def wait_for(self, is_true: Callable[[], object]) -> None:
        assert self.crawling.wait_until(lambda: bool(_try(is_true)))

    def end(self) -> None:
        self.is_over.set()
        assert self.crawling.wait() == 0, self.crawling.stderr()


def _try(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except UsageError:
        # There is no index in the first moment.
        return False


class Lives:
    """Runs the crawl, and another one where a test that needs it running comes after those that have ended it: workers share out
    the tests of a module in any order."""

    def __init__(self, make_folder: Callable[[str], Path]) -> None:
        self._make_folder = make_folder
        self._resources = ExitStack()
        self._live: Live | None = None

    def find(self) -> Live:
        if self._live is None or self._live.is_over.is_set():
            self.close()
            self._live = self._begin()
        return self._live

    def close(self) -> None:
        self._resources.close()

    def _begin(self) -> Live:
        folder = self._make_folder("questions") / "crawl"
        site, fetched, is_over = make_web(), set[int](), threading.Event()

        def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
            if host != "slow.test" or not path[1:].isdecimal():
                return site(host, path, headers)
            number = int(path[1:])
            fetched.add(number)
            links = [] if is_over.is_set() else [f"/{number + 1}"]
            return make_worded(f"http://slow.test/{number}", f"slowly{number}", links)

        web = self._resources.enter_context(Web(answer))
        flags = ["http://start.test/", "http://slow.test/0", "--scope", "any", "--delay", DELAY_S, "--shards", 2]
        crawling = self._resources.enter_context(
            Crawling(folder, *flags, *web.resolve({"*.test": "127.0.0.1"}), **SETTINGS)
        )
        assert crawling.wait_until((folder / "crawl.toml").exists)
        return Live(folder, crawling, Crawl.open(folder), fetched, is_over)


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lives]:
    with closing(Lives(tmp_path_factory.mktemp)) as lives:
        yield lives


@pytest.fixture
def live(lives: Lives) -> Live:
    return lives.find()


@pytest.fixture(scope="module")
def ended(lives: Lives) -> Crawl:
    """The same crawl, when it has ended and everything is indexed."""
    live = lives.find()
    live.end()
    return Crawl.open(live.folder)


def test_pages_are_found_by_words_within_ten_seconds_and_by_sparql_within_thirty(live: Live) -> None:
    live.wait_for(lambda: live.crawl.search("slowly0"))
    first = max(live.fetched) + 1
    wanted = range(first, first + 4)
    found: dict[str, dict[int, int]] = {"words": {}, "sparql": {}}
    """How many more pages had been asked for when each was found: a busy machine is late with both."""

    def look() -> bool:
        for number in wanted:
            if number not in live.fetched:
                return False
            asks: dict[str, Callable[[], object]] = {
                "words": lambda number=number: live.crawl.search(f"slowly{number}"),  # type: ignore[misc]
                "sparql": lambda number=number: live.crawl.query(f"ASK {{ ?s ?p 'called slowly{number}' }}"),  # type: ignore[misc]
            }
            for name, ask in asks.items():
                if number not in found[name] and ask():
                    found[name][number] = max(live.fetched) - number
        return all(len(numbers) == len(wanted) for numbers in found.values())

    live.wait_for(look)
    assert max(found["words"].values()) < 10 / DELAY_S
    assert max(found["sparql"].values()) < 30 / DELAY_S
    assert live.crawling.process.poll() is None


def test_python_asks_while_the_crawl_writes(live: Live) -> None:
    live.wait_for(lambda: find_places(live.crawl, "http://stays.test/five", "neptunito") == EVERYWHERE)
    rows = live.crawl.query(FETCHED + " ORDER BY ?name")
    assert isinstance(rows, Rows)
    names = [row.name for row in rows]
    assert "Moby Dick" in names
    assert rows.to_pandas()["name"].tolist() == names
    assert rows.to_polars()["name"].to_list() == names
    assert rows.to_arrow()["name"].to_pylist() == names
    for shown in (live.crawl.search("moby"), rows, live.crawl.entity(WHALE)):
        assert "Moby Dick" in shown._repr_html_().replace("<mark>", "").replace("</mark>", "")
    assert "schema:Book" in live.crawl.stats()._repr_html_()
    assert live.crawling.process.poll() is None


def test_the_same_thing_on_pages_of_several_sites_is_one_result(live: Live) -> None:
    live.wait_for(lambda: (hits := live.crawl.search("moby", type="Book")) and hits[0].sources == 6)
    (hit,) = live.crawl.search("moby", type="Book")
    assert (hit.id, hit.sites, len(hit.pages)) == (WHALE, SHOPS, 6)
    live.wait_for(lambda: live.crawl.entity(WHALE)["name"][0].source_count == 6)
    assert len(live.crawl.entity(WHALE)["offers"]) == 6, "what is said differently stands side by side"


def test_what_is_forgotten_is_gone_at_once_while_the_crawl_runs(live: Live, run: Run) -> None:
    urls = ["http://quiet.test/one", "http://sub.loud.test/three", "http://loud.test/four"]
    for url in urls:
        live.wait_for(lambda url=url: find_places(live.crawl, url, WORDS[url]) == EVERYWHERE)  # type: ignore[misc]
    code, _, told = run("forget", "http://quiet.test/one", "--dir", live.folder)
    assert (code, told) == (0, "rdfspider: forgotten: the page http://quiet.test/one; 1 page was indexed\n")
    assert find_places(live.crawl, urls[0], WORDS[urls[0]]) == set()
    assert run("forget", "loud.test", "--dir", live.folder)[0] == 0
    for url in urls:
        assert find_places(live.crawl, url, WORDS[url]) == set()
    assert live.crawling.process.poll() is None
    live.wait_for(lambda: find_places(live.crawl, "http://quiet.test/two", "kyanito") == EVERYWHERE)


def test_what_is_forgotten_stays_out_and_in_the_archive(ended: Crawl, run: Run) -> None:
    folder = ended.folder
    gone = dict(WORDS)
    del gone["http://stays.test/five"]
    # Also what another test has forgotten, which may have run in another process.
    for rule in ("http://quiet.test/one", "http://quiet.test/two", "loud.test"):
        assert run("forget", rule, "--dir", folder)[0] == 0
    for rebuilt in (False, True):
        if rebuilt:
            assert run("index", "--rebuild", "--dir", folder)[0] == 0
        for url, word in WORDS.items():
            assert find_places(ended, url, word) == (set() if url in gone else EVERYWHERE)
    files = [path.read_bytes() for path in IndexPaths(folder).index.rglob("*") if path.is_file()]
    assert [word for word in gone.values() if any(word.encode() in data for data in files)] == []
    check_archives(folder)
    archived = b"".join(gzip.decompress(path.read_bytes()) for path in folder.glob("shards/*/warc/*-pages-*.warc.gz"))
    assert [word for word in WORDS.values() if word.encode() not in archived] == []


@pytest.mark.parametrize("name", ["all.nq", "all.nq.gz", "all.trig.zst", "all.parquet", "all.jsonl.gz"])
def test_an_export_is_what_the_quads_are(ended: Crawl, tmp_path: Path, name: str) -> None:
    command(ended.folder, "export", "--output", str(tmp_path / name))
    expected = {str(quad) for quad in ended.quads()}
    assert len(expected) > 20
    with pyarrow.input_stream(tmp_path / name, compression="detect") as stream:
        data = stream.read()
    if "parquet" in name:
        columns = ["subject", "predicate", "object", "graph"]
        table = pyarrow.parquet.read_table(tmp_path / name).select(columns)
        nquads = "".join(f"{quad} .\n" for quad in expected)
        assert sorted_rows(table) == sorted_rows(to_arrow({"": nquads}).select(columns))
    elif "jsonl" in name:
        things = [json.loads(line) for line in data.splitlines()]
        # Every statement but those of blank nodes, which are inside of others.
        said = {(thing["id"], thing["page"]) for thing in things if not thing["id"].startswith("_:")}
        subjects = {(quad.subject.value, quad.graph_name.value) for quad in ended.quads() if is_named(quad)}
        assert said == subjects
    else:
        form = pyoxigraph.RdfFormat.TRIG if "trig" in name else pyoxigraph.RdfFormat.N_QUADS
        assert {str(quad) for quad in pyoxigraph.parse(data, form)} == expected


def sorted_rows(table: Any) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def is_named(quad: pyoxigraph.Quad) -> bool:
    return isinstance(quad.subject, pyoxigraph.NamedNode)


def test_killed_at_random_instants_it_answers_as_one_that_is_made_again(tmp_path: Path) -> None:
    """The whole crawl each time: its parent, its shards and its indexer; the last run goes to the end."""
    folder = tmp_path / "crawl"
    seed = random.SystemRandom().randrange(1_000_000)
    chance, kills = random.Random(seed), 0
    site, more = make_web(), make_site(["many.test", "more.test", "start.test"], 90, delay_s=0.05)
    site.answers = more.answers | site.answers
    with Web(prolong(site, "a.test", lambda: kills == 3)) as web:
        seeds = ["http://start.test/", "http://many.test/", "http://a.test/more/0"]
        flags = [*seeds, "--scope", "any", "--delay", 0.02, "--shards", 2, *web.resolve({"*.test": "127.0.0.1"})]
        for kills in range(4):
            with Crawling(folder, *flags, **SETTINGS) as crawling:
                if kills == 3:
                    assert crawling.wait() == 0, f"seed {seed}: {crawling.stderr()}"
                    break
                time.sleep(chance.uniform(0.7, 2.0))
                crawling.kill()
    answers = ask_ten(folder)
    assert all(answers), f"seed {seed}: {answers}"
    command(folder, "index", "--rebuild")
    assert ask_ten(folder) == answers, f"seed {seed}"


def ask_ten(folder: Path) -> list[object]:
    """The answers to ten questions of all kinds, without what differs from one time to the next."""
    opened = Crawl.open(folder)
    found = [
        opened.search("thing", limit=100, facets=True),
        opened.search("moby", type="Book"),
        opened.search('"called lazulito"'),
        opened.search("site:more.test -moby", limit=50),
    ]
    asked = [
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g",
        "SELECT ?name { ?s schema:name ?name } ORDER BY ?name",
    ]
    stats, whale = opened.stats(), opened.entity(WHALE)
    return [
        *([replace(results, seconds=0.0, hits=tuple(map(drop_score, results))) for results in found]),
        *([tuple(row) for row in opened.query(query)] for query in asked),  # type: ignore[union-attr]
        stats,
        whale,
        opened.entity("http://more.test/1#it"),
    ]


def drop_score(hit: Hit) -> Hit:
    """What tantivy counts for it depends on which deleted documents it has not yet removed."""
    return replace(hit, score=0.0)


def test_a_crawl_without_an_index_gets_one_later_with_other_archives_and_an_outside_store(
    tmp_path: Path, make_record: RecordMaker, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    folder, other = tmp_path / "crawl", tmp_path / "other.warc"
    with Web(make_web()) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        crawl(folder, "http://start.test/", *flags, "--no-index", **SETTINGS)
    code, _, told = run("search", "moby", "--dir", folder)
    assert code == 2
    assert told.startswith(f"rdfspider: {folder} has no index yet: make it with `rdfspider index --dir {folder}`")
    url = "http://far.test/six"
    other.write_bytes(make_record(url, make_worded(url, "oligisto").body))
    held = GraphStore()
    with serve_graphs(held) as base:
        code, _, told = run("index", other, "--dir", folder, "--store", f"{base}/store")
        assert code == 0, told
    indexed = Crawl.open(folder)
    for page, word in {**WORDS, url: "oligisto"}.items():
        assert find_places(indexed, page, word) == EVERYWHERE
    quads = pyoxigraph.parse("".join(f"{quad} .\n" for quad in read_quads(folder)), pyoxigraph.RdfFormat.N_QUADS)
    assert held.lines() == {f"{quad} ." for quad in quads if is_page(quad.graph_name)}
    # The same file alone makes a crawl of its own.
    assert run("index", other, "--dir", tmp_path / "new")[0] == 0
    assert find_places(Crawl.open(tmp_path / "new"), url, "oligisto") == EVERYWHERE
