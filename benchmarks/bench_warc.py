"""Times `rdfspider extract` over a WARC file of real pages with one process and with two, and prints the ratio.

    python benchmarks/bench_warc.py CORPUS [--copies N] [--rounds N]

CORPUS is a folder with `index.jsonl` and gzipped pages. The archive (`.warc.gz`, a member a record) is made in a temporary
folder. The best of the rounds counts, which take turns, so that a busy machine disturbs both.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--copies", type=int, default=4, help="how often each page is in the archive")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "pages.warc.gz")
        pages = _write_archive(arguments.corpus, archive, arguments.copies)
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(arguments.rounds):
            for jobs in best:
                best[jobs] = min(best[jobs], _time_run(archive, jobs))
    for jobs, seconds in best.items():
        print(
            f"{jobs} process{'es' if jobs > 1 else ''}: {pages / seconds:7.0f} pages/s  ({pages} pages in {seconds:.2f} s)"
        )
    print(f"two processes do {best[1] / best[2]:.2f} times as much as one")


def _write_archive(corpus: Path, archive: Path, copies: int) -> int:
    entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
    members = []
    for number, entry in enumerate(entries):
        body = gzip.decompress((corpus / entry["file"]).read_bytes())
        url = (entry["url"] or f"http://example.org/{number}").encode()
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
        head = (
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %b\r\nWARC-Date: 2024-05-01T00:00:00Z\r\n"
            b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n" % (url, len(block))
        )
        members.append(gzip.compress(head + block + b"\r\n\r\n", 6))
    with archive.open("wb") as file:
        for _ in range(copies):
            file.writelines(members)
    return len(members) * copies


def _time_run(archive: Path, jobs: int) -> float:
    command = [sys.executable, "-m", "rdfspider", "extract", str(archive), "--jobs", str(jobs), "--output", "/dev/null"]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
