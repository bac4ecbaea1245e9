"""Measures what a backup costs a crawl: crawls of a local web of real pages take turns, without one and with one to a folder.

    python benchmarks/bench_backup.py CORPUS [--hosts N] [--turns N] [--every S]

nginx must be there, as for `bench_crawl.py`, whose web this is. The figure that counts is processor time a page, of all
processes; copies are made more often than by default, because the crawl is short.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

from bench_crawl import Run, make_command, time_commands

from web import CorpusWeb

LEAST = 0.93


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--pages-per-host", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--every", type=float, default=10.0)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="bench-backup-") as folder,
        CorpusWeb(arguments.corpus, Path(folder) / "web", arguments.hosts, arguments.pages_per_host) as web,
    ):
        limit = arguments.hosts * (arguments.pages_per_host + 1)
        plain, backed = [], []
        for turn in range(arguments.turns):
            order = [(plain, False), (backed, True)]
            for runs, has_backup in order if turn % 2 else reversed(order):
                runs.append(run_once(web, arguments.hosts, limit, arguments.every if has_backup else 0.0))
    ratios = [bare.cpu_ms / full.cpu_ms for bare, full in zip(plain, backed, strict=True)]
    for name, runs in (("without", plain), ("with a backup", backed)):
        cpu_ms, pages_s = [round(run.cpu_ms, 2) for run in runs], [round(run.pages_s) for run in runs]
        print(f"  {name:14} CPU ms/page {cpu_ms}, pages/s {pages_s}")
    ratio = statistics.median(ratios)
    print(
        f"  {ratio:.3f} of the pages by processor time: {'reached' if ratio >= LEAST else 'MISSED'}, at least {LEAST}"
    )


def run_once(web: CorpusWeb, hosts: int, limit: int, every_s: float) -> Run:
    store = web.folder / "store"
    command = make_command(web, hosts, limit)
    if every_s:
        command += ["--backup", str(store), "--set", f"backup.every_s={every_s}"]
    run = time_commands(web, [command])
    if every_s:
        beats = json.loads((web.folder / "crawl/status.json").read_bytes())["shards"]
        print("  sent MB", [round(beat["backup"]["sent_bytes"] / 1e6) for beat in beats], end=", ")
        print("archive MB", [round(beat["archive_bytes"] / 1e6) for beat in beats], f"in {run.seconds:.0f} s")
        shutil.rmtree(store)
    shutil.rmtree(web.folder / "crawl")
    return run


if __name__ == "__main__":
    main()
