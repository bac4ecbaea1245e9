"""The reports of a crawl from another process: the same as from this one."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdfspider import Crawl, UsageError
from rdfspider.crawl.reports import live as live_module
from rdfspider.crawl.reports.live import LiveReports
from web import Web, crawl, make_site


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    folder = tmp_path_factory.mktemp("live_reports") / "c"
    with Web(make_site(["a.test"], 3)) as web:
        crawl(folder, "http://a.test/", "--delay", "0", "--shards", "1", *web.resolve({"*.test": "127.0.0.1"}))
    return Crawl.open(folder)


@pytest.fixture
def live_reports(crawled: Crawl) -> Iterator[LiveReports]:
    found = LiveReports(crawled.folder)
    yield found
    found.close()


def test_what_became_of_a_url_and_of_hosts(crawled: Crawl, live_reports: LiveReports) -> None:
    assert live_reports.why("a.test/") == crawled.why("a.test/")
    assert live_reports.why("http://a.test/never").state == "unknown"
    assert live_reports.hosts("pages", 5) == crawled.hosts("pages", 5)


def test_mistakes_are_told_as_they_are(live_reports: LiveReports) -> None:
    with pytest.raises(UsageError, match="not an http or https URL"):
        live_reports.why("ftp://a.test/")
    with pytest.raises(UsageError, match="may be one of"):
        live_reports.hosts("beauty", 5)


def test_a_folder_that_is_gone_is_an_answer_too(tmp_path: Path) -> None:
    gone = LiveReports(tmp_path / "none")
    with pytest.raises(Exception, match="none"):
        gone.why("http://a.test/")
    gone.close()


def test_nothing_is_left_of_a_look(crawled: Crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    live_reports = LiveReports(crawled.folder)
    live_reports.hosts("pages", 5)
    assert list(tmp_path.rglob("rdfspider-view-*"))
    live_reports.close()
    assert not list(tmp_path.iterdir())


def test_frontiers_that_nobody_asks_for_are_let_go(live_reports: LiveReports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "_IDLE_S", 3600.0)
    live_reports.hosts("pages", 5)
    live_reports.rest()
    assert live_reports._calls.pid is not None, "somebody has just asked"
    monkeypatch.setattr(live_module, "_IDLE_S", 0.0)
    live_reports.rest()
    assert live_reports._calls.pid is None
    assert live_reports.hosts("pages", 5)
