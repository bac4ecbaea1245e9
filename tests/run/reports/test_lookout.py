"""The reports of a crawl from another process: the same as from this one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rdfspider import Crawl, UsageError
from rdfspider.run.reports.lookout import Lookout
from web import Web, crawl, make_site


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    folder = tmp_path_factory.mktemp("lookout") / "c"
    with Web(make_site(["a.test"], 3)) as web:
        crawl(folder, "http://a.test/", "--delay", "0", "--shards", "1", *web.resolve({"*.test": "127.0.0.1"}))
    return Crawl.open(folder)


@pytest.fixture
def lookout(crawled: Crawl) -> Iterator[Lookout]:
    found = Lookout(crawled.folder)
    yield found
    found.close()


def test_what_became_of_a_url_and_of_hosts(crawled: Crawl, lookout: Lookout) -> None:
    assert lookout.why("a.test/") == crawled.why("a.test/")
    assert lookout.why("http://a.test/never").state == "unknown"
    assert lookout.hosts("pages", 5) == crawled.hosts("pages", 5)


def test_mistakes_are_told_as_they_are(lookout: Lookout) -> None:
    with pytest.raises(UsageError, match="not an http or https URL"):
        lookout.why("ftp://a.test/")
    with pytest.raises(UsageError, match="may be one of"):
        lookout.hosts("beauty", 5)


def test_a_folder_that_is_gone_is_an_answer_too(tmp_path: Path) -> None:
    gone = Lookout(tmp_path / "none")
    with pytest.raises(Exception, match="none"):
        gone.why("http://a.test/")
    gone.close()
