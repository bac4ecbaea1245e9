"""The build of the package: with npm the wheel has the query editor, without it everything else, and the site a text area."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore", "editor", "src")
BUILT = "rdfspider/serve/static/built"
MODULE, NOTICE, STAMP = f"{BUILT}/editor.js", f"{BUILT}/NOTICE.txt", f"{BUILT}/editor.sha256"
NO_NPM = {"PATH": "/nonexistent"}


def copy_tree(folder: Path) -> Path:
    """What the build needs, as it would be in a fresh checkout."""
    folder.mkdir()
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(
                source, folder / part, ignore=shutil.ignore_patterns("built", "__pycache__", "node_modules")
            )
        else:
            shutil.copy(source, folder / part)
    return folder


def build(tree: Path, kind: str, environment: Mapping[str, str] | None = None) -> tuple[Path, str]:
    """The file that the package's build makes, and what it says."""
    out = tree.parent / f"{tree.name}-{kind}"
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)],
        cwd=tree,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    (made,) = out.iterdir()
    return made, said


@pytest.fixture(scope="module")
def with_npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree in which the source distribution was built, and the editor with it."""
    if shutil.which("npm") is None:
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say("npm is missing, which the query editor is built with: apt-get install nodejs npm")
    tree = copy_tree(tmp_path_factory.mktemp("build") / "tree")
    _, said = build(tree, "sdist")
    if "npm has failed" in said and not os.environ.get("CI"):
        pytest.skip(f"npm cannot fetch what the editor is made of: {said}")
    assert "was built" in said
    return tree


@pytest.fixture(scope="module")
def without_npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel that was built without npm, unpacked."""
    tree = copy_tree(tmp_path_factory.mktemp("build") / "tree")
    wheel, said = build(tree, "wheel", NO_NPM)
    assert "the SPARQL editor will be a plain text area: npm is not there" in said
    unpacked = tree.parent / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    return unpacked


def test_a_wheel_has_the_editor_and_its_licences(with_npm: Path) -> None:
    wheel, said = build(with_npm, "wheel")
    assert "is up to date" in said
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert {MODULE, NOTICE, STAMP} <= set(names)
        assert not [name for name in names if "node_modules" in name or name.startswith(("editor/", "hatch_build"))]
        module, notice = archive.read(MODULE).decode(), archive.read(NOTICE).decode()
    assert re.search(r"export\s*\{[^}]*\bmakeEditor\b", module)
    # It must work on a plane: nothing may be fetched from elsewhere.
    assert not re.search(r"(?:^|[;}])import\b|\bimport\(", module)
    assert "@codemirror/view" in notice
    assert "Permission is hereby granted" in notice


def test_nothing_of_npm_stays_in_the_tree(with_npm: Path) -> None:
    assert sorted(path.name for path in (with_npm / "editor").iterdir()) == sorted(
        path.name for path in (ROOT / "editor").iterdir()
    )


def test_a_source_distribution_brings_the_editor_where_there_is_no_npm(with_npm: Path, tmp_path: Path) -> None:
    (packed,) = (with_npm.parent / "tree-sdist").iterdir()
    with tarfile.open(packed) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        archive.extractall(tmp_path, filter="data")
    assert {"hatch_build.py", "editor/editor.js", "editor/package-lock.json", f"src/{MODULE}"} <= names
    (tree,) = tmp_path.iterdir()
    wheel, said = build(tree, "wheel", NO_NPM)
    assert "is up to date" in said
    with zipfile.ZipFile(wheel) as archive:
        assert MODULE in archive.namelist()


def test_an_editor_of_other_sources_is_not_kept(with_npm: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(with_npm, tree)
    with (tree / "editor/editor.js").open("a") as file:
        file.write("// changed\n")
    wheel, said = build(tree, "wheel", NO_NPM)
    assert "plain text area" in said
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if BUILT in name]


def test_a_wheel_without_npm_shows_a_text_area(without_npm: Path, tmp_path: Path) -> None:
    assert not (without_npm / BUILT).exists()
    script = (
        "import rdfspider, serving, sys; from pathlib import Path\n"
        "with serving.serve(rdfspider.Crawl.create(Path(sys.argv[1]), ['https://example.org/'])) as site:\n"
        "    print(rdfspider.__file__); print(site.get('/sparql', {'Accept': 'text/html'}).text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "c")],
        env=os.environ | {"PYTHONPATH": f"{without_npm}{os.pathsep}{ROOT / 'tests'}", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    where, _, page = done.stdout.partition("\n")
    assert Path(where).is_relative_to(without_npm)
    assert '<textarea id="query" name="query"' in page
    assert 'data-bundle=""' in page


def test_an_npm_that_fails_is_told_and_fails_nothing(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("npm", "node"):
        (tools / name).write_text("#!/bin/sh\necho 'the registry is on fire' >&2\nexit 1\n")
        (tools / name).chmod(0o755)
    wheel, said = build(copy_tree(tmp_path / "tree"), "wheel", {"PATH": str(tools)})
    assert "npm has failed: the registry is on fire" in said
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if BUILT in name]


def test_an_npm_that_does_nothing_is_told_and_fails_nothing(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("npm", "node"):
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    wheel, said = build(copy_tree(tmp_path / "tree"), "wheel", {"PATH": str(tools)})
    assert "the SPARQL editor will be a plain text area: FileNotFoundError" in said
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if BUILT in name]


def test_what_npm_fetches_is_pinned_by_checksum_and_bound_to_no_registry() -> None:
    text = (ROOT / "editor/package-lock.json").read_text()
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert len(packages) > 10
    assert all("integrity" in package for name, package in packages.items() if name)
