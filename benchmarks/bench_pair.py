"""Compares two checkouts of rdfspider in turns: processor time of extraction, of crawls and of indexing, and their ratio.

    python benchmarks/bench_pair.py CORPUS BEFORE AFTER [--turns N] [--hosts N] [--most R]

BEFORE and AFTER are the folders of two checkouts; both run with this interpreter and its libraries. A machine that others use may
be slow for minutes, so both are measured in the same moments: extraction alternates from page to page of CORPUS between two
processes on one core; crawls and indexers of both run side by side. The ratio of each turn is taken, and the median of these
ratios is judged. The crawl is that of `bench_crawl.py` on its plain web, without the index, and then with it; indexing rebuilds
the index of one crawl that BEFORE made, which also shows that AFTER opens older folders. It fails where AFTER takes more than R
times as long as BEFORE (1.03).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from web import CorpusWeb

# A process that extracts the page whose number it reads, and answers with its processor time.
_EXTRACT = """
import gzip, json, sys, time
from pathlib import Path
from rdfspider import extract
corpus = Path(sys.argv[1])
entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
pages = [(gzip.decompress((corpus / entry["file"]).read_bytes()), entry["url"] or "http://example.org/") for entry in entries]
for body, url in pages[:50]:
    extract(body, url)
print(len(pages), flush=True)
for line in sys.stdin:
    body, url = pages[int(line)]
    started = time.process_time()
    extract(body, url)
    print(time.process_time() - started, flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--most", type=float, default=1.03)
    arguments = parser.parse_args()
    checkouts = (arguments.before.resolve(), arguments.after.resolve())
    is_slower = _judge("extract", _time_extraction(checkouts, arguments), arguments)
    with (
        tempfile.TemporaryDirectory(prefix="bench-pair-") as folder,
        CorpusWeb(arguments.corpus, Path(folder) / "web", arguments.hosts) as web,
    ):
        crawls = [Path(folder) / "before", Path(folder) / "after"]
        whole = [_crawl_command(web, each, arguments) for each in crawls]
        crawl = [[*words, "--no-index"] for words in whole]
        is_slower |= _judge("crawl", _time_side_by_side(checkouts, crawl, crawls, arguments), arguments)
        is_slower |= _judge("whole", _time_side_by_side(checkouts, whole, crawls, arguments), arguments)
        _remove(crawls)
        _Running(checkouts[0], crawl[0]).finish()
        shutil.copytree(*crawls)
        index = [["index", "--dir", str(each), "--rebuild"] for each in crawls]
        is_slower |= _judge("index", _time_side_by_side(checkouts, index, [], arguments), arguments)
    sys.exit(int(is_slower))


def _judge(what: str, turns: list[tuple[float, float]], arguments: argparse.Namespace) -> bool:
    ratio = median(after / before for before, after in turns)
    before, after = (median(seconds) for seconds in zip(*turns, strict=True))
    listed = [", ".join(f"{each:.2f}" for each in seconds) for seconds in zip(*turns, strict=True)]
    is_slower = ratio > arguments.most
    print(f"{what:8} CPU s before {before:.2f} ({listed[0]}), after {after:.2f} ({listed[1]})")
    verdict = "MISSED" if is_slower else "reached"
    print(
        f"  {ratio:6.3f} of before: {verdict}, at most {arguments.most:g} (ratio of the medians {after / before:.3f})",
        flush=True,
    )
    return is_slower


def _time_extraction(checkouts: tuple[Path, Path], arguments: argparse.Namespace) -> list[tuple[float, float]]:
    """The seconds of both for all pages, once a turn; who is first alternates."""
    core = str(max(os.sched_getaffinity(0)))
    command = ["taskset", "--cpu-list", core, sys.executable, "-c", _EXTRACT, str(arguments.corpus)]
    with ExitStack() as stack:
        extractors = [
            stack.enter_context(
                subprocess.Popen(
                    command,
                    env=make_environment(checkout),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    bufsize=1,
                )
            )
            for checkout in checkouts
        ]
        pages, _ = (int(_read_line(extractor)) for extractor in extractors)
        turns = []
        for turn in range(arguments.turns):
            seconds = [0.0, 0.0]
            for page in range(pages):
                first = (page + turn) % 2
                for side in (first, 1 - first):
                    print(page, file=extractors[side].stdin)
                    seconds[side] += float(_read_line(extractors[side]))
            turns.append((seconds[0], seconds[1]))
        return turns


def _read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline()


def _time_side_by_side(
    checkouts: tuple[Path, Path], commands: list[list[str]], before_each: list[Path], arguments: argparse.Namespace
) -> list[tuple[float, float]]:
    """The processor time of both commands, which run at the same time, with all that they have waited for."""
    turns = []
    for _ in range(arguments.turns):
        _remove(before_each)
        running = [_Running(checkout, words) for checkout, words in zip(checkouts, commands, strict=True)]
        before, after = [each.finish() for each in running]
        turns.append((before, after))
    return turns


def _remove(folders: list[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _crawl_command(web: CorpusWeb, folder: Path, arguments: argparse.Namespace) -> list[str]:
    seeds = web.folder / "seeds.txt"
    seeds.write_text("\n".join(web.seeds(arguments.hosts)) + "\n")
    flags = ["--seeds", str(seeds), "--dir", str(folder), "--scope", "any", "--include", web.scope, "--archive", "all"]
    flags += ["--delay", "0", "--shards", "2", "--pages", str(arguments.hosts * 21), "--allow-private"]
    return ["crawl", *flags, "--resolve", web.resolve, "--contact", "https://example.org/"]


class _Running:
    """A command under way."""

    def __init__(self, checkout: Path, words: list[str]) -> None:
        self._name = f"{checkout}: rdfspider {words[0]}"
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-m", "rdfspider", *words]
        environment = make_environment(checkout)
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=self._errors)

    def finish(self) -> float:
        """The processor time of the command and of all that it has waited for."""
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            self._errors.seek(0)
            sys.exit(f"{self._name} failed:\n{self._errors.read()[-3000:].decode()}")
        return usage.ru_utime + usage.ru_stime


def make_environment(checkout: Path) -> dict[str, str]:
    """The environment in which this interpreter runs a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


if __name__ == "__main__":
    main()
