"""The command line itself: help, version, what is typed wrong, and interrupts."""

import gzip
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.conftest import Run

from rdfspider import __version__
from rdfspider.cli import COMMANDS, load_command


def run_python(code: str, *arguments: object) -> tuple[int, str, str]:
    """Runs code as a process of its own: its exit code, stdout and stderr."""
    line = [sys.executable, "-c", f"import atexit, os, signal, sys\n{code}", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "missing.html"], "missing.html: no such file or folder"),
        (["extract", "*.nothing"], "*.nothing: no file matches"),
        (["extract", "not.warc"], "not.warc: no WARC record in it"),
        (["extract", "cut.warc.gz"], "cut.warc.gz: no WARC record in it"),
        (["extract", "a.html", "--syntax", "rdfb"], "unknown syntax rdfb; known are jsonld, microdata, rdfa"),
        (["extract", "a.html", "--format", "csv"], "csv"),
        (["extract", "a.html", "--jobs", "0"], "--jobs"),
        (["extract", "a.html", "--frmat", "csv"], "--frmat"),
        (["extract", "a.html", "--base", "here"], "--base here: not an absolute URL"),
        (["extract", "a.html", "--output", "none/x.nq"], "it cannot be written (No such file or directory)"),
        (["extract", "a.html", "--output", "."], "it is a folder"),
        (["extract", "a.html", "--documents", "none"], "--documents none: no such folder"),
        (["extract", "a.html", "--stylesheets", "none"], "none"),
        (["extract", "a.html", "--transforms", "none"], "none"),
        (["extract"], "SOURCE"),
        (["crwal"], "crwal"),
        (["crawl"], "Missing option '--dir'. (see rdfspider crawl --help)"),
    ],
)
def test_what_was_typed_wrong_gets_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.html").write_bytes(b"<html>")
    (tmp_path / "not.warc").write_bytes(b"<html>")
    (tmp_path / "cut.warc.gz").write_bytes(gzip.compress(b"WARC/1.0\r\n")[:12])
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("rdfspider: ")
    assert message in err
    assert err.count("\n") == 1


def list_commands() -> list[list[str]]:
    """Every command, and every command of those that have some."""
    nested = [[name, inner] for name in COMMANDS for inner in getattr(load_command(name), "commands", ())]
    return [[], *([name] for name in COMMANDS), *nested]


@pytest.mark.parametrize("path", list_commands(), ids=" ".join)
def test_help_fits_into_80_columns_and_is_not_cut(run: Run, monkeypatch: pytest.MonkeyPatch, path: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(*path, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    # Where there is no room, `...` follows a word; what may be repeated has it after a bracket.
    assert re.findall(r".*(?:…|\w\.\.\.)$", out, re.MULTILINE) == []


def test_version_and_help(run: Run) -> None:
    assert run("--version") == (0, f"rdfspider {__version__}\n", "")
    assert "extract" in run()[1]
    assert "--format" in run("extract", "--help")[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    assert load_command(name).get_short_help_str(200) == COMMANDS[name][1]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["crwal"], []], ids=str)
def test_what_runs_no_command_imports_none(arguments: list[str]) -> None:
    code = """
from rdfspider.cli import run_command
run_command(sys.argv[1:])
print(len(sys.modules), *(name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names))
"""
    count, *names = run_python(code, *arguments)[1].splitlines()[-1].split()
    assert {name for name in names if name.startswith("rdfspider.")} == {
        *("rdfspider.cli", "rdfspider.errors", "rdfspider.interrupts")
    }
    heavy = set(
        "lxml msgspec pyarrow pycurl pyld pyoxigraph ray rich rocksdict starlette tantivy turbohtml uvicorn zmq".split()
    )
    assert heavy.isdisjoint(names)
    # All but six are Python's own and those of typer, some of which it needs for flags with a value alone: 263 with Python 3.11.
    # With all commands there are more than twice as many.
    assert int(count) < 320


INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"
SCRIPT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["scripts"]["rdfspider"]
STARTS = {
    "script": "from {} import {}; {}()".format(*SCRIPT.split(":"), SCRIPT.split(":")[1]),
    "module": "import runpy; runpy.run_module('rdfspider', run_name='__main__', alter_sys=True)",
}


@pytest.mark.parametrize("module", ["rdfspider.cli", "typer", "rdfspider.commands.extract", "pyoxigraph"])
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_an_interrupt_of_an_import_ends_it_with_one_line(start: str, module: str) -> None:
    code = f"""
class Interrupt:
    def find_spec(name, path, target=None):
        if name == {module!r}:
            {INTERRUPT}
sys.meta_path.insert(0, Interrupt)
{start}
"""
    assert run_python(code, "extract", "--help") == (130, "", "rdfspider: interrupted\n")


def test_an_interrupt_that_is_to_be_ignored_is() -> None:
    code = f"signal.signal(signal.SIGINT, signal.SIG_IGN); import typer; typer.echo = lambda text: {INTERRUPT}\n"
    assert run_python(code + STARTS["script"], "--version") == (0, "", "")


def test_an_interrupt_of_an_evaluation_ends_it_with_one_line(tmp_path: Path) -> None:
    code = f"from rdfspider import Crawl; Crawl.open = lambda folder: eval({INTERRUPT!r})\n"
    assert run_python(code + STARTS["script"], "status", "--dir", tmp_path) == (130, "", "rdfspider: interrupted\n")


def test_an_interrupt_after_all_is_done_changes_nothing() -> None:
    code = f"atexit.register(lambda: {INTERRUPT})\n"
    assert run_python(code + STARTS["script"], "--version") == (0, f"rdfspider {__version__}\n", "")
