"""Races rdfspider, a bare loop and Scrapy with extruct over a local web of real pages, and prints ratios.

    python benchmarks/bench_crawl.py CORPUS [--hosts N] [--scrapy-hosts N] [--turns N] [--webs plain deep tls] [--profile]

nginx and openssl must be there. CORPUS is a folder with `index.jsonl` and gzipped pages; `web.py` serves them on hundreds of
hosts, `crawl_peers.py` is what we are raced against. Everyone has two processes, and nginx shares the machine. rdfspider
extracts everything, obeys robots.txt, keeps a durable frontier and archives every page; the pace is off, and so is the index,
which the others have not (`bench_index.py` has it on). The pages are counted
by nginx's log; the time is from the first visit to the end, when all is read and durable. The loop and rdfspider take
turns, and the best turn counts for each. On a machine that others use too, look at the ratio of processor times. With
`--profile`, one more crawl is sampled by `py-spy` to tell where the time goes within the stages.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from web import CorpusWeb

PROCESSES = 2
WEBS = {
    "plain": "http: the pages that the index pages name",
    "deep": "http: every link within a host leads to a page",
    "tls": "https, HTTP/2: the pages that the index pages name",
}
TIMES_SCRAPY = 20.0
OF_LOOP = 0.45
_FRAME = re.compile(r"\((?P<file>[^()]*):\d+\)")


@dataclass(frozen=True, slots=True)
class Run:
    """What one contender did."""

    pages: int
    seconds: float
    """From the first visit to the end of the last process: pages that were fetched are not done yet."""
    visits_s: float
    """From the first visit to the last."""
    cpu_s: float
    nginx_cpu_s: float
    peak_bytes: int
    """Of its largest process."""
    stages_cpu_s: Counter[str] = field(default_factory=Counter)
    """What the shards of rdfspider say of themselves; the others say nothing."""

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of processor time a page, from the start of the first process on."""
        return self.cpu_s / self.pages * 1000

    @property
    def pages_s(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds if self.seconds else 0.0


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench-crawl-") as folder:
        for name in arguments.webs:
            print(f"\n{WEBS[name]}")
            place, tls, deep = Path(folder) / name, name == "tls", name == "deep"
            with CorpusWeb(
                arguments.corpus, place, arguments.hosts, arguments.pages_per_host, tls=tls, deep=deep
            ) as web:
                _race(web, arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--webs", nargs="+", choices=WEBS, default=list(WEBS))
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--pages-per-host", type=int, default=20)
    parser.add_argument(
        "--scrapy-hosts", type=int, default=12, help="hosts that Scrapy crawls; it takes minutes for all"
    )
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--profile", action="store_true")
    return parser.parse_args()


def _race(web: CorpusWeb, arguments: argparse.Namespace) -> None:
    def limit(hosts: int) -> int:
        return int(hosts * (arguments.pages_per_host + 1))

    loops, ours = [], []
    for _ in range(arguments.turns):
        loops.append(run_peer(web, "loop", arguments.hosts, limit(arguments.hosts)))
        ours.append(_run_ours(web, arguments.hosts, limit(arguments.hosts)))
    loop, our = (max(runs, key=lambda run: run.pages_s) for runs in (loops, ours))
    scrapy = run_peer(web, "scrapy", arguments.scrapy_hosts, limit(arguments.scrapy_hosts))
    print(
        "                     pages  pages/s  CPU ms/page  cores  nginx ms/page  peak MB        s  s to the last visit"
    )
    for name, run in (("bare loop", loop), ("rdfspider", our), ("Scrapy + extruct", scrapy)):
        nginx_ms = run.nginx_cpu_s / run.pages * 1000
        figures = f"{run.pages:6} {run.pages_s:8.1f} {run.cpu_ms:12.2f} {run.cpu_s / run.seconds:6.2f} {nginx_ms:14.2f}"
        print(f"  {name:17} {figures} {run.peak_bytes / 1e6:8.0f} {run.seconds:8.1f} {run.visits_s:8.1f}")
    _judge("times Scrapy + extruct", our.pages_s / scrapy.pages_s, TIMES_SCRAPY)
    _judge("of the bare loop", our.pages_s / loop.pages_s, OF_LOOP)
    print(f"  {loop.cpu_ms / our.cpu_ms:6.2f} of the bare loop by processor time")
    _print_stages(our)
    if arguments.profile:
        _print_modules(web, arguments.hosts, limit(arguments.hosts), our.cpu_ms)


def _judge(what: str, ratio: float, least: float) -> None:
    print(f"  {ratio:6.2f} {what}: {'reached' if ratio >= least else 'MISSED'}, at least {least:g}")


def run_peer(web: CorpusWeb, peer: str, hosts: int, limit: int) -> Run:
    commands = []
    for number in range(PROCESSES):
        seeds = web.folder / f"seeds-{number}.txt"
        seeds.write_text("\n".join(web.seeds(hosts)[number::PROCESSES]))
        output = web.folder / f"output-{number}"
        command = [sys.executable, str(Path(__file__).with_name("crawl_peers.py")), peer, str(seeds)]
        command += ["--scope", web.scope, "--limit", str(limit // PROCESSES)]
        command += ["--port", str(web.port), "--output", str(output)]
        if web.scheme == "https":
            command += ["--authority", str(web.authority)]
        commands.append(command)
    return time_commands(web, commands)


def _run_ours(web: CorpusWeb, hosts: int, limit: int) -> Run:
    run = time_commands(web, [make_command(web, hosts, limit)])
    status = json.loads((web.folder / "crawl/status.json").read_bytes())
    shutil.rmtree(web.folder / "crawl")
    stages: Counter[str] = Counter()
    for beat in status["shards"]:
        stages.update(beat["cpu_s"])
    return replace(run, stages_cpu_s=stages)


def make_command(web: CorpusWeb, hosts: int, limit: int) -> list[str]:
    seeds = web.folder / "seeds.txt"
    seeds.write_text("\n".join(web.seeds(hosts)) + "\n")
    crawl = [sys.executable, "-m", "rdfspider", "crawl", "--seeds", str(seeds), "--dir", str(web.folder / "crawl")]
    what = ["--scope", "any", "--include", web.scope, "--archive", "all", "--delay", "0", "--shards", str(PROCESSES)]
    what += ["--pages", str(limit), "--no-index"]
    return [*crawl, *what, "--resolve", web.resolve, "--allow-private", "--contact", "https://example.org/"]


def time_commands(web: CorpusWeb, commands: list[list[str]]) -> Run:
    web.clear_log()
    nginx_before = web.cpu_s()
    environment = {**os.environ, "SSL_CERT_FILE": str(web.authority)} if web.scheme == "https" else None
    errors = web.folder / "stderr"
    with errors.open("w+b") as stderr:
        processes = [
            subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=stderr) for command in commands
        ]
        usages = [_wait(process) for process in processes]
    ended = time.time()
    if any(process.returncode for process in processes):
        sys.exit(f"{' '.join(commands[0])} failed:\n{errors.read_text(errors='replace')[-3000:]}")
    visits = web.read_log()
    return Run(
        pages=len({(visit.host, visit.path) for visit in visits if visit.is_page}),
        seconds=ended - visits[0].ended,
        visits_s=visits[-1].ended - visits[0].ended,
        cpu_s=sum(usage.ru_utime + usage.ru_stime for usage in usages),
        nginx_cpu_s=web.cpu_s() - nginx_before,
        peak_bytes=max(usage.ru_maxrss for usage in usages) * 1024,
    )


def _wait(process: subprocess.Popen[bytes]) -> resource.struct_rusage:
    """What the process and those that it waited for have used."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def _print_stages(run: Run) -> None:
    stages: dict[str, float] = dict(run.stages_cpu_s)
    shards_s = stages.pop("all", 0.0)
    stages["fetch, loop"] = shards_s - sum(stages.values())
    stages["start, helpers, parent"] = run.cpu_s - shards_s
    print(f"  CPU ms a page by stage, {run.cpu_ms:.2f} in all:")
    for stage, seconds in sorted(stages.items(), key=lambda item: -item[1]):
        print(f"    {seconds / run.pages * 1000:6.2f}  {stage}")


def _print_modules(web: CorpusWeb, hosts: int, limit: int, cpu_ms: float) -> None:
    """Sample one more crawl, and share the processor time of a page out to the modules by the samples."""
    profiler = shutil.which("py-spy", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if not profiler:
        print("  no CPU by module: py-spy is not installed")
        return
    samples = web.folder / "samples.txt"
    sampling = [profiler, "record", "--subprocesses", "--format", "raw", "--rate", "50", "--output", str(samples), "--"]
    time_commands(web, [sampling + make_command(web, hosts, limit)])
    shutil.rmtree(web.folder / "crawl")
    by_stage: Counter[str] = Counter()
    by_module: Counter[str] = Counter()
    for line in samples.read_text().splitlines():
        stack, _, hits = line.rpartition(" ")
        stage, module = _find_stage(stack)
        by_stage[stage] += int(hits)
        by_module[module] += int(hits)
    total = by_stage.total()
    print(f"  CPU a page by module ({total} samples):")
    for stage, count in by_stage.most_common():
        modules = [(name, part) for name, part in by_module.most_common() if name.startswith(stage)]
        shares = ", ".join(f"{name} {part / total * cpu_ms:.2f}" for name, part in modules[:6] if part / total > 0.005)
        print(f"    {stage:10} {count / total * cpu_ms:6.2f} ms   {shares}")


def _find_stage(stack: str) -> tuple[str, str]:
    """The innermost frame of ours says who spent the time: libraries work for whoever called them."""
    for file in reversed(_FRAME.findall(stack)):
        _, found, path = file.rpartition("rdfspider/")
        if found:
            stage, slash, _ = path.partition("/")
            return stage if slash else "other", path.removesuffix(".py")
    return "other", "other/" + (_FRAME.findall(stack) or ["?"])[-1]


if __name__ == "__main__":
    main()
