"""What is looked at once a second: nothing of it tells where the crawl is on this machine."""

from pathlib import Path

from rdfspider import Crawl
from rdfspider.run.folder.status import Status, write_status
from rdfspider.run.peers.messages import Beat
from rdfspider.serve.monitor.samples import find_disks, read_status


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
