"""The build of the package: `editor/` in, the query editor of the site as one module in `serve/static/built` out.

CodeMirror comes from npm, of the versions and with the checksums in `editor/package-lock.json`, in a temporary folder. Where npm
is missing, or anything fails, the package is built all the same: the site has a plain text area then.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = ("package.json", "package-lock.json", "editor.js", "completion.js")
"""Of the bundle, in `editor/`."""
BUILT = Path("src/rdfspider/serve/static/built")
MODULE, NOTICE, STAMP = "editor.js", "NOTICE.txt", "editor.sha256"
# Without a network npm would try for minutes; whoever installs waits for this.
_NPM_S = 180.0
_NPM_FLAGS = (
    "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000",
)  # fmt: skip
_ESBUILD_S = 60.0
_TOLD_CHARS = 300


class EditorBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling before files are collected, also for editable installs."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Have the bundle in the source tree, if that can be."""
        root = Path(self.root)
        try:
            is_new = build_editor(root)
        except BuildError as error:
            shutil.rmtree(root / BUILT, ignore_errors=True)
            self.app.display_warning(f"the SPARQL editor will be a plain text area: {error}")
        else:
            self.app.display_info(f"{BUILT / MODULE} {'was built' if is_new else 'is up to date'}")


class BuildError(Exception):
    """Why there is no bundle, in words."""


def build_editor(root: Path) -> bool:
    """Make the bundle where it is missing or of other sources; returns whether it was made. BuildError where it cannot be."""
    try:
        return _build_editor(root / "editor", root / BUILT)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        # A disk that is full, or files of npm that are not what they should be.
        raise BuildError(f"{type(error).__name__}: {error}"[:_TOLD_CHARS]) from error


def _build_editor(sources: Path, built: Path) -> bool:
    stamp = hash_sources(sources)
    if (built / MODULE).is_file() and (built / STAMP).is_file() and (built / STAMP).read_text().strip() == stamp:
        return False
    with tempfile.TemporaryDirectory(prefix="rdfspider-editor-") as name:
        work = Path(name)
        for source in SOURCES:
            shutil.copy(sources / source, work / source)
        bundle_editor(work)
        built.mkdir(parents=True, exist_ok=True)
        (built / NOTICE).write_text(write_notice(work), encoding="utf-8")
        shutil.copy(work / "out" / MODULE, built / MODULE)
        # Last, because it says that all of it is there.
        (built / STAMP).write_text(f"{stamp}\n")
    return True


def hash_sources(sources: Path) -> str:
    """What the bundle depends on, as a hash."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for source in SOURCES:
        try:
            digest.update(hashlib.sha256((sources / source).read_bytes()).digest())
        except OSError as error:
            raise BuildError(f"{sources / source} cannot be read") from error
    return digest.hexdigest()


def bundle_editor(work: Path) -> None:
    """Fetch what the editor is made of, and write `out/editor.js` and `out/parts.json` of a folder with its sources."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise BuildError("npm is not there; install Node.js and build again to have highlighting and completion")
    _run([npm, "ci", *_NPM_FLAGS], work, _NPM_S)
    _run(
        [
            node, str(work / "node_modules/esbuild/bin/esbuild"), MODULE, "--bundle", "--format=esm", "--minify",
            "--target=es2022", "--legal-comments=none", "--log-level=warning", f"--outfile=out/{MODULE}",
            "--metafile=out/parts.json",
        ],
        work,
        _ESBUILD_S,
    )  # fmt: skip


def write_notice(work: Path) -> str:
    """The licences of all packages of which something is in the bundle."""
    inputs = json.loads((work / "out/parts.json").read_text(encoding="utf-8"))["inputs"]
    folders = sorted({_find_package(Path(path)) for path in inputs if path.startswith("node_modules/")})
    parts = [f"{MODULE} beside this file is made of rdfspider's own code and of these packages.\n"]
    for folder in folders:
        package = json.loads((work / folder / "package.json").read_text(encoding="utf-8"))
        licences = sorted((work / folder).glob("LICEN[CS]E*"))
        if not licences:
            raise BuildError(f"{package['name']} has no licence beside it")
        text = licences[0].read_text(encoding="utf-8").strip()
        parts.append(f"{package['name']} {package['version']} ({package.get('license', 'see below')})\n\n{text}\n")
    return f"\n{'-' * 80}\n\n".join(parts)


def _find_package(path: Path) -> str:
    """The folder of the package that a file is of: its last `node_modules/name`, or `node_modules/@scope/name`."""
    at = len(path.parts) - 1 - path.parts[::-1].index("node_modules")
    return str(Path(*path.parts[: at + (3 if path.parts[at + 1].startswith("@") else 2)]))


def _run(command: Sequence[str], folder: Path, timeout_s: float) -> None:
    """Run a program to its end; BuildError with what it says where it fails, or takes too long."""
    name = Path(command[0]).name
    environment = os.environ | {"npm_config_update_notifier": "false"}
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise BuildError(f"{name} cannot be started: {error}") from error
    try:
        said, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        # What it has started would go on otherwise.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise BuildError(f"{name} has taken more than {timeout_s:g} s") from error
    if process.returncode:
        told = " ".join(said.decode("utf-8", "replace").replace("npm error", "").split())[:_TOLD_CHARS]
        raise BuildError(f"{name} has failed: {told or f'exit status {process.returncode}'}")
