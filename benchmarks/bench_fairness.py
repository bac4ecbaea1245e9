"""How much of their rate honest hosts keep beside hostile ones, and what that costs in memory.

    python benchmarks/bench_fairness.py [--seed N] [--turns N] [--seconds S] [--kinds KIND…] [--together] [--json FILE]

`fair_web.py` makes the web from the seed. In each turn it is crawled alone and beside 73 hostile hosts, a farm of 200 hosts and
300 tarpits; and, where all hosts are slow, alone and beside a farm of 400 or 4,000 subdomains, or of 1,000 that look fast. Two
shards crawl for the same time from the first honest page on. The rate is that of pages that honest hosts have sent, by their own
log; the memory is the largest sum over all processes of a crawl (PSS, so that shared pages count once). A turn takes nine
minutes. There is no pause between requests, so that honest hosts could take all that the machine can do. On a machine that
others use too, crawl `--together`: alone and beside others at the same time, so that both have the same processors. Each is a
session of its own, to which Linux gives the same time, however many processes it has (autogroups). Or look at the pages by
processor time; slow servers cost none, so it says nothing of tarpits.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

LEAST = {"hostile": 0.8, "farm": 0.8, "tarpits": 0.7, "slow": 0.8, "unasked": 0.8, "robots": 0.8, "turns": 0.8}
MOST_MEMORY = 1.5
_ALONE = dict.fromkeys(("slow", "unasked", "robots", "turns"), "slow-alone")
"""With what a kind is compared, if not with the kind `alone`."""
_START_S = 60.0
_STOP_S = 60.0
_SAMPLE_S = 1.0


@dataclass(frozen=True, slots=True)
class Run:
    """What one crawl did within its time."""

    pages_s: float
    """Pages of honest hosts per second."""
    junk: int
    """Requests to honest hosts for pages that do not exist."""
    pages: int
    memory_bytes: int
    cpu_s: float
    """The processor time of all processes of the crawl."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=45.0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between two requests to a host")
    parser.add_argument("--kinds", nargs="+", choices=LEAST, default=list(LEAST))
    parser.add_argument("--index", action=argparse.BooleanOptionalAction, default=True, help="index as crawls do")
    parser.add_argument("--together", action="store_true", help="crawl alone and beside others at the same time")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    arguments = parser.parse_args()
    runs: dict[str, list[tuple[Run, Run]]] = {kind: [] for kind in arguments.kinds}
    for turn in range(arguments.turns):
        seed = arguments.seed + turn
        alone: dict[str, Run] = {}
        for kind, pairs in runs.items():
            without = _ALONE.get(kind, "alone")
            if arguments.together:
                beside, alone[without] = _crawl_all(seed, [kind, without], arguments)
            else:
                if without not in alone:
                    (alone[without],) = _crawl_all(seed, [without], arguments)
                (beside,) = _crawl_all(seed, [kind], arguments)
            pairs.append((beside, alone[without]))
    misses = [_judge(kind, pairs) for kind, pairs in runs.items()]
    if arguments.json:
        figures = {kind: [[_to_json(run) for run in pair] for pair in pairs] for kind, pairs in runs.items()}
        arguments.json.write_text(json.dumps(figures))
    sys.exit(1 if any(misses) else 0)


def _crawl_all(seed: int, kinds: list[str], arguments: argparse.Namespace) -> list[Run]:
    """Crawl webs of some kinds at the same time, and print what each crawl did."""
    with ThreadPoolExecutor(len(kinds)) as threads:
        runs = list(threads.map(lambda kind: _crawl(seed, kind, arguments), kinds))
    for kind, run in zip(kinds, runs, strict=True):
        figures = f"{run.pages_s:6.1f} honest pages/s, {run.pages} in all, {run.junk} requests for junk"
        print(f"seed {seed}  {kind:10} {figures}, {run.memory_bytes / 1e6:.0f} MB", flush=True)
    return runs


def _judge(kind: str, pairs: list[tuple[Run, Run]]) -> bool:
    """Print the ratios of a kind, from the runs beside it and alone; returns whether one misses its bound."""
    rate = median(run.pages_s / other.pages_s for run, other in pairs)
    by_cpu = median(run.pages / run.cpu_s / (other.pages / other.cpu_s) for run, other in pairs)
    memory = median(run.memory_bytes / other.memory_bytes for run, other in pairs)
    junk = median(run.junk / max(run.pages, 1) for run, _ in pairs)
    is_fair, is_small = rate >= LEAST[kind], memory <= MOST_MEMORY
    print(f"{kind:10} {rate:5.2f} of the honest rate: {'REACHED' if is_fair else 'MISSED'}, at least {LEAST[kind]:g}")
    print(f"{kind:10} {by_cpu:5.2f} of the honest pages by processor time")
    print(f"{kind:10} {memory:5.2f} of the memory: {'REACHED' if is_small else 'MISSED'}, at most {MOST_MEMORY:g}")
    print(f"{kind:10} {junk:5.2f} requests for junk a page")
    return not (is_fair and is_small)


def _crawl(seed: int, kind: str, arguments: argparse.Namespace) -> Run:
    with tempfile.TemporaryDirectory(prefix="bench-fairness-", dir=_find_folder()) as name:
        folder = Path(name)
        log = folder / "honest.log"
        port = _find_port()
        with ExitStack() as stack:
            told = [
                stack.enter_context(_serve(str(seed), kind, role, str(port), str(log))) for role in ("honest", "others")
            ]
            seeds = [url for part in told for url in part["seeds"]]
            random.Random(seed).shuffle(seeds)
            (folder / "seeds.txt").write_text("\n".join(seeds) + "\n")
            memory_bytes, cpu_s, ended = _watch(
                folder, [flag for part in told for flag in part["flags"]], log, arguments
            )
        visits = [line.split() for line in log.read_text().splitlines()]
        counted = [(path, status) for at, _, path, status in visits if float(at) <= ended]
        pages = sum(status == "200" for _, status in counted)
        junk = sum(status == "404" and path not in ("/robots.txt", "/sitemap.xml") for path, status in counted)
        return Run(pages / arguments.seconds, junk, pages, memory_bytes, cpu_s)


@contextmanager
def _serve(*arguments: str) -> Iterator[dict[str, list[str]]]:
    """A part of the web, while it runs: what `fair_web.py` says of it."""
    command = [sys.executable, str(Path(__file__).with_name("fair_web.py")), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())
        finally:
            server.stdin.close()


def _watch(folder: Path, flags: list[str], log: Path, arguments: argparse.Namespace) -> tuple[int, float, float]:
    """Crawl for the given time from the first honest page on; returns the largest sum of memory, the processor time, and when the
    time ended."""
    seeds = str(folder / "seeds.txt")
    command = [sys.executable, "-m", "rdfspider", "crawl", "--seeds", seeds, "--dir", str(folder / "crawl"), *flags]
    command += ["--scope", "any", "--allow-private", "--shards", "2", "--contact", "https://example.org/"]
    command += ["--delay", str(arguments.delay), "--index" if arguments.index else "--no-index"]
    with (folder / "stderr").open("w+b") as stderr:
        crawl = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=arguments.together
        )
        try:
            started = time.monotonic()
            while not log.read_text() and time.monotonic() < started + _START_S:
                time.sleep(0.05)
                if crawl.poll() is not None:
                    sys.exit(f"the crawl has ended:\n{(folder / 'stderr').read_text()[-3000:]}")
            end, memory_bytes = time.time() + arguments.seconds, 0
            while time.time() < end:
                time.sleep(min(_SAMPLE_S, max(end - time.time(), 0.0)))
                memory_bytes = max(memory_bytes, int(_sum(crawl.pid, lambda process: process.memory_full_info().pss)))
            cpu_s = _sum(crawl.pid, lambda process: sum(process.cpu_times()[:4]))
        finally:
            _end(crawl)
    return memory_bytes, cpu_s, end


def _end(crawl: subprocess.Popen[bytes]) -> None:
    """Stop a crawl; all is measured, so it need not finish what is under way."""
    family = [crawl.pid, *(child.pid for child in psutil.Process(crawl.pid).children(recursive=True))]
    for number in (signal.SIGINT, signal.SIGINT):
        crawl.send_signal(number)
        time.sleep(0.5)
    try:
        crawl.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        for pid in family:
            if psutil.pid_exists(pid):
                psutil.Process(pid).kill()
        crawl.wait()


def _sum(pid: int, measure: Callable[[psutil.Process], float]) -> float:
    """The sum of a measure over a process and all that it has started."""
    total = 0.0
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += measure(process)
    return total


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _find_folder() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _to_json(run: Run) -> dict[str, float]:
    return {name: getattr(run, name) for name in run.__slots__}


if __name__ == "__main__":
    main()
