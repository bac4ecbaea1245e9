"""Crawls whose archive is on several disks: they pause when all are nearly full or one is missing, and go on without a loss."""

import json
import random
from pathlib import Path

from disks import Slot, mount_disk
from web import Answer, Crawling, Site, Web, check_archives, check_once, crawl, make_page, make_site, read_outcomes
from web import read_responses as count_responses

EVERYWHERE = {"*.test": "127.0.0.1"}
MB = 1_000_000
SEED = "http://a.test/"


def make_large_site(pages: int, page_bytes: int) -> Site:
    """A first page with links to all others; half of their bytes is left when they are compressed."""
    site = Site()
    chance = random.Random(1)
    urls = [f"http://a.test/{number}" for number in range(1, pages)]
    site.add(SEED, make_page(SEED, urls))
    for url in urls:
        head = f"<!-- {chance.randbytes(page_bytes // 2).hex()} -->"
        site.add(url, Answer(body=make_page(url, head=head).body))
    return site


def set_volumes(*volumes: Path) -> dict[str, str]:
    return {"archive_volumes": " ".join(map(str, volumes)), "archive_segment_bytes": "400000"}


def reasons_of(crawling: Crawling) -> list[str]:
    try:
        shards = json.loads((crawling.folder / "status.json").read_bytes())["shards"]
    except (FileNotFoundError, json.JSONDecodeError):
        return []
    return [beat["reason"] for beat in shards if beat["state"] == "suspended"]


def test_a_crawl_pauses_while_all_disks_are_nearly_full(tmp_path: Path) -> None:
    site = make_large_site(80, 100_000)
    folder = tmp_path / "crawl"
    with (
        Web(site) as web,
        mount_disk(tmp_path / "one", 4 * MB) as one,
        mount_disk(tmp_path / "two", 5 * MB) as two,
    ):
        (one / "filler").write_bytes(bytes(2 * MB))
        (two / "filler").write_bytes(bytes(2 * MB))
        flags = [SEED, "--delay", 0, "--shards", 1, "--archive", "all", *web.resolve(EVERYWHERE)]
        settings = {**set_volumes(one, two), "run_group_pages": 4, "run_min_free_bytes": MB, "fetch_connections": 4}
        with Crawling(folder, *flags, **settings) as crawling:
            assert crawling.wait_until(lambda: bool(reasons_of(crawling)))
            said = f"less than 1 MB are free on the disk of {one} and of {two}"
            assert reasons_of(crawling) == [said]
            assert crawling.wait_until(lambda: said in crawling.stderr())
            (beat,) = crawling.status()["shards"]
            assert 0 < beat["disk_free_bytes"] < 2 * MB
            assert len(web.log) < len(site.urls)
            (one / "filler").unlink()
            (two / "filler").unlink()
            assert crawling.wait() == 0
        assert check_once(web.log) == []
        check_archives(folder)
        assert set(count_responses(folder)) == site.urls == {outcome.url for outcome in read_outcomes(folder)}
        segments = list(folder.glob("shards/000/warc/*.warc.gz"))
        assert {segment.readlink().parents[1] for segment in segments} == {one, two}
        assert all(segment.readlink().parent.name.startswith("crawl-000-") for segment in segments)


def test_a_crawl_waits_for_a_disk_that_is_missing(tmp_path: Path) -> None:
    site = make_site(["a.test"], 40)
    folder, place = tmp_path / "crawl", tmp_path / "place"
    with Web(site) as web, mount_disk(tmp_path / "disk", 20 * MB) as disk, Slot(disk, place) as slot:
        flags = [SEED, "--delay", 0, "--shards", 1, *web.resolve(EVERYWHERE)]
        crawl(folder, *flags, "--pages", 20, **set_volumes(place))
        slot.take_out()
        fetched = len(web.log)
        with Crawling(folder, "--pages", 0) as crawling:
            said = "shard 0 is suspended: [Errno 2] the disk of a segment is not there"
            assert crawling.wait_until(lambda: said in crawling.stderr())
            assert len(web.log) == fetched
            assert list(place.iterdir()) == []
            slot.put_in()
            assert crawling.wait() == 0
        check_archives(folder)
        assert {outcome.url for outcome in read_outcomes(folder)} == site.urls
    assert check_once(web.log) == []


def test_a_crawl_that_is_killed_leaves_no_strays_on_its_disks(tmp_path: Path) -> None:
    """With segments so short that hardly a moment passes without a new one."""
    site = make_site(["a.test"], 120, delay_s=0.05)
    folder, volumes = tmp_path / "crawl", (tmp_path / "one", tmp_path / "two")
    for volume in volumes:
        volume.mkdir()
    chance = random.Random(3)
    with Web(site) as web:
        flags = [SEED, "--delay", 0, "--shards", 1, "--archive", "all", *web.resolve(EVERYWHERE)]
        settings = {**set_volumes(*volumes), "archive_segment_bytes": 2000, "run_group_pages": 4}
        kills = []
        for _ in range(3):
            with Crawling(folder, *flags, **settings) as crawling:
                enough = len(web.log) + chance.randrange(5, 30)
                crawling.wait_until(lambda enough=enough: len(web.log) >= enough)
                kills.append(crawling.kill())
        crawl(folder, *flags, **settings)
    assert check_once(web.log, kills, most_lost=32) == []
    check_archives(folder)
    assert {outcome.url for outcome in read_outcomes(folder)} == set(count_responses(folder)) == site.urls
    links = {path.readlink() for path in folder.glob("shards/000/warc/*.warc.gz")}
    assert links == {path for volume in volumes for path in volume.glob("*/*")}
    assert len(links) > 20


def test_a_volume_that_is_none_is_told_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with Crawling(folder, SEED, archive_volumes=tmp_path / "nowhere") as crawling:
        assert crawling.wait() == 2
        assert crawling.stderr() == f"rdfspider: archive.volumes {tmp_path}/nowhere: there is no such folder\n"
    assert not folder.exists()
    (tmp_path / "disk").mkdir()
    twice = f"{tmp_path}/disk {tmp_path}/disk"
    with Crawling(tmp_path / "other", SEED, archive_volumes=twice) as crawling:
        assert crawling.wait() == 2
        assert crawling.stderr() == (
            f"rdfspider: --set archive.volumes {tmp_path}/disk: not allowed; it may be a list of folders, each of them once\n"
        )
