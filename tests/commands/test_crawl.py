"""The commands of a crawl as a person types them, against a real server."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from tests.conftest import Run

from rdfspider import Config, Crawl, RdfspiderError
from rdfspider import api as crawl_module
from rdfspider.config import FetchConfig
from rdfspider.crawl.status import read_status
from web import Answer, Crawling, Web, command, make_chain, make_page, make_site, read_outcomes


@pytest.fixture
def web() -> Iterator[Web]:
    with Web(make_site(["a.test", "b.test"], 20)) as web:
        yield web


@pytest.fixture
def endless() -> Iterator[Web]:
    """A web that takes longer than any test waits."""
    with Web(make_chain("a.test", 10_000)) as web:
        yield web


def quick(web: Web) -> list[str]:
    return ["--delay", "0", "--shards", "1", *web.resolve({"*.test": "127.0.0.1"})]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["example.org"], "Missing option '--dir'. (see rdfspider crawl --help)"),
        (["--dir", "D"], "D has no seeds yet: name at least one URL to start from"),
        (
            ["http://127.0.0.1:8000/", "--dir", "D"],
            "http://127.0.0.1:8000/: the seed is on a private network; to crawl",
        ),
        (["x:y", "--dir", "D"], "x:y: not an http or https URL"),
        (["--seeds", "none", "--dir", "D"], "--seeds none: cannot be read: No such file or directory"),
        (["--seeds", "seeds", "--dir", "D"], "seeds, line 2: x:y: not an http or https URL"),
        (
            ["a.b", "--dir", "D", "--time", "soon"],
            "--time soon: not allowed; it may be a number of seconds of 0 or more",
        ),
        (["a.b", "--dir", "D", "--delay", "-1"], "--delay -1: not allowed; it may be a number of seconds of 0 or more"),
        (["a.b", "--dir", "D", "--pages", "all"], "--pages all: not allowed; it may be a whole number of 0 or more"),
        (
            ["a.b", "--dir", "D", "--shards", "4097"],
            "--shards 4097: not allowed; it may be a whole number from 0 to 4,096",
        ),
        (
            ["a.b", "--dir", "D", "--scope", "site"],
            "--scope site: not allowed; it may be one of host, domain, prefix, any",
        ),
        (["a.b", "--dir", "D", "--archive", "x"], "--archive x: not allowed; it may be one of structured, all, none"),
        (
            ["a.b", "--dir", "D", "--include", "a", "--include", "("],
            "--include (: not allowed; it may be a regular expression of RE2, which has no lookaround and no backreferences; "
            "what is wrong with this one: missing )",
        ),
        (
            ["a.b", "--dir", "D", "--resolve", "x"],
            "--resolve x: not allowed; it may be PATTERN=ADDRESS[:PORT], such as *.test=127.0.0.1:8085\n",
        ),
        (["a.b", "--dir", "D", "--contact", "me"], "--contact me: not allowed; it may be a URL or an e-mail address"),
        (
            ["a.b", "--dir", "D", "--contact", "me@a\nb"],
            "--contact 'me@a\\nb': not allowed; it may be a URL or an e-mail address, such as https://example.org/bot or "
            "you@example.org\n",
        ),
        (["a.b", "--dir", "D", "--pages", ""], "--pages '': not allowed; it may be a whole number of 0 or more\n"),
        (["a.b", "--dir", "D", "--pages"], "Option '--pages' requires an argument. (see rdfspider crawl --help)"),
        (["a.b", "--dir", "D", "--set", "pages"], "--set pages: not allowed; it may be SETTING=VALUE"),
        (["a.b", "--dir", "D", "--set", "=1"], "--set =1: not allowed; it may be SETTING=VALUE"),
        (["a.b", "--dir", "D", "--set", "fetch.x=1"], "fetch.x: there is no such setting"),
        (["a.b", "--dir", "D", "--set", "run.group_pages=0"], "--set run.group_pages 0: not allowed; it may be"),
        (
            ["a.b/" + "c" * 8192, "--dir", "D"],
            f"a.b/{'c' * 96}…: the seed has 8204 characters; it may have 8192 at most\n",
        ),
        (["a.b", "--dir", "seeds"], "seeds is not a folder"),
        (["a.b", "--dir", "."], ". is not a crawl: it has seeds but no crawl.toml of ours; name another folder"),
    ],
)
def test_what_was_typed_wrong_gets_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("seeds").write_text("# mine\nx:y\n")
    code, out, err = run("crawl", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"rdfspider: {complaint}")
    assert err.count("\n") == 1
    assert not Path("D").exists()


@pytest.mark.parametrize("name", ["status", "pause", "resume", "stop"])
def test_there_must_be_a_crawl_to_ask(run: Run, tmp_path: Path, name: str) -> None:
    code, out, err = run(name, "--dir", tmp_path / "none")
    assert (code, out, err) == (2, "", f"rdfspider: {tmp_path / 'none'}: there is no such folder\n")
    code, out, err = run(name, "--dir", tmp_path)
    assert (code, out) == (2, "")
    assert "is not a crawl" in err


def test_a_crawl_ends_by_itself(run: Run, web: Web, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    code, out, err = run("crawl", "http://a.test/", "--dir", folder, "--scope", "any", *quick(web))
    assert (code, out) == (0, "")
    first, *_, last = err.splitlines()
    assert first.startswith("rdfspider: without --contact nobody can reach you")
    assert err.count("ended: nothing is left to fetch, after 0:") == 1
    assert "pages       20 (" in err and " of 2 sites, 20 with structured data (100 %)" in err
    assert "types       schema:Thing 20" in err
    assert last == f"            rdfspider why http://a.test/ --dir {folder}", "the first seed"
    # The status is there after the end, for people and for machines.
    code, out, err = run("status", "--dir", folder)
    assert (code, err) == (0, "")
    assert out.startswith("ended: nothing is left to fetch")
    assert "shard 0     ended, " in out
    assert "connections" not in out and "CPU" not in out
    found = json.loads(run("status", "--dir", folder, "--json")[1])
    assert (found["state"], found["reason"], found["totals"]["pages"]) == ("ended", "finished", 20)
    assert found["shards"][0]["memory_used_bytes"] > 1_000_000
    assert (found["shards"][0]["state"], found["shards"][0]["connections"]) == ("ended", 0)
    # The same command has nothing left to do, and asks for nothing.
    before = len(web.log)
    assert run("crawl", "--dir", folder)[0] == 0
    assert len(web.log) == before


def test_progress_as_json(run: Run, web: Web, tmp_path: Path) -> None:
    flags = ["--json", "--pages", "7", "--contact", "me@example.org", "--scope", "any", *quick(web)]
    code, out, err = run("crawl", "http://a.test/", "--dir", tmp_path / "crawl", *flags)
    assert (code, err) == (0, "")
    first, *_, last = [json.loads(line) for line in out.splitlines()]
    assert first["state"] == "running"
    assert (last["state"], last["reason"], last["totals"]["pages"]) == ("ended", "pages", 7)
    assert out.count('{"state":"ended","reason"') == 1
    assert last["limits"] == {"pages": 7}
    assert any("(+me@example.org)" in exchange.headers["user-agent"] for exchange in web.log)


def test_seeds_from_a_file(run: Run, web: Web, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("# two\nhttp://a.test/\nhttp://b.test/  # the second\n")
    flags = ["--scope", "host", "--depth", "1", *quick(web)]
    code, _, _ = run("crawl", "--seeds", tmp_path / "seeds", "--dir", tmp_path / "crawl", *flags)
    assert code == 0
    assert {exchange.host for exchange in web.log} == {"a.test", "b.test"}


def test_pause_resume_stop(endless: Web, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with Crawling(folder, "http://a.test/", *quick(endless)) as crawling:
        assert crawling.wait_until(lambda: len(endless.log) > 5)
        assert crawling.status()["state"] == "running"
        again = subprocess.run(
            [sys.executable, "-m", "rdfspider", "crawl", "--dir", folder], capture_output=True, text=True, timeout=60
        )
        assert (again.returncode, again.stdout) == (2, "")
        assert again.stderr == f"rdfspider: {folder} is in use: a crawl runs there (process {crawling.process.pid})\n"
        command(folder, "pause")
        before = endless.asked
        assert crawling.wait_until(lambda: read_status(folder).state == "paused")
        assert read_status(folder).totals.in_flight == 0
        command(folder, "status")
        assert endless.asked == before
        command(folder, "resume")
        assert crawling.wait_until(lambda: endless.asked > before + 5)
        command(folder, "stop")
        # The command returns when the crawl is over.
        assert crawling.wait() == 0
        found = crawling.status()
        assert (found["state"], found["reason"]) == ("stopped", "asked")
        assert crawling.stderr().endswith("rdfspider: stopped; run the same command to go on\n")


@pytest.mark.parametrize(
    ("number", "code", "reason"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_finishes_what_is_under_way(
    endless: Web, tmp_path: Path, number: signal.Signals, code: int, reason: str
) -> None:
    with Crawling(tmp_path / "crawl", "http://a.test/", *quick(endless)) as crawling:
        assert crawling.wait_until(lambda: len(endless.log) > 5)
        crawling.process.send_signal(number)
        assert crawling.wait() == code
        found = crawling.status()
    assert (found["state"], found["reason"]) == ("stopped", reason)
    assert crawling.stderr().endswith("rdfspider: stopped; run the same command to go on\n")
    assert "Traceback" not in crawling.stderr()
    # All that was fetched is on record.
    assert found["totals"]["pages"] == sum(exchange.path != "/robots.txt" for exchange in endless.log)


def test_a_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        asked.append(path)
        return Answer(404) if path == "/robots.txt" else Answer(body=b"<p>late", delay_s=600)

    asked: list[str] = []
    with Web(answer) as web, Crawling(tmp_path / "crawl", "http://a.test/", *quick(web)) as crawling:
        assert crawling.wait_until(lambda: "/" in asked)
        crawling.interrupt()
        assert crawling.wait_until(lambda: "stopping within ten seconds; Ctrl-C once more" in crawling.stderr())
        crawling.interrupt()
        assert crawling.wait() == 130
        found = crawling.status()
    assert (found["state"], found["reason"], found["totals"]["scheduled"]) == ("stopped", "interrupted", 1)


def test_a_crawl_whose_process_is_gone_has_died(endless: Web, tmp_path: Path) -> None:
    with Crawling(tmp_path / "crawl", "http://a.test/", *quick(endless)) as crawling:
        assert crawling.wait_until(lambda: len(endless.log) > 5 and (tmp_path / "crawl/status.json").exists())
        crawling.kill()
        assert (crawling.status()["state"], crawling.status()["reason"]) == ("died", "gone")


def test_nobody_reads_the_progress(endless: Web, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "rdfspider", "crawl", "http://a.test/", "--dir", tmp_path / "crawl", "--json"]
    with subprocess.Popen([*line, *quick(endless)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert json.loads(process.stdout.readline())["state"] == "running"
        process.stdout.close()
        assert process.wait(60) == 141
        assert b"Traceback" not in process.stderr.read()


def test_a_crawl_goes_on_when_nobody_reads_what_it_says(endless: Web, tmp_path: Path) -> None:
    """A closed terminal must not take the limit of time with it."""
    line = [sys.executable, "-m", "rdfspider", "crawl", "http://a.test/", "--dir", tmp_path / "crawl", "--time", "3"]
    with subprocess.Popen([*line, *quick(endless)], stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.close()
        assert process.wait(60) in (0, 1), "1 where it was too busy to fetch a page"
    assert read_status(tmp_path / "crawl").reason == "time"


def test_pause_returns_when_nothing_is_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        asked.append(path)
        return Answer(404) if path == "/robots.txt" else Answer(body=make_page("/", ["/next"]).body, until=is_due)

    asked: list[str] = []
    is_due = threading.Event()
    folder = tmp_path / "crawl"
    with Web(answer) as web, Crawling(folder, "http://a.test/", *quick(web)) as crawling:
        assert crawling.wait_until(lambda: "/" in asked)
        # Who asks does not wait for ever.
        monkeypatch.setattr(crawl_module, "_ANSWER_S", 0.5)
        with pytest.raises(RdfspiderError, match=r"is not finished after 0.6 s; the crawl pauses when it is"):
            Crawl(folder, Config(fetch=FetchConfig(timeout_s=0.1))).pause()
        assert not read_outcomes(folder)
        with ThreadPoolExecutor(1) as thread:
            thread.submit(is_due.set)
            command(folder, "pause")
        assert [outcome.url for outcome in read_outcomes(folder)] == ["http://a.test/"]
        assert "/next" not in asked


def test_a_pause_does_not_wait_for_who_has_asked_nobody_yet(tmp_path: Path) -> None:
    """Hosts that share an address stand in line for it, and are served when the crawl goes on."""
    folder = tmp_path / "crawl"
    hosts = [f"{name}.test" for name in "abcdefgh"]
    with Web(make_site(hosts, 8)) as web:
        seeds = [f"http://{host}/" for host in hosts]
        arguments = [*seeds, "--shards", 1, "--delay", 0.1, *web.resolve({"*.test": "127.0.0.1"})]
        with Crawling(folder, *arguments, frontier_ip_delay_s=4) as crawling:
            assert crawling.wait_until(lambda: len(web.log) >= 1)
            command(folder, "pause")
            before = len(web.log)
            assert before < 2 * len(hosts), "each host and its robots.txt would have taken a minute"
            command(folder, "resume")
            assert crawling.wait_until(lambda: len(web.log) >= before + 2)


def test_a_crawl_of_which_nothing_came_says_so(run: Run, tmp_path: Path) -> None:
    with Web(lambda host, path, headers: Answer(404)) as web:
        code, _, err = run("crawl", "http://a.test/", "--dir", tmp_path / "crawl", *quick(web))
    assert code == 1
    assert err.splitlines()[-1] == "rdfspider: not a single page could be fetched from any seed (404 1)"


def test_an_interrupt_while_shards_start_is_no_traceback(endless: Web, tmp_path: Path) -> None:
    with Crawling(tmp_path / "crawl", "http://a.test/", *quick(endless)) as crawling:
        # By then Python runs there, and imports.
        assert crawling.wait_until(
            lambda: any(shard.memory_info().rss > 2e7 for shard in psutil.Process(crawling.process.pid).children())
        )
        crawling.interrupt()
        assert crawling.wait() == 130
    assert "Traceback" not in crawling.stderr()


def test_the_usage_names_seeds_once(run: Run) -> None:
    assert run("crawl", "--help")[1].startswith("Usage: rdfspider crawl [OPTIONS] [SEED]...\n")
