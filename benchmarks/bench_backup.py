"""Measures what a backup costs a crawl: crawls of a local web of real pages take turns, without one and with one to a folder.

    python benchmarks/bench_backup.py CORPUS [--hosts N] [--turns N] [--every S] [--places]
    python benchmarks/bench_backup.py --urls 300000     # how long checkpoints of such a frontier hold its shard up

nginx must be there, as for `bench_crawl.py`, whose web this is. The figure that counts is processor time a page, of all
processes. With `--places`, the crawls with a backup also have their shards in places on 127.0.0.2 and 127.0.0.3, over TCP with
CURVE. Let a crawl last for two intervals at least.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import bench_frontier
from bench_crawl import PROCESSES, Run, make_command, time_commands

from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.snapshots import ShardSnapshots
from web import CorpusWeb

LEAST = 0.93
MOST_MS = 10.0
CHECKPOINTS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--pages-per-host", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--every", type=float, default=60.0)
    parser.add_argument("--places", action="store_true")
    parser.add_argument("--urls", type=int, default=0)
    parser.add_argument("--dir", type=Path, help="where to work; the disk matters")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-backup-", dir=arguments.dir) as folder:
        if arguments.urls:
            asyncio.run(measure_pauses(Path(folder), arguments.urls))
        if arguments.corpus:
            compare(Path(folder), arguments)


def compare(folder: Path, arguments: argparse.Namespace) -> None:
    with CorpusWeb(arguments.corpus, folder / "web", arguments.hosts, arguments.pages_per_host) as web:
        plain: list[Run] = []
        backed: list[Run] = []
        for turn in range(arguments.turns):
            order = [(plain, False), (backed, True)]
            for runs, has_backup in order if turn % 2 else reversed(order):
                runs.append(run_once(web, arguments, has_backup))
    ratios = [bare.cpu_ms / full.cpu_ms for bare, full in zip(plain, backed, strict=True)]
    for name, runs in (("without", plain), ("with a backup", backed)):
        cpu_ms, pages_s = [round(run.cpu_ms, 2) for run in runs], [round(run.pages_s) for run in runs]
        print(f"  {name:14} CPU ms/page {cpu_ms}, pages/s {pages_s}")
    ratio = statistics.median(ratios)
    verdict = "reached" if ratio >= LEAST else "MISSED"
    print(
        f"  {ratio:.3f} of the pages by processor time {[round(one, 3) for one in ratios]}: {verdict}, at least {LEAST}"
    )


def run_once(web: CorpusWeb, arguments: argparse.Namespace, has_backup: bool) -> Run:
    store = web.folder / "store"
    command = make_command(web, arguments.hosts, arguments.hosts * (arguments.pages_per_host + 1))
    if has_backup:
        command += ["--backup", str(store), "--set", f"backup.every_s={arguments.every}"]
        for number in range(PROCESSES if arguments.places else 0):
            command += ["--place", f"127.0.0.{2 + number}={web.folder}/place{number}"]
    run = time_commands(web, [command])
    if has_backup:
        beats = json.loads((web.folder / "crawl/status.json").read_bytes())["shards"]
        print("  sent MB", [round(beat["backup"]["sent_bytes"] / 1e6) for beat in beats], end=", ")
        print("archive MB", [round(beat["archive_bytes"] / 1e6) for beat in beats], end=", ")
        print("longest wait of a commit ms", [round(beat["backup"]["pause_s"] * 1e3, 1) for beat in beats], end=" ")
        print(f"in {run.seconds:.0f} s", flush=True)
    for path in (store, web.folder / "crawl", *web.folder.glob("place*")):
        shutil.rmtree(path, ignore_errors=True)
    return run


async def measure_pauses(folder: Path, urls: int) -> None:
    """Take checkpoints of a frontier that grows meanwhile."""
    frontier = Frontier(folder / "frontier", Config(), Domains(bundled_suffix_list(), 1), 0)
    web = bench_frontier.Web(max(urls // 100, 1))
    turn = asyncio.Lock()
    snapshots = ShardSnapshots(folder, frontier, turn, dict)

    def grow(until: int) -> None:
        while frontier.counts.known < until:
            for page in web.next_pages(bench_frontier.PAGES_A_COMMIT):
                frontier.add(page)
            frontier.commit()

    grow(urls)
    commits_ms, loop_ms, idle_ms = [], [], []
    for number in range(1, CHECKPOINTS + 1):
        grow(urls + 3000 * number)
        begun = time.perf_counter()
        taking = asyncio.create_task(snapshots.take())
        loop_ms.append(1e3 * await find_longest_turn(taking))
        commits_ms.append(1e3 * taking.result().pause_s)
        # What others on this machine do holds the loop up, too.
        sleeping = asyncio.create_task(asyncio.sleep(time.perf_counter() - begun))
        idle_ms.append(1e3 * await find_longest_turn(sleeping))
    frontier.close()
    print(f"  {CHECKPOINTS} checkpoints of {urls:,} URLs and more, ms at the median and at the longest:")
    for what, times_ms in (
        ("a commit waits for", commits_ms),
        ("the event loop waits for", loop_ms),
        ("in as long a time without a checkpoint", idle_ms),
    ):
        print(f"  {statistics.median(times_ms):8.1f} {max(times_ms):8.1f}  {what}")
    extra_ms = statistics.median(loop_ms) - statistics.median(idle_ms)
    print(f"  {extra_ms:.1f} ms more: {'reached' if extra_ms <= MOST_MS else 'MISSED'}, at most {MOST_MS:g} ms")


async def find_longest_turn(task: asyncio.Task[Any]) -> float:
    """For how long the loop did nothing else, at most, until a task was done."""
    longest_s, before = 0.0, time.perf_counter()
    while not task.done():
        await asyncio.sleep(0.0005)
        now = time.perf_counter()
        longest_s, before = max(longest_s, now - before), now
    return longest_s


if __name__ == "__main__":
    main()
