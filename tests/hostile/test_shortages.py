"""A crawl on a machine that runs out of what it needs: it waits, says so, and nobody else is blamed."""

import resource
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from rdfspider.crawl.status import read_status
from web import Crawling, Web, crawl, make_site, pages_of, read_outcomes, run_first

HOSTS = [f"site{number}.test" for number in range(20)]


def test_a_crawl_without_descriptors_waits_and_loses_nothing(tmp_path: Path) -> None:
    site = make_site(HOSTS, 400, seed=1, delay_s=0.02)
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0.01, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        with Crawling(tmp_path / "crawl", "http://site0.test/", *flags, frontier_ip_delay_s=0.001) as crawling:
            assert crawling.wait_until(lambda: len(web.log) > 40 and bool(crawling.shard_pids()))
            shard = psutil.Process(crawling.shard_pids()[0])
            allowed = shard.rlimit(resource.RLIMIT_NOFILE)
            shard.rlimit(resource.RLIMIT_NOFILE, (10, allowed[1]))
            # Whichever comes first: a connection that cannot be opened, or a file of the archive.
            assert crawling.wait_until(
                lambda: "descriptor is left" in crawling.stderr() or "Too many" in crawling.stderr()
            )
            with suppress(psutil.NoSuchProcess):  # Or it was suspended, and is started again.
                shard.rlimit(resource.RLIMIT_NOFILE, allowed)
            assert crawling.wait() == 0, crawling.stderr()
    assert "Traceback" not in (tmp_path / "crawl.stderr").read_text()
    outcomes = {outcome.url: outcome.get("reason") for outcome in read_outcomes(tmp_path / "crawl")}
    assert outcomes == dict.fromkeys(site.urls, "fetched")
    assert read_status(tmp_path / "crawl").totals.failed == 0


def test_a_clock_that_is_set_forward_and_back(tmp_path: Path) -> None:
    site, folder = make_site(HOSTS[:4], 40, seed=2), tmp_path / "crawl"
    with Web(site) as web:
        flags = [
            "http://site0.test/",
            "--scope",
            "any",
            "--delay",
            0.05,
            "--shards",
            1,
            *web.resolve({"*.test": "127.0.0.1"}),
        ]
        for pages, ahead_s in ((10, 0.0), (20, 400 * 86_400.0), (30, -400 * 86_400.0), (0, 0.0)):
            crawl(folder, *flags, "--pages", pages, ahead_s=ahead_s, frontier_ip_delay_s=0.001)
    assert "Traceback" not in (tmp_path / "crawl.stderr").read_text()
    # Every page once, whatever the calendar said, and all of them.
    assert sorted(exchange.url for exchange in pages_of(web.log)) == sorted(site.urls)
    assert {outcome.url for outcome in read_outcomes(folder)} == site.urls


NO_SOCKETS = """
import errno, os, socket

_open = socket.socket.__init__

def _refuse(self, family=-1, type=-1, proto=-1, fileno=None):
    if fileno is None and family == socket.AF_INET and type & 15 == socket.SOCK_STREAM and os.path.exists({flag!r}):
        raise OSError(errno.ENFILE, "Too many open files in system")
    _open(self, family, type, proto, fileno)

socket.socket.__init__ = _refuse
"""


def test_a_system_without_sockets_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process of the crawl is told what a system says that has no file left, until it has."""
    site, flag, code = make_site(HOSTS[:6], 30, seed=3), tmp_path / "none", tmp_path / "code"
    flag.touch()
    code.mkdir()
    with Web(site) as web:
        run_first(NO_SOCKETS.format(flag=str(flag)), code, monkeypatch)
        flags = ["--scope", "any", "--delay", 0, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        with Crawling(tmp_path / "crawl", "http://site0.test/", *flags) as crawling:
            assert crawling.wait_until(lambda: crawling.is_resting("suspended"))
            assert "shard 0 waits: no file descriptor is left (see ulimit -n)" in crawling.stderr()
            assert web.log == []
            flag.unlink()
            assert crawling.wait() == 0, crawling.stderr()
    outcomes = {outcome.url: outcome.get("attempts") for outcome in read_outcomes(tmp_path / "crawl")}
    assert outcomes == dict.fromkeys(site.urls, ""), "an attempt was charged"
    assert read_status(tmp_path / "crawl").totals.errors == {}
