"""Crawls and indexes many distinct pages with everything on, by two checkouts in turns: processor time, pace, lag, disk, memory.

    python benchmarks/bench_whole.py CORPUS BEFORE AFTER [--pages N] [--turns N] [--seed N] [--scrapy-hosts N] [--web FOLDER]
        [--together]

nginx must be there. BEFORE and AFTER are the folders of two checkouts; both run with this interpreter and its libraries. The
pages are made from those of CORPUS (`distinct_pages.py`), twenty a host, unless `--web` names a folder that has them already.
Each turn crawls one page some times, which shows what a start takes, then all with two shards and the index, rebuilds that
index, and crawls without it. The processor time of a page is judged, by the median of the ratios of all turns, and that of the
starts. The speed of many machines changes within minutes by more than what is to be measured: with `--together` both checkouts
do each step at the same time, so that their ratio can be trusted; pace and lag can be trusted without it only.
Short runs flatter: compaction and merges come later, so `--pages` should be 20,000 at least. Scrapy with extruct, which has no
index, crawls a few hosts at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import psutil
from bench_crawl import PROCESSES, run_peer
from bench_disk import measure
from bench_pair import make_environment
from distinct_pages import PAGES_PER_HOST, write_pages

from web import CorpusWeb

LESS_CPU, LESS_CPU_ALONE, FASTER_REBUILD = 1.8, 1.25, 2.0
MOST_BYTES = 1_500_000_000
MOST_START_S = 2.5
_STARTS = 3
_LOOK_S = 0.5
_MODULES = {"shard_process": "shards", "indexer_process": "index"}
"""The processes of a crawl by the module that they run; all others are its parent and helpers."""
_THREADS = {"thrd-tantivy": "tantivy", "thread-tantivy": "tantivy", "docstore": "tantivy", "rocksdb": "rocksdb"}


@dataclass(slots=True)
class Run:
    """What one command took, with all of its processes."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    by_process: Counter[str] = field(default_factory=Counter)
    """Processor time by kind of process, as last seen."""
    by_thread: Counter[str] = field(default_factory=Counter)
    """That of the libraries' own threads in the indexer."""
    own_bytes: int = 0
    """The most memory of the indexer, without mapped files."""
    mapped_bytes: int = 0
    """The most of files that were mapped by it."""
    lags: list[float] = field(default_factory=list)
    stages: Counter[str] = field(default_factory=Counter)
    """Processor time of the shards by stage, as they tell it."""
    pages: int = 0
    quads: int = 0
    disk: Counter[str] = field(default_factory=Counter)

    def cost(self, seconds: float) -> float:
        """Milliseconds a page."""
        return seconds / self.pages * 1000


def main() -> None:
    arguments = _arguments()
    checkouts = {"before": arguments.before.resolve(), "after": arguments.after.resolve()}
    with tempfile.TemporaryDirectory(prefix="bench-whole-") as name:
        folder = Path(name)
        corpus = arguments.web or folder / "pages"
        if not corpus.exists():
            write_pages(arguments.corpus, corpus, arguments.pages, arguments.seed)
        hosts = len((corpus / "index.jsonl").read_text().splitlines()) // PAGES_PER_HOST
        runs: dict[tuple[str, str], list[Run]] = {}
        with CorpusWeb(corpus, folder / "web", hosts, PAGES_PER_HOST) as web:
            for turn in range(arguments.turns):
                sides = list(checkouts) if turn % 2 == 0 else list(checkouts)[::-1]
                for group in [sides] if arguments.together else [[side] for side in sides]:
                    for what, side, run in _run_all(web, folder, {side: checkouts[side] for side in group}):
                        runs.setdefault((what, side), []).append(run)
                        if what != "start":
                            _tell(f"{what}, {side}", run)
            if find_spec("extruct") and find_spec("scrapy"):
                scrapy = run_peer(web, "scrapy", arguments.scrapy_hosts, arguments.scrapy_hosts * (PAGES_PER_HOST + 1))
                print(f"\nScrapy + extruct, {arguments.scrapy_hosts} hosts: {scrapy.cpu_ms:.2f} ms of CPU a page")
            else:
                print("\nScrapy and extruct are not installed, and were left out")
    print("\nBefore and after, by processor time a page")
    for what, least in (("whole", LESS_CPU), ("crawl", LESS_CPU_ALONE), ("rebuild", FASTER_REBUILD)):
        pairs = zip(runs[what, "before"], runs[what, "after"], strict=True)
        ratio = median(before.cost(before.cpu_s) / after.cost(after.cpu_s) for before, after in pairs)
        print(f"  {what:8} {ratio:6.2f} times less: {'reached' if ratio >= least else 'MISSED'}, at least {least:g}")
    starts = {side: median(run.cpu_s for run in runs["start", side]) for side in checkouts}
    verdict = "reached" if starts["after"] <= MOST_START_S else "MISSED"
    print(f"  {starts['before']:.2f} s, then {starts['after']:.2f} s for one page: {verdict}, at most {MOST_START_S:g}")
    most = max(run.own_bytes for run in runs["whole", "after"])
    print(f"  {most / 1e9:.2f} GB for the indexer: {'reached' if most <= MOST_BYTES else 'MISSED'}, at most 1.5")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scrapy-hosts", type=int, default=12)
    parser.add_argument("--together", action="store_true", help="both checkouts at the same time")
    parser.add_argument("--web", type=Path, help="a folder of pages that distinct_pages.py made")
    return parser.parse_args()


def _run_all(web: CorpusWeb, folder: Path, checkouts: Mapping[str, Path]) -> Iterator[tuple[str, str, Run]]:
    """Crawl one page some times, then all with the index, make the index again, and crawl without; all checkouts at the same
    time. Yield what was done, by whom, and what it took."""
    crawl = partial(_crawl_command, web)
    # The first start may have had to compile its modules.
    steps = [("", [*crawl(), "--pages", "1"])] + _STARTS * [("start", [*crawl(), "--pages", "1"])]
    steps += [("whole", crawl()), ("rebuild", ["index", "--rebuild"]), ("crawl", [*crawl(), "--no-index"])]
    with ThreadPoolExecutor(len(checkouts)) as pool:
        for what, words in steps:
            if words[0] == "crawl":
                for side in checkouts:
                    shutil.rmtree(folder / side, ignore_errors=True)
            run = partial(_run, words)
            runs = pool.map(run, checkouts.values(), (folder / side for side in checkouts))
            for side, its_run in zip(checkouts, list(runs), strict=True):
                if what:
                    yield what, side, its_run
    for side in checkouts:
        shutil.rmtree(folder / side)


def _crawl_command(web: CorpusWeb) -> list[str]:
    seeds = web.folder / "seeds.txt"
    seeds.write_text("\n".join(web.seeds()) + "\n")
    flags = ["--seeds", str(seeds), "--scope", "any", "--include", web.scope, "--archive", "all"]
    flags += ["--delay", "0", "--shards", str(PROCESSES), "--resolve", web.resolve, "--allow-private"]
    return ["crawl", *flags, "--contact", "https://example.org/"]


def _run(words: Sequence[str], checkout: Path, folder: Path) -> Run:
    run = Run()
    started = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "rdfspider", *words, "--dir", str(folder)],
            env=make_environment(checkout),
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        watch = _Watch(process.pid, folder, run)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            watch.look()
            time.sleep(_LOOK_S)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"{checkout}: rdfspider {words[0]} failed:\n{errors.read()[-3000:].decode(errors='replace')}")
    run.seconds = time.perf_counter() - started
    run.cpu_s = usage.ru_utime + usage.ru_stime
    _read_ends(folder, run)
    return run


def _read_ends(folder: Path, run: Run) -> None:
    """Add what the crawl says of itself at its end."""
    status = json.loads((folder / "status.json").read_bytes())
    for beat in status["shards"]:
        run.stages.update(beat["cpu_s"])
    run.pages = status["totals"]["pages"]
    if (folder / "index/status.json").exists():
        run.quads = json.loads((folder / "index/status.json").read_bytes())["quads"]
    run.disk = measure(folder)


class _Watch:
    """Looks at a command's processes from time to time."""

    def __init__(self, pid: int, folder: Path, run: Run) -> None:
        self._root = psutil.Process(pid)
        self._folder = folder
        self._run = run
        self._seen: dict[int, tuple[str, float]] = {}
        """By process or thread: its kind, after a hyphen for threads, and its processor time."""

    def look(self) -> None:
        try:
            processes = [self._root, *self._root.children(recursive=True)]
        except psutil.Error:
            return
        for process in processes:
            try:
                self._take(process)
            except (psutil.Error, OSError):
                continue
        self._run.by_process = self._add_up(lambda name: not name.startswith("-"))
        self._run.by_thread = self._add_up(lambda name: name.startswith("-"))
        try:
            status = json.loads((self._folder / "index/status.json").read_bytes())
            self._run.lags.append(max((view["lag_s"] for view in status["views"]), default=0.0))
        except (OSError, ValueError):
            pass

    def _add_up(self, is_wanted: Callable[[str], bool]) -> Counter[str]:
        total: Counter[str] = Counter()
        for name, seconds in self._seen.values():
            if is_wanted(name):
                total[name.lstrip("-")] += seconds  # type: ignore[assignment]
        return total

    def _take(self, process: psutil.Process) -> None:
        command = " ".join(process.cmdline())
        if not command:
            return  # It has just ended.
        kind = next((name for module, name in _MODULES.items() if module in command), "parent, helpers")
        if kind != "index" and " index " in command:
            kind = "index"
        used = process.cpu_times()
        self._seen[process.pid] = (kind, used.user + used.system)
        if kind != "index":
            return
        memory = process.memory_info()
        self._run.own_bytes = max(self._run.own_bytes, memory.rss - memory.shared)
        self._run.mapped_bytes = max(self._run.mapped_bytes, memory.shared)
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            start, _, end = (task / "stat").read_text().rpartition(")")
            name = start.partition("(")[2]
            library = next((known for begin, known in _THREADS.items() if name.startswith(begin)), "")
            if library and int(task.name) != process.pid:
                ticks = sum(map(int, end.split()[11:13]))
                self._seen[int(task.name)] = (f"-{library}", ticks / os.sysconf("SC_CLK_TCK"))


def _tell(what: str, run: Run) -> None:
    print(
        f"\n{what}: {run.pages:,} pages, {run.pages / run.seconds:.1f} a second, {run.cost(run.cpu_s):.2f} ms of CPU each"
    )
    for name, seconds in run.by_process.most_common():
        print(f"  {run.cost(seconds):7.2f} ms  {name}")
        if name == "shards":
            _tell_stages(run, seconds)
        elif name == "index":
            for library, its_s in run.by_thread.most_common():
                print(f"    {run.cost(its_s):7.2f}  threads of {library}")
    if run.lags:
        print(f"  the index was behind by {median(run.lags):.1f} s in the middle, {max(run.lags):.1f} s at most")
    if run.own_bytes:
        print(f"  the indexer took {run.own_bytes / 1e6:,.0f} MB, and {run.mapped_bytes / 1e6:,.0f} MB of mapped files")
    if run.quads:
        index = sum(run.disk[part] for part in ("quads", "text", "ledger"))
        print(
            f"  {run.quads:,} quads, {index / run.quads:.0f} bytes of index each; {run.disk['all'] / 1e6:,.0f} MB in all"
        )


def _tell_stages(run: Run, seconds: float) -> None:
    stages = {name: its_s for name, its_s in run.stages.items() if name != "all"}
    stages["fetch, loop, start"] = max(0.0, seconds - sum(stages.values()))  # type: ignore[assignment]
    for stage, its_s in sorted(stages.items(), key=lambda item: -item[1]):
        print(f"    {run.cost(its_s):7.2f}  {stage}")


if __name__ == "__main__":
    main()
