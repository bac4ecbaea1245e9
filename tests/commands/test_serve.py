"""`rdfspider serve`, and the site beside a crawl, as a person starts and ends them."""

import logging
import os
import random
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from conftest import Run
from rdfspider import Crawl
from rdfspider.commands import serve as command
from rdfspider.commands.terminal import show_log
from rdfspider.serve import server
from rdfspider.serve.access import make_access
from waiting import PATIENCE_S, wait_until
from web import Answer, Web

RDFSPIDER = [sys.executable, "-m", "rdfspider"]


@contextmanager
def start(folder: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A command in a session of its own, and the file with what it says."""
    said = folder.with_name(folder.name + ".said")
    with said.open("wb") as stream:
        server = subprocess.Popen(
            [*RDFSPIDER, *map(str, arguments)],
            stderr=stream,
            stdout=stream,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        yield server, said
    finally:
        server.kill()
        server.wait()


def find_port() -> int:
    """One that nobody else takes before the site does, nor after it: systems give away only higher ones by themselves, and other
    tests begin at ours."""
    while True:
        port = random.randrange(10_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def wait_for(said: Path, pattern: str) -> str:
    try:
        return wait_until(lambda: re.search(pattern, said.read_text()))[1]
    except AssertionError as error:
        raise AssertionError(f"{pattern!r} is not in: {said.read_text()}") from error


def fetch(address: str | urllib.request.Request) -> int:
    """The status of an answer; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def test_it_serves_until_ctrl_c_and_prints_where_and_with_which_token(tmp_path: Path) -> None:
    Crawl.create(tmp_path / "c", ["https://example.org/"])
    with start(tmp_path / "c", "serve", "--dir", tmp_path / "c", "--port", find_port()) as (server, said):
        address = wait_for(said, r"the site is at (http://127\.0\.0\.1:\d+/) until Ctrl-C")
        assert wait_for(said, r"show this token at \S+login: (\S+)\n")
        assert fetch(address) == 200
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
        assert fetch(address) == 0


@pytest.mark.parametrize(("flags", "is_open"), [([], False), (["--cors", "*"], True)])
def test_it_says_whether_pages_of_other_sites_may_read(tmp_path: Path, flags: list[str], is_open: bool) -> None:
    Crawl.create(tmp_path / "c", ["https://example.org/"])
    with start(tmp_path / "c", "serve", "--dir", tmp_path / "c", *flags) as (_, said):
        address = wait_for(said, r"the site is at (http://127\.0\.0\.1:\d+/) until Ctrl-C")
        with urllib.request.urlopen(f"{address}.well-known/void", timeout=PATIENCE_S) as answer:
            assert (answer.headers["Access-Control-Allow-Origin"] == "*") == is_open


def test_what_cannot_be_served_is_said_in_one_line(tmp_path: Path, run: Run) -> None:
    code, _, err = run("serve", "--dir", tmp_path / "none")
    assert (code, err.count("\n")) == (2, 1)
    Crawl.create(tmp_path / "c", ["https://example.org/"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = run("serve", "--dir", tmp_path / "c", "--port", taken.getsockname()[1])
    assert code == 2
    assert "cannot be used" in err
    for origin in ("app.example", "https://app.example/", "https://app.example/path", "ftp://app.example"):
        code, _, err = run("serve", "--dir", tmp_path / "c", "--cors", origin)
        assert (code, err.count("\n"), f"--cors {origin}: " in err) == (2, 1, True)
    for host in ("no.such.address.test", "192.0.2.1"):
        code, _, err = run("serve", "--dir", tmp_path / "c", "--host", host)
        assert code == 2
        assert f"--host {host} cannot be used" in err
        # Nobody has asked for a port.
        assert "83" not in err


def test_it_may_be_called_by_a_name_that_was_given(tmp_path: Path, run: Run) -> None:
    Crawl.create(tmp_path / "c", ["https://example.org/"])
    with start(tmp_path / "c", "serve", "--dir", tmp_path / "c", "--name", "crawl.example.org") as (_, said):
        address = wait_for(said, r"the site is at (http://127\.0\.0\.1:\d+/) until Ctrl-C")
        for name, status in (("crawl.example.org", 200), ("evil.example", 421)):
            request = urllib.request.Request(f"{address}login", headers={"Host": name})
            wait_until(lambda request=request, status=status: fetch(request) == status)
    code, _, err = run("serve", "--dir", tmp_path / "c", "--name", "https://crawl.example.org/")
    assert (code, err.count("\n"), "that is no name of a server" in err) == (2, 1, True)


def test_a_token_that_can_be_guessed_is_not_for_others(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Crawl.create(tmp_path / "c", ["https://example.org/"])
    monkeypatch.setenv("RDFSPIDER_TOKEN", "x" * 15)
    code, _, err = run("serve", "--dir", tmp_path / "c", "--host", "0.0.0.0", "--public")
    assert (code, err.count("\n"), "RDFSPIDER_TOKEN" in err) == (2, 1, True)


def test_what_the_site_and_the_search_have_to_say_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with show_log():
        logging.getLogger("rdfspider.serve.app").warning("a page could not be shown")
        logging.getLogger("rdfspider.index.quads.sparql.engine").warning("a process has ended")
    assert capsys.readouterr().err == "rdfspider: a page could not be shown\nrdfspider: a process has ended\n"


@pytest.mark.parametrize(
    ("host", "is_public", "is_allowed"),
    [
        ("127.0.0.1", False, True),
        ("::1", False, True),
        ("localhost", False, True),
        ("0.0.0.0", False, False),
        ("0.0.0.0", True, True),
    ],
)
def test_where_others_reach_it_control_takes_public(host: str, is_public: bool, is_allowed: bool) -> None:
    access = make_access(host, is_public, token="t")
    assert access.is_token("t") is is_allowed


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    page = b'<!doctype html><title>Tea</title><script type="application/ld+json">{"@type":"http://schema.org/Product","http://schema.org/name":"Tea"}</script>'
    with Web(lambda host, path, headers: Answer(body=page) if path == "/" else Answer(status=404)) as found:
        yield found


def crawl_flags(web: Web, folder: Path) -> list[object]:
    flags: list[object] = ["crawl", "http://tea.test/", "--dir", folder, *web.resolve({"*.test": "127.0.0.1"})]
    flags += ["--allow-private", "--delay", "0", "--shards", "1", "--set", "crawl.ways="]
    return [*flags, "--serve", "--port", find_port()]


def test_the_site_of_a_crawl_is_there_from_the_start_and_stays_until_ctrl_c(web: Web, tmp_path: Path) -> None:
    with start(tmp_path / "c", *crawl_flags(web, tmp_path / "c")) as (server, said):
        address = wait_for(said, r"the site is at (http://127\.0\.0\.1:\d+/)")
        assert fetch(f"{address}monitor") == 200
        wait_for(said, r"(the site stays at)")
        assert fetch(f"{address}search?q=tea") == 200
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
        assert fetch(address) == 0


def test_the_site_of_a_crawl_has_limits_as_told(web: Web, tmp_path: Path) -> None:
    flags = [
        *crawl_flags(web, tmp_path / "c"),
        "--query-timeout",
        "5",
        "--query-rows",
        "7",
        "--cors",
        "https://app.example",
    ]
    with start(tmp_path / "c", *flags) as (_, said):
        address = wait_for(said, r"the site is at (http://127\.0\.0\.1:\d+/)")
        request = urllib.request.Request(f"{address}sparql", headers={"Accept": "text/html"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            assert "A query may take 5.0 s and give 7 rows." in answer.read().decode()
        request = urllib.request.Request(f"{address}.well-known/void", headers={"Origin": "https://app.example"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"


@pytest.mark.parametrize(
    "flags", [("--port", "8400"), ("--query-timeout", "5"), ("--query-rows", "7"), ("--cors", "*")]
)
def test_a_crawl_without_a_site_takes_no_flags_for_it(tmp_path: Path, run: Run, flags: tuple[str, ...]) -> None:
    code, _, err = run("crawl", "https://tea.test/", "--dir", tmp_path / "c", *flags)
    assert (code, err) == (2, f"rdfspider: {flags[0]}: only for a crawl that shows its site, by --serve\n")
    assert not (tmp_path / "c").exists()


def wait_until_it_runs(folder: Path) -> Crawl:
    wait_until((folder / "control").exists)
    return Crawl.open(folder)


def test_the_site_of_a_crawl_that_was_stopped_from_it_stays_until_ctrl_c(web: Web, tmp_path: Path) -> None:
    flags = [*crawl_flags(web, tmp_path / "c"), "--delay", "600"]
    with start(tmp_path / "c", *flags) as (server, said):
        address = wait_for(said, r"the site is at (http://127\.0\.0\.1:\d+/)")
        wait_until_it_runs(tmp_path / "c").stop(wait=False)
        wait_for(said, r"(the site stays at)")
        assert Crawl.open(tmp_path / "c").status().state == "stopped"
        assert fetch(f"{address}monitor") == 200
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
        assert fetch(address) == 0


def test_ctrl_c_ends_the_crawl_and_its_site(web: Web, tmp_path: Path) -> None:
    flags = [*crawl_flags(web, tmp_path / "c"), "--delay", "600"]
    with start(tmp_path / "c", *flags) as (server, said):
        address = wait_for(said, r"the site is at (http://127\.0\.0\.1:\d+/)")
        wait_until_it_runs(tmp_path / "c")
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130
        assert fetch(address) == 0


def test_the_site_of_a_crawl_that_is_killed_goes_with_it(web: Web, tmp_path: Path) -> None:
    with start(tmp_path / "c", *crawl_flags(web, tmp_path / "c")) as (server, said):
        address = wait_for(said, r"the site is at (http://127\.0\.0\.1:\d+/)")
        wait_until(lambda: fetch(address) == 200)
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: fetch(address) == 0)


def test_the_browser_does_not_give_way_to_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(server, "start_site", lambda order: None)
    monkeypatch.setattr(command, "open_browser", done.append)
    monkeypatch.setattr(os, "nice", lambda more: done.append(f"nice {more}"))
    with command.SiteBeside(tmp_path) as beside:
        beside.start()
    assert done == [beside.address, "nice 15"]


def test_a_site_that_was_not_started_leaves_its_port(tmp_path: Path) -> None:
    with command.SiteBeside(tmp_path) as beside:
        pass
    assert fetch(beside.address) == 0
