"""Damage is mended: everything agrees again, nothing is deleted, and the crawl has the same pages and quads in the end."""

import shutil
from pathlib import Path

import pytest
from tests.repair.damages import ALL, FILES, IS_WHOLE, KINDS, SEED, Sound, copy_crawl, damage, read_quads, run_crawl

from command_line import run_line
from disks import mount_disk, mount_read_only
from rdfspider import Crawl
from rdfspider.archive.log import read_outcomes as read_log
from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.segments import kind_of, read_committed, write_committed
from rdfspider.crawl.folder import identify_crawl
from rdfspider.places.records import PlaceRecord, write_place
from web import check_archives, read_outcomes


def mend(folder: Path) -> str:
    done = run_line("doctor", "--yes", "--dir", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    verified = run_line("verify", "--deep", "--dir", folder)
    assert (verified.returncode, verified.stdout) == (0, ""), verified.stdout
    return done.stdout + done.stderr


def list_contents(folder: Path) -> set[bytes]:
    return {path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in ("lock", "LOCK")}


@pytest.mark.parametrize(
    ("file", "kind"),
    [(file, list(KINDS)[number * 2 % len(KINDS)]) for number, file in enumerate(FILES)],
)
def test_each_damage_is_mended(sound: Sound, tmp_path: Path, file: str, kind: str) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    path = damage(folder, file, kind)
    left = path.read_bytes() if path.exists() and (file, kind) != ("index version", "cut") else None
    told = mend(folder)
    if file not in ("settings", "seeds"):
        assert str(path.relative_to(folder).parent) in told or "nothing is damaged" in told
    aside = folder / "set-aside"
    assert left is None or "nothing is damaged" in told or left in list_contents(aside), "what was damaged is gone"


@pytest.mark.parametrize(
    "damages",
    [
        *([one] for one in ALL if IS_WHOLE),
        [("quads current", "cut"), ("suffixes", "flipped"), ("text store", "deleted"), ("seeds", "emptied")],
        [("facts", "flipped"), ("quads", "flipped"), ("status", "garbage"), ("seeds", "deleted")],
        [("frontier rows", "flipped"), ("text store", "flipped"), ("index status", "garbage")],
        [("facts", "deleted"), ("ledger", "flipped"), ("history", "garbage")],
        [("pages", "flipped"), ("lengths", "garbage"), ("suffixes", "cut")],
        [("frontier manifest", "deleted"), ("facts", "cut"), ("snapshot", "deleted")],
    ],
    ids=lambda damages: " and ".join(f"{file} {kind}" for file, kind in damages),
)
def test_a_mended_crawl_has_the_same_in_the_end(sound: Sound, tmp_path: Path, damages: list[tuple[str, str]]) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    for file, kind in damages:
        damage(folder, file, kind)
    mend(folder)
    asked = len(sound.web.log)
    run_crawl(folder, sound.web)
    assert run_line("verify", "--deep", "--dir", folder).returncode == 0
    assert {outcome.url for outcome in read_outcomes(folder)} == sound.site.urls
    assert read_quads(folder) == sound.quads
    assert Crawl.open(folder).status().totals.pages == len(sound.site.urls)
    assert len(sound.web.log) - asked <= len(sound.site.urls) + 2 * len({url.split("/")[2] for url in sound.site.urls})
    check_archives(folder)


def test_a_kill_between_a_commit_and_its_publication_loses_no_page(sound: Sound, tmp_path: Path) -> None:
    """The last group is in the frontier and in the archive, but not in the list of what may be read."""
    folder = copy_crawl(sound.folder, tmp_path)
    warc = folder / "shards/000/warc"
    lengths = read_committed(warc)
    name = next(name for name in lengths if kind_of(name) == "facts")
    last = list(read_log(warc / name, "", 0, lengths[name]))[-1]
    assert isinstance(last, Outcome)
    write_committed(warc, {**lengths, name: last.offset})
    verified = run_line("verify", "--deep", "--dir", folder)
    assert "lost-pages" not in verified.stdout
    # What was written after that commit has to be cut off.
    with (warc / name).open("ab") as file:
        file.write(b"the next group")
    assert "0 pages are scheduled again" in mend(folder)
    asked = len(sound.web.log)
    run_crawl(folder, sound.web)
    assert not [exchange.url for exchange in sound.web.log[asked:] if exchange.url in sound.site.urls]
    outcomes = [outcome.url for outcome in read_outcomes(folder)]
    assert len(outcomes) == len(set(outcomes))


def test_a_lost_frontier_is_made_again_and_no_page_is_fetched_again(sound: Sound, tmp_path: Path) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    shutil.rmtree(folder / "shards/000/frontier")
    shutil.rmtree(folder / "shards/001/frontier")
    mend(folder)
    asked = len(sound.web.log)
    run_crawl(folder, sound.web)
    assert not [exchange.url for exchange in sound.web.log[asked:] if exchange.url in sound.site.urls]
    assert read_quads(folder) == sound.quads
    status = Crawl.open(folder).status()
    assert (status.totals.pages, status.totals.done, status.totals.known) == (len(sound.site.urls),) * 3


def test_a_frontier_is_made_again_in_the_middle_of_a_crawl(sound: Sound, tmp_path: Path) -> None:
    """What was found and not fetched yet is fetched, also what pages of other shards have found."""
    folder = tmp_path / "crawl"
    run_crawl(folder, sound.web, crawl_pages=15)
    shutil.rmtree(folder / "shards/001/frontier")
    mend(folder)
    asked = len(sound.web.log)
    run_crawl(folder, sound.web, crawl_pages=0)
    assert {outcome.url for outcome in read_outcomes(folder)} == sound.site.urls
    assert read_quads(folder) == sound.quads
    again = [exchange.url for exchange in sound.web.log[asked:] if exchange.url in sound.site.urls]
    assert len(again) == len(sound.site.urls) - 15, "a page was fetched twice, or not at all"


def test_it_says_first_what_it_will_do(sound: Sound, tmp_path: Path) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    damage(folder, "facts", "flipped")
    before = list_contents(folder)
    done = run_line("doctor", "--dir", folder)
    assert done.returncode == 1
    assert "put filling in the place of what is lost, and schedule its pages again" in done.stdout
    assert "nothing was changed" in done.stderr
    assert list_contents(folder) == before


def test_a_crawl_whose_settings_are_lost_stays_the_same_crawl(sound: Sound, tmp_path: Path) -> None:
    """Its backup and its places know it by its identity, which its last run has noted."""
    folder = copy_crawl(sound.folder, tmp_path)
    identity = identify_crawl(folder)
    (folder / "crawl.toml").unlink()
    mend(folder)
    assert identify_crawl(folder) == identity
    # A place knows it as well.
    (folder / "lives/head.json").unlink()
    write_place(folder, 1, PlaceRecord("0123456789abcdef", "127.0.0.2", str(tmp_path), "", ""))
    (folder / "crawl.toml").unlink()
    assert run_line("doctor", "--yes", "--dir", folder).returncode == 0
    assert identify_crawl(folder) == "0123456789abcdef"


def test_a_frontier_is_not_made_again_by_settings_that_were_lost(sound: Sound, tmp_path: Path) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    settings = (folder / "crawl.toml").read_text()
    damage(folder, "settings", "deleted")
    damage(folder, "frontier rows", "cut")
    done = run_line("doctor", "--yes", "--dir", folder)
    assert (done.returncode, "look through it, then run the same command again" in done.stderr) == (2, True)
    (folder / "crawl.toml").write_text(settings)
    mend(folder)


def test_an_older_frontier_does_not_cost_the_archive(sound: Sound, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    run_crawl(folder, sound.web, crawl_pages=10)
    shutil.copytree(folder / "shards/000/frontier", tmp_path / "old")
    run_crawl(folder, sound.web, crawl_pages=0)
    shutil.rmtree(folder / "shards/000/frontier")
    shutil.move(tmp_path / "old", folder / "shards/000/frontier")
    assert "the frontier is older than the archive" in run_line("verify", "--dir", folder).stdout
    mend(folder)
    assert {outcome.url for outcome in read_outcomes(folder)} == sound.site.urls


def test_a_crawl_in_use_is_left_alone(sound: Sound, tmp_path: Path) -> None:
    from rdfspider.crawl.folder import hold_folder

    with hold_folder(sound.folder):
        for name in ("verify", "doctor"):
            done = run_line(name, "--dir", sound.folder)
            assert (done.returncode, "is in use" in done.stderr) == (2, True)
    assert run_line("why", SEED, "--dir", sound.folder).returncode == 0


def test_what_is_no_crawl_is_refused(tmp_path: Path) -> None:
    done = run_line("verify", "--dir", tmp_path)
    assert (done.returncode, "is not a crawl" in done.stderr) == (2, True)


def test_a_read_only_folder_is_verified_and_left_alone(sound: Sound, tmp_path: Path) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    with mount_read_only(folder):
        done = run_line("verify", "--deep", "--dir", folder)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout
    damage(folder, "facts", "flipped")
    with mount_read_only(folder):
        assert run_line("verify", "--deep", "--dir", folder).returncode == 1
        for line in (["doctor", "--yes"], ["crawl", SEED], ["index"], ["add", SEED + "more"]):
            done = run_line(*line, "--dir", folder)
            assert done.returncode == 2, line
            assert "make it writable, or work on a copy" in done.stderr.splitlines()[-1]


def test_a_full_disk_stops_the_doctor_and_more_room_lets_it_go_on(sound: Sound, tmp_path: Path) -> None:
    with mount_disk(tmp_path / "disk", 64_000_000) as disk:
        folder = copy_crawl(sound.folder, disk)
        damage(folder, "facts", "flipped")
        damage(folder, "quads", "garbage")
        rest = shutil.disk_usage(disk).free - 200_000
        (disk / "ballast").write_bytes(bytes(rest))
        done = run_line("doctor", "--yes", "--dir", folder)
        assert done.returncode in (1, 2)
        assert done.stderr.splitlines()[-1].startswith("rdfspider: ")
        (disk / "ballast").unlink()
        mend(folder)
        run_crawl(folder, sound.web)
        assert read_quads(folder) == sound.quads
