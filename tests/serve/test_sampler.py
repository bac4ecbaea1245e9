"""What is looked at once a second: nothing of it tells where the crawl is on this machine."""

from pathlib import Path
from typing import cast

from rdfspider import Crawl
from rdfspider.crawl.messages import Beat
from rdfspider.crawl.reports.live import LiveReports
from rdfspider.crawl.status import Status, write_status
from rdfspider.frontier.entries import HostEntry
from rdfspider.serve.sampler import WaitingHosts, find_disks, read_status
from waiting import wait_until


def test_disks_are_told_apart_by_the_names_of_folders(tmp_path: Path) -> None:
    folders = [tmp_path / "c", tmp_path / "a" / "warc", tmp_path / "b" / "warc"]
    for folder in folders:
        folder.mkdir(parents=True)
    assert [disk.name for disk in find_disks([*folders, tmp_path / "gone", folders[0]])] == ["c", "warc", "warc 2"]


def test_what_is_wrong_does_not_tell_where_the_crawl_is(tmp_path: Path) -> None:
    crawl = Crawl.create(tmp_path / "c", ["https://example.org/"])
    beat = Beat(0, 1, 2.0, 3, (1, 1), False, "suspended", f"less than 9 MB are free on the disk of {crawl.folder}")
    write_status(crawl.folder, Status(state="stopped", reason=f"{crawl.folder}/lock is gone", shards=(beat,)))
    status = read_status(crawl)
    assert (status.reason, status.shards[0].reason) == ("c/lock is gone", "less than 9 MB are free on the disk of c")


class OneLook:
    """Hosts as a look at the disk has found them; who looks again finds the same."""

    def hosts(self, order: str, most: int) -> list[HostEntry]:
        return [
            HostEntry("gone.test", 0, 0, 0, 9, 1, 0.0, "given up after 9 errors", "given up"),
            HostEntry("long.test", 1, 0, 0, 0, 1, 3600.0, "crawl-delay"),
            HostEntry("short.test", 1, 0, 0, 0, 1, 0.2, "delay"),
        ]


def test_who_has_waited_long_enough_waits_no_more() -> None:
    waiting = WaitingHosts(cast(LiveReports, OneLook()))
    found = {host.host: host for host in waiting.find(Status(state="running"))}
    assert found["gone.test"].wait_s == 0
    # It is looked for again only after seconds; until then time goes on.
    assert wait_until(lambda: "short.test" not in {host.host for host in waiting.find(Status(state="running"))})
    assert wait_until(
        lambda: any(host.wait_s < 3600 for host in waiting.find(Status(state="running")) if host.host == "long.test")
    )
    assert "gone.test" in {host.host for host in waiting.find(Status(state="running"))}
