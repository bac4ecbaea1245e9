"""One crawl for all tests of damage and of full disks, which work on copies of it."""

from collections.abc import Iterator

import pytest
from tests.repair.damages import Sound, crawled, read_quads


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sound]:
    """A crawl that has ended, and its web, which is still there."""
    folder = tmp_path_factory.mktemp("sound") / "crawl"
    with crawled(folder) as (web, site):
        yield Sound(folder, web, site, read_quads(folder))
