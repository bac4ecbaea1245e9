"""The documents tell the truth: paths exist, commands run and print what is shown, settings are all explained."""

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PATH = re.compile(
    r"`((?:src|tests|docs|scripts|benchmarks|\.ci)/[\w./\-]*|[\w\-]+/(?:[\w\-]+\.py)?|[\w\-]+/[\w\-]+\.py)`"
)
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)


def test_every_path_in_the_architecture_exists() -> None:
    named = PATH.findall((ROOT / "ARCHITECTURE.md").read_text())
    assert len(named) > 20
    missing = [path for path in named if not (ROOT / path).exists() and not (ROOT / "src/rdfspider" / path).exists()]
    assert missing == []


def examples(document: str, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall((ROOT / document).read_text()) if kind == language]


def commands() -> list[tuple[str, str]]:
    """The README's commands, each with the output that it shows ("" where it shows none)."""
    found = []
    for block in examples("README.md", "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "output"), commands(), ids=[command for command, _ in commands()])
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


def test_the_readme_python_example_is_true() -> None:
    (example,) = examples("README.md", "python")
    names: dict[str, object] = {}
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        for statement in ast.parse(example).body:
            source = ast.get_source_segment(example, statement) or ""
            line = example.splitlines()[(statement.end_lineno or 1) - 1]
            if isinstance(statement, ast.Expr) and "  # " in line:
                assert repr(eval(source, names)) == line.partition("  # ")[2]
            else:
                exec(source, names)
    finally:
        os.chdir(before)


def test_every_setting_says_why() -> None:
    tree = ast.parse((ROOT / "src/rdfspider/config.py").read_text())
    silent = [
        field.target.id
        for section in tree.body
        if isinstance(section, ast.ClassDef)
        for field, after in zip(section.body, [*section.body[1:], None], strict=True)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and section.name == "ExtractConfig"
        and not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))
    ]
    assert silent == []
