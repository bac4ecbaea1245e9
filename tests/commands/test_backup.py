"""`rdfspider backup`, `restore` and `verify --backup`: a crawl comes back as it was and goes on."""

import json
from pathlib import Path

import pytest

from command_line import run_line
from object_stores import place, s3_server
from rdfspider import Crawl
from rdfspider.crawl.status import read_status
from web import Site, Web, check_archives, check_once, crawl, make_site, read_outcomes, read_responses

__all__ = ["place", "s3_server"]  # fixtures

HOSTS = ("a.test", "b.test", "c.test", "d.test")
FLAGS = ("http://a.test/", "--scope", "any", "--delay", 0, "--shards", 2)


@pytest.fixture(scope="module")
def site() -> Site:
    return make_site(HOSTS, 60)


def start(folder: Path, web: Web, *flags: object) -> None:
    crawl(folder, *FLAGS, *web.resolve({"*.test": "127.0.0.1"}), *flags, run_group_pages=4, fetch_connections=4)


def export(folder: Path) -> list[str]:
    assert run_line("index", "--dir", folder).returncode == 0
    return sorted(run_line("export", "--dir", folder).stdout.splitlines())


def test_a_crawl_goes_on_from_its_backup(site: Site, place: str, tmp_path: Path) -> None:
    folder, restored = tmp_path / "crawl", tmp_path / "restored"
    with Web(site) as web:
        start(folder, web, "--pages", 20)
        (folder / "forgotten.txt").write_text("http://b.test/\n")
        done = run_line("backup", "--dir", folder, "--to", place)
        assert done.returncode == 0, done.stderr
        assert f"{place} has all of {folder}: 2 shards" in done.stderr
        again = run_line("backup", "--dir", folder, "--to", place)
        assert again.stderr.endswith("of which 0.0 MB were new\n"), again.stderr
        verified = run_line("verify", "--backup", place)
        assert (verified.returncode, verified.stdout) == (0, ""), verified.stdout
        assert "nothing is damaged: 6 manifests of 3 members" in verified.stderr
        done = run_line("restore", place, "--dir", restored)
        assert done.returncode == 0, done.stderr
        assert run_line("verify", "--dir", restored, "--deep").returncode == 0
        assert read_status(restored).totals.pages == 20
        quads = export(restored)
        assert quads == export(folder)
        assert len(quads) > 20
        start(restored, web, "--pages", 0)
    check_archives(restored)
    outcomes = [outcome.url for outcome in read_outcomes(restored)]
    assert set(outcomes) == set(read_responses(restored)) == site.urls
    assert len(outcomes) == len(site.urls)
    assert check_once(web.log) == []
    assert run_line("verify", "--dir", restored, "--deep").returncode == 0
    # What went on elsewhere is not replaced by the copy that stayed behind.
    assert run_line("backup", "--dir", restored, "--to", place).returncode == 0
    late = run_line("backup", "--dir", folder, "--to", place)
    assert late.returncode == 2
    assert "later" in late.stderr


@pytest.fixture(scope="module")
def crawled(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    with Web(site) as web:
        start(folder, web, "--pages", 10)
    return folder


def test_a_damaged_backup_is_found_and_named(crawled: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run_line("backup", "--dir", crawled, "--to", store).returncode == 0
    (segment,) = store.glob("shards/000/segments/*/*facts*")
    segment.write_bytes(segment.read_bytes()[:-5])
    key = str(segment.relative_to(store))
    (missing,) = store.glob("shards/001/files/*/frontier/CURRENT")
    missing.unlink()
    verified = run_line("verify", "--backup", store, "--json")
    assert verified.returncode == 1
    found = {fault["key"]: fault["message"] for fault in map(json.loads, verified.stdout.splitlines())}
    assert found.keys() == {key, str(missing.relative_to(store))}
    assert found[str(missing.relative_to(store))] == "it is missing"
    restored = run_line("restore", store, "--dir", tmp_path / "restored")
    assert (restored.returncode, key in restored.stderr) == (2, True)
    # It is no crawl yet, and says so.
    assert "run `rdfspider restore` again" in run_line("status", "--dir", tmp_path / "restored").stderr


def test_a_restoration_that_was_interrupted_goes_on(crawled: Path, tmp_path: Path) -> None:
    store, restored = tmp_path / "store", tmp_path / "restored"
    assert run_line("backup", "--dir", crawled, "--to", store).returncode == 0
    hidden = store / "shards" / "001" / "files"
    hidden.rename(tmp_path / "hidden")
    assert run_line("restore", store, "--dir", restored).returncode == 2
    first = {path: path.stat().st_ino for path in (restored / "shards" / "000" / "warc").glob("*.gz")}
    (tmp_path / "hidden").rename(hidden)
    elsewhere = run_line("restore", tmp_path, "--dir", restored)
    assert "has begun to be restored from" in elsewhere.stderr
    assert run_line("restore", store, "--dir", restored).returncode == 0
    assert first == {path: path.stat().st_ino for path in first}
    assert run_line("verify", "--dir", restored, "--deep").returncode == 0
    assert not (restored / "restoring").exists()


def test_what_cannot_be_done_is_told_in_one_line(crawled: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run_line("backup", "--dir", crawled, "--to", store).returncode == 0
    full = run_line("restore", store, "--dir", crawled)
    assert (full.returncode, "is not empty" in full.stderr) == (2, True)
    (tmp_path / "empty").mkdir()
    nothing = run_line("restore", tmp_path / "empty", "--dir", tmp_path / "new")
    assert nothing.stderr == f"rdfspider: {tmp_path}/empty: there is no backup of a crawl\n"
    assert not (tmp_path / "new").exists()
    nowhere = run_line("verify", "--backup", tmp_path / "nowhere")
    assert nowhere.stderr == f"rdfspider: {tmp_path}/nowhere: there is no such folder\n"
    wrong = run_line("backup", "--dir", crawled, "--to", "ftp://host/x")
    assert wrong.stderr.startswith(
        "rdfspider: --to ftp://host/x: not allowed; it may be the path of a folder, or a URL"
    )
    assert run_line("verify").returncode == run_line("verify", "--dir", crawled, "--backup", store).returncode == 2


def test_the_backup_of_another_crawl_is_not_replaced(crawled: Path, tmp_path: Path) -> None:
    store, other = tmp_path / "store", tmp_path / "other"
    assert run_line("backup", "--dir", crawled, "--to", store).returncode == 0
    Crawl.create(other, "http://b.test/", contact="test@example.org")
    before = (other / "crawl.toml").read_text()
    refusal = f"rdfspider: {store} has the backup of another crawl; name another URL, or get that crawl with"
    for command in (("backup", "--dir", other, "--to", store), ("crawl", "--dir", other, "--backup", store)):
        refused = run_line(*command)
        assert (refused.returncode, refused.stderr.startswith(refusal)) == (2, True), refused.stderr
    assert (other / "crawl.toml").read_text() == before
    assert len(list((store / "head" / "manifests").iterdir())) == 1
