"""What all tests share: where the conformance suites and the real pages are, how to make WARC records and to run a command."""

import gc
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

from rdfspider.cli import run_command

# How long an example takes says nothing where many tests share a machine.
settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Nothing of what is collected is garbage, and looking for it takes a quarter of the time, in each process.
gc.disable()

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of tests that take long."""
    parser.addoption(
        "--faults", type=float, default=0.0, metavar="SECONDS", help="make faults for so long in test_faults.py"
    )
    parser.addoption("--faults-seed", type=int, default=1, metavar="N", help="the seed of these faults")


def pytest_collection_finish() -> None:
    """All tests are known; what they leave is collected, and they themselves are not looked at again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def suites() -> Path:
    """The folder of conformance suites, beside the checkout."""
    return _shared_folder("suites")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real pages, beside the checkout."""
    return _shared_folder("corpus")


@pytest.fixture(scope="session")
def real_graphs() -> Path:
    """The folder of graphs of real webs, beside the checkout."""
    return _shared_folder("graphs")


class RecordMaker(Protocol):
    """Writes one WARC record; the body is that of an HTTP response unless the type is another."""

    def __call__(
        self, url: str, body: bytes, *, kind: str = "response", status: str = "200 OK", headers: str = ""
    ) -> bytes: ...


@pytest.fixture(scope="session")
def make_record() -> RecordMaker:
    """Makes WARC records as bytes, uncompressed."""
    return _make_record


def _make_record(url: str, body: bytes, *, kind: str = "response", status: str = "200 OK", headers: str = "") -> bytes:
    block, block_type = body, "text/html"
    if kind == "response":
        block = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{headers}\r\n".encode() + body
        block_type = "application/http; msgtype=response"
    fields = {
        "WARC-Type": kind,
        "WARC-Target-URI": url,
        "WARC-Date": "2024-05-01T00:00:00Z",
        "WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-000000000000>",
        "Content-Type": block_type,
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.0\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs the command line in this process: exit code, stdout, stderr."""

    def run_here(*arguments: object) -> tuple[int, str, str]:
        code = run_command([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run_here


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Why tests were skipped, a line for each reason: suites, a browser, servers or npm that are missing."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons["what is in ../shared is missing" if "shared" in reason else reason.removeprefix("Skipped: ")] += 1
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped: {count} tests: {reason}")


def _shared_folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{folder} is missing, and CI insists on it")
        pytest.skip(f"{folder} is missing")
    return folder
