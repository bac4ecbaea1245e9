"""The demo as a newcomer runs it: what its sites publish is found, what they hide is not, and its traps hold nobody."""

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from rdfspider import Crawl
from rdfspider.cli import run_command
from rdfspider.commands.demo import read_statements
from rdfspider.crawl.settings import load_config
from rdfspider.demo.answers import DemoAddresses
from rdfspider.demo.expectations import QUESTIONS, list_hidden, list_published
from rdfspider.demo.sites.press import NOT_KEPT
from rdfspider.demo.world import make_key
from web import Outcome, check_archives, read_outcomes, read_responses

ENVIRONMENT = {**os.environ, "RDFSPIDER_RUN_MIN_FREE_BYTES": "1000000"}
COMMAND = [sys.executable, "-m", "rdfspider", "demo", "--no-site"]


@dataclass(frozen=True)
class Demo:
    """A demo that has run."""

    folder: Path
    at: DemoAddresses
    output: str
    errors: str

    @cached_property
    def statements(self) -> dict[str, str]:
        return read_statements(self.folder)

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        return {outcome.url: outcome for outcome in read_outcomes(self.folder)}

    @cached_property
    def asked(self) -> set[str]:
        """What a server has answered."""
        return {url for url, outcome in self.outcomes.items() if outcome.status}

    @cached_property
    def records(self) -> list[tuple[str, str]]:
        """Every record of every segment: its type, and all words of its headers and its block, as in a URL."""
        found = []
        for path in sorted(self.folder.glob("shards/*/warc/*.warc.gz")):
            with path.open("rb") as stream:
                for record in ArchiveIterator(stream, parse_http=False):
                    block = record.reader.read()
                    packed = block.find(b"\x1f\x8b\x08")
                    plain = block if packed < 0 else block[:packed] + gzip.decompress(block[packed:])
                    words = f"{dict(record.headers)} {plain.decode('utf-8', 'replace')}"
                    found.append((record.headers["WARC-Type"], make_key(words)))
        return found

    def count_pages(self, pattern: str) -> int:
        """Pages whose path and query have this form."""
        form = re.compile(rf"http://[a-z]+\.localhost:\d+(?:{pattern})")
        return sum(bool(form.fullmatch(url)) and outcome.status == 200 for url, outcome in self.outcomes.items())


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo") / "crawl"
    # What an earlier demo has left gives way.
    start = "http://www.localhost:8585/"
    Crawl.create(folder, [start], shards=1, contact=start, resolve=["*.localhost=127.0.0.1"])
    done = subprocess.run(
        [*COMMAND, "--dir", str(folder)], env=ENVIRONMENT, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    port = re.search(r"http://www\.localhost:(\d+)/", done.stderr)
    assert port
    return Demo(folder, DemoAddresses(int(port[1])), done.stdout, done.stderr)


def test_every_published_thing_is_in_the_archive(demo: Demo) -> None:
    published = list_published(demo.at)
    missing = [row for row in published if f'"{row.literal}"' not in demo.statements.get(row.url, "")]
    assert missing == []


@pytest.mark.parametrize("reason", ["robots", "noindex", "nofollow", "expired", "trap"])
def test_nothing_hidden_is_in_the_archive(demo: Demo, reason: str) -> None:
    hidden = [thing for thing in list_hidden(demo.at) if thing.reason == reason]
    assert hidden
    leaked = [(thing, kind) for kind, words in demo.records for thing in hidden if make_key(thing.literal) in words]
    assert leaked == []
    assert {thing.url for thing in hidden if "?" not in thing.url and not thing.url.endswith("/products")}.isdisjoint(
        read_responses(demo.folder)
    )


def test_every_kind_of_record_was_looked_into(demo: Demo) -> None:
    assert {kind for kind, _ in demo.records} == {"warcinfo", "request", "response", "metadata", "conversion"}
    # A name that may be known is seen in all of them where it is: in bodies, their text, statements, titles and links.
    seen = {kind for kind, words in demo.records if make_key("Bells at Low Water") in words}
    assert seen == {"request", "response", "metadata", "conversion"}


def test_nothing_hidden_is_in_other_files(demo: Demo) -> None:
    files = [path for path in demo.folder.rglob("*") if path.is_file() and path.suffix != ".gz"]
    assert demo.folder / "status.json" in files
    names = [thing.literal.encode() for thing in list_hidden(demo.at)]
    assert [(path, name) for path in files for name in names if name in path.read_bytes()] == []


def test_what_robots_forbid_is_never_asked_for(demo: Demo) -> None:
    for thing in list_hidden(demo.at):
        if thing.reason == "robots":
            assert (demo.outcomes[thing.url].get("reason"), demo.outcomes[thing.url].status) == ("disallowed", 0)
    assert [url for url in demo.asked if re.search(r"\d/(cart|print)\b", url)] == []


def test_what_only_links_with_nofollow_lead_to_is_not_known(demo: Demo) -> None:
    assert [
        thing.url for thing in list_hidden(demo.at) if thing.reason == "nofollow" and thing.url in demo.outcomes
    ] == []


def test_traps_hold_nobody(demo: Demo) -> None:
    assert 4 <= demo.count_pages(r"/calendar/\d+/\d+") < 120
    assert demo.count_pages(r"/(archive/)+") < 12
    filtered = [url for url in demo.asked if re.search(r"/products\?(?!page)", url)]
    assert len(filtered) < 100
    assert ", 0 to fetch\n" in demo.errors, "they end by themselves, without a budget of pages"


def test_there_are_about_500_pages(demo: Demo) -> None:
    pages = demo.count_pages(".*")
    of_traps = demo.count_pages(r"/calendar/.*|/(archive/)+|/products\?(?!page).*")
    assert 450 <= pages - of_traps <= 620


def test_both_shards_have_pages(demo: Demo) -> None:
    assert [path.name for path in sorted(demo.folder.glob("shards/*/"))] == ["000", "001"]
    assert len(list(demo.folder.glob("shards/*/warc/*-pages-*.warc.gz"))) == 2


def test_nobody_else_is_asked(demo: Demo) -> None:
    strangers = [url for url in demo.outcomes if not re.match(rf"http://[a-z]+\.localhost:{demo.at.port}/", url)]
    assert strangers == []


def test_parameters_of_campaigns_and_sessions_are_dropped(demo: Demo) -> None:
    assert [url for url in demo.asked if "utm_" in url or "PHPSESSID" in url] == []


def test_variants_of_a_list_are_known_as_such(demo: Demo) -> None:
    variant = demo.at.url("shop", "/products?page=2&sort=price")
    assert variant in demo.outcomes
    assert variant not in demo.statements


def test_apologies_are_no_pages(demo: Demo) -> None:
    assert demo.outcomes[demo.at.url("recipes", "/recipes/green-goose")].get("reason") == "soft-404"
    apologies = [url for url, outcome in demo.outcomes.items() if outcome.get("reason") == "soft-404"]
    assert all(url.startswith(demo.at.url("recipes", "/recipes/")) for url in apologies)


def test_the_copy_of_the_museum_is_known_as_one(demo: Demo) -> None:
    copies = [
        outcome.get("duplicate")
        for url, outcome in demo.outcomes.items()
        if url.startswith(demo.at.url("mirror", "/objects/"))
    ]
    assert copies
    assert set(copies) == {"exact"}


def test_what_may_not_be_kept_is_understood_but_not_kept(demo: Demo) -> None:
    url = demo.at.url("town", f"/articles/{NOT_KEPT.key}")
    assert NOT_KEPT.title in demo.statements[url]
    assert url not in read_responses(demo.folder)


def test_what_it_says_to_try_next_gives_the_same_statements(demo: Demo, tmp_path: Path) -> None:
    _, pages, *contexts = shlex.split(demo.errors.partition("try next")[2].splitlines()[0])[1:-2]
    assert run_command(["extract", pages, *contexts, "--output", str(tmp_path / "data.nq")]) == 0
    kept = demo.statements.keys() - {demo.at.url("town", f"/articles/{NOT_KEPT.key}")}
    expected = {line for url in kept for line in demo.statements[url].splitlines()}
    assert set((tmp_path / "data.nq").read_text().splitlines()) == expected


def test_redirects_end(demo: Demo) -> None:
    assert demo.outcomes[demo.at.url("old", "/contents")].status == 200
    assert demo.outcomes[demo.at.url("old", "/start")].get("redirected-from") == demo.at.url("old", "/")
    assert {demo.outcomes[demo.at.url("old", f"/loop/{number}")].status for number in (1, 2)} == {301}
    assert demo.outcomes[demo.at.url("old", "/2019/lost")].status == 404


def test_the_archive_is_sound(demo: Demo) -> None:
    check_archives(demo.folder)


def test_it_tells_what_was_found(demo: Demo) -> None:
    lines = [line for line in demo.output.splitlines() if line]
    assert re.match(
        r"Found (\d+) of \1 things that the sites publish: 50 books, 48 products, 40 events, 40 recipes, 30 ", lines[0]
    )
    assert "  Drossen                  data, events, museum, portal" in lines
    assert (
        "Left out, as it should be: 5 behind robots.txt, 5 marked noindex, 3 behind nofollow links, 3 at the bottom of traps, "
        "1 out of date."
    ) in lines


def test_its_questions_have_answers(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    _, *answers = demo.output.split("\n$ rdfspider ")
    assert len(answers) == len(QUESTIONS)
    for question, answer in zip(QUESTIONS, answers, strict=True):
        first, *lines = answer.splitlines()
        assert shlex.split(first) == [*question.arguments, "--dir", str(demo.folder)]
        if question.sparql:
            # Below the names of the columns and their line.
            rows = [line for line in lines if line][2:-1]
            assert len(rows) == len(set(rows)) > 1
        else:
            assert lines[1].startswith("1. ")
            assert re.search(r"^(1 to \d+ of )?[1-9]\d* results? in \d+ ms$", answer, re.MULTILINE)
            # What is printed is what the command prints that is shown.
            assert run_command(shlex.split(first)) == 0
            again = capsys.readouterr().out.splitlines()[:-1]
            assert lines[1 : len(again) + 1] == again
    for name in ("An Atlas of Echoes", "Brisa Corridane"):
        assert name in "".join(answers)


def test_what_is_published_is_found_by_words_and_sparql(demo: Demo) -> None:
    crawl = Crawl.open(demo.folder)
    for published in list_published(demo.at)[::40]:
        query = f"ASK {{ GRAPH <{published.url}> {{ ?s ?p ?o FILTER(STR(?o) = {json.dumps(published.literal)}) }} }}"
        assert crawl.query(query) is True, published
        assert crawl.search(f'"{published.literal}"'), published


def test_nothing_hidden_is_found_by_words_or_sparql(demo: Demo) -> None:
    crawl = Crawl.open(demo.folder)
    hidden = list_hidden(demo.at)
    assert [thing for thing in hidden if crawl.search(f'"{thing.literal}"').total] == []
    names = "|".join(re.escape(thing.literal) for thing in hidden).replace("\\", "\\\\")
    for pattern in ("?s ?p ?o", "GRAPH ?page { ?s ?p ?o }"):
        assert crawl.query(f'ASK {{ {pattern} FILTER(REGEX(STR(?o), "{names}", "i")) }}') is False
    # The same question finds what may be found.
    assert crawl.query('ASK { ?s ?p ?o FILTER(REGEX(STR(?o), "an atlas of\\\\ echoes", "i")) }') is True


def test_another_crawl_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    Crawl.create(folder, ["https://example.org/"])
    assert run_command(["demo", "--dir", str(folder)]) == 2
    assert capsys.readouterr().err == (
        f"rdfspider: {folder} is a crawl of https://example.org/, not of the demo; name another folder by --dir\n"
    )
    assert (folder / "crawl.toml").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "letter.txt").write_text("Dear reader")
    assert run_command(["demo", "--dir", str(tmp_path)]) == 2
    assert "is not a crawl" in capsys.readouterr().err
    assert (tmp_path / "letter.txt").exists()


def test_what_a_person_has_put_beside_a_demo_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = "http://www.localhost:8585/"
    Crawl.create(tmp_path / "demo", [start], contact=start, allow_private=True)
    (tmp_path / "demo" / "notes.txt").write_text("Dear reader")
    assert run_command(["demo", "--dir", str(tmp_path / "demo")]) == 2
    assert "also holds notes.txt, which no demo has made" in capsys.readouterr().err
    assert (tmp_path / "demo" / "notes.txt").exists()


@pytest.mark.parametrize("seeds", [(), ("http://myapp.localhost:3000/",), ("http://www.localhost:3000/",)])
def test_a_crawl_of_ones_own_is_left_alone(
    seeds: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    resolve = ["*.localhost=127.0.0.1"]
    if seeds:
        Crawl.create(folder, seeds, shards=1, contact="me@example.org", resolve=resolve)
    else:
        Crawl.create_for_import(folder, shards=1)
    assert run_command(["demo", "--dir", str(folder)]) == 2
    assert "not of the demo; name another folder by --dir" in capsys.readouterr().err
    assert (folder / "crawl.toml").exists()


@pytest.mark.parametrize("flag", ["--port", "--site-port"])
def test_a_port_that_is_taken_costs_no_earlier_demo(tmp_path: Path, flag: str) -> None:
    start = "http://www.localhost:8585/"
    folder = tmp_path / "demo"
    Crawl.create(folder, [start], shards=1, contact=start, resolve=["*.localhost=127.0.0.1"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run_command(["demo", "--dir", str(folder), flag, str(taken.getsockname()[1])]) == 2
    assert (folder / "crawl.toml").exists()


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run_command(["demo", "--dir", str(tmp_path / "demo"), "--port", str(port)]) == 2
    assert f"port {port} is taken" in capsys.readouterr().err


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [*COMMAND, "--serve-only"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_sites_are_served_until_ctrl_c(serving: subprocess.Popen[str], tmp_path: Path) -> None:
    assert serving.stdout is not None
    port = int(re.findall(r":(\d+)/", serving.stdout.readline())[0])
    with socket.create_connection(("127.0.0.1", port), 10) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\nHost: town.localhost\r\nConnection: close\r\n\r\n")
        assert wire.recv(15) == b"HTTP/1.1 200 OK"
    # The command that it shows crawls them, at the pace of the demo itself.
    command = [*shlex.split(serving.stdout.readline())[1:], "--pages", "5"]
    done = subprocess.run(
        [sys.executable, "-m", "rdfspider", *command],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert "ended: the limit of pages is reached" in done.stderr
    assert load_config(tmp_path / "mycrawl").frontier.ip_delay_s == 0
    shutil.rmtree(tmp_path / "mycrawl")
    serving.send_signal(signal.SIGINT)
    assert serving.wait(60) == 0
    assert list(tmp_path.iterdir()) == []
