"""Shards whose folder is put back to an older copy, once or twice, or emptied, while the others go on: no page is lost.

Each page is linked from one other page alone, which another shard has fetched, so a lost link is a lost page. `TEST_PAGES=3000`
makes the web larger.
"""

import os
import shutil
from pathlib import Path

import psutil
import pytest

from web import (
    Crawling,
    Site,
    Web,
    check_archives,
    check_politeness,
    command,
    make_tree,
    pages_of,
    read_responses,
    share_addresses,
    stopped,
    wait_for_end,
)

PAGES = int(os.environ.get("TEST_PAGES", 300))
SHARDS = 3
HOSTS = [f"www.site{number}.test" for number in range(30)]
PLACING = share_addresses(HOSTS, 10)
DELAY_S, IP_DELAY_S = 0.1, 0.01
VICTIM = 1
END_S = 120 + PAGES / 10


class Folder:
    """The folder of one shard of a running crawl, which can be copied and replaced."""

    def __init__(self, crawling: Crawling, shard: int, copy: Path) -> None:
        self._crawling = crawling
        self._shard = shard
        self._path = crawling.folder / "shards" / f"{shard:03}"
        self._copy = copy

    def copy(self) -> None:
        """Copy it as a power failure at this moment would leave it."""
        with stopped(self._crawling.shard_pids()[self._shard]):
            shutil.copytree(self._path, self._copy)

    def replace(self) -> None:
        """Kill the shard, and put the copy back, or an empty folder if there is none."""
        # The parent must not start it again meanwhile. It leaves the dead process in the table, so that it can be looked at.
        with stopped(self._crawling.process.pid):
            old = self._crawling.shard_pids()[self._shard]
            process = psutil.Process(old)
            process.kill()
            wait_for_end(process)
            self.put_back()
        assert self._crawling.wait_until(lambda: self._crawling.shard_pids()[self._shard] != old)

    def put_back(self) -> None:
        shutil.rmtree(self._path)
        if self._copy.exists():
            shutil.copytree(self._copy, self._path)
        else:
            self._path.mkdir()


def start(web: Web, folder: Path, **settings: object) -> Crawling:
    flags = ["--scope", "any", "--delay", DELAY_S, "--shards", SHARDS, *web.resolve(PLACING)]
    settings = {"frontier_ip_delay_s": IP_DELAY_S, "run_replace_lost": "true", **settings}
    return Crawling(folder, f"http://{HOSTS[0]}/", *flags, **settings)


def wait_for_pages(crawling: Crawling, web: Web, part: float) -> None:
    """Wait until this part of the web was fetched and the shards are known."""
    assert crawling.wait_until(lambda: len({exchange.url for exchange in pages_of(web.log)}) >= part * PAGES)
    assert crawling.wait_until(lambda: len(crawling.shard_pids()) == SHARDS)


def judge(site: Site, web: Web, folder: Path) -> None:
    fetched = {exchange.url for exchange in pages_of(web.log)}
    assert len(fetched & site.urls) == PAGES, "a page was never fetched"
    assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
    check_archives(folder)
    archived = read_responses(folder)
    assert archived.keys() >= site.page_urls, "a page is missing from the archive"
    assert max(archived.values()) == 1, "a page is in the archive twice"
    command(folder, "verify", "--deep")


@pytest.mark.parametrize("times", [1, 2])
def test_a_shard_is_put_back_while_the_others_live(times: int, tmp_path: Path) -> None:
    """The indexer has read what is lost, and must not take what comes in its place for its rest."""
    site = make_tree(HOSTS, PAGES, SHARDS)
    with (
        Web(site, sorted(set(PLACING.values()))) as web,
        start(web, tmp_path / "crawl", index_enabled="true") as crawling,
    ):
        folder = Folder(crawling, VICTIM, tmp_path / "copy")
        wait_for_pages(crawling, web, 0.2)
        folder.copy()
        for number in range(times):
            wait_for_pages(crawling, web, 0.5 + 0.3 * number)
            folder.replace()
        assert crawling.wait(END_S) == 0, crawling.stderr()
    judge(site, web, tmp_path / "crawl")


def test_a_shard_is_emptied_while_the_others_live(tmp_path: Path) -> None:
    site = make_tree(HOSTS, PAGES, SHARDS)
    with Web(site, sorted(set(PLACING.values()))) as web, start(web, tmp_path / "crawl") as crawling:
        wait_for_pages(crawling, web, 0.6)
        Folder(crawling, VICTIM, tmp_path / "copy").replace()
        assert crawling.wait(END_S) == 0, crawling.stderr()
    judge(site, web, tmp_path / "crawl")


def test_two_shards_are_put_back_between_two_runs(tmp_path: Path) -> None:
    site = make_tree(HOSTS, PAGES, SHARDS)
    with Web(site, sorted(set(PLACING.values()))) as web:
        with start(web, tmp_path / "crawl") as crawling:
            folders = [Folder(crawling, shard, tmp_path / f"copy{shard}") for shard in (0, 2)]
            for folder, part in zip(folders, (0.2, 0.4), strict=True):
                wait_for_pages(crawling, web, part)
                folder.copy()
            wait_for_pages(crawling, web, 0.7)
            crawling.kill()
        for folder in folders:
            folder.put_back()
        with start(web, tmp_path / "crawl") as crawling:
            assert crawling.wait(END_S) == 0, crawling.stderr()
    judge(site, web, tmp_path / "crawl")


def test_a_shard_that_is_put_back_after_the_end_catches_up(tmp_path: Path) -> None:
    site = make_tree(HOSTS, PAGES, SHARDS)
    with Web(site, sorted(set(PLACING.values()))) as web:
        with start(web, tmp_path / "crawl") as crawling:
            folder = Folder(crawling, VICTIM, tmp_path / "copy")
            wait_for_pages(crawling, web, 0.3)
            folder.copy()
            assert crawling.wait(END_S) == 0, crawling.stderr()
        folder.put_back()
        with start(web, tmp_path / "crawl") as crawling:
            assert crawling.wait(END_S) == 0, crawling.stderr()
    judge(site, web, tmp_path / "crawl")
