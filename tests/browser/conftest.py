"""What the tests with a browser share: the browser, and the site of a demo that was crawled once."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import open_browser
from rdfspider import Crawl
from serving import Serving, serve


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crawl of a demo, with its index."""
    folder = tmp_path_factory.mktemp("browser") / "demo"
    command = [sys.executable, "-m", "rdfspider", "demo", "--no-site", "--dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="session")
def site(demo_folder: Path) -> Iterator[Serving]:
    with serve(Crawl.open(demo_folder)) as serving:
        yield serving
