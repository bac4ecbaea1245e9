"""Jobs within limits: what overruns them is killed, and the next job is served as if nothing had been."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from rdfspider.extract import untrusted
from rdfspider.extract.untrusted import (
    Output,
    UntrustedLimits,
    UntrustedRefusal,
    run_command,
    run_function,
    run_stylesheet,
)
from waiting import wait_until

URL = "http://example.org/"
LIMITS = UntrustedLimits(seconds=60, memory_bytes=2**30, output_bytes=1_000_000)
SHORT = UntrustedLimits(seconds=0.5, memory_bytes=2**30, output_bytes=1_000_000)
# Short too, but long enough for most machines to have started something by then; where it is not, it is tried again.
ENOUGH = UntrustedLimits(seconds=3, memory_bytes=2**30, output_bytes=1_000_000)
XSLT = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">{}</xsl:stylesheet>'
HELLO = XSLT.format('<xsl:template match="/"><hello/></xsl:template>').encode()
# Calls itself twice, 60 deep: it would end after the sun.
ENDLESS = XSLT.format(
    '<xsl:template match="/" name="fork"><xsl:param name="n" select="60"/><xsl:if test="$n &gt; 0">'
    '<xsl:call-template name="fork"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>'
    '<xsl:call-template name="fork"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>'
    "</xsl:if></xsl:template>"
).encode()


@pytest.fixture(autouse=True)
def fresh_helper() -> Iterator[None]:
    untrusted._CHILD.rest()
    yield
    untrusted._CHILD.rest()


def hello(limits: UntrustedLimits = LIMITS) -> str:
    answer = run_stylesheet(HELLO, "<a/>", URL, limits)
    return answer.body.decode().strip() if isinstance(answer, Output) else answer.message


def helper_pid() -> int:
    assert untrusted._CHILD.pid is not None
    return untrusted._CHILD.pid


def is_running(pid: int) -> bool:
    """Whether the process does anything: one that nobody has waited for yet is there, but dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def refusal(answer: Output | UntrustedRefusal) -> UntrustedRefusal:
    assert isinstance(answer, UntrustedRefusal), answer
    return answer


def wait_for_end(pid: int) -> None:
    wait_until(lambda: not is_running(pid))


def read_pid(path: Path) -> int:
    """What a process has written; 0 where there was no time for that."""
    text = path.read_text() if path.exists() else ""
    return int(text or 0)


def write_module(folder: Path, name: str, code: str) -> str:
    (folder / f"{name}.py").write_text(textwrap.dedent(code))
    return f"{name}:run"


class TestHelper:
    def test_one_process_serves_all_jobs(self) -> None:
        assert hello() == "<hello/>"
        pid = helper_pid()
        assert [hello() for _ in range(50)] == ["<hello/>"] * 50
        assert helper_pid() == pid

    def test_an_endless_stylesheet_is_killed_and_the_next_job_served(self) -> None:
        assert hello() == "<hello/>"
        pid, start = helper_pid(), time.monotonic()
        assert refusal(run_stylesheet(ENDLESS, "<a/>", URL, SHORT)) == UntrustedRefusal(
            "transform-timeout", "killed after 0.5 s"
        )
        assert time.monotonic() - start >= 0.5
        wait_for_end(pid)
        assert hello() == "<hello/>"

    def test_too_much_memory_is_a_refusal(self) -> None:
        small = UntrustedLimits(seconds=60, memory_bytes=200 * 2**20, output_bytes=1000)
        answer = refusal(run_stylesheet(HELLO, "<a>" + "<b/>" * 2_000_000 + "</a>", URL, small))
        assert answer.code == "transform-memory"
        assert hello() == "<hello/>"

    def test_a_function_that_needs_too_much_memory_is_a_refusal(self, tmp_path: Path) -> None:
        function = write_module(tmp_path, "greedy", "def run(body, url, media_type): return 'a' * 2**32")
        answer = refusal(run_function(function, str(tmp_path), b"", URL, "a/b", LIMITS))
        assert answer.code == "transform-memory"

    def test_too_much_output_is_a_refusal(self) -> None:
        answer = refusal(run_stylesheet(HELLO, "<a/>", URL, UntrustedLimits(60, 2**30, output_bytes=3)))
        assert answer.code == "transform-output-too-long"
        assert hello() == "<hello/>"

    def test_a_crash_is_a_refusal(self, tmp_path: Path) -> None:
        function = write_module(
            tmp_path,
            "crashing",
            "import os, signal\ndef run(body, url, media_type): os.kill(os.getpid(), signal.SIGSEGV)",
        )
        answer = refusal(run_function(function, str(tmp_path), b"", URL, "a/b", LIMITS))
        assert answer == UntrustedRefusal("transform-crashed", "was killed by signal 11")
        assert hello() == "<hello/>"

    def test_a_helper_killed_while_idle_is_replaced(self) -> None:
        hello()
        pid = helper_pid()
        os.kill(pid, signal.SIGKILL)
        wait_for_end(pid)
        assert hello() == "<hello/>"

    @pytest.mark.parametrize(
        ("code", "message"),
        [
            ("def run(*page): raise KeyError('gone')", "KeyError: 'gone'"),
            ("def run(*page): return 7", "TypeError: odd:run returned int, not str or bytes"),
            ("def run(*page): raise SystemExit(3)", "SystemExit: 3"),
            ("def run(): pass", "TypeError: run() takes 0 positional arguments but 3 were given"),
            ("run = 7", "TypeError: odd:run is not a function"),
            ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ],
    )
    def test_what_a_function_does_wrong_is_told(self, tmp_path: Path, code: str, message: str) -> None:
        function = write_module(tmp_path, "odd", code)
        answer = run_function(function, str(tmp_path), b"", URL, "a/b", LIMITS)
        assert answer == UntrustedRefusal("transform-failed", message)

    def test_modules_of_the_same_name_in_two_folders_are_two(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            write_module(tmp_path / name, "twin", f"def run(body, url, media_type): return {name!r}")
        answers = [run_function("twin:run", str(tmp_path / name), b"", URL, "a/b", LIMITS) for name in "aba"]
        assert answers == [Output(b"a"), Output(b"b"), Output(b"a")]

    def test_what_a_function_started_is_killed_with_it(self, tmp_path: Path) -> None:
        function = write_module(
            tmp_path,
            "starting",
            f"""
            import subprocess, time
            def run(body, url, media_type):
                open({str(tmp_path / "pid")!r}, "w").write(str(subprocess.Popen(["sleep", "600"]).pid))
                time.sleep(600)
            """,
        )

        def find_pid() -> int:
            assert refusal(run_function(function, str(tmp_path), b"", URL, "a/b", ENOUGH)).code == "transform-timeout"
            return read_pid(tmp_path / "pid")

        wait_for_end(wait_until(find_pid))

    def test_a_helper_whose_parent_is_gone_ends(self) -> None:
        """Killed in the middle of a job, a parent can kill nobody: the helper's own alarm ends it."""
        code = f"""
            import threading
            from rdfspider.extract.untrusted import _CHILD, UntrustedLimits, run_stylesheet
            run_stylesheet(b"", None, "", UntrustedLimits(60, 2**30, 1000))
            threading.Timer(1, lambda: print(_CHILD.pid, flush=True)).start()
            run_stylesheet({ENDLESS!r}, "<a/>", "", UntrustedLimits(12, 2**30, 1000))
            """
        with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            parent.kill()
        assert is_running(pid)
        wait_for_end(pid)

    def test_threads_share_the_helper(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(lambda _: hello(), range(100))) == {"<hello/>"}

    @pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
    def test_a_forked_process_has_a_helper_of_its_own(self) -> None:
        hello()
        mine = helper_pid()
        with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
            theirs = set(pool.map(_hello_and_pid, range(8)))
        assert {said for said, _ in theirs} == {"<hello/>"}
        assert mine not in {pid for _, pid in theirs}
        assert hello() == "<hello/>"
        assert helper_pid() == mine
        for _, pid in theirs:
            wait_for_end(pid)

    def test_strange_text_is_taken(self) -> None:
        answer = run_stylesheet(HELLO, "<a>\ud800é</a>", "http://example.org/\0\ud800'\"", LIMITS)
        assert isinstance(answer, Output)
        assert refusal(run_stylesheet(HELLO, "", URL, LIMITS)).code == "transform-failed"
        assert refusal(run_stylesheet(HELLO, "<a>\0</a>", URL, LIMITS)).code == "transform-failed"

    def test_no_interpreter_is_a_refusal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", "/nonexistent/python")
        assert refusal(run_stylesheet(HELLO, "<a/>", URL, LIMITS)).code == "transform-crashed"


def _hello_and_pid(_: int) -> tuple[str, int]:
    return hello(), helper_pid()


class TestCommands:
    def run(self, *command: str, body: bytes = b"", limits: UntrustedLimits = LIMITS) -> Output | UntrustedRefusal:
        return run_command(command, "", body, URL, "image/png", limits)

    def test_bytes_go_in_and_come_out(self) -> None:
        body = bytes(range(256)) * 3000
        assert self.run("cat", body=body) == Output(body)

    def test_url_and_media_type_are_in_the_environment(self) -> None:
        answer = self.run("sh", "-c", 'printf "%s %s" "$RDFSPIDER_URL" "$RDFSPIDER_MEDIA_TYPE"')
        assert answer == Output(b"http://example.org/ image/png")

    def test_input_that_is_not_read_does_no_harm(self) -> None:
        assert self.run("echo", "done", body=b"x" * 5_000_000) == Output(b"done\n")

    def test_failure_is_told_with_what_was_said_last(self) -> None:
        answer = self.run("sh", "-c", "echo no such image >&2; exit 3")
        assert answer == UntrustedRefusal("transform-failed", "ended with exit status 3: no such image")

    def test_a_missing_program_is_a_refusal(self) -> None:
        assert "not found" in refusal(self.run("no-such-program-anywhere")).message

    @pytest.mark.parametrize("script", ["sleep 600", "yes >&2", "while :; do :; done", "exec >&- 2>&-; sleep 600"])
    def test_what_does_not_end_is_killed(self, script: str) -> None:
        assert refusal(self.run("sh", "-c", script, limits=SHORT)).code == "transform-timeout"

    def test_endless_output_is_cut_short(self) -> None:
        assert refusal(self.run("yes")).code == "transform-output-too-long"

    def test_memory_is_limited(self) -> None:
        code = "print(len('a' * 2**29))"
        assert isinstance(self.run(sys.executable, "-c", code), Output)
        small = UntrustedLimits(seconds=60, memory_bytes=2**28, output_bytes=1000)
        answer = refusal(self.run(sys.executable, "-c", code, limits=small))
        assert answer.code == "transform-failed"
        assert answer.message.endswith("MemoryError")

    @pytest.mark.parametrize("ending", ["exit 0", "wait"])
    def test_all_its_processes_end_with_it(self, tmp_path: Path, ending: str) -> None:
        def find_pid() -> int:
            self.run("sh", "-c", f"sleep 600 >&- 2>&- & echo $! > {tmp_path}/pid; {ending}", limits=ENOUGH)
            return read_pid(tmp_path / "pid")

        wait_for_end(wait_until(find_pid))
