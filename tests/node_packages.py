"""Packages of npm that tests use: installed once for each list of them, in the user's cache, and never into the repository."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

_TIMEOUT_S = 300
_FLAGS = (
    "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--prefer-offline", "--loglevel=error",
    "--fetch-retries=1", "--fetch-retry-mintimeout=1000",
)  # fmt: skip


def install(packages_json: Path) -> Path:
    """The folder `node_modules` with what a `package.json` names. Where there is no npm, or it cannot reach what it needs, the
    test is skipped with a clear word, and CI insists."""
    found = _install(packages_json.read_bytes())
    if isinstance(found, Path):
        return found
    say = pytest.fail if os.environ.get("CI") else pytest.skip
    say(found)
    raise AssertionError


def find_node() -> str:
    """The program `node`."""
    return shutil.which("node") or "node"


@cache
def _install(packages: bytes) -> Path | str:
    """The folder, or why there is none."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return "npm is missing, which installs what this test uses: apt-get install nodejs npm"
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rdfspider" / "node"
    caches.mkdir(parents=True, exist_ok=True)
    folder = caches / hashlib.sha256(packages).hexdigest()[:16]
    # Tests run in several processes.
    with (caches / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            return folder / "node_modules"
        made = Path(mkdtemp(dir=caches))
        try:
            (made / "package.json").write_bytes(packages)
            done = subprocess.run(
                [npm, "install", *_FLAGS], cwd=made, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
            )
            if done.returncode:
                return f"npm cannot install what this test uses: {' '.join(done.stderr.split())[:500]}"
            made.rename(folder)
        except subprocess.TimeoutExpired:
            return f"npm has not installed what this test uses within {_TIMEOUT_S} s"
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder / "node_modules"
