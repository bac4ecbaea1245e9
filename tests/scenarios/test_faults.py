"""Faults of all kinds, by chance, for a long time: nothing is lost, nothing counts twice, and nobody is asked too often.

`pytest tests/scenarios/test_faults.py --faults 600` makes faults for ten minutes and lets the crawl end; `--faults-seed N` makes
others. Four shards are in four places with a backup. One link leads to each page, from another shard: a lost link is a lost page.
"""

import os
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from command_line import run_line
from rdfspider.errors import USAGE_EXIT
from web import (
    Answer,
    Answers,
    Crawling,
    Web,
    check_politeness,
    crawl,
    make_page,
    make_tree,
    pages_of,
    stopped,
    wait_for_end,
)

SHARDS = 4
HOSTS = [f"www.site{number}.test" for number in range(24)]
PLACING = {host: f"127.0.1.{1 + number % 12}" for number, host in enumerate(HOSTS)}
DELAY_S, IP_DELAY_S = 1.0, 0.1
LEASE_S = 3.0
PAGES_A_SECOND = 6
LONGEST_PAUSE_S = 6.0
"""Between two faults."""
MARK = "RDFSPIDER_FAULTS"


class Faults:
    """A running crawl, and what is done to it."""

    def __init__(self, folder: Path, web: Web, seed: int) -> None:
        self.folder = folder
        self.done: Counter[str] = Counter()
        self.kinds: dict[str, Callable[[], None]] = {
            "killed": self._kill,
            "stopped": self._stop,
            "folder removed": self._remove,
            "folder put back": self._put_back,
            "connections cut": self._cut,
            "store away": self._take_store,
            "head killed": self._kill_head,
        }
        self._web = web
        self._chance = random.Random(seed)
        self.crawling = self.start()

    def start(self) -> Crawling:
        flags: list[object] = [
            "--scope",
            "any",
            "--delay",
            DELAY_S,
            "--shards",
            SHARDS,
            "--backup",
            self.folder / "store",
        ]
        for number in range(SHARDS):
            flags += ["--place", f"127.0.0.{2 + number}={self.folder}/place{number}"]
        settings = {"frontier_ip_delay_s": IP_DELAY_S, "run_lease_s": LEASE_S, "backup_every_s": 2}
        seeds = [f"http://{HOSTS[0]}/", *(f"http://{host}/more/0" for host in HOSTS[:SHARDS])]
        return Crawling(self.folder / "crawl", *seeds, *flags, *self._web.resolve(PLACING), **settings)

    def make_some(self, seconds: float) -> None:
        """Make faults until the time is over, each after a pause."""
        end = time.monotonic() + seconds
        with (self.folder / "faults.log").open("w", buffering=1) as log:
            while time.monotonic() < end:
                time.sleep(self._chance.uniform(0, LONGEST_PAUSE_S))
                kind = self._chance.choice([*self.kinds])
                log.write(f"{time.time():.3f} {kind}\n")
                self.kinds[kind]()
                self.done[kind] += 1
                log.write(f"{time.time():.3f} done, {len(self._web.log)} requests so far\n")
                self._start_again()

    def _start_again(self) -> None:
        """A crawl cannot be started while the store is away, and says so; nothing else may end it."""
        if self.crawling.process.poll() is not None:
            last = self.crawling.stderr().rstrip().rpartition("\n")[2]
            assert self.crawling.process.returncode == USAGE_EXIT, self.crawling.stderr()
            assert last.startswith(f"rdfspider: {self.folder}/store: "), self.crawling.stderr()
            self.done["start refused"] += 1
            self.crawling = self.start()

    def _choose(self) -> tuple[int, int]:
        """A shard that has been heard, and its process."""
        assert self.crawling.wait_until(lambda: bool(self.crawling.shard_pids()))
        return self._chance.choice(sorted(self.crawling.shard_pids().items()))

    def _kill(self) -> None:
        self.crawling.kill_process(self._choose()[1])

    def _stop(self) -> None:
        """For longer than its lease."""
        with suppress(ProcessLookupError), stopped(self._choose()[1]):
            time.sleep(LEASE_S + self._chance.uniform(0, 4))

    def _find_folder(self, shard: int) -> Path:
        return self.folder / f"place{shard}" / f"crawl-{shard:03}"

    @contextmanager
    def _dead(self) -> Iterator[int]:
        """Kill a shard, which the head does not notice meanwhile."""
        with stopped(self.crawling.process.pid):
            shard, _ = self._choose()
            # The status may name a process that has died since; and one that an earlier head has left may still live.
            for process in list_processes():
                with suppress(psutil.Error):
                    if any(str(self._find_folder(shard)) in file.path for file in process.open_files()):
                        process.kill()
                        wait_for_end(process)
            yield shard

    def _remove(self) -> None:
        with self._dead() as shard:
            self._lose(shard)

    def _put_back(self) -> None:
        """To a copy that an earlier fault of this kind has made; it is made now, if there is none."""
        with self._dead() as shard:
            folder, copy = self._find_folder(shard), self.folder / f"copy{shard}"
            if not copy.exists() and folder.exists():
                shutil.copytree(folder, copy)
            elif copy.exists():
                shutil.copytree(copy, self.folder / "again")
                self._lose(shard)
                # One that is just being started may have made a new folder.
                with suppress(OSError):
                    (self.folder / "again").rename(folder)
                shutil.rmtree(self.folder / "again", ignore_errors=True)
                if self._chance.random() < 0.5:
                    shutil.rmtree(copy)

    def _lose(self, shard: int) -> None:
        """Lose a folder at once, as with its disk, also for a process that is just being started there."""
        with suppress(FileNotFoundError):
            self._find_folder(shard).rename(self.folder / "lost")
        shutil.rmtree(self.folder / "lost", ignore_errors=True)

    def _cut(self) -> None:
        """Reset the connections of a place, some times in a row."""
        for _ in range(self._chance.randint(1, 5)):
            address = f"127.0.0.{2 + self._chance.randrange(SHARDS)}"
            subprocess.run(["ss", "-K", "-t", "src", address], check=True, capture_output=True)
            time.sleep(self._chance.uniform(0, 1))

    def _take_store(self) -> None:
        store, away = self.folder / "store", self.folder / "away"
        store.rename(away)
        # So that no new store can be made there.
        store.write_text("")
        time.sleep(self._chance.uniform(1, 10))
        store.unlink()
        away.rename(store)

    def _kill_head(self) -> None:
        """Its shards are left to themselves."""
        self.crawling.process.kill()
        self.crawling.process.wait()
        self.crawling = self.start()


def prolong_for_good(answers: Answers, is_over: Callable[[], bool]) -> Answers:
    """Those answers, and on some hosts a page that leads to the next until the faults are over. What has been asked for once is
    led to for ever: a shard that is put back has to find it again."""
    asked: set[tuple[str, int]] = set()

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        start, _, number = path.rpartition("/")
        if host not in HOSTS[:SHARDS] or start != "/more":
            return answers(host, path, headers)
        asked.add((host, int(number)))
        following = int(number) + 1
        is_last = is_over() and (host, following) not in asked
        return make_page(f"http://{host}{path}", [] if is_last else [f"/more/{following}"])

    return answer


def list_processes() -> list[psutil.Process]:
    """All processes of the crawl, also those that a head has left."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get(MARK) == os.environ[MARK]:
                found.append(process)
    return found


@contextmanager
def all_ended() -> Iterator[None]:
    """Nothing of the crawl is left afterwards; what a test that failed has left is killed."""
    try:
        yield
        assert list_processes() == []
    finally:
        for process in list_processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()


def export_quads(folder: Path) -> list[str]:
    """All quads but those of pages that are only there to make the crawl long."""
    assert run_line("index", "--dir", folder).returncode == 0
    return sorted(line for line in run_line("export", "--dir", folder).stdout.splitlines() if "/more/" not in line)


def test_faults_by_chance(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, seed = request.config.getoption("--faults"), request.config.getoption("--faults-seed")
    if not seconds:
        pytest.skip("a long run of faults by chance is made with --faults SECONDS")
    monkeypatch.setenv(MARK, f"{os.getpid()}-{seed}")
    site = make_tree(HOSTS, int(seconds * PAGES_A_SECOND), SHARDS)
    is_over: list[bool] = []
    answers = prolong_for_good(site, lambda: bool(is_over))
    addresses = sorted(set(PLACING.values()))
    with Web(answers, addresses) as web, all_ended():
        faults = Faults(tmp_path, web, seed)
        try:
            faults.make_some(seconds)
            is_over.append(True)
            assert faults.crawling.wait(300 + 2 * seconds) == 0, faults.crawling.stderr()
        finally:
            faults.crawling.kill()
    fetched = {exchange.url for exchange in pages_of(web.log)}
    pages = faults.crawling.status()["totals"]["pages"]
    told = f"seed {seed}, {seconds:g} s: {dict(faults.done)}; {pages:,} pages, {len(web.log):,} requests"
    request.config.get_terminal_writer().line(told)
    assert site.urls <= fetched, "a page was never fetched"
    assert pages == len(fetched), "the pages over all lives are not those of the web"
    assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", SHARDS, *web.resolve({"*.test": "127.0.0.1"})]
        crawl(tmp_path / "calm", f"http://{HOSTS[0]}/", *flags, timeout_s=600, frontier_ip_delay_s=0)
    assert export_quads(tmp_path / "crawl") == export_quads(tmp_path / "calm")
