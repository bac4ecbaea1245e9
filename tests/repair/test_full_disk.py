"""A disk that is really full: whatever meets the limit first, a command ends with a line, or a crawl waits, and nothing is lost.

Each case has so many bytes left on a small disk, or so many files. Sizes come from a seed, as many of each magnitude, so that
every writer is the first to meet the limit in some case.
"""

import gc
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.commands.test_serve import fetch, find_port
from tests.repair.damages import HOSTS, SEED, Sound, copy_crawl, damage, read_quads, resolve_all

from command_line import run_line
from disks import leave_room, mount_disk
from waiting import PATIENCE_S, wait_until
from web import Crawling, check_archives, crawl, read_outcomes

CASES = int(os.environ.get("TEST_FULL_DISKS", 1))
"""How many sizes each command is tried with."""
SEED_OF_SIZES = int(os.environ.get("TEST_SEED", 1))
DISK_BYTES = 200_000_000
PAGE_BYTES = 4096
FEW_FILES = (0, 1, 2, 4, 8, 12, 16, 24, 32, 48)


class Room(NamedTuple):
    """What is left on the disk."""

    free_bytes: int
    free_files: int


@pytest.fixture(autouse=True)
def no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl waits long before a disk is full; here it must not, so that writers meet the limit."""
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")


def list_rooms(name: str, most_bytes: int, most_files: int = 0) -> list[Room]:
    """The cases of a command: sizes up to what it writes at most, evenly on a logarithmic scale, and some numbers of files."""
    chance = random.Random(f"{name} {SEED_OF_SIZES}")
    pages = math.log2(most_bytes / PAGE_BYTES)
    steps = [(number + chance.random()) / CASES for number in range(CASES)]
    sizes = [PAGE_BYTES * round(2 ** (step * pages)) for step in steps]
    if CASES > 1:
        sizes.insert(0, 0)
    files = [few for few in FEW_FILES if few <= most_files]
    few = chance.sample(files, min(len(files), (CASES + 2) // 3))
    return [*(Room(size, 10_000) for size in sizes), *(Room(DISK_BYTES // 2, number) for number in few)]


def copy_unindexed(sound: Sound, disk: Path) -> None:
    shutil.rmtree(copy_crawl(sound.folder, disk) / "index")


def copy_damaged(sound: Sound, disk: Path) -> None:
    folder = copy_crawl(sound.folder, disk)
    for file, kind in {"facts": "flipped", "quads": "garbage", "seeds": "deleted", "lengths": "garbage"}.items():
        damage(folder, file, kind)


def copy_without_frontier(sound: Sound, disk: Path) -> None:
    folder = copy_crawl(sound.folder, disk)
    shutil.rmtree(folder / "shards/000/frontier")
    for file, kind in {"ledger": "flipped", "suffixes": "cut", "status": "garbage", "history": "garbage"}.items():
        damage(folder, file, kind)


class Scene(NamedTuple):
    """A command, and the folder that it finds."""

    line: tuple[str, ...]
    most_bytes: int
    prepare: Callable[[Sound, Path], object] = lambda sound, disk: copy_crawl(sound.folder, disk)
    most_files: int = 2


SCENES = {
    "index": Scene(("index", "--dir", "crawl"), 4_000_000, copy_unindexed, 48),
    "rebuild": Scene(("index", "--rebuild", "--dir", "crawl"), 4_000_000, most_files=48),
    "import": Scene(("import", "ARCHIVES", "--shards", "2", "--dir", "crawl"), 8_000_000, lambda *_: None, 48),
    "forget": Scene(("forget", HOSTS[1], "--dir", "crawl"), 600_000, most_files=16),
    "split": Scene(("split", f"{SEED}#it", "--dir", "crawl"), 600_000, most_files=16),
    "add": Scene(("add", "http://more.test/", "--dir", "crawl"), 8_000),
    "filter": Scene(("filter", "add", "--exclude", "more", "--dir", "crawl"), 8_000),
    "doctor": Scene(("doctor", "--yes", "--dir", "crawl"), 4_000_000, copy_damaged, 48),
    "doctor without a frontier": Scene(("doctor", "--yes", "--dir", "crawl"), 4_000_000, copy_without_frontier, 48),
    **{
        f"export {name}": Scene(("export", "--output", name, "--type", "Thing", "--dir", "crawl"), 20_000)
        for name in ("all.nq", "all.trig", "all.nq.gz", "all.csv", "all.parquet")
    },
    "extract": Scene(("extract", "ARCHIVES", "--output", "all.nq"), 20_000, lambda *_: None),
    "extract parquet": Scene(("extract", "ARCHIVES", "--output", "all.parquet"), 20_000, lambda *_: None),
    "validate": Scene(("validate", "ARCHIVES", "--fail-on", "never", "--output", "all.txt"), 20_000, lambda *_: None),
}


class Ended(NamedTuple):
    """How a command has ended."""

    code: int
    told: str


def run_there(disk: Path, sound: Sound, scene: Scene) -> Ended:
    """Run a command of a scene on the disk; what its processes write to stderr counts, too."""
    line: list[object] = []
    for word in scene.line:
        if word == "ARCHIVES":
            line += sorted(sound.folder.glob("shards/*/warc/*-pages-*"))
        else:
            line.append(disk / word if word == "crawl" or word.startswith("all.") else word)
    with (disk.parent / "stderr").open("w+b") as errors:
        kept = os.dup(2)
        os.dup2(errors.fileno(), 2)
        try:
            done = run_line(*line)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            # Stores that a command could not open to their end are closed with its process, which here goes on.
            gc.collect()
        errors.seek(0)
        return Ended(done.returncode, errors.read().decode() + done.stderr)


def read_result(disk: Path) -> tuple[set[str], set[str]]:
    """What a command leaves: the quads of the crawl, and the lines of its files."""
    lines: set[str] = set()
    for path in disk.glob("all.*"):
        lines.add(path.name)
        if path.suffix in (".nq", ".csv", ".trig", ".txt"):
            lines.update(path.read_text().splitlines())
    return read_quads(disk / "crawl") if (disk / "crawl").exists() else set(), lines


def check_end(ended: Ended) -> None:
    """Check that it has ended well, or with one line that says why."""
    assert "Traceback" not in ended.told
    assert "panicked at" not in ended.told
    if ended.code:
        assert ended.code in (1, 2)
        assert ended.told.splitlines()[-1].startswith("rdfspider: ")


def is_crawl(folder: Path) -> bool:
    return (folder / "crawl.toml").exists()


def check_whole(folder: Path) -> None:
    done = run_line("verify", "--deep", "--dir", folder)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", SCENES)
def test_a_command_ends_with_a_line_and_can_be_run_again(sound: Sound, tmp_path: Path, name: str) -> None:
    scene = SCENES[name]
    expected: tuple[set[str], set[str]] | None = None
    with mount_disk(tmp_path / "disk", DISK_BYTES) as disk:
        for room in (None, *list_rooms(name, scene.most_bytes, scene.most_files)):
            leave_room(disk, DISK_BYTES)
            for path in disk.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            scene.prepare(sound, disk)
            if room is not None:
                leave_room(disk, *room)
            try:
                ended = run_there(disk, sound, scene)
                check_end(ended)
                leave_room(disk, DISK_BYTES)
                if ended.code:
                    assert room is not None
                    assert {path.name for path in disk.iterdir()} <= {"crawl"}, "a part of a file was left"
                    if "doctor" not in name and is_crawl(disk / "crawl"):
                        check_whole(disk / "crawl")
                    again = run_there(disk, sound, scene)
                    assert again.code == 0, again.told
                if is_crawl(disk / "crawl"):
                    check_whole(disk / "crawl")
                result = read_result(disk)
                expected = expected or result
                assert result == expected
            except BaseException as error:
                error.add_note(f"{name} with {room}")
                raise


def test_questions_need_no_room(sound: Sound, tmp_path: Path) -> None:
    with mount_disk(tmp_path / "disk", DISK_BYTES) as disk:
        folder = copy_crawl(sound.folder, disk)
        lines = (["status"], ["why", SEED], ["hosts"], ["search", "thing"], ["query", "ASK { ?s ?p ?o }"], ["stats"])
        for line in (*lines, ["entity", f"{SEED}#it"], ["export", "--output", "-"], ["verify", "--deep"]):
            for room in (Room(DISK_BYTES, 10_000), Room(0, 10_000), Room(DISK_BYTES, 0)):
                leave_room(disk, *room)
                done = run_line(*line, "--dir", folder)
                assert done.returncode == 0, f"{line} with {room}: {done.stderr}"


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_crawl_waits_and_has_the_same_in_the_end(sound: Sound, tmp_path: Path, is_begun: bool) -> None:
    """One that is continued has a site beside it, which answers all the time."""
    flags = [SEED, "--scope", "any", "--delay", 0, "--shards", 2, *resolve_all(sound.web)]
    settings = {"run_min_free_bytes": 0, "index_enabled": "true"}
    if is_begun:
        crawl(tmp_path / "begun", *flags, **settings, crawl_pages=15)
    for room in list_rooms(f"crawl {is_begun}", 12_000_000, 48):
        with mount_disk(tmp_path / "disk", DISK_BYTES) as disk:
            folder = disk / "crawl"
            if is_begun:
                shutil.copytree(tmp_path / "begun", folder)
            leave_room(disk, *room)
            try:
                has_site = is_begun and (CASES > 1 or room.free_files > max(FEW_FILES))
                code = run_short(disk, flags, settings, has_site=has_site)
                if code:
                    if is_crawl(folder):
                        check_whole(folder)
                    crawl(folder, *flags, **settings, crawl_pages=0)
                check_whole(folder)
                assert read_quads(folder) == sound.quads
                assert {outcome.url for outcome in read_outcomes(folder)} == sound.site.urls
                check_archives(folder)
            except BaseException as error:
                error.add_note(f"a crawl with {room}")
                raise


def run_short(disk: Path, flags: list[object], settings: dict[str, object], *, has_site: bool) -> int:
    """Run a crawl on a disk until it has ended, or until it waits; then give it room, and return its exit code."""
    logs = disk.with_name("logs")
    logs.mkdir(exist_ok=True)
    site_flags = ("--serve", "--port", find_port()) if has_site else ()
    with Crawling(disk / "crawl", *flags, *site_flags, **settings, crawl_pages=0, logs=logs) as crawling:
        crawling.wait_until(lambda: "is suspended" in crawling.stderr() or "the site stays" in crawling.stderr())
        if has_site:
            check_site(crawling)
        is_over = crawling.process.poll() is not None
        leave_room(disk, DISK_BYTES)
        if has_site and crawling.wait_until(lambda: "the site stays" in crawling.stderr()):
            check_site(crawling)
            crawling.process.send_signal(signal.SIGINT)
        code = crawling.wait()
        told = crawling.stderr()
    for path in logs.iterdir():
        path.unlink()
    check_end(Ended(code, told))
    assert not code or is_over or "`rdfspider index" in told, f"there was room, but it has ended with {code}: {told}"
    return code


def check_site(crawling: Crawling) -> None:
    """Check that the site of a crawl answers, if it has come so far."""
    found = re.search(r"the site is at (http://127\.0\.0\.1:\d+/)", crawling.stderr())
    if found and crawling.process.poll() is None:
        answers = [fetch(found[1] + path) for path in ("", "monitor", "search?q=thing")]
        # It goes with a crawl that ends with an error.
        assert answers == [200] * 3 or (0 in answers and crawling.wait()), answers


@pytest.mark.skipif(CASES == 1, reason="it takes a whole demo a case: TEST_FULL_DISKS=N")
def test_a_demo_waits_and_has_the_same_in_the_end(tmp_path: Path) -> None:
    for room in list_rooms("demo", 12_000_000, 48):
        with mount_disk(tmp_path / "disk", DISK_BYTES) as disk:
            leave_room(disk, *room)
            try:
                ended = run_demo(disk)
                if ended.code:
                    ended = run_demo(disk)
                assert ended.code == 0, ended.told
                check_whole(disk / "crawl")
            except BaseException as error:
                error.add_note(f"a demo with {room}")
                raise


def run_demo(disk: Path) -> Ended:
    """Run a demo on a disk until it has ended, or until it waits; then give it room."""
    said = disk.with_name("said")
    command = [sys.executable, "-m", "rdfspider", "demo", "--no-site", "--dir", str(disk / "crawl")]
    with said.open("wb") as stream:
        demo = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
    try:
        wait_until(lambda: demo.poll() is not None or b"is suspended" in said.read_bytes())
        leave_room(disk, DISK_BYTES)
        ended = Ended(demo.wait(PATIENCE_S), said.read_text())
    finally:
        demo.kill()
        demo.wait()
    check_end(ended)
    return ended
