"""Questions and circumstances that would harm: a clear answer each, nothing lost, and the next question is answered at once."""

import contextlib
import gzip
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import RecordMaker, Run
from tests.disks import mount_disk
from tests.index.holdings import check_merge, read_cards, read_quads
from tests.index.logs import ShardLog
from tests.places import EVERYWHERE, find_places, make_worded

from rdfspider import Crawl
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.search.rows import Rows
from waiting import PATIENCE_S
from web import Site, Web, check_archives, crawl

PAGES = {f"http://a.test/{number or ''}": f"word{number}x" for number in range(8)}
FIRST = "http://a.test/"
DEEP = 20_000
FOREVER = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(9)) + " }"
BILLION = "SELECT ?a0 ?c8 { " + " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(9)) + " }"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has ended, with its index."""
    folder = tmp_path_factory.mktemp("hostile") / "crawl"
    site = Site()
    for url, word in PAGES.items():
        site.add(url, make_worded(url, word, list(PAGES)))
    with Web(site) as web:
        flags = ["--delay", 0, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        crawl(folder, FIRST, *flags, index_enabled=None)
    return folder


@pytest.fixture
def folder(crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it that a test may spoil."""
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    return shutil.copytree(crawled, tmp_path / "crawl")


@pytest.fixture(scope="module")
def inside() -> Iterator[socket.socket]:
    """A server of the inside, which nobody should come to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


@pytest.fixture(scope="module")
def opened(crawled: Path) -> Crawl:
    """The same for Python, with a process for queries that has answered one."""
    opened = Crawl.open(crawled)
    assert opened.query("ASK {}") is True
    return opened


def list_hostile(port: int) -> dict[str, tuple[str, int, str]]:
    """Queries by name, with the exit code and what must be said."""
    inner = f"SERVICE <http://127.0.0.1:{port}/> {{ ?s ?p ?o }}"
    refused = "SERVICE asks other servers, which is not allowed: only SERVICE <urn:rdfspider:text>"
    return {
        "no SPARQL": ("SELECT * { ?s ?p }", 2, "not valid SPARQL: line 1, column 19"),
        "rubbish": ("\x1b[31m'\" \ud800", 2, "not valid SPARQL"),
        "groups": (f"ASK {'{' * DEEP}{'}' * DEEP}", 1, "nested too deep"),
        "brackets": (f"ASK {{ FILTER({'(' * DEEP}1{')' * DEEP}) }}", 1, "nested too deep"),
        "negations": (f"ASK {{ FILTER({'!' * DEEP}true) }}", 1, "nested too deep"),
        "paths": (f"ASK {{ ?s {'(' * DEEP}<http://a>{')' * DEEP} ?o }}", 1, "nested too deep"),
        "lists": (f"ASK {{ ?s ?p {'(' * DEEP}1{')' * DEEP} }}", 1, "nested too deep"),
        "an update": ("DELETE WHERE { ?s ?p ?o }", 2, "would change the data"),
        "a service inside": (f"SELECT * {{ {inner} }}", 2, refused),
        "a silent one": (f"SELECT * {{ {inner.replace('SERVICE', 'SERVICE SILENT')} }}", 2, refused),
        "one in a subquery": (f"SELECT * {{ {{ SELECT * {{ OPTIONAL {{ {inner} }} }} }} }}", 2, refused),
        "one by variable": (
            f"SELECT * {{ VALUES ?x {{ <http://127.0.0.1:{port}/> }} SERVICE ?x {{ ?s ?p ?o }} }}",
            2,
            refused,
        ),
        "a load": (f"LOAD <http://127.0.0.1:{port}/>", 2, "would change the data"),
        "forever": (FOREVER, 1, "the query was ended after 1 s: ask for less, or allow it more time"),
    }


@pytest.mark.parametrize("name", list_hostile(0))
def test_a_hostile_query_gets_a_clear_answer_and_costs_nobody_else(
    name: str, crawled: Path, opened: Crawl, inside: socket.socket, run: Run
) -> None:
    query, code, complaint = list_hostile(inside.getsockname()[1])[name]
    # A busy machine may take long for any of them.
    timeout_s = 1 if name == "forever" else PATIENCE_S
    found, out, told = run("query", "--timeout", timeout_s, "--dir", crawled, "--", query)
    assert (found, out) == (code, ""), told
    assert complaint in told
    assert told.startswith("rdfspider: ")
    assert told.count("\n") == 1
    with pytest.raises(BlockingIOError):
        inside.accept()
    # From Python it is the same.
    with pytest.raises(UsageError if code == 2 else UnansweredError, match=re.escape(complaint)):
        opened.query(query, timeout_s=timeout_s)
    check_next(opened)


def check_next(opened: Crawl) -> None:
    """Whoever asks next is answered, and does not wait for a process to start."""
    assert opened.indexes._sparql is not None and opened.indexes._sparql._idle
    assert opened.query("ASK { ?s schema:name 'called word1x' }") is True
    assert opened.search("word1x")


def test_the_command_line_answers_after_a_query_that_was_ended(crawled: Path) -> None:
    start = [sys.executable, "-m", "rdfspider", "query", "--dir", str(crawled)]
    done = subprocess.run([*start, FOREVER, "--timeout", "0.5"], capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert subprocess.check_output([*start, "ASK { ?s schema:name 'called word1x' }"], timeout=PATIENCE_S) == b"true\n"


def test_of_a_billion_results_the_first_are_given_and_it_says_so(crawled: Path, opened: Crawl, run: Run) -> None:
    code, out, told = run("query", BILLION, "--rows", 1000, "--dir", crawled)
    assert (code, out.count("\n")) == (0, 1001)
    assert told == "rdfspider: there is more than is printed here: --rows 1000 was reached, or the limit of bytes\n"
    rows = opened.query(BILLION)
    assert isinstance(rows, Rows)
    assert rows.is_truncated
    assert 10_000 < len(rows) <= 100_000
    check_next(opened)


QUESTIONS = (
    ("search", "word1x"),
    ("query", "ASK {}"),
    ("entity", f"{FIRST}1#it"),
    ("stats",),
    ("export",),
)


def test_an_index_of_another_version_is_told_and_made_again_on_request(folder: Path, run: Run) -> None:
    quads, cards = read_quads(folder), read_cards(folder)
    paths = IndexPaths(folder)
    asked = Crawl.open(folder)
    assert asked.query("ASK {}") is True
    paths.version.write_text("99\n")
    complaint = f"its layout is '99', this one reads 5; make it again with `rdfspider index --rebuild --dir {folder}`"
    for question in (*QUESTIONS, ("index",), ("forget", "http://b.test/")):
        code, out, told = run(*question, "--dir", folder)
        assert (code, out) == (2, ""), question
        assert complaint in told
    with pytest.raises(UsageError, match="its layout is '99'"):
        asked.query("ASK {}")
    assert read_quads(folder) == quads, "what another version has made is left alone"
    assert run("index", "--rebuild", "--dir", folder)[0] == 0
    assert (read_quads(folder), read_cards(folder)) == (quads, cards)
    check_next(asked)


WORDED = "SELECT ?x { SERVICE <urn:rdfspider:text> { ?x text:query 'word1x' } }"
DAMAGES = {
    "ledger.sqlite": [("stats",), ("export",), ("query", WORDED)],
    "text": [("search", "word1x"), ("query", WORDED)],
}


@pytest.mark.parametrize("part", DAMAGES)
def test_a_damaged_part_is_told_in_a_line_and_costs_no_other_questions(folder: Path, run: Run, part: str) -> None:
    place = IndexPaths(folder).index / part
    for path in [place] if place.is_file() else place.iterdir():
        path.write_bytes(b"rubbish" * 1000)
    for question in DAMAGES[part]:
        code, out, told = run(*question, "--dir", folder)
        assert (code in (1, 2), out, told.count("\n")) == (True, "", 1), question
        assert "cannot be read" in told
    assert run("query", "ASK { ?s schema:name 'called word1x' }", "--dir", folder)[:2] == (0, "true\n")
    assert run("index", "--rebuild", "--dir", folder)[0] == 0
    assert find_places(Crawl.open(folder), f"{FIRST}1", "word1x") == EVERYWHERE


def test_what_was_half_written_is_not_read_and_harms_nobody(folder: Path, run: Run) -> None:
    quads, cards = read_quads(folder), read_cards(folder)
    (facts,) = folder.glob("shards/000/warc/*-facts-*.warc.gz")
    whole = facts.read_bytes()
    # As a crash leaves it: some of the next records, the last of them cut.
    facts.write_bytes(whole + whole[: len(whole) // 3])
    for flags in ((), ("--rebuild",)):
        code, _, told = run("index", *flags, "--dir", folder)
        assert (code, told) == (0, "indexed     8 pages, 16 quads, 8 entities\n")
        assert (read_quads(folder), read_cards(folder)) == (quads, cards)
    # The shard cuts it off, and the crawl goes on.
    url = "http://b.test/new"
    site = Site()
    site.add(url, make_worded(url, "newly"))
    with Web(site) as web:
        crawl(folder, url, "--delay", 0, *web.resolve({"*.test": "127.0.0.1"}), index_enabled=None)
    assert find_places(Crawl.open(folder), url, "newly") == EVERYWHERE
    assert find_places(Crawl.open(folder), f"{FIRST}1", "word1x") == EVERYWHERE
    check_archives(folder)


@pytest.mark.parametrize("share", [0.02, 0.4, 0.9])
def test_an_archive_that_was_cut_is_indexed_up_to_there_and_told(
    tmp_path: Path, make_record: RecordMaker, run: Run, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    urls = [f"http://far.test/{number}" for number in range(3)]
    parts = [gzip.compress(make_record(url, make_worded(url, f"far{url[-1]}x").body)) for url in urls]
    cut, folder = tmp_path / "cut.warc.gz", tmp_path / "new"
    start = len(parts[0] + parts[1])
    cut.write_bytes(b"".join(parts)[: start + int(len(parts[2]) * share)])
    code, _, told = run("index", cut, "--dir", folder)
    assert code == 0
    assert f"rdfspider: {cut} at {start}: " in told
    assert told.endswith("indexed     2 pages, 4 quads, 2 entities\n")
    opened = Crawl.open(folder)
    assert find_places(opened, urls[1], "far1x") == EVERYWHERE
    # When all of it is there, so is the rest.
    cut.write_bytes(b"".join(parts))
    assert run("index", "--dir", folder)[::2] == (0, "indexed     3 pages, 6 quads, 3 entities\n")
    assert find_places(Crawl.open(folder), urls[2], "far2x") == EVERYWHERE


def test_a_full_disk_is_told_questions_are_answered_and_it_goes_on_when_there_is_room(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    with mount_disk(tmp_path / "disk", 24_000_000) as disk:
        folder = disk / "crawl"
        Crawl.create(folder, [FIRST], shards=1)
        log = ShardLog(folder)
        log.write("http://a.test/first")
        assert run("index", "--dir", folder)[0] == 0
        log.write(*(f"http://a.test/{number}" for number in range(300)))
        filler = disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        code, _, told = run("index", "--dir", folder)
        assert code == 1
        assert "No space left on device" in told
        assert told.endswith("rdfspider: not everything is indexed: the same command goes on when that is mended\n")
        for question in (("search", "first"), ("query", "ASK { <http://a.test/first#it> ?p ?o }"), ("stats",)):
            code, out, told = run(*question, "--dir", folder)
            assert (code, told) == (0, "")
            assert out
        code, _, told = run("export", "--dir", folder, "--output", disk / "all.nq")
        assert (code, "No space left on device" in told) == (1, True)
        assert not (disk / "all.nq").exists()
        filler.unlink()
        assert run("index", "--dir", folder) == (0, "", "indexed     301 pages, 602 quads, 301 entities\n")
        check_merge(folder)
        assert len(read_cards(folder)) == 2 * 301
