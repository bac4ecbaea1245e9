"""What the tests with a browser share: the browser, and the site of a demo that was crawled once."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import open_browser
from node_packages import install
from rdfspider import Crawl
from rdfspider.serve.rendering import STATIC
from serving import Serving, serve


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Not for longer: while it is open its loop runs in this thread, and tests that start one of their own cannot.
    with open_browser() as found:
        yield found


@pytest.fixture(scope="session")
def built_editor() -> None:
    """For tests of the query editor that the package's build makes; where it could not, there is a text area."""
    if not (STATIC / "built" / "editor.js").is_file():
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say("the query editor was not built, for want of npm: apt-get install nodejs npm, then scripts/setup")


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    packages = install(Path(__file__).parents[1] / "serve" / "clients" / "package.json")
    return (packages / "axe-core" / "axe.min.js").read_text()


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The crawl of a demo, with its index; the first process that needs it makes it for all."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    folder = base / "browser-demo"
    with (base / "browser-demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            command = [sys.executable, "-m", "rdfspider", "demo", "--no-site", "--dir", f"{folder}.new"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
            assert done.returncode == 0, done.stderr[-3000:]
            Path(f"{folder}.new").rename(folder)
    return folder


@pytest.fixture(scope="session")
def site(demo_folder: Path) -> Iterator[Serving]:
    with serve(Crawl.open(demo_folder)) as serving:
        yield serving
