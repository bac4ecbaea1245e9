"""Crawls with a backup: a store that is away is waited for, and lost disks cost the work since the last copy."""

import json
import shutil
from pathlib import Path
from typing import Any

import psutil
import pytest

from command_line import run_line
from object_stores import Gate, S3Server, s3_server
from rdfspider.backup.manifests import list_places, name_shard, read_manifest
from rdfspider.backup.objects import Objects
from rdfspider.errors import UnreadableError, UsageError
from rdfspider.search.page_record import read_copy, read_page
from web import (
    Answers,
    Crawling,
    Site,
    Web,
    check_archives,
    check_politeness,
    make_site,
    make_tree,
    prolong,
    read_outcomes,
    read_responses,
    share_addresses,
    stopped,
    wait_for_end,
)

__all__ = ["s3_server"]  # a fixture

HOSTS = [f"www.site{number}.test" for number in range(12)]
PLACING = share_addresses(HOSTS, 4)
DELAY_S, IP_DELAY_S = 0.1, 0.02
SHARDS = 2
VICTIM = 1


@pytest.fixture
def site() -> Site:
    return make_site(HOSTS, 300, delay_s=0.02)


def start(web: Web, folder: Path, store: object, *flags: object, **settings: object) -> Crawling:
    seeds = [f"http://{HOSTS[0]}/", f"http://{HOSTS[0]}/more/0"]
    flags = (*flags, "--scope", "any", "--delay", DELAY_S, "--shards", SHARDS, *web.resolve(PLACING))
    settings = {"backup_every_s": 0.5, "fetch_connections": 4, "frontier_ip_delay_s": IP_DELAY_S, **settings}
    backup = ("--backup", store) if store else ()
    return Crawling(folder, *seeds, *flags, *backup, **settings)


def listen(answers: Answers) -> Web:
    return Web(answers, sorted(set(PLACING.values())))


def name_places(folder: Path) -> list[str]:
    """A place for each shard."""
    numbers = range(SHARDS)
    return [word for number in numbers for word in ("--place", f"127.0.0.{2 + number}={folder}/place{number}")]


def read_backups(folder: Path) -> list[dict[str, Any]]:
    """How the backup of each shard stands."""
    try:
        shards = json.loads((folder / "status.json").read_bytes())["shards"]
    except (FileNotFoundError, json.JSONDecodeError):
        return []
    return [beat["backup"] for beat in shards if beat["backup"]]


def has_copies(folder: Path) -> bool:
    """Whether each shard has sent something."""
    backups = read_backups(folder)
    return len(backups) == SHARDS and all(backup["taken"] for backup in backups)


def check_complete(folder: Path, site: Site) -> None:
    check_archives(folder)
    assert site.urls <= {outcome.url for outcome in read_outcomes(folder)}
    assert site.page_urls <= read_responses(folder).keys()


def test_a_crawl_whose_store_is_away_goes_on(
    site: Site, s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(s3_server.port)
    for name, value in {**s3_server.environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{gate.port}"}.items():
        monkeypatch.setenv(name, value)
    folder, store = tmp_path / "crawl", s3_server.url(tmp_path.name)
    has_returned: list[bool] = []
    with listen(prolong(site, HOSTS[0], lambda: bool(has_returned))) as web:
        with start(web, folder, store) as crawling:
            assert crawling.wait() == 2
            assert f"rdfspider: {store}: " in crawling.stderr()
        gate.open()
        with start(web, folder, store) as crawling:
            assert crawling.wait_until(lambda: has_copies(folder))
            gate.close()
            assert crawling.wait_until(lambda: all(backup["problem"] for backup in read_backups(folder)))
            seen = len(web.log)
            assert crawling.wait_until(lambda: len(web.log) > seen + 20)
            assert " waits: " in crawling.stderr()
            gate.open()
            assert crawling.wait_until(lambda: not any(backup["problem"] for backup in read_backups(folder)))
            has_returned.append(True)
            assert crawling.wait() == 0, crawling.stderr()
        gate.close()
        monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.endpoint)
        verified = run_line("verify", "--backup", store)
        assert verified.returncode == 0, verified.stdout
        assert run_line("restore", store, "--dir", tmp_path / "restored").returncode == 0
    check_complete(folder, site)
    assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
    # The last shipment has everything.
    check_complete(tmp_path / "restored", site)


def test_a_shard_whose_folder_is_lost_goes_on_from_its_backup(tmp_path: Path) -> None:
    """While the other one goes on, which has to send again what the backup lacks: one link leads to each page, from the other
    shard. The second time the last copy has lost an object, and the one before it is restored."""
    site = make_tree(HOSTS, 200, SHARDS, delay_s=0.05)
    folder, store = tmp_path / "crawl", tmp_path / "store"
    is_over: list[bool] = []
    answers = prolong(site, HOSTS[0], lambda: bool(is_over))
    with listen(answers) as web, start(web, folder, store, index_enabled="true") as crawling:
        for pages in (60, 120):
            assert crawling.wait_until(lambda: has_copies(folder))
            assert crawling.wait_until(lambda pages=pages: len(web.log) > pages)
            assert crawling.wait_until(lambda: list_last_objects(store))
            lose_shard(crawling, damaged=store if pages == 120 else None)
        is_over.append(True)
        assert crawling.wait() == 0, crawling.stderr()
        assert crawling.stderr().count(f"shard {VICTIM} is restored from {store}") == 2
        assert "is restored to a state before its last one, which is not whole: " in crawling.stderr()
    check_complete(folder, site)
    assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
    assert max(read_responses(folder).values()) == 1, "a page is in the archive twice"
    # The index, which had read what was lost, has the same answers as one that is made again.
    quads = sorted(run_line("export", "--dir", folder).stdout.splitlines())
    assert run_line("index", "--dir", folder, "--rebuild").returncode == 0
    assert quads == sorted(run_line("export", "--dir", folder).stdout.splitlines())
    assert len(quads) > len(site.urls)
    assert run_line("verify", "--dir", folder, "--deep").returncode == 0
    verified = run_line("verify", "--backup", store)
    assert verified.returncode == 0, verified.stdout


def list_last_objects(store: Path) -> list[Path]:
    """The objects that only the last of two manifests of a shard names."""
    objects, member = Objects(str(store)), name_shard(VICTIM)
    places = list_places(objects, member)[-2:]
    if len(places) < 2:
        return []
    try:
        before, last = ({key for key, _, _ in read_manifest(objects, member, place).list_objects()} for place in places)
    except UnreadableError:
        # The crawl has replaced one meanwhile.
        return []
    return [store / key for key in sorted(last - before)]


def lose_shard(crawling: Crawling, lost: Path | None = None, damaged: Path | None = None) -> None:
    """Kill a shard, and remove its folder before it is started again, and something of its last copy in a `damaged` store."""
    with stopped(crawling.process.pid):
        old = crawling.shard_pids()[VICTIM]
        shard = psutil.Process(old)
        shard.kill()
        wait_for_end(shard)
        shutil.rmtree(lost or crawling.folder / "shards" / f"{VICTIM:03}")
        if damaged:
            list_last_objects(damaged)[0].unlink()
    assert crawling.wait_until(lambda: crawling.shard_pids()[VICTIM] != old)


def test_a_shard_whose_place_is_lost_goes_on_from_its_backup(tmp_path: Path) -> None:
    """With its disk, a machine that is not the coordinator's loses the work since the last copy and nobody's links."""
    site = make_tree(HOSTS, 200, SHARDS, delay_s=0.05)
    folder, store = tmp_path / "crawl", tmp_path / "store"
    is_over: list[bool] = []
    answers = prolong(site, HOSTS[0], lambda: bool(is_over))
    with (
        listen(answers) as web,
        start(web, folder, store, *name_places(tmp_path), index_enabled="true", run_lease_s=5) as crawling,
    ):
        assert crawling.wait_until(lambda: has_copies(folder))
        assert crawling.wait_until(lambda: len(web.log) > 60)
        lose_shard(crawling, tmp_path / f"place{VICTIM}")
        assert crawling.wait_until(lambda: has_copies(folder))
        assert crawling.stderr().count(f"shard {VICTIM} is restored from {store}") == 1
        # Then the coordinator's machine is lost, too; the places are there.
        crawling.kill()
        shutil.rmtree(folder)
        folder = tmp_path / "elsewhere"
        is_over.append(True)
        with Crawling(folder, "--backup", store, fetch_connections=4, index_enabled="true") as crawling:
            assert crawling.wait() == 0, crawling.stderr()
            assert "is restored" not in crawling.stderr()
    assert not list(folder.glob("shards/*/frontier"))
    assert site.urls <= {outcome.url for outcome in read_outcomes(folder)}
    kept = {url for root in tmp_path.glob("place*/*") for url in read_responses(root)}
    assert site.page_urls <= kept
    assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
    verified = run_line("verify", "--backup", store)
    assert verified.returncode == 0, verified.stdout
    # The bodies of pages are in the places, and in the backup.
    url = f"http://{HOSTS[3]}/2"
    body = site.answers[HOSTS[3], "/2"].body
    assert read_body(folder, url) == body
    for number in range(SHARDS):
        shutil.rmtree(tmp_path / f"place{number}")
    assert read_body(folder, url) == body
    store.rename(tmp_path / "away")
    with pytest.raises(UsageError, match=r"is away: .* the backup does not have it, either: .*/store"):
        read_body(folder, url)


def read_body(folder: Path, url: str) -> bytes:
    record = read_page(folder, url)
    assert record is not None and record.payload is not None
    capture = read_copy(record.payload)
    assert capture is not None
    return capture.page.body


def test_a_running_crawl_in_places_is_copied_at_once(tmp_path: Path) -> None:
    """Without a backup of its own. The copies of its shards are of different moments, and nothing is lost that goes between."""
    site = make_tree(HOSTS, 200, SHARDS, delay_s=0.05)
    folder, store, restored = tmp_path / "crawl", tmp_path / "store", tmp_path / "restored"
    is_over: list[bool] = []
    with listen(prolong(site, HOSTS[0], lambda: bool(is_over))) as web:
        with start(web, folder, "", *name_places(tmp_path)) as crawling:
            assert crawling.wait_until(lambda: len(web.log) > 60)
            done = run_line("backup", "--dir", folder, "--to", store)
            assert done.returncode == 0, done.stderr
            assert f"{store} has all of {folder}: {SHARDS} shards, " in done.stderr
            away = run_line("backup", "--dir", folder, "--to", "/proc/nowhere")
            assert away.returncode == 2
            assert ": /proc/nowhere: No such file" in away.stderr.splitlines()[-1]
            assert crawling.shard_pids().keys() == set(range(SHARDS))
            is_over.append(True)
            assert crawling.wait() == 0, crawling.stderr()
        verified = run_line("verify", "--backup", store)
        assert verified.returncode == 0, verified.stdout
        # At rest, shards are read where they are.
        assert run_line("backup", "--dir", folder, "--to", tmp_path / "other").returncode == 0
        assert len(list((tmp_path / "other").glob("shards/*/manifests/*"))) == SHARDS
        assert run_line("restore", store, "--dir", restored).returncode == 0
        with Crawling(restored, fetch_connections=4) as crawling:
            assert crawling.wait() == 0, crawling.stderr()
    check_complete(restored, site)
    assert not list(tmp_path.glob("place*/*/shards/*/copy-checkpoint"))


def test_a_crawl_whose_machine_is_lost_goes_on_elsewhere(site: Site, tmp_path: Path) -> None:
    folder, store, elsewhere = tmp_path / "crawl", tmp_path / "store", tmp_path / "elsewhere"
    is_over: list[bool] = []
    with listen(prolong(site, HOSTS[0], lambda: bool(is_over))) as web:
        with start(web, folder, store) as crawling:
            assert crawling.wait_until(lambda: len(web.log) > 100 and has_copies(folder))
            # A copy that a user asks for begins no other life in the crawl's own store, whatever it is called.
            (tmp_path / "link").symlink_to(store)
            for copy in (store, tmp_path / "link", tmp_path / "other"):
                done = run_line("backup", "--dir", folder, "--to", copy)
                assert done.returncode == 0, done.stderr
                assert len(list(copy.glob("*/epochs/*"))) == len(list(copy.glob("shards/000/epochs/*"))) == 1
            assert run_line("verify", "--backup", tmp_path / "other").returncode == 0
            seen = len(web.log)
            assert crawling.wait_until(lambda: len(web.log) > seen)
            crawling.kill()
        shutil.rmtree(folder)
        is_over.append(True)
        with Crawling(elsewhere, "--backup", store) as crawling:
            assert crawling.wait() == 0, crawling.stderr()
    check_complete(elsewhere, site)
    assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
    assert run_line("verify", "--dir", elsewhere, "--deep").returncode == 0
    assert run_line("verify", "--backup", store).returncode == 0


def test_a_folder_that_is_older_than_its_backup_is_replaced(site: Site, tmp_path: Path) -> None:
    folder, store = tmp_path / "crawl", tmp_path / "store"
    shard = folder / "shards" / f"{VICTIM:03}"
    with listen(site) as web:
        with start(web, folder, store, "--pages", 50) as crawling:
            assert crawling.wait() == 0, crawling.stderr()
        shutil.copytree(shard, tmp_path / "copy")
        with start(web, folder, store, "--pages", 150) as crawling:
            assert crawling.wait() == 0, crawling.stderr()
        shutil.rmtree(shard)
        (tmp_path / "copy").rename(shard)
        seen = len(web.log)
        with start(web, folder, store, "--pages", 0) as crawling:
            assert crawling.wait() == 0, crawling.stderr()
            assert f"shard {VICTIM} is restored from {store}" in crawling.stderr()
    check_complete(folder, site)
    assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
    # The last copy had everything, so no page was fetched again.
    assert len(web.log) - seen <= len(site.urls) - 150 + len(HOSTS)
    assert (folder / "set-aside" / "older-shards" / f"{VICTIM:03}-1").is_dir()


def test_two_crawls_cannot_go_on_from_one_backup(site: Site, tmp_path: Path) -> None:
    """The earlier one ends long before its next copy, and before the later one asks any server; the later one has everything."""
    folder, store, elsewhere = tmp_path / "crawl", tmp_path / "store", tmp_path / "elsewhere"
    is_over: list[bool] = []
    answers = prolong(site, HOSTS[0], lambda: bool(is_over))
    with listen(answers) as web, start(web, folder, store, backup_every_s=600) as first:
        assert first.wait_until(lambda: has_copies(folder))
        with start(web, elsewhere, store, "--contact", "https://second.example/") as second:
            assert first.wait() == 2
            assert "the crawl goes on elsewhere" in first.stderr()
            is_over.append(True)
            assert second.wait() == 0, second.stderr()
        exchanges = sorted(web.log, key=lambda exchange: exchange.started)
        are_second = ["second.example" in exchange.headers["user-agent"] for exchange in exchanges]
        assert any(are_second)
        assert are_second == sorted(are_second)
        assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
    check_complete(elsewhere, site)
    assert run_line("verify", "--backup", store).returncode == 0
