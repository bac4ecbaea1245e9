"""The documents tell the truth: paths exist, commands run and print what is shown, settings are all explained."""

import ast
import html
import os
import pkgutil
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from command_line import run_line
from rdfspider.cli import run_command
from rdfspider.commands.options import FLAGS
from rdfspider.crawl.bounds import BOUNDS, CHOICES, read_value
from rdfspider.crawl.settings import SETTINGS
from waiting import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[1]
PATH = re.compile(r"`((?:[\w\-.]+/)*[\w\-]+\.(?:py|md|svg|dot)|(?:[\w\-.]+/)+)`")
DOCS = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)


def test_every_path_in_the_architecture_exists() -> None:
    named = PATH.findall((ROOT / "ARCHITECTURE.md").read_text())
    assert "run/runners/local.py" in named, "nested paths are seen, too"
    missing = [path for path in named if not (ROOT / path).exists() and not (ROOT / "src/rdfspider" / path).exists()]
    assert missing == []


def test_every_path_in_the_security_page_exists_and_every_defence_has_a_test() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    missing = [path for path in re.findall(r"`((?:tests|src|docs)/[^`]*)`", text) if not (ROOT / path).exists()]
    assert missing == []
    table = text.partition("## What is defended")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 10
    assert [row for row in rows if "`tests/" not in row.split("|")[3]] == []


def test_the_architecture_names_every_folder_and_module_at_the_top() -> None:
    package = ROOT / "src/rdfspider"
    named = {path.partition("/")[0] for path in PATH.findall((ROOT / "ARCHITECTURE.md").read_text())}
    found = {path.name for path in package.iterdir() if (path / "__init__.py").exists() or path.suffix == ".py"}
    assert found - named <= {"__init__.py", "__main__.py"}


def test_every_module_that_the_code_names_exists() -> None:
    package = ROOT / "src/rdfspider"
    missing = [
        (str(path.relative_to(package)), name)
        for path in package.rglob("*.py")
        for name in re.findall(r"`((?:[\w\-]+/)*[\w\-]+\.py)`", path.read_text())
        if not any((folder / name).exists() for folder in (package, path.parent, ROOT))
    ]
    assert missing == []


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "SECURITY.md", *DOCS], ids=lambda path: path.name)
def test_no_table_cell_is_longer_than_two_lines(path: Path) -> None:
    """About two lines of a page that is a hundred characters wide; of a link only its text is seen."""
    rows = [line for line in path.read_text().splitlines() if line.startswith("|")]
    cells = [re.sub(r"!?\[([^\[\]]*)\]\([^)]*\)", r"\1", cell) for row in rows for cell in re.split(r"(?<!\\)\|", row)]
    assert [cell for cell in cells if len(cell.replace("`", "").strip()) > 130] == []


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *DOCS], ids=lambda path: path.name)
def test_every_link_of_a_document_leads_somewhere(path: Path) -> None:
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        target, _, anchor = link.partition("#")
        file = path.parent / target if target else path
        if not link.startswith("http") and not (file.exists() and (not anchor or anchor in anchors(file))):
            missing.append(link)
    assert missing == []


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [ROOT / "README.md", *DOCS], ids=lambda path: path.name)
def test_every_python_name_in_a_document_exists(path: Path) -> None:
    text = path.read_text()
    named = re.findall(r"`(rdfspider(?:\.\w+)+)", text)
    for module, names in re.findall(r"^ *from (rdfspider[\w.]*) import ([\w, ]+)$", text, re.MULTILINE):
        named += [f"{module}.{name.strip()}" for name in names.split(",")]
    for name in named:
        pkgutil.resolve_name(name)


@pytest.mark.parametrize("source", sorted((ROOT / "docs/images").glob("*.dot")), ids=lambda path: path.name)
def test_a_drawing_has_every_label_of_its_source(source: Path) -> None:
    """Else scripts/make_diagrams was forgotten."""
    drawn = html.unescape(source.with_suffix(".svg").read_text()).replace("\xa0", " ")
    labels = re.findall(r'label="([^"]*)"', source.read_text())
    assert len(labels) > 10
    assert [line for label in labels for line in label.split("\\n") if f">{line.rstrip()}" not in drawn] == []


def examples(document: str, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall((ROOT / document).read_text()) if kind == language]


def commands(document: str = "README.md") -> list[tuple[str, str]]:
    """The commands of a document, each with the output that it shows ("" where it shows none)."""
    found = []
    for block in examples(document, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


CRAWLS = [command for command, _ in commands() if "mycrawl" in command and not command.startswith("scripts/")]
OTHERS = [(command, output) for command, output in commands() if command not in CRAWLS]


@pytest.mark.parametrize(("command", "output"), OTHERS, ids=[command for command, _ in OTHERS])
def test_every_readme_command_runs(command: str, output: str, tmp_path: Path) -> None:
    if command.startswith("scripts/"):
        # These run the tests themselves; here it is enough that they are there, sound, and may be executed.
        script = ROOT / command.split()[0]
        assert os.access(script, os.X_OK)
        assert subprocess.run(["bash", "-n", script]).returncode == 0
        return
    if command.startswith("pip install"):
        command = (
            f"{shlex.quote(sys.executable)} -m pip install --quiet --no-deps --target {tmp_path} {command.split()[-1]}"
        )
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "120"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    if output:
        assert done.stdout == output


def check_example(example: str) -> None:
    """Run Python as it is shown; what stands behind `#` is what comes out."""
    names: dict[str, object] = {}
    for statement in ast.parse(example).body:
        source = ast.get_source_segment(example, statement) or ""
        line = example.splitlines()[(statement.end_lineno or 1) - 1]
        if isinstance(statement, ast.Expr) and "  # " in line:
            assert repr(eval(source, names)) == line.partition("  # ")[2]
        else:
            exec(source, names)


def test_the_readme_python_example_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    extracts, *_ = examples("README.md", "python")
    monkeypatch.chdir(ROOT)
    check_example(extracts)


@pytest.fixture
def example_org(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This machine is https://example.org/ for whatever crawls in the test: it serves docs/, without a pause between pages."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is missing: apt-get install openssl")
    certificate = tmp_path / "example.org.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=example.org"
    alternative = [
        "-addext",
        "subjectAltName=DNS:example.org",
        "-keyout",
        certificate,
        "-out",
        certificate.with_suffix(".crt"),
    ]
    subprocess.run([*make.split(), *alternative], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.with_suffix(".crt"), certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(ROOT / "docs"))) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("RDFSPIDER_FETCH_RESOLVE", f"example.org=127.0.0.1:{server.server_port}")
        monkeypatch.setenv("RDFSPIDER_FRONTIER_DELAY_S", "0")
        monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_suffix(".crt")))
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        yield
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Nobody reads it."""


def run_shown(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of a document here; one that shows a site is ended as a person ends it, when it waits for that."""
    name, *arguments = shlex.split(command)
    if re.match(r"rdfspider serve\b|.* --serve\b", command):
        return show_site(command)
    if name != "rdfspider":
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    # The shell would replace patterns by the files that they match.
    return run_line(*(found for argument in arguments for found in (find_files(argument) or [argument])))


def find_files(pattern: str) -> list[str]:
    return sorted(map(str, Path().glob(pattern))) if pattern.endswith("*.warc.gz") else []


def show_site(command: str) -> subprocess.CompletedProcess[str]:
    stays = "the site stays at" if "--serve" in command else "the site is at"
    said = Path("said.txt")
    with said.open("w") as stderr:
        process = subprocess.Popen(["bash", "-c", f"exec {command}"], stdout=subprocess.DEVNULL, stderr=stderr)
    try:
        wait_until(lambda: stays in said.read_text() or process.poll() is not None, 2 * PATIENCE_S)
        assert process.poll() is None, said.read_text()
        process.send_signal(signal.SIGINT)
        return subprocess.CompletedProcess(command, process.wait(PATIENCE_S), "", said.read_text())
    finally:
        process.kill()
        process.wait()


@pytest.mark.usefixtures("example_org")
def test_the_readme_crawl_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = {}
    for command in CRAWLS:
        done = run_shown(command)
        assert done.returncode == 0, done.stderr
        printed[command.split()[1]] = done.stdout
    assert list(printed) == ["crawl", "status", "why", "search", "query", "entity", "links", "stats", "export", "serve"]
    # docs/tea.html has a name and an offer.
    assert "Green tea,4.5" in printed["query"]
    assert all("Green tea" in printed[command] for command in ("search", "entity"))
    _, crawls, questions = examples("README.md", "python")
    check_example(questions)
    for command, _ in commands("docs/graph.md"):
        done = run_shown(command)
        assert done.returncode == 0, done.stderr
    for example in examples("docs/graph.md", "python"):
        check_example(example)
    (tmp_path / "mycrawl").rename("first")
    check_example(crawls)


@pytest.mark.usefixtures("example_org")
def test_every_command_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    for command, _ in commands("docs/guide.md"):
        if command.startswith(("pip install", "rdfspider demo")):
            # The tests of the README and of the demo do.
            continue
        if command.startswith("rdfspider import archives"):
            (tmp_path / "archives").mkdir()
            for path in tmp_path.glob("mysite/shards/*/warc/*-pages-*.warc.gz"):
                shutil.copy(path, tmp_path / "archives")
        done = run_shown(command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
    assert b"http://schema.org/price" in (tmp_path / "mysite.nq").read_bytes()
    (example,) = examples("docs/guide.md", "python")
    check_example(example)


def test_every_setting_says_why() -> None:
    tree = ast.parse((ROOT / "src/rdfspider/config.py").read_text())
    silent = [
        field.target.id
        for section in tree.body
        if isinstance(section, ast.ClassDef)
        for field, after in zip(section.body, [*section.body[1:], None], strict=True)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and section.name.endswith("Config")
        and section.name != "Config"
        and not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))
    ]
    assert silent == []


def documented_settings() -> dict[str, list[str]]:
    """The rows of docs/configuration.md by setting: default, flag, meaning. Long defaults are in a block below the table."""
    found = {}
    section = ""
    text = (ROOT / "docs/configuration.md").read_text()
    below = dict(re.findall(r"^### (\w+)\n\n[^\n]+\n\n```text\n(.*?)```", text, re.MULTILINE | re.DOTALL))
    for line in text.splitlines():
        if heading := re.fullmatch(r"## \[(\w+)\]", line):
            section = heading[1]
        elif row := re.fullmatch(r"\| `(\w+)` \| (.*) \|", line):
            default, flag, meaning = re.split(r" *\| +", row[2])
            if default == f"[below](#{row[1]})":
                default = " ".join(below[row[1]].split())
            found[f"{section}.{row[1]}"] = [default, flag, meaning]
    return found


def test_every_setting_is_documented_with_its_default_and_bounds() -> None:
    documented = documented_settings()
    assert list(documented) == list(SETTINGS)
    for name, (default, _, meaning) in documented.items():
        setting = SETTINGS[name]
        written = default.strip("`")
        meant = read_value(setting, {"[]": [], '""': ""}.get(written, written))
        assert meant == (list(setting.default) if isinstance(setting.default, tuple) else setting.default) or (
            # These are read from what a path leads to, and none is nothing.
            setting.kind in ("folder", "file", "syntaxes") and not meant and not setting.default
        ), name
        if name in BOUNDS:
            low, high = BOUNDS[name]
            assert f"{low:,.15g} to {high:,.15g}" in meaning, name
        assert all(f"`{choice}`" in meaning for choice in CHOICES.get(name, ())), name


def test_every_flag_is_documented_with_its_setting() -> None:
    documented = {name: flag.strip("`") for name, (_, flag, _) in documented_settings().items() if flag}
    assert documented == {name: flag for name, flag in FLAGS.items() if name in documented}
    assert set(documented) == set(FLAGS)


def test_the_complaints_shown_are_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.findall(r"^    (rdfspider: .*)$", (ROOT / "docs/configuration.md").read_text(), re.MULTILINE)
    folder = tmp_path / "mycrawl"
    assert run_command(["crawl", "example.org", "--dir", str(folder), "--scope", "site"]) == 2
    folder.mkdir()
    (folder / "crawl.toml").write_text("[crawl]\npgaes = 1\n")
    assert run_command(["crawl", "example.org", "--dir", str(folder)]) == 2
    assert capsys.readouterr().err.replace(str(folder), "mycrawl").splitlines() == shown
