"""The display: what it draws, and what a real terminal is shown by a real crawl."""

import fcntl
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import ConsoleDimensions
from tests.conftest import Run

from rdfspider.commands.display import Display, draw, draw_sparkline
from rdfspider.commands.terminal import can_display
from rdfspider.crawl.messages import Beat, Find
from rdfspider.crawl.status import Status, Totals, read_status
from web import Answer, Web, make_chain, make_page

SMALL = ConsoleDimensions(80, 24)
# What moves the cursor, clears or colours; nothing else may come to a terminal.
OURS = re.compile(r"\x1b\[(?:\?25[hl]|[0-9;]*m|1A|2K)")


def make_status(**facts: Any) -> Status:
    totals = Totals(
        pages=1200,
        structured=900,
        quads=44_000,
        sites=3,
        hosts=12,
        active_hosts=7,
        known=20_000,
        scheduled=18_000,
        statuses={"200": 1200, "404": 31},
        errors={"timeout": 2},
        quads_by_syntax={"jsonld": 40_000, "rdfa": 4000},
        types={"http://schema.org/Product": 812},
        properties={"http://schema.org/name": 900},
        slowest_hosts={"slow.test": 4.25},
        finds=tuple(
            Find(float(number), f"http://a.test/{number}", f"Page {number}", ("http://schema.org/Product",), 12)
            for number in range(10)
        ),
    )
    shards = tuple(
        Beat(number, 1, 0.0, 1, (1, 1), False, cpu_percent=90.0 + number, memory_used_bytes=150_000_000, pages=600)
        for number in range(2)
    )
    status = Status(state="running", run_s=75.0, pages_s=20.0, bytes_s=2.5e6, totals=totals, shards=shards)
    return msgspec.structs.replace(status, **facts)


def write(status: Status, size: ConsoleDimensions = SMALL) -> list[str]:
    return [line.plain for line in draw(status, Path("mycrawl"), [(10.0, 1e6), (20.0, 2.5e6)], 2, size)]


def test_a_small_terminal_is_shown_what_counts() -> None:
    lines = write(make_status(limits={"pages": 2000.0}))
    assert lines == [
        f"{'rdfspider  running  1:15  mycrawl':<64}ETA 0:40 (pages)",
        "pages/s      20.0 ▅█",
        "MB/s         2.50 ▄█",
        "pages     1,200  structured 900 (75 %)  sites 3",
        "URLs      queue 18,000  known 20,000  failed 0  disallowed 0",
        "hosts     active 7  known 12  connections 0",
        "answers   200 1,200, 404 31, timeout 2",
        "quads     44,000: jsonld 40,000, rdfa 4,000",
        "types     schema:Product 812",
        "slowest   slow.test 4.2 s",
        "shard 0   CPU  90 %  150 MB  600 pages  running",
        "shard 1   CPU  91 %  150 MB  600 pages  running",
        "found     Page 9  12 quads  schema:Product",
        "          http://a.test/9",
        "found     Page 8  12 quads  schema:Product",
        "          http://a.test/8",
        "found     Page 7  12 quads  schema:Product",
        "          http://a.test/7",
        "found     Page 6  12 quads  schema:Product",
        "          http://a.test/6",
        "found     Page 5  12 quads  schema:Product",
        "          http://a.test/5",
    ]


def test_it_grows_with_the_terminal() -> None:
    status = make_status()
    assert len([line for line in write(status, ConsoleDimensions(120, 60)) if line.startswith("found")]) == 10
    assert "property  schema:name 900" in write(status, ConsoleDimensions(120, 60))
    for height in range(10, 60):
        assert len(write(status, ConsoleDimensions(80, height))) < height


def test_of_many_shards_those_are_shown_that_have_something_to_say() -> None:
    beat = make_status().shards[0]
    shards = [msgspec.structs.replace(beat, shard=number, cpu_percent=float(number)) for number in range(64)]
    shards[5] = msgspec.structs.replace(shards[5], state="suspended", reason="the disk is full")
    lines = write(make_status(shards=tuple(shards)))
    assert [line[:9] for line in lines if line.startswith("shard")] == [
        "shard 5  ",
        *(f"shard {number} " for number in range(56, 64)),
    ]
    assert "shard 5   CPU   5 %  150 MB  600 pages  suspended: the disk is full" in lines
    assert [line for line in lines if line.startswith("found")]


def test_before_anything_is_known() -> None:
    lines = [line.plain for line in draw(Status(state="running"), Path("mycrawl"), [], 0, SMALL)]
    assert lines[:4] == [
        "rdfspider  running  0:00  mycrawl",
        "pages/s       0.0 ",
        "MB/s         0.00 ",
        "pages     0  structured 0  sites 0",
    ]


def test_what_the_web_says_is_neither_markup_nor_a_command() -> None:
    find = Find(
        1.0, "http://a.test/", "[bold]\x1b]0;owned\x07[/bold] :smile: \u202eevil", ("http://schema.org/[red]",), 1
    )
    lines = write(make_status(totals=Totals(finds=(find,), slowest_hosts={"[a]\x1b.test": 1.0})))
    assert "found     [bold] ]0;owned [/bold] :smile:  evil  1 quads  schema:[red]" in lines
    assert "slowest   [a] .test 1.0 s" in lines


@pytest.mark.parametrize(
    ("values", "seconds", "width", "line"),
    [
        ([], 0, 10, ""),
        ([0.0, 0.0], 2, 10, "▁▁"),
        ([0.0, 1.0, 2.0, 4.0, 8.0], 5, 10, "▁▂▃▅█"),
        ([1.0] * 300, 300, 0, ""),
        ([8.0] * 4 + [4.0] * 4, 8, 3, "█▅"),
        # A second later the groups are the same ones.
        ([8.0] * 4 + [4.0] * 4, 9, 3, "█▆▅"),
    ],
)
def test_a_sparkline(values: list[float], seconds: int, width: int, line: str) -> None:
    assert draw_sparkline(values, seconds, width) == line


def test_a_long_sparkline_fits() -> None:
    for seconds in range(1, 400):
        values = [float(second % 7) for second in range(min(seconds, 300))]
        assert min(seconds, 30) <= len(draw_sparkline(values, seconds, 60)) <= min(seconds, 60)


class Terminal:
    """A pseudo-terminal, and all that was written to it."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self._master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._written = bytearray()
        self._has_news = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        """As it was written, with what moves the cursor."""
        return self._written.decode(errors="replace")

    @property
    def plain(self) -> str:
        """The text alone."""
        return OURS.sub("", self.text)

    def wait_for(self, text: str, timeout_s: float = 60.0) -> bool:
        with self._has_news:
            return self._has_news.wait_for(lambda: text in self.plain, timeout_s)

    def close(self) -> str:
        """All of it, once everybody has closed the terminal."""
        os.close(self.slave)
        self._thread.join(20)
        os.close(self._master)
        return self.plain

    def _read(self) -> None:
        while True:
            try:
                read = os.read(self._master, 65536)
            except OSError:
                return
            with self._has_news:
                self._written += read
                self._has_news.notify_all()


@contextmanager
def crawling(terminal: Terminal, *arguments: object, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A crawl as a person starts it, with the terminal as its stderr; nothing of it is left."""
    line = [sys.executable, "-m", "rdfspider", "crawl", "--contact", "a@b.test", "--delay", "0", *map(str, arguments)]
    process = subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=terminal.slave,
        env={**os.environ, "TERM": "xterm-256color", **environment},
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def stderr_is(descriptor: int) -> Iterator[None]:
    """Have this process write its errors elsewhere."""
    saved = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def hostile_web() -> Web:
    """A dozen pages with titles that want to command a terminal, the last of which come late enough to be seen."""

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if not re.fullmatch(r"/\d*", path):
            return Answer(404)
        number = int(path[1:] or 0)
        links = [f"http://{other}.shop.test/{number + 1}" for other in "ab"] if number < 6 else []
        page = make_page(f"http://{host}{path}", links)
        title = f"<title>[red]page {number}[/red] \x1b[2J\x1b]0;owned\x07\x9b5n \u202eevil</title>".encode()
        body = re.sub(rb"<title>.*?</title>", lambda _: title, page.body)
        return Answer(body=body, delay_s=0.3)

    return Web(answer)


def test_a_crawl_on_a_terminal(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "crawl"
    terminal = Terminal()
    with hostile_web() as web:
        flags = ["--dir", folder, "--shards", 2, "--pages", 500, *web.resolve({"*.test": "127.0.0.1"})]
        with crawling(terminal, "http://a.shop.test/", "http://a.other.test/", *flags) as process:
            assert terminal.wait_for("found     ")
            code = process.wait(60)
            assert (code, process.stdout.read() if process.stdout else None) == (0, b"")
    shown = terminal.close()
    display, ended, summary = shown.rpartition("ended: nothing is left to fetch")
    assert ended
    for text in (
        "rdfspider  running  0:0",
        f"{folder}"[:20],
        "ETA ",
        "pages/s  ",
        "MB/s  ",
        "structured ",
        "jsonld ",
        "hosts     active ",
        "queue ",
        "known ",
        "answers   200 ",
        "types     schema:Thing ",
        "shard 0   CPU ",
        "shard 1   CPU ",
        " MB  ",
        "slowest   ",
    ):
        assert text in display
    assert any(block in display for block in "▂▃▄▅▆▇█")
    # Titles are shown as they are, and reach no terminal as commands.
    assert re.search(r"found     \[red\]page \d\[/red\]", display)
    assert "\x1b" not in shown and "\x07" not in shown and "\x9b" not in shown and "\u202e" not in shown
    # The cursor is there, also if the process is killed while it draws.
    assert terminal.text.rfind("\x1b[?25h") > terminal.text.rfind("\x1b[?25l")
    # At the end nothing is left of it but the summary.
    assert "of 2 sites" in summary and "shard 0" not in summary and "found  " not in summary
    assert terminal.text.rpartition("ended: nothing")[0].rstrip("\r").endswith("\x1b[1A\x1b[2K")
    # What it advises to try works.
    extract, hosts, why = map(shlex.split, summary.partition("try next")[2].splitlines())
    monkeypatch.chdir(tmp_path)
    assert run(*extract[1:]) == (0, "", "")
    assert (tmp_path / "data.nq").read_text().count("\n") == read_status(folder).totals.quads > 10
    assert "a.shop.test" in run(*hosts[1:])[1]
    assert run(*why[1:])[1].startswith("fetched")


def test_messages_appear_above_it_and_a_terminal_may_be_interrupted(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    terminal = Terminal()
    with Web(make_chain("a.test", 100_000)) as web:
        flags = ["--dir", folder, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        with crawling(terminal, "http://a.test/", *flags) as process:
            assert terminal.wait_for("found     ")
            # A shard that dies is a line of the log.
            os.kill(read_status(folder).shards[0].pid, signal.SIGKILL)
            assert terminal.wait_for("rdfspider: shard 0 has ended with code -9; it is started again in 1 s\r\n")
            os.killpg(process.pid, signal.SIGINT)
            assert terminal.wait_for("rdfspider: stopping within ten seconds; Ctrl-C once more stops at once")
            assert process.wait(60) == 130
    shown = terminal.close()
    assert shown.endswith("rdfspider: stopped; run the same command to go on\r\n")
    assert "stopped: interrupted, after 0:" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_plain_lines_where_a_terminal_is_not_to_be_redrawn(tmp_path: Path, environment: dict[str, str]) -> None:
    terminal = Terminal()
    with Web(make_chain("a.test", 3)) as web:
        flags = ["--dir", tmp_path / "crawl", "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        with crawling(terminal, "http://a.test/", *flags, **environment) as process:
            assert process.wait(60) == 0
    terminal.close()
    assert "\x1b" not in terminal.text
    assert "ended: nothing is left to fetch" in terminal.text and "found     " not in terminal.text


def test_json_is_not_disturbed_by_a_terminal(tmp_path: Path) -> None:
    terminal = Terminal()
    with Web(make_chain("a.test", 3)) as web:
        flags = ["--json", "--dir", tmp_path / "crawl", "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        with crawling(terminal, "http://a.test/", *flags) as process:
            assert process.stdout is not None
            last = msgspec.json.decode(process.stdout.read().splitlines()[-1])
            assert (process.wait(60), last["totals"]["pages"]) == (0, 3)
    assert terminal.close() == ""


def test_a_terminal_that_takes_nothing_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after Ctrl-S. The thread that draws waits; who shows a status and who writes to stderr does not."""
    monkeypatch.setattr("rdfspider.commands.display._PATIENCE_S", 0.1)
    master, slave = pty.openpty()
    with stderr_is(slave), Display(Path("mycrawl")) as display:
        for _ in range(50):
            display.show(make_status())
            os.write(2, b"a line of somebody else's\n" * 10)
    # Whoever would take it at last ends the thread.
    os.close(master)
    os.close(slave)


def test_a_terminal_that_is_gone_holds_nobody_up() -> None:
    master, slave = pty.openpty()
    with stderr_is(slave):
        os.close(slave)
        os.close(master)
        with Display(Path("mycrawl")) as display:
            display.show(make_status())
            for _ in range(100):
                os.write(2, b"x" * 4000)


def test_where_it_can_be() -> None:
    terminal = Terminal()
    with stderr_is(terminal.slave):
        assert can_display({"TERM": "xterm"})
        assert not can_display({"TERM": "dumb"})
        assert not can_display({})
        assert not can_display({"TERM": "xterm", "NO_COLOR": "1"})
    terminal.close()
    read, write = os.pipe()
    with stderr_is(write):
        assert not can_display({"TERM": "xterm"})
    os.close(read)
    os.close(write)
