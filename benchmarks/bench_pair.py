"""Compares two checkouts of rdfspider in turns: processor time of extraction, of a crawl and of indexing, and their ratio.

    python benchmarks/bench_pair.py CORPUS BEFORE AFTER [--turns N] [--hosts N] [--most R]

BEFORE and AFTER are the folders of two checkouts; both run with this interpreter and its libraries. They take turns, so that
a machine that others use disturbs both alike; the ratio of each turn is taken, and the median of these ratios is judged, since a
machine may be slow for minutes. Extraction reads the pages of CORPUS in one process; the crawl is that of `bench_crawl.py` on its
plain web, without the index; indexing rebuilds the index of one crawl that BEFORE made, which also shows that AFTER opens older
folders. It fails where AFTER takes more than R times as long as BEFORE (1.03).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from web import CorpusWeb

_EXTRACT = """
import gzip, json, sys, time
from pathlib import Path
from rdfspider import extract
corpus = Path(sys.argv[1])
entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
pages = [(gzip.decompress((corpus / entry["file"]).read_bytes()), entry["url"] or "http://example.org/") for entry in entries]
for body, url in pages[:50]:
    extract(body, url)
started = time.process_time()
for body, url in pages:
    extract(body, url)
print(time.process_time() - started)
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
    is_slower = _compare("extract", checkouts, arguments, lambda checkout: _extract(checkout, arguments.corpus))
    with (
        tempfile.TemporaryDirectory(prefix="bench-pair-") as folder,
        CorpusWeb(arguments.corpus, Path(folder) / "web", arguments.hosts) as web,
    ):
        crawl = Path(folder) / "crawl"
        is_slower |= _compare("crawl", checkouts, arguments, lambda checkout: _crawl(checkout, web, crawl, arguments))
        shutil.rmtree(crawl)
        _crawl(checkouts[0], web, crawl, arguments)
        is_slower |= _compare("index", checkouts, arguments, lambda checkout: _index(checkout, crawl))
    sys.exit(int(is_slower))


def _compare(
    what: str, checkouts: tuple[Path, Path], arguments: argparse.Namespace, measure: Callable[[Path], float]
) -> bool:
    measured: tuple[list[float], list[float]] = ([], [])
    for _ in range(arguments.turns):
        for checkout, seconds in zip(checkouts, measured, strict=True):
            seconds.append(measure(checkout))
    ratio = median(after / before for before, after in zip(*measured, strict=True))
    before, after = map(median, measured)
    turns = [", ".join(f"{each:.2f}" for each in seconds) for seconds in measured]
    is_slower = ratio > arguments.most
    print(f"{what:8} CPU s before {before:.2f} ({turns[0]}), after {after:.2f} ({turns[1]})")
    verdict = "MISSED" if is_slower else "reached"
    print(
        f"  {ratio:6.3f} of before: {verdict}, at most {arguments.most:g} (ratio of the medians {after / before:.3f})",
        flush=True,
    )
    return is_slower


def _extract(checkout: Path, corpus: Path) -> float:
    command = [sys.executable, "-c", _EXTRACT, str(corpus)]
    return float(subprocess.run(command, env=_environment(checkout), check=True, capture_output=True, text=True).stdout)


def _crawl(checkout: Path, web: CorpusWeb, folder: Path, arguments: argparse.Namespace) -> float:
    shutil.rmtree(folder, ignore_errors=True)
    seeds = web.folder / "seeds.txt"
    seeds.write_text("\n".join(web.seeds(arguments.hosts)) + "\n")
    flags = ["--seeds", str(seeds), "--dir", str(folder), "--scope", "any", "--include", web.scope, "--archive", "all"]
    flags += ["--delay", "0", "--shards", "2", "--pages", str(arguments.hosts * 21), "--no-index", "--allow-private"]
    return _run(checkout, ["crawl", *flags, "--resolve", web.resolve, "--contact", "https://example.org/"])


def _index(checkout: Path, folder: Path) -> float:
    return _run(checkout, ["index", "--dir", str(folder), "--rebuild"])


def _run(checkout: Path, words: list[str]) -> float:
    """The processor time of a command and all that it has waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "rdfspider", *words], env=_environment(checkout), capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{checkout}: rdfspider {words[0]} failed:\n{done.stderr[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment(checkout: Path) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


if __name__ == "__main__":
    main()
