"""Crawls real pages and tells how much disk the folder of a crawl takes: by part, at most while it runs, and at the end.

    python benchmarks/bench_disk.py CORPUS [--hosts N] [--keep DIR]

nginx must be there. The pages of CORPUS are served on hundreds of hosts (`web.py`) and crawled with the index. Files are counted
as a disk does: what is allocated, and files with several names once, though `ls` and some sums count every name. The last line
tells what a million such pages would take.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rdfspider.crawl.status import read_status
from web import CorpusWeb

PARTS = {
    "pages": "shards/*/warc/*-pages-*",
    "facts": "shards/*/warc/*-facts-*",
    "frontier": "shards/*/frontier",
    "quads": "index/quads",
    "snapshots": "index/snapshots",
    "text": "index/text",
    "ledger": "index/ledger.sqlite*",
}
MOST_OF_ARCHIVE = 5.0
"""The most that the whole folder may take at any moment, of its archive at the end."""
_LOOK_S = 0.5


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench-disk-") as name:
        folder = arguments.keep or Path(name) / "crawl"
        most: Counter[str] = Counter()
        with CorpusWeb(arguments.corpus, Path(name) / "web", arguments.hosts) as web:
            process = web.start_crawl(folder, Path(os.devnull))
            while process.poll() is None:
                time.sleep(_LOOK_S)
                _raise_to(most, measure(folder))
        if process.returncode:
            sys.exit(f"the crawl ended with {process.returncode}")
        end = measure(folder)
        _raise_to(most, end)
        tell(read_status(folder).totals.pages, most, end)


def measure(folder: Path) -> Counter[str]:
    """Allocated bytes by part, and of the whole folder as `all`; a file with several names counts for the first part."""
    found: Counter[str] = Counter()
    known: set[int] = set()
    for part, pattern in (*PARTS.items(), ("other", "*")):
        for start in folder.glob(pattern):
            for path in (start, *start.rglob("*")):
                try:
                    stat = path.lstat()
                except FileNotFoundError:
                    continue  # It was merged into another one meanwhile.
                if stat.st_ino not in known:
                    known.add(stat.st_ino)
                    found[part] += stat.st_blocks * 512
    found["all"] = found.total()
    return found


def tell(pages: int, most: Counter[str], end: Counter[str]) -> None:
    """Print the table."""
    print(f"{pages:,} pages\n\n  {'part':10} {'at the end':>12} {'at most':>12} {'a page':>12}")
    for part in (*PARTS, "other", "all"):
        print(f"  {part:10} {end[part] / 1e6:9.1f} MB {most[part] / 1e6:9.1f} MB {end[part] / pages / 1e3:9.1f} kB")
    archive = end["pages"] + end["facts"]
    share = most["all"] / archive
    verdict = "ok" if share <= MOST_OF_ARCHIVE else "MORE"
    print(f"\n  {share:.1f} of the archive at most; {verdict}, {MOST_OF_ARCHIVE:g} are allowed")
    print(
        f"  a million such pages: {end['all'] / pages / 1e3:.0f} GB, of them {archive / pages / 1e3:.0f} GB of archive"
    )


def _raise_to(most: Counter[str], now: Counter[str]) -> None:
    for part, size in now.items():
        most[part] = max(most[part], size)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="a new folder for the crawl, which is left there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
